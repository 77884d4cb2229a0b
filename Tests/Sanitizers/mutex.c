/* Tells the Thread Sanitizer of contended locks of Swift's `Mutex`: preloaded into the programs of `make sanitize`.

   The fast paths of `Mutex` are atomic operations in the program, which the sanitizer sees. The slow paths are in Swift's library, which
   is not built for it, and the kernel hands the lock over there: without this, each contended lock is reported as a race. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SELF __attribute__((swift_context))
#define SWIFT __attribute__((swiftcall))

/* The sanitizer's, which a program without it does not have. */
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlock_slow(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

static void *original(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) {
    SWIFT void (*lock)(uint32_t, SELF void *) = (SWIFT void (*)(uint32_t, SELF void *))
        original("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    lock(thread, mutex);
    if (__tsan_acquire != NULL) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex) {
    SWIFT void (*unlock)(SELF void *) = (SWIFT void (*)(SELF void *))
        original("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release != NULL) __tsan_release(mutex);
    unlock(mutex);
}
