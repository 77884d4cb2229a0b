// The floor: a server that reads a framed request and writes a framed reply of a fixed size, and does nothing else.
//
//     bench-floor ping-pong|epoll SOCKET REPLY-BYTES
//     bench-floor rows DATABASE
//
// `ping-pong` serves one connection at a time with blocking calls: the least that a round trip can take.
// `epoll` serves many, as an event loop does: the most that one thread can answer.
// `rows` reads the rows of a store (rows.c): the least that loading it can take.

#define _GNU_SOURCE
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { header_length = 4, batch = 64, longest_frame = 64 * 1024 };

static unsigned char *reply;
static size_t reply_length;

static void make_reply(size_t length) {
    reply_length = length;
    reply = malloc(length);
    memset(reply, 'x', length);
    size_t body = length - header_length;
    for (int index = 0; index < header_length; index++) {
        reply[index] = (unsigned char)(body >> (8 * (header_length - 1 - index)));
    }
}

// Reads a request and sends the reply; returns 0 when the peer has closed the connection. The peers of a benchmark send
// each request in one piece.
static int serve_one(int socket) {
    static unsigned char bytes[longest_frame];
    ssize_t have = recv(socket, bytes, sizeof bytes, 0);
    if (have < 0 && errno == EAGAIN) return 1;
    if (have < header_length) return 0;
    ssize_t whole = header_length + ((ssize_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
    if (have != whole) return 0;
    return send(socket, reply, reply_length, MSG_NOSIGNAL) == (ssize_t)reply_length;
}

static void serve_ping_pong(int listener) {
    for (;;) {
        int peer = accept(listener, NULL, NULL);
        if (peer < 0) continue;
        while (serve_one(peer)) {}
        close(peer);
    }
}

static void serve_epoll(int listener) {
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        struct epoll_event events[batch];
        int count = epoll_wait(epoll, events, batch, -1);
        for (int index = 0; index < count; index++) {
            int socket = events[index].data.fd;
            if (socket == listener) {
                event.data.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
                if (event.data.fd >= 0) epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
            } else if (!serve_one(socket)) {
                close(socket);
            }
        }
    }
}

static int listen_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1024) != 0) return -1;
    return listener;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "rows") == 0) return read_rows(arguments[2]);
    if (count != 4 || atol(arguments[3]) <= header_length) {
        fprintf(stderr, "usage: bench-floor ping-pong|epoll SOCKET REPLY-BYTES, or bench-floor rows DATABASE\n");
        return 2;
    }
    make_reply((size_t)atol(arguments[3]));
    int listener = listen_at(arguments[2]);
    if (listener < 0) {
        perror(arguments[2]);
        return 1;
    }
    fprintf(stderr, "listening on %s\n", arguments[2]);
    if (strcmp(arguments[1], "epoll") == 0) serve_epoll(listener);
    serve_ping_pong(listener);
}
