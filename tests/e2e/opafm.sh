#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A site with an opafm.xml: the routing algorithm, LMC, LmcE0, PathSelection and packet life times
# of the file are those of the running fabric; path selections at unequal LMC are the example of
# the Omni-Path fabric manual, section "PathRecord Path Selection". A file with errors is refused
# with line and element, and what runs stays.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v jq >/dev/null || skip "jq is not installed"
topo=$here/tests/fabrics/esp0.topo

# opafm FILE SM-ELEMENTS [DEVICE-GROUPS]: an opafm.xml with two instances; the second has LMC 1
opafm() {
	cat >"$1" <<-X
		<?xml version="1.0" encoding="utf-8"?>
		<Config>
		<Common>
		<DeviceGroups>
		${3:-}
		</DeviceGroups>
		<Shared><LogLevel>2</LogLevel></Shared>
		<Sm>
		$2
		</Sm>
		</Common>
		<Fm><Shared><Name>fm0</Name></Shared></Fm>
		<Fm><Shared><Name>fm1</Name></Shared><Sm><Lmc>1</Lmc></Sm></Fm>
		</Config>
	X
}

group() { printf '<DeviceGroup><Name>%s</Name>%s</DeviceGroup>' "$1" "$2"; }

offsets() { # offsets JSON SBASE DBASE
	jq -r --argjson s "$2" --argjson d "$3" '[.paths[] | "S\(.slid - $s + 1)D\(.dlid - $d + 1)"] | join(" ")' <<<"$1"
}

# selects MODE: does the running daemon list paths that way when nobody asks for a way?
selects() { [ "$(get /v1/fabric | jq -r .path_selection)" = "$1" ]; }

# --- the four path selections at unequal LMC, by SIGHUP on one daemon ---------------------------

xml=$work/opafm.xml
lmc="<Lmc>2</Lmc><LmcE0>1</LmcE0>"
life="<PacketLifetime>1s</PacketLifetime><DynamicPacketLifetime><Enable>1</Enable><Hops01>67ms</Hops01><Hops02>134ms</Hops02></DynamicPacketLifetime>"
opafm "$xml" "<RoutingAlgorithm>ShortestPath</RoutingAlgorithm>$lmc$life<PathSelection>Minimal</PathSelection>"
start_daemon m --fabric "sim:$topo" -F "$xml" --unicast-lid-limit 40
start_gateway g
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir
same "RoutingAlgorithm is the engine" "shortestpath shortestpath" "$(get /v1/routing | jq -r '"\(.engine_asked) \(.engine_used)"')"
# tables are sent by LID where switches answer, without a word about it in the file
same "smp_routing is auto" auto "$("$bin/saguarod" -F "$xml" --dump-config 2>/dev/null | sed -n 's/^smp_routing //p')"
switches=$(get /v1/fabric | jq .switches)
same "all switches by LID" "$switches 0" "$(get /v1/sm | jq -r '.programmed | "\(.by_lid) \(.asked + .unanswered + .remembered + .behind + .no_route)"')"
has "status says so" "$("$bin/saguaro" status)" "programmed       $switches switches by LID, 0 by directed routes"
sw=$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "switch")][0].guid')
host=$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "ca")][0].guid')
far=$(get /v1/nodes | jq -r '[.nodes[] | select(.type == "ca")][-1].guid')
sbase=$(get "/v1/nodes/$sw" | jq .lid)
dbase=$(get "/v1/nodes/$host" | jq .lid)
same "life time over one switch" "14" "$(get "/paths?src=$sw&dst=$host&mode=minimal" | jq '.paths[0].packet_life_time')"
same "life time over two switches" "15" "$(get "/paths?src=$host&dst=$far&mode=minimal" | jq '.paths[0].packet_life_time')"

expect() { # expect NAME-IN-XML MODE ORDER
	opafm "$xml" "<RoutingAlgorithm>shortestpath</RoutingAlgorithm>$lmc$life<PathSelection>$1</PathSelection>"
	kill -HUP "$daemon"
	holds "$1 is taken on SIGHUP" until_true selects "$2"
	same "$1 by HTTP" "$3" "$(offsets "$(get "/paths?src=$sw&dst=$host")" "$sbase" "$dbase")"
	same "$1 on the command line" "$3" "$(offsets "$("$bin/saguaro" paths "$sw" "$host" --json)" "$sbase" "$dbase")"
}
expect Pairwise pairwise "S1D1 S2D2 S1D3 S2D4"
expect OrderAll orderall "S1D1 S2D2 S1D3 S2D4 S1D2 S1D4 S2D1 S2D3"
expect SrcDstAll srcdstall "S1D1 S1D2 S1D3 S1D4 S2D1 S2D2 S2D3 S2D4"
expect Minimal minimal "S1D1 S2D2"

# --- a bad file: nothing of it is taken ---------------------------------------------------------

refused() { grep -c 'configuration refused, the running one stays' "$work/m.log"; }
before=$(refused)
opafm "$xml" "<Lmc>9</Lmc>
<PathSelection>OrderAll</PathSelection>
<FatTreeTopology><TierCount>three</TierCount></FatTreeTopology>"
kill -HUP "$daemon"
more() { [ "$(refused)" -gt "$before" ]; }
holds "a bad file is refused on SIGHUP" until_true more
has "the LMC with line and element" "$(cat "$work/m.log")" "opafm.xml:9: Sm/Lmc '9': expected a number from 0 to 7"
has "the tiers with line and element" "$(cat "$work/m.log")" "opafm.xml:11: Sm/FatTreeTopology/TierCount 'three': expected a number"
same "the running path selection stays" minimal "$(get /v1/fabric | jq -r .path_selection)"
same "the running paths stay" "S1D1 S2D2" "$(offsets "$(get "/paths?src=$sw&dst=$host")" "$sbase" "$dbase")"

# --- an LMC that needs more LIDs than there are: the sweep says so, what runs stays -------------

opafm "$xml" "<Lmc>4</Lmc>$life"
kill -HUP "$daemon"
short_of_lids() { grep -q 'LIDs cannot be assigned: no free range of 16 LIDs up to 40 .*lower the LMC' "$work/m.log"; }
holds "an LMC too large for the LIDs there are" until_true short_of_lids
same "the running LIDs stay" "S1D1 S2D2" "$(offsets "$(get "/paths?src=$sw&dst=$host")" "$sbase" "$dbase")"
kill "$daemon" "$gateway"
wait "$daemon" "$gateway"

# --- instances ----------------------------------------------------------------------------------

opafm "$xml" "$lmc"
value() { sed -n "s/^$1 //p"; }
same "the first Fm by default" 2 "$("$bin/saguarod" -F "$xml" --dump-config 2>/dev/null | value lmc)"
same "no RoutingAlgorithm is shortestpath" shortestpath "$("$bin/saguarod" -F "$xml" --dump-config 2>/dev/null | value routing_engine)"
same "the second Fm by its name" 1 "$("$bin/saguarod" -F "$xml" --instance fm1 --dump-config 2>/dev/null | value lmc)"
refuses "no such Fm" "$bin/saguarod" -F "$xml" --instance fm7 --check
has "the Fms there are" "$said" "there are fm0, fm1"
"$bin/saguarod" -F "$xml" --dump-config >"$work/as.conf" 2>/dev/null
"$bin/saguarod" -F "$xml" --instance fm1 --dump-config >"$work/fm1.conf" 2>/dev/null
same "an instance as keys and values" "$(cat "$work/fm1.conf")" "$("$bin/saguarod" -F "$work/fm1.conf" --dump-config)"
same "the same as keys and values" "$(cat "$work/as.conf")" "$("$bin/saguarod" -F "$work/as.conf" --dump-config)"

# --- algorithms with device groups, without a daemon --------------------------------------------

tree=$work/tree.topo
"$bin/saguaro" topo ft2 6 4 3 -o "$tree" || fail "topo"
groups=$(group Compute '<NodeDesc>*</NodeDesc>'; group Core '<NodeType>SW</NodeType>')
opafm "$xml" "<RoutingAlgorithm>fattree</RoutingAlgorithm><Lmc>1</Lmc>
<FatTreeTopology><TierCount>2</TierCount><FIsOnSameTier>1</FIsOnSameTier><RouteLast>Compute</RouteLast></FatTreeTopology>" "$groups"
json=$("$bin/saguaro" route "$tree" -F "$xml" --json)
same "fattree by opafm.xml" "fattree null 1 0" "$(jq -r '"\(.engine_used) \(.fallback_reason) \(.lmc) \(.credit_loops)"' <<<"$json")"
opafm "$xml" "<RoutingAlgorithm>fattree</RoutingAlgorithm>
<FatTreeTopology><FIsOnSameTier>0</FIsOnSameTier>
<CoreSwitches>Kore</CoreSwitches></FatTreeTopology>" "$groups"
refuses "a group that is not there" "$bin/saguaro" route "$tree" -F "$xml" --json
has "its line, element and remedy" "$said" "opafm.xml:11: error: Sm/FatTreeTopology/CoreSwitches: unknown device group 'Kore'; did you mean 'Core'?"
opafm "$xml" "<RoutingAlgorithm>hypercube</RoutingAlgorithm>"
refuses "an algorithm that is not there" "$bin/saguarod" -F "$xml" --check
has "its line and the others" "$said" "opafm.xml:9: error: Sm/RoutingAlgorithm: unknown routing engine 'hypercube'; known are minhop"
order() { printf '<RoutingAlgorithm>dgshortestpath</RoutingAlgorithm><DGShortestPathTopology><RoutingOrder>\n<DeviceGroup>%s</DeviceGroup></RoutingOrder></DGShortestPathTopology>' "${1//|/</DeviceGroup>$'\n'<DeviceGroup>}"; }
opafm "$xml" "$(order 'Core|All|Compute')" "$groups"
json=$("$bin/saguaro" route "$tree" -F "$xml" --json)
same "dgshortestpath by opafm.xml" "dgshortestpath null" "$(jq -r '"\(.engine_used) \(.fallback_reason)"' <<<"$json")"
same "its order of groups" "Core, All, Compute" "$("$bin/saguaro" config check "$xml" --json | jq -r '.understood[] | select(.key == "dg_routing_order") | .means')"
opafm "$xml" "$(order 'Core|Storage|All')" "$groups"
refuses "an order with a group that is not there" "$bin/saguaro" route "$tree" -F "$xml"
has "its element and remedy" "$said" "Sm/DGShortestPathTopology/RoutingOrder/DeviceGroup: unknown device group 'Storage'; define it in DeviceGroups"
printf '<DeviceGroups>%s</DeviceGroups>\n' "$(group Last '<NodeDesc>*</NodeDesc>')" >"$work/groups.xml"
json=$("$bin/saguaro" route "$tree" -R fattree --device-groups-file "$work/groups.xml" --fattree-route-last Last --json)
same "groups on the command line" fattree "$(jq -r .engine_used <<<"$json")"

# --- saguaro config check -----------------------------------------------------------------------

opafm "$xml" "<RoutingAlgorithm>fattree</RoutingAlgorithm><Lmc>1</Lmc>
<DbSyncInterval>15</DbSyncInterval>
<Colour>red</Colour>" "$groups"
json=$("$bin/saguaro" config check "$xml" --json)
same "config check: exit status" 0 "$?"
same "config check: what it is" "false opafm.xml fm0" "$(jq -r '"\(.good) \(.format) \(.instance)"' <<<"$json")"
same "config check: understood" "9 Sm/Lmc lmc 1" "$(jq -r '.understood[] | select(.key == "lmc") | "\(.line) \(.element) \(.key) \(.means)"' <<<"$json")"
same "config check: without effect" "10 15" "$(jq -r '.without_effect[] | select(.element == "Sm/DbSyncInterval") | "\(.line) \(.value)"' <<<"$json")"
same "config check: unknown" "11 Sm/Colour" "$(jq -r '.unknown[] | "\(.line) \(.element)"' <<<"$json")"
opafm "$xml" "<RoutingAlgorithm>hypercube</RoutingAlgorithm><Lmc>8</Lmc>"
json=$("$bin/saguaro" config check "$xml" --json)
same "config check: exit status of a bad file" 1 "$?"
same "config check: errors with lines" "false 9 9" "$(jq -r '"\(.good) \([.errors[].line] | map(tostring) | join(" "))"' <<<"$json")"
printf 'lmc 2\nuse_mfttop FALSE\nrouting_engine updn\n' >"$work/opensm.conf"
json=$("$bin/saguaro" config check "$work/opensm.conf" --json)
same "config check of keys and values" "false opensm.conf lmc routing_engine use_mfttop" \
	"$(jq -r '"\(.good) \(.format) \([.understood[].key] | join(" ")) \([.without_effect[].key] | join(" "))"' <<<"$json")"
"$bin/saguaro" config check "$work/none.xml" >/dev/null 2>&1
same "config check: no such file" 2 "$?"
if [ -r /usr/share/opa-fm/opafm.xml ]; then
	json=$("$bin/saguaro" config check /usr/share/opa-fm/opafm.xml --json)
	same "the file that opa-fm ships" "taken, but not all of it 0 0 0" "$(jq -r '"\(.verdict) \(.n_errors) \(.n_warnings) \(.unknown | length)"' <<<"$json")"
fi
finish
