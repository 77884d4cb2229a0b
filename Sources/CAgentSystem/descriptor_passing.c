#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#if !defined(MSG_NOSIGNAL)
#define MSG_NOSIGNAL 0
#endif
#if !defined(MSG_CMSG_CLOEXEC)
#define MSG_CMSG_CLOEXEC 0
#endif

/* SO_PASSRIGHTS, which older headers do not have. */
enum { PASS_RIGHTS = 83 };

int agent_refuse_descriptors(int socket) {
#if defined(__linux__)
    int accepted = 0;
    return setsockopt(socket, SOL_SOCKET, PASS_RIGHTS, &accepted, sizeof accepted) == 0 ? 0 : errno;
#else
    (void)socket;
    return ENOPROTOOPT;
#endif
}

int agent_may_have_descriptors(int socket) {
#if defined(__linux__)
    int accepted = 1;
    socklen_t length = sizeof accepted;
    return getsockopt(socket, SOL_SOCKET, PASS_RIGHTS, &accepted, &length) != 0 || accepted != 0;
#else
    (void)socket;
    return 0;
#endif
}

void agent_pass_no_credentials(int socket) {
#if defined(__linux__)
    int off = 0;
    setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &off, sizeof off);
#else
    (void)socket;
#endif
}

ssize_t agent_peek(int socket, void *bytes, size_t limit, int *has_descriptors) {
    struct iovec part = {bytes, limit};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t length = recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT);
    /* There is no room for descriptors. They stay in the queue, and the kernel says that they were left out. */
    *has_descriptors = length >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
    return length;
}

int agent_has_unread_bytes(int socket) {
    int count = 0;
    return ioctl(socket, FIONREAD, &count) != 0 || count > 0;
}

ssize_t agent_send_with_descriptor(int socket, const void *bytes, size_t count, int descriptor, int flags) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    struct iovec part = {(void *)bytes, count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    return sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

ssize_t agent_send_parts(int socket, struct iovec parts[], size_t count) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t agent_receive_with_descriptor(int socket, void *bytes, size_t limit, int *descriptor, int flags) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {bytes, limit};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t length = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    *descriptor = -1;
    if (length < 0 || message.msg_controllen == 0) return length;
    int count = 0;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item != NULL; item = CMSG_NXTHDR(&message, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
        for (size_t offset = CMSG_LEN(0); offset + sizeof(int) <= item->cmsg_len; offset += sizeof(int)) {
            int received;
            memcpy(&received, (char *)item + offset, sizeof received);
            if (count++ == 0) *descriptor = received;
            else close(received);
        }
    }
    if (*descriptor >= 0 && (count > 1 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))) {
        close(*descriptor);
        *descriptor = -1;
    }
    return length;
}
