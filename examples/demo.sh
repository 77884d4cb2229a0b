#!/bin/sh
# Demonstrates the agent with real programs: an MSAL app and an ADAL app share one sign-in, in both directions.
# All programs run in a private folder and are stopped at the end. Usage: demo.sh FOLDER_OF_THE_BUILT_PROGRAMS
set -eu

bin=${1:?the folder of the built programs}
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/sso-demo.XXXXXX")
agent=""
emulator=""

finish() {
    status=$?
    [ -z "$agent" ] || kill "$agent" 2>/dev/null || true
    [ -z "$emulator" ] || kill "$emulator" 2>/dev/null || true
    wait 2>/dev/null || true
    [ "$status" = 0 ] || {
        echo
        echo "the demo failed; the logs of the identity provider and of the agent:"
        cat "$folder/emulator.log" "$folder/agent.log" 2>/dev/null || true
    }
    rm -rf "$folder"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' HUP INT TERM

wait_for() { # wait_for FILE TEXT PROCESS: waits until the output file of a program that was started has the text
    tries=0
    until grep -q "$2" "$1" 2>/dev/null; do
        tries=$((tries + 1))
        kill -0 "$3" 2>/dev/null || { echo "the program that writes ${1##*/} has ended"; exit 1; }
        [ "$tries" -lt 1200 ] || { echo "it did not start: ${1##*/}"; exit 1; }
        sleep 0.05
    done
}

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') plain=$(printf '\033[0m'); else bold="" plain=""; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { printf '  $ %s\n' "$*" | sed "s|${app:-/}|APP|; s|${url:-//}/common|AUTHORITY|"; }
field() { sed -n "s/^$1: //p"; }
run() { # run PROGRAM ARGS…: prints the command and its output, indented; returns the exit status of the program
    program=$1
    shift
    show "$program" "$@"
    if "$bin/$program" "$@" >"$folder/out" 2>"$folder/err"; then result=0; else result=$?; fi
    sed 's/^/    /' "$folder/out" "$folder/err"
    return "$result"
}
counts() { curl -sS "$url/control/counts"; }
count() { counts | python3 -c 'import json, sys; print(json.load(sys.stdin).get(sys.argv[1], 0))' "$1"; }
requests() { counts | python3 -c 'import json, sys; print(json.load(sys.stdin)["requests"].get(sys.argv[1], 0))' "$1"; }

say "Starting an identity provider and the agent in $folder"
"$bin/entra-emulator" --user alice@contoso.example --user bob@contoso.example >"$folder/emulator.json" 2>"$folder/emulator.log" &
emulator=$!
wait_for "$folder/emulator.json" url "$emulator"
url=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["url"])' "$folder/emulator.json")

export SSO_AGENT_SOCK="$folder/run/agent.sock" SSO_AGENT_STATE_DIR="$folder/state"
# No configuration of the user or the system, whose rules and sockets are not for this agent.
export SSO_AGENT_CONFIG="$folder/config.toml" SSO_AGENT_SYSTEM_CONFIG="$folder/system"
: >"$SSO_AGENT_CONFIG"
unset SSO_AGENT_OWNER SSO_AGENT_APP SSO_AGENT_ACCOUNT
# A proxy of the network cannot reach this machine's identity provider.
export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost
# The browser of this demo follows redirects, and the emulator signs the user of the login hint in without a page.
export BROWSER="curl -sSL -o /dev/null %s"
"$bin/sso-agent" --allow-loopback-http 2>"$folder/agent.log" &
agent=$!
wait_for "$folder/agent.log" "listening on" "$agent"
run ssoctl status

app=11111111-2222-4333-8444-555555555555
authority=$url/common
modern="--client-id $app --authority $authority"
printf '  APP is %s, AUTHORITY is %s\n' "$app" "$authority"
legacy="--client-id $app --authority $authority --resource https://graph.microsoft.com"

say "1. Alice signs in to the MSAL app; the ADAL app acquires a token for her user name silently"
# shellcheck disable=SC2086
run modern-notes $modern --sign-in --username alice@contoso.example
# shellcheck disable=SC2086
run legacy-mail $legacy --silent --user-id alice@contoso.example
[ "$(count sign_ins)" = 1 ] || { echo "expected one sign-in, saw $(count sign_ins)"; exit 1; }

say "2. Bob signs in to the ADAL app; the MSAL app acquires a token for his home account ID silently"
# shellcheck disable=SC2086
run legacy-mail $legacy --sign-in --user-id bob@contoso.example
bob=$(field homeAccountId <"$folder/out")
# shellcheck disable=SC2086
run modern-notes $modern --silent --identifier "$bob"

say "3. An app that moves from ADAL to MSAL finds the account by the saved user name, and saves its identifier"
printf '{"userId": "bob@contoso.example"}\n' >"$folder/saved.json"
# shellcheck disable=SC2086
run migration $modern --state "$folder/saved.json"
grep -q "$bob" "$folder/saved.json"

say "4. An app without a saved account lists the accounts of both libraries"
# shellcheck disable=SC2086
run modern-notes $modern --list
grep -q alice@contoso.example "$folder/out" && grep -q bob@contoso.example "$folder/out"

say "5. Alice signs out of the app; the next request for her token requires a sign-in"
# shellcheck disable=SC2086
run modern-notes $modern --sign-out --username alice@contoso.example
# shellcheck disable=SC2086
if run legacy-mail $legacy --silent --user-id alice@contoso.example; then
    echo "Alice's token was returned after her sign-out"
    exit 1
fi

say "6. A Python script acquires a token for Bob over the socket, without a library"
show examples/raw-socket/get_token.py --client-id … --username bob@contoso.example --scope User.Read
token=$("$here/raw-socket/get_token.py" --client-id "$app" --authority "$authority" --username bob@contoso.example --scope User.Read)
echo "    a token of ${#token} characters"

say "The requests to the identity provider"
printf '  %-58s %s\n' "sign-ins" "$(count sign_ins)  (Alice once, Bob once)" \
    "authorization codes redeemed" "$(requests authorization_code)" \
    "refresh tokens redeemed" "$(requests refresh_token)" \
    "refresh tokens sent twice" "$(count reused_refresh_tokens)"
[ "$(count sign_ins)" = 2 ] || { echo "expected two sign-ins"; exit 1; }
[ "$(count reused_refresh_tokens)" = 0 ] || { echo "a refresh token was sent twice"; exit 1; }

say "Done: apps of both libraries share one sign-in of Alice and one of Bob."
