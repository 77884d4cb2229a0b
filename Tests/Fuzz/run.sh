#!/bin/sh
# Fuzzes with libFuzzer and AddressSanitizer: one target, or all of them in turn.
#
#     Tests/Fuzz/run.sh request|reply|frames|json|text|records|adal-archive|adal-json|msal-json|all [seconds for each]
#
# The first three are the wire's decoders, C and Swift together; `json` is the reader of JSON (JSONProperties.swift); `text` is
# everything else that reads a text: URLs, authorities, scopes, names and ID tokens (TextProperties.swift); `records` is the form in
# which the store keeps records (RecordProperties.swift); the last three are whole imports, with what an export makes of them
# (FormatProperties.swift).
#
# An input that fails is written to .build/fuzz/crash-…. Copy it to Tests/Fuzz/corpus/<target>, with a name that describes
# the defect; `swift test` replays it from then on. The fuzzer keeps its own corpus in .build/fuzz.
set -eu

seconds=${2:-60}
root=$(cd "$(dirname "$0")/../.." && pwd)
out="$root/.build/fuzz"

case ${1:-all} in
    request | reply | frames | json | text | records | adal-archive | adal-json | msal-json) targets=$1 ;;
    all) targets="request reply frames json text records adal-archive adal-json msal-json" ;;
    *) sed -n 's/^#     /usage: /p' "$0" >&2; exit 64 ;;
esac

mkdir -p "$out/modules"

# Not every toolchain has libFuzzer: Apple's does not.
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

compile() { # compile MODULE SOURCE…
    module=$1
    shift
    # shellcheck disable=SC2086 # flags are a list
    swiftc $flags -wmo -enable-testing -module-name "$module" -emit-module \
        -emit-module-path "$out/modules/$module.swiftmodule" -c "$@" -o "$out/$module.o"
}

# shellcheck disable=SC2046 # the paths below the sources have no spaces
{
    compile TokenModel $(find "$root/Sources/TokenModel" -name '*.swift')
    compile TokenWire $(find "$root/Sources/TokenWire" -name '*.swift')
    # The cache uses only the records of the store; the rest would need SQLite and cryptography.
    compile TokenStore "$root/Sources/TokenStore/StoredRecord.swift"
    # The hash function is not fuzzed either.
    compile Crypto "$root/Tests/Fuzz/CryptoStandIn.swift"
    compile TokenCache $(find "$root/Sources/TokenCache" -name '*.swift')
    compile CacheFormats $(find "$root/Sources/CacheFormats" -name '*.swift')
}

cd "$out"
# The report is libFuzzer's: Swift's own backtracer would wait for a process that AddressSanitizer has stopped.
export SWIFT_BACKTRACE=enable=no
for target in $targets; do
    define=FUZZ_$(echo "$target" | tr 'a-z-' 'A-Z_')
    # shellcheck disable=SC2086
    swiftc $flags -D "$define" -module-name Fuzz "$root/Tests/Fuzz/Harness.swift" \
        "$root/Tests/TokenWireTests/AnyMessages.swift" "$root/Tests/TokenWireTests/WireProperties.swift" \
        "$root/Tests/TokenWireTests/WireSamples.swift" "$root/Tests/TokenModelTests/JSONProperties.swift" \
        "$root/Tests/TokenModelTests/TextProperties.swift" \
        "$root/Tests/TokenCacheTests/RecordProperties.swift" "$root/Tests/CacheFormatsTests/FormatProperties.swift" \
        TokenModel.o TokenWire.o TokenStore.o Crypto.o TokenCache.o CacheFormats.o agent.pb-c.o -lprotobuf-c -o "fuzz-$target" \
        2> link.log || { cat link.log >&2; exit 1; }
    mkdir -p "learnt/$target"
    # What other libraries wrote is a start as well, and the names that they use are worth trying.
    set -- "learnt/$target" "$root/Tests/Fuzz/corpus/$target"
    [ ! -d "$root/Tests/CacheFormatsTests/Fixtures/$target" ] || set -- "$@" "$root/Tests/CacheFormatsTests/Fixtures/$target"
    [ ! -e "$root/Tests/Fuzz/$target.dict" ] || set -- "-dict=$root/Tests/Fuzz/$target.dict" "$@"
    "./fuzz-$target" -max_total_time="$seconds" -max_len=70000 -rss_limit_mb=1024 -timeout=5 "$@"
done
