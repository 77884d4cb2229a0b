#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* The bit of a byte in the pipe that stands for `is_from_session`. */
enum { FROM_SESSION = 0x80 };

static int write_end = -1;
/* The process that has started this one, and the leader of its session. */
static pid_t first_parent = 0, session = 0;
/* Whether a SIGHUP of each kind is in the pipe: one is enough, and more could leave no room for a signal that stops the process. */
static atomic_int has_hangup = 0, has_session_hangup = 0;

static void write_byte(unsigned char byte) {
    int code = errno;
    /* A full pipe has enough signals that stop the process. */
    ssize_t written = write(write_end, &byte, 1);
    (void)written;
    errno = code;
}

static void write_number(int number) { write_byte((unsigned char)number); }

static int is_from_session(const siginfo_t *info) {
#ifdef SI_KERNEL
    if (info->si_code == SI_KERNEL) return 1;
#else
    /* Darwin's kernel sends it to the leader of the session, in the name of the process that closes the terminal. */
    if (session == getpid()) return 1;
#endif
    /* 0 is a process of another PID namespace. */
    if (info->si_pid <= 0) return 0;
    if (info->si_pid == first_parent || info->si_pid == session) return 1;
    int code = errno;
    int is_member = getsid(info->si_pid) == session;
    errno = code;
    return is_member;
}

static void write_hangup(int number, siginfo_t *info, void *context) {
    (void)context;
    int is_of_session = is_from_session(info);
    if (atomic_exchange(is_of_session ? &has_session_hangup : &has_hangup, 1)) return;
    write_byte((unsigned char)(number | (is_of_session ? FROM_SESSION : 0)));
}

void agent_reset_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    /* While it is ignored, the kernel keeps no status of a child. */
    signal(SIGCHLD, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
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

bool agent_catch_hangup(void) {
    first_parent = getppid();
    session = getsid(0);
    struct sigaction action = {.sa_sigaction = write_hangup, .sa_flags = SA_RESTART | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    struct sigaction before = {.sa_handler = SIG_DFL};
    sigaction(SIGHUP, &action, &before);
    return before.sa_handler != SIG_IGN;
}

agent_stop_signal agent_read_stop_signal(int pipe) {
    agent_stop_signal caught = {0};
    unsigned char byte = 0;
    if (read(pipe, &byte, 1) != 1) return caught;
    caught.number = byte & ~FROM_SESSION;
    caught.is_from_session = (byte & FROM_SESSION) != 0;
    /* Only now, after the signal is out of the pipe, and before anything is decided about it. */
    if (caught.number == SIGHUP) atomic_store(caught.is_from_session ? &has_session_hangup : &has_hangup, 0);
    return caught;
}
