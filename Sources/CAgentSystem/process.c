#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>

#if defined(__linux__)
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Whether the process has ended, according to its pidfd. */
static int has_ended(int pidfd) {
    struct pollfd event = {pidfd, POLLIN, 0};
    return poll(&event, 1, 0) != 0;
}

int agent_open_process(int pidfd, int32_t pid) {
    if (pid <= 0) {
        if (pidfd >= 0) close(pidfd);
        return -ESRCH;
    }
    if (pidfd < 0) pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) return -errno;
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", pid);
    int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = process < 0 ? (errno == ENOENT ? ESRCH : errno) : 0;
    /* The process had its ID when the folder was opened, if it has not ended since. */
    if (code == 0 && has_ended(pidfd)) {
        close(process);
        code = ESRCH;
    }
    close(pidfd);
    return code == 0 ? process : -code;
}

/* Device, inode, owner and mode, from what the kernel knows. */
static int cached_status(int folder, const char *name, int flags, struct statx *out) {
    return statx(folder, name, flags | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, out) == 0 ? 0 : errno;
}

static int is_same_file(const struct statx *a, const struct statx *b) {
    return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor;
}

int agent_has_same_root(int process) {
    struct statx own, other;
    int code = cached_status(AT_FDCWD, "/", 0, &own);
    if (code == 0) code = cached_status(process, "root", 0, &other);
    return code == 0 ? is_same_file(&own, &other) : -code;
}

int agent_inspect_executable(int process, const char *path, agent_executable *out) {
    struct statx status, seen;
    int code = cached_status(process, "exe", 0, &status);
    if (code != 0) return code;
    out->owner = status.stx_uid;
    out->mode = status.stx_mode;
    out->is_deleted = status.stx_nlink == 0;
    out->is_at_path = -1;
    if (path != NULL) out->is_at_path = cached_status(AT_FDCWD, path, 0, &seen) == 0 && is_same_file(&status, &seen);
    return 0;
}

int agent_open_flatpak_info(int process) {
    int root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) return -errno;
    int file = openat(root, ".flatpak-info", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int code = file < 0 ? errno : 0;
    close(root);
    if (code != 0) return -code;
    struct statx status;
    struct statvfs system;
    if (statx(file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) != 0 || fstatvfs(file, &system) != 0) {
        code = errno;
    } else if (!S_ISREG(status.stx_mode) || !(status.stx_attributes & STATX_ATTR_MOUNT_ROOT)
               || !(system.f_flag & ST_RDONLY)) {
        code = EPERM;
    }
    if (code == 0) return file;
    close(file);
    return -code;
}
#else
int agent_open_process(int pidfd, int32_t pid) {
    (void)pidfd, (void)pid;
    return -ENOTSUP;
}

int agent_has_same_root(int process) {
    (void)process;
    return -ENOTSUP;
}

int agent_inspect_executable(int process, const char *path, agent_executable *out) {
    (void)process, (void)path, (void)out;
    return ENOTSUP;
}

int agent_open_flatpak_info(int process) {
    (void)process;
    return -ENOTSUP;
}
#endif
