#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# LIDs on both sides of 0xBFFF: saguarod keeps those that an earlier subnet manager gave, Omni-Path's tools read the
# devices by LID and subnet administration over the fabric, and paths, exports and HTTP show them.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"

"$bin/saguaro" topo ft2 4 3 2 -o "$work/plain.topo"
# LIDs from 0xbff9 (49145) on, in the order of the file: of each switch, and of each port of a host
awk 'BEGIN { lid = 49145 }
	/^Switch/ { sub(/ lid 0/, " lid " lid++); switch = 1 }
	/^Ca/ { switch = 0 }
	!switch && /^\[/ { sub(/lid 0/, "lid " lid++) }
	{ print }' "$work/plain.topo" >"$work/high.topo"
mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/high.topo")
lid_of() { ctl show "$1" | sed -n 's/.*\[[01]\] active, lid \([0-9]*\) .*/\1/p' | head -n 1; }

start_simulator "$work/high.topo" --omnipath --keep-lids --lft-cap 0x20000
start_daemon_on "${hosts[0]}" d --sweep_interval=1 --unicast-lid-limit 0x1ffff
holds "comes up" until_true log_says d 'SUBNET UP'
start_gateway g
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir
ctl list | awk '{ print $2 }' | while read -r n; do lid_of "$n"; done | sort -n >"$work/lids"
same "the highest LID" "$((49145 + $(wc -l <"$work/lids") - 1))" "$(tail -n 1 "$work/lids")"
same "the lowest" 49145 "$(head -n 1 "$work/lids")"

far=${hosts[-1]} low=
for n in "${hosts[@]}" $(ctl list switches | awk '{ print $3 }'); do [ "$(lid_of "$n")" -gt 49151 ] || low=$n; done
lid=$(lid_of "$far")
same "HTTP shows it" "$lid" "$(get '/v1/nodes?limit=1000' | jq -r --arg n "$far" '.. | objects | select(.description? == $n) | (.lid // .ports[0].lid // empty)' | head -n 1)"
has "a path from one to the other" "$("$bin/saguaro" paths "${hosts[0]}" "$far" --snapshot-dir "$run_dir")" "$lid"
"$bin/saguaro" export topology >"$work/found.topo"
has "an export shows it" "$(cat "$work/found.topo")" "lid $lid"
holds "what is published is proven" "$bin/saguaro" check

if command -v opasmaquery >/dev/null && command -v opasaquery >/dev/null; then
	# shellcheck disable=SC2317 # called by until_true
	answered() {
		said=$(on "$asker" "$@" 2>&1)
		[[ $said != *"No hfi"* && $said != *imeout* && $said != *TIMEOUT* ]]
	}
	ask() {
		until_true answered "$@"
		printf '%s\n' "$said"
	}
	for asker in "${hosts[1]}" "$far"; do
		for to in "$far" "$low" "${hosts[2]}"; do
			has "$asker asks $to by LID" "$(ask opasmaquery -l "$(lid_of "$to")" -o nodedesc)" "$to"
		done
		same "$asker asks for all nodes" "$(wc -l <"$work/lids")" "$(ask opasaquery -o node | grep -c '^LID:')"
		has "$asker asks for a node" "$(ask opasaquery -o node -l "$lid")" "$far"
		has "$asker asks for a path" "$(ask opasaquery -o path -l "$lid")" "Rate: 100g"
	done
fi
same "nothing is worth a warning" "" "$(grep -E '^(warning|error)' "$work/d.log" | grep -v 'SAG-START\|unicast_lid_limit')"
finish
