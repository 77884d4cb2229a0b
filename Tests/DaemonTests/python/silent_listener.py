"""Listens on a Unix socket, as a service manager does, and answers nothing: silent_listener.py PATH."""

import socket
import sys

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("ready", flush=True)
while True:
    listener.accept()
