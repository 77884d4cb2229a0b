"""Run a command as a user who has a systemd user manager: user_manager.py UID HOME RUNTIME_DIR COMMAND…

Needs root, and a control group hierarchy in which groups can be made. The manager ends with the command, whose exit status is this
program's; 77 if there can be no manager here.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys

MANAGER = "/lib/systemd/systemd"
user, home, runtime = int(sys.argv[1]), sys.argv[2], sys.argv[3]
groups = []


def give_up(reason):
    print(f"no user manager: {reason}", file=sys.stderr)
    sys.exit(77)


def make_groups():
    """Make a control group of the user's in each hierarchy that systemd uses."""
    for root in ["/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"]:
        if not os.path.exists(f"{root}/cgroup.procs"):
            continue
        group = f"{root}/sso-agent-test-{os.getpid()}"
        os.mkdir(group)
        groups.append(group)
        for path in [group] + [f"{group}/{name}" for name in os.listdir(group)]:
            os.chown(path, user, user)


def become_user():
    for group in groups:
        with open(f"{group}/cgroup.procs", "w") as procs:
            procs.write(str(os.getpid()))
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


if os.geteuid() != 0 or not os.path.exists(MANAGER):
    give_up("it takes root and systemd")
library = ctypes.CDLL(None, use_errno=True)
# Mounts of its own, in which the system seems to have been started by systemd: the manager wants that.
NEW_MOUNTS, PRIVATE = 0x20000, 1 << 18 | 1 << 14
if library.unshare(NEW_MOUNTS) or library.mount(None, b"/", None, PRIVATE, None):
    give_up("no mounts of its own")
os.makedirs("/run/systemd", exist_ok=True)
if library.mount(b"tmpfs", b"/run/systemd", b"tmpfs", 0, None):
    give_up("cannot mount")
os.mkdir("/run/systemd/system")
try:
    make_groups()
except OSError as error:
    give_up(error)

environment = dict(os.environ, HOME=home, XDG_RUNTIME_DIR=runtime, NOTIFY_SOCKET=f"{runtime}/notify")
notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notices.bind(environment["NOTIFY_SOCKET"])
os.chown(environment["NOTIFY_SOCKET"], user, user)
notices.settimeout(300)
manager = subprocess.Popen([MANAGER, "--user"], env=environment, preexec_fn=become_user)
del environment["NOTIFY_SOCKET"]
try:
    while b"READY=1" not in notices.recv(4096).split(b"\n"):
        pass
    status = subprocess.run(sys.argv[4:], env=environment, preexec_fn=become_user).returncode
finally:
    manager.send_signal(signal.SIGTERM)
    try:
        manager.wait(300)
    except subprocess.TimeoutExpired:
        manager.kill()
        raise
    for group in groups:
        subprocess.run(["find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"], stderr=subprocess.DEVNULL)
sys.exit(status)
