#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make bench-sockets: what clients get through sockets, OpenSM and saguarod side by side on
# the same simulated fabric (ft3 24: 3,456 hosts). One JSON document on standard output:
#
#   lid, gid   PathRecord queries per second and the SM's CPU time for one
#   join       multicast joins and leaves per second of four hosts at once; saguarod answers
#              each when it is on disk (BENCH_STATE: where; the file system is named)
#   quiet      a client with one query on the way: median and 99th percentile of the time
#              it waits
#   bulk       the same while another host asks for all paths of one host after another,
#              sixteen tables on the way
#   flood      the same while another host sends 100,000 bad requests, one in a hundred for
#              all paths of the fabric. answered_behind: did a request behind the flood get
#              an answer within a minute? OpenSM computes all these tables first, so it
#              does not; saguarod refuses them
#   blind      at the end, instead of an SM, a program that sends each request back: the
#              price of the simulator and of libibumad, to be taken off the others
#
# and how long each takes to bring the fabric up. What an SM sweeps ten seconds later is waited
# for, or one of the figures would hold that sweep's CPU time. BENCH_TOPO changes the fabric,
# BENCH_SECONDS the time per figure (default 5), BENCH_FLOOD the size of the flood.
set -eu
bin=${top_builddir:-.}
seconds=${BENCH_SECONDS:-5}
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-bench.XXXXXX")
export SAGUARO_SIM_SOCKET=$work/sim.sock OSM_CACHE_DIR=$work/osm OSM_TMP_DIR=$work/osm
pids=()
# OpenSM does not end once its simulator is gone, so a bench that is interrupted leaves it no choice.
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

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

client() { # client HOST ARGUMENTS...
	local host=$1
	shift
	"$bin/saguaro-sim" --run --host "$host" "$bin/tests/sa_load" "$@"
}

settle() { # settle LOG: until the sweep behind the first light one is through, if there is one
	for _ in {1..150}; do
		[ "$(grep -c 'SUBNET UP' "$1")" -lt 2 ] || break
		sleep 0.1
	done
}

row() { jq --arg name "$1" --argjson up "$2" --arg by "$3" '{name: $name, seconds_up: $up} + . + {by: $by}'; }

joins() { # joins NAME UP-SECONDS: four hosts at once, their figures added
	local host clients=()
	for host in "${four[@]}"; do
		client "$host" join "$seconds" 128 "${pids[-1]}" >"$work/join.${#clients[@]}" &
		clients+=($!)
	done
	wait "${clients[@]}"
	jq -s --arg disk "$(stat -f -c %T "$state")" '.[0] + {
		answers: map(.answers) | add, errors: map(.errors) | add, timeouts: map(.timeouts) | add,
		per_second: map(.per_second) | add,
		sm_user_us: (map(.sm_user_us) | add / 16), sm_system_us: (map(.sm_system_us) | add / 16),
		window: 512, state_on: $disk}' "$work"/join.? | row "$1" "$2" join
}

load() { # load NAME UP-SECONDS
	local by flooder behind
	for by in lid gid; do
		client "$far" "$by" "$seconds" 64 "${pids[-1]}" | row "$1" "$2" "$by"
	done
	client "$far" lid "$seconds" 1 | row "$1" "$2" quiet
	joins "$1" "$2"
	client "${four[0]}" table "$((seconds + 2))" 16 >"$work/bulk" &
	flooder=$!
	client "$far" lid "$seconds" 1 | row "$1" "$2" bulk || say "$1: a query beside the tables got no answer"
	wait "$flooder" || say "$1: a table got no answer"
	client "${four[0]}" flood "${BENCH_FLOOD:-100000}" >"$work/flood" 2>/dev/null &
	flooder=$!
	client "$far" lid "$seconds" 1 >"$work/beside" || say "$1: a query beside the flood got no answer"
	behind=true
	wait "$flooder" || behind=false
	jq --slurpfile sent "$work/flood" --argjson behind "$behind" \
		'. + {sent: $sent[0], answered_behind: $behind}' "$work/beside" | row "$1" "$2" flood
}

finish() { # an SM that still grinds at what the flood asked for does not end by itself
	local guard
	kill "${pids[-1]}"
	(sleep 10 && kill -9 "${pids[-1]}") &
	guard=$!
	wait "${pids[-1]}" || true
	kill "$guard" 2>/dev/null || true
	unset 'pids[-1]'
}

command -v jq >/dev/null || { say "jq is needed"; exit 2; }
# shellcheck disable=SC2086 # words
"$bin/saguaro" topo ${BENCH_TOPO:-ft3 24} -o "$work/fabric.topo"
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/fabric.topo" | tail -n 1)
mapfile -t four < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/fabric.topo" | sed -n '2,5p')
state=${BENCH_STATE:-$work}
mkdir "$work/osm"
simulator
{
	if command -v opensm >/dev/null; then
		"$bin/saguaro-sim" --run opensm -d2 -D 0x43 -f "$work/osm.log" >/dev/null 2>&1 &
		pids+=($!)
		start=$(up "$work/osm.log")
		settle "$work/osm.log"
		load opensm "$start"
		finish
	fi
	"$bin/saguaro-sim" --run "$bin/saguarod" --fabric umad \
		--state-dir "$(mktemp -d "$state/state.XXXXXX")" --snapshot-dir "$work/run" 2>"$work/saguarod.log" &
	pids+=($!)
	start=$(up "$work/saguarod.log")
	settle "$work/saguarod.log"
	load saguarod "$start"
	finish
	"$bin/saguaro-sim" --run "$bin/tests/sa_load" echo &
	pids+=($!)
	sleep 1
	client "$far" blind "$seconds" 64 "${pids[-1]}" | row nothing 0 blind
	finish
} | jq -s --arg machine "$(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
	'{machine: $machine, results: .}'
