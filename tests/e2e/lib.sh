# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# For end-to-end tests (source it): a temporary folder, servers that end with the test,
# assertions. Exit status 77 means skipped. Programs come from $top_builddir.
# shellcheck shell=bash disable=SC2034 # sourced: variables are used by the tests
set -u

here=$(cd "${srcdir:-.}" && pwd)
bin=${top_builddir:?set by make check}
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-test.XXXXXX")
pids=()
failures=0
# Seconds after which what has not come does not come. A guard, not a figure: a machine with
# much else to do takes its time, and no test passes by what happens when this is over.
patience=600
owner=$BASHPID

# end_process PID: asks it to end, insists after half a minute. Clients of ibsim hang for ever
# when it is gone, so what was started last ends first.
end_process() {
	kill -CONT "$1" 2>/dev/null
	kill "$1" 2>/dev/null || return 0
	(sleep 30 && kill -9 "$1") >/dev/null 2>&1 &
	local guard=$!
	wait "$1" 2>/dev/null
	kill "$guard" 2>/dev/null
	wait "$guard" 2>/dev/null
}

cleanup() {
	local p i
	trap - EXIT
	# A signal may find a new subshell before it has dropped these traps.
	[ "$BASHPID" = "$owner" ] || return
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do end_process "${pids[i]}"; done
	if [ "$failures" != 0 ]; then
		for p in "$work"/*.log; do
			[ -s "$p" ] && { printf -- '--- %s\n' "${p##*/}"; tail -n 25 "$p"; }
		done
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

skip() { printf 'skipped: %s\n' "$1"; exit 77; }
fail() { printf 'FAILED: %s\n' "$1"; failures=$((failures + 1)); }
ok() { printf 'ok: %s\n' "$1"; }

# finish: last line of a test.
finish() {
	if [ "$failures" != 0 ]; then
		printf '%d failures\n' "$failures"
		exit 1
	fi
	exit 0
}

# same WHAT EXPECTED GOT
same() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1"
		diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") | head -n 20
	fi
}

# has WHAT TEXT WORDS
has() {
	case $2 in
	*"$3"*) ok "$1" ;;
	*) fail "$1: '$3' is not in: $(head -c 600 <<<"$2")" ;;
	esac
}

# holds WHAT COMMAND...: the command succeeds.
holds() {
	local what=$1
	shift
	if "$@" >/dev/null 2>&1; then ok "$what"; else fail "$what"; fi
}

# refuses WHAT COMMAND...: the command fails; what it said is in $said.
refuses() {
	local what=$1
	shift
	if said=$("$@" 2>&1); then fail "$what"; else ok "$what"; fi
}

# until_true COMMAND...: polls; for events that have no handle to wait on. A request to a server
# that is not there gets no reply, so clients ask again soon (see hosts.sh); a client that had no
# reply in its time gets twice that time, because the machine may be busy.
until_true() {
	local end=$((SECONDS + patience)) client_ms=500 started
	until started=${EPOCHREALTIME/[.,]/} && "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		[ $(((${EPOCHREALTIME/[.,]/} - started) / 1000)) -lt "$client_ms" ] || client_ms=$((2 * client_ms))
		sleep 0.05
	done
}

# start_daemon NAME ARGS...: saguarod with folders of its own under $work/NAME; pid in $daemon.
start_daemon() {
	local name=$1
	shift
	"$bin/saguarod" --state-dir "$work/$name/state" --snapshot-dir "$work/$name/run" "$@" \
		2>>"$work/$name.log" &
	daemon=$!
	pids+=("$daemon")
	run_dir=$work/$name/run
}

# start_gateway NAME [ARGS...]: gateway over $run_dir; base URL in $url, pid in $gateway.
start_gateway() {
	local name=$1
	shift
	rm -f "$work/$name.port"
	"$bin/saguaro-gateway" --listen 127.0.0.1:0 --port-file "$work/$name.port" \
		--snapshot-dir "$run_dir" "$@" 2>>"$work/$name.log" &
	gateway=$!
	pids+=("$gateway")
	until_true test -s "$work/$name.port" || { fail "the gateway does not start"; finish; }
	url=http://127.0.0.1:$(cat "$work/$name.port")
}

ready() { curl -s -f -o /dev/null "$url/readyz"; }

wait_ready() {
	until_true ready || { fail "not ready: $(curl -s "$url/readyz")"; finish; }
}

# free_port: a port of the loopback address that nobody listens on.
free_port() {
	local p
	while p=$((20000 + RANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; do :; done
	echo "$p"
}

log_says() { grep -q -- "$2" "$work/$1.log"; }

get() { curl -s "$url$1"; }
