#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro compare has the figures that route has of each engine alone, the moved routes of a
# what-if, a reason for what cannot be routed or takes too long, and a recommendation.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v jq >/dev/null || skip "jq is not installed"

saguaro() { "$bin/saguaro" "$@"; }
rows() { jq -r "$1" "$work/said"; }

saguaro topo ft2 6 4 4 -o "$work/tree.topo"
saguaro topo torus 4x4 2 -o "$work/torus.topo"
saguaro topo jellyfish 400 20 4 -s 3 -o "$work/large.topo"

saguaro compare "$work/torus.topo" --json >"$work/said"
same "exit status: something proves" 0 $?
same "all engines" "$(saguaro engines --field name)" "$(rows '.engines[].engine')"
for engine in minhop dor lash nue; do
	saguaro route "$work/torus.topo" -R "$engine,no_fallback" --credit-loops program --json >"$work/alone" 2>/dev/null
	same "$engine: the figures of route" \
		"$(jq -c '[.unreachable_pairs, .credit_loops, .vls_used, .load.max, .load.p99]' "$work/alone")" \
		"$(rows ".engines[] | select(.engine == \"$engine\") | [.unreachable_pairs, .credit_loops, .vls, .load.max, .load.p99]" | jq -c .)"
done
same "minhop has credit loops in a torus" false "$(rows '.engines[] | select(.engine == "minhop") | .proven')"
holds "what is recommended is proven" test true = "$(rows '. as $a | .engines[] | select(.engine == $a.recommended) | .proven')"
holds "with a reason" test -n "$(rows .reason)"
has "what does not suit says why" "$(saguaro compare "$work/tree.topo" -R torus-2QoS | sed -n 's/^torus-2QoS *not routed: //p')" "torus"
saguaro compare "$work/tree.topo" -R torus-2QoS >/dev/null
same "exit status: nothing proves" 1 $?

# columns for programs
same "CSV" "engine,proven" "$(saguaro compare "$work/tree.topo" -R updn --csv --field engine,proven | head -n 1)"
same "fields" "$(printf 'updn\ttrue')" "$(saguaro compare "$work/tree.topo" -R updn --field engine,proven)"
saguaro compare "$work/tree.topo" --field no.such >/dev/null 2>&1
same "no such field" 2 $?

# an engine that takes longer than it may is given up, and the others are not
saguaro compare "$work/large.topo" -R chains,nue --seconds 1 --json >"$work/said"
same "given up" '[["nue",true],["chains",false]]' "$(jq -c '[.engines[] | [.engine, .late]]' "$work/said")"
has "and says so" "$(rows '.engines[0].why')" "not done after 1 s"
saguaro compare "$work/large.topo" -R nue,chains --within 1 --json >"$work/said"
same "no turn" "no time was left" "$(rows '.engines[1].why')"

# the running fabric, with the options of its daemon and the LIDs that ports have
start_daemon running --fabric "sim:$work/torus.topo" -R lash
export SAGUARO_SNAPSHOT_DIR=$run_dir
until_true saguaro status >/dev/null 2>&1 || { fail "not up"; finish; }
saguaro compare running --json >"$work/said"
same "LIDs of the daemon" "$(saguaro lids --field lid | wc -l)" "$(rows .fabric.lids)"
same "all engines, not only that of the daemon" "$(saguaro engines --field name)" "$(rows '.engines[].engine')"
same "the load of the daemon" "$(saguaro status --json | jq -c '.routing.load | [.max, .p99]')" \
	"$(jq -c '.engines[] | select(.engine == "lash") | .load | [.max, .p99]' "$work/said")"
cable=$(rows '.lost_cable[0] | "\(.name):\(.port)"')
same "moved routes of a what-if" "$(saguaro whatif --down "$cable" --json | jq -c '[.pairs.moved, .pairs.lost]')" \
	"$(jq -c '.engines[] | select(.engine == "lash") | .cable_lost | [.moved, .lost]' "$work/said")"
same "without a word: the same" "$(jq -c '[.engines[] | [.engine, .load.max, .shift.mean]]' "$work/said")" \
	"$(saguaro compare --json | jq -c '[.engines[] | [.engine, .load.max, .shift.mean]]')"
finish
