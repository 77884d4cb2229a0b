#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void agent_hold_standard_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        /* The lowest free number is this one. In the wrong direction, so that its use fails as that of a closed stream does. */
        if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) _exit(1);
    }
}
