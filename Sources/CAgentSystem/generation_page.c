#define _GNU_SOURCE
#include "CAgentSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* FNV-1a, of 64 bits. */
static uint64_t hash(uint64_t value, const char *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) value = (value ^ (unsigned char)bytes[index]) * 0x100000001b3ULL;
    return value;
}

static int is_ascii(const char *bytes, size_t count) {
    unsigned char all = 0;
    for (size_t index = 0; index < count; index++) all |= (unsigned char)bytes[index];
    return all < 0x80;
}

uint32_t agent_generation_slot(const char *group, size_t group_length, const char *account, size_t account_length) {
    /* In lower case, other texts may have other bytes with another version of Unicode. */
    if (!is_ascii(group, group_length) || (account != NULL && !is_ascii(account, account_length)))
        return AGENT_SLOT_OF_OTHER_NAMES;
    uint64_t value = hash(0xcbf29ce484222325ULL, group, group_length);
    if (account != NULL) value = hash(hash(value, "", 1), account, account_length);
    return 2 + (uint32_t)((value ^ value >> 32) % (AGENT_PAGE_SLOTS - 2));
}

agent_times agent_read_times(void) {
    struct timespec wall, uptime;
    clock_gettime(CLOCK_REALTIME, &wall);
#if defined(CLOCK_BOOTTIME)
    clock_gettime(CLOCK_BOOTTIME, &uptime);
#else
    clock_gettime(CLOCK_MONOTONIC, &uptime);
#endif
    return (agent_times){.wall = wall.tv_sec, .uptime = uptime.tv_sec};
}

#if defined(__linux__)

#include <pthread.h>
#include <sys/syscall.h>

static const char magic[8] = {'s', 's', 'o', '-', 'p', 'a', 'g', 'e'};

struct page {
    char magic[8];
    uint32_t layout;
    uint32_t slots;
    /* The offset of the word that has the number `owner` while the agent lives. */
    uint32_t life_offset;
    uint32_t owner;
    /* Held by the agent's thread. The kernel marks its word when the thread ends (FUTEX_OWNER_DIED). */
    _Alignas(64) pthread_mutex_t lock;
};

_Static_assert(sizeof(struct page) <= AGENT_PAGE_GENERATIONS, "the generations follow the header");

/* Before Linux 6.3 unknown, and not needed. */
#define NO_EXECUTION 8U
/* Of Linux 5.1. */
#if !defined(F_SEAL_FUTURE_WRITE)
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE };

static int new_memory(void) {
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int descriptor = memfd_create("sso-agent", flags | NO_EXECUTION);
    return descriptor >= 0 || errno != EINVAL ? descriptor : memfd_create("sso-agent", flags);
}

/* Locks the page for this thread, and finds the word that has its number: the first one, whose place the C library decides. 0, or an
   errno. */
static int mark(struct page *page) {
    pthread_mutexattr_t attributes;
    int code = pthread_mutexattr_init(&attributes);
    if (code != 0) return code;
    code = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (code == 0) code = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (code == 0) code = pthread_mutex_init(&page->lock, &attributes);
    if (code == 0) code = pthread_mutex_lock(&page->lock);
    pthread_mutexattr_destroy(&attributes);
    if (code != 0) return code;
    uint32_t thread = (uint32_t)syscall(SYS_gettid), word;
    for (size_t offset = 0; offset + sizeof word <= sizeof page->lock; offset += sizeof word) {
        memcpy(&word, (char *)&page->lock + offset, sizeof word);
        if (word != thread) continue;
        page->owner = thread;
        page->life_offset = (uint32_t)(offsetof(struct page, lock) + offset);
        return 0;
    }
    pthread_mutex_unlock(&page->lock);
    return ENOTSUP;
}

void *agent_make_generation_page(int *descriptor) {
    int memory = new_memory();
    if (memory < 0) return NULL;
    void *page = MAP_FAILED;
    if (ftruncate(memory, AGENT_PAGE_SIZE) == 0)
        page = mmap(NULL, AGENT_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    int code = page == MAP_FAILED || fcntl(memory, F_ADD_SEALS, SEALS) != 0 ? errno : mark(page);
    if (code == 0) {
        struct page *header = page;
        header->layout = AGENT_PAGE_LAYOUT;
        header->slots = AGENT_PAGE_SLOTS;
        memcpy(header->magic, magic, sizeof magic);
        *descriptor = memory;
        return page;
    }
    if (page != MAP_FAILED) munmap(page, AGENT_PAGE_SIZE);
    close(memory);
    errno = code;
    return NULL;
}

void agent_change_generation(void *page, uint32_t slot) {
    uint64_t *generations = (uint64_t *)((char *)page + AGENT_PAGE_GENERATIONS);
    __atomic_fetch_add(&generations[slot % AGENT_PAGE_SLOTS], 1, __ATOMIC_SEQ_CST);
}

void agent_retire_generation_page(void *page) { pthread_mutex_unlock(&((struct page *)page)->lock); }

void agent_unmap_generation_page(void *page) { munmap(page, AGENT_PAGE_SIZE); }

/* Whether a page has the layout that this version knows.

   - header: a copy. Who has made the page can still write to it. */
static int is_known(const struct page *header) {
    return memcmp(header->magic, magic, sizeof magic) == 0 && header->layout == AGENT_PAGE_LAYOUT
           && header->slots == AGENT_PAGE_SLOTS && header->owner != 0
           && header->life_offset % sizeof(uint32_t) == 0
           && header->life_offset <= AGENT_PAGE_GENERATIONS - sizeof(uint32_t);
}

/* Whether nobody can shorten the memory, which would end a process that reads it, and nobody but the agent can write to it. */
static int is_sealed(int descriptor) {
    struct stat status;
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)
           && status.st_size == AGENT_PAGE_SIZE;
}

/* A word that is 1, and 0 in the children of this process; NULL where the kernel cannot do that. */
static uint32_t *mark_process(void) {
    void *memory = mmap(NULL, AGENT_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    if (madvise(memory, AGENT_PAGE_SIZE, MADV_WIPEONFORK) != 0) {
        munmap(memory, AGENT_PAGE_SIZE);
        return NULL;
    }
    *(uint32_t *)memory = 1;
    return memory;
}

int agent_view_generation_page(int descriptor, agent_page_view *out) {
    void *page = MAP_FAILED;
    int code = is_sealed(descriptor) ? 0 : EINVAL;
    if (code == 0) {
        page = mmap(NULL, AGENT_PAGE_SIZE, PROT_READ, MAP_SHARED, descriptor, 0);
        if (page == MAP_FAILED) code = errno;
    }
    close(descriptor);
    if (code != 0) return code;
    /* Read once, whatever the compiler makes of it. */
    struct page header;
    memcpy(&header, page, sizeof header);
    __asm__ volatile("" : : : "memory");
    uint32_t *process = is_known(&header) ? mark_process() : NULL;
    if (process == NULL) {
        munmap(page, AGENT_PAGE_SIZE);
        return EINVAL;
    }
    *out = (agent_page_view){
        .page = page,
        .life = (const uint32_t *)((const char *)page + header.life_offset),
        .process = process,
        .owner = header.owner,
    };
    return 0;
}

void agent_end_page_view(const agent_page_view *view) {
    munmap((void *)view->page, AGENT_PAGE_SIZE);
    munmap((void *)view->process, AGENT_PAGE_SIZE);
}

#else

/* macOS has neither sealed memory nor locks that the kernel marks. */
void *agent_make_generation_page(int *descriptor) {
    (void)descriptor;
    errno = ENOTSUP;
    return NULL;
}

void agent_change_generation(void *page, uint32_t slot) {
    (void)page;
    (void)slot;
}

void agent_retire_generation_page(void *page) { (void)page; }

void agent_unmap_generation_page(void *page) { (void)page; }

int agent_view_generation_page(int descriptor, agent_page_view *out) {
    (void)out;
    close(descriptor);
    return ENOTSUP;
}

void agent_end_page_view(const agent_page_view *view) { (void)view; }

#endif
