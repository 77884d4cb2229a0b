#define _GNU_SOURCE
#include "CBenchSystem.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
