# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro-sim for end-to-end tests; source it after lib.sh. One simulator per test, with a
# socket of its own.
# shellcheck shell=bash disable=SC2154,SC2034 # shares variables with lib.sh

need_clients() {
	local p
	for p in "$@"; do
		command -v "$p" >/dev/null || skip "$p is not installed"
	done
}

# start_simulator FILE [FLAGS]: returns when it serves, which it says by a line.
start_simulator() {
	export SAGUARO_SIM_SOCKET=$work/sim.sock
	mkfifo "$work/sim.ready"
	"$bin/saguaro-sim" "$@" >"$work/sim.ready" 2>>"$work/sim.log" &
	simulator=$!
	pids+=("$simulator")
	IFS= read -r sim_ready <"$work/sim.ready" || { fail "saguaro-sim does not start on $1"; finish; }
	rm "$work/sim.ready"
}

stop_simulator() {
	"$bin/saguaro-sim" ctl stop
	wait "$simulator" 2>/dev/null
}

# ctl WORDS...: a line for the simulator.
ctl() { "$bin/saguaro-sim" ctl "$@"; }

# host_command HOST: sets $as, the words in front of a command that runs on HOST.
host_command() { as=("$bin/saguaro-sim" --run --host "$1"); }

# opensm_settles NAME: on a fabric that nobody has set up before, OpenSM sweeps twice: ports that
# became active made switches send traps. Until it is through, tables of quality of service are
# zeros, and it may be in the middle of anything.
opensm_settles() {
	until_true swept_twice "$work/$1.log" || { fail "OpenSM does not settle"; finish; }
}
# shellcheck disable=SC2317 # called by until_true
swept_twice() { awk '/num:128/ { up = 0 } /SUBNET UP/ { up = 1; n++ } END { exit n < 2 || !up }' "$1"; }

# shellcheck source=tests/e2e/hosts.sh
. "$here/tests/e2e/hosts.sh"

# start_tree FLAGS...: a small tree with subnet manager d, which gets the flags, and gateway g; sets tree and hosts.
start_tree() {
	make_tree ft2 4 4 2
	serve_tree "$@"
}

# make_tree KIND ARGS...: a fabric as saguaro topo makes it.
make_tree() {
	tree=$work/tree.topo
	"$bin/saguaro" topo "$@" -o "$tree"
}

# serve_tree FLAGS...: as start_tree, of the fabric that make_tree made.
serve_tree() {
	mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$tree")
	start_simulator "$tree"
	start_daemon_on "${hosts[0]}" d --sweep_interval=1 "$@"
	holds "comes up" until_true log_says d 'SUBNET UP'
	start_gateway g
	wait_ready
	export SAGUARO_SNAPSHOT_DIR=$run_dir
}

# The same, and the subnet manager reads port counters each second.
start_fabric_with_counters() { start_tree --perfmgr --perfmgr_sweep_time_s=1; }
