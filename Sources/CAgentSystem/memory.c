#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <string.h>

/* Deeper than the calls of an import or an export. */
#define WIPED_STACK (128 * 1024)

__attribute__((noinline)) void agent_wipe_stack(void) {
    unsigned char space[WIPED_STACK];
    memset(space, 0, sizeof space);
    /* The bytes are used, as far as the compiler knows. */
    __asm__ volatile("" : : "r"(space) : "memory");
}

#ifdef __linux__
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

static int release_code(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || (segment->p_flags & PF_W)) continue;
        uintptr_t begin = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void agent_release_code(void) { dl_iterate_phdr(release_code, NULL); }

void agent_release_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void agent_use_one_heap(void) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}
#else
void agent_release_code(void) {}
void agent_release_memory(void) {}
void agent_use_one_heap(void) {}
#endif
