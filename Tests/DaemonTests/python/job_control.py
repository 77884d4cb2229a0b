"""A shell with job control: runs a program in the foreground of a terminal of its own, or with the variable JOB_IN_BACKGROUND in its
background, and prints what the terminal shows.

Arguments: as those of terminal.py. When the program has been stopped, the shell takes the terminal, writes “job stopped”, reads a
line, writes it as “the shell has read: …”, and continues the program in the foreground. When the program has ended, it does the
same with “job ended”, and ends with its status, or with 128 and the number of the signal that ended it.
"""

import json
import os
import pty
import signal
import sys

import terminal_steps


def run_as_shell(program):
    own = os.getpgrp()
    for number in (signal.SIGINT, signal.SIGTSTP, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        if "JOB_IN_BACKGROUND" not in os.environ:
            os.tcsetpgrp(0, os.getpgrp())
        for number in (signal.SIGINT, signal.SIGTSTP, signal.SIGTTOU):
            signal.signal(number, signal.SIG_DFL)
        os.execv(program[0], program)
    while True:
        status = os.waitpid(job, os.WUNTRACED)[1]
        os.tcsetpgrp(0, own)
        print("job stopped" if os.WIFSTOPPED(status) else "job ended", flush=True)
        print("the shell has read:", os.read(0, 100).decode().strip(), flush=True)
        if not os.WIFSTOPPED(status):
            os._exit(terminal_steps.status_of(status))
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)


steps = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    run_as_shell(sys.argv[2:])
terminal_steps.play(steps, child, terminal)
