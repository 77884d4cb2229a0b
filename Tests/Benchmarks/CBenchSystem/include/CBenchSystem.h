// The parts of a benchmark that must cost as little as possible: the clock, child processes, and the peer of a server.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The time of the monotonic clock, in nanoseconds.
uint64_t bench_now(void);

/// Blocks the calling thread for a time: until a process does nothing any more by itself.
void bench_wait(uint64_t nanoseconds);

/// Starts a program with its standard error on a pipe; returns its process ID, or -errno.
pid_t bench_spawn(const char *const *arguments, int *standard_error);

/// Runs a program to its end, without its output; returns its duration in nanoseconds, or -errno (-ECHILD if it fails).
long bench_run(const char *const *arguments);

/// The number of processors.
int bench_processors(void);

/// Restricts every thread of a process, and the threads that they start, to one processor; -1 removes the restriction.
/// Returns 0 or errno.
int bench_pin(pid_t process, int processor);

/// Connects to a Unix socket, blocking; returns the descriptor, or -errno.
int bench_connect(const char *path);

/// Begins to connect to a port of 127.0.0.1, and closes the socket without waiting; returns 0 or errno.
int bench_touch_port(uint16_t port);

/// Sends a framed request and reads the whole reply into `reply`; returns the length of its frame, or -errno.
long bench_ask(int socket, const void *request, size_t length, void *reply, size_t room);

/// Sends `count` requests, each on a connection of its own, and stores the duration of each, with the connection's; returns 0 or errno.
/// A reply is one frame if `framed` is not 0, else what comes until the server closes the connection.
int bench_ping_connecting(
    const char *path, const void *request, size_t length, int framed, uint64_t *nanoseconds, size_t count);

/// Sends `count` requests, each after the reply to the previous one, and stores the duration of each; returns 0 or errno.
int bench_ping(int socket, const void *request, size_t length, uint64_t *nanoseconds, size_t count);

/// Sends requests on `connections` connections at the same time, one in flight on each, for `duration` nanoseconds. Stores
/// the durations of the first `room` requests; returns the number of replies, or -errno.
long bench_load(
    const char *path, const void *request, size_t length, int connections, uint64_t duration, uint64_t *nanoseconds,
    size_t room);
