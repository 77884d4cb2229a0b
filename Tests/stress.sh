#!/bin/sh
# Runs the whole suite repeatedly under several kinds of load, and prints the tally. A test that passes on an idle
# machine only is a defect, of the test or of the product.
#
#     Tests/stress.sh [rounds]          20 rounds by default; build the tests first
#
# The rounds alternate between: an idle machine; two busy processes; one processor; low priority beside a busy process.
# Logs of failed rounds stay in .build/stress.
set -eu
CDPATH= cd -- "$(dirname -- "$0")/.."
rounds=${1:-20}
logs=.build/stress
mkdir -p "$logs"
spinners=""

spin() { # spin COUNT [COMMAND…]: starts processes that use all of a processor
    count=$1
    shift
    while [ "$count" -gt 0 ]; do
        "$@" sh -c 'while :; do :; done' &
        spinners="$spinners $!"
        count=$((count - 1))
    done
}

still() {
    # shellcheck disable=SC2086 # a list
    [ -z "$spinners" ] || kill $spinners 2>/dev/null || true
    spinners=""
    wait 2>/dev/null || true
}
trap still EXIT
trap 'exit 130' HUP INT TERM

suite() { "$@" ${SWIFT:-swift} test --skip-build; }

one_round() { # one_round CONDITION
    case $1 in
        quiet) suite env ;;
        beside-two-spinners) spin 2 env; suite env ;;
        one-processor) suite taskset -c 0 ;;
        low-priority) spin 1 env; suite nice ;;
    esac
}

conditions="quiet beside-two-spinners one-processor low-priority"
passed=0
tally=""
round=1
while [ "$round" -le "$rounds" ]; do
    for condition in $conditions; do
        [ "$round" -le "$rounds" ] || break
        log="$logs/$round-$condition.log"
        began=$(date +%s)
        if one_round "$condition" >"$log" 2>&1; then outcome=passed; else outcome=FAILED; fi
        still
        line=$(printf 'round %2d  %-21s %s in %d s' "$round" "$condition" "$outcome" $(($(date +%s) - began)))
        echo "$line"
        if [ "$outcome" = passed ]; then
            passed=$((passed + 1))
            rm -f "$log"
        else
            grep -E '✘|has not ended|unexpected signal' "$log" | head -n 20 || tail -n 20 "$log"
            tally="$tally $round"
        fi
        round=$((round + 1))
    done
done
echo "$passed of $rounds rounds passed"
[ -z "$tally" ] || { echo "failed:$tally; logs are in $logs" >&2; exit 1; }
