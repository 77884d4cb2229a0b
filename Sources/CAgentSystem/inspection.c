#include "CAgentSystem.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#if defined(__linux__)
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <sys/types.h>
#include <sys/ptrace.h>
#endif

/* Swift's handlers of crashes have another program read this process, which may not; they would then wait for it for ever, and a
   process that has crashed would neither end nor be replaced. */
static void end_at_a_crash(void) {
    const int signals[] = {SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
}

int agent_forbid_inspection(void) {
    end_at_a_crash();
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return errno;
#if defined(__linux__)
    /* A core_pattern that pipes ignores the limit, but not this. */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
#elif defined(__APPLE__)
    if (ptrace(PT_DENY_ATTACH, 0, 0, 0) != 0) return errno;
#endif
    return 0;
}

int agent_is_inspectable(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur != 0) return 1;
#if defined(__linux__)
    return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0;
#else
    return 0;
#endif
}
