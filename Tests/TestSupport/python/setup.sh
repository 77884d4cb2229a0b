#!/bin/sh
# setup.sh DIR: makes a virtual environment with Microsoft's Python libraries in DIR, unless it exists.
# Prints the reason and exits with 1 if it fails. Concurrent runs wait for each other.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
venv=$1
mkdir -p "$venv"
exec 9>"$venv/.lock"
if command -v flock >/dev/null; then flock 9; fi
if cmp -s "$here/requirements.txt" "$venv/.installed"; then exit 0; fi
command -v python3 >/dev/null || { echo "python3 is not installed" >&2; exit 1; }
python3 -m venv "$venv" || { echo "python3 cannot make a virtual environment (python3-venv?)" >&2; exit 1; }
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" ||
    { echo "pip cannot install $(tr '\n' ' ' <"$here/requirements.txt")" >&2; exit 1; }
cp "$here/requirements.txt" "$venv/.installed"
