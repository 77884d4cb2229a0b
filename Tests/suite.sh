#!/bin/sh
# Runs the suite, which must be built, and repeats at the end what failed, since the suite prints thousands of lines.
#
#     Tests/suite.sh [LOG]              .build/suite.log by default
set -eu
CDPATH= cd -- "$(dirname -- "$0")/.."
log=${1:-.build/suite.log}
mkdir -p "$(dirname "$log")"
rm -f "$log.passed"
# A pipe has the status of its last command, so that of the suite goes through a file.
{ "${SWIFT:-swift}" test --skip-build && : >"$log.passed"; } 2>&1 | tee "$log"
if [ -e "$log.passed" ]; then
    rm "$log.passed"
    exit 0
fi
echo "What failed, of all that is in $log:"
grep -E -A 4 '✘ .*recorded an issue|has not ended|unexpected signal|Fatal error|: error:' "$log" | head -n 60 || true
exit 1
