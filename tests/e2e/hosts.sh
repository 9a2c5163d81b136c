# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Programs on the hosts of a simulated fabric, for end-to-end tests; sourced by ibsim.sh and
# simulator.sh, which say by host_command() how a program gets there.
# shellcheck shell=bash disable=SC2154,SC2034 # shares variables with lib.sh

# on HOST COMMAND...: a program whose local port is HOST, 30 s at most.
on() {
	host_command "$1"
	shift
	(cd "$work" && exec timeout 30 "${as[@]}" "$@")
}

# start_daemon_on HOST NAME ARGS...: like start_daemon, on a simulated host.
start_daemon_on() {
	local name=$2
	host_command "$1"
	shift 2
	(cd "$work" && exec "${as[@]}" "$bin/saguarod" --fabric umad \
		--state-dir "$work/$name/state" --snapshot-dir "$work/$name/run" "$@" 2>>"$work/$name.log") &
	daemon=$!
	pids+=("$daemon")
	run_dir=$work/$name/run
}

# start_opensm_on HOST NAME ARGS...: OpenSM until SUBNET UP, files in $work/NAME.
start_opensm_on() {
	local name=$2
	host_command "$1"
	shift 2
	mkdir -p "$work/$name"
	(cd "$work" && exec env OSM_CACHE_DIR="$work/$name" OSM_TMP_DIR="$work/$name" "${as[@]}" \
		opensm -d2 -D 0x43 --dump_files_dir "$work/$name" -f "$work/$name.log" "$@" \
		>"$work/$name.out" 2>&1) &
	opensm=$!
	pids+=("$opensm")
	until_true 60 grep -qs 'SUBNET UP' "$work/$name.log" || { fail "OpenSM does not come up"; finish; }
}
