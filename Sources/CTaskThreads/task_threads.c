#include "CTaskThreads.h"

#include <stdint.h>

/* The part of the runtime's interface that is used here, as it is compiled. */
#define SWIFT __attribute__((swiftcall))

typedef struct {
    const void *actor;
    uintptr_t implementation;
} Executor;

typedef SWIFT void (*Enqueue)(const void *job);

extern SWIFT void (*swift_task_enqueueGlobal_hook)(const void *job, Enqueue original);
extern SWIFT void swift_job_run(const void *job, Executor executor);

static task_threads_start start;

static SWIFT void enqueue(const void *job, Enqueue original) {
    (void)original;
    start(job);
}

void task_threads_use(task_threads_start function) {
    start = function;
    swift_task_enqueueGlobal_hook = enqueue;
}

void task_threads_run(const void *job) {
    /* No actor, no serial executor. */
    const Executor shared = {0, 0};
    swift_job_run(job, shared);
}
