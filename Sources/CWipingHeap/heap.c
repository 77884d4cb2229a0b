#include "CWipingHeap.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER)

#include <malloc.h>
#include <string.h>

/* glibc's own names for the functions that are replaced here
   (https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html). */
extern void __libc_free(void *block);
extern void *__libc_realloc(void *block, size_t size);

int wiping_heap_is_on(void) { return 1; }

void free(void *block) {
    if (block == NULL) return;
    /* The compiler does not know that the block is released next, and cannot leave this out. */
    memset(block, 0, malloc_usable_size(block));
    __libc_free(block);
}

void *realloc(void *block, size_t size) {
    if (block == NULL) return malloc(size);
    size_t usable = malloc_usable_size(block);
    if (size > usable) {
        /* glibc would release the old block by itself, with what is in it. */
        void *larger = malloc(size);
        if (larger == NULL) return NULL;
        memcpy(larger, block, usable);
        free(block);
        return larger;
    }
    /* The part that is cut off. A size of 0 releases the block, as glibc does. */
    memset((char *)block + size, 0, usable - size);
    return __libc_realloc(block, size);
}

#else

int wiping_heap_is_on(void) { return 0; }

#endif
