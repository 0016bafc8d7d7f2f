#!/bin/sh
# Installs what the load bench compares with (Debian's nginx and caddy) and its load generator (wrk), and runs it.
#
#     benches/load.sh [seconds for each of its runs]
#
# Debian starts what it installs; a daemon of one's own is left as it was.
set -eu
cd "$(dirname "$0")/.."
missing=""
for tool in nginx caddy wrk; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    # Daemons that are not wanted must not start: the bench starts its own.
    export DEBIAN_FRONTEND=noninteractive
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    apt-get update -qq
    # shellcheck disable=SC2086
    apt-get install -y -qq --no-install-recommends $missing
fi
cargo bench --bench load -- --seconds "${1:-5}"
