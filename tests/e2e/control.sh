#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The control socket of a running saguarod: sweep, reload, rebalance, loglevel; SIGUSR1; who may not.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=$top_builddir
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-control.XXXXXX")
bad=0 pid=

cleanup() {
	[ -z "$pid" ] || { kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; }
	rm -rf "$work"
}
trap cleanup EXIT

holds() { # holds WHAT COMMAND...
	local what=$1
	shift
	"$@" && return
	printf 'control: %s\n' "$what"
	bad=1
}

wait_for() { # wait_for PATTERN: in the log
	for _ in $(seq 1 600); do
		grep -q "$1" "$work/log" && return 0
		kill -0 "$pid" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

printf 'log_file %s\nsweep_interval 0\n' "$work/file.log" >"$work/saguaro.conf"
"$bin/saguarod" --fabric "sim:$here/tests/fabrics/ring-4.topo" --state-dir "$work/state" --snapshot-dir "$work/run" \
	-F "$work/saguaro.conf" --sm_key=0x1122334455667788 -k 0xfedcba987654321 --m-key 0xabcdef0123456 2>"$work/log" &
pid=$!
export SAGUARO_SNAPSHOT_DIR=$work/run
holds "comes up" wait_for "SUBNET UP"
tr '\0' ' ' <"/proc/$pid/cmdline" >"$work/cmdline"
holds "no key stays on the command line" test "$(grep -c "1122334455667788\|fedcba987654321\|abcdef0123456" "$work/cmdline")" = 0
holds "all else does" grep -q -e "--state-dir $work/state .* --sm_key=x* -k x* --m-key x* *$" "$work/cmdline"

# the same of a command that routes a file; it waits for its topology
mkfifo "$work/late.topo"
"$top_builddir/saguaro" route --m_key 0x1122334455667788 --smkey=0xfedcba987654321 "$work/late.topo" >"$work/route.log" 2>&1 &
router=$!
until grep -q 'm_key.xxx' <(tr '\0' ' ' <"/proc/$router/cmdline") || ! kill -0 "$router"; do :; done
tr '\0' ' ' <"/proc/$router/cmdline" >"$work/cmdline"
holds "no key stays on the command line of saguaro route" test "$(grep -c "1122334455667788\|fedcba987654321" "$work/cmdline")" = 0
"$top_builddir/saguaro" topo ft2 2 1 1 >"$work/late.topo"
wait "$router"
holds "it warns" grep -q "m_key on the command line" "$work/route.log"
holds "which is said" test "$(grep -c "key on the command line: .*configuration file" "$work/log")" = 3
holds "the socket is for its user alone" test "$(stat -c %a "$work/run.control")" = 600 -o -n "$(getent group saguaro-admin)"

holds "sweep" test "$("$bin/saguaro" sweep)" = "light sweep requested"
holds "who asked is in the log" wait_for "light sweep: operator request; by $(id -un), control socket"
holds "sweep --heavy" test "$("$bin/saguaro" sweep --heavy)" = "heavy sweep requested"
holds "a heavy sweep follows" wait_for "heavy sweep: operator request; by $(id -un), control socket"
holds "sweep --json" grep -q '"phase"' <("$bin/saguaro" sweep --json)

holds "loglevel" test "$("$bin/saguaro" loglevel debug)" = "log level set"
holds "a wrong level is refused" grep -q "error, warning, info or debug" <("$bin/saguaro" loglevel loud 2>&1)
holds "a level is needed" grep -q "expected LEVEL; try .saguaro loglevel --help" <("$bin/saguaro" loglevel 2>&1)

holds "rebalance" grep -q "^rebalance requested" <("$bin/saguaro" rebalance)
holds "balanced routes stay" wait_for "rebalance: the routes stay: the routes are balanced"
holds "status says how busy the links are" grep -q '"routes_per_link_fresh": *[1-9]' <("$bin/saguaro" sweep --json)

holds "port disable" grep -q "disable requested" <("$bin/saguaro" port disable "$(sed -n 's/^Switch.*# "\([^"]*\)".*/\1/p' "$here/tests/fabrics/ring-4.topo" | head -n 1):1")
holds "the port is disabled" wait_for "port 1 is disabled: operator request; by $(id -un), control socket"
holds "port enable" grep -q "enable requested" <("$bin/saguaro" port enable "$(sed -n 's/^Switch.*# "\([^"]*\)".*/\1/p' "$here/tests/fabrics/ring-4.topo" | head -n 1):1")
holds "the port is enabled" wait_for "port 1 is enabled: operator request; by $(id -un), control socket"
holds "a port that is not there" grep -q "there is no 'nothing:1'" <("$bin/saguaro" port disable nothing:1 2>&1)
holds "a wrong word" grep -q "expected disable or enable" <("$bin/saguaro" port close nothing:1 2>&1)
holds "one word" grep -q "expected disable|enable NAME:PORT; try" <("$bin/saguaro" port disable 2>&1)

holds "reload" test "$("$bin/saguaro" reload)" = "configuration read again, heavy sweep requested"
printf 'sweep_interval x\n' >>"$work/saguaro.conf"
holds "a wrong configuration is refused" grep -q "the running one stays" <("$bin/saguaro" reload 2>&1)

# logrotate moves the file and sends SIGUSR1.
mv "$work/file.log" "$work/file.log.1"
kill -USR2 "$pid"
kill -USR1 "$pid"
holds "the log file is opened again" wait_for "log file opened again"
holds "the new log file is there" test -s "$work/file.log"
holds "the daemon runs on" kill -0 "$pid"

# A reload with a log file that cannot be written says so; the log goes on, but not in the old file.
printf 'log_file %s\nsweep_interval 0\n' "$work/none/y.log" >"$work/saguaro.conf"
holds "a reload without its log file" test "$("$bin/saguaro" reload)" = "configuration read again, heavy sweep requested"
holds "is said, with the reason" wait_for "SAG-LOG-001: cannot write the log file $work/none/y.log: No such file or directory"
holds "not in the old file" test "$(grep -c "configuration read again" "$work/file.log")" = 0
printf 'log_file %s\nsweep_interval 0\n' "$work/file.log" >"$work/saguaro.conf"
holds "a reload with another one" test "$("$bin/saguaro" reload)" = "configuration read again, heavy sweep requested"
holds "writes that" grep -q "configuration read again" "$work/file.log"

holds "an unknown instance" grep -q "cannot reach saguarod" <(SAGUARO_SNAPSHOT_DIR='' "$bin/saguaro" sweep --snapshot-dir "$work/none" 2>&1)
kill "$pid"
wait "$pid"
pid=
holds "the socket goes with the daemon" test ! -e "$work/run.control"

# A log file that cannot be written keeps nobody from starting, and is said.
"$bin/saguarod" --once --fabric "sim:$here/tests/fabrics/ring-4.topo" --state-dir "$work/state" --snapshot-dir "$work/run" \
	--log_file "$work/none/x.log" 2>"$work/once.log"
holds "the log goes on without its file" test $? = 0
holds "and says so" grep -q "cannot write the log file $work/none/x.log: No such file or directory; the log goes to standard error only" "$work/once.log"
exit $bad
