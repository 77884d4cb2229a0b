#include "CAgentSystem.h"

#include <pthread.h>

static int is_copy;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void note_copy(void) { __atomic_store_n(&is_copy, 1, __ATOMIC_RELAXED); }

static void begin(void) { pthread_atfork(NULL, NULL, note_copy); }

int agent_is_copied_process(void) {
    pthread_once(&once, begin);
    return __atomic_load_n(&is_copy, __ATOMIC_RELAXED);
}
