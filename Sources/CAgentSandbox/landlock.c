#define _GNU_SOURCE
#include "CAgentSandbox.h"

#include <errno.h>

#if defined(__linux__)

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights and scopes of later kernels than that of the headers (https://docs.kernel.org/userspace-api/landlock.html). */
#define RIGHT_REFER (1ULL << 13)     /* version 2 */
#define RIGHT_TRUNCATE (1ULL << 14)  /* version 3 */
#define RIGHT_IOCTL_DEV (1ULL << 15) /* version 5 */
#define SCOPE_SIGNAL (1ULL << 1)     /* version 6 */

/* `struct landlock_ruleset_attr` with the fields of version 6. */
struct ruleset {
    uint64_t files;
    uint64_t ports;
    uint64_t scopes;
};

/* Every right of version 1, which are the first thirteen bits. */
#define RIGHTS_OF_VERSION_1 ((1ULL << 13) - 1)

#define FILE_RIGHTS \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | RIGHT_TRUNCATE)

static uint64_t rights_of(int access) {
    uint64_t rights = 0;
    if (access & SANDBOX_READ) rights |= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    if (access & SANDBOX_WRITE) rights |= LANDLOCK_ACCESS_FS_WRITE_FILE | RIGHT_TRUNCATE;
    if (access & SANDBOX_CREATE)
        rights |= LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE;
    return rights;
}

static int add_rule(int ruleset, const sandbox_rule *rule, uint64_t handled) {
    int descriptor = open(rule->path, O_PATH | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : errno;
    struct stat status;
    int code = fstat(descriptor, &status) == 0 ? 0 : errno;
    if (code == 0) {
        struct landlock_path_beneath_attr beneath = {
            .allowed_access = rights_of(rule->access) & handled & (S_ISDIR(status.st_mode) ? ~0ULL : FILE_RIGHTS),
            .parent_fd = descriptor,
        };
        if (beneath.allowed_access != 0 &&
            syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0)
            code = errno;
    }
    close(descriptor);
    return code;
}

int sandbox_restrict_files(const sandbox_rule *rules, int count) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 0) return errno;
    struct ruleset attributes = {.files = RIGHTS_OF_VERSION_1};
    if (version >= 2) attributes.files |= RIGHT_REFER;
    if (version >= 3) attributes.files |= RIGHT_TRUNCATE;
    if (version >= 5) attributes.files |= RIGHT_IOCTL_DEV;
    if (version >= 6) attributes.scopes = SCOPE_SIGNAL;
    size_t size = version >= 6 ? sizeof attributes : sizeof attributes.files;
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
    if (ruleset < 0) return errno;
    int code = 0;
    for (int index = 0; index < count && code == 0; index++) code = add_rule(ruleset, &rules[index], attributes.files);
    if (code == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) code = errno;
    close(ruleset);
    return code;
}

int sandbox_forbid_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno; }

#else

int sandbox_restrict_files(const sandbox_rule *rules, int count) { return ENOSYS; }

int sandbox_forbid_privileges(void) { return ENOSYS; }

#endif
