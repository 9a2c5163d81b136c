#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Hosts that flood the SA with bad and dear requests, while others ask for paths and join
# groups: all of those are answered, every flooder's request is counted, the log and the
# memory stay as they are. FLOOD changes how many each flooder sends; for how long anybody
# waits see make bench-sockets.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients jq

flood=${FLOOD:-4000}
tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
mapfile -t hosts < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree")

# load HOST ARGUMENTS...: what it measured is in $work/HOST.json.
load() {
	local host=$1
	shift
	on "$host" "$bin/tests/sa_load" "$@" >"$work/$host.json"
}

# metric NAME: of the daemon, all its rows added.
metric() { get /metrics | awk -v name="saguaro_$1" 'index($1, name) == 1 { n += $2 } END { printf "%d", n }'; }
sent() { jq -s "map(.$1) | add" "$work/${hosts[1]}.json" "$work/${hosts[2]}.json"; }
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$daemon/status"; }

start_simulator "$tree"
start_daemon_on "${hosts[0]}" d --sa-key 0x77
start_gateway g
wait_ready

# --- one round: two flooders, one with whole tables, three that behave --------------------------

round() {
	local jobs=() i
	load "${hosts[1]}" flood "$flood" & jobs+=($!)
	load "${hosts[2]}" flood "$flood" & jobs+=($!)
	load "${hosts[3]}" table 400x 64 & jobs+=($!)
	load "${hosts[4]}" lid 4000x 4 & jobs+=($!)
	load "${hosts[5]}" gid 2000x 1 & jobs+=($!)
	load "${hosts[6]}" join 2048x 64 & jobs+=($!)
	for i in "${!jobs[@]}"; do
		wait "${jobs[i]}" || fail "$1: host ${hosts[i + 1]}: $(cat "$work/${hosts[i + 1]}.json")"
	done
	for i in 3:400 4:4000 5:2000 6:2048; do
		same "$1: host ${i%:*} has all its answers, and good ones" "[${i#*:},0,0]" \
			"$(jq -c '[.answers, .errors, .timeouts]' "$work/${hosts[${i%:*}]}.json")"
	done
}

# shellcheck disable=SC2317 # called by until_true
counted() { [ "$(metric 'sa_dropped_total{reason="key"}')" = "$keys" ]; }
# shellcheck disable=SC2317
concluded() { [ "$(metric sa_requests_total)" = "$(($(metric sa_answered_total) + $(metric sa_dropped_total)))" ]; }

round first
keys=$(sent wrong_key)
holds "every wrong SM_Key is counted" until_true counted
holds "every request was answered, or counted as dropped" until_true concluded
before=$(resident)
lines=$(wc -l <"$work/d.log")
round second
keys=$((keys + $(sent wrong_key)))
holds "again every wrong SM_Key is counted" until_true counted
holds "again every request came to its end" until_true concluded
after=$(resident)
holds "the memory does not grow (from $before to $after KiB)" [ "$after" -lt $((before + 32768)) ]
holds "the log is no longer by more than a few lines" [ "$(wc -l <"$work/d.log")" -lt $((lines + 20)) ]
finish
