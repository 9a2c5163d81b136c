#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro whatif says what saguarod then does: a cable is tried, taken away, and the tables
# that switches get differ from those before in as many entries, and lead to the same load.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v jq >/dev/null || skip "jq is not installed"

saguaro() { "$bin/saguaro" "$@"; }
tables() {
	saguaro records LinearForwardingTableRecord --stream |
		jq -r 'select(.lid) | "\(.lid) \(.block_num) \(.linear_forwarding_table[])"' |
		awk '{ print NR, $0 }'
}
epoch() { saguaro status --json | jq .fabric.epoch; }
# shellcheck disable=SC2317 # until_true calls it
later() { [ "$(epoch)" -gt "$1" ] && saguaro status >/dev/null; }

try() { # fabric, engine, a cable
	local name=$2$3 before after said
	start_daemon "$name" --fabric "sim:$work/$1.topo" -R "$2" --sweep_interval 1
	export SAGUARO_SNAPSHOT_DIR=$run_dir
	until_true saguaro status >/dev/null 2>&1 || { fail "$1: not up"; finish; }
	tables >"$work/before"
	before=$(epoch)
	said=$(saguaro whatif --down "$3" --json)
	same "$1, $2, $3: nothing is lost" "0 0" "$(jq -r '"\(.pairs.lost) \(.hosts.gone)"' <<<"$said")"
	same "$1: reading changes nothing" "$before" "$(epoch)"
	saguaro port disable "$3" >/dev/null || fail "$1: cannot disable $3"
	until_true later "$before" || { fail "$1: no new epoch"; finish; }
	tables >"$work/after"
	after=$(diff "$work/before" "$work/after" | grep -c '^>')
	same "$1: as many entries" "$(jq .tables.entries <<<"$said")" "$after"
	holds "$1: and some do change" test "$after" -gt 0
	same "$1: the load" "$(jq -c '[.after.load.max, .after.load.p99, .after.engine]' <<<"$said")" \
		"$(saguaro status --json | jq -c '.routing | [.load.max, .load.p99, .engine_used]')"
	kill "$daemon"
}

"$bin/saguaro" topo ft2 6 4 4 -o "$work/tree.topo"
"$bin/saguaro" topo jellyfish 12 5 3 -s 3 -o "$work/jelly.topo"
"$bin/saguaro" topo torus 4x4 2 -o "$work/torus.topo"
"$bin/saguaro" topo ft3 6 -o "$work/pods.topo"
try tree minhop leaf-0000:5
try pods minhop edge-000-000:4
try pods updn agg-001-000:5
try tree ftree leaf-0001:6
try jelly minhop,dnup jf-00003:4
try jelly nue jf-00003:4
try torus dor t-000-000:3
finish
