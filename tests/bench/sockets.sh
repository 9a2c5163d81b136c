#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make bench-sockets: PathRecord queries per second through sockets, OpenSM and saguarod side
# by side on the same simulated fabric (ft3 24: 3,456 hosts), by LID and by GID; and how long
# each takes to bring the fabric up. One JSON document on standard output.
# BENCH_TOPO changes the fabric, BENCH_SECONDS the time per figure (default 5).
set -eu
bin=${top_builddir:-.}
seconds=${BENCH_SECONDS:-5}
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-bench.XXXXXX")
export SAGUARO_SIM_SOCKET=$work/sim.sock OSM_CACHE_DIR=$work/osm OSM_TMP_DIR=$work/osm
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

say() { printf '%s\n' "$*" >&2; }

simulator() {
	mkfifo "$work/ready"
	"$bin/saguaro-sim" "$work/fabric.topo" >"$work/ready" &
	pids+=($!)
	read -r line <"$work/ready"
	rm "$work/ready"
	say "$line"
}

up() { # up LOG: seconds until it says SUBNET UP
	local start=$EPOCHREALTIME
	until grep -qs 'SUBNET UP' "$1"; do
		kill -0 "${pids[-1]}" || { cat "$1" >&2; exit 1; }
		sleep 0.02
	done
	jq -n --arg a "$start" --arg b "$EPOCHREALTIME" '($b | tonumber) - ($a | tonumber)'
}

load() { # load NAME UP-SECONDS
	local by
	for by in lid gid; do
		"$bin/saguaro-sim" --run --host "$far" "$bin/tests/sa_load" "$by" "$seconds" 64 "${pids[-1]}" |
			jq --arg name "$1" --argjson up "$2" '{name: $name, seconds_up: $up} + .'
	done
}

finish() {
	kill "${pids[-1]}"
	wait "${pids[-1]}" || true
	unset 'pids[-1]'
}

command -v jq >/dev/null || { say "jq is needed"; exit 2; }
# shellcheck disable=SC2086 # words
"$bin/saguaro" topo ${BENCH_TOPO:-ft3 24} -o "$work/fabric.topo"
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/fabric.topo" | tail -n 1)
mkdir "$work/osm"
simulator
{
	if command -v opensm >/dev/null; then
		"$bin/saguaro-sim" --run opensm -d2 -D 0x43 -f "$work/osm.log" >/dev/null 2>&1 &
		pids+=($!)
		load opensm "$(up "$work/osm.log")"
		finish
	fi
	OMP_WAIT_POLICY=passive "$bin/saguaro-sim" --run "$bin/saguarod" --fabric umad \
		--state-dir "$work/state" --snapshot-dir "$work/run" 2>"$work/saguarod.log" &
	pids+=($!)
	load saguarod "$(up "$work/saguarod.log")"
	finish
} | jq -s --arg machine "$(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
	'{machine: $machine, results: .}'
