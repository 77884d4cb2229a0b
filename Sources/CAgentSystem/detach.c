#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int agent_detach(void) {
    long limit = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 3; descriptor < limit && descriptor < 65536; descriptor++) close(descriptor);
    pid_t child = fork();
    if (child < 0) return errno;
    if (child > 0) _exit(0);
    setsid();
    umask(077);
    if (chdir("/") != 0 || dup2(1, 2) < 0) return errno;
    return 0;
}

int agent_leave_output(void) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return errno;
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (dup2(null, descriptor) < 0) return errno;
    }
    close(null);
    return 0;
}
