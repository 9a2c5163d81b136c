#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# OpenSM and saguarod take each other's place without hosts registering again: the dump of
# subnet administration that one writes (sa_db_dump) the other reads (sa_db_file, -S). saquery
# shows the same groups with their members, services and subscriptions.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery opensm osmtest
[ -x "$bin/tests/subscriber" ] || skip "tests/subscriber is not built"

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 2 2 -o "$tree"
mapfile -t names < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree")
host=${names[0]} near=${names[1]} far=${names[-1]}
mkdir "$work/ours"
echo 'sa_db_dump TRUE' >"$work/theirs.conf"
printf 'sa_db_dump TRUE\nsweep_interval 1\ndump_files_dir %s\n' "$work/ours" >"$work/ours.conf"

# What a trusted requester sees; services without end, for the others may go at any time, and
# without the times that run.
query() { on "$far" saquery --smkey 1 "$@" 2>/dev/null; }
members() { query MCMR | grep -v 'record dump' | sort; }
services() { query SR | awk '/ServiceRecord dump/ { record = "" } { record = record " " $1 } /ServiceLease/ && /0xFFFFFFFF/ { ever = 1 } /ServiceData64[.]2/ { if (ever) print record; ever = 0 }' | sort; }
subscriptions() { query IIR | grep -v 'record dump' | sort; }
dumped() { # dumped FILE: has it all kinds of records?
	[ "$(grep -c '^mcm_port:' "$1")" -ge 1 ] && [ "$(grep -c '^Service Record:.*lease=0xffffffff' "$1")" -ge 2 ] &&
		[ "$(grep -c '^InformInfo Record:' "$1")" -ge 1 ]
}

start_simulator "$tree"
start_opensm_on "$host" osm -F "$work/theirs.conf" -s 1
opensm_settles osm
theirs=$work/osm/opensm-sa.dump
on "$far" osmtest -f c -i "$work/inventory" >/dev/null 2>&1
# client HOST COMMAND...: in the background, in a process group of its own (timeout's).
clients=()
client() {
	host_command "$1"
	shift
	patient "$@"
	(cd "$work" && exec timeout "$patience" "${as[@]}" "${command[@]}" >/dev/null 2>&1) &
	clients+=("$!")
}
on "$far" osmtest -f m -i "$work/inventory" >/dev/null 2>&1 # whole: what stays is always the same
client "$far" osmtest -f s -i "$work/inventory"
client "$near" "$bin/tests/subscriber" 65 1
holds "OpenSM dumps groups, services and subscriptions" until_true dumped "$theirs"
# They must not tidy up.
for client in "${clients[@]}"; do kill -KILL -- "-$client"; done 2>/dev/null
wait "${clients[@]}" 2>/dev/null
# shellcheck disable=SC2317 # called by until_true
settled() {
	[ "$(services | wc -l)" = "$(grep -c '^Service Record:.*lease=0xffffffff' "$theirs")" ] &&
		[ "$(grep -c "Record dump" <<<"$(members)")" = "$(grep -c '^mcm_port:' "$theirs")" ] &&
		[ "$(grep -c "Record dump" <<<"$(subscriptions)")" = "$(grep -c '^InformInfo Record:' "$theirs")" ]
}
holds "what it dumps is what it has" until_true settled
holds "and they stay" dumped "$theirs"
theirs_members=$(members) theirs_services=$(services) theirs_subscriptions=$(subscriptions)
end_process "$opensm"
cp "$theirs" "$work/dump"

start_daemon_on "$host" d -F "$work/ours.conf" -S "$work/dump"
start_gateway g
wait_ready
same "saguarod has OpenSM's members" "$theirs_members" "$(members)"
same "its services" "$theirs_services" "$(services)"
same "its subscriptions" "$theirs_subscriptions" "$(subscriptions)"
holds "and dumps them" until_true dumped "$work/ours/opensm-sa.dump"
end_process "$daemon"
# a second start takes nothing: what was deleted since would come back
start_daemon_on "$host" d -F "$work/ours.conf" -S "$work/dump"
holds "the same content is taken once" until_true log_says d "dump: 0 groups, 0 members, 0 services, 0 subscriptions, 0 blocks of alias GUIDs taken over; 0 there"
end_process "$daemon"
printf 'MC Group 0xc001 : mgid=nonsense\n\nhello\n' >"$work/bad"
start_daemon_on "$host" d -F "$work/ours.conf" -S "$work/bad"
holds "every bad line of a bad one is told" until_true log_says d "bad:3: expected MC Group"
holds "and nothing of it taken" log_says d "nothing of $work/bad is taken over"
end_process "$daemon"
end_process "$gateway"

start_opensm_on "$host" osm2 -S "$work/ours/opensm-sa.dump"
same "OpenSM has our members" "$theirs_members" "$(members)"
same "our services" "$theirs_services" "$(services)"
same "our subscriptions" "$theirs_subscriptions" "$(subscriptions)"
end_process "$opensm"
stop_simulator
finish
