#include "CAgentSystem.h"

#include <errno.h>

#if defined(__linux__)
#include <sys/xattr.h>

long agent_read_access_list(const char *path, void *out, size_t limit) {
    ssize_t count = lgetxattr(path, "system.posix_acl_access", out, limit);
    if (count >= 0) return (long)count;
    return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -(long)errno;
}
#else
long agent_read_access_list(const char *path, void *out, size_t limit) {
    (void)path;
    (void)out;
    (void)limit;
    return 0;
}
#endif
