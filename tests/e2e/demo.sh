#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The whole way on the simulated 648-host fabric: discover, route, publish, answer by HTTP
# and on the command line; kill -9 and restart; bad input.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v jq >/dev/null || skip "jq is not installed"
topo=$here/tests/fabrics/demo-648.topo

start_daemon d --fabric "sim:$topo" --sweep_interval 1
start_gateway g
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir

holds "log: Entering MASTER state" log_says d "Entering MASTER state"
holds "log: SUBNET UP" log_says d "SUBNET UP"

# nodes and LIDs
nodes=$(get /v1/nodes)
same "702 nodes" 702 "$(jq '.nodes | length' <<<"$nodes")"
same "648 hosts" 648 "$(jq '[.nodes[] | select(.type == "ca")] | length' <<<"$nodes")"
same "every LID once" 702 "$(get /v1/lids | jq '[.lids[].lid] | unique | length')"
src=$(jq -r '[.nodes[] | select(.type == "ca")][0].description' <<<"$nodes")
dst=$(jq -r '[.nodes[] | select(.type == "ca")][-1].description' <<<"$nodes")
src_lid=$(jq -r --arg d "$src" '.nodes[] | select(.description == $d).lid' <<<"$nodes")
dst_lid=$(jq -r --arg d "$dst" '.nodes[] | select(.description == $d).lid' <<<"$nodes")
uri() { jq -rn --arg s "$1" '$s | @uri'; }
query="src=$(uri "$src")&dst=$(uri "$dst")"

# one path, three doors
http=$(get "/paths?$query&hops=1")
same "one path at LMC 0" 1 "$(jq '.paths | length' <<<"$http")"
same "its LIDs" "$src_lid $dst_lid" "$(jq -r '.paths[0] | "\(.slid) \(.dlid)"' <<<"$http")"
same "three switches on the way" 3 "$(jq '.paths[0].hops | length' <<<"$http")"
same "by LID the same" "$(jq -S '.paths' <<<"$http")" "$(get "/paths?src=$src_lid&dst=$dst_lid&hops=1" | jq -S '.paths')"
same "command line says the same" "$(jq -S '.paths[0] | del(.hops)' <<<"$http")" \
	"$("$bin/saguaro" paths "$src" "$dst" --json | jq -S '.paths[0] | del(.hops)')"
same "trace walks the hops" "$(jq -r '.paths[0].hops[].guid' <<<"$http")" \
	"$("$bin/saguaro" trace "$src" "$dst" --json | jq -r '.paths[0].hops[].guid')"
holds "status says 0 when the subnet is up" "$bin/saguaro" status
same "nodes of one type" 648 "$("$bin/saguaro" nodes --type ca --field guid | sort -u | wc -l)"
same "the same as JSON" 648 "$("$bin/saguaro" nodes --type ca --json | jq '.nodes | length')"
refuses "a type that is none" "$bin/saguaro" nodes --type hub
has "in a sentence that names those there are" "$said" "ca, switch or router"

# ETag
tag=$(curl -s -o /dev/null -D - "$url/paths?$query" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
same "304 on the same ETag" 304 "$(curl -s -o /dev/null -w '%{http_code}' -H "If-None-Match: $tag" "$url/paths?$query")"

# bad input
same "unknown end port" 404 "$(curl -s -o /dev/null -w '%{http_code}' "$url/paths?src=nobody&dst=$dst_lid")"
same "no destination" 400 "$(curl -s -o /dev/null -w '%{http_code}' "$url/paths?src=$src_lid")"
same "unknown mode" 400 "$(curl -s -o /dev/null -w '%{http_code}' "$url/paths?$query&mode=best")"
has "the mode is named" "$(get "/paths?$query&mode=best")" best
same "unknown place" 404 "$(curl -s -o /dev/null -w '%{http_code}' "$url/v1/nothing")"

# metrics
metrics=$(get /metrics)
has "metrics" "$metrics" "saguaro_epoch"
same "metric lines" "" "$(grep -vE '^(# (HELP|TYPE) .*|[a-z_][a-z0-9_]*(\{.*\})? [-+0-9.eE]+(inf|nan)?)$' <<<"$metrics")"

# a second daemon on the same state directory
refuses "second daemon on one state directory" timeout "$patience" "$bin/saguarod" --fabric "sim:$topo" \
	--state-dir "$work/d/state" --snapshot-dir "$work/other"
has "in a sentence that names the first" "$said" "$daemon"

# kill -9: same LIDs, no epoch repeats, the gateway says that the daemon is gone
epoch=$(jq .epoch <<<"$nodes")
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
# shellcheck disable=SC2317 # called by until_true
gone() { get /readyz | grep -q "gone"; }
holds "readyz: the daemon is gone" until_true gone
has "answers go on, marked stale" "$(get "/paths?$query")" '"stale":true'
start_daemon d --fabric "sim:$topo" --sweep_interval 1
wait_ready
again=$(get /v1/nodes)
same "every LID as before" "$(jq -S '[.nodes[] | {guid, lid}]' <<<"$nodes")" "$(jq -S '[.nodes[] | {guid, lid}]' <<<"$again")"
holds "epoch does not go back" [ "$(jq .epoch <<<"$again")" -ge "$epoch" ]

# the order of compute nodes that shift permutations want
same "648 compute nodes in ftree's order" 648 "$("$bin/saguaro" route "$topo" -R ftree --dump-cn-order - | grep -c '^0x0')"

# SIGTERM ends both
kill "$daemon" "$gateway"
holds "daemon ends with 0" wait "$daemon"
holds "gateway ends with 0" wait "$gateway"

# no HCA
refuses "no HCA" timeout "$patience" "$bin/saguarod" --fabric umad --state-dir "$work/n/state" --snapshot-dir "$work/n/run"
has "in a sentence with the remedy" "$said" "--fabric sim:FILE"
finish
