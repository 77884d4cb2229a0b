// What a benchmark needs with nothing of Swift's in the way: a clock, a process, and a peer that costs next to nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Nanoseconds on a clock that only goes forward.
uint64_t bench_now(void);

/// Starts a program with its standard error on a pipe; returns its process ID, or -errno.
pid_t bench_spawn(const char *const *arguments, int *standard_error);

/// How many processors there are.
int bench_processors(void);

/// Keeps every thread of a process, and those they start, on one processor; -1 lets them go. Returns 0 or errno.
int bench_pin(pid_t process, int processor);

/// Connects to a Unix socket, blocking; returns the descriptor, or -errno.
int bench_connect(const char *path);

/// Sends a framed request and reads the whole reply into `reply`; returns the length of its frame, or -errno.
long bench_ask(int socket, const void *request, size_t length, void *reply, size_t room);

/// Asks `count` times, each after the reply to the one before, and notes how long each took; returns 0 or errno.
int bench_ping(int socket, const void *request, size_t length, uint64_t *nanoseconds, size_t count);

/// Asks on `connections` connections at once, one request in flight on each, for `duration` nanoseconds. Notes how long
/// each took, up to `room` of them; returns how many replies came, or -errno.
long bench_load(
    const char *path, const void *request, size_t length, int connections, uint64_t duration, uint64_t *nanoseconds,
    size_t room);
