#define _GNU_SOURCE
#include "CAgentSystem.h"

#ifdef __linux__
#include <sys/timex.h>

int agent_clock_is_synchronised(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    if (result < 0) return -1;
    return result != TIME_ERROR && !(state.status & STA_UNSYNC);
}
#else
int agent_clock_is_synchronised(void) { return -1; }
#endif
