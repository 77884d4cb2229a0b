#!/bin/sh
# Builds the programs as they are released, and the benchmark, and runs it: run.sh [agent-bench options].
set -eu
CDPATH= cd -- "$(dirname -- "$0")/../.."
packaging/build sso-agent ssoctl bench-floor agent-bench >&2
exec "$(${SWIFT:-swift} build -c release --show-bin-path)/agent-bench" "$@"
