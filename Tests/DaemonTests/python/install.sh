#!/bin/sh
# install.sh VENV LIBRARY VERSION: installs one version of a library beside the virtual environment VENV, and prints where.
# Runs of it wait for each other.
set -eu
venv=$1
target=$venv-$2-$3
exec 9>"$venv/.lock"
if command -v flock >/dev/null; then flock 9; fi
if [ ! -e "$target/.installed" ]; then
    # What it depends on is in the virtual environment.
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$target" "$2==$3"
    : >"$target/.installed"
fi
echo "$target"
