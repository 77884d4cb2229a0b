#!/bin/sh
# Installs, uses, upgrades, removes and purges the packages, in a clean Debian, as root: scenario.sh MODE
#
# MODE is chroot, without a service manager, or booted, with systemd and a user who is logged in. /packages/old and /packages/new have
# the packages of two versions, /packages/cert.pem and key.pem a certificate for 127.0.0.1.
set -eu
. /packages/checks.sh
mode=$1
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
home=/home/tester

files() { # the files of the system that a package could leave behind
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /packages -o -path '/home/*' \
        -o -path /var/cache -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/lib/systemd \
        -o -path /etc/ld.so.cache \) -prune -o -print | LC_ALL=C sort
}
as() { # as NAME COMMAND…: run a command as that user, in a session of theirs if there is a service manager
    name=$1
    shift
    if [ "$mode" = booted ]; then
        set -- env "XDG_RUNTIME_DIR=/run/user/$(id -u "$name")" "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$(id -u "$name")/bus" "$@"
    fi
    runuser -u "$name" -- env -C "/home/$name" HOME="/home/$name" USER="$name" \
        BROWSER='curl -sSL --cacert /packages/cert.pem -o /dev/null %s' "$@"
}
user() { as tester "$@"; }
install_packages() { apt-get install -y -qq --no-install-recommends --allow-downgrades "$@"; }
sign_ins() { curl -sS --cacert /packages/cert.pem "$url/control/counts" | sed -n 's/.*"sign_ins" *: *\([0-9]*\).*/\1/p'; }
agent() { user ssoctl status --json | sed -n 's#.*"pid" *: *\([0-9]*\).*#\1#p'; }
gets_a_token() { # the user gets a token, and has signed in once in all
    token=$(user ssoctl token 2>&1) || { echo "$token"; return 1; }
    [ "$(echo "$token" | wc -w)" = 1 ] || { echo "no token: $token"; return 1; }
    [ "$(sign_ins)" = 1 ] || { echo "$(sign_ins) sign-ins"; return 1; }
}
manager() { user systemctl --user "$@"; }
log_in() { # log_in NAME: have a user who stays logged in
    useradd -m "$1"
    loginctl enable-linger "$1"
    while ! systemctl is-active --quiet "user@$(id -u "$1").service"; do sleep 0.2; done
}
process() { as "$1" systemctl --user show --property=MainPID --value sso-agent.service; }

say "A clean Debian $(cat /etc/debian_version), $mode"
for package in sso-agent entra-emulator; do
    depends=$(dpkg-deb -f "$(echo /packages/new/${package}_*.deb)" Depends)
    echo "  $package needs: $depends"
    apt-get satisfy -y -qq --no-install-recommends "$depends" >/dev/null
done
# Others, whose managers come after the user's: without the socket, with an agent that runs, without one, and with an agent that a program
# has started before the package is installed.
if [ "$mode" = booted ]; then
    for name in masked running idle earlier; do log_in "$name"; done
    as masked systemctl --user mask sso-agent.socket 2>/dev/null
    dpkg-deb --fsys-tarfile /packages/old/sso-agent_*.deb | tar -x -C /usr/local --strip-components=2 ./usr/bin
    check "an agent runs without the package" as earlier /usr/local/bin/ssoctl status
    earlier=$(as earlier /usr/local/bin/ssoctl status --json | sed -n 's/.*"pid" *: *\([0-9]*\).*/\1/p')
    rm /usr/local/bin/sso-agent /usr/local/bin/ssoctl
fi
files >/packages/before

say "Installation of version $(dpkg-deb -f /packages/old/sso-agent_*.deb Version)"
check "apt installs both packages" install_packages /packages/old/sso-agent_*.deb /packages/old/entra-emulator_*.deb
check "dpkg finds every file as it was packed" dpkg --verify sso-agent entra-emulator
check "ssoctl --version" user ssoctl --version
check "ssoctl --help" user ssoctl --help
if [ "$mode" = booted ]; then
    check "the socket is enabled for all users" systemctl --global is-enabled sso-agent.socket
    for name in tester running idle; do
        check "the user $name, who is logged in, has it without a new log-in" as "$name" systemctl --user is-active sso-agent.socket
    done
    if as masked systemctl --user is-active --quiet sso-agent.socket; then fail "the user masked does not have it"; fi
    pass "the user masked does not have it"
    as earlier ssoctl status --json | grep -q "\"pid\" *: *$earlier\>" || fail "the agent that runs without the package goes on serving"
    pass "the agent that runs without the package goes on serving"
    kill "$earlier"
    if manager is-active --quiet sso-agent.service; then fail "no agent runs before the first connection"; fi
    pass "no agent runs before the first connection"
fi

say "A user signs in"
user mkdir -p .config/sso-agent
user tee .config/sso-agent/config.toml >/dev/null <<END
[network]
ca_file = "/packages/cert.pem"
END
user chmod 600 .config/sso-agent/config.toml
# On a free port: in a chroot, those of the machine are used by others too.
: >/packages/emulator.json
user entra-emulator --tls-cert /packages/cert.pem --tls-key /packages/key.pem --user alice@contoso.example >/packages/emulator.json 2>/packages/emulator.log &
tries=0
until url=$(sed -n 's/.*"url" *: *"\([^"]*\)".*/\1/p' /packages/emulator.json) && [ -n "$url" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || fail "entra-emulator starts" "$(cat /packages/emulator.log)"
    sleep 0.2
done
pass "entra-emulator starts"
check "ssoctl app add" user ssoctl app add demo --client-id app-1 --authority "$url/common" --scope User.Read --default
check "ssoctl sign-in, in a browser" user ssoctl sign-in --browser --login-hint alice@contoso.example
check "ssoctl token" gets_a_token
first=$(agent)
[ -n "$first" ] || fail "ssoctl status names the agent's process" "$(user ssoctl status --json)"
if [ "$mode" = booted ]; then
    [ "$first" = "$(manager show --property=MainPID --value sso-agent.service)" ] || fail "the agent is the service of the user"
    pass "the agent is the service of the user, process $first"
    check "systemctl --user reload" manager reload sso-agent.service
    [ "$(agent)" = "$first" ] || fail "the agent goes on after a reload"
    check "another user has an agent" as running ssoctl status
    other=$(process running)
    check "systemd-analyze verify" user systemd-analyze --user --man=no verify sso-agent.service sso-agent.socket
fi

say "Upgrade to version $(dpkg-deb -f /packages/new/sso-agent_*.deb Version)"
check "apt upgrades both packages" install_packages /packages/new/sso-agent_*.deb /packages/new/entra-emulator_*.deb
if [ "$mode" = booted ]; then
    second=$(agent)
    [ "$second" != "$first" ] || fail "the agent was started again"
    [ "$(readlink "/proc/$second/exe")" = /usr/bin/sso-agent ] || fail "the new program runs" "$(readlink "/proc/$second/exe")"
    pass "the agent was started again: process $first, now $second"
    [ "$(process running)" != "$other" ] || fail "the agent of another user was started again"
    pass "the agent of another user was started again: process $other, now $(process running)"
    [ "$(process idle)" = 0 ] || fail "no agent is started for a user who had none"
    pass "no agent is started for a user who had none"
    [ "$(manager show --property=NeedDaemonReload --value sso-agent.service)" = no ] || fail "the manager of the user has read the new unit"
    pass "the manager of the user has read the new unit"
else
    check "the agent of before serves" gets_a_token
    kill "$first"
    while [ -e "/proc/$first" ]; do sleep 0.1; done
    pass "it is stopped; the next command starts the new one"
fi
check "ssoctl token, without another sign-in" gets_a_token

if [ "$mode" = booted ]; then
    say "An administrator disables the socket"
    systemctl --global disable sso-agent.socket >/dev/null 2>&1
    check "apt installs the package again" install_packages --reinstall /packages/new/sso-agent_*.deb
    [ "$(systemctl --global is-enabled sso-agent.socket || true)" = disabled ] || fail "it stays disabled"
    pass "it stays disabled"
    systemctl --global enable sso-agent.socket >/dev/null 2>&1
fi

if [ "$mode" = booted ]; then
    say "A removal that is called off"
    # What dpkg runs if another package that replaces this one cannot be unpacked.
    check "prerm" /var/lib/dpkg/info/sso-agent.prerm remove in-favour other 1
    check "postinst" /var/lib/dpkg/info/sso-agent.postinst abort-remove in-favour other 1
    check "the user has the socket again" manager is-active sso-agent.socket
fi

say "Removal"
last=$(agent)
check "apt removes both packages" apt-get remove -y -qq sso-agent entra-emulator
if has ssoctl || has sso-agent || has entra-emulator; then fail "no program is left"; fi
pass "no program is left"
if [ "$mode" = booted ]; then
    [ ! -e "/proc/$last" ] || fail "the agent of the user was stopped"
    [ ! -e "/run/user/$(id -u tester)/sso-agent/agent.sock" ] || fail "the socket is gone"
    pass "the agent of the user was stopped, and the socket is gone"
else
    kill "$last" && while [ -e "/proc/$last" ]; do sleep 0.1; done
fi
check "apt purges them" apt-get purge -y -qq sso-agent entra-emulator
files >/packages/after
left=$(diff /packages/before /packages/after) || fail "a purge leaves no file and takes none" "$left"
pass "a purge leaves no file of $(wc -l </packages/before) and takes none"
[ -s "$home/.local/state/sso-agent/cache.sqlite" ] || fail "the user's store is left"
pass "the user's store is left: $(find "$home/.local/state/sso-agent" -type f | wc -l) files"

say "Installation after the purge"
check "apt installs it" install_packages /packages/new/sso-agent_*.deb
check "ssoctl token, without another sign-in" gets_a_token
if [ "$mode" = chroot ]; then kill "$(agent)"; fi
check "apt purges it" apt-get purge -y -qq sso-agent

if [ "$mode" = chroot ] && [ -d /packages/rpm ]; then
    say "The RPM package, with the libraries of Debian"
    check "apt installs rpm" apt-get install -y -qq --no-install-recommends rpm
    files >/packages/before
    # Debian's packages are not in the database of RPM.
    check "rpm installs it" rpm -i --nodeps /packages/rpm/sso-agent-[0-9]*.rpm
    check "rpm finds every file as it was packed" rpm -V --nodeps sso-agent
    check "ssoctl token, without another sign-in" gets_a_token
    kill "$(agent)"
    check "rpm removes it" rpm -e --nodeps sso-agent
    files >/packages/after
    # The database of rpm, and folders that the system's own packages have where RPM is at home.
    left=$(diff /packages/before /packages/after | grep '^[<>]' |
        grep -vE '/root/\.rpmdb|/var/lib/rpm|/usr/lib/systemd/user(-preset)?$|/usr/share/licenses$') || true
    [ -z "$left" ] || fail "it leaves no file and takes none" "$left"
    pass "it leaves no file and takes none"
fi
