#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#endif

int agent_spawn_close_from(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int lowest) {
#if defined(__linux__)
    (void)attributes;
    return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
#else
    /* No call for it, and the closing of a descriptor that is not open would be an error: all are closed but those that actions open or
       name. */
    short flags = 0;
    int code = posix_spawnattr_getflags(attributes, &flags);
    if (code == 0) code = posix_spawnattr_setflags(attributes, (short)(flags | POSIX_SPAWN_CLOEXEC_DEFAULT));
    for (int descriptor = 0; code == 0 && descriptor < lowest; descriptor++) {
        if (fcntl(descriptor, F_GETFD) >= 0) code = posix_spawn_file_actions_addinherit_np(actions, descriptor);
    }
    return code;
#endif
}

/* Standard input, output and error, and nothing else of what is open here. */
static int set_files(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int descriptor, int has_errors) {
    int code;
    for (int end = 0; end <= 1; end++) {
        code = descriptor >= 0
                   ? posix_spawn_file_actions_adddup2(actions, descriptor, end)
                   : posix_spawn_file_actions_addopen(actions, end, "/dev/null", end == 0 ? O_RDONLY : O_WRONLY, 0);
        if (code != 0) return code;
    }
    if (!has_errors) {
        code = posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
        if (code != 0) return code;
    }
    return agent_spawn_close_from(actions, attributes, 3);
}

/* Signals as in a fresh process: threads of Swift's pool block them all, and a program that inherited that could not
   be told to quit. A process group or a session of its own, with the flag for it. */
static int set_attributes(posix_spawnattr_t *attributes, short flag) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawnattr_setsigmask(attributes, &none);
    if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &all);
    short flags = (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | flag);
    if (code == 0) code = posix_spawnattr_setpgroup(attributes, 0);
    if (code == 0) code = posix_spawnattr_setflags(attributes, flags);
    return code;
}

static int spawn(char *const words[], char *const environment[], int descriptor, short flag, int has_errors, pid_t *child) {
    if (words[0] == NULL) return EINVAL;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = set_attributes(&attributes, flag);
        if (code == 0) code = set_files(&actions, &attributes, descriptor, has_errors);
        if (code == 0) code = posix_spawnp(child, words[0], &actions, &attributes, words, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int agent_spawn(char *const words[], int descriptor, pid_t *child) {
    return spawn(words, environ, descriptor, 0, 1, child);
}

int agent_spawn_apart(char *const words[], pid_t *child) {
    return spawn(words, environ, -1, POSIX_SPAWN_SETSID, isatty(2), child);
}

int agent_spawn_with_environment(char *const words[], char *const environment[], int descriptor, pid_t *child) {
    return spawn(words, environment, descriptor, 0, 1, child);
}

int agent_spawn_group(char *const words[], int descriptor, int has_errors, pid_t *child) {
    return spawn(words, environ, descriptor, POSIX_SPAWN_SETPGROUP, has_errors, child);
}

int agent_spawn_group_with(char *const words[], const char *variable, int descriptor, pid_t *child) {
    size_t count = 0;
    while (environ[count] != NULL) count++;
    char **environment = calloc(count + 2, sizeof *environment);
    if (environment == NULL) return ENOMEM;
    /* The first of two with one name is the one that the program sees. */
    environment[0] = (char *)variable;
    memcpy(environment + 1, environ, count * sizeof *environment);
    int code = spawn(words, environment, descriptor, POSIX_SPAWN_SETPGROUP, 1, child);
    free(environment);
    return code;
}

int64_t agent_milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

int agent_wait(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return code_of(status);
}

int agent_wait_for(pid_t child, int milliseconds, int *code) {
    /* There is no waiting for a child with an end to it everywhere; most have ended at the first look. */
    const int step = 5;
    for (int waited = 0; waited < milliseconds; waited += step) {
        int status = 0;
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            *code = ended == child ? code_of(status) : -1;
            return 1;
        }
        poll(NULL, 0, step);
    }
    return 0;
}

int agent_wait_or_kill(pid_t child, int milliseconds) {
    int code = -1;
    if (agent_wait_for(child, milliseconds, &code)) return code;
    kill(child, SIGKILL);
    return agent_wait(child);
}
