#define _GNU_SOURCE
#include "CCurl.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* Whether the system has no route to an address. Connecting a datagram socket looks the route up and sends nothing. */
static bool lacks_route(const struct sockaddr *address, socklen_t length) {
#ifdef SOCK_CLOEXEC
    int descriptor = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
#else
    int descriptor = socket(address->sa_family, SOCK_DGRAM, 0);
    if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#endif
    if (descriptor < 0) return errno == EAFNOSUPPORT;
    bool has_failed = connect(descriptor, address, length) != 0;
    int reason = errno;
    close(descriptor);
    if (!has_failed) return false;
    /* EADDRNOTAVAIL: IPv6 is disabled. */
    return reason == ENETUNREACH || reason == EHOSTUNREACH || reason == ENETDOWN || reason == EADDRNOTAVAIL;
}

bool ccurl_is_offline(void) {
    /* Addresses that no network has: they are for documentation (203.0.113.1, RFC 5737; 2001:db8::1, RFC 3849). */
    const struct sockaddr_in four = {
        .sin_family = AF_INET, .sin_port = htons(443), .sin_addr.s_addr = htonl(0xCB007101)};
    const struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(443), .sin6_addr.s6_addr = {0x20, 0x01, 0x0D, 0xB8, [15] = 1}};
    return lacks_route((const struct sockaddr *)&four, sizeof four) &&
           lacks_route((const struct sockaddr *)&six, sizeof six);
}
