#define _GNU_SOURCE
#include "CAgentSandbox.h"

#include <errno.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <dirent.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

/* Calls of later kernels than that of the headers, whose numbers are those of every machine. */
#define FCHMODAT2 452
#define SETXATTRAT 463
#define REMOVEXATTRAT 466
#define FILE_SETATTR 469

/* Calls that are refused whatever their arguments. Others of later kernels than that of the headers are left out. */
static const unsigned refused[] = {
    /* to run programs */
    SYS_execve, SYS_execveat,
    /* to look into other processes */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
#ifdef SYS_process_madvise
    SYS_process_madvise,
#endif
    /* mounts and namespaces */
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_move_mount, SYS_open_tree, SYS_fsopen,
    SYS_fsconfig, SYS_fsmount, SYS_fspick,
#ifdef SYS_mount_setattr
    SYS_mount_setattr,
#endif
    /* parts of the kernel that are large and not needed */
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_fanotify_init, SYS_fanotify_mark, SYS_vmsplice, SYS_move_pages,
    SYS_migrate_pages, SYS_lookup_dcookie, SYS_personality,
    /* the machine as a whole */
    SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff,
    SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_acct, SYS_quotactl, SYS_vhangup,
    SYS_syslog,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#if defined(__x86_64__)
    SYS_ioperm, SYS_iopl, SYS_modify_ldt, SYS_uselib,
#endif
    /* mode, owner and extended attributes of files by their paths, which Landlock does not restrict. Those of open files can be
       changed. */
    SYS_fchmodat, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr, FCHMODAT2, SETXATTRAT,
    REMOVEXATTRAT, FILE_SETATTR,
#if defined(__x86_64__)
    SYS_chmod, SYS_chown, SYS_lchown,
#endif
};

static const unsigned keyring_calls[] = {SYS_add_key, SYS_request_key, SYS_keyctl};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CAPACITY (2 * (COUNT(refused) + COUNT(keyring_calls)) + 96)

/* The low half of an argument; both machines are little-endian. */
#define ARGUMENT(index) ((unsigned)offsetof(struct seccomp_data, args[index]))
#define REFUSE(code) (SECCOMP_RET_ERRNO | (code))

typedef struct {
    struct sock_filter code[CAPACITY];
    unsigned short count;
} program;

static void add(program *filter, struct sock_filter instruction) {
    if (filter->count < CAPACITY) filter->code[filter->count] = instruction;
    filter->count++;
}

static void load(program *filter, unsigned offset) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void end(program *filter, unsigned result) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result));
}

/* Continues with the next instruction if the loaded number is `value`, otherwise after the next `length`. */
static void unless_equal_skip(program *filter, unsigned value, unsigned char length) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, length));
}

/* The same, if one of the bits is set. */
static void unless_any_skip(program *filter, unsigned bits, unsigned char length) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, length));
}

static void refuse(program *filter, unsigned call, int code) {
    unless_equal_skip(filter, call, 1);
    end(filter, REFUSE(code));
}

/* Refuses a call if one of the bits of an argument is set. Each such group of instructions ends the filter. */
static void refuse_bits(program *filter, unsigned call, int argument, unsigned bits) {
    unless_equal_skip(filter, call, 4);
    load(filter, ARGUMENT(argument));
    unless_any_skip(filter, bits, 1);
    end(filter, REFUSE(EPERM));
    end(filter, SECCOMP_RET_ALLOW);
}

/* Ends with one result if an argument of a call has a value, and with another if not. */
static void decide(program *filter, unsigned call, int argument, unsigned value, unsigned equal, unsigned other) {
    unless_equal_skip(filter, call, 4);
    load(filter, ARGUMENT(argument));
    unless_equal_skip(filter, value, 1);
    end(filter, equal);
    end(filter, other);
}

/* Memory that is writable and executable at once. */
static void refuse_writable_code(program *filter) {
    unless_equal_skip(filter, SYS_mmap, 5);
    load(filter, ARGUMENT(2));
    add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC));
    unless_equal_skip(filter, PROT_WRITE | PROT_EXEC, 1);
    end(filter, REFUSE(EPERM));
    end(filter, SECCOMP_RET_ALLOW);
}

/* Netlink is for the addresses of this machine and for the users of its sockets. */
static void restrict_sockets(program *filter) {
    unless_equal_skip(filter, SYS_socket, 14);
    load(filter, ARGUMENT(0));
    const unsigned families[] = {AF_UNIX, AF_INET, AF_INET6};
    for (int index = 0; index < 3; index++) {
        unless_equal_skip(filter, families[index], 1);
        end(filter, SECCOMP_RET_ALLOW);
    }
    unless_equal_skip(filter, AF_NETLINK, 5);
    load(filter, ARGUMENT(2));
    unless_equal_skip(filter, NETLINK_ROUTE, 1);
    end(filter, SECCOMP_RET_ALLOW);
    unless_equal_skip(filter, NETLINK_SOCK_DIAG, 1);
    end(filter, SECCOMP_RET_ALLOW);
    end(filter, REFUSE(EAFNOSUPPORT));
}

static void build(program *filter, int allows_keyrings) {
    load(filter, offsetof(struct seccomp_data, arch));
    unless_equal_skip(filter, NATIVE, 1);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
    end(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    /* The calls of x32 have numbers of their own. */
    unless_any_skip(filter, 0x40000000, 1);
    end(filter, REFUSE(ENOSYS));
#endif
    for (size_t index = 0; index < COUNT(refused); index++) refuse(filter, refused[index], EPERM);
    if (!allows_keyrings) {
        for (size_t index = 0; index < COUNT(keyring_calls); index++) refuse(filter, keyring_calls[index], EPERM);
    }
    /* Its flags are in memory, where a filter cannot read them; the C library then uses `clone`. */
    refuse(filter, SYS_clone3, ENOSYS);
    refuse_bits(
        filter, SYS_clone, 0,
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET);
    refuse_bits(filter, SYS_mprotect, 2, PROT_EXEC);
    refuse_bits(filter, SYS_pkey_mprotect, 2, PROT_EXEC);
    refuse_bits(filter, SYS_shmat, 2, SHM_EXEC);
    /* Characters that another terminal would take for typed ones. */
    decide(filter, SYS_ioctl, 1, TIOCSTI, REFUSE(EPERM), SECCOMP_RET_ALLOW);
    decide(filter, SYS_prctl, 0, PR_SET_DUMPABLE, REFUSE(EPERM), SECCOMP_RET_ALLOW);
    /* A limit of processor time ends another process as a signal does. */
    decide(filter, SYS_prlimit64, 0, 0, SECCOMP_RET_ALLOW, REFUSE(EPERM));
    refuse_writable_code(filter);
    restrict_sockets(filter);
    end(filter, SECCOMP_RET_ALLOW);
}

static int install(program *filter) {
    if (filter->count > CAPACITY) return ENOSPC;
    struct sock_fprog description = {.len = filter->count, .filter = filter->code};
    long code = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &description);
    /* A number greater than 0 is that of a thread with another filter. */
    return code == 0 ? 0 : code > 0 ? EBUSY : errno;
}

int sandbox_restrict_calls(int allows_keyrings) {
    program filter = {.count = 0};
    build(&filter, allows_keyrings);
    return install(&filter);
}

int sandbox_refuse_unix_sockets(void) {
    program filter = {.count = 0};
    load(&filter, offsetof(struct seccomp_data, nr));
    unless_equal_skip(&filter, SYS_socket, 3);
    load(&filter, ARGUMENT(0));
    unless_equal_skip(&filter, AF_UNIX, 1);
    end(&filter, REFUSE(EACCES));
    end(&filter, SECCOMP_RET_ALLOW);
    return install(&filter);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
/* The search for leaks at the end of a process traces it, which is refused. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif
#endif

int sandbox_thread_count(void) {
    DIR *threads = opendir("/proc/self/task");
    if (threads == NULL) return -1;
    int count = 0;
    for (struct dirent *entry = readdir(threads); entry != NULL; entry = readdir(threads)) {
        if (entry->d_name[0] != '.') count++;
    }
    closedir(threads);
    return count;
}

#else

int sandbox_restrict_calls(int allows_keyrings) { return ENOSYS; }

int sandbox_refuse_unix_sockets(void) { return ENOSYS; }

int sandbox_thread_count(void) { return -1; }

#endif
