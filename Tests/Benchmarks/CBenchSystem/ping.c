#include "CBenchSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { header_length = 4, longest_reply = 1 << 20 };

int bench_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) return -errno;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int code = errno;
        close(descriptor);
        return -code;
    }
    return descriptor;
}

int bench_touch_port(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0) return errno;
    int code = 0;
    if (fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0
        || (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS)) {
        code = errno;
    }
    close(descriptor);
    return code;
}

static long frame_length(const unsigned char *header) {
    return header_length + ((long)header[0] << 24 | header[1] << 16 | header[2] << 8 | header[3]);
}

long bench_ask(int socket, const void *request, size_t length, void *reply, size_t room) {
    if (send(socket, request, length, MSG_NOSIGNAL) != (ssize_t)length) return -EPIPE;
    size_t have = 0;
    long whole = header_length;
    while ((long)have < whole) {
        ssize_t count = recv(socket, (char *)reply + have, room - have, 0);
        if (count <= 0) return count < 0 ? -errno : -EPIPE;
        have += (size_t)count;
        if (have >= header_length) whole = frame_length(reply);
        if (whole > (long)room) return -EMSGSIZE;
    }
    return whole;
}

static long ask_once(const char *path, const void *request, size_t length, void *reply, size_t room) {
    int socket = bench_connect(path);
    if (socket < 0) return socket;
    long have = send(socket, request, length, MSG_NOSIGNAL) == (ssize_t)length ? 0 : -EPIPE;
    ssize_t count = 1;
    while (have >= 0 && count > 0) {
        count = recv(socket, (char *)reply + have, room - (size_t)have, 0);
        have = count < 0 ? -errno : have + count;
    }
    close(socket);
    return have;
}

int bench_ping(int socket, const void *request, size_t length, uint64_t *nanoseconds, size_t count) {
    static char reply[longest_reply];
    for (size_t index = 0; index < count; index++) {
        uint64_t start = bench_now();
        long result = bench_ask(socket, request, length, reply, sizeof reply);
        if (result < 0) return (int)-result;
        nanoseconds[index] = bench_now() - start;
    }
    return 0;
}

int bench_ping_connecting(
    const char *path, const void *request, size_t length, int framed, uint64_t *nanoseconds, size_t count) {
    static char reply[longest_reply];
    for (size_t index = 0; index < count; index++) {
        uint64_t start = bench_now();
        long result;
        if (framed) {
            int socket = bench_connect(path);
            if (socket < 0) return -socket;
            result = bench_ask(socket, request, length, reply, sizeof reply);
            close(socket);
        } else {
            result = ask_once(path, request, length, reply, sizeof reply);
        }
        if (result <= 0) return result < 0 ? (int)-result : EPIPE;
        nanoseconds[index] = bench_now() - start;
    }
    return 0;
}
