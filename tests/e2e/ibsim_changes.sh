#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguarod over ibsim while the fabric changes: links and hosts that go and come back, kill -9
# and restart on an unchanged fabric, and a stopped gateway while epochs pass.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/ibsim.sh
. "$here/tests/e2e/ibsim.sh"
need_ibsim jq smpquery

# shellcheck disable=SC2317 # called by until_true
epoch_past() { [ "$(get /v1/fabric | jq .epoch)" -gt "$1" ] && ready; }
epoch() { get /v1/fabric | jq .epoch; }
lids() { get /v1/lids | jq -c '[.lids[] | {port_guid, lid}] | sort_by(.port_guid)'; }
path_hops() { get "/paths?src=$a&dst=$b&hops=1" | jq -c '.paths[0].hops | map([.guid, .in_port, .out_port])'; }

# change WHAT CONSOLE-LINE: waits for the epoch that follows
change() {
	local before
	before=$(epoch)
	console "$2"
	holds "$1: a new epoch follows" until_true epoch_past "$before"
}

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 3 2 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 1)
leaf=$(sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
start_ibsim "$tree"
start_daemon_on "$host" d --sweep_interval 1 --snapshot-grace 1000
start_gateway g
wait_ready
before=$(lids)
a=$(get /v1/lids | jq '[.lids[] | select(.type == "ca")] | sort_by(.port_guid) | .[0].lid')
b=$(get /v1/lids | jq '[.lids[] | select(.type == "ca")] | sort_by(.port_guid) | .[-1].lid')

# the uplink in use goes away, traffic moves, and comes back
up=$(path_hops | jq '.[0][2]')
change "link down" "Unlink \"$leaf\"[$up]"
[ "$(path_hops | jq '.[0][2]')" != "$up" ]
same "the path takes another uplink" 0 $?
same "LIDs stay" "$before" "$(lids)"
change "link up" "Relink \"$leaf\"[$up]"
same "LIDs stay after link up" "$before" "$(lids)"

# a host goes and comes back
change "host gone" "Unlink \"$far\"[1]"
same "its path is gone" 404 "$(curl -s -o /dev/null -w '%{http_code}' "$url/paths?src=$a&dst=$b")"
change "host back" "Relink \"$far\"[1]"
same "it has its LID again" "$before" "$(lids)"
same "and its path" 200 "$(curl -s -o /dev/null -w '%{http_code}' "$url/paths?src=$a&dst=$b")"

# kill -9, restart: nothing is sent that changes the fabric
table=$(get "/v1/switches/$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "switch")][0].guid')/lft" | jq -c .routes)
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
: >"$work/d.log"
start_daemon_on "$host" d --sweep_interval 1 --snapshot-grace 1000
holds "SUBNET UP after kill -9" until_true log_says d "SUBNET UP"
wait_ready
same "every LID is the same" "$before" "$(lids)"
same "the same tables" "$table" "$(get "/v1/switches/$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "switch")][0].guid')/lft" | jq -c .routes)"
same "no LFT block was sent" 0 "$(get /metrics | sed -n 's/^saguaro_lft_blocks_sent_total //p')"
same "no port was bounced" 0 "$(get /metrics | sed -n 's/^saguaro_ports_bounced_total //p')"

# SIGHUP: the configuration is read again, a heavy sweep follows
sweeps() { get /metrics | sed -n 's/^saguaro_heavy_sweeps_total //p'; }
n=$(sweeps)
kill -HUP "$daemon"
# shellcheck disable=SC2317 # called by until_true
more_sweeps() { [ "$(sweeps)" -gt "$n" ]; }
holds "SIGHUP: a heavy sweep" until_true more_sweeps

# a gateway that is stopped while epochs pass blocks nobody and tears nothing
(while :; do curl -s --max-time 60 "$url/v1/nodes" >"$work/answer.part" && mv "$work/answer.part" "$work/answer.json"; done) &
asker=$!
pids+=("$asker")
until_true test -s "$work/answer.json"
kill -STOP "$gateway"
epochs=${STOPPED_EPOCHS:-20}
start_gateway g2
first=$(epoch)
for _ in $(seq $((epochs / 2))); do
	e=$(epoch)
	console "Unlink \"$far\"[1]"
	until_true epoch_past "$e" || fail "no epoch after Unlink"
	e=$(epoch)
	console "Relink \"$far\"[1]"
	until_true epoch_past "$e" || fail "no epoch after Relink"
done
holds "$epochs epochs passed beside a stopped gateway" [ "$(epoch)" -ge $((first + epochs)) ]
rm -f "$work/answer.json"
kill -CONT "${pids[@]}" 2>/dev/null
holds "the stopped gateway answers again" until_true test -s "$work/answer.json"
same "from one epoch, whole: with or without the host" "true" "$(jq '(.nodes | length) as $n | $n == 18 or $n == 17' "$work/answer.json")"
same "and every cable has the same two ends seen from both" "true" "$(jq '
	[.nodes[] as $n | $n.ports[] | select(.peer) | { a: "\($n.guid)/\(.num)", b: "\(.peer.guid)/\(.peer.port)" }]
	| (map({ key: .a, value: .b }) | from_entries) as $peer
	| length >= 38 and all(.[]; $peer[.b] == .a)' "$work/answer.json")"
finish
