#!/bin/sh
# Builds the suite with a sanitizer, in a folder of its own, and runs it.
#
#     Tests/Sanitizers/run.sh address|thread
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cd "$here/../.."
case ${1:-} in
    address | thread) ;;
    *) sed -n 's/^#     /usage: /p' "$0" >&2; exit 64 ;;
esac
out="$PWD/.build/sanitize-$1"
swift=${SWIFT:-swift}

$swift build --build-tests --sanitize="$1" --scratch-path "$out"
if [ "$1" = thread ] && [ "$(uname)" = Linux ]; then
    # The sanitizer does not see contended locks of Swift's Mutex by itself. LD_PRELOAD is a list of words: it takes no path with a blank.
    folder=$(mktemp -d /tmp/sso-sanitize.XXXXXX)
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' HUP INT TERM
    # Tests run programs as another user.
    chmod 755 "$folder"
    clang -std=c11 -O1 -fPIC -shared "$here/mutex.c" -o "$folder/mutex.so" -ldl
    export LD_PRELOAD="$folder/mutex.so"
    # The units of the first have a /tmp of their own, without the library; the sanitizer itself needs files for the second.
    skipped='--skip UserManagerTests --skip reportsThatFilesMayNotBeWritten'
fi
if [ "$1" = address ]; then
    # The search for leaks itself needs /proc in the first and a thread in the second.
    skipped='--skip doesNothingIfItsArgumentsCannotBeRead --skip endsACommandThatHasNoRoomForItsThreads'
fi
# Suppressions that are used are not printed: tests compare what programs write.
export LSAN_OPTIONS="suppressions='$here/leaks.txt':print_suppressions=0"
export TSAN_OPTIONS="suppressions='$here/races.txt'"
# shellcheck disable=SC2086 # Words.
$swift test --skip-build --sanitize="$1" --scratch-path "$out" ${skipped:-}
