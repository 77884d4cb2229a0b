#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int agent_above_standard_streams(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), code = errno;
    close(descriptor);
    errno = code;
    return moved;
}

/* 0, or an errno; both ends are closed then. */
static int move_ends(int ends[2]) {
    int code = 0;
    for (int end = 0; end < 2; end++) {
        ends[end] = agent_above_standard_streams(ends[end]);
        if (ends[end] < 0) code = errno;
    }
    for (int end = 0; code != 0 && end < 2; end++) {
        if (ends[end] >= 0) close(ends[end]);
    }
    return code;
}

#if defined(__linux__)
int agent_make_pipe(int ends[2], int is_nonblocking) {
    return pipe2(ends, O_CLOEXEC | (is_nonblocking ? O_NONBLOCK : 0)) == 0 ? move_ends(ends) : errno;
}

int agent_make_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0 ? move_ends(ends) : errno;
}
#else
/* Closes both ends if that fails. */
static int set_flags(int ends[2], int is_nonblocking) {
    for (int end = 0; end < 2; end++) {
        if (fcntl(ends[end], F_SETFD, FD_CLOEXEC) == 0 && (!is_nonblocking || fcntl(ends[end], F_SETFL, O_NONBLOCK) == 0))
            continue;
        int code = errno;
        close(ends[0]);
        close(ends[1]);
        return code;
    }
    return move_ends(ends);
}

int agent_make_pipe(int ends[2], int is_nonblocking) {
    return pipe(ends) == 0 ? set_flags(ends, is_nonblocking) : errno;
}

int agent_make_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? set_flags(ends, 1) : errno;
}
#endif
