"""Run a program with a socket, as a service manager does: socket_launcher.py PATH MODE KIND COUNT PROGRAM…

KIND is `stream`, `bound` (a stream socket that does not listen) or `datagram`. COUNT is the number of sockets that the program is told
of. The program is started with the first connection, if the socket listens.
"""

import os
import select
import socket
import sys

path, mode, kind, count = sys.argv[1], int(sys.argv[2], 8), sys.argv[3], sys.argv[4]
os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM)
listener.bind(path)
os.chmod(path, mode)
if kind == "stream":
    listener.listen(64)
    print("listening", flush=True)
    select.select([listener], [], [])
if listener.fileno() != 3:
    os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=count, LISTEN_FDNAMES="agent.sock")
os.execv(sys.argv[5], sys.argv[5:])
