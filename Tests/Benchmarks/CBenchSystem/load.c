#include "CBenchSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { header_length = 4, batch = 64, longest_reply = 64 * 1024 };

// A connection with one request in flight. The bytes of a reply are counted and discarded.
struct connection {
    int socket;
    size_t have;
    size_t whole;
    uint64_t asked;
};

struct load {
    const void *request;
    size_t length;
    uint64_t *nanoseconds;
    size_t room;
    size_t replies;
};

static int send_request(struct connection *connection, const struct load *load, uint64_t now) {
    connection->have = 0;
    connection->whole = header_length;
    connection->asked = now;
    return send(connection->socket, load->request, load->length, MSG_NOSIGNAL) == (ssize_t)load->length ? 0 : -EPIPE;
}

// Reads the available bytes; sends the next request when the reply is complete.
static int receive_reply(struct connection *connection, struct load *load) {
    static unsigned char bytes[longest_reply];
    ssize_t count = recv(connection->socket, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EAGAIN) return 0;
    if (count <= 0 || (connection->have == 0 && count < header_length)) return -EPIPE;
    if (connection->have == 0) {
        connection->whole = header_length + ((size_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
    }
    connection->have += (size_t)count;
    if (connection->have < connection->whole) return 0;
    uint64_t now = bench_now();
    if (load->replies < load->room) load->nanoseconds[load->replies] = now - connection->asked;
    load->replies++;
    return send_request(connection, load, now);
}

static int run(int epoll, struct load *load, uint64_t end) {
    struct epoll_event events[batch];
    while (bench_now() < end) {
        int count = epoll_wait(epoll, events, batch, 1000);
        if (count < 0 && errno != EINTR) return -errno;
        for (int index = 0; index < count; index++) {
            int code = receive_reply(events[index].data.ptr, load);
            if (code != 0) return code;
        }
    }
    return 0;
}

long bench_load(
    const char *path, const void *request, size_t length, int connections, uint64_t duration, uint64_t *nanoseconds,
    size_t room) {
    struct load load = {.request = request, .length = length, .nanoseconds = nanoseconds, .room = room};
    struct connection *all = calloc((size_t)connections, sizeof *all);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int code = 0;
    int open = 0;
    for (; code == 0 && open < connections; open++) {
        struct connection *connection = &all[open];
        connection->socket = bench_connect(path);
        if (connection->socket < 0) {
            code = connection->socket;
            break;
        }
        fcntl(connection->socket, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
        epoll_ctl(epoll, EPOLL_CTL_ADD, connection->socket, &event);
        code = send_request(connection, &load, bench_now());
    }
    if (code == 0) code = run(epoll, &load, bench_now() + duration);
    for (int index = 0; index < open; index++) close(all[index].socket);
    close(epoll);
    free(all);
    return code != 0 ? code : (long)load.replies;
}
