#!/bin/sh
# Fails when Sources/CTokenProtos is not what generate.sh makes of agent.proto.
# With --if-possible, a machine without the right protoc-c is told so and passes.
set -eu
CDPATH= cd -- "$(dirname -- "$0")"
wanted='protobuf-c 1.4.1'
found=$(protoc-c --version 2>/dev/null | head -n 1)
if [ "$found" != "$wanted" ]; then
    echo "Protos/check.sh needs protoc-c of $wanted (found: ${found:-none}); other versions write other code." >&2
    [ "${1:-}" = --if-possible ] && exit 0
    exit 1
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
trap 'exit 130' HUP INT TERM
./generate.sh "$fresh"
diff -ru ../Sources/CTokenProtos "$fresh"
echo "Sources/CTokenProtos is what $wanted makes of agent.proto."
