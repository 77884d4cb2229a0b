#include "CAgentSystem.h"

#include <errno.h>
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

int agent_catch_stop_signals(void) {
    int ends[2];
    int code = agent_make_pipe(ends, 1);
    if (code != 0) {
        errno = code;
        return -1;
    }
    struct sigaction action = {.sa_handler = write_number, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    write_end = ends[1];
    if (sigaction(SIGTERM, &action, NULL) != 0 || sigaction(SIGINT, &action, NULL) != 0) return -1;
    return ends[0];
}

void agent_catch_hangup(void) {
    struct sigaction action = {.sa_handler = write_number, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGHUP, &action, NULL);
}

void agent_hangup_was_read(void) { has_hangup = 0; }
