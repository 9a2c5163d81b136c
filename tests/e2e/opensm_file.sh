#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Tables and hop matrices on the way to OpenSM and back: our dump is loaded by opensm -R file
# over ibsim, what OpenSM then dumps is proven by saguaro check and loaded by saguaro route
# -R file: the same tables. LIDs are turned round on the way to OpenSM, because entries follow
# the port GUIDs of the remarks; those of a hop matrix do not when OpenSM reads it.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/ibsim.sh
. "$here/tests/e2e/ibsim.sh"
need_ibsim opensm jq

# by_guid DUMP: "switch-GUID port-GUID port" of every entry, sorted: what does not depend on LIDs
by_guid() {
	awk '/^Unicast/ { for (i = 1; i < NF; i++) if ($i == "guid") sw = $(i + 1) }
		/^0x/ { for (i = 1; i < NF; i++) if ($i == "portguid") { p = $(i + 1); sub(/:.*/, "", p); print sw, p, $2 } }' "$1" | sort
}

# hops_by_guid DUMP: the same of a hop matrix
hops_by_guid() {
	awk '/^Switch/ { sw = $3 } /^0x/ { g = $NF; sub(/^[^:]*: /, ""); sub(/ #.*/, ""); print sw, g, $0 }' "$1" | sort
}

# turned DUMP: every LID another one, the highest first
turned() {
	awk 'function hex(s,  i, n) { for (i = 3; i <= length(s); i++) n = 16 * n + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
		NR == FNR { if (/^0x/ && hex($1) > top) top = hex($1); next }
		/^0x/ { sub(/^0x[0-9a-f]+/, sprintf("0x%04x", top + 1 - hex($1))) }
		{ print }' "$1" "$1"
}

# run_opensm NAME TOPOLOGY ARGS...: OpenSM up and down again, its dumps in $work/NAME
run_opensm() {
	local name=$1 topo=$2
	shift 2
	start_ibsim "$topo"
	start_opensm_on "$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$topo" | head -n 1)" "$name" "$@"
	holds "$name: OpenSM dumps its hops" until_true test -s "$work/$name/opensm-lid-matrix.dump"
	holds "$name: OpenSM dumps its tables" until_true test -s "$work/$name/opensm-lfts.dump"
	kill "$opensm"
	wait "$opensm" 2>/dev/null
	stop_ibsim
}

# round_trip NAME ENGINE KIND ARGS...: tables that ENGINE makes of a generated fabric
round_trip() {
	local name=$1 engine=$2 topo=$work/$1.topo json
	shift 2
	"$bin/saguaro" topo "$@" -o "$topo" || fail "$name: topo"
	"$bin/saguaro" route "$topo" -R "$engine" -l 2 --dump-lfts "$work/$name.lmc" >/dev/null || fail "$name: route with an LMC"
	"$bin/saguaro" route "$topo" -R "$engine" --dump-lfts "$work/$name.lfts" --dump-lid-matrix "$work/$name.hops" >/dev/null ||
		fail "$name: route"
	turned "$work/$name.lfts" >"$work/$name.turned"
	refuses "$name: LIDs are turned round" cmp "$work/$name.lfts" "$work/$name.turned"
	run_opensm "osm-$name" "$topo" -R file -U "$work/$name.turned" -M "$work/$name.hops"
	holds "$name: OpenSM took the file" grep -q 'file tables configured on all switches' "$work/osm-$name.log"
	same "$name: OpenSM programmed our tables" "$(by_guid "$work/$name.lfts")" "$(by_guid "$work/osm-$name/opensm-lfts.dump")"
	same "$name: OpenSM loaded our hops" "$(hops_by_guid "$work/$name.hops")" "$(hops_by_guid "$work/osm-$name/opensm-lid-matrix.dump")"
	json=$("$bin/saguaro" check "$topo" --lfts "$work/osm-$name/opensm-lfts.dump" --json)
	same "$name: proven" "0 0" "$(jq -r '"\(.unreachable_pairs) \(.forwarding_loops)"' <<<"$json")"
	json=$("$bin/saguaro" route "$topo" -R file,no_fallback -U "$work/osm-$name/opensm-lfts.dump" --dump-lfts "$work/$name.back" --json)
	same "$name: engine" file "$(jq -r .engine_used <<<"$json")"
	same "$name: nothing to say" null "$(jq -r .fallback_reason <<<"$json")"
	same "$name: back again" "$(cat "$work/$name.lfts")" "$(cat "$work/$name.back")"
	"$bin/saguaro" route "$topo" -R file,no_fallback -U "$work/$name.turned" --dump-lfts "$work/$name.back" >/dev/null || fail "$name: turned"
	same "$name: LIDs turned back" "$(cat "$work/$name.lfts")" "$(cat "$work/$name.back")"
	"$bin/saguaro" route "$topo" -R file,no_fallback -l 2 -U "$work/$name.lmc" --dump-lfts "$work/$name.back" >/dev/null || fail "$name: LMC"
	same "$name: with an LMC" "$(cat "$work/$name.lmc")" "$(cat "$work/$name.back")"
}

round_trip tree minhop ft2 6 4 3
round_trip cube dor hypercube 4 2

# hops that OpenSM made: the tables of minhop
topo=$work/mesh.topo
"$bin/saguaro" topo mesh 4x3 2 -o "$topo"
run_opensm osm-mesh "$topo" -R minhop
"$bin/saguaro" route "$topo" --dump-lfts "$work/mesh.lfts" --credit-loops program >/dev/null 2>&1
"$bin/saguaro" route "$topo" -R file -M "$work/osm-mesh/opensm-lid-matrix.dump" --dump-lfts "$work/mesh.back" --credit-loops program >/dev/null 2>&1
same "hops of OpenSM: the tables of minhop" "$(cat "$work/mesh.lfts")" "$(cat "$work/mesh.back")"

# bad files: named by line, and nothing is routed
sed '3s/0x\(....\) .*/0x\1 lots/' "$work/tree.lfts" >"$work/bad.lfts"
refuses "a bad line" "$bin/saguaro" route "$work/tree.topo" -R file -U "$work/bad.lfts"
has "with its place" "$said" "$work/bad.lfts:3: error: expected '0xLID PORT"
refuses "hops for tables" "$bin/saguaro" route "$work/tree.topo" -R file -U "$work/tree.hops"
refuses "tables for hops" "$bin/saguaro" route "$work/tree.topo" -R file -M "$work/tree.lfts"
refuses "no such file" "$bin/saguaro" route "$work/tree.topo" -R file -U "$work/nothing"

# a switch that the file leaves out is routed all the same, and named
awk '/^Unicast/ { n++ } n != 2 { print }' "$work/tree.lfts" >"$work/gap.lfts"
said=$("$bin/saguaro" route "$work/tree.topo" -R file,no_fallback -U "$work/gap.lfts" 2>&1)
same "a switch left out" 0 $?
has "is named" "$said" "no table for 1 switches, the first 'leaf-0001'"
finish
