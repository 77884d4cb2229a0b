#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int agent_reserve_room(const char *path, long long count) {
#if defined(__linux__)
    int file = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return 0;
    struct stat status;
    int code = 0;
    if (fstat(file, &status) == 0 && fallocate(file, FALLOC_FL_KEEP_SIZE, status.st_size, count) != 0) code = errno;
    close(file);
    return code == ENOSPC || code == EDQUOT ? code : 0;
#else
    (void)path;
    (void)count;
    return 0;
#endif
}
