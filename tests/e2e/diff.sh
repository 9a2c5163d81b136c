#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Changes between two epochs: a cable is pulled and put back, a host goes and comes. The
# command line and HTTP show each change, and nothing between the first epoch and the last;
# over a restart of the gateway and of the daemon; and what is too old is refused.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

start_tree

epoch() { get /v1/fabric | jq .epoch; }
changes() { get "/v1/diff?$1" | jq -r '.changes[].kind' | sort | uniq -c | awk '{ print $2 "=" $1 }' | xargs; }
# shellcheck disable=SC2317 # called by until_true
shows() { get "/v1/diff?from=$1" | jq -e --arg k "$2" --argjson n "$3" '[.changes[] | select(.kind == $k)] | length == $n' >/dev/null; }
# shellcheck disable=SC2317
shows_nothing() { [ "$(changes "from=$1")" = "" ]; }
# shellcheck disable=SC2317
settled() { [ "$("$bin/saguaro" ports --json | jq '[.ports[] | select(.peer != null and .state != "active")] | length')" = 0 ]; }

holds "all ports are active" until_true settled
first=$(epoch)
ctl link down leaf-0000[5] >/dev/null
holds "the cable is lost" until_true shows "$first" link_lost 1
without=$(epoch)
same "its ends" '["leaf-0000",5,"spine-0000",1]' \
	"$(get "/v1/diff?from=$first&kind=link_lost" | jq -c '.changes[0] | [.node.name, .node.port, .peer.name, .peer.port]')"
holds "routes moved" jq -e '.total > 0 and all(.changes[]; .entries > 0 and .at_most == false)' \
	<<<"$(get "/v1/diff?from=$first&to=$without&kind=lft_changed")"
same "each of them is listed" "$(get "/v1/diff?from=$first&to=$without&kind=lft_changed" | jq '[.changes[].entries] | add')" \
	"$("$bin/saguaro" diff "$first" "$without" --kind route_changed --csv | tail -n +2 | wc -l)"
has "the command says so" "$("$bin/saguaro" diff "$first" "$without")" "cable lost: 'leaf-0000' port 5 - 'spine-0000' port 1"
has "and which epochs" "$("$bin/saguaro" diff "$first" "$without")" "epoch $first of "
ctl link up leaf-0000[5] >/dev/null
holds "the cable is back" until_true shows "$without" link_new 1
back=$(epoch)
holds "nothing changed between the first and the last" until_true shows_nothing "$first"
same "still all ports are active" true "$(settled && echo true)"

ctl node down "${hosts[5]}" >/dev/null
holds "a host is gone" until_true shows "$back" node_gone 1
has "by name" "$("$bin/saguaro" diff "$back" --kind node_gone --field node.name,text)" "${hosts[5]}	ca '${hosts[5]}' is gone"
same "the same from a gateway" "$("$bin/saguaro" diff "$back" --json)" "$("$bin/saguaro" diff "$back" --json --url "$url")"
gone=$(epoch)

# --- the records outlive the daemon; nothing is lost where the fabric stays the same ---
before=$(changes "from=$first&to=$gone")
kill "$daemon"
wait "$daemon" 2>/dev/null
ctl node up "${hosts[5]}" >/dev/null
start_daemon_on "${hosts[0]}" d --sweep_interval=1
holds "the host came back meanwhile" until_true shows "$gone" node_new 1
same "what was before is known" "$before" "$(changes "from=$first&to=$gone")"
holds "all is as at first" until_true shows_nothing "$first"

# --- what cannot be told ---
refuses "an epoch to come" "$bin/saguaro" diff "$first" 999999
has "names the newest" "$said" "the newest is"
same "by HTTP" 404 "$(curl -s -o /dev/null -w '%{http_code}' "$url/v1/diff?to=999999")"
refuses "swapped" "$bin/saguaro" diff "$back" "$first"
kill "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "${hosts[0]}" d --sweep_interval=1 --epoch-history 0
ctl node down "${hosts[5]}" >/dev/null
# shellcheck disable=SC2317 # called by until_true
is_gone() { [ "$(curl -s -o "$work/problem" -w '%{http_code}' "$url/v1/diff?from=$first")" = 410 ]; }
holds "nothing is kept" until_true is_gone
holds "the oldest one is named" jq -e --argjson first "$first" '.oldest > $first and (.detail | contains("epoch_history"))' "$work/problem"
same "that is the newest" 0 "$(get /v1/diff | jq .total)"
stop_simulator
finish
