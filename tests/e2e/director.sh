#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A director, which is several switches with one SystemImageGUID, loses its power: one alarm
# stands for all of it. A part of it that is gone is a switch that is gone. One alarm also stands for
# switches that another one cut off.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

# An edge switch with two hosts and a cable to each of the two leaves of a director, which have two hosts each and a spine.
make_tree director 1 2 1 2 1 2 2
serve_tree
parts=(director-000-leaf-000 director-000-leaf-001 director-000-spine-000)

alarms() { get "/v1/alarms?$1"; }
kinds() { alarms "" | jq -r '[.alarms[].kind] | unique | join(" ")'; }
# of FILTER: of the alarm of the director
of() { alarms "$2" | jq -r "[.alarms[] | select(.kind == \"chassis_gone\")][0] | $1"; }
# shellcheck disable=SC2317 # called by until_true
shows() { [ "$(kinds)" = "$1" ]; }
# shellcheck disable=SC2317 # called by until_true
stands_for() { [ "$(of .with "")" = "$1" ]; }
# shellcheck disable=SC2317 # called by until_true
is_known() { get "/v1/known?name=$1" | jq -e '.total == 1' >/dev/null; }

holds "its parts are known" until_true is_known "${parts[2]}"
holds "nothing is wrong" until_true shows ""

# --- a part of it ---
ctl node down "${parts[2]}" >/dev/null
holds "its spine alone is a switch that is gone" until_true shows switch_gone
ctl node up "${parts[2]}" >/dev/null
holds "it is back" until_true shows ""

# --- all of it ---
for part in "${parts[@]}"; do ctl node down "$part" >/dev/null; done
holds "one alarm stands for three switches and the hosts on them" until_true stands_for 7
same "no other one is shown" chassis_gone "$(kinds)"
has "it says how much went with it" "$(of .text "")" "is gone with its 3 switches: 4 hosts, 8 cables"
has "with the name of one of them" "$(of .text "")" "of 'director-000-"
system=$(sed -n 's/^sysimgguid=0x//p' "$tree" | sort -u)
same "its id has the GUID of the system" "chassis_gone-0x$(printf '%016x' "0x$system")" "$(of .id "")"
same "as many hosts are down" 4 "$(of .consequence.hosts_down "")"
same "which is an error" error "$(of .severity "")"
same "below it are the switches" "switch_gone:3" \
	"$(of '.children | group_by(.kind) | map("\(.[0].kind):\(length)") | join(" ")' children=1)"
same "below each leaf are its hosts" "2 2" "$(alarms all=1 | jq -r '[.alarms[] | select(.kind == "host_gone")] | group_by(.cause) | map(length) | join(" ")')"
has "the command line has it in one line" "$("$bin/saguaro" alarms)" "with its 3 switches"
said=$("$bin/saguaro" status --check)
same "status --check is critical" 2 $?
has "and says so" "$said" "CRITICAL: the system 0x"

# --- acknowledged over a kill of saguarod ---
"$bin/saguaro" alarm ack "$(of .id "")" --note "no power" >/dev/null
# shellcheck disable=SC2317 # called by until_true
noted() { [ "$(of .acknowledged.note "")" = "no power" ]; }
holds "somebody takes care" until_true noted
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "${hosts[0]}" d --sweep_interval=1
wait_ready
holds "which a kill does not undo" until_true noted
holds "with the same parts" until_true stands_for 7

# --- back, one by one ---
ctl node up "${parts[0]}" >/dev/null
holds "when one is back, the others are switches that are gone" until_true shows switch_gone
for part in "${parts[@]:1}"; do ctl node up "$part" >/dev/null; done
holds "nothing is wrong again" until_true shows ""

# --- a line of four switches loses its second one: the others behind it are only cut off ---
end_process "$gateway"
stop_simulator
make_tree mesh 4 2
serve_tree
# shellcheck disable=SC2317 # called by until_true
says() { [ "$(alarms "" | jq -r '[.alarms[] | "\(.kind) \(.node.name) \(.with)"] | join(" ")')" = "$1" ]; }
holds "the end of the line is known" until_true is_known t-003
ctl node down t-001 >/dev/null
holds "one alarm stands for three switches and the hosts on them" until_true says "switch_gone t-001 8"
has "it says what is behind it" "$(alarms "" | jq -r '.alarms[0].text')" "2 hosts, 4 cables; 2 switches with 4 hosts behind it are cut off"
same "all hosts are down" 6 "$(alarms "" | jq '.alarms[0].consequence.hosts_down')"
same "below it are its hosts and the switches" "host_gone:2 switch_gone:2" \
	"$(alarms children=1 | jq -r '.alarms[0].children | group_by(.kind) | map("\(.[0].kind):\(length)") | join(" ")')"
ctl node up t-001 >/dev/null
holds "all are back" until_true says ""
# one that died before it is behind nothing
ctl node down t-003 >/dev/null
holds "the last one is gone" until_true says "switch_gone t-003 2"
second=$(date +%s) # what went in the same one went together
# shellcheck disable=SC2317 # called by until_true
is_later() { [ "$(date +%s)" != "$second" ]; }
holds "another second begins" until_true is_later
ctl node down t-002 >/dev/null
holds "it stays an alarm of its own" until_true says "switch_gone t-002 2 switch_gone t-003 2"
finish
