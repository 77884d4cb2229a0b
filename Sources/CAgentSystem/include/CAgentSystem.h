/* What Swift cannot reach by itself, because it is hidden behind a feature macro. */
#ifndef C_AGENT_SYSTEM_H
#define C_AGENT_SYSTEM_H

#include <spawn.h>
#include <stdint.h>

/* The process at the other end of a Unix socket, as the kernel recorded it at connect or listen.
   The layout is that of Linux's `struct ucred`, so that it can be read by getsockopt as it is. */
typedef struct {
    int32_t pid; /* -1 where the system does not tell */
    uint32_t uid;
    uint32_t gid;
} agent_peer_credentials;

/* Fills `out` for a connected Unix socket; 0, or an errno. */
int agent_get_peer_credentials(int socket, agent_peer_credentials *out);

/* Has every descriptor from `lowest` on closed in the process that is about to be started; 0, or an errno. */
int agent_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest);
/* Leaves no core dump of this process, and lets no other process of the user trace or read it; 0, or an errno. */
int agent_forbid_inspection(void);

/* Whether that has been done. */
int agent_is_inspectable(void);

#endif
