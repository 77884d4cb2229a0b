#include "CAgentSystem.h"

#include <errno.h>
#include <signal.h>
#include <termios.h>

enum { signal_count = 4 };
static const int signals[signal_count] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static struct sigaction before[signal_count];
static struct termios shown;
static int hidden = -1;

/* Whoever stops the process gets the terminal back as it was. */
static void stopped(int number) {
    agent_show_typing();
    raise(number);
}

int agent_hide_typing(int terminal) {
    if (tcgetattr(terminal, &shown) != 0) return errno;
    hidden = terminal;
    struct sigaction action = {0};
    action.sa_handler = stopped;
    sigemptyset(&action.sa_mask);
    for (int index = 0; index < signal_count; index++) sigaction(signals[index], &action, &before[index]);
    struct termios silent = shown;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    return tcsetattr(terminal, TCSAFLUSH, &silent) == 0 ? 0 : errno;
}

void agent_show_typing(void) {
    if (hidden < 0) return;
    tcsetattr(hidden, TCSAFLUSH, &shown);
    hidden = -1;
    for (int index = 0; index < signal_count; index++) sigaction(signals[index], &before[index], NULL);
}
