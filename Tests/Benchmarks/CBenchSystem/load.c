#include "CBenchSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { header_length = 4, batch = 64, longest_reply = 64 * 1024 };

// A connection with one request in flight. A reply's bytes are counted and not kept.
struct lane {
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

static int ask(struct lane *lane, const struct load *load, uint64_t now) {
    lane->have = 0;
    lane->whole = header_length;
    lane->asked = now;
    return send(lane->socket, load->request, load->length, MSG_NOSIGNAL) == (ssize_t)load->length ? 0 : -EPIPE;
}

// Reads what is there; asks again when the reply is whole.
static int hear(struct lane *lane, struct load *load) {
    static unsigned char bytes[longest_reply];
    ssize_t count = recv(lane->socket, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EAGAIN) return 0;
    if (count < header_length) return -EPIPE;
    if (lane->have == 0) {
        lane->whole = header_length + ((size_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]);
    }
    lane->have += (size_t)count;
    if (lane->have < lane->whole) return 0;
    uint64_t now = bench_now();
    if (load->replies < load->room) load->nanoseconds[load->replies] = now - lane->asked;
    load->replies++;
    return ask(lane, load, now);
}

static int run(int epoll, struct load *load, uint64_t end) {
    struct epoll_event events[batch];
    while (bench_now() < end) {
        int count = epoll_wait(epoll, events, batch, 1000);
        if (count < 0 && errno != EINTR) return -errno;
        for (int index = 0; index < count; index++) {
            int code = hear(events[index].data.ptr, load);
            if (code != 0) return code;
        }
    }
    return 0;
}

long bench_load(
    const char *path, const void *request, size_t length, int connections, uint64_t duration, uint64_t *nanoseconds,
    size_t room) {
    struct load load = {.request = request, .length = length, .nanoseconds = nanoseconds, .room = room};
    struct lane *lanes = calloc((size_t)connections, sizeof *lanes);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    int code = 0;
    int open = 0;
    for (; code == 0 && open < connections; open++) {
        struct lane *lane = &lanes[open];
        lane->socket = bench_connect(path);
        if (lane->socket < 0) {
            code = lane->socket;
            break;
        }
        fcntl(lane->socket, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = lane};
        epoll_ctl(epoll, EPOLL_CTL_ADD, lane->socket, &event);
        code = ask(lane, &load, bench_now());
    }
    if (code == 0) code = run(epoll, &load, bench_now() + duration);
    for (int index = 0; index < open; index++) close(lanes[index].socket);
    close(epoll);
    free(lanes);
    return code != 0 ? code : (long)load.replies;
}
