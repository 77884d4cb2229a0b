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
script=$0
# Paths from here on are relative: the flags and the lists of files are words, and the path of the sources may have blanks.
CDPATH= cd -- "$(dirname -- "$0")/../.."
out=.build/fuzz
swiftc=${SWIFT:-swift}c

case ${1:-all} in
    all) targets=$all ;;
    # An exact name: no blank, and among them.
    *[!a-z-]* | "") targets= ;;
    *) case " $all " in *" $1 "*) targets=$1 ;; *) targets= ;; esac ;;
esac
[ -n "$targets" ] || { sed -n 's/^#     /usage: /p' Tests/Fuzz/run.sh >&2; echo "targets: $all" >&2; exit 64; }

mkdir -p "$out/modules"

# Not every toolchain has libFuzzer: Apple's does not.
echo '@_cdecl("LLVMFuzzerTestOneInput") public func one(_ p: UnsafePointer<UInt8>?, _ n: Int) -> Int32 { 0 }' \
    > "$out/probe.swift"
if ! $swiftc -sanitize=fuzzer -parse-as-library "$out/probe.swift" -o "$out/probe" 2> "$out/probe.log"; then
    echo "$script: this Swift toolchain cannot build libFuzzer programs; use one from swift.org on Linux." >&2
    sed 's/^/    /' "$out/probe.log" >&2
    exit 69
fi

flags="-swift-version 6 -package-name sso_agent -O -g -parse-as-library -sanitize=fuzzer,address -I $out/modules
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
    -Xcc -ISources/CTokenProtos/include -Xcc -fmodule-map-file=$out/modules/CTokenProtos.modulemap
    -Xcc -fmodule-map-file=Sources/CProtobufC/module.modulemap
    -Xcc -fmodule-map-file=$out/modules/CAgentSystem.modulemap -Xcc -fmodule-map-file=$out/modules/CCurl.modulemap"

objects=
compile_c() { # compile_c MODULE HEADER…
    module=$1
    shift
    {
        echo "module $module {"
        for header in "$@"; do echo "    header \"../../../Sources/$module/include/$header\""; done
        echo "    export *"
        echo "}"
    } > "$out/modules/$module.modulemap"
    for source in "Sources/$module/"*.c; do
        object="$module-$(basename "$source" .c).o"
        clang -O1 -g -fsanitize=fuzzer-no-link,address -I"Sources/$module/include" -c "$source" -o "$out/$object"
        objects="$objects $out/$object"
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
    objects="$objects $out/$module.o"
}

# shellcheck disable=SC2046 # the paths of sources are words
{
    compile TokenModel $(find "Sources/TokenModel" -name '*.swift')
    compile TokenWire $(find "Sources/TokenWire" -name '*.swift')
    compile PosixFiles $(find "Sources/PosixFiles" -name '*.swift')
    compile Crypto "Tests/Fuzz/CryptoStandIn.swift"
    compile CryptoExtras "Tests/Fuzz/CryptoExtrasStandIn.swift"
    # The rest of the store needs SQLite.
    compile TokenStore "Tests/Fuzz/StoreDatabaseStandIn.swift" "Sources/TokenStore/StoredRecord.swift" \
        $(find "Sources/TokenStore/Sealing" "Sources/TokenStore/Files" "Sources/TokenStore/Keys" -name '*.swift')
    compile TokenCache $(find "Sources/TokenCache" -name '*.swift')
    compile CacheFormats $(find "Sources/CacheFormats" -name '*.swift')
    compile Curl $(find "Sources/Curl" -name '*.swift')
    # The rest of the loopback redirect needs SwiftNIO.
    compile TokenEndpoint "Sources/TokenEndpoint/Loopback/Authorization.swift" \
        $(find "Sources/TokenEndpoint" -name '*.swift' ! -path '*/Loopback/*')
    compile AccessPolicy $(find "Sources/AccessPolicy" -name '*.swift')
    compile AgentSocket $(find "Sources/AgentSocket" -name '*.swift')
    compile AgentConfiguration $(find "Sources/AgentConfiguration" -name '*.swift')
    compile AuditLog $(find "Sources/AuditLog" -name '*.swift')
    compile TokenAgent "Sources/TokenAgent/Peers/ProcessDescriptions.swift"
}

# The report is libFuzzer's: Swift's own backtracer would wait for a process that AddressSanitizer has stopped.
export SWIFT_BACKTRACE=enable=no
for target in $targets; do
    define=FUZZ_$(echo "$target" | tr 'a-z-' 'A-Z_')
    # shellcheck disable=SC2086
    $swiftc $flags -D "$define" -module-name Fuzz "Tests/Fuzz/Harness.swift" \
        "Tests/TokenWireTests/AnyMessages.swift" "Tests/TokenWireTests/WireProperties.swift" \
        "Tests/TokenWireTests/WireSamples.swift" "Tests/TokenModelTests/JSONProperties.swift" \
        "Tests/TokenModelTests/TextProperties.swift" \
        "Tests/TokenCacheTests/RecordProperties.swift" "Tests/CacheFormatsTests/FormatProperties.swift" \
        "Tests/TokenEndpointTests/ResponseProperties.swift" "Tests/TokenStoreTests/Damage/StoreImageProperties.swift" \
        "Tests/AgentConfigurationTests/TOMLProperties.swift" "Tests/AuditLogTests/AuditProperties.swift" \
        "Tests/TokenAgentTests/Peers/PeerTextProperties.swift" $objects -lprotobuf-c -ldl -o "$out/fuzz-$target" \
        2> "$out/link.log" || { cat "$out/link.log" >&2; exit 1; }
    mkdir -p "$out/learnt/$target"
    # What other libraries wrote is a start as well, and the names that they use are worth trying.
    set -- "$out/learnt/$target" "Tests/Fuzz/corpus/$target"
    [ ! -d "Tests/CacheFormatsTests/Fixtures/$target" ] || set -- "$@" "Tests/CacheFormatsTests/Fixtures/$target"
    [ ! -e "Tests/Fuzz/$target.dict" ] || set -- "-dict=Tests/Fuzz/$target.dict" "$@"
    "$out/fuzz-$target" "-artifact_prefix=$out/" -max_total_time="$seconds" -max_len=70000 -rss_limit_mb=1024 -timeout=5 "$@"
done
