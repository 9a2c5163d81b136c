#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Several subnet managers on a simulated fabric of 48 hosts: two saguarods of priority 0 and 15,
# and saguarod beside OpenSM, each as the higher and as the lower one. The higher one that comes
# gets the fabric by HANDOVER, the lower one takes it back when the higher one has ended; no LID
# and no LFT block changes, and no trap makes heavy sweeps without end.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opensm sminfo jq

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
mapfile -t names < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree")
low=${names[0]} high=${names[1]}
# A busy machine may let polls wait; nothing here depends on how long a takeover takes.
polling=(--sminfo_polling_timeout=1000)

# shellcheck disable=SC2317 # called by until_true
says_times() { [ "$(grep -c -- "$2" "$work/$1.log")" -ge "$3" ]; }
# state HOST: state of the SM on this host, as sminfo has it from its neighbour
lid_of() { on "$1" ibstat | sed -n 's/.*Base lid: //p' | head -n 1; }
state() { on "${names[5]}" sminfo "$(lid_of "$1")" 2>/dev/null | sed -n 's/.*state [0-9]* SMINFO_//p'; }
# shellcheck disable=SC2317 # called by until_true
is_in() { [ "$(state "$1")" = "$2" ]; }
lfts() { on "${names[5]}" dump_lfts 2>/dev/null; }
sent() { sed -n 's/.*SUBNET UP.*sent \([0-9]*\) PortInfo and \([0-9]*\) LFT blocks.*/\2/p' "$work/$1.log" | tail -n 1; }
heavy() { grep -c 'heavy sweep:' "$work/$1.log"; }

# --- two saguarods ---
start_simulator "$tree"
port_guid() { on "$1" ibstat | sed -n 's/.*Port GUID: //p' | head -n 1; }
announced="$(port_guid "$low"),$(port_guid "$high")"
start_daemon_on "$low" low -p 0 --allowed_sm_guids "$announced" "${polling[@]}"
low_pid=$daemon low_dir=$run_dir
holds "the first is master" until_true log_says low 'SUBNET UP'
# lost: the alarms of the first one that say that it is master no more
# shellcheck disable=SC2317 # called by until_true
lost() { "$bin/saguaro" alarms --json --snapshot-dir "$low_dir" 2>/dev/null | jq -r '[.alarms[] | select(.kind == "master_lost")] | map("\(.severity): \(.text)") | join("\n") | if . == "" then "nothing" else . end'; }
# shellcheck disable=SC2317 # called by until_true
says_lost() { case $(lost) in "warning: is no longer master: "*"handed over"*) true ;; *) false ;; esac; }
# shellcheck disable=SC2317 # called by until_true
nothing_lost() { [ "$(lost)" = nothing ]; }
holds "it lost nothing" nothing_lost
before=$(lfts)
start_daemon_on "$high" high -p 15 --allowed_sm_guids "$announced" "${polling[@]}"
high_pid=$daemon
start_gateway g
holds "the higher one is master" until_true log_says high 'SUBNET UP'
wait_ready
has "by a handover" "$(cat "$work/high.log")" "hands over to us"
holds "the lower one is standby" log_says low "Entering STANDBY state (handed over"
holds "its alarm says so" until_true says_lost
same "sminfo has the lower as standby" STANDBY "$(state "$low")"
same "and the higher as master" MASTER "$(state "$high")"
same "no LFT block was rewritten" 0 "$(sent high)"
same "no table changed" "$before" "$(lfts)"
kill -9 "$high_pid"
wait "$high_pid" 2>/dev/null
holds "the lower one takes over" until_true says_times low 'SUBNET UP' 2
holds "with which its alarm ends" until_true nothing_lost
same "no LFT block was rewritten again" 0 "$(sent low)"
same "still no table changed" "$before" "$(lfts)"
end_process "$low_pid"
stop_simulator

# --- OpenSM is higher ---
start_simulator "$tree"
start_daemon_on "$low" below -p 1 --sm-trust any "${polling[@]}"
below_pid=$daemon
holds "saguarod is master" until_true log_says below 'SUBNET UP'
start_opensm_on "$high" osmhigh -p 9
holds "saguarod hands over to OpenSM" log_says below "Entering STANDBY state (handed over"
same "OpenSM is master" MASTER "$(state "$high")"
# One to begin with, and at most one more for what OpenSM changes when it comes up.
holds "no sweep without end until then" test "$(heavy below)" -le 2
end_process "$opensm"
holds "saguarod takes over when OpenSM ends" until_true says_times below 'SUBNET UP' 2
end_process "$below_pid"
stop_simulator

# --- OpenSM is lower ---
start_simulator "$tree"
start_opensm_on "$low" osmlow -p 1
opensm_settles osmlow
before=$(lfts)
start_daemon_on "$high" above -p 9 "${polling[@]}"
start_gateway h
holds "saguarod is master above OpenSM" until_true log_says above 'SUBNET UP'
has "by a handover of OpenSM" "$(cat "$work/above.log")" "hands over to us"
holds "OpenSM is standby" until_true is_in "$low" STANDBY
wait_ready
sweeps=$(heavy above)
# OpenSM starts again as a standby: its traps are looked at, and no reason for a sweep
end_process "$opensm"
start_opensm_standby() {
	host_command "$low"
	mkdir -p "$work/osmagain"
	(cd "$work" && exec env OSM_CACHE_DIR="$work/osmagain" OSM_TMP_DIR="$work/osmagain" "${as[@]}" \
		opensm -d2 -D 0x43 -p 1 -f "$work/osmagain.log" >"$work/osmagain.out" 2>&1) &
	pids+=("$!")
}
start_opensm_standby
holds "OpenSM is standby again" until_true is_in "$low" STANDBY
same "no heavy sweep for that" "$sweeps" "$(heavy above)"
end_process "$daemon"
stop_simulator

# --- nobody announced the higher ones ---
start_simulator "$tree"
printf 'sm_priority 1\n' >"$work/alone.conf"
start_daemon_on "$low" alone -F "$work/alone.conf" "${polling[@]}"
alone_dir=$run_dir
holds "saguarod is master" until_true log_says alone 'SUBNET UP'
host_command "$high"
mkdir -p "$work/osmcomes"
(cd "$work" && exec env OSM_CACHE_DIR="$work/osmcomes" OSM_TMP_DIR="$work/osmcomes" "${as[@]}" \
	opensm -d2 -D 0x43 -p 9 -f "$work/osmcomes.log" >"$work/osmcomes.out" 2>&1) &
osm_pid=$!
pids+=("$osm_pid")
# shellcheck disable=SC2317 # called by until_true
alarm_names() { "$bin/saguaro" alarms --snapshot-dir "$alone_dir" 2>/dev/null | grep sm_unannounced | grep -q -- "$1"; }
holds "the alarm names the host of OpenSM" until_true alarm_names "$(port_guid "$high")"
start_daemon_on "${names[9]}" higher -p 15 "${polling[@]}"
holds "and that of the higher saguarod" until_true alarm_names "$(port_guid "${names[9]}")"
holds "its own alarm is there, too" until_true log_says higher "announced by nobody"
same "it is master still" MASTER "$(state "$low")"
same "it never was anything else" 0 "$(grep -c 'Entering STANDBY' "$work/alone.log")"
printf 'allowed_sm_guids %s,%s\n' "$(port_guid "$low")" "$(port_guid "${names[9]}")" >>"$work/alone.conf"
"$bin/saguaro" reload --snapshot-dir "$alone_dir" >/dev/null || fail "reload"
holds "announced, it is handed over to" until_true log_says alone "Entering STANDBY state (handed over"
holds "and is master" until_true is_in "${names[9]}" MASTER
finish
