/* What Swift cannot reach by itself: `struct ucred` is hidden behind a feature macro. */
#ifndef C_AGENT_SYSTEM_H
#define C_AGENT_SYSTEM_H

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

/* Leaves no core dump of this process, and lets no other process of the user trace or read it; 0, or an errno. */
int agent_forbid_inspection(void);

/* Whether that has been done. */
int agent_is_inspectable(void);

#endif
