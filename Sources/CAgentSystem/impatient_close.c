#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)

#include <sys/syscall.h>

#if !defined(sigev_notify_thread_id)
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* A handler, since a signal that is ignored interrupts nothing. */
static void interrupt(int number) { (void)number; }

/* Starts to interrupt the calling thread every 200 microseconds. One signal is enough for any number of connections, unless it comes too early.
   Returns whether the timer exists. */
static int start(timer_t *timer) {
    struct sigaction action = {.sa_handler = interrupt};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (sigaction(SIGURG, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, timer) != 0) return 0;
    struct itimerspec times = {.it_interval = {.tv_nsec = 200000}, .it_value = {.tv_nsec = 200000}};
    timer_settime(*timer, 0, &times, NULL);
    return 1;
}

void agent_close_impatiently(int descriptor) {
    sigset_t signals, before;
    timer_t timer;
    sigemptyset(&signals);
    sigaddset(&signals, SIGURG);
    pthread_sigmask(SIG_UNBLOCK, &signals, &before);
    int is_timed = start(&timer);
    close(descriptor);
    if (is_timed) timer_delete(timer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#else

void agent_close_impatiently(int descriptor) { close(descriptor); }

#endif
