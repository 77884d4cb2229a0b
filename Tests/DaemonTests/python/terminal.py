"""Runs a program on a terminal of its own, and prints what the terminal shows.

Arguments: a JSON list of steps, each [text to wait for, text to type], then the program and its arguments. Ends with the
program's status, or with 128 and the number of the signal that ended it. The terminal has no width, or that of the variable
TERMINAL_COLUMNS.
"""

import fcntl
import json
import os
import pty
import signal
import struct
import sys
import termios

steps = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    # A shell starts what it runs in the background with SIGINT ignored, and that is inherited.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    columns = int(os.environ.get("TERMINAL_COLUMNS", "0"))
    if columns:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
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
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
