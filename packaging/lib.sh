# What the scripts that make packages share. They are run in the folder of the sources.

COMPONENTS="sso-agent entra-emulator libsso-agent-dev"

require() { # require TOOL PACKAGE: end with the command to run if a tool is missing
    command -v "$1" >/dev/null && return 0
    echo "$0: $1 is missing; run: apt-get install $2" >&2
    exit 69
}

# Sets the version, the time of all files and the maintainer, from the environment or the last commit.
set_origin() {
    version=$(packaging/version)
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
    export SOURCE_DATE_EPOCH
    name=${DEBFULLNAME:-$(git log -1 --format=%an 2>/dev/null || true)}
    email=${DEBEMAIL:-$(git log -1 --format=%ae 2>/dev/null || true)}
    [ -n "$name" ] && [ -n "$email" ] || {
        echo "$0: who makes the package is not known; set DEBFULLNAME and DEBEMAIL" >&2
        exit 64
    }
    maintainer="$name <$email>"
}
