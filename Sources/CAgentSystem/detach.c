#define _GNU_SOURCE
#include "CAgentSystem.h"
#include "open_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#define OPEN_FILES "/proc/self/fd"
#else
#define OPEN_FILES "/dev/fd"
#endif

static int detached;

/* Closes the descriptors from `lowest` on that a folder of the system lists; 0, or an errno. The list may lack some if it changes while it is
   read, so that it is read until there are no more. */
static int close_listed(int lowest) {
    for (int closed = 1; closed > 0;) {
        DIR *list = opendir(OPEN_FILES);
        if (list == NULL) return errno;
        closed = 0;
        for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
            char *end;
            long descriptor = strtol(entry->d_name, &end, 10);
            if (*end != 0 || end == entry->d_name || descriptor < lowest || descriptor == dirfd(list)) continue;
            if (close((int)descriptor) == 0) closed++;
        }
        closedir(list);
    }
    return 0;
}

int agent_close_from(int lowest) {
#if defined(__linux__) && defined(SYS_close_range)
    if (syscall(SYS_close_range, (unsigned)lowest, ~0U, 0U) == 0) return 0;
#endif
    return close_listed(lowest);
}

int agent_is_detached(void) { return detached; }

int agent_detach(void) {
    /* First of all: standard error is the app's, and the reason of a failure is for the reader of standard output. */
    if (dup2(1, 2) < 0) return errno;
    int code = agent_close_from(3);
    if (code != 0) return code;
    pid_t child = fork();
    if (child < 0) return errno;
    if (child > 0) _exit(0);
    detached = 1;
    setsid();
    umask(077);
    if (chdir("/") != 0) return errno;
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
