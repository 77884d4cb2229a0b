#define _GNU_SOURCE
#include "CBenchSystem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

uint64_t bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void bench_wait(uint64_t nanoseconds) {
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000u), .tv_nsec = (long)(nanoseconds % 1000000000u)};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
}

pid_t bench_spawn(const char *const *arguments, int *standard_error) {
    int ends[2];
    if (pipe(ends) != 0) return -errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    // The threads of Swift's pool block every signal. A process that inherited their mask would ignore SIGTERM.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t process = 0;
    int code = posix_spawn(&process, arguments[0], &actions, &attributes, (char *const *)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (code != 0) {
        close(ends[0]);
        return -code;
    }
    *standard_error = ends[0];
    return process;
}

long bench_run(const char *const *arguments) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = 0;
    uint64_t start = bench_now();
    int code = posix_spawn(&process, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0) return -code;
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    long duration = (long)(bench_now() - start);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? duration : -ECHILD;
}

int bench_processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

int bench_pin(pid_t process, int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int index = 0; index < bench_processors(); index++) {
        if (processor < 0 || processor == index) CPU_SET(index, &set);
    }
    char folder[64];
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)process);
    DIR *tasks = opendir(folder);
    if (tasks == NULL) return errno;
    int code = 0;
    for (struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
        pid_t thread = (pid_t)atol(entry->d_name);
        if (thread > 0 && sched_setaffinity(thread, sizeof set, &set) != 0 && errno != ESRCH) code = errno;
    }
    closedir(tasks);
    return code;
}
