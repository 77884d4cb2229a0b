#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int write_end = -1;
/* Whether a SIGHUP is in the pipe: one is enough, and more could leave no room for a signal that stops the process. */
static volatile sig_atomic_t has_hangup = 0;

static void write_number(int number) {
    if (number == SIGHUP) {
        if (has_hangup) return;
        has_hangup = 1;
    }
    int code = errno;
    unsigned char byte = (unsigned char)number;
    /* A full pipe has enough signals that stop the process. */
    ssize_t written = write(write_end, &byte, 1);
    (void)written;
    errno = code;
}

static int configure(int descriptor) {
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) return -1;
    return fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

int agent_catch_stop_signals(void) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    struct sigaction action = {.sa_handler = write_number, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    write_end = ends[1];
    if (configure(ends[0]) != 0 || configure(ends[1]) != 0 || sigaction(SIGTERM, &action, NULL) != 0 ||
        sigaction(SIGINT, &action, NULL) != 0) {
        return -1;
    }
    return ends[0];
}

void agent_catch_hangup(void) {
    struct sigaction action = {.sa_handler = write_number, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGHUP, &action, NULL);
}

void agent_hangup_was_read(void) { has_hangup = 0; }
