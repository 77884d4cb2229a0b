#!/bin/sh
# Installs into a folder with "make install", checks what is there with the tools that will read it, and uninstalls.
#
#     Tests/Packaging/install_test.sh FOLDER_OF_THE_EXECUTABLES
set -eu
CDPATH= cd -- "$(dirname -- "$0")/../.."
. Tests/Packaging/checks.sh
bin=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/sso-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
root=$work/root prefix=/opt/sso-agent
all="sso-agent entra-emulator libsso-agent-dev"
run_make() { env -u MAKEFLAGS -u MAKELEVEL -u PYTHONDONTWRITEBYTECODE make -s "$@" BIN="$bin" DESTDIR="$root" PREFIX="$prefix"; }
exists() { for path in "$@"; do [ -f "$root$prefix/$path" ] || { echo "there is no $path"; return 1; }; done; }

say "make install into $prefix"
mkdir -p "$root/opt"
: >"$work/before"
check "installs every component" run_make install COMPONENTS="$all"
check "has executables, completions, the example and the SDK" exists bin/sso-agent bin/ssoctl bin/entra-emulator \
    share/bash-completion/completions/ssoctl share/zsh/site-functions/_ssoctl share/fish/vendor_completions.d/ssoctl.fish \
    share/doc/sso-agent/examples/config.toml share/doc/sso-agent/docs/administration.md share/swift/sso-agent/Package.swift \
    share/swift/sso-agent/Sources/AgentClient/AgentClient.swift
installed=$root$prefix
version=$(packaging/version)
for program in sso-agent ssoctl; do
    [ "$("$installed/bin/$program" --version)" = "$version" ] || fail "$program --version is not $version"
done
pass "the executables have version $version"
check "writes nothing into the sources" [ -z "$(find . -path ./.git -prune -o -path ./.build -prune -o -newer "$work/before" -print)" ]
check "writes nothing into .build" [ -z "$(find .build/man .build/completions -newer "$work/before" 2>/dev/null)" ]
check "nobody but root can write to it" sh -c '[ -z "$(find "$0" -perm /022 ! -type l)" ]' "$installed"
check "no file names the folder of the sources" sh -c '! grep -rlIF "$1" "$0"' "$installed" "$PWD"
example=$installed/share/doc/sso-agent/examples/config.toml
check "the example configuration is correct" env SSO_AGENT_SYSTEM_CONFIG="$work/none" SSO_AGENT_CONFIG="$example" \
    "$installed/bin/sso-agent" --check-config
check "has man pages" exists share/man/man1/ssoctl.1 share/man/man1/ssoctl-token.1 share/man/man5/sso-agent.toml.5
if has mandoc; then
    # Pages of others that are not installed here are no mistake.
    check "man pages: mandoc -T lint" sh -c '! mandoc -T lint -W warning "$0"/share/man/man*/* | grep .' "$installed"
else
    skip "man pages: there is no mandoc"
fi

say "Units"
if [ "$(uname)" != Linux ]; then
    skip "units of systemd are for Linux"
else
    units=$installed/lib/systemd/user
    check "the unit starts the installed agent" grep -qx "ExecStart=$prefix/bin/sso-agent" "$units/sso-agent.service"
    if has systemd-analyze; then
        # Where it is here, so that the executable is checked too. The path of TMPDIR may have blanks.
        mkdir "$work/units"
        cp "$units/sso-agent.socket" "$work/units"
        sed "s#^ExecStart=.*#ExecStart=\"$installed/bin/sso-agent\"#" "$units/sso-agent.service" >"$work/units/sso-agent.service"
        verify() {
            XDG_RUNTIME_DIR=$work HOME=$work systemd-analyze --user --man=no verify "$work/units/sso-agent.service" "$work/units/sso-agent.socket" 2>&1 |
                grep sso-agent && return 1
            return 0
        }
        check "systemd-analyze verify" verify
    else
        skip "there is no systemd-analyze"
    fi
fi

say "Completions"
completion=$installed/share/bash-completion/completions/ssoctl
bash_words() { # what bash completes for "ssoctl sign-"
    bash --norc -c '
        [ ! -e /usr/share/bash-completion/bash_completion ] || . /usr/share/bash-completion/bash_completion
        . "$0" || exit 1
        function=$(complete -p ssoctl | sed "s/.*-F \([^ ]*\).*/\1/")
        COMP_WORDS=(ssoctl sign-) COMP_CWORD=1 COMP_LINE="ssoctl sign-" COMP_POINT=12 COMP_TYPE=9
        "$function" ssoctl sign- ssoctl 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' "$completion"
}
if has bash; then
    words=$(bash_words) || fail "bash reads the completion" "$words"
    echo "$words" | grep -q sign-in && echo "$words" | grep -q sign-out || fail "bash completes ssoctl sign-" "$words"
    pass "bash completes ssoctl sign-: $(echo $words)"
else
    skip "there is no bash"
fi
if has zsh; then
    check "zsh reads the completion" zsh -n "$installed/share/zsh/site-functions/_ssoctl"
else
    skip "there is no zsh"
fi
if has fish; then
    words=$(HOME=$work fish --no-config -c 'source $argv[1]; complete -C "ssoctl sign-"' "$installed/share/fish/vendor_completions.d/ssoctl.fish" 2>&1) || true
    echo "$words" | grep -q sign-in || fail "fish completes ssoctl sign-" "$words"
    pass "fish completes ssoctl sign-"
else
    skip "there is no fish"
fi

say "A later version, and make uninstall"
manifest=$installed/share/sso-agent/installed/sso-agent
: >"$installed/share/doc/sso-agent/obsolete"
echo "file $prefix/share/doc/sso-agent/obsolete" >>"$manifest"
: >"$installed/share/doc/sso-agent/local"
check "installs over an earlier version" run_make install COMPONENTS="$all"
[ ! -e "$installed/share/doc/sso-agent/obsolete" ] || fail "removes what only the earlier version had"
pass "removes what only the earlier version had"
check "installs one component" run_make install COMPONENTS=entra-emulator
check "and leaves the others" exists bin/sso-agent bin/ssoctl share/swift/sso-agent/Package.swift
check "uninstalls" run_make uninstall
left=$(find "$root" -type f)
[ "$left" = "$installed/share/doc/sso-agent/local" ] || fail "leaves files of others, and only these" "$left"
pass "leaves files of others, and only these"
rm "$left"
check "installs again" run_make install COMPONENTS="$all"
check "uninstalls again" run_make uninstall
left=$(find "$installed" -mindepth 1 ! -path "$installed/share" ! -path "$installed/share/doc" ! -path "$installed/share/doc/sso-agent" 2>/dev/null || true)
[ -z "$left" ] || fail "leaves nothing" "$left"
pass "leaves nothing but folders that were there"
if run_make uninstall >/dev/null 2>&1; then fail "says that nothing is installed"; fi
pass "says that nothing is installed, the second time"
