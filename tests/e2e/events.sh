#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Events of a simulated fabric as people and programs see them: saguaro events, /v1/events as a
# list and as Server-Sent Events, with Last-Event-ID over a reconnect, over a kill of saguarod
# and over a history that was trimmed.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

start_tree

ids() { sed -n 's/^data: {"id":\([0-9]*\),.*/\1/p' "$1" | xargs; }
# shellcheck disable=SC2317 # called by until_true
file_has() { grep -q -- "$2" "$1"; }
follow() { # follow FILE CURL-ARGS...: in the background, pid in $feed
	local to=$1
	shift
	: >"$to"
	curl -sN -H 'Accept: text/event-stream' "$@" >"$to" &
	feed=$!
	pids+=("$feed")
	until_true file_has "$to" '^retry: '
}
in_order() { same "$1" "$(seq -s ' ' "$(ids "$2" | awk '{ print $1 }')" "$(ids "$2" | awk '{ print $NF }')")" "$(ids "$2")"; }
newest() { get "/v1/events" | jq .next; }
# shellcheck disable=SC2317 # called by until_true
has_kind() { [ "$(get "/v1/events?since=$1&kind=$2" | jq '.events | length')" -ge 1 ]; }

# --- a cable out and in, seen by all ---
follow "$work/all.sse" "$url/v1/events"
all=$feed
follow "$work/hosts.sse" "$url/v1/events?kind=host_gone,host_new&node=${hosts[1]}"
"$bin/saguaro" events -f --kind cable_lost,cable_back >"$work/follow.txt" 2>&1 &
pids+=($!)
before=$(newest)
ctl link down leaf-0000[5] >/dev/null
holds "the cable is lost" until_true has_kind "$((before - 1))" cable_lost
ctl link up leaf-0000[5] >/dev/null
holds "the cable is back" until_true has_kind "$((before - 1))" cable_back
ctl node down "${hosts[1]}" >/dev/null
holds "the host is gone" until_true has_kind "$((before - 1))" host_gone
ctl node up "${hosts[1]}" >/dev/null
holds "the host is new" until_true has_kind "$((before - 1))" host_new
lost=$(get "/v1/events?kind=cable_lost&since=$((before - 1))" | jq -c '.events[0]')
same "the sentence" "cable lost: 'leaf-0000' port 5 - 'spine-0000' port 1" "$(jq -r .text <<<"$lost")"
same "the ends" '["leaf-0000",5,"spine-0000",1]' "$(jq -c '[.node.name, .node.port, .peer.name, .peer.port]' <<<"$lost")"
holds "blocks were sent" jq -e '.lft_blocks > 0 and .paths_moved > 0 and .epoch > 0' <<<"$lost"
holds "the log has the same sentence" log_says d "warning sweep: SAG-EVENT-004: $(jq -r .text <<<"$lost")"
holds "the feed has the last one" until_true file_has "$work/hosts.sse" '"kind":"host_new"'
same "the filter of a feed" '"host_gone" "host_new"' "$(sed -n 's/^data: //p' "$work/hosts.sse" | jq .kind | xargs -d '\n')"
holds "the other feed has it, too" until_true file_has "$work/all.sse" '"kind":"host_new"'
in_order "a feed has all in order" "$work/all.sse"
holds "the command follows" until_true file_has "$work/follow.txt" "cable connected: 'leaf-0000' port 5"

# --- the connection breaks: the client goes on where it was ---
kill "$all"
wait "$all" 2>/dev/null
seen=$(ids "$work/all.sse" | awk '{ print $NF }')
ctl node down "${hosts[2]}" >/dev/null
holds "a host is gone meanwhile" until_true has_kind "$seen" host_gone
follow "$work/again.sse" -H "Last-Event-ID: $seen" "$url/v1/events"
again=$feed
holds "what was missed comes" until_true file_has "$work/again.sse" "host '${hosts[2]}' is gone"
same "from the next number on" "$((seen + 1))" "$(ids "$work/again.sse" | awk '{ print $1 }')"
refuses "no resync" grep -q resync "$work/again.sse"

# --- saguarod is killed in the middle of events; the feed stays ---
for i in 3 4 5 6; do ctl node down "${hosts[i]}" >/dev/null; done
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
seen=$(newest)
start_daemon_on "${hosts[0]}" d --sweep_interval=1
holds "it is up again" until_true has_kind "$((seen - 1))" subnet_up
holds "the feed shows the restart" until_true file_has "$work/again.sse" '"kind":"started"'
last=$(newest)
holds "and goes on" until_true file_has "$work/again.sse" "^id: $((last - 1))\$"
in_order "no number twice, none left out" "$work/again.sse"
kill "$again"

# --- a history of five rows ---
kill "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "${hosts[0]}" d --sweep_interval=1 --event_history=5
holds "it is up with a short history" until_true has_kind "$((last - 1))" subnet_up
same "five rows are left" 5 "$(get /v1/events | jq '.events | length')"
same "the list tells" trimmed "$(get "/v1/events?since=1" | jq -r .resync)"
follow "$work/late.sse" -H "Last-Event-ID: 1" "$url/v1/events"
holds "a late client is told" until_true file_has "$work/late.sse" '"reason":"trimmed"'
first=$(get /v1/events | jq .first)
holds "and gets what there is" until_true file_has "$work/late.sse" "^data: {\"id\":$first,"
same "resync comes first" "event: resync" "$(sed -n '4p' "$work/late.sse")"
follow "$work/early.sse" -H "Last-Event-ID: 999999" "$url/v1/events"
holds "a number that never was" until_true file_has "$work/early.sse" '"reason":"unknown"'
has "the command tells, too" "$("$bin/saguaro" events --since 1 2>&1)" "are not kept any more"
refuses "an unknown kind" "$bin/saguaro" events --kind cable
has "names those that there are" "$said" cable_lost
same "from a gateway" "$("$bin/saguaro" events -n 3)" "$("$bin/saguaro" events -n 3 --url "$url")"
stop_simulator
finish
