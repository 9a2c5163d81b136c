#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# One host against the subnet manager, by real packets through libibumad (hostile.c): it calls itself a
# higher subnet manager and reads the keys in our requests, speaks in the name of the master, makes up
# answers, and accuses others. With no configuration at all, with an sm_key alone, and with all keys.
# The lines "figures" say what it sent and what came of it.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients ibstat jq
[ -x "$bin/tests/hostile" ] || skip "tests/hostile is not built"
grep -q 'define HAVE_GNUTLS' "$bin/config.h" || skip "built without GnuTLS"

fabric=$here/tests/fabrics/two-switch.topo
sm=h1 second=h2 bad=h3
hostile() { on "$bad" "$bin/tests/hostile" "$@"; }
port_guid() { on "$1" ibstat | sed -n 's/.*Port GUID: //p' | head -n 1; }
lid_of() { on "$1" ibstat | sed -n 's/.*Base lid: //p' | head -n 1; }
sweeps() { grep -c 'heavy sweep:' "$work/$1.log"; }
# shellcheck disable=SC2317 # called by until_true
alarm_is() { [ "$("$bin/saguaro" alarms --csv --field kind,node.name | grep -c "^$1,node3")" = "$2" ]; }
figures() { printf 'figures: %s\n' "$*"; }

# claims NAME STATE SM_KEY: the host calls itself a subnet manager; $work/NAME has what it was sent.
claims() {
	host_command "$bad"
	(cd "$work" && exec "${as[@]}" "$bin/tests/hostile" manager "$patience" 15 "$2" "$3" >"$work/$1" 2>>"$work/hostile.log") &
	claimant=$!
	pids+=("$claimant")
}
keys_of() { awk '$1 == "Get" { print $2 } $1 == "Set" { print $3 }' "$work/$1" | sort -u; }

# attacked NAME ARGS...: a subnet manager of this configuration, and what a host can do.
attacked() {
	local name=$1 alarm=sm_conflict key n lid
	[ "$name" != defaults ] || alarm=sm_unannounced
	shift
	start_simulator "$fabric"
	start_daemon_on "$sm" "$name" -p 3 --sweep_interval 1 "$@"
	until_true log_says "$name" 'SUBNET UP' || { fail "$name: saguarod does not come up"; finish; }
	export SAGUARO_SNAPSHOT_DIR=$run_dir
	lid=$(lid_of "$sm")

	claims "$name.standby" 2 1
	if [ "$name" != defaults ]; then
		holds "$name: it is ignored, and the log says why" until_true log_says "$name" 'is ignored: it has another SM_Key'
	else
		holds "$name: a higher standby is an alarm that names its host" until_true alarm_is sm_unannounced 1
		has "$name: the alarm names the remedy" "$("$bin/saguaro" alarms)" "allowed_sm_guids"
	fi
	end_process "$claimant"
	holds "$name: its alarm ends with it" until_true alarm_is sm_unannounced 0
	claims "$name.master" 3 1
	holds "$name: a second master is an alarm that names its host" until_true alarm_is "$alarm" 1
	n=0
	same "$name: nothing is handed over" 0 "$(cat "$work/$name.standby" "$work/$name.master" | grep -c '^Set')"
	holds "$name: it was asked" grep -q '^Get' "$work/$name.master"
	end_process "$claimant"
	holds "$name: the alarm ends with it" until_true alarm_is "$alarm" 0
	holds "$name: we are master" "$bin/saguaro" status
	# Each key that it read is tried on a switch.
	cat "$work/$name.standby" "$work/$name.master" >"$work/$name.read"
	for key in $(keys_of "$name.read"); do
		n=$((n + 1))
		if [ "$key" != 0x0000000000000000 ]; then
			has "$name: the key in a request opens no other port" "$(hostile portinfo "$lid" "$key")" refused
		fi
	done
	figures "$name: a higher SM claimed: 0 handovers, $n different M_Keys read: $(keys_of "$name.read" | tr '\n' ' ')"

	n=$(sweeps "$name")
	hostile control "$lid" 1 0 3 20 >"$work/$name.control" # a master may give us its part; see the sweeps
	for guid in "$(port_guid "$sm")" "$(port_guid "$second")"; do
		hostile control "$lid" 1 "$guid" 3 20 >"$work/$name.control"
		same "$name: HANDOVER in the name of $guid is refused" "" "$(grep status "$work/$name.control" | grep -v 0x001c)"
	done
	figures "$name: 60 HANDOVER: $(($(sweeps "$name") - n)) heavy sweeps"
	holds "$name: no sweep for that" test $(($(sweeps "$name") - n)) -le 1
}

attacked defaults
end_process "$daemon"
stop_simulator
attacked sm_key --sm_key 0x44b1c2d3e4f50617
end_process "$daemon"
stop_simulator
attacked keys --sm_key 0x44b1c2d3e4f50617 --m_key 0x7a31f00dc0ffee42

# --- a standby, told in the master's name to go; answers; traps ------------------------------------------
master_dir=$run_dir
start_daemon_on "$second" standby -p 1 --sm_key 0x44b1c2d3e4f50617 --m_key 0x7a31f00dc0ffee42
holds "the second is standby" until_true log_says standby 'Entering STANDBY'
for what in 3 5 1; do
	said=$(hostile control "$(lid_of "$second")" "$what" "$(port_guid "$sm")" 3 3)
	same "a standby refuses what a host says in the master's name: $what" "" "$(grep status <<<"$said" | grep -v 0x001c)"
done
same "it stays standby" "STANDBY" "$(sed -n 's/.*Entering \([A-Z-]*\) state.*/\1/p' "$work/standby.log" | tail -n 1)"

export SAGUARO_SNAPSHOT_DIR=$master_dir
# Its kernel passes on only what answers a request, so the next transaction ID would have to be guessed.
n=$(sweeps keys)
hostile answers 6 2000 >"$work/answers"
figures "made up answers: $(sed -n 's/sent //p' "$work/answers"), heavy sweeps for them: $(($(sweeps keys) - n))"
holds "answers were made up" grep -q '^sent [1-9]' "$work/answers"
same "no port is down for it" "" "$("$bin/saguaro" alarms --csv --field kind | grep -E 'link_down|host_gone|node_problem')"
before=$("$bin/saguaro" events --field id | wc -l)
hostile traps "$(lid_of "$sm")" 5000 >"$work/traps"
holds "the subnet manager answers" "$bin/saguaro" status
rows=$(($("$bin/saguaro" events --field id | wc -l) - before))
figures "accusing traps: $(sed -n 's/sent //p' "$work/traps"), rows of events for them: $rows"
holds "few rows for many accusations" test "$rows" -le 40
finish
