#include "CAgentSystem.h"

#include <pthread.h>

static uint32_t forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void) { __atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED); }

static void begin_counting(void) { pthread_atfork(NULL, NULL, count_fork); }

uint32_t agent_fork_count(void) {
    pthread_once(&once, begin_counting);
    return __atomic_load_n(&forks, __ATOMIC_RELAXED);
}
