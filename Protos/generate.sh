#!/bin/sh
# Writes Sources/CTokenProtos from agent.proto. The output is checked in, so that a build needs no protoc-c.
set -eu
CDPATH= cd -- "$(dirname -- "$0")"
out=${1:-../Sources/CTokenProtos}
mkdir -p "$out/include"
protoc-c --c_out="$out" agent.proto
mv "$out/agent.pb-c.h" "$out/include/agent.pb-c.h"
