"""Types into a terminal what steps say, and prints what the terminal shows; for terminal.py and job_control.py."""

import os
import sys


def play(steps, child, terminal):
    """Waits for each step's text, types its answer, and ends with the child's status, or with 128 and the number of its signal."""
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
    sys.exit(status_of(status))


def status_of(status):
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
