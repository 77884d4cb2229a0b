"""Stops ssoctl at its passphrase prompt, as Ctrl-C does; exits with 0 when the terminal shows again what is typed."""

import os
import pty
import signal
import subprocess
import sys
import termios


def shows_typing(terminal):
    return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)


# A shell starts what it runs in the background with SIGINT ignored, and that is inherited.
signal.signal(signal.SIGINT, signal.SIG_DFL)
controller, terminal = pty.openpty()
process = subprocess.Popen([sys.argv[1], "key", "set", "passphrase"], stdin=terminal, stderr=subprocess.PIPE)
prompt = process.stderr.read(len("New passphrase: "))
assert prompt == b"New passphrase: ", prompt
assert not shows_typing(terminal), "the passphrase would show"
process.send_signal(signal.SIGINT)
status = process.wait()
assert status == -signal.SIGINT, status
assert shows_typing(terminal), "the terminal is left without echo"
