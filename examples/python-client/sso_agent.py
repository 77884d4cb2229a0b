"""A client of sso-agent, with the messages that protoc generates from Protos/agent.proto.

docs/clients.md explains each part. `agent_pb2` is generated: protoc --python_out=. -I ../../Protos agent.proto
"""

import os
import socket
import stat
import struct
import threading

from google.protobuf.message import DecodeError

import agent_pb2

REPLY_LIMIT = 1_048_576  # bytes of a reply, from PROTOCOL.md
TIME_LIMIT = 90  # seconds for a request that waits for nobody
INTERNAL_ERROR = -51100
INTERACTION_REQUIRED = -51115
MALFORMED_MESSAGE = -53001
AGENT_UNAVAILABLE = -53004
PEER_NOT_AUTHORIZED = -53005
TIMED_OUT = -53006


class AgentError(Exception):
    """A failure of the agent; `code` is stable, the message is for people."""

    def __init__(self, code, message, failure=None):
        super().__init__(message)
        self.code = code
        self.failure = failure or agent_pb2.Failure()

    @property
    def needs_sign_in(self):
        return self.code == INTERACTION_REQUIRED


def socket_path():
    """The path at which the agent listens, as in the section “Connecting” of PROTOCOL.md."""
    given = os.environ.get("SSO_AGENT_SOCK", "").strip()
    if given:
        return given
    runtime, user = os.environ.get("XDG_RUNTIME_DIR", ""), os.geteuid()
    if os.path.isabs(runtime):
        return f"{runtime}/sso-agent/agent.sock"
    if os.path.isdir(runtime := f"/run/user/{user}"):
        status = os.lstat(runtime)
        if status.st_uid == user and stat.S_IMODE(status.st_mode) == 0o700:
            return f"{runtime}/sso-agent/agent.sock"
    if not os.path.isabs(home := os.environ.get("XDG_STATE_HOME", "")):
        home = os.path.expanduser("~/.local/state")
    return f"{os.environ.get('SSO_AGENT_STATE_DIR') or f'{home}/sso-agent'}/run/agent.sock"


class Agent:
    """A connection to the agent. Use it from one thread at a time, or rely on the lock: each call is a request and its reply."""

    def __init__(self, app_name):
        self._lock = threading.Lock()
        self._number = 0
        path = socket_path()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except OSError as error:
            raise AgentError(AGENT_UNAVAILABLE, f"no agent is running at {path}: {error.strerror}") from error
        self._refuse_other_users(path)
        reply = self.call(hello=agent_pb2.Hello(protocol_version=1, app_name=app_name.encode()))
        self.requests = set(reply.hello.requests)

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def token(self, client_id, scopes, username=None, authority=None):
        """An access token without user interaction; AgentError with `needs_sign_in` if there is none."""
        request = agent_pb2.AcquireTokenSilent(parameters=self._parameters(client_id, scopes, authority))
        if username:
            request.account.username = username.encode()
        return self.call(acquire_token_silent=request).acquire_token_silent

    def sign_in(self, client_id, scopes, show_code, authority=None):
        """Signs in with a code for the browser of another device; `show_code` gets the page and the code."""
        parameters = self._parameters(client_id, scopes, authority)
        begun = self.call(begin_device_code=agent_pb2.BeginDeviceCode(parameters=parameters)).begin_device_code
        show_code(begun.verification_url.decode(), begun.user_code.decode())
        waiting = agent_pb2.CompleteDeviceCode(session_id=begun.session_id)
        return self.call(time_limit=None, complete_device_code=waiting).complete_device_code

    def accounts(self, client_id):
        """The accounts of the app, page by page: a reply has at most 256."""
        page, accounts = agent_pb2.ListAccounts(client_id=client_id.encode()), []
        while True:
            reply = self.call(list_accounts=page).list_accounts
            accounts += reply.accounts
            if not reply.HasField("next"):
                return accounts
            page.after = reply.next

    def call(self, time_limit=TIME_LIMIT, **body):
        """Sends one request and returns its reply. `time_limit` is in seconds; None waits for as long as it takes."""
        with self._lock:
            self._number += 1
            request = agent_pb2.Request(request_id=self._number, **body).SerializeToString()
            try:
                self._socket.settimeout(time_limit)
                self._socket.sendall(struct.pack(">I", len(request)) + request)
                (length,) = struct.unpack(">I", self._receive(4))
                if not 0 < length <= REPLY_LIMIT:  # before memory is allocated for it
                    raise AgentError(-53002, f"the agent sent a frame of {length} bytes")
                reply = agent_pb2.Reply.FromString(self._receive(length))
            except socket.timeout as error:
                self.close()  # a late reply would be taken for that of the next request
                raise AgentError(TIMED_OUT, f"the agent has not replied within {time_limit} seconds") from error
            except OSError as error:
                raise AgentError(AGENT_UNAVAILABLE, f"the connection to the agent has failed: {error.strerror}") from error
            except DecodeError as error:
                raise AgentError(MALFORMED_MESSAGE, "the agent has sent something else than a reply") from error
        kind = reply.WhichOneof("body")
        if kind == "failure":
            code = reply.failure.code if reply.failure.HasField("code") else INTERNAL_ERROR
            raise AgentError(code, reply.failure.message.decode(errors="replace"), reply.failure)
        if kind not in body:  # None is a kind that agent_pb2 does not know; its fields would all look empty
            raise AgentError(MALFORMED_MESSAGE, f"the reply does not fit the request ({kind}); update this app")
        return reply

    def _parameters(self, client_id, scopes, authority):
        parameters = agent_pb2.TokenParameters(client_id=client_id.encode(), scopes=[s.encode() for s in scopes])
        if authority:
            parameters.authority.url = authority.encode()
        return parameters

    def _receive(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise AgentError(AGENT_UNAVAILABLE, "the agent closed the connection")
            data += piece
        return bytes(data)

    def _refuse_other_users(self, path):
        """Tokens are asked for, and requests sent, only at a socket of this user, or of the one who is named."""
        credentials = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _, user, _ = struct.unpack("3i", credentials)
        owner = os.environ.get("SSO_AGENT_OWNER", "").strip() or str(os.geteuid())
        if not owner.isdecimal():
            raise AgentError(PEER_NOT_AUTHORIZED, f"SSO_AGENT_OWNER is “{owner}”, which is not the ID of a user")
        if user not in (int(owner), os.geteuid()):
            raise AgentError(PEER_NOT_AUTHORIZED, f"{path} belongs to an agent of user {user}, not yours")
