#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/xattr.h>
#else
#define O_PATH O_RDONLY
#endif

#define BACKLOG 128

/* Splits an absolute path into its folder and a name. 0; or EINVAL if it is too long, or not in the shortest form. */
static int split(const char *path, char folder[AGENT_SOCKET_PATH + 1], const char **name) {
    size_t length = strnlen(path, AGENT_SOCKET_PATH + 1);
    if (length > AGENT_SOCKET_PATH || path[0] != '/') return EINVAL;
    for (const char *part = path; *part != 0;) {
        part++;
        size_t count = strcspn(part, "/");
        if (count == 0 || (count == 1 && part[0] == '.') || (count == 2 && part[0] == '.' && part[1] == '.')) return EINVAL;
        *name = part;
        part += count;
    }
    /* A dead socket is replaced under a path that begins with /proc/self/fd/N/. */
    if (strlen(*name) > AGENT_SOCKET_NAME) return EINVAL;
    size_t parent = (size_t)(*name - path);
    memcpy(folder, path, parent);
    /* Without the slash, unless it is the root. */
    folder[parent > 1 ? parent - 1 : parent] = 0;
    return 0;
}

/* Opens a folder of this user's that nobody else may change; a negative errno if it is none. */
static int open_folder(const char *path) {
    int folder = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -errno;
    struct stat status;
    int code = fstat(folder, &status) != 0                                        ? errno
               : status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) ? EPERM
                                                                                  : 0;
    if (code == 0) return folder;
    close(folder);
    return -code;
}

/* The path of a file in an open folder: on Linux of the folder that is open, whatever is at its path now. */
static int place(int folder, const char *folder_path, const char *name, char *out, size_t limit) {
#if defined(__linux__)
    (void)folder_path;
    int length = snprintf(out, limit, "/proc/self/fd/%d/%s", folder, name);
#else
    (void)folder;
    int length = snprintf(out, limit, "%s/%s", folder_path, name);
#endif
    return length > 0 && (size_t)length < limit ? 0 : ENAMETOOLONG;
}

static int new_socket(void) {
#if defined(__linux__)
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return descriptor;
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    return descriptor;
#endif
}

/* 0 if there is no file, or a socket of this user's on which no process listens. */
static int check_free(int folder, const char *folder_path, const char *name) {
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : errno;
    if (!S_ISSOCK(status.st_mode) || status.st_uid != geteuid()) return EEXIST;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int code = place(folder, folder_path, name, address.sun_path, sizeof address.sun_path);
    if (code != 0) return code;
    int probe = new_socket();
    if (probe < 0) return errno;
    int refused = connect(probe, (struct sockaddr *)&address, sizeof address) != 0 && errno == ECONNREFUSED;
    close(probe);
    return refused ? 0 : EADDRINUSE;
}

#if defined(__linux__)
/* An entry of a POSIX ACL as the kernel has it in an extended attribute (linux/posix_acl_xattr.h). */
struct entry {
    uint16_t tag;
    uint16_t permissions;
    uint32_t user;
};

enum { OWNER = 0x01, USER = 0x02, OWNING_GROUP = 0x04, MASK = 0x10, OTHERS = 0x20, CONNECT = 6, NOBODY = 0xFFFFFFFF };

/* Lets the owner and these users connect. An errno if the file system has no ACLs. */
static int set_acl(const char *path, const uint32_t users[], int count) {
    struct {
        uint32_t version;
        struct entry entries[AGENT_SOCKET_USERS + 4];
    } list = {.version = 2};
    int used = 0;
    list.entries[used++] = (struct entry){OWNER, CONNECT, NOBODY};
    for (int index = 0; index < count; index++)
        if (users[index] != geteuid()) list.entries[used++] = (struct entry){USER, CONNECT, users[index]};
    list.entries[used++] = (struct entry){OWNING_GROUP, 0, NOBODY};
    list.entries[used++] = (struct entry){MASK, CONNECT, NOBODY};
    list.entries[used++] = (struct entry){OTHERS, 0, NOBODY};
    size_t size = sizeof list.version + (size_t)used * sizeof list.entries[0];
    return setxattr(path, "system.posix_acl_access", &list, size, 0) == 0 ? 0 : errno;
}
#endif

/* Lets these users connect: by an ACL, or by the mode where there are none. The agent checks the users of connections in any case. */
static int admit(int folder, const char *name, const char *path, const uint32_t users[], int count) {
    int others = 0;
    for (int index = 0; index < count; index++) others |= users[index] != geteuid();
    if (fchmodat(folder, name, 0600, 0) != 0) return errno;
    if (!others) return 0;
#if defined(__linux__)
    if (set_acl(path, users, count) == 0) return 0;
#else
    (void)path;
#endif
    return fchmodat(folder, name, 0666, 0) == 0 ? 0 : errno;
}

/* Binds the socket under another name, and renames it when it listens and has its mode. */
static int bind_in(
    int folder, const char *folder_path, const char *name, int descriptor, const uint32_t users[], int count,
    agent_socket_file *made) {
    char temporary[48];
    snprintf(temporary, sizeof temporary, ".sso-agent.%ld", (long)getpid());
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int code = place(folder, folder_path, temporary, address.sun_path, sizeof address.sun_path);
    if (code != 0) return code;
    unlinkat(folder, temporary, 0);
    /* On Linux the file gets the descriptor's mode, less the umask, before it can be opened. */
    fchmod(descriptor, 0600);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) return errno;
    struct stat status;
    code = admit(folder, temporary, address.sun_path, users, count);
    if (code == 0 && (fstatat(folder, temporary, &status, AT_SYMLINK_NOFOLLOW) != 0 || listen(descriptor, BACKLOG) != 0))
        code = errno;
    if (code == 0 && renameat(folder, temporary, folder, name) != 0) code = errno;
    if (code != 0) {
        unlinkat(folder, temporary, 0);
        return code;
    }
    *made = (agent_socket_file){(uint64_t)status.st_dev, (uint64_t)status.st_ino};
    return 0;
}

int agent_make_socket(const char *path, const uint32_t users[], int count, agent_socket_file *made) {
    char folder_path[AGENT_SOCKET_PATH + 1];
    const char *name = NULL;
    if (count < 1 || count > AGENT_SOCKET_USERS || split(path, folder_path, &name) != 0) return -EINVAL;
    int folder = open_folder(folder_path);
    if (folder < 0) return folder;
    int code = check_free(folder, folder_path, name);
    int descriptor = code == 0 ? new_socket() : -1;
    if (descriptor >= 0) agent_refuse_descriptors(descriptor);
    if (code == 0) code = descriptor < 0 ? errno : bind_in(folder, folder_path, name, descriptor, users, count, made);
    if (code != 0 && descriptor >= 0) close(descriptor);
    close(folder);
    return code == 0 ? descriptor : -code;
}

void agent_remove_socket(const char *path, const agent_socket_file *made) {
    char folder_path[AGENT_SOCKET_PATH + 1];
    const char *name = NULL;
    if (split(path, folder_path, &name) != 0) return;
    int folder = open_folder(folder_path);
    if (folder < 0) return;
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode) &&
        (uint64_t)status.st_dev == made->device && (uint64_t)status.st_ino == made->file)
        unlinkat(folder, name, 0);
    close(folder);
}
