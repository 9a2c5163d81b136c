#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The packaged fabric manager of Omni-Path, then saguarod with the same opafm.xml, then the other again, on
# one running fabric: all ports stay ACTIVE with their LIDs, and no entry of a forwarding table changes.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
fm=/usr/lib/opa-fm/runtime/sm
example=/usr/share/opa-fm/opafm.xml
if [ ! -x "$fm" ] || [ ! -r "$example" ]; then skip "opa-fm is not installed"; fi

"$bin/saguaro" topo ft2 8 6 4 -o "$work/two-tier.topo"
start_simulator "$work/two-tier.topo" --omnipath
host=$(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/two-tier.topo" | head -n 1)
sed -e "s|<!-- <LogFile>/var/log/fm.log</LogFile> -->|<LogFile>$work/fm.log</LogFile>|" \
	-e 's|<LogMode>0</LogMode>|<LogMode>2</LogMode>|' \
	-e "s|<CoreDumpDir>.*</CoreDumpDir>|<CoreDumpDir>$work</CoreDumpDir>|" "$example" >"$work/opafm.xml"

lids() { for s in $(ctl list | awk '{ print $2 }'); do ctl show "$s" | sed -n "s/.*active, lid \([0-9]*\) .*/$s \1/p"; done; }
not_active() { for s in $(ctl list | awk '{ print $2 }'); do ctl show "$s"; done | grep -c '^  \[[0-9]*\] \(init\|armed\)' || true; }
# shellcheck disable=SC2317 # called by until_true
ended() { [ -r "$work/fm.log" ] && [ "$(grep -c 'DISCOVERY CYCLE END' "$work/fm.log")" -ge "$1" ]; }
# opa_fm N: it sweeps, for the Nth time in all, and is stopped.
opa_fm() {
	host_command "$host"
	(cd "$work" && exec "${as[@]}" "$fm" -e sm_0 -X "$work/opafm.xml" >"$work/fm.out" 2>&1) &
	manager=$!
	pids+=("$manager")
	holds "opa-fm sweeps ($1)" until_true ended "$1"
	end_process "$manager"
	unset 'pids[-1]'
}

opa_fm 1
before=$(lids)
same "60 LIDs" 60 "$(wc -l <<<"$before")"
start_daemon_on "$host" d -F "$work/opafm.xml"
holds "saguarod takes the fabric over" until_true log_says d 'SUBNET UP'
same "all LIDs are as they were" "$before" "$(lids)"
same "no port left ACTIVE" 0 "$(not_active)"
has "no entry of a table changed" "$(grep 'SUBNET UP' "$work/d.log")" " 0 LFT blocks, 0 QoS tables"
end_process "$daemon"
unset 'pids[-1]'
opa_fm 2
same "and back: all LIDs are as they were" "$before" "$(lids)"
same "and back: no port left ACTIVE" 0 "$(not_active)"
same "its log has no complaint" "" "$(grep -E 'WARN|ERROR|FATAL|CYCLE FAIL' "$work/fm.log")"
stop_simulator
finish
