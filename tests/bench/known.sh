#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# 100,000 hosts that are gone beside a fabric of 648: what saguarod and saguaro-gateway weigh, and what
# readers cost in processor time. ROWS for another number. Figures, not a test: `make bench-known` prints them.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients curl jq
rows=${ROWS:-100000}
sweep=("--sweep_interval=0")

# spent PID: processor time of a process, in hundredths of a second
spent() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
# asked PATH: processor time of the gateway for a request, of 40
asked() {
	local before i
	before=$(spent "$gateway")
	for ((i = 0; i < 40; i++)); do get "$1" >"$work/answer"; done
	awk -v n="$(($(spent "$gateway") - before))" 'BEGIN { printf "%.1f ms", n * 10 / 40 }'
}
# typed WORDS...: processor time of a command, the median of 5
typed() {
	local i TIMEFORMAT='%U %S'
	for ((i = 0; i < 5; i++)); do
		{ time "$bin/saguaro" "$@" >"$work/answer" 2>&1; } 2>&1
	done | awk '{ print 1000 * ($1 + $2) }' | sort -n | awk 'NR == 3 { printf "%d ms", $1 }'
}
kib() { awk '/^VmRSS/ { printf "%d MiB", $2 / 1024 }' "/proc/$1/status"; }
mib() { du -k "$1" | awk '{ printf "%.1f MiB", $1 / 1024 }'; }
line() { printf '%-34s %s\n' "$1" "$2"; }

figures() { # figures NAME ROWS: in folders of their own
	start_daemon_on "${hosts[0]}" "$1" "${sweep[@]}"
	start_gateway "g$1"
	wait_ready
	until_true mirrored "$2" || fail "not mirrored"
	printf '%s\n' "--- $2 hosts that are gone"
	[ "$2" = 0 ] || line "the one that is looked for" "$(get "/v1/known?name=gone000007*" | jq -r '.known[0].name')"
	line "state on disk" "$(mib "$work/$1/state/data.mdb")"
	line "snapshot on disk" "$(mib "$work/$1/run/snapshot/data.mdb")"
	line "resident, saguarod" "$(kib "$daemon")"
	line "/v1/known?name=X" "$(asked "/v1/known?name=gone000007*")"
	line "/v1/known, a page of 100" "$(asked "/v1/known?gone=1&limit=100")"
	line "/v1/nodes/GUID of nobody" "$(asked /v1/nodes/0x1234567)"
	line "/v1/nodes/GUID of one that is gone" "$(asked /v1/nodes/0x900007)"
	line "/v1/known?limit=65536" "$(asked "/v1/known?limit=65536")"
	line "/v1/alarms" "$(asked /v1/alarms)"
	line "saguaro doctor NAME" "$(typed doctor "gone000007 mlx5_0")"
	line "saguaro nodes --gone" "$(typed nodes --gone)"
	line "saguaro alarms" "$(typed alarms)"
	line "resident, saguaro-gateway" "$(kib "$gateway")"
	end_process "$gateway"
	end_process "$daemon"
}
# shellcheck disable=SC2317 # called by until_true
mirrored() { [ "$(get '/v1/known?gone=1&limit=1' | jq .total)" = "$1" ]; }

tree=$work/tree.topo
"$bin/saguaro" topo ft2 36 18 18 -o "$tree"
mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$tree")
start_simulator "$tree"
export SAGUARO_SNAPSHOT_DIR=$work/few/run
figures few 0
mkdir -p "$work/many/state"
"$bin/tests/bench_known" "$rows" --fill "$work/many/state"
export SAGUARO_SNAPSHOT_DIR=$work/many/run
figures many "$rows"
printf '%s\n' "--- what a sweep does, of 11,664 hosts"
"$bin/tests/bench_known" "$rows"
finish
