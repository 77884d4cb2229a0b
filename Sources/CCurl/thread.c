#define _GNU_SOURCE
#include "CCurl.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

typedef struct {
    void (*body)(void *);
    void *context;
} work;

static void *run(void *argument) {
    work todo = *(work *)argument;
    free(argument);
#ifdef __APPLE__
    pthread_setname_np("http");
#else
    pthread_setname_np(pthread_self(), "http");
#endif
    todo.body(todo.context);
    return NULL;
}

int ccurl_thread_start(void (*body)(void *), void *context, uintptr_t *thread) {
    work *todo = malloc(sizeof *todo);
    if (todo == NULL) return ENOMEM;
    *todo = (work){body, context};
    /* Signals are left to the other threads, and a broken connection must not end the process (SIGPIPE). The threads that
       libcurl starts to look up names inherit the mask. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t started;
    int code = pthread_create(&started, NULL, run, todo);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        free(todo);
        return code;
    }
    *thread = (uintptr_t)started;
    return 0;
}

void ccurl_thread_join(uintptr_t thread) { pthread_join((pthread_t)thread, NULL); }
