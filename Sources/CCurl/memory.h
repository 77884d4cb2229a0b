/* Memory that is wiped before it is freed, for libcurl, which has copies of requests and responses, and for this target. */
#ifndef CCURL_MEMORY_H
#define CCURL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *ccurl_allocate(size_t size);
void *ccurl_allocate_zeroed(size_t count, size_t size);
void *ccurl_reallocate_wiped(void *memory, size_t size);
void ccurl_free_wiped(void *memory);
char *ccurl_duplicate(const char *text);

/* Returns a copy of `length` bytes, followed by a null character; NULL if there is no memory left. */
char *ccurl_copy(const void *bytes, size_t length);

/* A growing array of bytes. */
typedef struct {
    char *bytes;
    size_t length;
    size_t capacity;
} ccurl_buffer;

bool ccurl_buffer_append(ccurl_buffer *buffer, const void *bytes, size_t length);

/* Removes the bytes and keeps the memory. */
void ccurl_buffer_reset(ccurl_buffer *buffer);

void ccurl_buffer_free(ccurl_buffer *buffer);

#endif
