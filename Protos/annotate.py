#!/usr/bin/env python3
"""Prints a frame as PROTOCOL.md shows it.

    Protos/annotate.py Request 0000001108015a0d…

The grammar beside this file names the fields. Standard library only.
"""
import pathlib
import re
import sys

GRAMMAR = (pathlib.Path(__file__).parent / "agent.proto").read_text()
SCALARS = {"uint64", "uint32", "int64", "sint32", "bool", "bytes"}
COLUMN = 58


def blocks(kind):
    for name, body in re.findall(rf"^{kind} (\w+) \{{\n(.*?)^\}}", GRAMMAR, re.S | re.M):
        yield name, body


MESSAGES = {
    name: {
        int(number): (type_, field)
        for type_, field, number in re.findall(r"^\s+(?:optional |repeated )?(\w+) (\w+) = (\d+);", body, re.M)
    }
    for name, body in blocks("message")
}
ENUMS = {
    name: {int(number): case for case, number in re.findall(r"^\s+(\w+) = (\d+);", body, re.M)}
    for name, body in blocks("enum")
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def text(type_, value):
    if type_ == "sint32":
        return str((value >> 1) ^ -(value & 1))
    if type_ == "bool":
        return "true" if value else "false"
    if type_ in ENUMS:
        return ENUMS[type_].get(value, str(value))
    return str(value)


def line(depth, data, comment):
    indent = "  " * depth
    for start in range(0, max(len(data), 1), 16):
        row = indent + data[start : start + 16].hex(" ")
        print(f"{row:<{COLUMN}}# {indent}{comment}" if start == 0 else row)


def show(message, data, depth):
    fields, at, pending = MESSAGES[message], 0, None
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        type_, name = fields[tag >> 3]
        label = f"{name} ({tag >> 3})"
        if tag & 7 == 0:
            value, at = varint(data, at)
            if pending and pending[1] == label:
                pending = (pending[0] + data[start:at], label, f"{pending[2]}, {text(type_, value)}")
            else:
                flush(depth, pending)
                pending = (data[start:at], label, text(type_, value))
            continue
        flush(depth, pending)
        pending = None
        length, at = varint(data, at)
        body = data[at : at + length]
        if type_ in SCALARS:
            line(depth, data[start : at + length], f'{label} = "{body.decode()}"')
        else:
            line(depth, data[start:at], f"{label}: {type_}, {length} bytes")
            show(type_, body, depth + 1)
        at += length
    flush(depth, pending)


def flush(depth, pending):
    if pending:
        line(depth, pending[0], f"{pending[1]} = {pending[2]}")


def main():
    message, frame = sys.argv[1], bytes.fromhex(sys.argv[2])
    line(0, frame[:4], f"frame of {int.from_bytes(frame[:4], 'big')} bytes")
    show(message, frame[4:], 0)


main()
