#include "CAgentSystem.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { ending_count = 4, signal_count = ending_count + 2 };
/* Those that end the process, then those that suspend it and let it go on. */
static const int signals[signal_count] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT};
static struct sigaction before[signal_count];
static struct sigaction suspending;
static struct termios shown;
static char prompt[128];
static volatile sig_atomic_t hidden = -1;
static volatile sig_atomic_t is_suspending;
/* Whether the caller has been told to write the prompt. */
static volatile sig_atomic_t is_prompting;

/* Discards what has been typed, and hides what is typed from now on. */
static int hide(void) {
    struct termios silent = shown;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    int result;
    /* A process that goes on in the background is stopped here until it has the terminal again. */
    while ((result = tcsetattr(hidden, TCSAFLUSH, &silent)) != 0 && errno == EINTR) {}
    return result == 0 ? 0 : errno;
}

/* Whoever ends the process gets the terminal back as it was. */
static void ended(int number) {
    agent_show_typing();
    raise(number);
}

static void hide_again(void) {
    if (hidden < 0) return;
    struct termios present;
    /* The shell may have changed the terminal meanwhile. Without ECHO, it is as this process has left it. */
    if (tcgetattr(hidden, &present) == 0 && (present.c_lflag & ECHO) != 0) shown = present;
    hide();
    /* A process that was started in the background has written none. */
    if (!is_prompting) return;
    ssize_t ignored = write(STDERR_FILENO, prompt, strlen(prompt));
    (void)ignored;
}

/* The shell gets the terminal back as it was; when the process goes on, the prompt is repeated. */
static void suspended(int number) {
    int error = errno;
    if (hidden >= 0) tcsetattr(hidden, TCSAFLUSH, &shown);
    is_suspending = 1;
    struct sigaction standard = {0};
    standard.sa_handler = SIG_DFL;
    sigemptyset(&standard.sa_mask);
    sigaction(number, &standard, NULL);
    sigset_t only, mask;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, &mask);
    /* Returns when the process goes on; at once in a process group that nobody could continue. */
    raise(number);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (hidden >= 0) sigaction(number, &suspending, NULL);
    is_suspending = 0;
    hide_again();
    errno = error;
}

/* After SIGSTOP, which no handler sees. */
static void continued(int number) {
    (void)number;
    int error = errno;
    if (!is_suspending) hide_again();
    errno = error;
}

int agent_hide_typing(int terminal, const char *text) {
    if (tcgetattr(terminal, &shown) != 0) return errno;
    hidden = terminal;
    is_prompting = 0;
    prompt[0] = 0;
    if (strlen(text) < sizeof prompt) strcpy(prompt, text);
    struct sigaction action = {0};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    suspending = action;
    suspending.sa_handler = suspended;
    for (int index = 0; index < signal_count; index++) {
        action.sa_handler = index < ending_count ? ended : signals[index] == SIGTSTP ? suspended : continued;
        sigaction(signals[index], &action, &before[index]);
    }
    int result = hide();
    is_prompting = 1;
    return result;
}

void agent_show_typing(void) {
    if (hidden < 0) return;
    tcsetattr(hidden, TCSAFLUSH, &shown);
    hidden = -1;
    for (int index = 0; index < signal_count; index++) sigaction(signals[index], &before[index], NULL);
}
