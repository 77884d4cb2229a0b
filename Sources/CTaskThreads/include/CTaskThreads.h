/* Has a program decide on which threads the jobs of Swift's tasks run that no executor takes: the runtime has a variable for a function that
   it calls instead of its own (swift/Runtime/Concurrency.h). */
#ifndef C_TASK_THREADS_H
#define C_TASK_THREADS_H

/* Called on any thread, with a job that is to be passed to `task_threads_run` once, soon. */
typedef void (*task_threads_start)(const void *job);

/* Has `start` called for each job, from now on. Called once, while no task exists. */
void task_threads_use(task_threads_start start);

/* Runs a job on the calling thread. */
void task_threads_run(const void *job);

#endif
