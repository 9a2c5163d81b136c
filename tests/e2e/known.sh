#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Nodes that are gone are remembered: who they were, where, since when and why; over a kill of
# saguarod, until they come back or an operator forgets them.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

start_tree

known() { get "/v1/known?name=$1" | jq -r '.known[0]'; }
# shellcheck disable=SC2317 # called by until_true
is_gone() { [ "$(known "$1" | jq -r .why)" = "$2" ]; }
# shellcheck disable=SC2317 # called by until_true
is_there() { known "$1" | jq -e ".first_seen != null and .gone_since == null" >/dev/null; }

# --- all are known from the start ---
holds "the hosts are known" until_true is_there "${hosts[1]}"
same "every end port has a row" "$(get /v1/fabric | jq .end_ports)" "$(get '/v1/known?limit=1' | jq .total)"
same "pages lead through all" "$(get /v1/known | jq -c '[.known[].guid]')" \
	"$(for at in '' "&cursor=$(get '/v1/known?limit=5' | jq -r .next_cursor)"; do get "/v1/known?limit=$([ -z "$at" ] && echo 5 || echo 1000)$at"; done | jq -cs '[.[].known[].guid]')"
same "nobody is gone" 0 "$(get '/v1/known?gone=1' | jq .total)"
lid=$(known "${hosts[1]}" | jq .lid)
place=$(known "${hosts[1]}" | jq -r '"\(.place.name) port \(.place.port)"')

# --- a host that is switched off, one whose port is disabled, a switch with its hosts ---
ctl node down "${hosts[1]}" >/dev/null
holds "a host that is off has no link" until_true is_gone "${hosts[1]}" link-down
since=$(known "${hosts[1]}" | jq -r .gone_since)
sentence="'${hosts[1]}' is gone since $since, it was on $place: its link is down"
same "paths say where it was" "$sentence" "$(get "/paths?src=${hosts[0]}&dst=${hosts[1]}" | jq -r .detail)"
same "and why there are none" gone "$(get "/paths?src=${hosts[0]}&dst=${hosts[1]}" | jq -r .reason)"
same "by its LID, too" "$sentence" "$(get "/paths?src=${hosts[0]}&dst=$lid" | jq -r .detail)"
same "and by its GUID" "$sentence" "$(get "/v1/nodes/$(known "${hosts[1]}" | jq -r .guid)" | jq -r .detail)"
has "the command line says it" "$("$bin/saguaro" why "${hosts[0]}" "${hosts[1]}" 2>&1)" "$sentence"
has "the event has its place" "$(get /v1/events | jq -r '.events[].text')" "host '${hosts[1]}' is gone, it was on '${place% port *}' port ${place##* }"
has "so has the alarm" "$("$bin/saguaro" alarms)" "it was on '${place% port *}' port ${place##* }"
has "the list has it" "$("$bin/saguaro" nodes --gone)" "${place% port *}:${place##* }"

far=${hosts[-1]} leaf=$(known "${hosts[-1]}" | jq -r .place.name)
"$bin/saguaro" port disable "$leaf:$(known "$far" | jq .place.port)" >/dev/null
holds "a host whose port is disabled was switched off" until_true is_gone "$far" switched-off
ctl node down "$leaf" >/dev/null
other=$(get "/v1/known" | jq -r --arg leaf "$leaf" '[.known[] | select(.place.name == $leaf and .gone_since == null)][0].name')
holds "hosts of a switch that is gone went with it" until_true is_gone "$other" switch-gone
holds "the switch itself" until_true is_gone "$leaf" gone
cables_of_leaf() { get "/v1/known?cables=1$1" | jq --arg guid "$(known "$leaf" | jq -r .guid)" '[.known[] | select(.guid == $guid or .place.guid == $guid)] | length'; }
same "its cables to other switches stay known" 2 "$(cables_of_leaf '&gone=1')"
same "no others are gone" 2 "$(get '/v1/known?cables=1&gone=1' | jq .total)"
same "a cable is no end port" 0 "$(get /v1/known | jq '[.known[] | select(.type == "switch" and .port != 0)] | length')"
# --- one alarm for one cause ---
same "the hosts of the switch are no alarms of their own" 0 "$(get /v1/alarms | jq --arg name "$other" '[.alarms[] | select(.node.name == $name)] | length')"
has "its alarm stands for them" "$("$bin/saguaro" alarms)" "switch '$leaf' is gone: "
same "with as many as went" "$(get '/v1/known?gone=1' | jq '[.known[] | select(.why == "switch-gone")] | length')" \
	"$(get /v1/alarms | jq '.alarms[] | select(.kind == "switch_gone") | .with')"
has "all are there when asked for" "$("$bin/saguaro" alarms --all)" "host '$other' is gone"

# --- a restart forgets nothing ---
n=$(get '/v1/known?gone=1' | jq .total)
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "${hosts[0]}" d --sweep_interval=1
wait_ready
holds "they are known after a kill" until_true is_gone "${hosts[1]}" link-down
same "all of them" "$n" "$(get '/v1/known?gone=1' | jq .total)"
same "the cables of the switch, too" 2 "$(cables_of_leaf '&gone=1')"
same "since the same time" "$since" "$(known "${hosts[1]}" | jq -r .gone_since)"

# --- one comes back, the others are forgotten ---
ctl node up "${hosts[1]}" >/dev/null
holds "it is back" until_true is_there "${hosts[1]}"
same "with its LID" "$lid" "$(known "${hosts[1]}" | jq .lid)"
forget() { "$bin/saguaro" forget "$@" 2>&1; }
has "a node that is there is not forgotten" "$(forget "${hosts[1]}")" "${hosts[1]} is in the fabric; only a node that is gone can be forgotten"
has "nor one that nobody knows" "$(forget nobody)" "no node 'nobody' is known"
forget >/dev/null
same "the command needs a node" 2 $?
has "one is forgotten" "$(forget "$other")" "1 end port forgotten"
# shellcheck disable=SC2317 # called by until_true
unknown() { [ "$(get "/v1/known?name=$1" | jq .total)" = 0 ]; }
holds "it is known no more" until_true unknown "$other"
has "an event says who forgot it" "$(get '/v1/events?kind=node_forgotten' | jq -r '.events[].text')" "'$other' is forgotten: by "
refuses "its alarm ended" grep -q "host '$other'" <<<"$("$bin/saguaro" alarms --all)"
has "then all that are gone" "$(forget --all)" "$((n - 2)) end ports forgotten"
holds "nobody is gone" until_true unknown "$leaf"
finish
