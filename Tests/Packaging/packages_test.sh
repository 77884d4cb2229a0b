#!/bin/sh
# Makes the packages and tests them: "make test-packages".
#
#     Tests/Packaging/packages_test.sh FOLDER_OF_THE_EXECUTABLES
#
# What needs a tool that is missing, or root, is skipped with a line that says so. PREVIOUS is a folder with the packages of the version
# before, CLEAN_ROOT a folder that debootstrap has made, to save a minute; SKIP_SDK=1 saves the build of an app.
set -eu
CDPATH= cd -- "$(dirname -- "$0")/../.."
. Tests/Packaging/checks.sh
BIN=$1
export BIN CHECKOUTS=.build/checkouts
has dpkg-deb && has dpkg-shlibdeps || { skip "everything: Debian packages are made on Debian (apt-get install dpkg-dev binutils)"; exit 0; }
work=$(mktemp -d "${TMPDIR:-/var/tmp}/sso-packages.XXXXXX")
machine=""
finish() {
    status=$?
    trap - EXIT
    [ -z "$machine" ] || { kill -s RTMIN+4 "$machine" 2>/dev/null && wait "$container" 2>/dev/null; } || true
    [ "$status" = 0 ] || [ ! -e "$work/console" ] || tail -n 20 "$work/console"
    rm -rf --one-file-system "$work"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' HUP INT TERM

say "Debian packages"
check "build-deb" packaging/build-deb "$work/new"
packaging/build-deb "$work/again" >/dev/null 2>&1
check "the same bytes again" sh -c 'cd "$0/again" && sha256sum * >../sums && cd ../new && sha256sum -c ../sums' "$work"
rm -rf "$work/again"
for package in "$work"/new/*.deb; do
    echo "  $(basename "$package"): $(($(stat -c %s "$package") / 1024)) KiB, $(dpkg-deb -f "$package" Installed-Size) KiB installed"
done
if has lintian; then
    check "lintian" lintian --allow-root --fail-on error,warning "$work"/new/*.deb
    [ -z "$output" ] || echo "$output" | sed 's/^/      /'
else
    skip "lintian: apt-get install lintian"
fi
mkdir "$work/unpacked"
for package in "$work"/new/*.deb; do dpkg-deb -x "$package" "$work/unpacked"; done
check "executables are hardened" .ci/check-hardening "$work"/unpacked/usr/bin/*
stripped() { for file in "$work"/unpacked/usr/bin/*; do ! readelf -SW "$file" | grep -E '\.(symtab|debug_)' || return 1; done; }
check "executables are stripped" stripped
check "executables do not name the folder of the build" sh -c '! grep -lF "$1" "$0"/*' "$work/unpacked/usr/bin" "$PWD"

say "RPM packages"
if has rpmbuild; then
    check "build-rpm" packaging/build-rpm "$work/rpm"
    packaging/build-rpm "$work/again" >/dev/null 2>&1
    check "the same bytes again" sh -c 'cd "$0/again" && sha256sum * >../sums && cd ../rpm && sha256sum -c ../sums' "$work"
    names() { sed 's#\.gz$##; s#/share/doc/.*##; s#/share/licenses.*##; s#/share/lintian.*##; s#.*/user-preset.*##; s#vendor-completions#site-functions#; /^$/d' | sort -u; }
    for package in sso-agent entra-emulator; do
        dpkg-deb -c "$work"/new/"$package"_*.deb | sed -n 's#^-.* \./#/#p' | names >"$work/deb.names"
        rpm -qplv "$work"/rpm/"$package"-[0-9]*.rpm | sed -n 's#^-[^/]* /#/#p' | names >"$work/rpm.names"
        check "$package has the files of the Debian package" diff "$work/deb.names" "$work/rpm.names"
    done
    rpm -qp --requires "$work"/rpm/sso-agent-[0-9]*.rpm | grep -q '^libcurl\.so\.4()(64bit)' || fail "sso-agent requires libcurl"
    rpm -qp --requires "$work"/rpm/sso-agent-[0-9]*.rpm | grep -q '^libprotobuf-c\.so\.1' || fail "sso-agent requires the libraries it is linked to"
    pass "sso-agent requires its libraries by their names"
else
    skip "RPM packages: apt-get install rpm"
fi

say "The SDK, as libsso-agent-dev installs it"
swift=${SWIFT:-swift}
if has "${swift%% *}" && [ -z "${SKIP_SDK:-}" ]; then
    mkdir -p "$work/app/Sources"
    cp -r "$work/unpacked/usr/share/doc/libsso-agent-dev/examples/modern-notes" "$work/app/Sources/modern-notes"
    rm "$work/app/Sources/modern-notes/README.md"
    cat >"$work/app/Package.swift" <<END
// swift-tools-version: 6.3
import PackageDescription
let package = Package(
    name: "app", dependencies: [.package(path: "$work/unpacked/usr/share/swift/sso-agent")],
    targets: [.executableTarget(name: "modern-notes", dependencies: [.product(name: "MSAL", package: "sso-agent")])])
END
    chmod -R a-w "$work/unpacked/usr/share/swift"
    # No other package is fetched.
    unshare_network() { if [ "$(id -u)" = 0 ]; then unshare --net "$@"; else "$@"; fi; }
    check "an app builds with it, without the network" unshare_network $swift build --package-path "$work/app" --disable-automatic-resolution
    check "the app runs" sh -c '"$0" --help 2>&1 | grep -q usage: ' "$work/app/.build/debug/modern-notes"
    chmod -R u+w "$work/unpacked/usr/share/swift"
else
    skip "there is no swift, or SKIP_SDK is set"
fi

say "A clean Debian 12"
in_machine() { # in_machine COMMAND…: run a command in the Debian that systemd has started
    nsenter --target "$machine" --mount --uts --ipc --net --pid --cgroup --root \
        env -i -C / PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
}
if [ "$(id -u)" != 0 ]; then skip "it takes root"; exit 0; fi
has debootstrap || { skip "apt-get install debootstrap"; exit 0; }
has openssl || { skip "apt-get install openssl"; exit 0; }
# Where this machine gets its packages: nothing is written down here.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN)' 'Created-By: Packages' | awk '$2 == "bookworm" && $3 == "Debian" { print $1; exit }')
[ -n "$mirror" ] || { skip "this machine has no Debian 12 among the sources of apt"; exit 0; }
if [ -n "${CLEAN_ROOT:-}" ]; then
    cp -a "$CLEAN_ROOT" "$work/root"
else
    debootstrap --variant=minbase bookworm "$work/root" "$mirror" >"$work/debootstrap.log" 2>&1 || fail "debootstrap" "$(tail "$work/debootstrap.log")"
    pass "debootstrap"
fi
apt-config dump | grep -E '^Acquire::(http|https|ftp)::?.*[Pp]roxy' >"$work/root/etc/apt/apt.conf.d/99proxy" || true
cp /etc/resolv.conf /etc/hosts "$work/root/etc/"
root=$work/root
inside() { # inside COMMAND…: run a command in the clean Debian, with processes of its own
    unshare --mount --pid --fork --propagation private sh -c '
        mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" 2>/dev/null; exec chroot "$0" "$@"' "$root" "$@"
}
check "prepares it" inside sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends curl && useradd -m tester'
mkdir "$root/packages"
cp -r "$work/new" Tests/Packaging/scenario.sh Tests/Packaging/checks.sh "$root/packages/"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext keyUsage=critical,digitalSignature,keyCertSign \
    -keyout "$root/packages/key.pem" -out "$root/packages/cert.pem" 2>/dev/null
chmod 0644 "$root/packages/key.pem"
[ ! -d "$work/rpm" ] || cp -r "$work/rpm" "$root/packages/"
# The version before: those of the folder PREVIOUS, or else the new ones with a lower version and another unit.
mkdir "$root/packages/old"
if [ -n "${PREVIOUS:-}" ]; then
    cp "$PREVIOUS"/*.deb "$root/packages/old/"
else
    for package in sso-agent entra-emulator; do
        dpkg-deb -R "$work"/new/"$package"_*.deb "$work/old"
        sed -i 's/^Version: .*/Version: 0.0.9/' "$work/old/DEBIAN/control"
        unit=$work/old/usr/lib/systemd/user/sso-agent.service
        [ ! -e "$unit" ] || sed -i 's/^WatchdogSec=30/WatchdogSec=31/' "$unit"
        (cd "$work/old" && find usr -type f -print0 | xargs -0 md5sum >DEBIAN/md5sums)
        dpkg-deb --root-owner-group -Znone --build "$work/old" "$root/packages/old/${package}_0.0.9_test.deb" >/dev/null
        rm -rf "$work/old"
    done
fi
cp -a "$root" "$work/booted"
inside sh /packages/scenario.sh chroot

if ! has systemd-nspawn; then skip "with systemd: apt-get install systemd-container"; exit 0; fi
root=$work/booted
check "installs systemd in another one" inside sh -c 'apt-get install -y -qq --no-install-recommends systemd-sysv libpam-systemd dbus-user-session'
systemd-nspawn -q -D "$root" -b --register=no --keep-unit --machine=sso-agent-test </dev/null >"$work/console" 2>&1 &
container=$!
tries=0
until machine=$(pgrep -P "$container" | head -n 1) && [ -n "$machine" ] && in_machine true 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 240 ] && kill -0 "$container" 2>/dev/null || { skip "systemd does not start here: $(tail -n 1 "$work/console")"; machine=""; exit 0; }
    sleep 0.5
done
in_machine systemctl is-system-running --wait >/dev/null 2>&1 || true
check "a user is logged in" in_machine sh -c 'loginctl enable-linger tester && while ! systemctl is-active --quiet user@$(id -u tester).service; do sleep 0.2; done'
in_machine sh /packages/scenario.sh booted
