#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The order of path selection by HTTP and on the command line, source LMC 1 (enhanced switch
# port 0) and destination LMC 2 (host): the example of the Omni-Path fabric manual, section
# "PathRecord Path Selection"; and LMC 0, 1 and 3 between hosts.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v jq >/dev/null || skip "jq is not installed"
topo=$here/tests/fabrics/esp0.topo

# offsets_of MODE SRC DST: "s:d" offsets in the order of the answer, counted from 1
offsets() { # offsets JSON SBASE DBASE
	jq -r --argjson s "$2" --argjson d "$3" '[.paths[] | "S\(.slid - $s + 1)D\(.dlid - $d + 1)"] | join(" ")' <<<"$1"
}

expect() { # expect MODE ORDER
	same "$1 by HTTP" "$2" "$(offsets "$(get "/paths?src=$sw&dst=$host&mode=$1")" "$sbase" "$dbase")"
	same "$1 on the command line" "$2" "$(offsets "$("$bin/saguaro" paths "$sw" "$host" --mode "$1" --json)" "$sbase" "$dbase")"
}

start_daemon m --fabric "sim:$topo" --lmc 2 --lmc-esp0 1
start_gateway g
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir
sw=$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "switch")][0].guid')
host=$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "ca")][0].guid')
sbase=$(get "/v1/nodes/$sw" | jq .lid)
dbase=$(get "/v1/nodes/$host" | jq .lid)
expect minimal "S1D1 S2D2"
expect pairwise "S1D1 S2D2 S1D3 S2D4"
expect orderall "S1D1 S2D2 S1D3 S2D4 S1D2 S1D4 S2D1 S2D3"
expect srcdstall "S1D1 S1D2 S1D3 S1D4 S2D1 S2D2 S2D3 S2D4"
same "one LID fixed, minimal" "S2D2" "$(offsets "$(get "/paths?src=$((sbase + 1))&dst=$host&mode=minimal")" "$sbase" "$dbase")"
same "one LID fixed, pairwise" "S2D2 S2D4" "$(offsets "$(get "/paths?src=$((sbase + 1))&dst=$host&mode=pairwise")" "$sbase" "$dbase")"
same "one LID fixed, orderall" "S2D2 S2D4 S2D1 S2D3" "$(offsets "$(get "/paths?src=$((sbase + 1))&dst=$host&mode=orderall")" "$sbase" "$dbase")"
kill "$daemon" "$gateway"
wait "$daemon" "$gateway"

for lmc in 0 1 3; do
	start_daemon "l$lmc" --fabric "sim:$topo" --lmc "$lmc" --path-selection srcdstall
	start_gateway "g$lmc"
	wait_ready
	export SAGUARO_SNAPSHOT_DIR=$run_dir
	a=$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "ca")][0].guid')
	b=$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "ca")][1].guid')
	n=$((1 << lmc))
	same "LMC $lmc: srcdstall is the configured default" $((n * n)) "$(get "/paths?src=$a&dst=$b" | jq '.paths | length')"
	same "LMC $lmc: minimal" "$n" "$(get "/paths?src=$a&dst=$b&mode=minimal" | jq '.paths | length')"
	kill "$daemon" "$gateway"
	wait "$daemon" "$gateway"
done
finish
