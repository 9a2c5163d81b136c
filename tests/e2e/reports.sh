#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Reports of events to a program that subscribed to them, over libibumad on a simulated fabric of
# 48 hosts: a host that goes and comes back, a cable that is pulled (trap 128); a report that is
# not answered comes again; subscriptions last over a restart of saguarod and go with their host.
# The same program against OpenSM hears the same of the host.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery opensm jq
[ -x "$bin/tests/subscriber" ] || skip "tests/subscriber is not built"

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
mapfile -t names < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree")
host=${names[0]} far=${names[-1]} near=${names[1]} other=${names[2]}
leaf=$(sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
tool=$bin/tests/subscriber

subscribers() { on "$host" saquery IIR 2>/dev/null | grep -c 'InformInfoRecord dump'; }
# listen HOST NAME TRAP ARGS...: a subscriber in the background, its lines in $work/NAME.out.
listen() {
	local at=$1 name=$2
	shift 2
	: >"$work/$name.out"
	on "$at" "$tool" "$@" >"$work/$name.out" 2>>"$work/$name.log" &
	pids+=("$!")
	holds "$name: subscribed" until_true grep -q subscribed "$work/$name.out"
}
# hears WHAT NAME COUNT LINE: so many lines of this kind are there, or come.
# shellcheck disable=SC2317 # called by until_true
lines() { [ "$(grep -c -- "$2" "$work/$1.out")" -ge "$3" ]; }
hears() { holds "$1" until_true lines "$2" "$4" "$3"; }
log_twice() { [ "$(grep -c 'SUBNET UP' "$work/d.log")" -gt "$ups" ]; }
guid_of() { on "$1" ibstat | sed -n 's/.*Port GUID: //p' | head -n 1; }

start_simulator "$tree"
start_opensm_on "$host" osm
opensm_settles osm
guid=$(guid_of "$far")
listen "$near" osm-65 65 1
listen "$other" osm-64 64 1
ctl node down "$far"
hears "OpenSM reports a host that goes" osm-65 1 "65 $guid"
ctl node up "$far"
hears "OpenSM reports a host that comes" osm-64 1 "64 $guid"
end_process "$opensm"

start_daemon_on "$host" d
start_gateway g
wait_ready
listen "$near" gone 65 1
listen "$other" back 64 2 1 # does not answer the first
ctl node down "$far"
hears "a host that goes" gone 1 "65 $guid"
ctl node up "$far"
hears "a host that comes, and again when that is not answered" back 2 "64 $guid"
for kind in 65:osm-65:gone 64:osm-64:back; do
	IFS=: read -r trap theirs ours <<<"$kind"
	same "the notice of trap $trap is as OpenSM's" "$(grep "^$trap" "$work/$theirs.out" | head -n 1)" "$(grep "^$trap" "$work/$ours.out" | head -n 1)"
done
listen "$far" cable 128 1
ctl link down "\"$leaf\"[7]"
hears "a cable: trap 128" cable 1 "^128 "
ctl link up "\"$leaf\"[7]"

same "three subscribers" 3 "$(subscribers)"
ups=$(grep -c 'SUBNET UP' "$work/d.log")
end_process "$daemon"
start_daemon_on "$host" d
# shellcheck disable=SC2317 # called by until_true
all_three() { [ "$(subscribers)" = 3 ]; }
holds "and after a restart" until_true all_three
until_true log_twice || fail "no second SUBNET UP"
ctl node down "$far"
# shellcheck disable=SC2317 # called by until_true
two_left() { [ "$(subscribers)" = 2 ]; }
holds "its subscription goes with a host" until_true two_left
series() { curl -s "$url/metrics" | sed -n "s/^saguaro_$1 //p"; }
# shellcheck disable=SC2317 # called by until_true
counted() { [ "$(series sa_subscriptions)" = 2 ]; }
holds "and the figures say so" until_true counted
end_process "$daemon"
end_process "$gateway"
stop_simulator
finish
