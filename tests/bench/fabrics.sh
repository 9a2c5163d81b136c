#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make bench-fabrics FABRICS='FILE ...': what Saguaro makes of given topology files, such as
# ibnetdiscover or ibdiagnet print them; without FABRICS of a generated tree with aggregation
# nodes and with hosts on spines. One JSON document per file on standard output:
#
#   engines  each tree engine and those that need no tree: does it prove, pairs of hosts without
#            a route, routes per link (largest and mean), credit loops of management traffic,
#            seconds
#   default  what serves without -R, and why if it is not the first choice
#   up       saguarod and OpenSM (minhop; what it falls back to is not told) on the simulator:
#            seconds until the subnet is up, requests by attribute
#   change   requests that saguarod sends when one host goes and when it comes back:
#            LinearForwardingTable blocks, PortInfos, all
#
# BENCH_ENGINES changes the list of engines. A second alone says little; ratios of one run do.
set -eu
bin=${top_builddir:-.}
engines=${BENCH_ENGINES:-minhop updn dnup ftree dmodc fattree shortestpath sssp dfsssp nue lash}
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-bench.XXXXXX")
export SAGUARO_SIM_SOCKET=$work/sim.sock OSM_CACHE_DIR=$work/osm OSM_TMP_DIR=$work/osm
sim='' sm=''
stop() { # stop PID: ends a server and waits for its end
	[ -n "$1" ] || return 0
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}
trap 'stop "$sm"; stop "$sim"; rm -rf "$work"' EXIT

say() { printf '%s\n' "$*" >&2; }
ctl() { "$bin/saguaro-sim" ctl "$@"; }
smps() { ctl smps | awk '{ print $1, ($1 == "all" ? "requests" : $2), $NF }' | LC_ALL=C sort; }

simulator() { # simulator FILE
	mkfifo "$work/ready"
	"$bin/saguaro-sim" "$1" >"$work/ready" 2>"$work/sim.log" &
	sim=$!
	read -r line <"$work/ready" || { cat "$work/sim.log" >&2; exit 1; }
	rm "$work/ready"
	say "  $line"
}

up() { # up COMMAND...: starts an SM on the first host; sets seconds
	local start=$EPOCHREALTIME
	"$bin/saguaro-sim" --run "$@" >"$work/sm.log" 2>&1 &
	sm=$!
	until grep -qs 'SUBNET UP' "$work/sm.log"; do
		kill -0 "$sm" 2>/dev/null || { cat "$work/sm.log" >&2; exit 1; }
		sleep 0.02
	done
	seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
}

quiet() { # until no request was sent for a second
	local before='' now
	now=$(smps)
	while [ "$before" != "$now" ]; do
		sleep 1
		before=$now
		now=$(smps)
	done
}

counts() { # counts BEFORE AFTER: what was sent between, as JSON
	join -a 2 -e 0 -o 2.1,1.2,2.2 <(awk '{ print $1 "_" $2, $NF }' <<<"$1" | LC_ALL=C sort) \
		<(awk '{ print $1 "_" $2, $NF }' <<<"$2" | LC_ALL=C sort) |
		jq -Rn '[inputs / " " | select((.[2] | tonumber) > (.[1] | tonumber)) | { (.[0]): ((.[2] | tonumber) - (.[1] | tonumber)) }] | add // {}'
}

engine_rows() { # engine_rows FILE
	local e
	for e in $engines; do
		OMP_WAIT_POLICY=passive "$bin/saguaro" route "$1" -R "$e,no_fallback" --json 2>/dev/null >"$work/route.json" || true
		jq -c --arg e "$e" '{engine: $e, proven: (.load != null and .engine_used == $e), unreachable_pairs, credit_loops, management_pairs, load, seconds: .seconds.route}' \
			"$work/route.json" 2>/dev/null || jq -cn --arg e "$e" '{engine: $e, proven: false}'
	done | jq -s .
}

fabric() { # fabric FILE
	local file=$1 host before after served peer='null' seconds gone
	say "$file"
	engine_rows "$file" >"$work/engines.json"
	"$bin/saguaro" route "$file" --json 2>/dev/null >"$work/default.json" || true

	simulator "$file"
	before=$(smps)
	up "$bin/saguarod" --fabric umad --state-dir "$work/state" --snapshot-dir "$work/snap"
	quiet
	after=$(smps)
	served=$(counts "$before" "$after" | jq --arg s "$seconds" '{seconds: ($s | tonumber), requests: .}')
	say "  saguarod up in $seconds s"
	# not the SM's host, which is the first
	host=$(ctl list hosts | awk '{ print $2 }' | tail -n 1)
	before=$(smps)
	ctl node down "$host"
	quiet
	after=$(smps)
	gone=$(counts "$before" "$after")
	before=$after
	ctl node up "$host"
	quiet
	after=$(smps)
	stop "$sm"
	sm=''
	stop "$sim"
	sim=''
	rm -rf "$work/state" "$work/snap"

	if command -v opensm >/dev/null; then
		mkdir -p "$work/osm"
		simulator "$file"
		up opensm -e -f stdout
		peer=$(counts '' "$(smps)" | jq --arg s "$seconds" '{seconds: ($s | tonumber), requests: .}')
		say "  OpenSM up in $seconds s"
		stop "$sm"
		sm=''
		stop "$sim"
		sim=''
		rm -rf "$work/osm"
	fi
	jq -n --arg file "${file##*/}" --slurpfile engines "$work/engines.json" --slurpfile d "$work/default.json" \
		--argjson ours "$served" --argjson peer "$peer" --argjson gone "$gone" --argjson back "$(counts "$before" "$after")" \
		'{file: $file, engines: $engines[0],
		  default: ($d[0] | {engine_used, engine_asked, fallback_reason, unreachable_pairs, load}),
		  up: {saguarod: $ours, opensm: $peer}, change: {host_gone: $gone, host_back: $back}}'
}

if [ $# = 0 ]; then
	"$bin/saguaro" topo ft3 16 --aggregation-nodes -o "$work/ft3-16-aggregation.topo"
	"$bin/saguaro" topo ft3 16 --aggregation-nodes --spine-hosts 40 -o "$work/ft3-16-spine-hosts.topo"
	set -- "$work"/*.topo
fi
for f in "$@"; do fabric "$f"; done
