# What the tests of the packaging share: each check is a line of the output, and the first one that fails ends the test.

say() { printf '\n%s\n' "$*"; }
pass() { printf '  ✓ %s\n' "$*"; }
skip() { printf '  – skipped: %s\n' "$*"; }
fail() { # fail WHAT [OUTPUT]: end the test
    printf '  ✗ %s\n' "$1" >&2
    [ -z "${2:-}" ] || printf '%s\n' "$2" | sed 's/^/      /' >&2
    exit 1
}
check() { # check WHAT COMMAND…: the command succeeds; its output is shown if it does not
    what=$1
    shift
    if output=$("$@" 2>&1); then pass "$what"; else fail "$what" "$output"; fi
}
has() { command -v "$1" >/dev/null; }
