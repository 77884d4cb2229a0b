"""Starts a program on a terminal of its own, and closes the terminal at SIGUSR1. Ends with the program's status.

closed_terminal.py HOW PROGRAM ARGUMENT…

HOW is "alone" (the program leads the terminal's session), "ignored" (the same, and SIGHUP is ignored when it starts, as after nohup),
"job" (an interactive shell runs it in the foreground), "disowned" (the shell has it in the background, and has disowned it) or
"background" (the same, on a terminal that stops programs in the background when they write to it). Prints "listening" and the
program's process ID when the program listens, and "closed" when the terminal is closed and its first process has ended.
"""

import ctypes
import os
import pty
import shlex
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36


def main(how, command):
    has_shell = how not in ("alone", "ignored")
    # The program is a child of this process when the shell has ended.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    leader, terminal = pty.fork()
    if leader == 0:
        if how == "ignored":
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if not has_shell:
            os.execv(command[0], command)
        os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    if has_shell:
        begin = "stty tostop; " if how == "background" else ""
        end = "\n" if how == "job" else " & disown\n"
        os.write(terminal, (begin + shlex.join(command) + end).encode())
    text = b""
    while b"listening on" not in text:
        text += os.read(terminal, 4096)
    with open(os.environ["SSO_AGENT_SOCK"] + ".lock", encoding="ascii") as lock:
        program = int(lock.read())
    print("listening", program, flush=True)
    signal.sigwait({signal.SIGUSR1})
    os.close(terminal)
    status = os.waitpid(leader, 0)[1]
    print("closed", flush=True)
    if has_shell:
        status = os.waitpid(program, 0)[1]
    return os.waitstatus_to_exitcode(status)


sys.exit(main(sys.argv[1], sys.argv[2:]))
