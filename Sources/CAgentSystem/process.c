#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <string.h>

void agent_copy_path(const agent_process *process, char out[AGENT_PATH_LIMIT + 1]) {
    memcpy(out, process->path, sizeof process->path);
    out[AGENT_PATH_LIMIT] = 0;
}

#if defined(__linux__)
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int agent_has_ended(int pidfd) {
    struct pollfd event = {pidfd, POLLIN, 0};
    return poll(&event, 1, 0) != 0;
}

int agent_open_pidfd(int32_t pid) { return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1; }

int agent_open_process(int pidfd, int32_t pid) {
    if (pid <= 0) {
        if (pidfd >= 0) close(pidfd);
        return -ESRCH;
    }
    if (pidfd < 0) pidfd = agent_open_pidfd(pid);
    if (pidfd < 0) return -errno;
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", pid);
    int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = process < 0 ? (errno == ENOENT ? ESRCH : errno) : 0;
    /* The process had its ID when the folder was opened, if it has not ended since. */
    if (code == 0 && agent_has_ended(pidfd)) {
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

/* 1 or 0, or a negative errno. */
static int has_same_root(int process) {
    struct statx own, other;
    int code = cached_status(AT_FDCWD, "/", 0, &own);
    if (code == 0) code = cached_status(process, "root", 0, &other);
    return code == 0 ? is_same_file(&own, &other) : -code;
}

static int is_among(const char *path, const char *const paths[]) {
    for (; paths != NULL && *paths != NULL; paths++) {
        if (strcmp(path, *paths) == 0) return 1;
    }
    return 0;
}

static void inspect_executable(int process, const char *const named[], agent_process *out) {
    struct statx status, seen;
    ssize_t length = readlinkat(process, "exe", out->path, sizeof out->path - 1);
    if (length <= 0 || (size_t)length >= sizeof out->path - 1) length = 0;
    out->path[length] = 0;
    if (length == 0 || cached_status(process, "exe", 0, &status) != 0) return;
    out->has_executable = status.stx_nlink > 0;
    out->owner = status.stx_uid;
    out->mode = status.stx_mode;
    out->is_at_path = is_among(out->path, named) && cached_status(AT_FDCWD, out->path, 0, &seen) == 0
                      && is_same_file(&status, &seen);
}

/* Opens the file `.flatpak-info` in the root directory of a process. It must be a mount of its own and read-only, as Flatpak makes it,
   so that it is not one that the process has written. A descriptor, or a negative errno. */
static int open_flatpak_info(int process) {
    int root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) return -errno;
    /* A terminal there would become that of this session: who has its other end could end this process with a key. */
    int file = openat(root, ".flatpak-info", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
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

int agent_describe_process(int32_t pid, const char *const executables[], agent_process *out) {
    memset(out, 0, offsetof(agent_process, path) + 1);
    int process = agent_open_process(-1, pid);
    if (process < 0) return -process;
    out->has_same_root = has_same_root(process);
    inspect_executable(process, executables, out);
    close(process);
    return 0;
}

int agent_read_flatpak_info(int32_t pid, char *out, size_t limit) {
    int process = agent_open_process(-1, pid);
    if (process < 0) return process;
    int file = open_flatpak_info(process);
    close(process);
    if (file < 0) return file;
    size_t count = 0;
    while (count < limit) {
        ssize_t length = read(file, out + count, limit - count);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) break;
        count += (size_t)length;
    }
    close(file);
    return (int)count;
}
#else
int agent_open_pidfd(int32_t pid) {
    (void)pid;
    return -1;
}

int agent_open_process(int pidfd, int32_t pid) {
    (void)pidfd, (void)pid;
    return -ENOTSUP;
}

int agent_has_ended(int pidfd) {
    (void)pidfd;
    return 1;
}

int agent_describe_process(int32_t pid, const char *const executables[], agent_process *out) {
    (void)pid, (void)executables, (void)out;
    return ENOTSUP;
}

int agent_read_flatpak_info(int32_t pid, char *out, size_t limit) {
    (void)pid, (void)out, (void)limit;
    return -ENOTSUP;
}
#endif
