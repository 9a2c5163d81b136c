#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make bench-life: what the life of a fabric costs. One JSON document on standard output, progress
# on standard error.
#
#   sockets     saguarod, and OpenSM where it is installed, one after the other on the same
#               simulated fat tree (saguaro-sim): bring-up, a light sweep, a cable, a host and
#               a switch that go and come back. smps: requests that the fabric got until all was
#               quiet for 3 s, for BENCH_QUIET (6) with OpenSM, which computes for seconds and
#               looks at the fabric every ten; lft_blocks: Set(LinearForwardingTable) among them;
#               seconds: from the change until the last of these blocks had arrived (0: there
#               was none), smp_seconds: until the last request; to 30 ms. What ten
#               seconds without a change cost is measured after the first light sweep
#   partitions  GUIDs are added to a partition of that saguarod at run time, in one request of the
#               command line: median and longest of five, in seconds, until the change is confirmed
#               (durable), and until all ports have their tables and paths follow; smps: sent for
#               one such change
#   takeover    the master saguarod is killed with SIGKILL while another is standby: seconds until
#               the other is master and until its subnet is up, blocks that it sent
#   omnipath    bring-up of Omni-Path fabrics of 1,152 and of 9,216 hosts, of switches of 48 ports, by saguarod, and by opa-fm's "sm" where it is
#               installed, with the shipped opafm.xml: seconds until its log says that it is up; smps until then. Then
#               a cable between switches that goes and comes back. The floor is what the same bring-up takes to compute, without the fabric and the sockets ("sm"
#               of bench_changes)
#   changes     the same changes in one process on a virtual clock, so the time is that of
#               computing: with local sweeps, and without them (heavy)
#   transition  planning the safe order of updates after a lost cable
#   routes      65,536 hosts: route and proof alone, and the whole command
#
# BENCH_PORTS: ports per switch of the fat trees: "24 36" (3,456 and 11,664 hosts); the first is that
# of sockets and takeover. BENCH_LARGE: that of routes, 64; "" leaves it out. BENCH_OMNIPATH: fabrics of Omni-Path as
# bench_changes takes them; "" leaves these out.
set -eu
bin=${top_builddir:-.}
read -ra ports <<<"${BENCH_PORTS:-24 36}"
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-bench.XXXXXX")
export SAGUARO_SIM_SOCKET=$work/sim.sock OSM_CACHE_DIR=$work/osm OSM_TMP_DIR=$work/osm
quiet=3
pids=()
# OpenSM does not end once its simulator is gone, so a bench that is interrupted leaves it no choice.
trap 'kill -9 "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

say() { printf '%s\n' "$*" >&2; }
ctl() { "$bin/saguaro-sim" ctl "$@"; }

simulator() { # simulator [FILE [FLAGS]]
	mkfifo "$work/ready"
	"$bin/saguaro-sim" "${@:-$work/fabric.topo}" >"$work/ready" &
	pids+=($!)
	read -r _ <"$work/ready"
	rm "$work/ready"
}

end_last() {
	kill "$@" "${pids[-1]}"
	wait "${pids[-1]}" 2>/dev/null || true
	unset 'pids[-1]'
}

saguarod() { # saguarod NAME HOST PRIORITY [FLAGS]
	# The audit reads the tables of the fabric all the time, so with it nothing is ever quiet.
	"$bin/saguaro-sim" --run --host "$2" "$bin/saguarod" --fabric umad --sm-priority "$3" --audit_interval 0 "${@:4}" \
		--control-socket "$work/$1.sock" --state-dir "$work/$1.state" --snapshot-dir "$work/$1.run" 2>"$work/$1.log" &
	pids+=($!)
}

# now: sets all and blocks
now() {
	read -r all blocks < <(ctl smps | awk '/^Set LinearForwardingTable/ { b = $3 } /^all/ { a = $2 } END { print a + 0, b + 0 }')
}

# until_quiet START ALL BLOCKS [LOG]: sets seconds (to the last block) and smp_seconds; not before
# the log says SUBNET UP
until_quiet() {
	local start=$1 last_all=$2 last_blocks=$3 log=${4:-} at
	seconds=0 smp_seconds=0
	while :; do
		now
		at=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')
		[ "$blocks" = "$last_blocks" ] || seconds=$at
		[ "$all" = "$last_all" ] || smp_seconds=$at
		last_all=$all last_blocks=$blocks
		if [ -z "$log" ] || grep -qs 'SUBNET UP' "$log"; then
			awk -v a="$at" -v b="$smp_seconds" -v q="$quiet" 'BEGIN { exit !(a > b + q) }' && return
		fi
		sleep 0.02
	done
}

row() { # row SM CHANGE ALL BLOCKS: figures since these counts
	jq -n --arg sm "$1" --arg change "$2" --argjson smps "$((all - $3))" --argjson blocks "$((blocks - $4))" \
		--argjson seconds "$seconds" --argjson smp_seconds "$smp_seconds" \
		'{sm: $sm, change: $change, smps: $smps, lft_blocks: $blocks, seconds: $seconds, smp_seconds: $smp_seconds}'
	say "$1, $2: $((all - $3)) SMPs, $((blocks - $4)) blocks, $seconds s"
}

change() { # change SM WHAT CTL-WORDS...
	local sm=$1 what=$2 all_then blocks_then start
	shift 2
	now
	all_then=$all blocks_then=$blocks start=$EPOCHREALTIME
	ctl "$@" >/dev/null
	until_quiet "$start" "$all_then" "$blocks_then"
	row "$sm" "$what" "$all_then" "$blocks_then"
}

life() { # life SM START LOG: rows of an SM that was started at that time
	local all_then
	until_quiet "$2" 0 0 "$3"
	row "$1" "bring-up" 0 0
	sleep 12 # the first light sweep clears what the bring-up left
	until_quiet "$EPOCHREALTIME" "$all" "$blocks"
	all_then=$all
	sleep 10.5
	now
	seconds=0 smp_seconds=0
	row "$1" "10 s without a change" "$all_then" "$blocks"
	change "$1" "cable lost" link down "edge-000-001[$cable]"
	change "$1" "cable back" link up "edge-000-001[$cable]"
	change "$1" "host lost" node down "$host"
	change "$1" "host back" node up "$host"
	change "$1" "switch lost" node down agg-000-001
	change "$1" "switch back" node up agg-000-001
}

sockets() {
	if command -v opensm >/dev/null; then
		simulator
		"$bin/saguaro-sim" --run opensm -d2 -D 0x43 -f "$work/osm.log" >/dev/null 2>&1 &
		pids+=($!)
		quiet=${BENCH_QUIET:-6}
		life opensm "$EPOCHREALTIME" "$work/osm.log"
		end_last
		end_last
	fi
	quiet=3
	simulator
	saguarod first "$first" 1
	life saguarod "$EPOCHREALTIME" "$work/first.log"
	partitions >"$work/partitions.json"
	saguarod second "$host" 0
	until grep -qs "STANDBY state" "$work/second.log"; do sleep 0.05; done
	takeover >"$work/takeover.json"
	end_last
	end_last
}

# add N: N GUIDs into a new partition; sets confirmed, programmed and smps
add() {
	local start all_then
	now
	all_then=$all start=$EPOCHREALTIME
	"$bin/saguaro" partition add $((++p_key)) "${guids[@]:0:$1}" --create --control-socket "$work/first.sock" >/dev/null
	confirmed=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')
	"$bin/saguaro" partition wait --control-socket "$work/first.sock" >/dev/null
	programmed=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')
	now
	smps=$((all - all_then))
}

partitions() {
	local n i
	mapfile -t guids < <("$bin/saguaro" records NodeRecord --node_type 1 --snapshot-dir "$work/first.run" |
		sed -n "s/.*port_guid='\\(0x[0-9a-f]*\\)'.*/\\1/p")
	for n in 1 1000; do
		p_key=$((256 + n))
		for i in 1 2 3 4 5; do
			add "$n"
			echo "$n $confirmed $programmed $smps"
		done | jq -Rn '[inputs | split(" ") | map(tonumber)] | {guids: .[0][0], confirmed_median: (map(.[1]) | sort[2]),
			confirmed_max: (map(.[1]) | max), programmed_median: (map(.[2]) | sort[2]), programmed_max: (map(.[2]) | max), smps: .[-1][3]}'
	done | tee /dev/stderr
}

takeover() { # the first one is the last but one
	local start master up line
	sleep 2
	start=$EPOCHREALTIME
	kill -9 "${pids[-2]}"
	until grep -qs "MASTER state" "$work/second.log"; do sleep 0.02; done
	master=$EPOCHREALTIME
	until grep -qs "SUBNET UP" "$work/second.log"; do sleep 0.02; done
	up=$EPOCHREALTIME
	line=$(grep "SUBNET UP" "$work/second.log" | head -n 1)
	wait "${pids[-2]}" 2>/dev/null || true
	pids=("${pids[@]:0:${#pids[@]}-2}" "${pids[-1]}")
	jq -n --arg start "$start" --arg master "$master" --arg up "$up" --arg line "$line" \
		'{seconds_to_master: (($master | tonumber) - ($start | tonumber)), seconds_to_up: (($up | tonumber) - ($start | tonumber)),
		  lft_blocks: ($line | capture("and (?<n>[0-9]+) LFT").n | tonumber)}'
	say "takeover: $line"
}

# comes_up SM FABRIC START LOG TEXT: a row when the log says it
comes_up() {
	local n=0 took
	until grep -qs "$5" "$4"; do
		((n++ < 36000)) || { say "$1, $2: not up after half an hour"; break; }
		sleep 0.05
	done
	took=$(awk -v a="$3" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')
	now
	jq -n --arg sm "$1" --arg fabric "$2" --argjson seconds "$took" --argjson smps "$all" \
		'{sm: $sm, fabric: $fabric, seconds: $seconds, smps: $smps}'
	say "$1, $2: up in $took s, $all SMPs"
}

# cable SM FABRIC: rows of a cable between switches, $up; seconds as in sockets, but ten
# seconds after the change count, because an SM that reads counters is never quiet
cable() {
	local what all_then blocks_then last start at
	for what in lost back; do
		sleep 5
		now
		all_then=$all blocks_then=$blocks last=$blocks start=$EPOCHREALTIME seconds=0 at=0
		ctl link "$([ $what = lost ] && echo down || echo up)" "$up" >/dev/null
		while [ "${at%.*}" -lt 10 ]; do
			now
			at=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')
			[ "$blocks" = "$last" ] || seconds=$at
			last=$blocks
			sleep 0.02
		done
		jq -n --arg sm "$1" --arg fabric "$2" --arg change "cable $what" --argjson smps "$((all - all_then))" \
			--argjson blocks "$((blocks - blocks_then))" --argjson seconds "$seconds" \
			'{sm: $sm, fabric: $fabric, change: $change, smps: $smps, lft_blocks: $blocks, seconds: $seconds}'
		say "$1, $2, cable $what: $((all - all_then)) SMPs, $((blocks - blocks_then)) blocks, $seconds s"
	done
}

omnipath() {
	local fm=/usr/lib/opa-fm/runtime/sm example=/usr/share/opa-fm/opafm.xml f words host
	for f in ${BENCH_OMNIPATH-48x24x24 16x24x24x24x12}; do
		IFS=x read -ra words <<<"$f"
		"$bin/saguaro" topo "$([ ${#words[@]} = 3 ] && echo ft2 || echo tree3)" "${words[@]}" -o "$work/opa.topo"
		# leaf or edge switches have their hosts at the first ports
		up=$(sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' "$work/opa.topo" | grep -E '^(leaf|edge)' | sed -n 1p)"[$((words[${#words[@]} == 3 ? 1 : 2] + 1))]"
		host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/opa.topo" | sed -n 1p)
		if [ -x "$fm" ] && [ -r "$example" ]; then
			sed -e "s|<!-- <LogFile>/var/log/fm.log</LogFile> -->|<LogFile>$work/fm.log</LogFile>|" \
				-e 's|<LogMode>0</LogMode>|<LogMode>2</LogMode>|' \
				-e "s|<CoreDumpDir>.*</CoreDumpDir>|<CoreDumpDir>$work</CoreDumpDir>|" "$example" >"$work/opafm.xml"
			rm -f "$work/fm.log"
			simulator "$work/opa.topo" --omnipath
			(cd "$work" && exec "$bin/saguaro-sim" --run --host "$host" "$fm" -e sm_0 -X "$work/opafm.xml" >"$work/fm.out" 2>&1) &
			pids+=($!)
			comes_up opa-fm "$f" "$EPOCHREALTIME" "$work/fm.log" 'DISCOVERY CYCLE END'
			cable opa-fm "$f"
			end_last -9
			end_last
			simulator "$work/opa.topo" --omnipath
			saguarod opa "$host" 1 -F "$work/opafm.xml"
		else
			simulator "$work/opa.topo" --omnipath
			saguarod opa "$host" 1
		fi
		comes_up saguarod "$f" "$EPOCHREALTIME" "$work/opa.log" 'SUBNET UP'
		cable saguarod "$f"
		end_last
		end_last
		rm -rf "$work/opa.state" "$work/opa.run" "$work/opa.log"
		"$bin/tests/bench_changes" "o$f" "" 0 | jq -c 'select(.change == "bring-up") | {floor: true, fabric: "'"$f"'", sm, cpu, smps}'
	done
}

routes() {
	[ -n "${BENCH_LARGE-64}" ] || return 0
	local start
	"$bin/saguaro" topo ft3 "${BENCH_LARGE-64}" -o "$work/large.topo"
	start=$EPOCHREALTIME
	"$bin/saguaro" route "$work/large.topo" -R dmodc --unicast-lid-limit 0xffffff --json >"$work/large.json" 2>/dev/null
	jq --arg start "$start" --arg finish "$EPOCHREALTIME" \
		'{lids, seconds_parse: .seconds.parse, seconds_route: .seconds.route, seconds_prove: .seconds.prove,
		  seconds_command: (($finish | tonumber) - ($start | tonumber)), peak_rss_bytes}' "$work/large.json"
}

command -v jq >/dev/null || { say "jq is needed"; exit 2; }
mkdir "$work/osm"
"$bin/saguaro" topo ft3 "${ports[0]}" -o "$work/fabric.topo"
cable=$((ports[0] / 2 + 1))
first=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/fabric.topo" | sed -n 1p)
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/fabric.topo" | tail -n 1)
sockets | jq -s . >"$work/sockets.json"
for p in "${ports[@]}"; do
	"$bin/tests/bench_changes" "$p" | jq -c '. + {sweeps: "local"}'
	"$bin/tests/bench_changes" "$p" heavy | jq -c '. + {sweeps: "heavy"}'
	say "changes: $p ports"
done | jq -s . >"$work/changes.json"
omnipath | jq -s . >"$work/omnipath.json"
"$bin/tests/bench_transition" "${ports[-1]}" >"$work/transition.json"
routes | jq -s '.[0]' >"$work/routes.json"
jq -n --arg machine "$(nproc) x $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
	--slurpfile sockets "$work/sockets.json" --slurpfile partitions "$work/partitions.json" --slurpfile takeover "$work/takeover.json" \
	--slurpfile omnipath "$work/omnipath.json" --slurpfile changes "$work/changes.json" --slurpfile transition "$work/transition.json" --slurpfile routes "$work/routes.json" \
	'{machine: $machine, sockets: $sockets[0], partitions: $partitions, takeover: $takeover[0], omnipath: $omnipath[0], changes: $changes[0], transition: $transition[0], routes: $routes[0]}'
