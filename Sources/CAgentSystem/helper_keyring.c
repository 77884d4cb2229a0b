#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)

/* A request: its number, the operation, and the input of the program. */
struct request {
    uint32_t number;
    uint32_t operation;
    unsigned char input[AGENT_KEYRING_LIMIT];
};

/* A reply: the number of its request, the status of the program, and its output. */
struct reply {
    uint32_t number;
    int32_t status;
    unsigned char output[AGENT_KEYRING_LIMIT];
};

#define HEADER 8
/* A keyring may ask its user for a password meanwhile. */
#define PATIENCE 60000
/* The time after which it is checked whether the agent has ended while a program goes on that has closed its output, in milliseconds. */
#define CHECK_INTERVAL 200

/* Waits until something can be read; 0 if the time is over. */
static int is_readable(int descriptor, int64_t deadline) {
    struct pollfd event = {.fd = descriptor, .events = POLLIN};
    for (;;) {
        int64_t left = deadline - agent_milliseconds();
        if (left <= 0) return 0;
        int ready = poll(&event, 1, (int)left);
        if (ready > 0) return 1;
        if (ready == 0 || errno != EINTR) return 0;
    }
}

/* Whether the agent has ended: its end of the socket is closed. */
static int is_abandoned(int socket) {
    struct pollfd event = {.fd = socket};
    return poll(&event, 1, 0) > 0;
}

/* Reads to the end of the program's output; the number of bytes, or -1 if it takes too long, is too long, or the agent has ended. */
static ssize_t read_output(int descriptor, int socket, int64_t deadline, unsigned char *output) {
    ssize_t total = 0;
    while (total < AGENT_KEYRING_LIMIT) {
        struct pollfd events[2] = {{.fd = descriptor, .events = POLLIN}, {.fd = socket}};
        int64_t left = deadline - agent_milliseconds();
        int ready = left > 0 ? poll(events, 2, (int)left) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0 || events[1].revents != 0) return -1;
        ssize_t length = recv(descriptor, output + total, (size_t)(AGENT_KEYRING_LIMIT - total), 0);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return total;
        total += length;
    }
    return -1;
}

/* Runs a program with an input, and reads its output; the number of bytes, or -1 if it cannot be started, takes too long or
   writes too much. It ends with the agent: at a prompt that is answered later, it would replace what the next agent has saved. */
static ssize_t run(
    char *const words[], int has_errors, const void *input, size_t count, void *output, int32_t *status, int socket) {
    int64_t deadline = agent_milliseconds() + PATIENCE;
    int ends[2];
    if (is_abandoned(socket) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    pid_t child;
    int code = agent_spawn_group(words, ends[1], has_errors, &child);
    close(ends[1]);
    if (code != 0) {
        close(ends[0]);
        *status = -2;
        return -1;
    }
    /* A few hundred bytes fit into the buffer of the socket. */
    send(ends[0], input, count, MSG_NOSIGNAL);
    shutdown(ends[0], SHUT_WR);
    ssize_t total = read_output(ends[0], socket, deadline, output);
    close(ends[0]);
    /* The program may have closed its output and still be running. */
    while (total >= 0 && agent_milliseconds() < deadline && !is_abandoned(socket))
        if (agent_wait_for(child, CHECK_INTERVAL, status)) return total;
    /* With the programs that it has started: one of them may show the prompt. */
    kill(-child, SIGKILL);
    *status = agent_wait(child);
    return total;
}

void agent_serve_keyring(int socket, const char *program, const char *store) {
    char *const lookup[] = {(char *)program, "lookup", "application", "sso-agent", "store", (char *)store, NULL};
    char *const save[] = {
        (char *)program, "store", "--label=sso-agent", "application", "sso-agent", "store", (char *)store, NULL,
    };
    char *const clear[] = {(char *)program, "clear", "application", "sso-agent", "store", (char *)store, NULL};
    char *const search[] = {
        (char *)program, "search", "--all", "application", "sso-agent", "store", (char *)store, NULL,
    };
    static struct request request;
    static struct reply reply;
    for (;;) {
        ssize_t length = recv(socket, &request, sizeof request, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return;
        if (length < HEADER) continue;
        char *const *words = request.operation == AGENT_KEYRING_LOOKUP  ? lookup
                             : request.operation == AGENT_KEYRING_STORE ? save
                             : request.operation == AGENT_KEYRING_CLEAR ? clear
                             : request.operation == AGENT_KEYRING_SEARCH ? search
                                                                         : NULL;
        reply.number = request.number;
        reply.status = -1;
        ssize_t count = -1;
        if (words != NULL && program != NULL) {
            /* A search writes the attributes of what it finds to the standard error, which is the agent's log. */
            count = run(
                words, words != search, request.input, (size_t)length - HEADER, reply.output, &reply.status, socket);
        }
        if (count < 0) {
            if (reply.status == 0) reply.status = -1;
            count = 0;
        }
        send(socket, &reply, HEADER + (size_t)count, MSG_NOSIGNAL);
        explicit_bzero(&request, sizeof request);
        explicit_bzero(&reply, sizeof reply);
    }
}

int agent_call_keyring_helper(
    int helper, int operation, const void *input, size_t count, void *output, int32_t *status) {
    static uint32_t last;
    uint32_t number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    struct request request;
    struct reply reply;
    if (count > sizeof request.input) return -1;
    request.number = number;
    request.operation = (uint32_t)operation;
    memcpy(request.input, input, count);
    ssize_t sent = send(helper, &request, HEADER + count, MSG_NOSIGNAL);
    explicit_bzero(&request, sizeof request);
    if (sent < 0) return -1;
    int64_t deadline = agent_milliseconds() + PATIENCE + 5000;
    int result = -1;
    while (is_readable(helper, deadline)) {
        ssize_t length = recv(helper, &reply, sizeof reply, 0);
        if (length < 0 && errno == EINTR) continue;
        if (length < HEADER) break;
        /* The reply to a call that has given up is of an earlier number. */
        if (reply.number != number) continue;
        *status = reply.status;
        result = (int)length - HEADER;
        memcpy(output, reply.output, (size_t)result);
        break;
    }
    explicit_bzero(&reply, sizeof reply);
    return result;
}

#else

void agent_serve_keyring(int socket, const char *program, const char *store) {}

int agent_call_keyring_helper(
    int helper, int operation, const void *input, size_t count, void *output, int32_t *status) {
    return -1;
}

#endif
