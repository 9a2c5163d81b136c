#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The packaged fabric manager of Omni-Path and saguarod, each from power-on, on the same simulated fabrics with the
# same opafm.xml, which has virtual fabrics with a share of the bandwidth and of high priority: what the devices
# hold afterwards is the same, or a line says why not. Three fabrics; $fabrics says which others, and
# 'make omnipath-diff' takes all six.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
fm=/usr/lib/opa-fm/runtime/sm
example=/usr/share/opa-fm/opafm.xml
need_clients opasaquery
if [ ! -x "$fm" ] || [ ! -r "$example" ]; then skip "opa-fm is not installed"; fi

"$bin/saguaro" topo ft2 8 6 4 -o "$work/two-tier.topo"
"$bin/saguaro" topo ft3 4 -o "$work/three-tier.topo"
"$bin/saguaro" topo director 4 4 1 3 2 1 2 -o "$work/director.topo"
"$bin/saguaro" topo mesh 3x3 2 -o "$work/mesh.topo"
sed -e '/node0[3-5]/s/4xEDR/4xQDR/' -e '/"leaf-0001"\[8\]/s/4xEDR/1xEDR/' "$work/two-tier.topo" >"$work/mixed.topo"
cp "$work/two-tier.topo" "$work/dead-port.topo"

# Networking 10 per cent, Storage 20, Compute 33, and a virtual fabric of high priority
awk '/<Name>(Networking|Storage|PSM_Compute_Control|Compute)<\/Name>/ { on = 1 }
	on && /<Enable>0/ { sub(/<Enable>0/, "<Enable>1"); on = 0 }
	/<Bandwidth>70%/ { sub(/70%/, "33%") } { print }' "$example" |
	sed -e "s|<!-- <LogFile>/var/log/fm.log</LogFile> -->|<LogFile>$work/fm.log</LogFile>|" \
		-e 's|<LogMode>0</LogMode>|<LogMode>2</LogMode>|' \
		-e "s|<CoreDumpDir>.*</CoreDumpDir>|<CoreDumpDir>$work</CoreDumpDir>|" >"$work/opafm.xml"

first_host() { sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/$1.topo" | head -n 1; }
last_host() { sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/$1.topo" | tail -n 1; }
# power_on FABRIC
power_on() {
	start_simulator "$work/$1.topo" --omnipath
	[ "$1" != dead-port ] || ctl link down "$(last_host "$1")[1]"
}
# shellcheck disable=SC2317 # called by until_true
ended() { [ -r "$work/fm.log" ] && grep -q 'DISCOVERY CYCLE END' "$work/fm.log"; }
# shellcheck disable=SC2317 # called by until_true
has_paths() { on "$second" opasaquery -o path -l 1 >"$work/paths" 2>&1 && grep -q '^SLID' "$work/paths"; }
# power_off FABRIC WHO: after the tables and the paths from a host to the first one were written down
power_off() {
	second=$(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/$1.topo" | sed -n 2p)
	until_true has_paths || fail "$1: $2 has no paths"
	sort "$work/paths" >"$work/$1.$2.paths"
	ctl tables | sort >"$work/$1.$2"
	eval "$2=\$(ctl smps | sed -n 's/^all *//p')"
	end_process "$manager"
	unset 'pids[-1]'
	stop_simulator
}

for fabric in ${fabrics:-director mesh dead-port}; do
	rm -f "$work/fm.log"
	power_on "$fabric"
	host_command "$(first_host "$fabric")"
	(cd "$work" && exec "${as[@]}" "$fm" -e sm_0 -X "$work/opafm.xml" >"$work/fm.out" 2>&1) &
	manager=$!
	pids+=("$manager")
	until_true ended || { fail "$fabric: opa-fm does not sweep"; finish; }
	power_off "$fabric" its
	power_on "$fabric"
	start_daemon_on "$(first_host "$fabric")" "$fabric" -F "$work/opafm.xml"
	manager=$daemon
	until_true log_says "$fabric" 'SUBNET UP' || { fail "$fabric: saguarod does not come up"; finish; }
	power_off "$fabric" ours
	# shellcheck disable=SC2154 # power_off() sets them
	printf '%s: SMPs of opa-fm %s, ours %s\n  %-12s %6s %6s\n' "$fabric" "$its" "$ours" table there differ
	holds "$fabric: each difference has its reason" awk -f "$here/tests/e2e/omnipath_diff.awk" "$work/$fabric.its" "$work/$fabric.ours"
	awk -f "$here/tests/e2e/omnipath_diff.awk" "$work/$fabric.its" "$work/$fabric.ours"
	same "$fabric: PathRecords of all virtual fabrics are the same" "$(cat "$work/$fabric.its.paths")" "$(cat "$work/$fabric.ours.paths")"
	sed -n 's/.*routing: \(.* was asked for, .* is used: [^(]*\).*/  routing: \1/p' "$work/$fabric.log" | head -n 1
done
finish
