#!/usr/bin/env bash
# Sends samples to a real Prometheus with the example `remote_write`, and reads them back through its query API.
# Needs Debian's packages (as root), and nothing else that is not in .ci/run's environment.
set -euo pipefail
cd "$(dirname "$0")/.."

rooms=100
metric=tower_compress_test

install() {
  # Without starting the package's own service. Where there is a policy already, as in containers, it says the same.
  local policy=/usr/sbin/policy-rc.d made=
  [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' > "$policy"; chmod +x "$policy"; made=$policy; }
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -qq -y --no-install-recommends prometheus > /dev/null || return 1
  [ -z "$made" ] || rm -f "$made"
}
command -v prometheus > /dev/null || install

command -v curl > /dev/null || { echo 'needs curl' >&2; exit 1; }

cargo build --quiet --release --example remote_write

work=$(mktemp -d)
server=
clean_up() {
  [ -z "$server" ] || { kill "$server" && wait "$server"; } 2> /dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

# A free port, which somebody else may take before Prometheus does: then it ends, and the next one is tried.
printf 'global: {}\n' > "$work/prometheus.yml"
start() {
  local port
  port=$(shuf -i 20000-59999 -n 1)
  address=127.0.0.1:$port
  prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" \
    --web.listen-address="$address" --web.enable-remote-write-receiver > "$work/log" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    kill -0 "$server" 2> /dev/null || return 1
    if curl -sf "http://$address/-/ready" > /dev/null; then return 0; fi
    sleep 0.1
  done
  return 1
}
started=
for _ in 1 2 3; do
  if start; then started=1; break; fi
  kill "$server" 2> /dev/null || true
done
[ -n "$started" ] || { tail "$work/log" >&2; echo 'Prometheus did not start' >&2; exit 1; }

"${CARGO_TARGET_DIR:-target}/release/examples/remote_write" "http://$address/api/v1/write" "$metric"

# The last sample of each room is its number and a half; there are sixty of each.
query() {
  curl -sfG "http://$address/api/v1/query" --data-urlencode "query=$1"
}
check() {
  local found
  found=$(query "$1" | grep -o '"value":\[[^]]*\]' | sed 's/.*,"\(.*\)"\]/\1/')
  [ "$found" = "$2" ] || { echo "$1: expected $2, found ${found:-nothing}" >&2; exit 1; }
  echo "$1 = $found"
}
check "count($metric)" $rooms
check "sum($metric)" "$((rooms * (rooms - 1) / 2 + rooms / 2))"
check "$metric{room=\"42\"}" 42.5
check "sum(count_over_time($metric[2m]))" $((rooms * 60))
check "min_over_time($metric{room=\"42\"}[2m])" -16.5
