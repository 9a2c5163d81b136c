#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make bench: figures as one JSON document on standard output, progress on standard error.
# Fixed fabrics and seeds, RUNS runs each (default 5), median with minimum and maximum. A
# second alone says little: compare ratios from one run on one machine.
# BENCH_PEER=1 also times OpenSM's minhop on the same fabric over ibsim, in the same run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=${top_builddir:-.}
runs=${RUNS:-5}
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

say() { printf '%s\n' "$*" >&2; }

median() { # median FIELD FILES...: {"median","min","max"} of a jq path
	local field=$1
	shift
	jq -s "[.[] | $field] | sort | {median: .[length / 2 | floor], min: .[0], max: .[-1]}" "$@"
}

route_bench() { # [flags=...] route_bench NAME ENGINE TOPO-ARGS...
	local name=$1 engine=$2 run
	local -a more
	read -ra more <<<"${flags:-}"
	shift 2
	"$bin/saguaro" topo "$@" -o "$work/$name.topo"
	for run in $(seq "$runs"); do
		"$bin/saguaro" route "$work/$name.topo" -R "$engine" --credit-loops program "${more[@]}" --json >"$work/$name.$run.json" 2>/dev/null || true
	done
	say "route $name $engine: $(median .seconds.route "$work/$name".*.json | jq -c .)"
	jq -n --arg name "$name" --arg engine "$engine" --arg kind "$*" \
		--argjson route "$(median .seconds.route "$work/$name".*.json)" \
		--argjson prove "$(median .seconds.prove "$work/$name".*.json)" \
		--argjson parse "$(median .seconds.parse "$work/$name".*.json)" \
		--argjson rss "$(median .peak_rss_bytes "$work/$name".*.json)" \
		--argjson last "$(jq '{switches, lids, unreachable_pairs, forwarding_loops, credit_loops, load}' "$work/$name.1.json")" \
		'{name: $name, engine: $engine, fabric: $kind, seconds_route: $route, seconds_prove: $prove, seconds_parse: $parse, peak_rss_bytes: $rss} + $last'
}

busy_bench() { # busy_bench NAME ENGINE TOPO-ARGS...: all processors but one have other work
	local name=$1 engine=$2 way run pid
	local -a spinning=()
	shift 2
	"$bin/saguaro" topo "$@" -o "$work/$name.topo"
	for way in alone busy; do
		if [ "$way" = busy ]; then
			for _ in $(seq $(($(nproc) > 1 ? $(nproc) - 1 : 1))); do
				(while :; do :; done) &
				spinning+=("$!")
			done
		fi
		for run in $(seq "$runs"); do
			"$bin/saguaro" route "$work/$name.topo" -R "$engine" --json >"$work/$name.$way.$run.json" 2>/dev/null || true
		done
	done
	for pid in "${spinning[@]}"; do kill "$pid"; done
	jq -n --arg name "$name" --arg engine "$engine" --arg kind "$*" \
		--argjson alone "$(median .seconds.route "$work/$name".alone.*.json)" \
		--argjson busy "$(median .seconds.route "$work/$name".busy.*.json)" \
		'{name: $name, engine: $engine, fabric: $kind, seconds_route_alone: $alone, seconds_route_busy: $busy, busy_over_alone: ($busy.median / $alone.median)}' |
		tee "$work/$name.json"
	say "route $name $engine, busy over alone: $(jq .busy_over_alone "$work/$name.json")"
}

groups() { # groups FILE: device groups for dgshortestpath, a tenth of the hosts is storage
	cat >"$1" <<-'XML'
		<DeviceGroups>
		<DeviceGroup><Name>Storage</Name><NodeDesc>node*5</NodeDesc></DeviceGroup>
		<DeviceGroup><Name>Compute</Name><NodeDesc>node*</NodeDesc></DeviceGroup>
		</DeviceGroups>
	XML
}

peer_bench() { # peer_bench NAME: OpenSM's minhop from the start of its tables to their end, by its log
	local name=$1 sim log=$work/opensm.log
	export IBSIM_SOCKNAME=saguaro-bench-$$
	mkfifo "$work/fifo"
	sleep 600 >"$work/fifo" &
	local holder=$!
	(cd "$work" && exec ibsim -s -S 4096 -N 20000 -P 400000 -L 49152 "$work/$name.topo" <"$work/fifo" >"$work/ibsim.log" 2>&1) &
	sim=$!
	until grep -q 'Network simulator ready' "$work/ibsim.log" 2>/dev/null; do kill -0 $sim || break; done
	(cd "$work" && OSM_CACHE_DIR=$work OSM_TMP_DIR=$work timeout 180 ibsim-run opensm -o -D 0x43 -f "$log" >/dev/null 2>&1) || true
	kill $sim $holder 2>/dev/null || true
	wait $sim $holder 2>/dev/null || true
	rm -f "$work/fifo"
	grep -E 'SUBNET UP|minhop tables' "$log" | head -n 2 | jq -R . | jq -s --arg name "$name" '{peer: "opensm", name: $name, log: .}'
}

command -v jq >/dev/null || { say "jq is needed"; exit 2; }
{
	route_bench ft1024 minhop ft3 16
	route_bench ft3456 minhop ft3 24
	route_bench ft11664 minhop ft3 36
	route_bench ft11664f1 minhop ft3 36 --fail 0.01 --seed 1
	for engine in minhop ftree fattree; do
		for fail in 0.0005 0.01 0.05; do
			route_bench "ft1024-$engine-$fail" "$engine" ft3 16 --fail "$fail" --seed 1
		done
	done
	route_bench ft11664f1-fattree fattree ft3 36 --fail 0.01 --seed 1
	for engine in updn ftree dmodc fattree sssp dfsssp; do
		route_bench "ft11664-$engine" "$engine" ft3 36
	done
	route_bench ft11664-shortestpath shortestpath ft3 36
	groups "$work/groups.xml"
	flags="--device-groups-file $work/groups.xml --dg-routing-order Storage,Compute" route_bench ft11664-dgshortestpath dgshortestpath ft3 36
	flags='--lmc 3 --unicast-lid-limit 0xffffff' route_bench ft11664-lmc3 shortestpath ft3 36
	for engine in minhop updn ftree dmodc; do
		route_bench "ft27648-$engine" "$engine" ft3 48
	done
	route_bench t16168-minhop minhop torus 16x16x8 2
	route_bench t161616-minhop minhop torus 16x16x16 1
	route_bench t888 minhop torus 8x8x8 4
	route_bench t888-dor dor torus 8x8x8 4
	route_bench t16168-dor dor torus 16x16x8 2
	route_bench hc8-dor dor hypercube 8 4
	route_bench ft1024-lash lash ft3 16
	route_bench ft3456-lash lash ft3 24
	route_bench jf256-lash lash jellyfish 256 12 4
	route_bench t888-lash lash torus 8x8x8 4
	route_bench t16168-lash lash torus 16x16x8 2
	route_bench ft3456-dfsssp dfsssp ft3 24
	route_bench jf256-dfsssp dfsssp jellyfish 256 12 4
	route_bench t888-dfsssp dfsssp torus 8x8x8 4
	route_bench t16168-torus torus-2QoS torus 16x16x8 2
	route_bench t161616-torus torus-2QoS torus 16x16x16 1
	for lanes in 1 8; do
		for fabric in "ft3456 ft3 24" "ft11664 ft3 36" "t888 torus 8x8x8 4" "jf256 jellyfish 256 12 4"; do
			read -ra topo <<<"$fabric"
			flags="--nue_max_num_vls $lanes" route_bench "${topo[0]}-nue$lanes" nue "${topo[@]:1}"
		done
	done
	busy_bench ft1024f2-busy ftree ft3 16 --fail 0.02 --seed 3
	for program in bench_cache bench_publish bench_sa bench_joins bench_transition bench_changes; do
		[ -x "$bin/tests/$program" ] || continue
		say "$program"
		"$bin/tests/$program"
	done
	[ ! -x "$bin/tests/bench_sa" ] || "$bin/tests/bench_sa" 14 # 686 hosts
	[ ! -x "$bin/tests/sa_load" ] || bash "$here/sockets.sh" | jq '.results[] | {bench: "sockets"} + .'
	[ "${BENCH_PEER:-0}" = 0 ] || peer_bench ft3456
} | jq -s --arg machine "$(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
	--arg when "$(date -u +%Y-%m-%dT%H:%M:%SZ)" --arg version "$("$bin/saguaro" --version)" \
	'{machine: $machine, when: $when, version: $version, results: .}'
