#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Omni-Path's tools as they are, on a simulated fabric that nobody manages: they ask the agents of
# class version 0x80 by directed routes, and set what an operator may set.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opainfo opaportinfo opaportconfig opapmaquery opasmaquery

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 3 2 -o "$tree"
start_simulator "$tree" --omnipath

# ask WORDS...: the tools give up after 100 ms when they look for adapters, so they look again
# when the simulator did not have its turn.
ask() {
	until_true answered "$@"
	printf '%s\n' "$said"
}
# shellcheck disable=SC2317 # called by until_true
answered() {
	said=$(on "${from:-node01}" "$@" 2>&1)
	[[ $said != *"No hfi"* && $said != *FTIMEOUT* && $said != *"imeout"* ]]
}

info=$(ask opainfo)
has "opainfo" "$info" "PortState:     Init (LinkUp)"
has "opainfo, the cable" "$info" "SAGUARO"
has "opainfo, counters" "$info" "Link Quality: 5 (Excellent)"
has "opaportinfo" "$(ask opaportinfo)" "NeighborNodeType: Switch"

# Of the adapter itself, and of the switch behind its port 1 (the path).
while read -r o words; do has "opasmaquery -o $o" "$(ask opasmaquery -o "$o")" "$words"; done <<'END'
nodedesc node01
nodeinfo Type: FI Ports: 1 PortNum: 1
portinfo PortState:        Init
slsc SL: 00 01 02
scsl SC: 00 01 02
scvlt VLT: 00 01 02
scvlnt VLNT: 00 01 02
pstateinfo IsSMConfigurationStarted False
bfrctrl VL15 : D:      136
pkey 0x8001  0x7fff  0xffff
vlarb Low Priority
cableinfo SIMULATED-3M
conginfo Control Table Capacity: 31
hficongset Congestion Control Type
hficongcon Max CCTI
hficonglog Log Events: 0
ledinfo LedInfo: 0
END
while read -r o words; do has "opasmaquery -o $o 1" "$(ask opasmaquery -o "$o" 1)" "$words"; done <<'END'
nodedesc leaf-0000
nodeinfo Type: SW Ports: 5 PortNum: 1
portinfo LocalPort:     0
swinfo LinearFDBCap: 49152
scsc 5 ,     5 |SC':00 01 02
scvlr Port  0 | VLR: 00 01 02
scvlt Port  5 | VLT: 00 01 02
scvlnt Port  5 |VLNT: 00 01 02
pstateinfo Port 5: PortState: Init
bfrctrl Port:  4
pkey 0x7fff
linfdb Linear Forwarding Table is empty
swcongset Threshold: 0
swportcong Port 0
swconglog LogType: Switch
conginfo Congestion Log Size: 96
END
has "what an adapter lacks" "$(ask opasmaquery -o swinfo)" "not a switch"
has "a path of three hops" "$(ask opasmaquery -o nodedesc 1 4 2)" "leaf-0001"
has "nobody is an SM" "$(ask opasmaquery -o sminfo 1)" "Unsupported Method/Attribute"

for o in classportinfo getportstatus getdatacounters geterrorcounters geterrorinfo clearportstatus clearerrorinfo; do
	ask opapmaquery -o "$o" >"$work/$o.txt"
done
has "opapmaquery -o classportinfo" "$(cat "$work/classportinfo.txt")" "BaseVersion: 128 ClassVersion: 128"
has "opapmaquery -o getportstatus" "$(cat "$work/getportstatus.txt")" "Link Qual Indicator                      5"
has "opapmaquery -o getdatacounters" "$(cat "$work/getdatacounters.txt")" "Port Select Mask   0x0000000000000002"
has "opapmaquery -o clearportstatus" "$(cat "$work/clearportstatus.txt")" "Counter Sel Mask"
ctl counter RcvErrors 7 'leaf-0000[1]'
ctl counter RcvErrors 5 'node01[1]'
has "a counter that was raised" "$(ask opapmaquery -o geterrorcounters)" "Rcv Errors                       5"
ask opapmaquery -o clearportstatus >/dev/null
has "and cleared" "$(ask opapmaquery -o geterrorcounters)" "Rcv Errors                       0"

# What an operator sets.
ask opaportconfig ledon >/dev/null
has "the light is on" "$(ask opasmaquery -o ledinfo)" "LedInfo: 1"
ask opaportconfig ledoff >/dev/null
has "and off" "$(ask opasmaquery -o ledinfo)" "LedInfo: 0"
ctl lanes 2 'node01[1]'
has "fewer lanes" "$(ask opaportinfo)" "LinkWidthDnGrd ActTx: 2  Rx: 2"
ask opaportconfig bounce >/dev/null
has "a bounce" "$(ask opaportinfo)" "LinkWidthDnGrd ActTx: 4  Rx: 4"
ctl link down 'node01[1]'
has "a pulled cable" "$(ask opaportinfo)" "PortState:        Down"
stop_simulator
finish
