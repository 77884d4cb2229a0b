#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

void agent_hold_standard_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        /* The lowest free number is this one. In the wrong direction, so that its use fails as that of a closed stream does. */
        if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) _exit(1);
    }
}

static int is_broken_pipe_pending(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static void write_all(int stream, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(stream, bytes, count);
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
            continue;
        }
        if (written < 0 && errno == EINTR) continue;
        if (written == 0 || errno != EAGAIN) return;
        struct pollfd event = {stream, POLLOUT, 0};
        if (poll(&event, 1, -1) < 0 && errno != EINTR) return;
    }
}

void agent_write_without_signal(int stream, const void *bytes, size_t count) {
    sigset_t broken_pipe, before;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    int was_pending = is_broken_pipe_pending();
    write_all(stream, bytes, count);
    int number;
    if (!was_pending && is_broken_pipe_pending()) sigwait(&broken_pipe, &number);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
