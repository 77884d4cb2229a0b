/* A heap whose memory is wiped when it is released. Linking this target into a program is enough: it replaces `free` and
   `realloc` for the program and for every library that it loads. */
#ifndef C_WIPING_HEAP_H
#define C_WIPING_HEAP_H

/* Whether released memory is wiped: not with another C library than glibc, and not under a sanitizer, which has a heap of
   its own. */
int wiping_heap_is_on(void);

#endif
