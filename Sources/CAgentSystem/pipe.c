#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int agent_make_pipe(int ends[2], int is_nonblocking) {
#if defined(__linux__)
    return pipe2(ends, O_CLOEXEC | (is_nonblocking ? O_NONBLOCK : 0)) == 0 ? 0 : errno;
#else
    if (pipe(ends) != 0) return errno;
    for (int end = 0; end < 2; end++) {
        if (fcntl(ends[end], F_SETFD, FD_CLOEXEC) == 0 && (!is_nonblocking || fcntl(ends[end], F_SETFL, O_NONBLOCK) == 0))
            continue;
        int code = errno;
        close(ends[0]);
        close(ends[1]);
        return code;
    }
    return 0;
#endif
}
