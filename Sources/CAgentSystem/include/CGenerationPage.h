/* The generation page: memory that the agent shares with apps, read-only, in which numbers change before a change of what the agent
   would answer is acknowledged to anybody. Its layout is described in Protos/PROTOCOL.md. */
#ifndef C_GENERATION_PAGE_H
#define C_GENERATION_PAGE_H

#include <stddef.h>
#include <stdint.h>

enum {
    AGENT_PAGE_SIZE = 4096,
    AGENT_PAGE_LAYOUT = 1,
    /* Where the page has its generations, and how many. */
    AGENT_PAGE_GENERATIONS = 1024,
    AGENT_PAGE_SLOTS = 256,
    /* The slot of the generation that every answer depends on, and that of all names with other characters than ASCII. */
    AGENT_SLOT_OF_EVERYTHING = 0,
    AGENT_SLOT_OF_OTHER_NAMES = 1
};

/* The slot of what is answered for an account of a sharing group, or if `account` is NULL for any account of the group. */
uint32_t agent_generation_slot(const char *group, size_t group_length, const char *account, size_t account_length);

/* A generation. It only grows. */
static inline uint64_t agent_generation(const void *page, uint32_t slot) {
    const uint64_t *generations = (const uint64_t *)((const char *)page + AGENT_PAGE_GENERATIONS);
    return __atomic_load_n(&generations[slot % AGENT_PAGE_SLOTS], __ATOMIC_SEQ_CST);
}

/* Makes the page, and marks it as that of the calling thread: when the thread ends in whatever way, the kernel marks the page before
   it closes the descriptors of the process. The page, and a descriptor of it for apps, which cannot write to it; NULL with errno where
   the system has no such pages. Linux only. */
void *agent_make_generation_page(int *descriptor);

/* Changes a generation. */
void agent_change_generation(void *page, uint32_t slot);

/* Marks the page as that of no agent. Called by the thread that has made it. */
void agent_retire_generation_page(void *page);

/* Unmaps the page of the agent. */
void agent_unmap_generation_page(void *page);

/* An app's view of the page of an agent. */
typedef struct {
    const void *page;
    /* The word that has the number `owner` while the agent lives. */
    const uint32_t *life;
    /* 1 in this process, and 0 in its children. */
    const uint32_t *process;
    uint32_t owner;
} agent_page_view;

/* Maps a page that the agent has sent, and closes the descriptor. 0; or an errno: EINVAL if it is not such a page, or if whoever has it
   could shorten it or write to it. Linux only. */
int agent_view_generation_page(int descriptor, agent_page_view *out);

void agent_end_page_view(const agent_page_view *view);

/* Whether the agent lives, and this is the process that has mapped the page. */
static inline int agent_page_is_valid(const agent_page_view *view) {
    return __atomic_load_n(view->life, __ATOMIC_SEQ_CST) == view->owner && __atomic_load_n(view->process, __ATOMIC_RELAXED) == 1;
}

/* The time in seconds: since 1970, and since the machine's start, which no setting of the clock changes and which counts the time that
   the machine sleeps. */
typedef struct {
    int64_t wall;
    int64_t uptime;
} agent_times;

agent_times agent_read_times(void);

#endif
