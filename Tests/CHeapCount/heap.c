#include "CHeapCount.h"

#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>

size_t heap_count(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#else
size_t heap_count(void) { return 0; }
#endif
