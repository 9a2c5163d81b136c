#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saquery, query name by query name, over the simulated fabric: whole tables as HTTP has them,
# single records by LID, port, block, name, GUID and GID. 8 hosts, no port of a switch without
# a cable. Beside OpenSM: saquery.sh.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery osmtest jq

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 2 2 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 1)

# query ARGS...: as a trusted requester on the far host. Records begin with "... dump:".
query() { on "$far" saquery --smkey 1 "$@" 2>&1; }
dumps() { grep -c 'Record dump:' <<<"$1"; }
http() { get "/v1/records/$1" | jq -r "${2:-.records | length}"; }

# Names of saquery, and of the attribute.
names='NR NodeRecord
PIR PortInfoRecord
SL2VL SLtoVLTableRecord
PKTR P_KeyTableRecord
VLAR VLArbitrationRecord
LR LinkRecord
LFTR LinearForwardingTableRecord
GIR GUIDInfoRecord
SWIR SwitchInfoRecord
SMIR SMInfoRecord
PR PathRecord'

# --- saguarod ---------------------------------------------------------------------------------

start_simulator "$tree"
start_daemon_on "$host" d --qos
start_gateway g
wait_ready
while read -r name attribute; do
	got=$(query "$name")
	same "$name: as many as HTTP has" "$(http "$attribute")" "$(dumps "$got")"
done <<<"$names"
# The gateway and the SA read one snapshot: how many there have to be, the topology file says.
switches=$(grep -c '^Switch' "$tree") hosts=$(grep -c '^Ca' "$tree") cabled=$(grep -c '^\[' "$tree")
same "a NodeRecord per node" $((switches + hosts)) "$(dumps "$(query NR)")"
same "a SwitchInfoRecord per switch" "$switches" "$(dumps "$(query SWIR)")"
same "a LinkRecord per direction of a cable" "$cabled" "$(dumps "$(query LR)")"
same "a PortInfoRecord per port, also for port 0 of a switch" $((cabled + switches)) "$(dumps "$(query PIR)")"
same "a LinearForwardingTableRecord per switch" "$switches" "$(dumps "$(query LFTR)")"

lid=$(http NodeRecord '[.records[] | select(.node_type == 1)][-1].lid')
switch=$(http SwitchInfoRecord '.records[0].lid')
guid=$(http "NodeRecord?lid=$lid" '.records[0].port_guid')
name=$(http "NodeRecord?lid=$lid" '.records[0].node_description')
has "ClassPortInfo" "$(query CPI)" "Base version"
has "NR by LID" "$(query NR "$lid")" "$guid"
has "PIR by LID and port" "$(query PIR "$switch/3")" "PortNum.................3"
same "PIR by LID: all ports of a switch" "$(http "PortInfoRecord?lid=$switch")" "$(dumps "$(query PIR "$switch")")"
same "SL2VL by ports" 1 "$(dumps "$(query SL2VL "$switch/1/2")")"
same "VLAR by port and block" 1 "$(dumps "$(query VLAR "$switch/2/1")")"
same "PKTR by LID" "$(http "P_KeyTableRecord?lid=$lid")" "$(dumps "$(query PKTR "$lid")")"
same "GIR by LID and block" 1 "$(dumps "$(query GIR "$lid/0")")"
same "LFTR by LID and block" 1 "$(dumps "$(query LFTR "$switch/0")")"
same "SWIR by LID" 1 "$(dumps "$(query SWIR "$switch")")"
same "SMIR by LID" 1 "$(dumps "$(query SMIR "$(get /v1/fabric | jq .sm.lid)")")"
same "LR from a LID and port" 1 "$(dumps "$(query LR "$switch/1")")"
same "LR between" "$(http "LinkRecord?from_lid=$switch&to_lid=$lid")" "$(dumps "$(query LR "$switch" "$lid")")"
same "MFTR: blocks of multicast tables, as many as HTTP has" "$(http MulticastForwardingTableRecord)" "$(dumps "$(query MFTR)")"
same "LID of a name" "$lid" "$(query -l "$name" | tail -n 1)"
same "GUID of a name" "$guid" "$(query -G "$name" | grep -o '0x[0-9a-f]*' | tail -n 1 | sed 's/0x0*/0x/' | awk '{ printf "0x%16s", substr($0, 3) }' | tr ' ' 0)"
has "name of a LID" "$(query -O "$lid")" "$name"
has "name of a GUID" "$(query -U "$guid")" "$name"
same "SMs by capability mask" "$(get /v1/fabric | jq .sm.lid)" "$(query -s | sed -n 's/^[ \t]*base_lid\.*//p')"
near_lid=$(http NodeRecord '[.records[] | select(.node_type == 1)][0].lid')
near_name=$(http "NodeRecord?lid=$near_lid" '.records[0].node_description')
has "paths by names" "$(query --src-to-dst "$near_name:$name")" "dlid....................$lid"
has "paths by LIDs" "$(query --src-to-dst "$near_lid:$lid")" "slid....................$near_lid"
gid() { printf 'fe80::%s' "$(sed 's/^0x//; s/\(....\)\(....\)\(....\)\(....\)/\1:\2:\3:\4/' <<<"$1")"; }
near_guid=$(http "NodeRecord?lid=$near_lid" '.records[0].port_guid')
has "paths by GIDs" "$(query --sgid-to-dgid "$(gid "$near_guid")-$(gid "$guid")")" "dlid....................$lid"

# An untrusted requester has no P_Key tables; a wrong key gets no answer.
untrusted=$(on "$far" saquery PKTR 2>&1)
same "P_Key tables are for the trusted" 0 "$(dumps "$untrusted")"
refuses "a wrong SM_Key" on "$far" saquery --smkey 0x77 -t 300 NR

# Small tables, many times; the other flows are in osmtest.sh.
has "osmtest -f f -s 1" "$(on "$far" osmtest -f f -s 1 -i "$work/inventory" 2>&1 | tail -n 1)" PASS

# The command line has the same records.
same "saguaro records: nodes" "$(http NodeRecord)" "$("$bin/saguaro" records node --snapshot-dir "$run_dir" | wc -l)"
same "saguaro records: by component" "$guid" \
	"$("$bin/saguaro" records NodeRecord --lid "$lid" --json --snapshot-dir "$run_dir" | jq -r '.records[0].port_guid')"
same "saguaro records: a name that is none" 2 "$("$bin/saguaro" records thing --snapshot-dir "$run_dir" >/dev/null 2>&1; echo $?)"
# Streams: the whole world over HTTP, from the snapshot and by the gateway's URL, byte for byte.
get '/v1/records/PathRecord?stream=1' >"$work/http.ndjson"
same "stream: complete" true "$(tail -n 1 "$work/http.ndjson" | jq .complete)"
same "stream: as many as in pages" "$(http PathRecord)" "$(jq -s 'map(select(.stream | not)) | length' "$work/http.ndjson")"
for door in "--snapshot-dir $run_dir" "--url $url"; do
	# shellcheck disable=SC2086 # two words
	"$bin/saguaro" records path --stream $door >"$work/cli.ndjson"
	same "saguaro records --stream ${door%% *}: status" 0 "$?"
	holds "saguaro records --stream ${door%% *}: the same bytes" cmp "$work/http.ndjson" "$work/cli.ndjson"
	# shellcheck disable=SC2086
	same "saguaro paths to all ${door%% *}" "$(get "/paths?src=$near_lid&dst=*" | tail -n 1)" \
		"$("$bin/saguaro" paths "$near_lid" '*' $door | tail -n 1)"
	# shellcheck disable=SC2086
	same "saguaro paths from nobody ${door%% *}" 2 "$("$bin/saguaro" paths nobody '*' $door >/dev/null 2>&1; echo $?)"
	# shellcheck disable=SC2086
	same "a reader of the stream that is gone ${door%% *}" 1 \
		"$(trap '' PIPE; "$bin/saguaro" paths '*' '*' $door >/dev/full 2>/dev/null; echo $?)"
done
stop_simulator
finish
