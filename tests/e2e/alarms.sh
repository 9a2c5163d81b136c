#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Alarms as an operator meets them: one for each cause, with what it means; acknowledged, over a
# restart of saguarod and until a time; over HTTP, for Prometheus and in the exit status of
# saguaro status --check.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

start_tree

alarms() { get "/v1/alarms?$1"; }
# of KIND FILTER: of the first alarm of a kind
of() { alarms "" | jq -r --arg kind "$1" "[.alarms[] | select(.kind == \$kind)][0] | $2"; }
# shellcheck disable=SC2317 # called by until_true
has_alarm() { alarms "" | jq -e --arg kind "$1" 'any(.alarms[]; .kind == $kind)' >/dev/null; }
# shellcheck disable=SC2317 # called by until_true
no_alarm() { alarms "" | jq -e '.total == 0' >/dev/null; }
alarm() { "$bin/saguaro" alarm "$@" 2>&1; }
# check STATUS WORDS
check() {
	local said got
	said=$("$bin/saguaro" status --check)
	got=$?
	same "saguaro status --check: $2" "$1" "$got"
	has "... and says so" "$said" "$2"
}

# --- a fabric without a fault ---
holds "a fresh fabric has no alarm" until_true no_alarm
check 0 "OK: no alarm"
has "saguaro status ends so" "$("$bin/saguaro" status | tail -n 1)" "alarms           none"

# --- a cable: bandwidth is lost, and one more fault would cut a leaf off ---
# shellcheck disable=SC2317 # called by until_true
is_known() { get "/v1/known?name=$1" | jq -e '.total == 1' >/dev/null; }
holds "its nodes are known" until_true is_known "${hosts[-1]}"
leaf=$(get "/v1/known?name=${hosts[-1]}" | jq -r '.known[0].place.name')
mapfile -t ups < <(get "/v1/links?node=$leaf" | jq -r --arg leaf "$leaf" '.links[] | [.a, .b] | select(all(.type == "switch")) | map(select(.name == $leaf))[0].port')
ctl link down "$leaf[${ups[0]}]" >/dev/null
holds "a cable that is lost is an alarm" until_true has_alarm link_down
# What went with it is in the snapshot, the event in the statistics: a reader may be between the two.
# shellcheck disable=SC2317 # called by until_true
means() { [ "$(of "$1" ".consequence.$2")" = "$3" ]; }
same "which is a warning" warning "$(of link_down .severity)"
total=$(get /v1/fabric | jq .hosts) below=$(get /v1/known | jq --arg leaf "$leaf" '[.known[] | select(.place.name == $leaf)] | length')
links=$(get /v1/links | jq '[.links[] | select(.a.type == "switch" and .b.type == "switch")] | length')
holds "a part of the cables to the spines is lost" until_true means link_down bisection_lost "$(jq -n "1 / ($links + 1)")"
if [ "${#ups[@]}" = 2 ]; then
	same "the next one would cut the leaf off" "$((below * (total - below)))" "$(of link_down .consequence.next_fault_cuts)"
fi
has "in words, too" "$("$bin/saguaro" alarms)" "of the bisection lost; if the cable '"
check 1 "WARNING: cable lost: "
id=$(of link_down .id)
case $id in
link_down-0x????????????????-*) ok "its id names its lower end" ;;
*) fail "its id is $id" ;;
esac

# --- acknowledged ---
has "somebody knows of it" "$(alarm ack "$id" --note "the cable is ordered")" "acknowledged"
# shellcheck disable=SC2317 # called by until_true
is_acknowledged() { [ "$(alarms "" | jq -r --arg id "$id" '.alarms[] | select(.id == $id) | .acknowledged.note')" = "$1" ]; }
holds "others see why" until_true is_acknowledged "the cable is ordered"
has "and who" "$(of link_down .acknowledged.by)" "control socket"
same "with no end" null "$(of link_down .acknowledged.until)"
has "it is counted, not shown" "$("$bin/saguaro" alarms)" "1 acknowledged alarm is not shown; --all shows it"
holds "and is no alarm for scripts" "$bin/saguaro" alarms
has "unless asked for" "$("$bin/saguaro" alarms --all)" "$id"
check 0 "OK: no alarm"
has "saguaro status counts it" "$("$bin/saguaro" status)" "none, 1 acknowledged"
has "Prometheus can leave it out" "$(get /metrics)" "saguaro_alarm{id=\"$id\",alarm=\"link_down\",severity=\"warning\",node="
has "by a label" "$(get /metrics | grep "^saguaro_alarm{id=\"$id\"")" ',acknowledged="true"}'
has "and count it" "$(get /metrics)" 'saguaro_alarms{severity="warning",acknowledged="true"} 1'
has "an id that cannot be is refused" "$(alarm ack 'No Alarm')" "no alarm has the id 'No Alarm'"
has "so is a time that is none" "$(alarm ack "$id" --until yesterday)" "'yesterday' is no time"
has "and one that is over" "$(alarm ack "$id" --until 2020-01-01)" "is over"

# --- a restart forgets nothing ---
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "${hosts[0]}" d --sweep_interval=1
wait_ready
holds "it is acknowledged after a kill" until_true is_acknowledged "the cable is ordered"
holds "until that is taken back" until_true "$bin/saguaro" alarm unack "$id"
holds "which others see" until_true is_acknowledged null
has "which can be done once" "$(alarm unack "$id")" "alarm '$id' is not acknowledged"

# --- until a time ---
alarm ack "$id" --until "$(date -u -d '+5 seconds' +%Y-%m-%dT%H:%M:%SZ)" >/dev/null
holds "for some seconds" until_true is_acknowledged null
alarm ack "$id" --until 2h >/dev/null
# shellcheck disable=SC2317 # called by until_true
has_end() { alarms "" | jq -e 'any(.alarms[]; .acknowledged.until != null)' >/dev/null; }
holds "for two hours" until_true has_end

# --- with the alarm ---
ctl link up "$leaf[${ups[0]}]" >/dev/null
holds "the cable is back" until_true no_alarm

# --- a leaf is gone: one alarm, with its hosts and cables ---
ctl node down "$leaf" >/dev/null
holds "a switch that is gone is an alarm" until_true has_alarm switch_gone
# shellcheck disable=SC2317 # called by until_true
stands_for() { [ "$(of switch_gone .with)" = "$1" ]; }
holds "which stands for its hosts" until_true stands_for "$below"
same "and is the only one" 1 "$(alarms "" | jq .total)"
has "with its hosts and cables" "$(of switch_gone .text)" "switch '$leaf' is gone: $below hosts, $((below + ${#ups[@]})) cables"
same "it is an error" error "$(of switch_gone .severity)"
same "for so many hosts" "$below" "$(of switch_gone .consequence.hosts_down)"
same "no bandwidth of others is lost" 0 "$(of switch_gone '.consequence.bisection_lost | floor')"
same "its children are the hosts" "$below" "$(alarms children=1 | jq '.alarms[0].children | length')"
same "which name it as their cause" "$below" "$(alarms all=1 | jq --arg id "$(of switch_gone .id)" '[.alarms[] | select(.cause == $id)] | length')"
check 2 "CRITICAL: switch '$leaf' is gone"
has "saguaro status ends with it" "$("$bin/saguaro" status | tail -n 1)" "worst            switch '$leaf' is gone: "
ctl node up "$leaf" >/dev/null
holds "it is back" until_true no_alarm

# --- a spine is gone: the other one is the last way ---
spine=$(get "/v1/links?node=$leaf" | jq -r --arg leaf "$leaf" '[.links[] | [.a, .b] | select(all(.type == "switch")) | map(select(.name != $leaf))[0].name][0]')
n_spines=$(get "/v1/links?node=$leaf" | jq -r --arg leaf "$leaf" '[.links[] | [.a, .b] | select(all(.type == "switch")) | map(select(.name != $leaf))[0].name] | unique | length')
ctl node down "$spine" >/dev/null
holds "a spine that is gone is an alarm" until_true has_alarm switch_gone
same "of bandwidth: a warning" warning "$(of switch_gone .severity)"
holds "its share of the cables is lost" until_true means switch_gone bisection_lost "$(jq -n "1 / $n_spines")"
if [ "$n_spines" = 2 ]; then
	same "the last spine holds all together" "$((total * (total - below) / 2))" "$(of switch_gone .consequence.next_fault_cuts)"
fi
ctl node up "$spine" >/dev/null
holds "it is back, too" until_true no_alarm

# --- a cable that comes and goes is acknowledged once ---
ctl link down "$leaf[${ups[0]}]" >/dev/null
holds "the cable is lost" until_true has_alarm link_down
alarm ack "$id" --note "a loose one" >/dev/null
holds "known" until_true is_acknowledged "a loose one"
ctl link up "$leaf[${ups[0]}]" >/dev/null
holds "back" until_true no_alarm
ctl link down "$leaf[${ups[0]}]" >/dev/null
holds "lost again" until_true has_alarm link_down
holds "and still known" is_acknowledged "a loose one"

# --- nobody answers ---
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
# shellcheck disable=SC2317 # called by until_true
daemon_gone() { "$bin/saguaro" status --check | grep -q "^CRITICAL: daemon gone since"; }
holds "a daemon that is gone is critical" until_true daemon_gone
said=$("$bin/saguaro" status --check --url http://127.0.0.1:9 2>/dev/null)
same "without an answer it is not known" 3 $?
has "and says so" "$said" "UNKNOWN: "
finish
