#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro report on a file that is routed here, on a file with somebody's tables, and on a
# running fabric: the same tables give the same report.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"

command -v jq >/dev/null || skip "jq is not installed"
report() { "$bin/saguaro" report "$@"; }

ring=$work/ring.topo tree=$work/tree.topo
"$bin/saguaro" topo torus 5 1 -o "$ring"
"$bin/saguaro" topo ft2 4 2 2 -o "$tree"

# what -R may name
same "engines: one line for each" "$("$bin/saguaro" engines --json | jq -r '.[].name')" \
	"$(sed -n 's/^ENGINE(\(.*\))$/\1/p' "$here/routing/engines.def" | sed 's/^torus$/torus-2QoS/')"
has "engines: as a table" "$("$bin/saguaro" engines)" "torus-2QoS     needed"

# a loop: found, one cycle each way round, every link with a route that makes it
said=$(report validatecreditloops "$ring" -R minhop)
same "a credit loop is exit status 1" 1 "$?"
has "summary" "$said" "Fabric summary: 10 devices, 5 HFIs, 5 switches,
	20 connections, 45 routing decisions,
	20 analyzed routes, 0 incomplete routes
Deadlock detected in routes (Credit loops detected)"
has "cycle" "$said" "is in a CYCLE of 5:"
same "every link of a cycle names a route" 10 "$(grep -c 'route from' <<<"$said")"
said=$(report validatecreditloop "$ring" -R dnup)
same "the other spelling; no loop is exit status 0" 0 "$?"
has "no loop" "$said" "Routes are deadlock free (No credit loops detected)"

# OpenSM's form of tables goes in, too; a hole made by hand is found
"$bin/saguaro" route "$tree" -R minhop --dump-lfts "$work/tree.lfts" >/dev/null
for name in pathusage treepathusage portusage validateroutes; do
	same "$name: routed here and from a dump" "$(report $name "$tree" -R minhop --json)" \
		"$(report $name "$tree" --lfts "$work/tree.lfts" --json)"
	holds "$name as text" report $name "$tree"
done
same "a tree's uplinks carry what its downlinks do" true \
	"$(report treepathusage "$tree" --json | jq '.fabric.uplink.all.total == .fabric.downlink.all.total and .fabric.uplink.all.total > 0')"
sed '0,/^0x[0-9a-f]* 00[34] # Channel/{//d}' "$work/tree.lfts" >"$work/hole.lfts"
said=$(report validateroutes "$tree" --lfts "$work/hole.lfts")
same "a hole is exit status 1" 1 "$?"
has "where it ends" "$said" "no route at"

# route
said=$(report route "$tree" --src node1 --dst node8)
has "arrives" "$said" "arrives"
same "from CA to CA over three switches" 5 "$(grep -c '  in ' <<<"$said")"
refuses "an unknown end port" report route "$tree" --src nobody --dst node1
has "says which" "$said" "'nobody' names no end port"
refuses "no end port given" report route "$tree"
has "says how to give one" "$said" "--src"
refuses "unknown report" report nonsense
has "says where they are" "$said" "saguaro report --help"
has "which lists the reports" "$(report --help)" "validatecreditloops"
refuses "no fabric" report pathusage --snapshot-dir "$work/nowhere"
has "says what to do" "$said" "start saguarod"

# a running fabric with several lanes: as the same engine routes the file
torus=$work/torus.topo
"$bin/saguaro" topo torus 4x4 2 -o "$torus"
for engine in lash torus-2QoS; do
	start_daemon "$engine" --fabric "sim:$torus" -R "$engine"
	start_gateway "gw-$engine"
	wait_ready
	export SAGUARO_SNAPSHOT_DIR=$run_dir
	for name in validatecreditloops validateroutes pathusage portusage; do
		report $name --json >"$work/running.json" || fail "$name of the running fabric"
		report $name "$torus" -R "$engine" --json >"$work/file.json"
		same "$engine, $name: running and routed here" "$(jq -S . "$work/file.json")" \
			"$(jq -S . "$work/running.json")"
	done
	same "$engine: lanes of the running fabric are seen" "$(curl -s "$url/v1/routing" | jq .vls_used)" \
		"$(report validatecreditloops --json | jq .vls)"
	unset SAGUARO_SNAPSHOT_DIR
done

finish
