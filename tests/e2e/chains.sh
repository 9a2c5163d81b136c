#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A routing chain over a tree beside a torus: the whole by minhop, the tree by ftree with updn
# as its fallback, the torus by dnup. A chain that would deadlock is refused; a bad chain read
# by SIGHUP changes nothing.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"

command -v jq >/dev/null || skip "jq is not installed"

# A two-level tree, and a ring of five switches on one of its spines.
"$bin/saguaro" topo ft2 6 4 3 -o "$work/tree.topo"
"$bin/saguaro" topo torus 5 1 -o "$work/ring.topo"
joined=$work/joined.topo
{
	cat "$work/tree.topo"
	printf '\n'
	sed -e 's/2c903/2c913/g; s/2c904/2c914/g; s/"t-/"ring-/g; s/"h0/"rh0/g; s/"node/"rnode/g' "$work/ring.topo" |
		sed -e '/^Switch.*"ring-000"/{s/^Switch\t3/Switch\t4/;a [4]\t"spine-0000"[7]
}'
} >"$joined"

chain() { # chain TREE-ENGINE RING-ENGINE
	cat >"$work/groups" <<-'G'
		port-group
		name: tree
		use: switches of the tree
		port-regexp: ^(leaf|spine)-
		end-port-group
		port-group
		name: ring
		subtract-rule: ALL_SWITCHES, tree
		end-port-group
	G
	cat >"$work/topologies" <<-'T'
		topology
		id: 1
		sw-grp: tree
		hca-grp: ALL_CAS
		end-topology
		topology
		id: 2
		sw-grp: ring
		hca-grp: ALL_CAS
		end-topology
	T
	cat >"$work/steps" <<-S
		unicast-step
		id: 1
		engine: minhop
		use: the whole fabric
		end-unicast-step
		unicast-step
		id: 2
		engine: $1
		topology: 1
		end-unicast-step
		unicast-step
		id: 3
		engine: updn
		topology: 1
		fallback-to: 2
		end-unicast-step
		unicast-step
		id: 4
		engine: $2
		topology: 2
		end-unicast-step
	S
	cat >"$work/chain.conf" <<-C
		routing_engine chains,no_fallback
		pgrp_policy_file $work/groups
		topo_policy_file $work/topologies
		rch_policy_file $work/steps
	C
}

chain ftree dnup
holds "the files are understood" "$bin/saguaro" config check "$work/chain.conf"
said=$("$bin/saguaro" route "$joined" -F "$work/chain.conf" --json)
same "the chain proves out" 0 "$(jq .credit_loops <<<"$said")"
same "by chains" chains "$(jq -r .engine_used <<<"$said")"
"$bin/saguaro" route "$joined" -F "$work/chain.conf" --dump-lfts "$work/chain.lfts" >/dev/null 2>&1
holds "its tables pass a check of their own" "$bin/saguaro" check "$joined" --lfts "$work/chain.lfts"

# minhop on the ring deadlocks; the proof of the whole finds it
chain ftree minhop
refuses "a chain that would deadlock" "$bin/saguaro" route "$joined" -F "$work/chain.conf"
has "says where" "$said" "credit loop"
said=$("$bin/saguaro" route "$joined" -F "$work/chain.conf" --json 2>/dev/null)
same "no load of tables that are not used" null "$(jq -c .load <<<"$said")"

# the fallback of a step that refuses
chain torus-2QoS dnup
said=$("$bin/saguaro" route "$joined" -F "$work/chain.conf" 2>&1)
has "a step that fails is named" "$said" "step 2 failed: torus-2QoS"
has "its fallback serves" "$said" "credit loops      0"

# a daemon with it, and a bad chain by SIGHUP
chain ftree dnup
start_daemon d --fabric "sim:$joined" -F "$work/chain.conf"
start_gateway g
wait_ready
same "the daemon routes by chains" chains "$(get /v1/routing | jq -r .engine_used)"
epoch=$(get /v1/fabric | jq .epoch)
chain nonsense dnup
kill -HUP "$daemon"
holds "the bad step is named" until_true log_says d "unknown engine 'nonsense'"
same "nothing changed" "$epoch" "$(get /v1/fabric | jq .epoch)"
same "still chains" chains "$(get /v1/routing | jq -r .engine_used)"

finish
