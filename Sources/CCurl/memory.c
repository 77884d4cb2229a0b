#define _GNU_SOURCE
#define __STDC_WANT_LIB_EXT1__ 1
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#ifdef __APPLE__
#include <malloc/malloc.h>
static size_t size_of(void *memory) { return malloc_size(memory); }
static void wipe(void *memory, size_t size) { memset_s(memory, size, 0, size); }
#else
#include <malloc.h>
static size_t size_of(void *memory) { return malloc_usable_size(memory); }
static void wipe(void *memory, size_t size) { explicit_bzero(memory, size); }
#endif

void *ccurl_allocate(size_t size) { return malloc(size); }

void *ccurl_allocate_zeroed(size_t count, size_t size) { return calloc(count, size); }

void ccurl_free_wiped(void *memory) {
    if (memory == NULL) return;
    wipe(memory, size_of(memory));
    free(memory);
}

/* `realloc` may move the bytes without wiping the old ones. */
void *ccurl_reallocate_wiped(void *memory, size_t size) {
    if (memory == NULL) return malloc(size);
    size_t room = size_of(memory);
    if (size != 0 && size <= room && size >= room / 2) return memory;
    void *moved = malloc(size);
    if (moved == NULL) return NULL;
    memcpy(moved, memory, size < room ? size : room);
    ccurl_free_wiped(memory);
    return moved;
}

char *ccurl_copy(const void *bytes, size_t length) {
    char *copy = malloc(length + 1);
    if (copy == NULL) return NULL;
    if (length > 0) memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

char *ccurl_duplicate(const char *text) { return ccurl_copy(text, strlen(text)); }

bool ccurl_buffer_append(ccurl_buffer *buffer, const void *bytes, size_t length) {
    if (length > buffer->capacity - buffer->length) {
        size_t capacity = buffer->capacity * 2 > buffer->length + length ? buffer->capacity * 2 : buffer->length + length;
        char *larger = malloc(capacity);
        if (larger == NULL) return false;
        if (buffer->length > 0) memcpy(larger, buffer->bytes, buffer->length);
        ccurl_free_wiped(buffer->bytes);
        buffer->bytes = larger;
        buffer->capacity = capacity;
    }
    if (length > 0) memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    return true;
}

void ccurl_buffer_reset(ccurl_buffer *buffer) {
    if (buffer->length > 0) wipe(buffer->bytes, buffer->length);
    buffer->length = 0;
}

void ccurl_buffer_free(ccurl_buffer *buffer) {
    ccurl_free_wiped(buffer->bytes);
    *buffer = (ccurl_buffer){0};
}
