#!/usr/bin/env python3
"""Starts a program that does the same job, with one cached token, or keys, and serves until it is terminated.

    peers.py oidc-agent|msal-python|ssh-agent SOCKET REPLY-BYTES

Writes "listening on SOCKET" on standard error when it can be asked; a line that says why, and status 69, if the program is not installed.
oidc-agent and ssh-agent answer at SOCKET themselves. MSAL Python runs in this process, without a round trip: SOCKET takes the number of
calls as a line, and returns the duration of each in nanoseconds, eight bytes each in the machine's order.
"""

import array
import atexit
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

TENANT = "72f988bf-86f1-41af-91ab-2d7cd011db47"
SCOPES = "openid profile offline_access"


def listening(path):
    print(f"listening on {path}", file=sys.stderr, flush=True)


def unavailable(reason):
    print(reason, file=sys.stderr, flush=True)
    sys.exit(69)


def start(command, **options):
    """Starts a program, which ends with this one."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **options)
    atexit.register(process.kill)
    return process


def wait_for(path, process):
    """Returns when the program listens at the path."""
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(path)
            return
        except OSError:
            if process.poll() is not None:
                unavailable(f"{process.args[0]} ends with status {process.returncode}")
            time.sleep(0.01)


def ask(path, request):
    """One request of a connection of its own, as oidc-agent has them; returns the whole reply."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(path)
        peer.sendall(json.dumps(request).encode())
        return b"".join(iter(lambda: peer.recv(65536), b""))


class Provider(http.server.BaseHTTPRequestHandler):
    """An OpenID provider with one answer to every token request."""

    token_bytes = 0

    def do_GET(self):
        issuer = f"http://{self.headers['Host']}/"
        self.answer({
            "issuer": issuer, "token_endpoint": issuer + "token", "authorization_endpoint": issuer + "authorize",
            "scopes_supported": SCOPES.split(), "grant_types_supported": ["refresh_token"]})

    def do_POST(self):
        self.answer({"access_token": "a" * self.token_bytes, "token_type": "Bearer", "expires_in": 86400, "scope": SCOPES})

    def answer(self, values):
        body = json.dumps(values).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def oidc_agent(path, reply_bytes):
    if not shutil.which("oidc-agent"):
        unavailable("oidc-agent is not installed")
    folder = os.path.dirname(path)
    environment = dict(os.environ, HOME=folder, OIDC_CONFIG_DIR=folder, TMPDIR=folder)
    process = start(["oidc-agent", "-d", "-a", path, "--no-autoload"], env=environment, stderr=subprocess.DEVNULL)
    wait_for(path, process)
    Provider.token_bytes = reply_bytes - 100  # what is around the token in its reply
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider) as provider:
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        account = {
            "name": "bench", "issuer_url": f"http://127.0.0.1:{provider.server_port}/", "client_id": "bench", "client_secret": "none",
            "scope": SCOPES, "refresh_token": "r" * 1200}
        reply = json.loads(ask(path, {"request": "add", "config": json.dumps(account)}))
        provider.shutdown()
    if reply.get("status") != "success":
        unavailable(f"oidc-agent does not load the account: {reply}")
    listening(path)
    process.wait()


def ssh_agent(path, reply_bytes):
    if not shutil.which("ssh-agent") or not shutil.which("ssh-keygen"):
        unavailable("ssh-agent is not installed")
    process = start(["ssh-agent", "-D", "-a", path])
    wait_for(path, process)
    keys = max(1, round(reply_bytes / 1068))
    comment = "c" * (reply_bytes // keys - 68)  # 68 bytes are around each comment in the list
    for number in range(keys):
        key = f"{path}.{number}"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", key], check=True)
        subprocess.run(["ssh-add", "-q", key], env=dict(os.environ, SSH_AUTH_SOCK=path), check=True)
    listening(path)
    process.wait()


class CannedHTTP:
    """What MSAL asks over HTTP: Entra's OpenID configuration, and one token response."""

    def __init__(self, token_bytes):
        self.token_bytes = token_bytes

    def get(self, url, **_):
        authority = f"https://login.microsoftonline.com/{TENANT}"
        return CannedResponse({
            "issuer": f"{authority}/v2.0", "authorization_endpoint": f"{authority}/oauth2/v2.0/authorize",
            "token_endpoint": f"{authority}/oauth2/v2.0/token"})

    def post(self, url, **_):
        return CannedResponse({
            "access_token": "a" * self.token_bytes, "refresh_token": "r" * 1200, "token_type": "Bearer", "expires_in": 86400,
            "scope": "User.Read", "client_info": CLIENT_INFO})

    def close(self):
        pass


class CannedResponse:
    status_code = 200
    headers = {}

    def __init__(self, values):
        self.text = json.dumps(values)

    def raise_for_status(self):
        pass


# {"uid":"1","utid":"2"}
CLIENT_INFO = "eyJ1aWQiOiIxIiwidXRpZCI6IjIifQ"


def msal_python(path, reply_bytes):
    try:
        import msal
    except ImportError:
        unavailable("MSAL Python is not installed")
    app = msal.PublicClientApplication(
        "4a1aa1d5-c567-49d0-ad0b-cd957a47f842", authority=f"https://login.microsoftonline.com/{TENANT}", instance_discovery=False,
        http_client=CannedHTTP(reply_bytes))
    app.acquire_token_by_refresh_token("r", ["User.Read"])
    account = app.get_accounts()[0]

    def call():
        start = time.perf_counter_ns()
        result = app.acquire_token_silent(["User.Read"], account)
        duration = time.perf_counter_ns() - start
        if result.get("token_source") != "cache":
            sys.exit("MSAL Python does not answer from its cache")
        return duration

    call()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        listening(path)
        while True:
            peer, _ = listener.accept()
            with peer, peer.makefile("rb") as lines:
                for line in lines:
                    peer.sendall(array.array("Q", [call() for _ in range(int(line))]).tobytes())


PEERS = {"oidc-agent": oidc_agent, "msal-python": msal_python, "ssh-agent": ssh_agent}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in PEERS:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    PEERS[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
