/* What Swift cannot reach by itself, because it is hidden behind a feature macro. */
#ifndef C_AGENT_SYSTEM_H
#define C_AGENT_SYSTEM_H

#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

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

/* Starts a program found on PATH with a clean slate: no signal blocked or ignored, no file of this process open. Its
   standard input and output are `descriptor`, or lead nowhere where that is negative. `words` ends with NULL. 0, or an
   errno. */
int agent_spawn(char *const words[], int descriptor, pid_t *child);

/* Waits for the end of a child: its exit status, or 128 and the number of the signal that ended it; -1 where there is
   no such child. */
int agent_wait(pid_t child);

/* The same, of a child that is killed when it has not ended after so many milliseconds. */
int agent_wait_or_kill(pid_t child, int milliseconds);

/* Keeps what is typed at a terminal from showing, until `agent_show_typing` or a signal that ends the process; 0, or an
   errno. */
int agent_hide_typing(int terminal);
void agent_show_typing(void);

/* Leaves no core dump of this process, and lets no other process of the user trace or read it; 0, or an errno. */
int agent_forbid_inspection(void);

/* Whether that has been done. */
int agent_is_inspectable(void);

#endif
