#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <unistd.h>

int agent_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest) {
#if defined(__linux__)
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
#else
    /* No call for it; a descriptor that is not open is passed over. */
    for (int descriptor = lowest; descriptor < getdtablesize(); descriptor++) {
        int code = posix_spawn_file_actions_addclose(actions, descriptor);
        if (code != 0) return code;
    }
    return 0;
#endif
}
