#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/sysmacros.h>
#endif

#if !defined(MSG_NOSIGNAL)
#define MSG_NOSIGNAL 0
#endif

/* In seconds. */
#define PATIENCE 60
/* The time after which it is checked whether the process that asks still has the terminal, and whether the question is withdrawn while
   a program asks it, in milliseconds. */
#define CHECK_INTERVAL 200
#define PREFIX "sso-agent: "

/* Whether a terminal would show the text as it is, without obeying any of it. */
static int is_plain(const char *text) {
    if (strnlen(text, AGENT_QUESTION_LIMIT + 1) > AGENT_QUESTION_LIMIT) return 0;
    for (const unsigned char *byte = (const unsigned char *)text; *byte != 0; byte++) {
        if (*byte < 0x20 || *byte == 0x7F) return 0;
        /* The control characters from U+0080 to U+009F. */
        if (*byte == 0xC2 && byte[1] >= 0x80 && byte[1] <= 0x9F) return 0;
    }
    return 1;
}

/* Whether there is anything to read at the socket, or its other end is closed. */
static int is_withdrawn(int withdrawal) {
    struct pollfd event = {.fd = withdrawal, .events = POLLIN};
    return poll(&event, 1, 0) > 0;
}

void agent_withdraw_question(int socket) {
    uint8_t message[AGENT_WITHDRAWAL] = {0};
    send(socket, message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void agent_forget_withdrawals(int socket) {
    uint8_t message[AGENT_WITHDRAWAL];
    while (recv(socket, message, sizeof message, MSG_DONTWAIT) > 0) {}
}

static int ask_with_program(const char *program, const char *question, int withdrawal) {
    char text[sizeof PREFIX + AGENT_QUESTION_LIMIT];
    snprintf(text, sizeof text, PREFIX "%s", question);
    char *const words[] = {(char *)program, text, NULL};
    pid_t child;
    if (agent_spawn_group_with(words, "SSH_ASKPASS_PROMPT=confirm", -1, &child) != 0) return 0;
    int64_t deadline = agent_milliseconds() + PATIENCE * 1000;
    while (agent_milliseconds() < deadline && !is_withdrawn(withdrawal)) {
        int code;
        if (agent_wait_for(child, CHECK_INTERVAL, &code)) return code == 0;
    }
    /* With the programs that it has started: one of them may show the question. */
    kill(-child, SIGKILL);
    agent_wait(child);
    return 0;
}

#if defined(__linux__)

/* The device number of a process' controlling terminal; 0 unless the process is in its foreground, has started at `start`, and is not
   stopped. */
static unsigned terminal_of(int32_t pid, uint64_t start) {
    int process = agent_open_process(-1, pid);
    if (process < 0) return 0;
    char text[4096];
    int file = openat(process, "stat", O_RDONLY | O_CLOEXEC);
    close(process);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return 0;
    text[length] = 0;
    /* The name of the program, in parentheses, may contain anything. The field after it is the third of proc_pid_stat(5). */
    const char *rest = strrchr(text, ')');
    char state;
    int group, terminal, foreground;
    unsigned long long started;
    if (rest == NULL
        || sscanf(
               rest + 1,
               " %c %*d %d %*d %d %d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &group, &terminal, &foreground, &started) != 5)
        return 0;
    return started == start && group == foreground && state != 'T' ? (unsigned)terminal : 0;
}

/* Opens a terminal by its device number, if it is the user's. */
static int open_terminal(unsigned device) {
    unsigned high = (device >> 8) & 0xFFF, low = (device & 0xFF) | ((device >> 12) & 0xFFF00);
    char path[40];
    /* Pseudoterminals have the major numbers 136 to 143; the consoles have 4. */
    if (high >= 136 && high <= 143) snprintf(path, sizeof path, "/dev/pts/%u", (high - 136) << 20 | low);
    else if (high == 4) snprintf(path, sizeof path, "/dev/tty%u", low);
    else return -1;
    int terminal = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (terminal < 0) return -1;
    struct stat status;
    if (fstat(terminal, &status) == 0 && S_ISCHR(status.st_mode) && status.st_uid == geteuid()
        && status.st_rdev == makedev(high, low))
        return terminal;
    close(terminal);
    return -1;
}

/* Reads one line; 1 if it is "yes". 0 as soon as the question is withdrawn, or the process has ended, is stopped, or has lost the
   terminal's foreground: what is typed then is for another program. */
static int is_yes(int terminal, int32_t pid, uint64_t start, unsigned device, int withdrawal) {
    int64_t deadline = agent_milliseconds() + PATIENCE * 1000;
    char line[64];
    size_t count = 0;
    while (count < sizeof line) {
        int64_t left = deadline - agent_milliseconds();
        struct pollfd events[2] = {{.fd = terminal, .events = POLLIN}, {.fd = withdrawal, .events = POLLIN}};
        if (left <= 0) return 0;
        int ready = poll(events, 2, left < CHECK_INTERVAL ? (int)left : CHECK_INTERVAL);
        if (ready < 0 && errno != EINTR) return 0;
        if (ready > 0 && events[1].revents != 0) return 0;
        if (terminal_of(pid, start) != device) return 0;
        if (ready <= 0) continue;
        if (read(terminal, &line[count], 1) != 1) return 0;
        if (line[count] == '\n' || line[count] == '\r') return count == 3 && memcmp(line, "yes", 3) == 0;
        count++;
    }
    return 0;
}

static int ask_on_terminal(int32_t pid, uint64_t start, const char *question, int withdrawal) {
    unsigned device = terminal_of(pid, start);
    if (device == 0) return -1;
    int terminal = open_terminal(device);
    if (terminal < 0) return AGENT_FOREIGN_TERMINAL;
    char text[AGENT_QUESTION_LIMIT + 128];
    int length = snprintf(
        text, sizeof text, "\r\n" PREFIX "%s\r\nType yes to allow it, within %d seconds: ", question, PATIENCE);
    /* What has been typed before the question does not count. */
    tcflush(terminal, TCIFLUSH);
    int answer = write(terminal, text, (size_t)length) == length && is_yes(terminal, pid, start, device, withdrawal);
    close(terminal);
    return answer;
}

#else

static int ask_on_terminal(int32_t pid, uint64_t start, const char *question, int withdrawal) {
    (void)pid, (void)start, (void)question, (void)withdrawal;
    return -1;
}

#endif

int agent_confirm(const char *askpass, int32_t pid, uint64_t start, const char *question, int withdrawal) {
    if (!is_plain(question)) return 0;
    return askpass != NULL ? ask_with_program(askpass, question, withdrawal)
                           : ask_on_terminal(pid, start, question, withdrawal);
}
