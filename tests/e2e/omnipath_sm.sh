#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The fabric manager that Debian packages for Omni-Path, as it is, on simulated fabrics: it brings them
# up without a complaint in its log, and follows a cable that is pulled. Then the tools ask by LID.
# Its performance manager reads the counters of all ports.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opasmaquery opapmaquery opasaquery
fm=/usr/lib/opa-fm/runtime/sm
example=/usr/share/opa-fm/opafm.xml
if [ ! -x "$fm" ] || [ ! -r "$example" ]; then skip "opa-fm is not installed"; fi

# start_fm FABRIC: the manager on its first host, with the configuration of the package but for $change,
# a command of sed, and a log of its own.
start_fm() {
	log=$work/$1.log
	# a busy machine is no fault of the fabric
	sed -e 's|<RespTimeout>250<|<RespTimeout>10000<|' -e 's|<MinRespTimeout>35<|<MinRespTimeout>5000<|' \
		-e "s|<!-- <LogFile>/var/log/fm.log</LogFile> -->|<LogFile>$log</LogFile>|" \
		-e 's|<LogMode>0</LogMode>|<LogMode>2</LogMode>|' \
		-e "s|<CoreDumpDir>.*</CoreDumpDir>|<CoreDumpDir>$work</CoreDumpDir>|" -e "${change:-}" "$example" >"$work/$1.xml"
	host_command "$(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/$1.topo" | head -n 1)"
	(cd "$work" && exec "${as[@]}" "$fm" -e sm_0 -X "$work/$1.xml" >"$work/$1.out" 2>&1) &
	manager=$!
	pids+=("$manager")
	swept=0
}
stop_fm() {
	end_process "$manager"
	unset 'pids[-1]'
}

# shellcheck disable=SC2317 # called by until_true
ended() { [ -r "$log" ] && [ "$(grep -c "DISCOVERY CYCLE END" "$log")" -gt "$swept" ]; }
# sweeps WHAT: the next sweep of the manager ends.
sweeps() {
	until_true ended || { fail "$1: no sweep"; finish; }
	swept=$(grep -c 'DISCOVERY CYCLE END' "$log")
}
# complaints: of its log; its counters of a cable that is pulled may be read in time or not.
complaints() { grep -E 'WARN|ERROR|FATAL|CYCLE FAIL' "$log" | grep -v 'PM: Integrity of .* Exceeded'; }
ports_in() { for s in $(ctl list | awk '{ print $2 }'); do ctl show "$s"; done | grep -c "^  \[[0-9]*\] $1" || true; }

# bring_up FABRIC: all ports with a cable become ACTIVE, and the log has no complaint.
bring_up() {
	start_simulator "$work/$1.topo" --omnipath
	[ -z "${2:-}" ] || ctl link down "$2"
	start_fm "$1"
	sweeps "$1"
	same "$1: nothing stays behind" 0 "$(ports_in '\(init\|armed\)')"
	same "$1: its log is clean" "" "$(complaints)"
	printf '%s: %s; %s SMPs\n' "$1" "$(grep -o 'DISCOVERY CYCLE END.*' "$log" | head -n 1)" "$(ctl smps | sed -n 's/^all *//p')"
}

"$bin/saguaro" topo ft2 8 6 4 -o "$work/two-tier.topo"
"$bin/saguaro" topo ft3 4 -o "$work/three-tier.topo"
"$bin/saguaro" topo director 4 4 1 3 2 1 2 -o "$work/director.topo"
"$bin/saguaro" topo mesh 3x3 2 -o "$work/mesh.topo"
sed -e '/node0[3-5]/s/4xEDR/4xQDR/' -e '/"leaf-0001"\[8\]/s/4xEDR/1xEDR/' "$work/two-tier.topo" >"$work/mixed.topo"
cp "$work/two-tier.topo" "$work/dead-port.topo"

for fabric in three-tier director mesh mixed; do
	bring_up "$fabric"
	stop_fm
	stop_simulator
done
bring_up dead-port 'node04[1]'
has "a host without a cable has no LID" "$(ctl show node04)" "[1] down, cut, lid 0"
stop_fm
stop_simulator

bring_up two-tier
ctl link down 'spine-0001[1]'
sweeps "a pulled cable"
ctl link up 'spine-0001[1]'
until_true eval "ctl show spine-0001 | grep -q '^  \[1\] active'" || fail "the cable is used again"
same "two-tier: its log stays clean" "" "$(complaints)"

far=$(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/two-tier.topo" | tail -n 1)
lid=$(ctl show "$far" | sed -n 's/.*active, lid \([0-9]*\) .*/\1/p')
ask() {
	until_true answered "$@"
	printf '%s\n' "$said"
}
# shellcheck disable=SC2317 # called by until_true
answered() {
	said=$(on node01 "$@" 2>&1)
	[[ $said != *"No hfi"* && $said != *imeout* && $said != *TIMEOUT* ]]
}
has "an SMP by LID" "$(ask opasmaquery -l "$lid" -o nodedesc)" "$far"
has "ACTIVE by LID" "$(ask opasmaquery -l "$lid" -o portinfo)" "PortState:        Active"
has "the table of a switch" "$(ask opasmaquery -l 2 -o linfdb)" "LID 0x00000001 -> Port     1"
has "counters by LID" "$(ask opapmaquery -l 2 -m 1 -o getportstatus)" "Link Qual Indicator                      5"
same "nodes of its administration" 60 "$(ask opasaquery -o node | grep -c '^LID:')"
has "a path" "$(ask opasaquery -o path -l "$lid")" "Rate: 100g"
if command -v opapaquery >/dev/null; then
	# shellcheck disable=SC2317 # called by until_true
	measured() { said=$(on node01 opapaquery -o groupInfo -g All 2>&1) && [[ $said == *"Num internal ports:"* ]]; }
	holds "its performance manager has an image" until_true measured
	until_true measured
	has "of all ports" "$said" "Num internal ports: 172"
	has "and all respond" "$said" "NoResp Ports: PMA: 0  Topo: 0"
	# it notes each of these questions that came before its first image
	same "two-tier: its log is clean after that" "" "$(complaints | grep -v 'Sweep Engine not ready')"
fi
if command -v opareport >/dev/null; then
	has "no credit loops" "$(ask opareport -o validatecreditloops)" "No credit loops detected"
	has "all routes" "$(ask opareport -o validateroutes)" "0 Incomplete Route(s)"
fi
stop_fm
stop_simulator

# Its adaptive routing: the manager programs groups of ports, and the switch moves LIDs of a port that is
# congested, of which the manager hears nothing.
change='/<AdaptiveRouting>/,/<.AdaptiveRouting>/s|<Enable>0</Enable>|<Enable>1</Enable>|'
cp "$work/two-tier.topo" "$work/adaptive.topo"
bring_up adaptive
has "its parameters are in the switch" "$(ask opasmaquery -l 2 -o swinfo)" \
	"AdaptiveRouting: Enable: 1 Pause: 0 Alg: 2 Freq: 0 LostRoutesOnly: 0 Thresh: 3"
has "its groups, too" "$(ask opasmaquery -l 2 -o portgroup)" "Egress:7, 8, 9, 10,"
# shellcheck disable=SC2317 # called by until_true
by_port_7() { ask opasmaquery -l 2 -o linfdb | grep -c 'Port     7$'; }
before=$(by_port_7)
ctl busy 100 'leaf-0000[7]'
# shellcheck disable=SC2317 # called by until_true
moved() { [ "$(by_port_7)" -lt "$before" ]; }
holds "LIDs of a congested port move" until_true moved
same "no trap made it sweep for that" 0 "$(grep -c 'REASON: Trap' "$log")"
stop_fm
stop_simulator
finish
