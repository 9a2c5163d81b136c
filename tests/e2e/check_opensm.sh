#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro check over tables that OpenSM made: a good dump is proven; the same dump damaged by
# hand (hole, forwarding loop, credit loop) is rejected with the culprit.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/ibsim.sh
. "$here/tests/e2e/ibsim.sh"
need_ibsim opensm jq

# entry SWITCH-DESCRIPTION LID: the port in the dump
entry() { awk -v sw="$1" -v lid="$(printf '0x%04x' "$2")" '/^Unicast/ { on = index($0, sw) } on && $1 == lid { print $2 + 0 }' "$dump"; }

# damage SWITCH-DESCRIPTION LID PORT: copy of the dump with one entry changed (PORT none: left out)
damage() {
	awk -v sw="$1" -v lid="$(printf '0x%04x' "$2")" -v port="$3" '
		/^Unicast/ { on = index($0, sw) }
		on && $1 == lid { if (port == "none") next; sub(/^0x[0-9a-f]+ [0-9]+/, sprintf("%s %03d", lid, port)) }
		{ print }' "${4:-$dump}"
}

topo=$work/tree.topo
"$bin/saguaro" topo ft2 6 4 3 -o "$topo" || fail "topo"
first=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$topo" | head -n 1)
start_ibsim "$topo"
start_opensm_on "$first" osm -R minhop
dump=$work/osm/opensm-lfts.dump
holds "OpenSM wrote its tables" until_true test -s "$dump"
kill "$opensm"
wait "$opensm" 2>/dev/null
stop_ibsim

good=$("$bin/saguaro" check "$topo" --lfts "$dump" --json)
same "OpenSM's tables are proven" 0 $?
same "no faults" "0 0 0" "$(jq -r '"\(.unreachable_pairs) \(.forwarding_loops) \(.credit_loops)"' <<<"$good")"

# a hole: the first leaf forgets the LID of a host elsewhere
leaf=$(sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' "$topo" | head -n 1)
far_guid=$(sed -n 's/^caguid=0x\([0-9a-f]*\).*/\1/p' "$topo" | tail -n 1)
far_port_guid=$(printf '0x%016x' $((16#$far_guid + 1)))
far_lid=$((16#$(sed -n "s/^0x\([0-9a-f]*\) .*portguid $far_port_guid.*/\1/p" "$dump" | head -n 1)))
damage "'$leaf" "$far_lid" none >"$work/hole.lfts"
refuses "a hole is rejected" "$bin/saguaro" check "$topo" --lfts "$work/hole.lfts"
has "with the switch" "$said" "$leaf"
has "and the LID" "$said" "$far_lid"
same "4 pairs are unreachable" 4 "$("$bin/saguaro" check "$topo" --lfts "$work/hole.lfts" --json 2>/dev/null | jq .unreachable_pairs)"

# a forwarding loop: the spine on the way sends the packet back down to the first leaf
up=$(entry "'$leaf" "$far_lid")
spine=$(awk -v leaf="$leaf" -v up="[$up]" '/^Switch/ { on = index($0, "\"" leaf "\"") } on && index($0, up) == 1 { split($0, f, "\""); print f[2] }' "$topo")
down=$(awk -v sw="$spine" -v leaf="\"$leaf\"" '/^Switch/ { on = index($0, "\"" sw "\"") } on && /^\[/ && index($0, leaf) { split($0, f, /[][]/); print f[2] }' "$topo" | head -n 1)
damage "'$spine" "$far_lid" "$down" >"$work/loop.lfts"
refuses "a forwarding loop is rejected" "$bin/saguaro" check "$topo" --lfts "$work/loop.lfts"
has "with the spine" "$said" "$spine"
has "and the leaf" "$said" "$leaf"
same "one loop" 1 "$("$bin/saguaro" check "$topo" --lfts "$work/loop.lfts" --json 2>/dev/null | jq .forwarding_loops)"

# a credit loop: a ring of five switches, OpenSM's own minhop makes one
ring=$work/ring.topo
"$bin/saguaro" topo torus 5 1 -o "$ring"
first=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$ring" | head -n 1)
start_ibsim "$ring"
start_opensm_on "$first" osmring -R minhop
holds "OpenSM wrote its tables for the ring" until_true test -s "$work/osmring/opensm-lfts.dump"
kill "$opensm"
wait "$opensm" 2>/dev/null
stop_ibsim
refuses "a credit loop is rejected" "$bin/saguaro" check "$ring" --lfts "$work/osmring/opensm-lfts.dump"
has "with the cycle" "$said" "credit loop of 5 channels"

# bad input
refuses "a truncated dump" "$bin/saguaro" check "$topo" --lfts <(head -c 300 "$dump" | tr '0' 'z')
refuses "no such dump" "$bin/saguaro" check "$topo" --lfts "$work/nothing"
has "in a sentence" "$said" "nothing"
finish
