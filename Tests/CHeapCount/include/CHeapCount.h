#pragma once

#include <stddef.h>

/* The bytes of the blocks that are in use of the C library's heap; 0 if it does not tell. */
size_t heap_count(void);
