#!/bin/sh
# Fuzzes one target with libFuzzer and AddressSanitizer:
#
#     Tests/Fuzz/run.sh request|reply|frames|json|archive [seconds]
#
# An input that fails is written to .build/fuzz/crash-…; copy it to Tests/Fuzz/corpus/<target>, with a name that says
# what was wrong, and `swift test` replays it for ever. What the fuzzer learns stays in .build/fuzz.
set -eu

target=${1:-request}
seconds=${2:-60}
root=$(cd "$(dirname "$0")/../.." && pwd)
out="$root/.build/fuzz"

case $target in
    request) define=FUZZ_REQUEST ;;
    reply) define=FUZZ_REPLY ;;
    frames) define=FUZZ_FRAMES ;;
    json) define=FUZZ_JSON ;;
    archive) define=FUZZ_ARCHIVE ;;
    *) echo "usage: $0 request|reply|frames|json|archive [seconds]" >&2; exit 64 ;;
esac

mkdir -p "$out/modules" "$out/learnt/$target"

# Not every toolchain carries libFuzzer: Apple's does not.
echo '@_cdecl("LLVMFuzzerTestOneInput") public func one(_ p: UnsafePointer<UInt8>?, _ n: Int) -> Int32 { 0 }' \
    > "$out/probe.swift"
if ! swiftc -sanitize=fuzzer -parse-as-library "$out/probe.swift" -o "$out/probe" 2> "$out/probe.log"; then
    echo "$0: this Swift toolchain cannot build libFuzzer programs; use one from swift.org on Linux." >&2
    sed 's/^/    /' "$out/probe.log" >&2
    exit 69
fi

flags="-swift-version 6 -package-name sso_agent -O -g -parse-as-library -sanitize=fuzzer,address -I $out/modules
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
    -Xcc -I$root/Sources/CTokenProtos/include -Xcc -fmodule-map-file=$out/modules/CTokenProtos.modulemap
    -Xcc -fmodule-map-file=$root/Sources/CProtobufC/module.modulemap"

echo "module CTokenProtos { header \"$root/Sources/CTokenProtos/include/agent.pb-c.h\" export * }" \
    > "$out/modules/CTokenProtos.modulemap"
clang -O1 -g -fsanitize=fuzzer-no-link,address -I"$root/Sources/CTokenProtos/include" \
    -c "$root/Sources/CTokenProtos/agent.pb-c.c" -o "$out/agent.pb-c.o"
for module in TokenModel TokenWire; do
    # shellcheck disable=SC2046,SC2086 # lists, and paths of ours
    swiftc $flags -wmo -module-name $module -emit-module -emit-module-path "$out/modules/$module.swiftmodule" \
        -c $(find "$root/Sources/$module" -name '*.swift') -o "$out/$module.o"
done
# The readers of other libraries' caches stand on TokenModel alone, and are compiled without the rest of TokenCache.
formats="$root/Sources/TokenCache/Formats"
readers="$formats/JSONTree.swift $formats/JSONReader.swift $formats/BinaryPropertyList.swift
    $formats/KeyedArchive.swift $formats/ADALEntry.swift $formats/ADALArchive.swift
    $formats/HomeAccountID+ClientInfo.swift $root/Tests/TokenCacheTests/FormatProperties.swift"
# shellcheck disable=SC2086
swiftc $flags -D $define -module-name Fuzz "$root/Tests/Fuzz/Harness.swift" \
    "$root/Tests/TokenWireTests/WireProperties.swift" $readers "$out"/*.o -lprotobuf-c -o "$out/fuzz-$target"

cd "$out"
# The report is libFuzzer's: Swift's own backtracer would wait for a process that AddressSanitizer has stopped.
export SWIFT_BACKTRACE=enable=no
exec "./fuzz-$target" -max_total_time="$seconds" -max_len=70000 -rss_limit_mb=1024 -timeout=5 \
    "learnt/$target" "$root/Tests/Fuzz/corpus/$target"
