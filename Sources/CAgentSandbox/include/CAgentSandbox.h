/* The restrictions that a process puts on itself: Linux's Landlock and seccomp. Other systems have neither. */
#ifndef C_AGENT_SANDBOX_H
#define C_AGENT_SANDBOX_H

/* What may be done with the files below a path, or with the one file at it. */
enum {
    SANDBOX_READ = 1,        /* read files, list directories */
    SANDBOX_WRITE = 2,       /* write existing files */
    SANDBOX_CREATE = 4,      /* create, rename and delete files and sockets */
};

typedef struct {
    const char *path;
    int access;
} sandbox_rule;

/* Forbids this process, and what it starts, ever to gain privileges by a set-user-ID program; 0, or an errno. */
int sandbox_forbid_privileges(void);

/* Restricts the calling thread, and the threads and processes that it starts from now on, to the files of the rules. A rule whose
   path does not exist is passed over. 0; ENOSYS or EOPNOTSUPP if the kernel has no Landlock; or another errno. */
int sandbox_restrict_files(const sandbox_rule *rules, int count);

/* Has the kernel refuse, to every thread of this process, the system calls that an agent does not need: to run programs, to trace
   processes, to change mounts, namespaces, modules or clocks, to make memory executable, and sockets of other families than Unix,
   internet and netlink. `allows_keyrings` leaves the kernel's keyrings usable, in which Kerberos may have its tickets.
   0, or an errno. */
int sandbox_restrict_calls(int allows_keyrings);

/* Has the kernel refuse new Unix sockets to every thread of this process; those that exist stay usable. Otherwise the process could
   connect to the bus of the user's session, and have that start programs. Call it after `sandbox_restrict_calls`. 0, or an errno. */
int sandbox_refuse_unix_sockets(void);

/* The number of threads of this process; -1 if it is not known. */
int sandbox_thread_count(void);

#endif
