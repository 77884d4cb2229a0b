#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__linux__)
#include <link.h>
#include <sys/syscall.h>
#endif

enum { LARGEST = 32, STACK = 128 << 10 };

/* Held while the threads are created: all of them exist at the same time. */
static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *id) {
#if defined(__linux__)
    *(pid_t *)id = (pid_t)syscall(SYS_gettid);
#endif
    pthread_mutex_lock(&creation);
    pthread_mutex_unlock(&creation);
    return id;
}

/* Waits until a thread that has been joined does not count any more, which takes the kernel a moment. */
static void wait_until_gone(pid_t id) {
#if defined(__linux__)
    for (int turn = 0; turn < 10000 && syscall(SYS_tgkill, getpid(), id, 0) == 0; turn++) sched_yield();
#else
    (void)id;
#endif
}

int agent_try_threads(int count) {
    pthread_t threads[LARGEST];
    pid_t ids[LARGEST] = {0};
    if (count > LARGEST) count = LARGEST;
    /* Not the C library's stacks, which it keeps for later threads. */
    size_t size = (size_t)count * STACK;
    char *stacks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED) return errno;
    pthread_attr_t attributes;
    sigset_t all, before;
    int code = 0, created = 0;
    pthread_attr_init(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&creation);
    while (created < count) {
        code = pthread_attr_setstack(&attributes, stacks + (size_t)created * STACK, STACK);
        if (code == 0) code = pthread_create(&threads[created], &attributes, run, &ids[created]);
        if (code != 0) break;
        created++;
    }
    pthread_mutex_unlock(&creation);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (int index = 0; index < created; index++) pthread_join(threads[index], NULL);
    for (int index = 0; index < created; index++) wait_until_gone(ids[index]);
    pthread_attr_destroy(&attributes);
    munmap(stacks, size);
    return code;
}

#if defined(__linux__)
static int add_thread_locals(struct dl_phdr_info *object, size_t size, void *sum) {
    (void)size;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        if (object->dlpi_phdr[index].p_type != PT_TLS) continue;
        *(size_t *)sum += object->dlpi_phdr[index].p_memsz + object->dlpi_phdr[index].p_align;
    }
    return 0;
}

size_t agent_thread_local_size(void) {
    size_t sum = 0;
    dl_iterate_phdr(add_thread_locals, &sum);
    return sum;
}
#else
size_t agent_thread_local_size(void) { return 0; }
#endif
