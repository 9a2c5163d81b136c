#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make bench-http: what the gateway does, as JSON lines. Fabric ft3 K (default 24: 3,456 hosts).
# Requests per second are taken in pairs with a bare server of libmicrohttpd (http_constant) that
# sends as many bytes, RUNS times (default 3). The ratio is of requests per second of the server's
# processor time, because a machine with other work slows both down, and never alike.
# Needs wrk, curl, jq and python3.
set -eu
bin=${top_builddir:-.}
k=${K:-24}
runs=${RUNS:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-bench.XXXXXX")
pids=()
cleanup() {
	local p
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
	rm -rf "$work"
}
trap cleanup EXIT
for tool in wrk curl jq python3; do
	command -v "$tool" >/dev/null || { echo "bench-http: $tool is not installed" >&2; exit 1; }
done

"$bin/saguaro" topo ft3 "$k" -o "$work/fabric.topo"
"$bin/saguarod" --state-dir "$work/state" --snapshot-dir "$work/run" --fabric "sim:$work/fabric.topo" 2>"$work/sm.log" &
pids+=("$!")
"$bin/saguaro-gateway" --listen 127.0.0.1:0 --port-file "$work/port" --snapshot-dir "$work/run" \
	--saguaro "$bin/saguaro" --listeners-per-address 0 --connections-per-address 0 2>"$work/gw.log" &
gateway=$!
pids+=("$gateway")
until [ -s "$work/port" ] && curl -sf "http://127.0.0.1:$(cat "$work/port")/readyz" >/dev/null; do sleep 0.2; done
url=http://127.0.0.1:$(cat "$work/port")
export SAGUARO_SNAPSHOT_DIR=$work/run
mapfile -t hosts < <("$bin/saguaro" nodes --type ca --field name)
pair="/paths?src=${hosts[0]}&dst=${hosts[-1]}"
bytes=$(curl -s "$url$pair" | wc -c)
mkfifo "$work/fifo"
"$bin/tests/http_constant" "$bytes" 4 <"$work/fifo" >"$work/constant" &
bare=$!
pids+=("$bare")
exec 9>"$work/fifo"
until [ -s "$work/constant" ]; do sleep 0.1; done
constant=http://127.0.0.1:$(cat "$work/constant")

# ms TARGET...: wall-clock milliseconds of a request, the best of three
ms() { for _ in 1 2 3; do curl -s -o /dev/null -w '%{time_total}\n' "$@"; done | sort -n | awk 'NR == 1 { print $1 * 1000 }'; }
cpu() { awk '{ print ($14 + $15) }' "/proc/${1:-$gateway}/stat"; } # ticks of 10 ms
# rate URL PID: requests per second, and requests per second of the server's processor time
rate() {
	local from said
	from=$(cpu "$2")
	said=$(wrk -t1 -c16 -d3s "$1" | awk '/Requests\/sec/ { s = $2 } /requests in/ { n = $1 } END { print s, n }')
	echo "$said" | awk -v t="$(($(cpu "$2") - from))" '{ printf "[%s,%.0f]", $1, $2 / (t / 100) }'
}

for _ in $(seq "$runs"); do
	jq -nc --argjson ours "$(rate "$url$pair" "$gateway")" --argjson bare "$(rate "$constant/" "$bare")" --argjson bytes "$bytes" \
		'{what: "single path, 16 connections", bytes: $bytes, per_second: $ours[0], bare: $bare[0], per_cpu_second: $ours[1], bare_per_cpu_second: $bare[1], ratio: ($ours[1] / $bare[1])}'
done

# p99 with 64 connections while the subnet manager publishes
(while :; do "$bin/saguaro" sweep --heavy >/dev/null 2>&1 || true; sleep 0.3; done) &
pids+=("$!")
jq -nc --arg p99 "$(wrk -t1 -c64 -d5s --latency "$url$pair" | awk '/99%/ { print $2 }')" '{what: "p99 of single paths, 64 connections, heavy sweeps go on", p99: $p99}'
kill "${pids[-1]}"

jq -nc --argjson ms "$(ms "$url/paths?src=${hosts[0]}&dst=*")" --argjson hosts "${#hosts[@]}" '{what: "dst=* of one host", hosts: $hosts, ms: $ms}'

for _ in $(seq 10000); do
	printf '{"src":"%s","dst":"%s"}\n' "${hosts[RANDOM % ${#hosts[@]}]}" "${hosts[RANDOM % ${#hosts[@]}]}"
done >"$work/pairs"
batch() { curl -s -o /dev/null -H 'Content-Type: application/x-ndjson' --data-binary "@$work/pairs" "$url/v1/paths:batch"; }
from=$(cpu)
for _ in 1 2 3 4 5 6 7 8 9 10; do batch; done
jq -nc --argjson ticks "$(($(cpu) - from))" '{what: "paths:batch", pairs_per_cpu_second: (100000 / ($ticks / 100))}'

for encoding in identity gzip zstd; do
	from=$(cpu)
	size=$(curl -s -H "Accept-Encoding: $encoding" "$url/v1/topology?switches=1" | wc -c)
	small=$(curl -s -H "Accept-Encoding: $encoding" "$url/v1/topology" | wc -c)
	for _ in 1 2 3 4; do curl -s -o /dev/null -H "Accept-Encoding: $encoding" "$url/v1/topology?switches=1"; done
	jq -nc --arg encoding "$encoding" --argjson all "$size" --argjson folded "$small" --argjson ms "$((($(cpu) - from) * 10 / 6))" \
		'{what: "/v1/topology", encoding: $encoding, bytes: $folded, bytes_with_switches: $all, cpu_ms: $ms}'
done

# idle listeners to events
python3 - "${url##*:}" "$gateway" <<'PY'
import json, resource, socket, sys, time
port, pid = int(sys.argv[1]), sys.argv[2]
def memory():
    return sum(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if l.startswith("RssAnon"))
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
n = min(5000, hard - 100)
before, held = memory(), []
for _ in range(n):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    held.append(s)
good = sum(b" 200 " in s.recv(64) for s in held)
print(json.dumps({"what": "idle listeners", "n": n, "served": good, "kib_each": round((memory() - before) / n, 2)}))
PY

jq -nc --argjson s "$( (TIMEFORMAT='%U %S'; time "$bin/saguaro" whatif --down "${hosts[0]}" --json >/dev/null) 2>&1 | awk '{ print $1 + $2 }')" '{what: "what-if, one host down", cpu_seconds: $s}'
