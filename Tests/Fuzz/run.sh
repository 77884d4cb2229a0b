#!/bin/sh
# Fuzzes with libFuzzer and AddressSanitizer: one target, or all of them in turn.
#
#     Tests/Fuzz/run.sh TARGET|all [seconds for each]
#
# | target | reads | properties |
# |---|---|---|
# | request, reply, frames | the wire, C and Swift together | WireProperties.swift |
# | json | JSON of any origin | JSONProperties.swift |
# | text | URLs, authorities, scopes, names and ID tokens | TextProperties.swift |
# | response | what identity providers answer: tokens and ID tokens, discovery documents, clouds, device codes, errors, forms | ResponseProperties.swift |
# | records | the form in which the store keeps records | RecordProperties.swift |
# | store-image | the store's files without SQLite: pages, the write-ahead log, envelopes, and the texts of keys | StoreImageProperties.swift |
# | adal-archive, adal-json, msal-json | whole imports, with what an export makes of them | FormatProperties.swift |
# | toml | the configuration, and changes of it | TOMLProperties.swift |
# | audit | the lines of the audit log and their chain | AuditProperties.swift |
# | peers | what a process, its sandbox or its service manager says about it | PeerTextProperties.swift |
#
# Cryptography is not fuzzed: its modules are replaced by those in CryptoStandIn.swift, which have the same interface.
#
# An input that fails is written to .build/fuzz/crash-…. Copy it to Tests/Fuzz/corpus/<target>, with a name that describes
# the defect; `swift test` replays it from then on. The fuzzer keeps its own corpus in .build/fuzz.
set -eu

seconds=${2:-60}
all="request reply frames json text response records store-image adal-archive adal-json msal-json toml audit peers"
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
out="$root/.build/fuzz"
swiftc=${SWIFT:-swift}c

case ${1:-all} in
    all) targets=$all ;;
    # An exact name: no blank, and among them.
    *[!a-z-]* | "") targets= ;;
    *) case " $all " in *" $1 "*) targets=$1 ;; *) targets= ;; esac ;;
esac
[ -n "$targets" ] || { sed -n 's/^#     /usage: /p' "$0" >&2; echo "targets: $all" >&2; exit 64; }

mkdir -p "$out/modules"

# Not every toolchain has libFuzzer: Apple's does not.
echo '@_cdecl("LLVMFuzzerTestOneInput") public func one(_ p: UnsafePointer<UInt8>?, _ n: Int) -> Int32 { 0 }' \
    > "$out/probe.swift"
if ! $swiftc -sanitize=fuzzer -parse-as-library "$out/probe.swift" -o "$out/probe" 2> "$out/probe.log"; then
    echo "$0: this Swift toolchain cannot build libFuzzer programs; use one from swift.org on Linux." >&2
    sed 's/^/    /' "$out/probe.log" >&2
    exit 69
fi

flags="-swift-version 6 -package-name sso_agent -O -g -parse-as-library -sanitize=fuzzer,address -I $out/modules
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
    -Xcc -I$root/Sources/CTokenProtos/include -Xcc -fmodule-map-file=$out/modules/CTokenProtos.modulemap
    -Xcc -fmodule-map-file=$root/Sources/CProtobufC/module.modulemap
    -Xcc -fmodule-map-file=$out/modules/CAgentSystem.modulemap -Xcc -fmodule-map-file=$out/modules/CCurl.modulemap"

objects=
compile_c() { # compile_c MODULE HEADER…
    module=$1
    shift
    {
        echo "module $module {"
        for header in "$@"; do echo "    header \"$root/Sources/$module/include/$header\""; done
        echo "    export *"
        echo "}"
    } > "$out/modules/$module.modulemap"
    for source in "$root/Sources/$module/"*.c; do
        object="$module-$(basename "$source" .c).o"
        clang -O1 -g -fsanitize=fuzzer-no-link,address -I"$root/Sources/$module/include" -c "$source" -o "$out/$object"
        objects="$objects $object"
    done
}

compile_c CTokenProtos agent.pb-c.h
compile_c CAgentSystem CAgentSystem.h CGenerationPage.h
compile_c CCurl CCurl.h

compile() { # compile MODULE SOURCE…
    module=$1
    shift
    # shellcheck disable=SC2086 # flags are a list
    $swiftc $flags -wmo -enable-testing -module-name "$module" -emit-module \
        -emit-module-path "$out/modules/$module.swiftmodule" -c "$@" -o "$out/$module.o"
    objects="$objects $module.o"
}

# shellcheck disable=SC2046 # the paths below the sources have no spaces
{
    compile TokenModel $(find "$root/Sources/TokenModel" -name '*.swift')
    compile TokenWire $(find "$root/Sources/TokenWire" -name '*.swift')
    compile PosixFiles $(find "$root/Sources/PosixFiles" -name '*.swift')
    compile Crypto "$root/Tests/Fuzz/CryptoStandIn.swift"
    compile CryptoExtras "$root/Tests/Fuzz/CryptoExtrasStandIn.swift"
    # The rest of the store needs SQLite.
    compile TokenStore "$root/Tests/Fuzz/StoreDatabaseStandIn.swift" "$root/Sources/TokenStore/StoredRecord.swift" \
        $(find "$root/Sources/TokenStore/Sealing" "$root/Sources/TokenStore/Files" "$root/Sources/TokenStore/Keys" -name '*.swift')
    compile TokenCache $(find "$root/Sources/TokenCache" -name '*.swift')
    compile CacheFormats $(find "$root/Sources/CacheFormats" -name '*.swift')
    compile Curl $(find "$root/Sources/Curl" -name '*.swift')
    # The rest of the loopback redirect needs SwiftNIO.
    compile TokenEndpoint "$root/Sources/TokenEndpoint/Loopback/Authorization.swift" \
        $(find "$root/Sources/TokenEndpoint" -name '*.swift' ! -path '*/Loopback/*')
    compile AccessPolicy $(find "$root/Sources/AccessPolicy" -name '*.swift')
    compile AgentSocket $(find "$root/Sources/AgentSocket" -name '*.swift')
    compile AgentConfiguration $(find "$root/Sources/AgentConfiguration" -name '*.swift')
    compile AuditLog $(find "$root/Sources/AuditLog" -name '*.swift')
    compile TokenAgent "$root/Sources/TokenAgent/Peers/ProcessDescriptions.swift"
}

cd "$out"
# The report is libFuzzer's: Swift's own backtracer would wait for a process that AddressSanitizer has stopped.
export SWIFT_BACKTRACE=enable=no
for target in $targets; do
    define=FUZZ_$(echo "$target" | tr 'a-z-' 'A-Z_')
    # shellcheck disable=SC2086
    $swiftc $flags -D "$define" -module-name Fuzz "$root/Tests/Fuzz/Harness.swift" \
        "$root/Tests/TokenWireTests/AnyMessages.swift" "$root/Tests/TokenWireTests/WireProperties.swift" \
        "$root/Tests/TokenWireTests/WireSamples.swift" "$root/Tests/TokenModelTests/JSONProperties.swift" \
        "$root/Tests/TokenModelTests/TextProperties.swift" \
        "$root/Tests/TokenCacheTests/RecordProperties.swift" "$root/Tests/CacheFormatsTests/FormatProperties.swift" \
        "$root/Tests/TokenEndpointTests/ResponseProperties.swift" "$root/Tests/TokenStoreTests/Damage/StoreImageProperties.swift" \
        "$root/Tests/AgentConfigurationTests/TOMLProperties.swift" "$root/Tests/AuditLogTests/AuditProperties.swift" \
        "$root/Tests/TokenAgentTests/Peers/PeerTextProperties.swift" $objects -lprotobuf-c -ldl -o "fuzz-$target" \
        2> link.log || { cat link.log >&2; exit 1; }
    mkdir -p "learnt/$target"
    # What other libraries wrote is a start as well, and the names that they use are worth trying.
    set -- "learnt/$target" "$root/Tests/Fuzz/corpus/$target"
    [ ! -d "$root/Tests/CacheFormatsTests/Fixtures/$target" ] || set -- "$@" "$root/Tests/CacheFormatsTests/Fixtures/$target"
    [ ! -e "$root/Tests/Fuzz/$target.dict" ] || set -- "-dict=$root/Tests/Fuzz/$target.dict" "$@"
    "./fuzz-$target" -max_total_time="$seconds" -max_len=70000 -rss_limit_mb=1024 -timeout=5 "$@"
done
