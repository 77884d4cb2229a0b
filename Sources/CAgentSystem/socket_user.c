#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* An address and port, all in network byte order; an IPv4 address as the IPv6 address that it is mapped to. */
typedef struct {
    uint32_t words[4];
    uint16_t port;
} endpoint;

static void map(uint32_t ipv4, uint32_t words[4]) {
    words[0] = words[1] = 0;
    words[2] = htonl(0xFFFF);
    words[3] = ipv4;
}

static int read_endpoint(const struct sockaddr *address, endpoint *end) {
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;
        map(ipv4->sin_addr.s_addr, end->words);
        end->port = ipv4->sin_port;
        return 0;
    }
    if (address->sa_family != AF_INET6) return EAFNOSUPPORT;
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)address;
    memcpy(end->words, &ipv6->sin6_addr, sizeof end->words);
    end->port = ipv6->sin6_port;
    return 0;
}

static int read_endpoints(const void *own, const void *remote, endpoint ends[2]) {
    int code = read_endpoint(own, &ends[0]);
    return code == 0 ? read_endpoint(remote, &ends[1]) : code;
}

#if defined(__linux__)

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

static int is_mapped(const endpoint *end) {
    return end->words[0] == 0 && end->words[1] == 0 && end->words[2] == htonl(0xFFFF);
}

/* Whether the kernel's answer is about the socket that was asked for. Where there is no such connection, the kernel looks
   for a listening socket with the same own address, which is another socket. */
static int is_about(const struct inet_diag_msg *answer, const endpoint ends[2]) {
    endpoint found[2];
    memcpy(found[0].words, answer->id.idiag_src, sizeof found[0].words);
    memcpy(found[1].words, answer->id.idiag_dst, sizeof found[1].words);
    found[0].port = answer->id.idiag_sport;
    found[1].port = answer->id.idiag_dport;
    for (int end = 0; end < 2; end++) {
        if (answer->idiag_family == AF_INET) map(found[end].words[0], found[end].words);
        if (memcmp(found[end].words, ends[end].words, sizeof found[end].words) != 0) return 0;
        if (found[end].port != ends[end].port) return 0;
    }
    return 1;
}

static int read_answer(const struct nlmsghdr *header, size_t length, const endpoint ends[2], uint32_t *user) {
    if (!NLMSG_OK(header, length)) return EBADMSG;
    if (header->nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *error = NLMSG_DATA(header);
        if (header->nlmsg_len < NLMSG_LENGTH(sizeof error->error)) return EBADMSG;
        return error->error < 0 ? -error->error : EBADMSG;
    }
    if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY) return EBADMSG;
    const struct inet_diag_msg *answer = NLMSG_DATA(header);
    if (header->nlmsg_len < NLMSG_LENGTH(sizeof *answer)) return EBADMSG;
    /* A socket that its process has closed has no inode, and the kernel names user 0 for it. */
    if (!is_about(answer, ends) || answer->idiag_inode == 0) return ENOENT;
    *user = answer->idiag_uid;
    return 0;
}

static int ask(int kernel, const endpoint ends[2], uint32_t *user) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 body;
    } question = {0};
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    int is_ipv4 = is_mapped(&ends[0]) && is_mapped(&ends[1]);
    question.body.sdiag_family = is_ipv4 ? AF_INET : AF_INET6;
    question.body.sdiag_protocol = IPPROTO_TCP;
    question.body.idiag_states = ~0u;
    question.body.id.idiag_sport = ends[0].port;
    question.body.id.idiag_dport = ends[1].port;
    question.body.id.idiag_cookie[0] = question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    size_t skipped = is_ipv4 ? 3 : 0;
    size_t bytes = (4 - skipped) * sizeof(uint32_t);
    memcpy(question.body.id.idiag_src, ends[0].words + skipped, bytes);
    memcpy(question.body.id.idiag_dst, ends[1].words + skipped, bytes);
    if (send(kernel, &question, sizeof question, 0) != (ssize_t)sizeof question) return errno;
    union {
        struct nlmsghdr header;
        char bytes[4096];
    } answer;
    struct sockaddr_nl sender = {0};
    socklen_t sender_length = sizeof sender;
    /* The kernel has answered when send returns. */
    ssize_t length = recvfrom(
        kernel, &answer, sizeof answer, MSG_DONTWAIT, (struct sockaddr *)&sender, &sender_length);
    if (length < 0) return errno;
    if (sender.nl_pid != 0) return EBADMSG;
    return read_answer(&answer.header, (size_t)length, ends, user);
}

int agent_query_socket_user(const void *own, const void *remote, uint32_t *user) {
    endpoint ends[2];
    int code = read_endpoints(own, remote, ends);
    if (code != 0) return code;
    int kernel = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (kernel < 0) return errno;
    code = ask(kernel, ends, user);
    close(kernel);
    return code;
}

/* The columns `local_address` and `rem_address` of a socket: the 32-bit words of addresses in the machine's byte order. */
static int write_columns(const endpoint ends[2], int is_ipv4, char columns[96]) {
    int length = 0;
    for (int end = 0; end < 2; end++) {
        for (int word = is_ipv4 ? 3 : 0; word < 4; word++)
            length += snprintf(columns + length, 96 - (size_t)length, "%08X", ends[end].words[word]);
        length += snprintf(columns + length, 96 - (size_t)length, ":%04X ", ntohs(ends[end].port));
    }
    return length;
}

int agent_search_socket_table(const char *path, const void *own, const void *remote, int is_ipv4, uint32_t *user) {
    /* A table that is longer is not read further. It would take the better part of a second. */
    const long limit = 1L << 18;
    endpoint ends[2];
    int code = read_endpoints(own, remote, ends);
    if (code != 0) return code;
    char columns[96];
    size_t length = (size_t)write_columns(ends, is_ipv4, columns);
    FILE *table = fopen(path, "re");
    if (table == NULL) return errno;
    char buffer[32 * 1024];
    setvbuf(table, buffer, _IOFBF, sizeof buffer);
    char line[512];
    code = ENOENT;
    for (long number = 0; code == ENOENT && fgets(line, sizeof line, table) != NULL; number++) {
        if (number >= limit) {
            code = EFBIG;
            break;
        }
        const char *colon = strchr(line, ':');
        if (colon == NULL || colon[1] != ' ' || strncmp(colon + 2, columns, length) != 0) continue;
        unsigned int found = 0;
        unsigned long inode = 0;
        int fields = sscanf(colon + 2 + length, "%*x %*x:%*x %*x:%*x %*x %u %*d %lu", &found, &inode);
        if (fields != 2 || inode == 0) continue;
        *user = found;
        code = 0;
    }
    if (code == ENOENT && ferror(table)) code = EIO;
    fclose(table);
    return code;
}

int agent_search_socket_user(const void *own, const void *remote, uint32_t *user) {
    endpoint ends[2];
    int code = read_endpoints(own, remote, ends);
    if (code != 0) return code;
    /* The kernel may pass over a socket while others are closed, hence the second attempt. */
    for (int attempt = 0; attempt < 2; attempt++) {
        code = ENOENT;
        if (is_mapped(&ends[0]) && is_mapped(&ends[1]))
            code = agent_search_socket_table("/proc/net/tcp", own, remote, 1, user);
        /* IPv4 connections of IPv6 sockets are here too. */
        if (code == ENOENT) code = agent_search_socket_table("/proc/net/tcp6", own, remote, 0, user);
        if (code != ENOENT) return code;
    }
    return code;
}

#elif defined(__APPLE__)

#include <libproc.h>
#include <stdlib.h>

static int is_own(const struct in_sockinfo *socket, const endpoint ends[2]) {
    endpoint found[2];
    if (socket->insi_vflag & INI_IPV4) {
        map(socket->insi_laddr.ina_46.i46a_addr4.s_addr, found[0].words);
        map(socket->insi_faddr.ina_46.i46a_addr4.s_addr, found[1].words);
    } else {
        memcpy(found[0].words, &socket->insi_laddr.ina_6, sizeof found[0].words);
        memcpy(found[1].words, &socket->insi_faddr.ina_6, sizeof found[1].words);
    }
    found[0].port = (uint16_t)socket->insi_lport;
    found[1].port = (uint16_t)socket->insi_fport;
    for (int end = 0; end < 2; end++) {
        if (found[end].port != ends[end].port) return 0;
        if (memcmp(found[end].words, ends[end].words, sizeof found[end].words) != 0) return 0;
    }
    return 1;
}

static int has_socket(pid_t process, const endpoint ends[2]) {
    int size = proc_pidinfo(process, PROC_PIDLISTFDS, 0, NULL, 0);
    struct proc_fdinfo *files = size > 0 ? malloc((size_t)size) : NULL;
    if (files == NULL) return 0;
    size = proc_pidinfo(process, PROC_PIDLISTFDS, 0, files, size);
    int has = 0;
    for (int index = 0; !has && index < size / (int)sizeof *files; index++) {
        if (files[index].proc_fdtype != PROX_FDTYPE_SOCKET) continue;
        struct socket_fdinfo info;
        int read = proc_pidfdinfo(process, files[index].proc_fd, PROC_PIDFDSOCKETINFO, &info, sizeof info);
        has = read == (int)sizeof info && info.psi.soi_kind == SOCKINFO_TCP
              && is_own(&info.psi.soi_proto.pri_tcp.tcpsi_ini, ends);
    }
    free(files);
    return has;
}

int agent_query_socket_user(const void *own, const void *remote, uint32_t *user) {
    (void)own, (void)remote, (void)user;
    return ENOTSUP;
}

/* There is no public table of sockets with their users; the processes of this user show their own. */
int agent_search_socket_user(const void *own, const void *remote, uint32_t *user) {
    endpoint ends[2];
    int code = read_endpoints(own, remote, ends);
    if (code != 0) return code;
    int size = proc_listpids(PROC_UID_ONLY, geteuid(), NULL, 0);
    pid_t *processes = size > 0 ? malloc((size_t)size) : NULL;
    if (processes == NULL) return ENOMEM;
    size = proc_listpids(PROC_UID_ONLY, geteuid(), processes, size);
    code = ENOENT;
    for (int index = 0; code == ENOENT && index < size / (int)sizeof *processes; index++) {
        if (processes[index] > 0 && has_socket(processes[index], ends)) code = 0;
    }
    free(processes);
    if (code == 0) *user = geteuid();
    return code;
}

int agent_search_socket_table(const char *path, const void *own, const void *remote, int is_ipv4, uint32_t *user) {
    (void)path, (void)own, (void)remote, (void)is_ipv4, (void)user;
    return ENOTSUP;
}

#else
#error "which user a socket belongs to is not known for this system"
#endif
