#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# OpenSM's own test suite of the subnet administration on a simulated fabric of 48 hosts:
# against OpenSM as the control, then against saguarod, each twice in a row without a restart.
# By default the quick flows; OSMTEST_ALL=1 runs all that there are, for some minutes.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opensm osmtest

# Letters of osmtest -f; a digit behind f is the kind of stress.
control_flows="c m e q f2 f3"
own_flows="c s v m e f2 f3"
if [ "${OSMTEST_ALL:-0}" != 0 ]; then
	control_flows="c v a s m e q f1 f2 f3 f4"
	own_flows=$control_flows
fi

flow() { # flow WHO FLOW: its last line says PASS
	local said stress=()
	[ "${2#f}" = "$2" ] || stress=(-s "${2#f}")
	host_command "$host"
	said=$(cd "$work" && timeout 300 "${as[@]}" osmtest -f "${2:0:1}" "${stress[@]}" -i "$work/inventory" -l "$work/osmtest-$1-$2.log" 2>&1)
	has "$1: osmtest -f $2" "$(grep TEST <<<"$said" | tail -n 1)" PASS
}

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
start_simulator "$tree"

start_opensm_on "$host" osm
for _ in 1 2; do for f in $control_flows; do flow opensm "$f"; done; done
end_process "$opensm"

start_daemon_on "$host" d
until_true 60 log_says d 'SUBNET UP' || { fail "saguarod does not come up"; finish; }
for _ in 1 2; do for f in $own_flows; do flow saguarod "$f"; done; done
host_command "$host"
has "saguarod: saquery -g, the broadcast group" "$("${as[@]}" saquery -g 2>&1)" 'ff12:401b:ffff::ffff:ffff'
has "saguarod: saquery MFTR, its block in the first switch" "$("${as[@]}" saquery MFTR 2>&1)" 'MFT Record dump'
end_process "$daemon"
stop_simulator
finish
