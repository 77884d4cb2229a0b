#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

int agent_get_peer_credentials(int socket, agent_peer_credentials *out) {
#if defined(__linux__)
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return errno;
    _Static_assert(sizeof credentials == sizeof *out, "agent_peer_credentials mirrors struct ucred");
    out->pid = credentials.pid;
    out->uid = credentials.uid;
    out->gid = credentials.gid;
#else
    uid_t uid;
    gid_t gid;
    if (getpeereid(socket, &uid, &gid) != 0) return errno;
    /* That of the process that has used the socket last. */
    pid_t pid = -1;
    socklen_t length = sizeof pid;
    out->pid = getsockopt(socket, SOL_LOCAL, LOCAL_PEERPID, &pid, &length) == 0 && pid > 0 ? pid : -1;
    out->uid = uid;
    out->gid = gid;
#endif
    return 0;
}
