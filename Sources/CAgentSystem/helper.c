#define _GNU_SOURCE
#include "CAgentSystem.h"
#include "open_files.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* The helper's end of each lane, in its process. */
#define FIRST_LANE 3
/* The stack of a lane's thread; its largest value is a description with a path. */
#define STACK (128 << 10)

enum { DESCRIBE = 1, READ_FLATPAK_INFO = 2 };
enum { MAKE_SOCKET = 1, REMOVE_SOCKET = 2 };

/* A request about a process. It has no pidfd: the kernel counts the descriptors that wait in sockets for the user, and refuses more of
   them if any process of the user has left too many there. */
struct inspection {
    uint32_t operation;
    int32_t pid;
};

/* A request about a published socket. */
struct socket_request {
    uint32_t operation;
    uint32_t count;
    uint32_t users[AGENT_SOCKET_USERS];
    char path[AGENT_SOCKET_PATH + 1];
};

/* A question, and the process on whose terminal it is asked. */
struct question {
    int32_t pid;
    uint64_t start;
    char text[AGENT_QUESTION_LIMIT + 1];
};

static agent_helper_settings settings;

/* The sockets that the helper has made: no others are removed. */
static struct {
    char path[AGENT_SOCKET_PATH + 1];
    agent_socket_file file;
} made[AGENT_SOCKETS];

static void remove_made(int index) {
    agent_remove_socket(made[index].path, &made[index].file);
    made[index].path[0] = 0;
}

/* A place in the list: of a path, or a free one for the empty path. */
static int place_of(const char *path) {
    for (int index = 0; index < AGENT_SOCKETS; index++)
        if (strcmp(made[index].path, path) == 0) return index;
    return -1;
}

static int make_socket(const struct socket_request *request) {
    int index = place_of("");
    if (request->count > AGENT_SOCKET_USERS) return -EINVAL;
    if (index < 0) return -EMFILE;
    if (place_of(request->path) >= 0) return -EADDRINUSE;
    int result = agent_make_socket(request->path, request->users, (int)request->count, &made[index].file);
    if (result >= 0) memcpy(made[index].path, request->path, sizeof request->path);
    return result;
}

/* Sends a result, and a descriptor unless that is negative. If the kernel refuses that, the socket is removed. */
static void reply_about_socket(int lane, const char *path, int32_t result, int descriptor) {
    int32_t success = 0;
    if (descriptor >= 0) {
        if (agent_send_with_descriptor(lane, &success, sizeof success, descriptor, 0) >= 0) return;
        result = -errno;
        remove_made(place_of(path));
    }
    send(lane, &result, sizeof result, MSG_NOSIGNAL);
}

static void *serve_sockets(void *lane) {
    int socket = (int)(intptr_t)lane;
    struct socket_request request;
    for (;;) {
        ssize_t length = recv(socket, &request, sizeof request, MSG_TRUNC);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) break;
        int result = -EINVAL, index;
        if (length == sizeof request && memchr(request.path, 0, sizeof request.path) != NULL && request.path[0] != 0) {
            if (request.operation == MAKE_SOCKET) {
                result = make_socket(&request);
            } else if (request.operation == REMOVE_SOCKET && (index = place_of(request.path)) >= 0) {
                remove_made(index);
                result = 0;
            }
        }
        int descriptor = length == sizeof request && request.operation == MAKE_SOCKET ? result : -1;
        reply_about_socket(socket, request.path, result, descriptor);
        if (descriptor >= 0) close(descriptor);
    }
    for (int index = 0; index < AGENT_SOCKETS; index++)
        if (made[index].path[0] != 0) remove_made(index);
    return NULL;
}

/* The reply to each request is one message, to one that is not understood an empty result. */
static void *serve_inspection(void *lane) {
    int socket = (int)(intptr_t)lane;
    struct {
        int32_t result;
        union {
            agent_process process;
            char info[AGENT_FLATPAK_LIMIT];
        } content;
    } reply;
    for (;;) {
        struct inspection request;
        ssize_t received = recv(socket, &request, sizeof request, MSG_TRUNC);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) return NULL;
        uint32_t operation = received == sizeof request ? request.operation : 0;
        size_t length = 0;
        reply.result = -EINVAL;
        if (operation == DESCRIBE) {
            reply.result = agent_describe_process(request.pid, settings.executables, &reply.content.process);
            if (reply.result == 0) length = offsetof(agent_process, path) + strlen(reply.content.process.path) + 1;
        } else if (operation == READ_FLATPAK_INFO) {
            reply.result = agent_read_flatpak_info(request.pid, reply.content.info, sizeof reply.content.info);
            if (reply.result > 0) length = (size_t)reply.result;
        }
        send(socket, &reply, offsetof(__typeof__(reply), content) + length, MSG_NOSIGNAL);
    }
}

/* What comes at the lane while a question is asked withdraws it, and so does the end of the agent. */
static void *serve_confirmation(void *lane) {
    int socket = (int)(intptr_t)lane;
    struct question question;
    for (;;) {
        ssize_t length = recv(socket, &question, sizeof question, MSG_TRUNC);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return NULL;
        /* It has come after the answer. */
        if (length == AGENT_WITHDRAWAL) continue;
        int32_t answer = 0;
        if ((size_t)length > offsetof(struct question, text) && (size_t)length <= sizeof question) {
            ((char *)&question)[length - 1] = 0;
            answer = agent_confirm(settings.askpass, question.pid, question.start, question.text, socket);
        }
        send(socket, &answer, sizeof answer, MSG_NOSIGNAL);
    }
}

/* The process of the helper. It ends with the agent, whose ends of the sockets are then closed, and not by the signals that the agent
   handles. */
static void serve(const int ends[AGENT_LANES]) {
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    prctl(PR_SET_NAME, "sso-agent-help", 0, 0, 0);
    /* Without a controlling terminal, the kernel does not stop it when it asks on one. */
    setsid();
    int copies[AGENT_LANES];
    for (int lane = 0; lane < AGENT_LANES; lane++) {
        copies[lane] = fcntl(ends[lane], F_DUPFD, FIRST_LANE + AGENT_LANES);
        /* The lane's number would stay that of an end of the agent's, so that this process would not notice the agent's end. */
        if (copies[lane] < 0) _exit(1);
    }
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    if (agent_is_detached()) dup2(null, 2);
    for (int lane = 0; lane < AGENT_LANES; lane++) {
        if (dup2(copies[lane], FIRST_LANE + lane) < 0) _exit(1);
        fcntl(FIRST_LANE + lane, F_SETFD, FD_CLOEXEC);
    }
    if (agent_close_from(FIRST_LANE + AGENT_LANES) != 0) _exit(1);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_t finishing[2];
    int count = 0;
    for (int lane = AGENT_LANE_CONFIRMATION; lane < AGENT_LANES; lane++) {
        pthread_t thread;
        void *(*work)(void *) = lane == AGENT_LANE_CONFIRMATION ? serve_confirmation
                                : lane == AGENT_LANE_SOCKETS    ? serve_sockets
                                                                : serve_inspection;
        /* The agent sees that the lane is closed. */
        if (pthread_create(&thread, &attributes, work, (void *)(intptr_t)(FIRST_LANE + lane)) != 0) {
            close(FIRST_LANE + lane);
        } else if (lane == AGENT_LANE_SOCKETS || lane == AGENT_LANE_CONFIRMATION) {
            finishing[count++] = thread;
        } else {
            pthread_detach(thread);
        }
    }
    agent_serve_keyring(FIRST_LANE + AGENT_LANE_KEYRING, settings.secret_tool, settings.store);
    /* They remove their files, and end the program that asks, when the agent has ended. */
    while (count > 0) pthread_join(finishing[--count], NULL);
    _exit(0);
}

int agent_start_helper(const agent_helper_settings *chosen, int lanes[AGENT_LANES]) {
    int ends[AGENT_LANES];
    int count = 0, code = 0;
    for (; count < AGENT_LANES; count++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
            code = errno;
            break;
        }
        lanes[count] = pair[0];
        ends[count] = pair[1];
    }
    pid_t child = code == 0 ? fork() : -1;
    if (child < 0 && code == 0) code = errno;
    if (child == 0) {
        settings = *chosen;
        serve(ends);
    }
    for (int lane = 0; lane < count; lane++) {
        close(ends[lane]);
        if (code != 0) close(lanes[lane]);
    }
    return code;
}

/* Has the helper inspect a process: the number of bytes after the result, or -1. */
static ssize_t inspect(int lane, uint32_t operation, int32_t pid, int32_t *result, void *content, size_t limit) {
    struct inspection request = {operation, pid};
    ssize_t length;
    do length = send(lane, &request, sizeof request, MSG_NOSIGNAL);
    while (length < 0 && errno == EINTR);
    if (length < 0) return -1;
    struct iovec parts[2] = {{result, sizeof *result}, {content, limit}};
    struct msghdr reply = {.msg_iov = parts, .msg_iovlen = 2};
    do length = recvmsg(lane, &reply, 0);
    while (length < 0 && errno == EINTR);
    return length >= (ssize_t)sizeof *result ? length - (ssize_t)sizeof *result : -1;
}

int agent_ask_to_describe(int lane, int32_t pid, agent_process *out) {
    int32_t result;
    ssize_t length = inspect(lane, DESCRIBE, pid, &result, out, sizeof *out);
    if (length < 0) return EIO;
    if (result != 0) return result;
    if (length <= (ssize_t)offsetof(agent_process, path)) return EIO;
    ((char *)out)[length - 1] = 0;
    return 0;
}

int agent_ask_for_flatpak_info(int lane, int32_t pid, char *out, size_t limit) {
    int32_t result;
    ssize_t length = inspect(lane, READ_FLATPAK_INFO, pid, &result, out, limit);
    if (length < 0) return -EIO;
    return result < 0 ? result : (int)length;
}

/* A request about a socket: the descriptor, 0 without one, or a negative errno. */
static int call_sockets(int lane, uint32_t operation, const char *path, const uint32_t users[], int count) {
    struct socket_request request = {.operation = operation, .count = (uint32_t)count};
    if (strlen(path) > AGENT_SOCKET_PATH || count < 0 || count > AGENT_SOCKET_USERS) return -EINVAL;
    strcpy(request.path, path);
    if (count > 0) memcpy(request.users, users, (size_t)count * sizeof users[0]);
    ssize_t length;
    do length = send(lane, &request, sizeof request, MSG_NOSIGNAL);
    while (length < 0 && errno == EINTR);
    if (length < 0) return -EIO;
    int32_t result;
    int descriptor;
    do length = agent_receive_with_descriptor(lane, &result, sizeof result, &descriptor, 0);
    while (length < 0 && errno == EINTR);
    if (length != sizeof result) {
        if (length > 0 && descriptor >= 0) close(descriptor);
        return -EIO;
    }
    if (descriptor >= 0) return descriptor;
    return operation == MAKE_SOCKET && result == 0 ? -EIO : result;
}

int agent_ask_to_make_socket(int lane, const char *path, const uint32_t users[], int count) {
    return call_sockets(lane, MAKE_SOCKET, path, users, count);
}

void agent_ask_to_remove_socket(int lane, const char *path) { call_sockets(lane, REMOVE_SOCKET, path, NULL, 0); }

int agent_send_question(int lane, int32_t pid, uint64_t start, const char *text) {
    struct question question = {.pid = pid, .start = start};
    size_t length = strlen(text);
    if (length > AGENT_QUESTION_LIMIT) return EINVAL;
    memcpy(question.text, text, length + 1);
    length += offsetof(struct question, text) + 1;
    ssize_t sent;
    do sent = send(lane, &question, length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? EIO : 0;
}

int agent_receive_answer(int lane) {
    int32_t answer;
    ssize_t length;
    do length = recv(lane, &answer, sizeof answer, 0);
    while (length < 0 && errno == EINTR);
    return length == sizeof answer ? answer : -1;
}

#else

int agent_start_helper(const agent_helper_settings *settings, int lanes[AGENT_LANES]) {
    (void)settings, (void)lanes;
    return ENOTSUP;
}

int agent_ask_to_describe(int lane, int32_t pid, agent_process *out) {
    (void)lane, (void)pid, (void)out;
    return EIO;
}

int agent_ask_for_flatpak_info(int lane, int32_t pid, char *out, size_t limit) {
    (void)lane, (void)pid, (void)out, (void)limit;
    return -EIO;
}

int agent_ask_to_make_socket(int lane, const char *path, const uint32_t users[], int count) {
    (void)lane, (void)path, (void)users, (void)count;
    return -EIO;
}

void agent_ask_to_remove_socket(int lane, const char *path) { (void)lane, (void)path; }

int agent_send_question(int lane, int32_t pid, uint64_t start, const char *question) {
    (void)lane, (void)pid, (void)start, (void)question;
    return EIO;
}

int agent_receive_answer(int lane) {
    (void)lane;
    return -1;
}

#endif
