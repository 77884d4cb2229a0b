#!/bin/sh
# Builds the agent and the benchmark, optimised, and runs it: run.sh [agent-bench options].
set -eu
cd "$(dirname "$0")/../.."
for product in sso-agent ssoctl bench-floor agent-bench; do
    "${SWIFT:-swift}" build -c release --product "$product" >&2
done
exec "$("${SWIFT:-swift}" build -c release --show-bin-path)/agent-bench" "$@"
