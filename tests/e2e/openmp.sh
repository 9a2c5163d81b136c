#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Threads that wait sleep: programs that compute in parallel restart once with
# OMP_WAIT_POLICY=passive. Process ID, name, arguments and open files stay, and so does what
# the operator has set.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
[ -r /proc/self/environ ] || skip "no /proc"
"$bin/saguaro" topo ft2 4 4 2 1 -o "$work/tree.topo"
export OMP_NUM_THREADS=2
unset OMP_WAIT_POLICY GOMP_SPINCOUNT KMP_BLOCKTIME

# policy PID: what the environment says that the process was started with
policy() { tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^OMP_WAIT_POLICY=//p'; }

start_daemon one --fabric "sim:$work/tree.topo"
start_gateway g1
wait_ready
same "saguarod waits passively" passive "$(policy "$daemon")"
same "name of the process" saguarod "$(cat "/proc/$daemon/comm")"
has "arguments" "$(tr '\0' ' ' <"/proc/$daemon/cmdline")" "saguarod --state-dir $work/one/state "

OMP_WAIT_POLICY=active start_daemon two --fabric "sim:$work/tree.topo"
start_gateway g2
wait_ready
same "what the operator sets stays" active "$(policy "$daemon")"
GOMP_SPINCOUNT=10 start_daemon three --fabric "sim:$work/tree.topo"
start_gateway g3
wait_ready
same "so does the length of the wait" "" "$(policy "$daemon")"
OMP_NUM_THREADS=1 start_daemon four --fabric "sim:$work/tree.topo"
start_gateway g4
wait_ready
same "one thread waits for nobody" "" "$(policy "$daemon")"

# libgomp tells its settings when it is loaded: twice if the program restarts.
told() { OMP_DISPLAY_ENV=true "$@" 2>&1 >/dev/null | grep -c "OMP_WAIT_POLICY"; }
if [ "$(told "$bin/saguaro" engines)" = 1 ]; then
	same "saguaro route restarts once" 2 "$(told "$bin/saguaro" route "$work/tree.topo")"
	same "not if told" 1 "$(OMP_WAIT_POLICY=passive told "$bin/saguaro" route "$work/tree.topo")"
fi
holds "open files stay" "$bin/saguaro" route /dev/fd/7 7<"$work/tree.topo"
finish
