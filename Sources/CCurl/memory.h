/* Memory that is wiped before it is given back: libcurl's, through which requests and answers pass, and our own. */
#ifndef CCURL_MEMORY_H
#define CCURL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

void *ccurl_allocate(size_t size);
void *ccurl_allocate_zeroed(size_t count, size_t size);
void *ccurl_reallocate_wiped(void *memory, size_t size);
void ccurl_free_wiped(void *memory);
char *ccurl_duplicate(const char *text);

/* A copy of `length` bytes with a null character behind them; NULL when there is no memory left. */
char *ccurl_copy(const void *bytes, size_t length);

/* Bytes that arrive one after the other. */
typedef struct {
    char *bytes;
    size_t length;
    size_t capacity;
} ccurl_buffer;

bool ccurl_buffer_append(ccurl_buffer *buffer, const void *bytes, size_t length);

/* Forgets the bytes and keeps the memory. */
void ccurl_buffer_reset(ccurl_buffer *buffer);

void ccurl_buffer_free(ccurl_buffer *buffer);

#endif
