#!/bin/sh
# Shows the main job with real programs: an MSAL app and an ADAL app share one sign-in, both ways, through one agent.
# Everything runs in a private folder and is stopped at the end. Usage: demo.sh FOLDER_OF_THE_BUILT_PROGRAMS
set -eu

bin=${1:?the folder of the built programs}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/sso-demo.XXXXXX")
agent=""
emulator=""

finish() {
    status=$?
    [ -z "$agent" ] || kill "$agent" 2>/dev/null || true
    [ -z "$emulator" ] || kill "$emulator" 2>/dev/null || true
    wait 2>/dev/null || true
    [ "$status" = 0 ] || { echo; echo "the demo failed; what the agent said:"; cat "$folder/agent.log" 2>/dev/null || true; }
    rm -rf "$folder"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

wait_for() { # wait_for FILE TEXT: until the file of a program just started has the text
    tries=0
    until grep -q "$2" "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || { echo "it did not start: $1"; cat "$1"; exit 1; }
        sleep 0.05
    done
}

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '  $ %s\n' "$*" | sed "s|${app:-/}|APP|; s|${url:-//}/common|AUTHORITY|"; }
field() { sed -n "s/^$1: //p"; }
run() { # run PROGRAM ARGS…: shows the command, and its output indented; fails as the program does
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
wait_for "$folder/emulator.json" url
url=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["url"])' "$folder/emulator.json")

export SSO_AGENT_SOCK="$folder/run/agent.sock" SSO_AGENT_STATE_DIR="$folder/state"
# The browser of this demo: it goes where it is sent, and the emulator signs the hinted person in at once.
export BROWSER="curl -sSL -o /dev/null %s"
"$bin/sso-agent" --allow-loopback-http 2>"$folder/agent.log" &
agent=$!
wait_for "$folder/agent.log" "listening on"
run ssoctl status

app=11111111-2222-4333-8444-555555555555
authority=$url/common
modern="--client-id $app --authority $authority"
printf '  APP is %s, AUTHORITY is %s\n' "$app" "$authority"
legacy="--client-id $app --authority $authority --resource https://graph.microsoft.com"

say "S1  Alice signs in to the MSAL app; the ADAL app, given her name, gets its token silently"
# shellcheck disable=SC2086
run modern-notes $modern --sign-in --username alice@contoso.example
# shellcheck disable=SC2086
run legacy-mail $legacy --silent --user-id alice@contoso.example
[ "$(count sign_ins)" = 1 ] || { echo "expected one sign-in, saw $(count sign_ins)"; exit 1; }

say "S2  Bob signs in to the ADAL app; the MSAL app, given his home account id, gets its token silently"
# shellcheck disable=SC2086
run legacy-mail $legacy --sign-in --user-id bob@contoso.example
bob=$(field homeAccountId <"$folder/out")
# shellcheck disable=SC2086
run modern-notes $modern --silent --identifier "$bob"

say "S3  An app that moves from ADAL to MSAL knows only the name it had saved; then it saves the identifier"
printf '{"userId": "bob@contoso.example"}\n' >"$folder/saved.json"
# shellcheck disable=SC2086
run migration $modern --state "$folder/saved.json"
grep -q "$bob" "$folder/saved.json"

say "S5  An app that knows nobody yet lists everyone, whichever library they signed in with"
# shellcheck disable=SC2086
run modern-notes $modern --list
grep -q alice@contoso.example "$folder/out" && grep -q bob@contoso.example "$folder/out"

say "S8  Alice signs out of the app; at the next call nobody gets her token without a prompt"
# shellcheck disable=SC2086
run modern-notes $modern --sign-out --username alice@contoso.example
# shellcheck disable=SC2086
if run legacy-mail $legacy --silent --user-id alice@contoso.example; then
    echo "Alice's token was handed out after she had signed out"
    exit 1
fi

say "    And with nothing but a socket: Bob's token from a hundred lines of Python"
show examples/raw-socket/get_token.py --client-id … --username bob@contoso.example --scope User.Read
token=$("$here/raw-socket/get_token.py" --client-id "$app" --authority "$authority" --username bob@contoso.example --scope User.Read)
echo "    a token of ${#token} characters"

say "What the identity provider saw"
printf '  %-58s %s\n' "people who had to sign in" "$(count sign_ins)  (Alice once, Bob once)" \
    "authorization codes redeemed" "$(requests authorization_code)" \
    "tokens got silently from a refresh token" "$(requests refresh_token)" \
    "refresh tokens sent twice" "$(count reused_refresh_tokens)"
[ "$(count sign_ins)" = 2 ] || { echo "expected two sign-ins"; exit 1; }
[ "$(count reused_refresh_tokens)" = 0 ] || { echo "a refresh token was sent twice"; exit 1; }

say "Done: two generations of apps, one sign-in each for Alice and Bob."
