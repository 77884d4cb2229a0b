#!/usr/bin/env python3
"""Get a token from sso-agent with nothing but a socket.

Written from Protos/PROTOCOL.md and Protos/agent.proto alone: no client library and no protobuf library. Prints the
access token, or the error on standard error with exit status 1 (2 if the user has to sign in first).
"""

import argparse
import os
import socket
import stat
import struct
import sys

ACQUIRE_TOKEN_SILENT = 11  # Request.acquire_token_silent, and its reply
FAILURE = 2  # Reply.failure
INTERACTION_REQUIRED = -51115
REPLY_LIMIT = 1_048_576  # bytes of a reply
TIME_LIMIT = 90  # seconds for each step; a silent request waits for no person


def varint(number):
    """Encode a number as a base-128 varint."""
    encoded = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        encoded.append(low | (0x80 if number else 0))
        if not number:
            return bytes(encoded)


def field(number, value):
    """Encode a field: length-delimited (bytes, text or a message), or a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def fields(message):
    """Decode the fields of a message by number; of a repeated field, the last one."""
    found, at = {}, 0
    while at < len(message):
        tag, at = read_varint(message, at)
        if tag & 7 == 0:
            found[tag >> 3], at = read_varint(message, at)
        elif tag & 7 == 2:
            length, at = read_varint(message, at)
            found[tag >> 3], at = message[at : at + length], at + length
        elif tag & 7 in (1, 5):  # 8 or 4 bytes: a field of a later version
            at += 8 if tag & 7 == 1 else 4
        else:
            raise ValueError(f"wire type {tag & 7} does not occur in this protocol")
    return found


def socket_path():
    if path := os.environ.get("SSO_AGENT_SOCK", "").strip():
        return path
    runtime, user = os.environ.get("XDG_RUNTIME_DIR", ""), os.geteuid()
    if os.path.isabs(runtime):
        return f"{runtime}/sso-agent/agent.sock"
    if os.path.isdir(runtime := f"/run/user/{user}"):
        status = os.lstat(runtime)
        if status.st_uid == user and stat.S_IMODE(status.st_mode) == 0o700:
            return f"{runtime}/sso-agent/agent.sock"
    if not os.path.isabs(state := os.environ.get("XDG_STATE_HOME", "")):
        state = os.path.expanduser("~/.local/state")
    return f"{os.environ.get('SSO_AGENT_STATE_DIR') or f'{state}/sso-agent'}/run/agent.sock"


def receive(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise ConnectionError("the agent closed the connection")
        data += piece
    return data


def refuse_other_users(connection):
    """Raise an error unless an agent of this user listens, or of the user whom SSO_AGENT_OWNER names. Linux only."""
    owner = os.environ.get("SSO_AGENT_OWNER", "").strip() or str(os.geteuid())
    if not owner.isdecimal():
        raise PermissionError("SSO_AGENT_OWNER is not the ID of a user")
    if not hasattr(socket, "SO_PEERCRED"):
        return
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user = struct.unpack("3i", credentials)[1]
    if user not in (int(owner), os.geteuid()):
        raise PermissionError(f"it belongs to user {user}")


def call(request):
    """Send one Request and return its Reply."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(TIME_LIMIT)
        connection.connect(socket_path())
        refuse_other_users(connection)
        connection.sendall(struct.pack(">I", len(request)) + request)
        (length,) = struct.unpack(">I", receive(connection, 4))
        if not 0 < length <= REPLY_LIMIT:
            raise ConnectionError(f"it sent a frame of {length} bytes")
        return receive(connection, length)


def outcome(reply):
    """Decode a Reply: the token, or the code and the message of a failure."""
    reply = fields(reply)
    if FAILURE in reply:
        failure = fields(reply[FAILURE])
        return None, failure[1] >> 1 ^ -(failure[1] & 1), failure[2].decode()  # sint32 is zigzag-encoded
    return fields(reply[ACQUIRE_TOKEN_SILENT])[1].decode(), None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--client-id", required=True)
    parser.add_argument("--username", required=True)
    parser.add_argument("--scope", action="append", required=True)
    parser.add_argument("--authority", default="https://login.microsoftonline.com/common")
    options = parser.parse_args()

    parameters = field(1, options.client_id) + field(3, field(1, options.authority))
    parameters += b"".join(field(5, scope) for scope in options.scope)
    acquire = field(1, parameters) + field(2, field(2, options.username))
    try:
        reply = call(field(1, 1) + field(ACQUIRE_TOKEN_SILENT, acquire))
    except OSError as error:
        sys.exit(f"no agent at {socket_path()}: {error}")

    try:
        token, code, message = outcome(reply)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        sys.exit(f"what listens at {socket_path()} has sent something else than a reply")
    if token is None:
        print(f"{code}: {message}", file=sys.stderr)
        sys.exit(2 if code == INTERACTION_REQUIRED else 1)
    print(token)


if __name__ == "__main__":
    main()
