#!/bin/sh
# Fails when Sources/CTokenProtos is not what generate.sh makes of agent.proto.
set -eu
cd "$(dirname "$0")"
wanted='protobuf-c 1.4.1'
found=$(protoc-c --version | head -n 1)
if [ "$found" != "$wanted" ]; then
    echo "Protos/check.sh needs protoc-c of $wanted (found: ${found:-none}); other versions write other code." >&2
    exit 1
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
./generate.sh "$fresh"
diff -ru --exclude=module.modulemap ../Sources/CTokenProtos "$fresh"
echo "Sources/CTokenProtos is what $wanted makes of agent.proto."
