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
	until_true grep -qs 'Network simulator ready' "$sim_log" || {
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

# host_command HOST: sets $as, the words in front of a command that runs on HOST.
host_command() { as=(env SIM_HOST="$1" LD_PRELOAD="$sim_preload"); }

# shellcheck source=tests/e2e/hosts.sh
. "$here/tests/e2e/hosts.sh"
