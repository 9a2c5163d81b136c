#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What opasaquery prints of each of its types of records, once of the packaged fabric manager of Omni-Path and once of
# saguarod, each with the shipped opafm.xml on the same simulated fabric from power-on: the same records in any order.
# What differs is left out below by the line that says why; doc/guide/opa-fm.md has the same reasons.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
fm=/usr/lib/opa-fm/runtime/sm
example=/usr/share/opa-fm/opafm.xml
need_clients opasaquery
if [ ! -x "$fm" ] || [ ! -r "$example" ]; then skip "opa-fm is not installed"; fi

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 3 2 -o "$tree"
mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$tree")
# a busy machine is no fault of the fabric
sed -e 's|<RespTimeout>250<|<RespTimeout>10000<|' -e 's|<MinRespTimeout>35<|<MinRespTimeout>5000<|' \
	-e "s|<!-- <LogFile>/var/log/fm.log</LogFile> -->|<LogFile>$work/fm.log</LogFile>|" \
	-e 's|<LogMode>0</LogMode>|<LogMode>2</LogMode>|' \
	-e "s|<CoreDumpDir>.*</CoreDumpDir>|<CoreDumpDir>$work</CoreDumpDir>|" "$example" >"$work/opafm.xml"

types="classportinfo systemguid nodeguid portguid lid desc path node portinfo sminfo link service mcmember inform trace
scsc slsc scsl scvlt scvlnt scvlr swinfo linfdb mcfdb vlarb pkey vfinfo vfinfocsv vfinfocsv2 fabricinfo quarantine
conginfo swcongset swportcong hficongset hficongcon bfrctrl cableinfo portgroup portgroupfdb dglist dgmember dtree swcost"

# shellcheck disable=SC2317 # called by until_true
ended() { [ -r "$work/fm.log" ] && grep -q 'DISCOVERY CYCLE END' "$work/fm.log"; }
# shellcheck disable=SC2317 # called by until_true
answered() {
	said=$(on "${hosts[0]}" opasaquery "$@" 2>&1)
	[[ $said != *"No hfi"* && $said != *imeout* && $said != *TIMEOUT* ]]
}
# collect WHO
collect() {
	for t in $types; do
		until_true answered -o "$t"
		printf '%s\n' "$said" >"$work/$t.$1"
	done
}

start_simulator "$tree" --omnipath
host_command "${hosts[0]}"
(cd "$work" && exec "${as[@]}" "$fm" -e sm_0 -X "$work/opafm.xml" >"$work/fm.out" 2>&1) &
manager=$!
pids+=("$manager")
until_true ended || { fail "opa-fm does not sweep"; finish; }
collect its
end_process "$manager"
unset 'pids[-1]'
stop_simulator
start_simulator "$tree" --omnipath
start_daemon_on "${hosts[0]}" d -F "$work/opafm.xml"
holds "comes up" until_true log_says d 'SUBNET UP'
start_gateway g
wait_ready
# shellcheck disable=SC2317 # called by until_true
cables_known() { [ "$(get '/v1/records/CableInfoRecord?limit=1000' | jq '.records | length')" = $((2 * 2 * ($(get /v1/links | jq .total)))) ]; }
holds "all cables are read" until_true cables_known
collect ours
stop_simulator

# of TYPE WHO: what is compared of the answers.
of() {
	case $1 in
	# it has a performance administration, and this version of it no costs of switches
	classportinfo) sed -n 's/PartService //; s/SwCost //; s/.*\(Capability: \).*: /\1/p; s/^Capability2: [^:]*://p' "$work/$1.$2" | tr -d ' ' ;;
	# its port of a switch is the one by which it was found, ours is 0
	node) opa_records "$work/$1.$2" | sed 's/PortNum: *[0-9]*//' ;;
	# paths to switches have 2.5g there
	path) opa_records "$work/$1.$2" | sed 's/Rate: *[^ ]*//' ;;
	# it lists no port without a link; asks for optimized activation of switches; reads before it sets IsSM; sets XmitQ
	# of adapters, which have none
	portinfo) opa_records "$work/$1.$2" | grep -v 'PortState: *Down' |
		sed 's/0x00400022: CN APM SM |/0x00400020: CN APM |/; s/ActiveOptimize: *[OnOf]*//; s/StallCnt[^|]*|//; s/HOQLife VL.00,07.[^|]*|//' ;;
	# they move with time
	sminfo) sed 's/ActCount.*//; s/Elapsed.*//' "$work/$1.$2" ;;
	# the whole multicast table counts here; the bit is cleared by the next light sweep
	swinfo) opa_records "$work/$1.$2" | sed 's/MCFDBTop: *[^ |]*//; s/PortStateChange: .//' ;;
	# other choices among routes of the same length
	linfdb) opa_records "$work/$1.$2" | sed 's/Port *[0-9]*|/|/g' ;;
	# tables of preemption are empty there, and not read here
	vlarb) opa_records "$work/$1.$2" | grep -v 'Preemption' ;;
	# ports between switches check no P_Keys, so their tables are not read here
	pkey) [ "$2" = ours ] && opa_records "$work/$1.its" >"$work/pkeys" && opa_records "$work/$1.ours" | grep -vxF -f "$work/pkeys" ;;
	# it lists each pair of switches once
	swcost) [ "$2" = ours ] && awk '/^[A-Z]/ { from = $3 } /->/ { print from, $2, $5 }' "$work/$1.its" |
		sort >"$work/costs" && awk '/^[A-Z]/ { from = $3 } /->/ { print from, $2, $5 }' "$work/$1.ours" |
		sort | comm -23 "$work/costs" - ;;
	# ports of switches that are no end ports run no subnet manager
	dgmember) awk '!/^Device Group: AllMgmtAllowed .* Port: [1-9][0-9]* .*(leaf|spine)/' "$work/$1.$2" ;;
	systemguid | nodeguid | portguid | lid | desc) sort "$work/$1.$2" ;;
	*) opa_records "$work/$1.$2" ;;
	esac
}

same_type() {
	[ -s "$work/$1.its" ] && [ -s "$work/$1.ours" ] || fail "$1: no answer"
	same "$1: as opa-fm" "$(of "$1" its)" "$(of "$1" ours)"
}
for t in $types; do
	case $t in
	# its own service; groups that it makes beforehand, and their table entries; those of clients are there in both
	service | mcmember | mcfdb) has "$t: none without clients" "$(cat "$work/$t.ours")" "No Records" ;;
	*) same_type "$t" ;;
	esac
done
has "device groups are listed" "$(cat "$work/dgmember.ours")" "Device Group: AllFIs LID: 0x00000001 Port: 1"
same "P_Keys of all end ports, and of ports to hosts" 30 "$(grep -c '^LID' "$work/pkey.ours")"
same "costs both ways" $((6 * 6)) "$(grep -c 'Cost' "$work/swcost.ours")"
has "plain maps, too" "$(cat "$work/scsc.ours")" "InputPort:   1 OutputPort:   2"
finish
