/* What cannot be done in Swift: calls that are hidden behind a feature macro or take any number of arguments, handlers of signals, and
   copies of the process. */
#ifndef C_AGENT_SYSTEM_H
#define C_AGENT_SYSTEM_H

#include "CGenerationPage.h"

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The process at the other end of a Unix socket, as the kernel recorded it at connect or listen.
   The layout is that of Linux's `struct ucred`, so that it can be read by getsockopt as it is. */
typedef struct {
    int32_t pid; /* -1 where the system does not tell */
    uint32_t uid;
    uint32_t gid;
} agent_peer_credentials;

/* Fills `out` for a connected Unix socket; 0, or an errno. */
int agent_get_peer_credentials(int socket, agent_peer_credentials *out);

/* Opens /proc/PID of the process at the other end of a Unix socket, so that files below it are of that process even if its
   ID is reused. `pidfd` is the value of the socket option SO_PEERPIDFD, or negative where the kernel has none; then `pid` is
   opened. Closes `pidfd`. A descriptor; or a negative errno: -ESRCH if the process has ended. Linux only. */
int agent_open_process(int pidfd, int32_t pid);

/* A descriptor of a process; -1 if it has ended, or if the kernel has none. Linux only. */
int agent_open_pidfd(int32_t pid);

/* Whether the process of a pidfd has ended. While it has not, no other process has its ID. Linux only. */
int agent_has_ended(int pidfd);

/* Writes bytes to a Unix socket, with a descriptor unless that is negative. As `send`, without SIGPIPE. */
ssize_t agent_send_with_descriptor(int socket, const void *bytes, size_t count, int descriptor, int flags);

/* Writes parts of a message to a socket without waiting. As `sendmsg`, without SIGPIPE. */
ssize_t agent_send_parts(int socket, struct iovec parts[], size_t count);

/* Has the kernel refuse to send descriptors to a Unix socket, and to those that are accepted from it. A descriptor that nobody has received
   is closed by the thread that reads or closes the socket, and that may take as long as its sender wants. 0, or an errno: before Linux 6.16
   and on other systems descriptors cannot be refused. */
int agent_refuse_descriptors(int socket);

/* Whether descriptors may have been sent to a connection: the kernel does not refuse them, or did not when it was made. 0 on other systems than
   Linux, where this is not defended. */
int agent_may_have_descriptors(int socket);

/* Has no credentials come with the bytes of a connection, which a service manager may have asked for: `agent_peek` would take them for
   descriptors. */
void agent_pass_no_credentials(int socket);

/* Copies bytes that wait in a Unix socket, and leaves them there, as `recv` does without waiting. If descriptors have come with some of the
   bytes, none of the copied bytes may be read: that would close the descriptors. */
ssize_t agent_peek(int socket, void *bytes, size_t limit, int *has_descriptors);

/* Whether bytes wait in a socket, or this cannot be found out. */
int agent_has_unread_bytes(int socket);

/* Closes a descriptor. Does not wait for TCP connections in it, or in what was sent to it, that linger (SO_LINGER): a signal (SIGURG), which
   has no other effect in this process, interrupts the calling thread again and again. */
void agent_close_impatiently(int descriptor);

/* Reads bytes from a Unix socket, and the descriptor that has come with them: -1 if there is none, if there are several, or if the
   message was longer than `limit`. As `recv`. */
ssize_t agent_receive_with_descriptor(int socket, void *bytes, size_t limit, int *descriptor, int flags);

enum { AGENT_PATH_LIMIT = 4096, AGENT_FLATPAK_LIMIT = 8192, AGENT_QUESTION_LIMIT = 1024 };

/* What the kernel tells about a process only to those that may trace it. */
typedef struct {
    /* Whether it has the root directory of this process: 1 or 0, or a negative errno. */
    int32_t has_same_root;
    /* Whether its program has a path, and a file that is not deleted. */
    int32_t has_executable;
    /* Of the program's file. */
    uint32_t owner;
    uint32_t mode;
    /* Whether this process sees the same file at the path, if that is one of those to check. */
    int32_t is_at_path;
    /* Where the process sees its program. */
    char path[AGENT_PATH_LIMIT + 1];
} agent_process;

/* Copies the path, which is too long for Swift to see; `out` has room for it. */
void agent_copy_path(const agent_process *process, char out[AGENT_PATH_LIMIT + 1]);

/* Fills `out` for the process that has an ID now. `executables` are the paths to check, up to NULL. Asks no file server, except for
   these paths. 0, or an errno: ESRCH if the process has ended. Linux only. */
int agent_describe_process(int32_t pid, const char *const executables[], agent_process *out);

/* Reads the file `.flatpak-info` in the root directory of the process that has an ID now. The file must be a mount of its own and
   read-only, as Flatpak makes it, so that it is not one that the process has written. The number of bytes, or a negative errno. May
   wait for a file server of the process. Linux only. */
int agent_read_flatpak_info(int32_t pid, char *out, size_t limit);

/* Reads the POSIX access control list of a file, not of what a symbolic link leads to, as the attribute `system.posix_acl_access` has
   it. The number of bytes; 0 if there is none, and always on other systems than Linux; or a negative errno. */
long agent_read_access_list(const char *path, void *out, size_t limit);

/* Overwrites 128 KiB of the calling thread's stack with zeros: what functions have left there that have returned to the caller. */
void agent_wipe_stack(void);

/* The limits of published sockets, of the users of one, and of the length of a path and of its last part. */
enum { AGENT_SOCKETS = 16, AGENT_SOCKET_USERS = 16, AGENT_SOCKET_PATH = 103, AGENT_SOCKET_NAME = 90 };

/* The file of a socket, by which it is recognised when it is removed. */
typedef struct {
    uint64_t device;
    uint64_t file;
} agent_socket_file;

/* Makes a socket at an absolute path, in a folder of this user's that nobody else may change, and listens on it. The users may connect
   to it, as far as the file system decides: with an ACL, or where there is none everybody. A socket of this user's on which nobody
   listens is replaced, any other file is not. The descriptor; or a negative errno: -EINVAL for a path or a list of users that is not
   possible, -EPERM for a folder of another user or one that others may change, -EADDRINUSE for a socket on which somebody listens,
   -EEXIST for another file. */
int agent_make_socket(const char *path, const uint32_t users[], int count, agent_socket_file *made);

/* Removes the socket, if it is still the file at the path. */
void agent_remove_socket(const char *path, const agent_socket_file *made);

/* Asks a question, and waits a minute for the answer: with the program `askpass`, or if that is NULL on the controlling terminal of a
   process, which has to be in the terminal's foreground and to have started at `start` (in ticks since boot). If the process ends, is
   stopped or loses the foreground, as after Ctrl-C or Ctrl-Z, that is no. So it is as soon as there is something to read at the socket
   `withdrawal`, or its other end is closed; the program is killed then, as after the minute. -1 for no such socket. The question has
   AGENT_QUESTION_LIMIT bytes at most and no control characters. 1 for yes, 0 for anything else; -1 if nobody can be asked, and
   AGENT_FOREIGN_TERMINAL if that is so because the terminal is another user's. */
enum { AGENT_FOREIGN_TERMINAL = -2 };
int agent_confirm(const char *askpass, int32_t pid, uint64_t start, const char *question, int withdrawal);

/* Withdraws the question that is asked with the other end of `socket`, or that has been sent to the helper. The length of the message is
   no question's. */
enum { AGENT_WITHDRAWAL = 2 };
void agent_withdraw_question(int socket);

/* Reads the withdrawals that have come too late for a question. */
void agent_forget_withdrawals(int socket);

/* Finds the user of the open TCP socket on this machine whose own address is `own` and whose other end is `remote`; that
   of a listening socket is the address 0 with port 0. For the peer of a connection, `own` is the peer's address. IPv4,
   IPv6, and IPv4 connections of IPv6 sockets. The addresses are of the type `struct sockaddr`.

   0; ENOENT if no process has such a socket open, also if the process has closed it just now; or another errno if the
   kernel does not tell. Linux asks the kernel for the one socket (sock_diag), in microseconds; not available on macOS. */
int agent_query_socket_user(const void *own, const void *remote, uint32_t *user);

/* The same, by searching through all sockets, which may take milliseconds: Linux reads /proc/net/tcp and tcp6; macOS goes
   through the files of this user's processes, and finds sockets of this user only. */
int agent_search_socket_user(const void *own, const void *remote, uint32_t *user);

/* The same, in one table of the format of /proc/net/tcp, or if `is_ipv4` is 0 of /proc/net/tcp6. EFBIG if the table is
   too long. Linux only. */
int agent_search_socket_table(const char *path, const void *own, const void *remote, int is_ipv4, uint32_t *user);

/* Gives a new descriptor another number if it has that of a standard stream, which is free if the stream is closed: what the app writes to
   the stream would go into this file. It is closed on exec then. The number; negative, with `errno`, if `descriptor` is, or no number is
   left. */
int agent_above_standard_streams(int descriptor);

/* Makes a pipe: `ends[0]` is read from, `ends[1]` written to. Both are closed on exec; on Linux from the moment they exist, so that a
   program that another thread starts meanwhile inherits none. Neither has the number of a standard stream. 0, or an errno. */
int agent_make_pipe(int ends[2], int is_nonblocking);

/* Makes two connected Unix sockets, which do not wait. Otherwise as `agent_make_pipe`. */
int agent_make_socket_pair(int ends[2]);

/* Has every descriptor from `lowest` on closed in the process that is about to be started; 0, or an errno. Called after the flags of the
   attributes are set, and with the last of the actions. */
int agent_spawn_close_from(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int lowest);

/* Starts a program found on PATH with a clean slate: no signal blocked or ignored, no file of this process open. Its
   standard input and output are `descriptor`, or lead nowhere where that is negative. `words` ends with NULL. 0, or an
   errno. */
int agent_spawn(char *const words[], int descriptor, pid_t *child);

/* The same as `agent_spawn`, for a program that may outlive this process. Its standard input and output lead nowhere, and so do its errors
   unless they are shown on a terminal: whoever reads them from a pipe would wait for the end of the program. It is in a session of its own,
   in which no key of the terminal ends or stops it. */
int agent_spawn_apart(char *const words[], pid_t *child);

/* Whether this process is a copy, made by `fork`, of one that has called this function. */
int agent_is_copied_process(void);

/* A clock that is never set, in milliseconds. */
int64_t agent_milliseconds(void);

/* Waits for the end of a child: its exit status, or 128 and the number of the signal that ended it; -1 where there is
   no such child. */
int agent_wait(pid_t child);

/* Waits so many milliseconds at most; not 0 if the child has ended, with what `agent_wait` would return in `code`. */
int agent_wait_for(pid_t child, int milliseconds, int *code);

/* The same as `agent_wait`, of a child that is killed when it has not ended after so many milliseconds. */
int agent_wait_or_kill(pid_t child, int milliseconds);

/* The same as `agent_spawn`, in a process group of its own. What the program writes to its standard error is dropped unless `has_errors`. */
int agent_spawn_group(char *const words[], int descriptor, int has_errors, pid_t *child);

/* The same as `agent_spawn`, in a process group of its own and with one more variable in the program's environment, such as "NAME=value". */
int agent_spawn_group_with(char *const words[], const char *variable, int descriptor, pid_t *child);

/* The same as `agent_spawn`, with this environment, which ends with NULL. */
int agent_spawn_with_environment(char *const words[], char *const environment[], int descriptor, pid_t *child);

/* Goes on as another process: the one that has called it ends with status 0. The new one is in a session of its own and in the root
   directory, has no open file but the standard ones, and writes its errors to its output. Must be called while this process has one
   thread. 0, or an errno. */
int agent_detach(void);

/* Has the standard streams lead nowhere, so that whoever reads them sees their end; 0, or an errno. */
int agent_leave_output(void);

/* What the helper does is decided when it is started. Each NULL leaves something out. */
typedef struct {
    /* The program `secret-tool`, and the store whose key it may read and write. */
    const char *secret_tool;
    const char *store;
    /* As in `agent_confirm`. */
    const char *askpass;
    /* As in `agent_describe_process`. */
    const char *const *executables;
} agent_helper_settings;

enum {
    AGENT_LANE_KEYRING = 0,
    AGENT_LANE_CONFIRMATION = 1,
    AGENT_LANE_SOCKETS = 2,
    AGENT_LANE_INSPECTION = 3,
    AGENT_LANES = 5
};

/* Starts a process that does for the agent what the agent itself may not do any more when it has restricted itself: it describes
   peers, asks for confirmations, makes the files of published sockets and uses the keyring, and nothing else. Must be called while
   this process has one thread. `lanes` are sockets, one for each kind of request and two for descriptions: requests of different lanes
   do not wait for each other; in one lane there is one at a time. The helper ends when they are closed, and then removes the sockets
   that it has made. 0, or an errno. Linux only. */
int agent_start_helper(const agent_helper_settings *settings, int lanes[AGENT_LANES]);

/* Have the helper do the same as the functions without `ask` in their names. EIO, or its negative, if the helper does not answer. */
int agent_ask_to_describe(int lane, int32_t pid, agent_process *out);
int agent_ask_for_flatpak_info(int lane, int32_t pid, char *out, size_t limit);
int agent_ask_to_make_socket(int lane, const char *path, const uint32_t users[], int count);
void agent_ask_to_remove_socket(int lane, const char *path);

/* Have the helper do the same as `agent_confirm`, in two steps. What `agent_withdraw_question` sends between them withdraws the question;
   what it sends later has no effect. The first one returns 0, or an errno: EINVAL for a question that is too long. The second one returns
   -1 also if the helper does not answer. */
int agent_send_question(int lane, int32_t pid, uint64_t start, const char *question);
int agent_receive_answer(int lane);

enum { AGENT_KEYRING_LOOKUP = 1, AGENT_KEYRING_STORE = 2, AGENT_KEYRING_CLEAR = 3, AGENT_KEYRING_SEARCH = 4, AGENT_KEYRING_LIMIT = 65536 };

/* Answers the requests at `socket` to the keyring until its other end is closed: runs `program`, which is `secret-tool`, with the
   attributes of the store at `store`. Kills the program then, and those that it has started. */
void agent_serve_keyring(int socket, const char *program, const char *store);

/* Has the helper run the program with an input, for a minute at most. `output` has room for AGENT_KEYRING_LIMIT bytes. The number of
   bytes; `status` is what `agent_wait` returns of the program, -2 if it could not be started, and never 0 if it was killed because it
   took longer or wrote too much. -1 if the helper does not answer. One call at a time. */
int agent_call_keyring_helper(
    int helper, int operation, const void *input, size_t count, void *output, int32_t *status);

/* Keeps what is typed at a terminal from showing, until `agent_show_typing` or a signal that ends the process; 0, or an
   errno. While the process is suspended, as by Ctrl-Z, the terminal is as before; when it goes on, what has been typed is discarded,
   and the text of the prompt, which the caller writes afterwards, is written to standard error again. */
int agent_hide_typing(int terminal, const char *prompt);
void agent_show_typing(void);

/* Lets this thread, and those that it starts, receive every signal, whichever the process that has started this one had blocked, and
   lets this process wait for its children, also if that one ignored theirs. A write beyond the limit of the size of files returns an error
   from now on, and ends nothing. To be called before there is another thread. */
void agent_reset_signals(void);

/* Catches SIGTERM and SIGINT from now on: each writes its number, one byte, to a pipe. Returns the end to read from, or -1
   with errno. Called once in a process. Until then the signals end the process; none is lost in between. */
int agent_catch_stop_signals(void);

/* Writes SIGHUP to the same pipe from now on. Then `agent_read_stop_signal` is the only reader. Returns whether the signal has ended the
   process until then: it is ignored in one that nohup(1) has started. */
bool agent_catch_hangup(void);

/* A signal that was caught. */
typedef struct {
    /* 0 if there is none. */
    int number;
    /* Whether a SIGHUP was sent by the kernel, which sends it when the terminal is closed, or by a process that may do so then: the one
       that has started this one, the leader of its session, or another process of the session. */
    bool is_from_session;
} agent_stop_signal;

/* Reads the next signal from the pipe. A SIGHUP that arrives afterwards is written again. */
agent_stop_signal agent_read_stop_signal(int pipe);

/* Gives the pages of the program's code, and of its libraries', back to the system, which maps those that are needed again
   from the page cache: what only the start needs is no longer resident. Without effect on macOS. */
void agent_release_code(void);

/* Gives the pages of released memory back to the system. Without effect on macOS, and with another C library than glibc. */
void agent_release_memory(void);

/* The memory of the thread-local variables of the app and its libraries, in bytes, if the C library takes it from the stack of each thread;
   else 0. */
size_t agent_thread_local_size(void);

/* Creates threads that exist at the same time, 32 at most, and ends them; 0, or the errno if there is no room for so many. */
int agent_try_threads(int count);

/* Gives each standard stream that is closed a descriptor whose use fails. Otherwise the next file or socket has its number, and gets
   what is written to the stream. To be called first. */
void agent_hold_standard_streams(void);

/* Writes to a standard stream, and waits for its reader. The rest is dropped if the stream is closed or broken. A broken one raises no
   SIGPIPE, which would end the app. */
void agent_write_without_signal(int stream, const void *bytes, size_t count);

/* Has all threads allocate from one heap, which grows by larger steps than those that glibc makes for further threads: for a short
   process, whose threads take turns. Without effect on macOS, and with another C library than glibc. */
void agent_use_one_heap(void);

/* Leaves no core dump of this process, and lets no other process of the user trace or read it; 0, or an errno. Also removes the
   handlers of crashes: Swift's would wait for ever for a program that may not read this process. */
int agent_forbid_inspection(void);

/* Whether that has been done. */
int agent_is_inspectable(void);

/* Reserves `count` bytes on the disk behind the end of a file, whose length stays; 0, or the errno of a disk or a quota that has no room.
   Without effect on macOS, and on a file system that cannot do it. */
int agent_reserve_room(const char *path, long long count);

/* Whether the system keeps the clock right, as the kernel knows it: 1 or 0; -1 where it does not tell. */
int agent_clock_is_synchronised(void);

#endif
