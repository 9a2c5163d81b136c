# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Programs on the hosts of a simulated fabric, for end-to-end tests; sourced by ibsim.sh and
# simulator.sh, which say by host_command() how a program gets there.
# shellcheck shell=bash disable=SC2154,SC2034 # shares variables with lib.sh

# Nothing gets lost here: no answer in time says only that the machine has much else to do. The
# field's clients give a second or less, so they get more, in ms; OpenSM and saguarod give a fifth
# of one and ask four times, so they ask more often (its time OpenSM tells to clients).
client_ms=60000 manager_retries=20

# patient COMMAND...: sets $command, the same with that time; a -t of its own comes later and
# counts.
patient() {
	command=("$@")
	case $1 in
	dump_lfts | ibaddr | ibcc* | ibhosts | iblinkinfo | ibnetdiscover | ibportstate | ibqueryerrors | ibroute | \
		ibswitches | ibtracert | osmtest | perfquery | saquery | sminfo | smpquery)
		command=("$1" -t "$client_ms" "${@:2}")
		;;
	opasaquery) command=("$1" --timeout "$client_ms" "${@:2}") ;;
	esac
}

# on HOST COMMAND...: a program whose local port is HOST.
on() {
	host_command "$1"
	shift
	patient "$@"
	(cd "$work" && exec timeout "$patience" "${as[@]}" "${command[@]}")
}

# opa_records FILE: the records that opasaquery printed there, each in a line, sorted. One ends at a line of dashes.
opa_records() { awk '/^-----/ { print r; r = ""; next } { r = r $0 "|" } END { print r }' "$1" | sort; }

# finds_nothing WHAT HOST COMMAND...: the client has its reply, and no record is in it.
finds_nothing() {
	local what=$1
	shift
	if said=$(on "$@" 2>&1) && [ -z "$said" ]; then ok "$what"; else fail "$what: $said"; fi
}

# start_daemon_on HOST NAME ARGS...: like start_daemon, on a simulated host.
start_daemon_on() {
	local name=$2
	host_command "$1"
	shift 2
	(cd "$work" && exec "${as[@]}" "$bin/saguarod" --fabric umad --transaction_retries "$manager_retries" \
		--state-dir "$work/$name/state" --snapshot-dir "$work/$name/run" "$@" 2>>"$work/$name.log") &
	daemon=$!
	pids+=("$daemon")
	run_dir=$work/$name/run
}

# start_opensm_on HOST NAME ARGS...: OpenSM until SUBNET UP, files in $work/NAME. -d2: a line of
# its log is in the file at once.
start_opensm_on() {
	local name=$2
	host_command "$1"
	shift 2
	mkdir -p "$work/$name"
	(cd "$work" && exec env OSM_CACHE_DIR="$work/$name" OSM_TMP_DIR="$work/$name" "${as[@]}" \
		opensm --retries "$manager_retries" -d2 -D 0x43 --dump_files_dir "$work/$name" -f "$work/$name.log" "$@" \
		>"$work/$name.out" 2>&1) &
	opensm=$!
	pids+=("$opensm")
	until_true grep -qs 'SUBNET UP' "$work/$name.log" || { fail "OpenSM does not come up"; finish; }
}
