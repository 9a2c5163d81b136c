#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Switches, cables and hosts that go into maintenance: routes leave them, they are switched off and on
# without an alarm, over a kill of saguarod, and come back; by the command line and by saguaro-admin.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

start_tree

maintenance() { "$bin/saguaro" maintenance "$@" 2>&1; }
row() { get /v1/maintenance | jq --arg name "$1" '.maintenance[] | select(.node.name == $name)'; }
# shellcheck disable=SC2317 # called by until_true
is_in() { [ "$(row "$1" | jq -r .state)" = "$2" ]; }
# shellcheck disable=SC2317 # called by until_true
is_over() { [ -z "$(row "$1")" ]; }
# Routes of hosts that enter a switch from its neighbours.
routes_through() { get "/v1/load?limit=65536" | jq --arg name "$1" '[.links[] | select(.to.name == $name) | .routes] | add // 0'; }
# shellcheck disable=SC2317 # called by until_true
has_routes() { [ "$(routes_through "$1")" -gt 20 ]; }
# shellcheck disable=SC2317 # called by until_true
is_gone() { get "/v1/known?name=$1" | jq -e '.known[0].gone_since != null' >/dev/null; }
# shellcheck disable=SC2317 # called by until_true
is_there() { get "/v1/known?name=$1" | jq -e '.known[0].gone_since == null' >/dev/null; }

# A switch without hosts.
spine=$("$bin/saguaro" nodes --type switch --field name | grep -m1 spine)

same "nothing is out of service" 0 "$(get /v1/maintenance | jq .total)"
has "a node that there is not" "$(maintenance start nobody)" "there is no 'nobody'"
maintenance begin "$spine" >/dev/null
same "another word is refused" 2 $?
has "a time that is none" "$(maintenance start "$spine" --until yesterday)" "'yesterday' is no time to come"

# --- a dry run, then in earnest ---
has "a dry run says what would happen" "$(maintenance start "$spine" --dry-run)" "nothing is changed"
same "and changes nothing" 0 "$(get /v1/maintenance | jq .total)"
has "routes pass the spine" "$(has_routes "$spine" && echo yes)" yes
has "the start" "$(maintenance start "$spine" --note 'replace the fan')" "$spine: draining"
holds "it is drained" until_true is_in "$spine" drained
same "with its note" "replace the fan" "$(row "$spine" | jq -r .note)"
same "and who asked" true "$(row "$spine" | jq '.by != null')"
has "the list has it" "$(maintenance)" "replace the fan"
refuses "no routes pass it" has_routes "$spine"
has "an event says so" "$(get /v1/events | jq -r '.events[].text')" "'$spine' is drained"

# --- off and on, without an alarm above information ---
ctl node down "$spine" >/dev/null
holds "it is switched off" until_true is_gone "$spine"
same "which is information" 0 "$(get /v1/alarms | jq '[.alarms[] | select(.maintenance == false)] | length')"
same "and marked" true "$(get /v1/alarms | jq '[.alarms[] | select(.kind == "switch_gone")][0] | .maintenance and .severity == "info"')"

# --- a kill in the middle ---
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "${hosts[0]}" d --sweep_interval=1
wait_ready
same "a kill forgets nothing" "replace the fan" "$(row "$spine" | jq -r .note)"
ctl node up "$spine" >/dev/null
holds "it is back" until_true is_there "$spine"
holds "and still drained" until_true is_in "$spine" drained
refuses "without routes" has_routes "$spine"

# --- the end ---
has "the end" "$(maintenance end "$spine")" "$spine: ended"
holds "no row is left" until_true is_over "$spine"
holds "routes return" until_true has_routes "$spine"
has "an end without a start" "$(maintenance end "$spine")" "is not out of service"

# --- a host, and a time that is over ---
has "a time needs a unit that there is" "$(maintenance start "${hosts[1]}" --until 3s)" "no time to come"
has "a host is only quiet" "$(maintenance start "${hosts[1]}")" "${hosts[1]}: quiet"
ctl node down "${hosts[1]}" >/dev/null
holds "it is gone" until_true is_gone "${hosts[1]}"
same "which is information, too" 0 "$(get /v1/alarms | jq '[.alarms[] | select(.severity != "info")] | length')"
maintenance end "${hosts[1]}" >/dev/null
# shellcheck disable=SC2317 # called by until_true
is_alarmed() { get /v1/alarms | jq -e '[.alarms[] | select(.maintenance == false and .kind == "host_gone")] | length == 1' >/dev/null; }
holds "after the end it is an alarm" until_true is_alarmed

# --- by HTTP ---
if [ -x "$bin/saguaro-admin" ]; then
	"$bin/saguaro-admin" --users "$work/users" --add-token operator --role operator >"$work/token" 2>/dev/null
	"$bin/saguaro-admin" --users "$work/users" --fabrics "main=$run_dir.control" --listen "$work/door.sock" --audit-log "$work/audit" \
		2>"$work/door.log" &
	pids+=($!)
	holds "the write door is open" until_true test -S "$work/door.sock"
	ask() { curl -s --unix-socket "$work/door.sock" -u "operator:$(cat "$work/token")" -H 'Content-Type: application/json' "$@"; }
	same "a start by HTTP" draining "$(ask -X POST -d "{\"node\": \"$spine\", \"note\": \"by http\"}" http://door/v1/maintenance | jq -r .state)"
	holds "it is drained" until_true is_in "$spine" drained
	same "an end by HTTP" ended "$(ask -X DELETE "http://door/v1/maintenance/$spine" | jq -r .state)"
	holds "it is over" until_true is_over "$spine"
fi
finish
