"""A shell with job control: runs a program in the foreground of a terminal of its own, and prints what the terminal shows.

Arguments: as those of terminal.py. When the program has been stopped, the shell takes the terminal, writes “job stopped”, reads a
line, writes it as “the shell has read: …”, and continues the program in the foreground. When the program has ended, it does the
same with “job ended”, and ends with its status, or with 128 and the number of the signal that ended it.
"""

import json
import os
import pty
import signal
import sys


def run_as_shell(program):
    own = os.getpgrp()
    for number in (signal.SIGINT, signal.SIGTSTP, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
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
            os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)


steps = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    run_as_shell(sys.argv[2:])
seen = b""
while True:
    while steps and steps[0][0].encode() in seen:
        seen = seen[seen.index(steps[0][0].encode()) + len(steps[0][0].encode()):]
        os.write(terminal, steps.pop(0)[1].encode())
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
    seen += data
status = os.waitpid(child, 0)[1]
if steps:
    print("not shown:", steps[0][0], flush=True)
    sys.exit(99)
sys.exit(os.waitstatus_to_exitcode(status))
