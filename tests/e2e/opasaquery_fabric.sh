#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# opasaquery as it is, on a host of a simulated fabric that presents itself as Omni-Path's:
# class version 0x80, MADs of 2048 bytes, RMPP. Its output is that over TCP,
# record by record, which tests/e2e/opasaquery.sh compares with HTTP.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opasaquery saquery

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 1)

start_simulator "$tree" --omnipath
start_daemon_on "$host" d --qos --adaptive_routing=TRUE --oob-listen 127.0.0.1:0
start_gateway g
wait_ready
port=$(sed -n 's/.*requests over TCP on 127.0.0.1:\([0-9]*\).*/\1/p' "$work/d.log")
tcp() { timeout "$patience" opasaquery --timeout "$client_ms" -b 127.0.0.1 -p "$port" "$@" 2>&1; }
# mad WORDS...: opasaquery looks for adapters by asking each for its NodeInfo, for which it gives
# 100 ms that no option changes; when the simulator did not have its turn, it looks again.
mad() {
	until_true looked "$@"
	printf '%s\n' "$said"
}
# shellcheck disable=SC2317 # called by until_true
looked() {
	said=$(on "$far" opasaquery "$@" 2>&1)
	[[ $said != *"No hfi names found"* ]]
}

# 48 hosts and their switches: node records alone are several segments of 2048 bytes.
nodes=$(mad -o node)
same "all nodes" "$(get "/v1/records/NodeRecord?limit=1000" | jq '.records | length')" "$(grep -c '^LID:' <<<"$nodes")"
has "hosts say what they are" "$(mad -o node -t "fi")" "BaseVersion: 128"
mad -o scsc >/dev/null # tables of ports without a cable are read for the first who asks here
for o in node portinfo sminfo swinfo link linfdb mcfdb slsc scsl scsc scvlt scvlnt scvlr vlarb \
	portgroup portgroupfdb mcmember fabricinfo dtree cableinfo quarantine conginfo swcongset \
	swportcong hficongset hficongcon bfrctrl dglist dgmember swcost service inform desc \
	systemguid nodeguid portguid lid classportinfo; do
	same "$o" "$(tcp -o "$o")" "$(mad -o "$o")"
done
has "P_Keys that are its own, too" "$(mad -o pkey)" "0xffff"

# InfiniBand's layout, class version 2, to the same daemon from the same host
same "node, InfiniBand's layout" "$(tcp -I -o node)" "$(mad -I -o node)"
same "saquery beside it" "$(on "$far" saquery NR | grep -c 'NodeRecord dump')" "$(grep -c '^LID:' <<<"$nodes")"

lid=$(get "/v1/records/NodeRecord?limit=1000" | jq -r '.records[] | select(.node_type == 1) | .lid' | head -n 1)
same "a path" 1 "$(mad -o path -l "$lid" | grep -c '^SGID')"
has "the way of a trace" "$(mad -o trace -l "$lid" | sed -n 's/^NodeType: //p' | tr '\n' ' ')" "FI SW SW SW FI"
# An adapter that does not say that it is Omni-Path's has no port for these tools.
stop_simulator
start_simulator "$tree"
has "without --omnipath" "$(on "$far" opasaquery -o node 2>&1)" "No hfi"
stop_simulator
finish
