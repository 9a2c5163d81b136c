#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro doctor in situations that are broken for real: the cause and what to do about it in its words,
# exit status 1, and 0 once it is mended. DOCTOR_SHOW=1 prints all that it says.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients jq ibstat

fabric=$here/tests/fabrics/two-switch.topo
unset SAGUARO_URL SAGUARO_SNAPSHOT_DIR

# doctor [ARGS]: its words in $said, its exit status in $status.
doctor() {
	said=$("$bin/saguaro" doctor --snapshot-dir "$run_dir" "$@" 2>&1)
	status=$?
}
# shellcheck disable=SC2317 # called by until_true
doctor_says() { doctor "${@:2}"; case $said in *"$1"*) return 0 ;; *) return 1 ;; esac; }

# diagnoses WHAT CAUSE REMEDY [ARGS]: by and by it says both, with exit status 1, also as JSON.
diagnoses() {
	local what=$1 cause=$2 remedy=$3
	shift 3
	until_true doctor_says "$cause" "$@"
	[ -z "${DOCTOR_SHOW:-}" ] || printf -- '--- %s\n$ saguaro doctor %s\n%s\n(exit status %s)\n' "$what" "$*" "$said" "$status"
	has "$what: the cause" "$said" "$cause"
	has "$what: what to do" "$said" "What to do: "
	has "$what: what to do about this" "$said" "$remedy"
	same "$what: exit status" 1 "$status"
	holds "$what: as JSON" jq -e '.healthy == false and (.findings | length > 0) and all(.findings[]; .advice != "" and .text != "")' \
		<("$bin/saguaro" doctor --snapshot-dir "$run_dir" --json "$@")
}

# A heavy sweep finds that a node answers again, and that another subnet manager is gone.
# shellcheck disable=SC2317 # called by until_true
well_after_sweep() {
	"$bin/saguaro" sweep --heavy --snapshot-dir "$run_dir" >/dev/null
	doctor_says "nothing is wrong"
}

finds_nothing_wrong() {
	until_true doctor_says "nothing is wrong"
	same "$1: all is well again" "nothing is wrong 0" "${said%%$'\n'*} $status"
}

# --- nobody to ask --------------------------------------------------------------------------------
run_dir=$work/never/run
diagnoses "no daemon" "no saguarod has run here" "systemctl start saguarod"

if [ ! -d /sys/class/infiniband ]; then
	start_daemon none --fabric umad
	wait "$daemon"
	diagnoses "no adapter" "ended: SAG-START-002: no InfiniBand channel adapter on this host" "load its driver (modprobe mlx5_ib"
fi

# --- a fabric of two switches -----------------------------------------------------------------------
start_simulator "$fabric"

ctl link down 'h1[1]'
start_daemon_on h1 down --sweep_interval 1
diagnoses "port down" "the SM's port has no working link to another node" "'ibstat' shows the port"
ctl link up 'h1[1]'
finds_nothing_wrong "port up"
end_process "$daemon"
diagnoses "stopped" "ended: it was stopped" "systemctl start saguarod"

# Each shows its SM_Key only to those that it is told of.
guid() { on "$1" ibstat | sed -n 's/.*Port GUID: 0x/0x/p'; }
both=$(guid h1),$(guid h3)
start_daemon_on h1 first --sm_key 1234 --sweep_interval 1 --sm_priority 5
first=$daemon first_dir=$run_dir
until_true log_says first 'SUBNET UP' || { fail "saguarod does not come up"; finish; }
start_daemon_on h3 second --sm_key 1234 --sm_priority 3
diagnoses "another master" "another subnet manager manages the fabric: that on node1" "give this one a higher sm_priority"
end_process "$daemon"

start_daemon_on h3 stranger --sm_key 9999 --sm_priority 3 --allowed_sm_guids "$both"
diagnoses "other SM_Key" "there are two masters: the SM on 'node1'" "give all subnet managers the same sm_key"
end_process "$daemon"
run_dir=$first_dir
until_true well_after_sweep
finds_nothing_wrong "one master"

ctl node deaf s2
diagnoses "deaf switch" "'sw2' does not answer any more" "restart it, or look at its firmware"
ctl node awake s2
until_true well_after_sweep
finds_nothing_wrong "switch awake"

ctl link down 'h4[1]'
diagnoses "host gone" "host 'node4' is gone" "look at the host"
ctl link up 'h4[1]'
finds_nothing_wrong "host back"
kill -9 "$first"
wait "$first" 2>/dev/null
diagnoses "daemon killed" "gave no sign of life" "systemctl restart saguarod"

# --- who may read -----------------------------------------------------------------------------------
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$work" && chmod 700 "$run_dir"
	said=$(setpriv --reuid 65534 --clear-groups "$bin/saguaro" doctor --snapshot-dir "$run_dir" 2>&1)
	status=$?
	chmod 750 "$run_dir"
else
	chmod 0 "$run_dir"
	doctor
	chmod 750 "$run_dir"
fi
[ -z "${DOCTOR_SHOW:-}" ] || printf -- '--- %s\n%s\n(exit status %s)\n' "folder" "$said" "$status"
has "folder not readable: the cause" "$said" "may not read the snapshot of saguarod in $run_dir"
has "folder not readable: what to do" "$said" "What to do: become a member of the group"
same "folder not readable: exit status" 1 "$status"

# --- another M_Key, partitions, engines ----------------------------------------------------------------
printf 'm_key 0x5555\nm_key_protection_level 1\nm_key_lease_period 0\n' >"$work/key.conf"
start_daemon_on h1 key -F "$work/key.conf"
until_true log_says key 'SUBNET UP'
end_process "$daemon"
start_daemon_on h1 nokey
diagnoses "M_Key" "seems to hold an M_Key that is not known here" "as m_key, or its file guid2mkey"
end_process "$daemon"
stop_simulator

start_simulator "$fabric"
printf 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\n' >"$work/partitions.conf"
start_daemon_on h1 parts --Pconfig "$work/partitions.conf" --routing_engine ftree,minhop
diagnoses "fallback" "ftree: not a tree" "change the engine, or mend what does not suit it"
diagnoses "no common P_Key" "only limited members of partition 0x7fff" "saguaro partition show" node2 node3
doctor node1 node3
has "a pair with a path" "$said" "node1 reaches node3 over 2 switches"
same "a pair with a path: exit status" 0 "$status"
doctor nobody
same "an unknown host: exit status" 2 "$status"
has "an unknown host: it is said" "$said" "nobody"
end_process "$daemon"
stop_simulator

# --- no room -----------------------------------------------------------------------------------------
# In a mount namespace of its own, where a small tmpfs fills up.
# shellcheck disable=SC2016 # its own variables
full='
mount -t tmpfs -o size=300m none "$1" || exit 77
"$2/saguarod" --fabric "sim:$3" --state-dir "$1.state" --snapshot-dir "$1/run" --sweep_interval 1 2>"$1.log" & d=$!
trap "kill $d; wait $d" EXIT
until grep -q "SUBNET UP" "$1.log"; do kill -0 $d || exit 1; sleep 0.05; done
dd if=/dev/zero of="$1/filler" bs=1M 2>/dev/null
"$2/saguaro" doctor --snapshot-dir "$1/run"; echo "exit status $?"
"$2/saguaro" doctor --snapshot-dir "$1/run" --json >/dev/null; echo "exit status $? as JSON"
rm "$1/filler"
until "$2/saguaro" doctor --snapshot-dir "$1/run" >"$1.out"; do sleep 0.05; done'
mkdir "$work/small"
said=$(timeout "$patience" unshare -rm bash -c "$full" bash "$work/small" "$bin" "$fabric" 2>&1)
case $? in
0)
	[ -z "${DOCTOR_SHOW:-}" ] || printf -- '--- no room\n%s\n' "$said"
	has "no room: the cause" "$said" "the file system of $work/small/run is full: 0 of"
	has "no room: what to do" "$said" "What to do: make room there"
	has "no room: exit status" "$said" "exit status 1"
	ok "room again"
	;;
*) printf 'no small file system can be mounted here: %s\n' "$said" ;;
esac

# --- members of partitions that are not there: noted, and the fabric is well -----------------------
printf 'Default=0x7fff : ALL=full ;\nRed=0x10 : "node[02-03]"=full, "nobody"=full, 0x77=full ;\n' >"$work/named.conf"
"$bin/saguaro" topo ft2 3 4 2 -o "$work/named.topo"
start_daemon named --fabric "sim:$work/named.topo" -P "$work/named.conf"
until_true doctor_says "nothing is wrong"
has "members: a name" "$said" "Red (0x0010): no host has the name 'nobody'"
has "members: a GUID" "$said" "Red (0x0010): no port has the GUID 0x0000000000000077"
same "members: exit status" 0 "$status"
same "members: as JSON" "true nobody 0x0000000000000077" \
	"$("$bin/saguaro" doctor --snapshot-dir "$run_dir" --json | jq -r '"\(.healthy) \([.absent_members[].member] | join(" "))"')"
same "members by name" "2" "$("$bin/saguaro" partition show 0x10 --snapshot-dir "$run_dir" --field name | wc -l)"
finish
