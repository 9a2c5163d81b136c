#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Adaptive routing of Omni-Path: a cable is lost while saguarod is stopped, and traffic goes on without one SMP, as the
# switches move its routes. Then the sweep repairs the rest. The same without adaptive routing loses
# packets until the sweep. The groups of ports that saguarod programs are held against those of the packaged fabric
# manager with the same opafm.xml, and saguarod keeps these when it takes the fabric over.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients jq
fm=/usr/lib/opa-fm/runtime/sm
example=/usr/share/opa-fm/opafm.xml

first_host() { sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/$1.topo" | head -n 1; }
last_host() { sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/$1.topo" | tail -n 1; }
lost() { ctl packets | sed 's/.*, \([0-9]*\) lost/\1/'; }
# shellcheck disable=SC2317 # called by until_true
all_arrive() { [ "$(lost)" = 0 ]; }
smps() { ctl smps | sed -n 's/^all *//p'; }
end_daemon() {
	end_process "$daemon"
	unset 'pids[-1]'
}

# lose_a_cable NAME PORT: while daemon NAME is stopped; sets $n_lost, the packets that are lost until then.
lose_a_cable() {
	local before
	kill -STOP "$daemon"
	before=$(smps)
	ctl link down "leaf-0000[$2]"
	[ "$1" = static ] || holds "$1: traffic goes on" until_true all_arrive
	n_lost=$(lost)
	same "$1: without an SMP" "$before" "$(smps)"
	kill -CONT "$daemon"
	holds "$1: the cable is missed" until_true log_says "$1" 'cable lost'
	holds "$1: all packets arrive after the sweep" until_true all_arrive
}

# --- a lost cable, with and without -----------------------------------------------------------

"$bin/saguaro" topo ft2 8 6 4 2 -o "$work/tree.topo"
start_simulator "$work/tree.topo" --omnipath
start_daemon_on "$(first_host tree)" adaptive --adaptive_routing TRUE --sweep_interval 1
holds "comes up" until_true log_says adaptive 'SUBNET UP'
same "each host reaches each other one" "2256 sent, 0 lost" "$(ctl packets)"
same "all switches adapt their routes" 12 "$(ctl moves | grep -c ' adaptive, [1-9]')"
lose_a_cable adaptive 7
with=$n_lost
# shellcheck disable=SC2317 # called by until_true
resumed() { [ "$(ctl moves | grep -c ' adaptive, [1-9]')" = 12 ]; }
holds "the switches go on to adapt" until_true resumed

start_gateway g
wait_ready
alternates=$(get '/v1/switches/leaf-0000/alternates')
same "its groups are in force" true "$(jq .in_force <<<"$alternates")"
same "the lost port is in none of them" "" "$(jq -r '.port_groups[].ports[] | select(. == 7)' <<<"$alternates")"
end_process "$gateway"
unset 'pids[-1]'
export SAGUARO_SNAPSHOT_DIR=$run_dir
has "why says that the route may move" "$("$bin/saguaro" why "$(first_host tree)" "$(last_host tree)")" \
	"adaptive routing may move it to port"

# a route that moved is no difference
ctl busy 100 'leaf-0001[8]'
# shellcheck disable=SC2317 # called by until_true
moved() { ctl moves | grep -q '"leaf-0001" adaptive, [0-9]* groups, [1-9]'; }
holds "routes of a congested port move" until_true moved
before=$(ctl smps | grep 'Set LinearForwardingTable')
ups=$(grep -c 'heavy sweep, [0-9]* SMPs' "$work/adaptive.log")
# shellcheck disable=SC2317 # called by until_true
swept_again() { [ "$(grep -c 'heavy sweep, [0-9]* SMPs' "$work/adaptive.log")" -gt "$ups" ]; }
"$bin/saguaro" sweep --heavy >/dev/null
holds "a heavy sweep" until_true swept_again
same "no table is set for that" "$before" "$(ctl smps | grep 'Set LinearForwardingTable')"
end_daemon

ctl busy 0 'leaf-0001[8]'
ctl link up 'leaf-0000[7]'
start_daemon_on "$(first_host tree)" static --sweep_interval 1
holds "without adaptive routing" until_true log_says static 'SUBNET UP'
# shellcheck disable=SC2317 # called by until_true
is_off() { [ "$(ctl moves | grep -c ' off, 0 groups')" = 12 ] && all_arrive && ctl show 'leaf-0000' | grep -q '^  \[7\] active'; }
holds "no switch adapts" until_true is_off
lose_a_cable static 9
holds "packets are lost without it" test "$n_lost" -gt "$with"
printf 'packets lost of 2256 while nobody sweeps: %s with adaptive routing, %s without\n' "$with" "$n_lost"
end_daemon
stop_simulator

# --- the groups of opa-fm -----------------------------------------------------------------------

if [ ! -x "$fm" ] || [ ! -r "$example" ] || ! command -v opasmaquery >/dev/null; then
	printf 'opa-fm and its tools are not installed: not compared\n'
	finish
fi
sed -e "s|<!-- <LogFile>/var/log/fm.log</LogFile> -->|<LogFile>$work/fm.log</LogFile>|" \
	-e 's|<LogMode>0</LogMode>|<LogMode>2</LogMode>|' \
	-e "s|<CoreDumpDir>.*</CoreDumpDir>|<CoreDumpDir>$work</CoreDumpDir>|" \
	-e '/<AdaptiveRouting>/,/<.AdaptiveRouting>/{s|<Enable>0</Enable>|<Enable>1</Enable>|;s|<Algorithm>2<|<Algorithm>1<|;s|<Threshold>3<|<Threshold>6<|}' \
	"$example" >"$work/opafm.xml"

# decimal: the numbers in hexadecimal of a line as decimal ones.
decimal() {
	local -a word
	while read -ra word; do
		for i in "${!word[@]}"; do
			case ${word[i]} in 0x*) word[i]=$((${word[i]})) ;; esac
		done
		printf '%s\n' "${word[*]}"
	done
}
lids_of() { for s in $(ctl list "$1" | awk '{ print $3 }'); do ctl show "$s" | sed -n "s/.*active, lid \([0-9]*\) .*/\1 $s/p" | head -n 1; done; }
# shellcheck disable=SC2317 # called by until_true
answered() {
	said=$(on "$asker" "$@" 2>&1 </dev/null) || [[ $said == *"No port groups defined"* ]] || return 1
	[[ $said != *"No hfi"* && $said != *imeout* && $said != *TIMEOUT* ]]
}
ask() {
	until_true answered "$@"
	printf '%s\n' "$said"
}
# groups: of each switch and host behind others the ports of its group and, with an argument, the number of it, as the tools
# read them from the devices.
groups() {
	local lid sw
	lids_of hosts >"$work/hosts"
	lids_of switches >"$work/switches"
	while read -r lid sw; do
		ask opasmaquery -l "$lid" -o portgroup | sed -n 's/.*PG: \(0x[0-9a-f]*\).*Egress:/\1 /p' | decimal >"$work/pg"
		ask opasmaquery -l "$lid" -o portgroupfdb | sed -n 's/.*LID \(0x[0-9a-f]*\) -> PortGroup */\1 /p' | decimal >"$work/pgft"
		awk -v sw="$sw" -v number="${1:-}" 'FILENAME == ARGV[1] { name[$1] = $2; next }
			FILENAME == ARGV[2] { g = $1; $1 = ""; gsub(/ /, ""); ports[g] = $0; next }
			($1 in name) && ($2 in ports) { print sw, name[$1], ports[$2], number == "" ? "" : $2 }' \
			"$work/hosts" "$work/pg" "$work/pgft"
	done <"$work/switches" | sort
}
# shellcheck disable=SC2317 # called by until_true
ended() { [ -r "$work/fm.log" ] && grep -q 'DISCOVERY CYCLE END' "$work/fm.log"; }
# opa_fm FABRIC: it sweeps on a fabric of its own and is stopped.
opa_fm() {
	rm -f "$work/fm.log"
	start_simulator "$work/$1.topo" --omnipath
	asker=$(first_host "$1")
	host_command "$asker"
	(cd "$work" && exec "${as[@]}" "$fm" -e sm_0 -X "$work/opafm.xml" >"$work/fm.out" 2>&1) &
	pids+=("$!")
	holds "$1: opa-fm sweeps" until_true ended
	end_process "$!"
	unset 'pids[-1]'
}

"$bin/saguaro" topo ft2 8 6 4 -o "$work/two-tier.topo"
"$bin/saguaro" topo ft3 4 -o "$work/three-tier.topo"
"$bin/saguaro" topo mesh 3x3 2 -o "$work/mesh.topo"
for fabric in two-tier three-tier mesh; do
	opa_fm "$fabric"
	groups >"$work/$fabric.opa-fm"
	if [ "$fabric" = two-tier ]; then
		groups number >"$work/numbers"
		start_daemon_on "$(first_host "$fabric")" takeover -F "$work/opafm.xml"
		holds "saguarod takes the fabric over" until_true log_says takeover 'SUBNET UP'
		same "and keeps the groups and their numbers" "$(cat "$work/numbers")" "$(groups number)"
		has "no entry of a forwarding table changed" "$(grep 'SUBNET UP' "$work/takeover.log")" " 0 LFT blocks"
		end_daemon
	fi
	stop_simulator
	start_simulator "$work/$fabric.topo" --omnipath
	start_daemon_on "$(first_host "$fabric")" "$fabric" -F "$work/opafm.xml"
	holds "$fabric: saguarod comes up" until_true log_says "$fabric" 'SUBNET UP'
	has "$fabric: the parameters of the file" "$(ask opasmaquery -l "$(lids_of switches | awk 'NR == 1 { print $1 }')" -o swinfo)" \
		"AdaptiveRouting: Enable: 1 Pause: 0 Alg: 1 Freq: 0 LostRoutesOnly: 0 Thresh: 6"
	groups >"$work/$fabric.saguarod"
	end_daemon
	stop_simulator
	printf '%s: %s LIDs of hosts with a group at a switch, opa-fm %s\n' "$fabric" "$(wc -l <"$work/$fabric.saguarod")" "$(wc -l <"$work/$fabric.opa-fm")"
done
for fabric in two-tier three-tier; do
	same "$fabric: the groups of opa-fm" "$(cat "$work/$fabric.opa-fm")" "$(cat "$work/$fabric.saguarod")"
done
# a mesh has fewer: with all of opa-fm's, switches could choose routes that wait for each other in a circle
same "mesh: no group that opa-fm has not" "" "$(comm -13 "$work/mesh.opa-fm" "$work/mesh.saguarod")"
has "mesh: the reason for those that are missing" "$(cat "$work/mesh.log")" \
	"ports are left out as alternates, with them there could be"
finish
