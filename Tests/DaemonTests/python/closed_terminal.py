"""Starts a program on a terminal of its own, closes the terminal once the program listens, and ends with the program's status."""

import os
import pty
import sys

child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
while b"listening on" not in text:
    text += os.read(terminal, 4096)
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
