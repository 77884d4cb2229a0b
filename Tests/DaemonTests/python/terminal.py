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

import terminal_steps

steps = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    # A shell starts what it runs in the background with SIGINT ignored, and that is inherited.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    columns = int(os.environ.get("TERMINAL_COLUMNS", "0"))
    if columns:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
terminal_steps.play(steps, child, terminal)
