# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# ibsim for end-to-end tests; source it after lib.sh. One simulator per test, with a socket of
# its own; programs attach to a host with `on HOST COMMAND...`, always under a time limit
# (ibsim never times a request out).
# shellcheck shell=bash disable=SC2154,SC2034 # shares variables with lib.sh

sim_preload=$(find /usr/lib /usr/lib64 -path '*/umad2sim/libumad2sim.so' 2>/dev/null | head -n 1)

need_ibsim() {
	local p
	[ -n "$sim_preload" ] || skip "ibsim's preload library is not installed"
	for p in ibsim "$@"; do
		command -v "$p" >/dev/null || skip "$p is not installed"
	done
}

# start_ibsim FILE: waits until it serves; console commands go to descriptor 7 (console).
start_ibsim() {
	export IBSIM_SOCKNAME=saguaro-test-$$-$RANDOM
	sim_log=$work/ibsim-$IBSIM_SOCKNAME.log
	mkfifo "$work/$IBSIM_SOCKNAME.fifo"
	(cd "$work" && exec ibsim -s -S 4096 -N 20000 -P 400000 -L 49152 "$1" <"$work/$IBSIM_SOCKNAME.fifo" >"$sim_log" 2>&1) &
	ibsim=$!
	pids+=("$ibsim")
	exec 7>"$work/$IBSIM_SOCKNAME.fifo"
	until_true 30 grep -qs 'Network simulator ready' "$sim_log" || {
		tail -n 5 "$sim_log"
		fail "ibsim does not start on $1"
		finish
	}
}

stop_ibsim() {
	exec 7>&-
	kill "$ibsim" 2>/dev/null
	wait "$ibsim" 2>/dev/null
}

# console COMMAND: a line for ibsim's console, e.g. console 'Unlink "S1"[3]'
console() { printf '%s\n' "$1" >&7; }

# on HOST COMMAND...: a program whose local port is HOST, 30 s at most.
on() {
	local host=$1
	shift
	(cd "$work" && exec env SIM_HOST="$host" LD_PRELOAD="$sim_preload" timeout 30 "$@")
}

# start_daemon_on HOST NAME ARGS...: like start_daemon, on an ibsim host.
start_daemon_on() {
	local host=$1 name=$2
	shift 2
	(cd "$work" && exec env SIM_HOST="$host" LD_PRELOAD="$sim_preload" "$bin/saguarod" --fabric umad \
		--state-dir "$work/$name/state" --snapshot-dir "$work/$name/run" "$@" 2>>"$work/$name.log") &
	daemon=$!
	pids+=("$daemon")
	run_dir=$work/$name/run
}

# start_opensm_on HOST NAME ARGS...: OpenSM until SUBNET UP, files in $work/NAME.
start_opensm_on() {
	local host=$1 name=$2
	shift 2
	mkdir -p "$work/$name"
	(cd "$work" && exec env SIM_HOST="$host" LD_PRELOAD="$sim_preload" OSM_CACHE_DIR="$work/$name" \
		OSM_TMP_DIR="$work/$name" opensm -d2 -D 0x43 --dump_files_dir "$work/$name" -f "$work/$name.log" "$@" \
		>"$work/$name.out" 2>&1) &
	opensm=$!
	pids+=("$opensm")
	until_true 60 grep -qs 'SUBNET UP' "$work/$name.log" || { fail "OpenSM does not come up"; finish; }
}
