#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# opasaquery over TCP against a simulated fabric: what it prints of each record, in Omni-Path's
# layout and in InfiniBand's, is what HTTP says.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v jq >/dev/null || skip "jq is not installed"
command -v opasaquery >/dev/null || skip "opasaquery (package opa-basic-tools) is not installed"

start_daemon m --fabric "sim:$here/tests/fabrics/esp0.topo" --lmc 1 --oob-listen 127.0.0.1:0 \
	--qos --adaptive_routing=TRUE
start_gateway g
wait_ready
port=$(sed -n 's/.*requests over TCP on 127.0.0.1:\([0-9]*\).*/\1/p' "$work/m.log")
ask() { timeout "$patience" opasaquery --timeout 60000 -b 127.0.0.1 -p "$port" "$@" 2>&1; }

# records NAME [QUERY]: of HTTP
records() { get "/v1/records/$1?limit=1000${2:+&$2}"; }

# One line per node: LID in decimal, type, description, ports, GUIDs.
nodes_printed() {
	tr -d '\r' | awk '
		function out() { if (n) print lid, type, name, ports, node, port; n = 0 }
		/^LID:/ { out(); n = 1; lid = $2; type = $4; name = $6 }
		/^Ports:/ { ports = $2 } /^NodeGuid:/ { node = $2; port = $4 } END { out() }' |
		while read -r lid rest; do printf '%d %s\n' "$lid" "$rest"; done | sort
}
nodes_of_http() {
	records NodeRecord | jq -r '.records[] | "\(.lid) \(if .node_type == 2 then "SW" else "FI" end) \(.node_description) \(.num_ports) \(.node_guid) \(.port_guid)"' | sort
}
want=$(nodes_of_http)
same "there are nodes" 6 "$(wc -l <<<"$want")"
same "node" "$want" "$(ask -o node | nodes_printed)"
same "node, InfiniBand's layout" "$want" "$(ask -I -o node | nodes_printed)"
same "node by type" "$(grep ' SW ' <<<"$want")" "$(ask -o node -t sw | nodes_printed)"
same "node by description" "$(grep ' node3 ' <<<"$want")" "$(ask -o node -d node3 | nodes_printed)"
lid=$(awk '$3 == "node2" { print $1 }' <<<"$want")
guid=$(awk '$3 == "node2" { print $5 }' <<<"$want")
port_guid=$(awk '$3 == "node2" { print $6 }' <<<"$want")
far=$(awk '$3 == "node4" { print $1 }' <<<"$want")
for by in "-l $lid" "-l $((lid + 1))" "-n $guid" "-g $port_guid"; do
	# shellcheck disable=SC2086 # a flag and its value
	same "node by $by" "$(grep ' node2 ' <<<"$want")" "$(ask -o node $by | nodes_printed)"
done
same "a LID of nobody" "No Records Returned" "$(ask -o node -l 999 | tail -n 1)"

same "link" "$(records LinkRecord | jq -r '.records[] | "\(.from_lid) \(.to_lid) \(.from_port) \(.to_port)"' | sort)" \
	"$(ask -o link | sed -n 's/^LID: \(0x[0-9a-f]*\) -> \(0x[0-9a-f]*\) Port: *\([0-9]*\) -> *\([0-9]*\)$/\1 \2 \3 \4/p' |
		while read -r a b rest; do printf '%d %d %s\n' "$a" "$b" "$rest"; done | sort)"

same "linfdb" "$(records LinearForwardingTableRecord | jq -r '.records[] | .lid as $s | .block_num as $b | .linear_forwarding_table | to_entries[] | select(.value != 255) | "\($s) \($b * 64 + .key) \(.value)"' | sort)" \
	"$(ask -o linfdb | awk '/^LID:/ { sw = $2 } /-> Port/ { print sw, $2, $NF }' |
		while read -r s d p; do printf '%d %d %d\n' "$s" "$d" "$p"; done | sort)"

# LID, port, state, LMC, peer port and peer of each cabled port.
ports_of_http() {
	jq -rn --slurpfile p <(records PortInfoRecord) --slurpfile l <(records LinkRecord) '
		($l[0].records | map({key: "\(.from_lid)/\(.from_port)", value: .to_port}) | from_entries) as $peer
		| $p[0].records[] | select(.port_state == 4) | "\(.lid) \(.port_num) \(.lmc) \($peer["\(.lid)/\(.port_num)"] // 0) \(.master_smlid)"' | sort
}
ports_printed() {
	awk '
		/^PortLID:/ { lid = $2; split($0, f, /[()]/); num = f[2] + 0 }
		/PortState:/ { state = $NF } /^BaseLID:/ { sm = $4 } /^LMC:/ { lmc = $2 }
		/NeighborPortNum:/ { if (state == "Active") print lid, num, lmc, $NF, sm }' |
		while read -r l n m p s; do printf '%d %d %d %d %d\n' "$l" "$n" "$m" "$p" "$s"; done | sort
}
want=$(ports_of_http)
has "there are ports" "$want" "$lid 1 1"
same "portinfo" "$want" "$(ask -o portinfo | ports_printed)"
same "portinfo by LID" "$(grep "^$lid " <<<"$want")" "$(ask -o portinfo -l "$lid" | ports_printed)"

same "swinfo" "$(records SwitchInfoRecord | jq -r '.records[] | "\(.lid) \(.linear_fdb_top) \(.multicast_fdb_cap)"' | sort)" \
	"$(ask -o swinfo | awk '/^LID:/ { lid = $2 } /^LinearFDBCap:/ { print lid, $4, $6 }' |
		while read -r l t m; do printf '%d %d %s\n' "$l" "$t" "$m"; done | sort)"
same "sminfo" "$(records SMInfoRecord | jq -r '.records[] | "\(.guid) \(.priority)"')" \
	"$(ask -o sminfo | awk '/PortGuid/ { guid = $4 } /^Priority/ { print guid, $2 }')"
has "pkey" "$(ask -o pkey -l "$lid")" "0xffff"
has "classportinfo: what opa-fm has, its PA excepted" "$(ask -o classportinfo)" "Capability: 0x2204: CapMask2 MultiCast PortInfoMask"
has "classportinfo: bit 26, and what opa-fm has" "$(ask -o classportinfo)" "MFTTop FullPortInfo ExtSpeed DG/DT"

# SLID DLID SL of each path
paths_printed() {
	awk '/^SLID:/ { s = $2; d = $4 } /^SL:/ { print s, d, $2 }' |
		while read -r s d sl; do printf '%d %d %s\n' "$s" "$d" "$sl"; done
}
source_gid=0xfe80000000000000:$port_guid
same "path to a LID" "$(get "/paths?src=$lid&dst=$far&mode=minimal" >/dev/null; records PathRecord "sgid=fe80::$(sed 's/^0x0*//; s/\(.*\)\(....\)$/\1:\2/' <<<"$port_guid")&dlid=$far" | jq -r '.records[] | "\(.slid) \(.dlid) \(.sl)"')" \
	"$(ask -x "$source_gid" -o path -l "$far" | paths_printed)"
node_pair=$(ask -x "$source_gid" -o path -P "$port_guid $(records NodeRecord "lid=$far" | jq -r '.records[0].port_guid')" | paths_printed)
same "path by GUIDs" "$(get "/paths?src=node2&dst=node4" | jq -r '.paths[] | "\(.slid) \(.dlid) \(.sl)"')" "$node_pair"

trace=$(ask -x "$source_gid" -o trace -P "$port_guid $(records NodeRecord "lid=$far" | jq -r '.records[0].port_guid')")
same "trace: nodes on the way" "FI SW SW FI" "$(sed -n 's/^NodeType: //p' <<<"$trace" | xargs)"
same "trace: ports" "$(get "/paths?src=node2&dst=node4&hops=1" | jq -r '.paths[0].hops[]? | "\(.in_port) \(.out_port)"')" \
	"$(sed -n 's/^EntryPort: \(0x[0-9a-f]*\) ExitPort: \(0x[0-9a-f]*\).*/\1 \2/p' <<<"$trace" | sed '1d;$d' |
		while read -r a b; do printf '%d %d\n' "$a" "$b"; done)"

first_16() { awk 'NR == 1 { for (i = 1; i <= 16; i++) printf "%s%d", (i > 1 ? " " : ""), $i }'; }
# Tables: the SL-to-VL tables of hosts, arbitration of all ports, in both layouts.
vl_of_http() { records SLtoVLTableRecord | jq -r '.records[] | select(.output_port_num == 1 and .input_port_num == 0 and .lid == '"$lid"') | .sl_to_vl_mapping_table | join(" ")'; }
vl=$(ask -o scvlt -l "$lid" | sed -n 's/^ *VLT: //p' | first_16)
same "scvlt of a host" "$(vl_of_http)" "$vl"
same "scvlnt of its switch port" "$vl" "$(ask -o scvlnt | awk -v lid="$(printf '0x%08x' 1)" '/^LID:/ { on = $2 == lid && $4 == 2 } on && /VLNT:/ { sub(/.*VLNT: */, ""); print }' | first_16)"
same "slsc of all end ports" "$(records NodeRecord | jq '.records | length')" "$(ask -o slsc | grep -c '^LID:')"
same "scsl" "$(ask -o slsc | awk '/^SC:/ { $1 = ""; print }')" "$(ask -o scsl | awk '/^SL:/ { $1 = ""; print }')"
same "scvlr" "No Records Returned" "$(ask -o scvlr | tail -n 1)"
same "vlarb" "$(records VLArbitrationRecord | jq -r '.records[] | .lid as $l | .output_port_num as $p | .block_num as $b | .vl_arbitration_table | .[] | select(.[1] > 0) | "\($l) \($p) \($b) \(.[0]) \(.[1])"' | sort)" \
	"$(ask -o vlarb | awk '/^LID:/ { l = $2; p = $4 } /Low/ { b = 1 } /High/ { b = 3 } /^ *[0-9]+ +[0-9]+ +[0-9]+ *$/ { print l, p, b + ($1 > 31), $2, $3 }' |
		while read -r l p b v n; do printf '%d %d %d %d %d\n' "$l" "$((10#$p))" "$b" "$v" "$n"; done | sort)"
same "mcfdb: blocks of 8 out of each of 32" "$(records MulticastForwardingTableRecord | jq '[.records[] | select(.position == 0)] | length * 4')" \
	"$(ask -o mcfdb | grep -c '^LID:')"

# The fabric: nodes and cables by their kind.
same "fabricinfo" "$(jq -rn --slurpfile n <(records NodeRecord) --slurpfile l <(records LinkRecord) '
	([$n[0].records[] | {key: "\(.lid)", value: .node_type}] | from_entries) as $t
	| [$l[0].records[] | $t["\(.from_lid)"] == 2 and $t["\(.to_lid)"] == 2] as $isl
	| "\([$t[] | select(. == 1)] | length) \([$t[] | select(. == 2)] | length) \([$isl[] | select(. | not)] | length / 2) \([$isl[] | select(.)] | length / 2)"')" \
	"$(ask -o fabricinfo | awk '/^Number of (HFIs|Switches|HFI Links|ISLs):/ { match($0, /: *[0-9]+/); printf "%s%d", sep, substr($0, RSTART + 1); sep = " " }')"
same "dtree" "$(records NodeRecord | jq -r '.records[] | "\(.lid) \(.node_description)"' | sort -u)" \
	"$(ask -o dtree | sed -n 's/^NodeLID: \(0x[0-9a-f]*\) .*Node Description: \[\([^]]*\)\].*/\1 \2/p' | while read -r l d; do printf '%d %s\n' "$l" "$d"; done | sort)"
same "dtree: active ports" "$(records PortInfoRecord | jq -r '.records[] | select(.port_state == 4 and .lid == 1) | .port_num' | xargs)" \
	"$(ask -o dtree -l 1 | sed -n 's/.*Active ports: //p' | tr ' ,' '\n\n' | awk -F- '{ for (i = $1; i <= $NF; i++) print i }' | xargs)"

# Groups of ports of adaptive routing, against /v1/switches/{guid}/alternates.
switch_guid=$(records NodeRecord lid=1 | jq -r '.records[0].node_guid')
alternates=$(get "/v1/switches/$switch_guid/alternates")
same "portgroup" "$(jq -r '.port_groups[] | .ports | join(" ")' <<<"$alternates" | sort)" \
	"$(ask -o portgroup -l 1 | sed -n 's/.*Egress://p' | tr ',' ' ' | while read -r p; do xargs <<<"$p"; done | sort)"
same "portgroupfdb" "$(jq -r '.alternates[] | "\(.lid) \(.group)"' <<<"$alternates" | sort)" \
	"$(ask -o portgroupfdb -l 1 | awk '/-> PortGroup/ { print $2, $NF }' | while read -r l g; do printf '%d %d\n' "$l" "$g"; done | sort)"

# Costs: a hop between switches costs as the slower of its ends.
same "swcost: to itself, to all" "$(records NodeRecord node_type=2 | jq '.records | length')" "$(ask -o swcost -l 1 | grep -c -- '-> Cost:')"
same "swcost" "$(records SwitchCostRecord slid=1 | jq -r '.records[].costs | [range(0; length; 8) as $i | .[$i:$i + 8]][] | select(.[0] + .[1] != 0) | "\(.[0] + 256 * .[1]) \(.[4] + 256 * .[5])"')" \
	"$(ask -o swcost -l 1 | awk '/-> Cost:/ { print $2, $NF }' | while read -r l c; do printf '%d %d\n' "$l" "$c"; done)"
same "swcost of a host" "No Records Returned" "$(ask -o swcost -l "$lid" | tail -n 1)"

# What clients write, and what there is none of.
same "mcmember: MLIDs as Omni-Path counts them" "$(get /v1/groups | jq -r '.groups[] | .mlid')" \
	"$(ask -o mcmember | sed -n 's/^MLID: \(0x[0-9a-f]*\).*/\1/p' | while read -r m; do echo $((m - 0xf0000000 + 0xc000)); done)"
for o in service inform cableinfo quarantine conginfo swcongset swportcong hficongset hficongcon bfrctrl dglist dgmember; do
	same "$o: none" "No Records Returned" "$(ask -o "$o" | tail -n 1)"
done
# a flood on other connections keeps nobody waiting
for _ in 1 2 3 4; do
	(for _ in $(seq 20); do printf 'GET / HTTP/1.1\r\n\r\n' >"/dev/tcp/127.0.0.1/$port"; done) 2>/dev/null &
	pids+=("$!")
done
same "others go on" 6 "$(ask -o desc | wc -l)"
kill "$daemon"
wait "$daemon"
same "ends at once" 0 "$?"

# Virtual fabrics, of an opafm.xml.
cat >"$work/opafm.xml" <<-X
	<?xml version="1.0" encoding="utf-8"?>
	<Config>
	<Common>
	<VirtualFabrics>
	<VirtualFabric><Name>Default</Name><Enable>1</Enable><PKey>0x7fff</PKey><Member>All</Member><Application>Rest</Application></VirtualFabric>
	<VirtualFabric><Name>Fast</Name><Enable>1</Enable><PKey>0x22</PKey><Security>1</Security><QOS>1</QOS><BaseSL>4</BaseSL><Bandwidth>30%</Bandwidth><MaxMTU>2048</MaxMTU><MaxRate>25g</MaxRate><PktLifeTimeMult>4</PktLifeTimeMult><Member>All</Member><Application>Storage</Application></VirtualFabric>
	</VirtualFabrics>
	<Applications>
	<Application><Name>Rest</Name><Select>UnmatchedServiceID</Select></Application>
	<Application><Name>Storage</Name><ServiceID>0x77</ServiceID></Application>
	</Applications>
	</Common>
	<Fm><Shared><Name>fm0</Name></Shared></Fm>
	</Config>
X
start_daemon v --fabric "sim:$here/tests/fabrics/esp0.topo" -F "$work/opafm.xml" --oob-listen 127.0.0.1:0
start_gateway g
wait_ready
port=$(sed -n 's/.*requests over TCP on 127.0.0.1:\([0-9]*\).*/\1/p' "$work/v.log")
same "vfinfocsv" $'Default:0:0xffff:0:unlimited:unlimited:0x0\nFast:1:0x22:4:2048:25g:0x3' "$(ask -o vfinfocsv | cut -d: -f1-7)"
has "vfinfo: HoqLife is that of the ports" "$(ask -o vfinfo)" "HoQLife:    1 s"
same "vfinfo by service" "Fast" "$(ask -o vfinfocsv -S 0x77 | cut -d: -f1)"
same "vfinfo by a service of none" "Default" "$(ask -o vfinfocsv -S 0x78 | cut -d: -f1)"
same "vfinfo by P_Key" "Fast" "$(ask -o vfinfocsv -k 0x22 | cut -d: -f1)"
same "vfinfo by index" "Default" "$(ask -o vfinfocsv -i 0 | cut -d: -f1)"
same "vfinfo by SL" "Fast" "$(ask -o vfinfocsv -L 4 | cut -d: -f1)"
same "vfinfo by a name of none" "No Records Returned" "$(ask -o vfinfocsv -d nobody | tail -n 1)"

# --- quality of service off: tables are read for who asks over TCP ------------------------------

start_daemon q --fabric "sim:$here/tests/fabrics/esp0.topo" --oob-listen 127.0.0.1:0
start_gateway g
wait_ready
port=$(sed -n 's/.*requests over TCP on 127.0.0.1:\([0-9]*\).*/\1/p' "$work/q.log")
tables() { records SLtoVLTableRecord | jq '.records | length'; }
same "nobody asked for SL-to-VL tables" 0 "$(tables)"
has "HTTP says that it cannot" "$(records SLtoVLTableRecord | jq -r .warning)" "oob_listen"
same "who asks over TCP gets them" "$(records NodeRecord | jq '.records | length')" "$(ask -o slsc | grep -c '^LID:')"
holds "and then HTTP has them" [ "$(tables)" -gt 0 ]
finish
