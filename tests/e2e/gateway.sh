#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The program saguaro-gateway without a daemon: start, port file, signals, what it says
# when it cannot start, and a manual that knows its options.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"

gateway=$bin/saguaro-gateway
[ -x "$gateway" ] || skip "saguaro-gateway is not built"
command -v curl >/dev/null || skip "curl is not installed"

# shellcheck disable=SC2317 # called by until_true
port_or_end() { [ -s "$work/$1.port" ] || ! kill -0 "$pid" 2>/dev/null; }
start() { # start NAME FLAGS... ; sets $pid and $port
	local name=$1
	shift
	"$gateway" --listen 127.0.0.1:0 --port-file "$work/$name.port" --snapshot-dir "$work/run" "$@" \
		2>"$work/$name.log" &
	pid=$!
	pids+=("$pid")
	until_true port_or_end "$name" || fail "$name: no port"
	port=$(cat "$work/$name.port")
}

start first
same "alive without a daemon" 200 "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/healthz")"
has "not ready, with the folder" "$(curl -s "http://127.0.0.1:$port/readyz")" "$work/run"
same "nothing was created" "" "$(ls -A "$work/run" 2>/dev/null)"
has "says where it answers" "$(cat "$work/first.log")" "http://127.0.0.1:$port"

# A gateway of a build tree finds the page of its sources, and one that was installed elsewhere does not.
if [ -e "$bin/config.status" ]; then
	page=$(curl -s -H 'Accept: text/html' "http://127.0.0.1:$port/")
	if [ -e "$here/gateway/web/dist/index.html" ]; then
		has "the page of the sources" "$page" "<!doctype html>"
	else
		has "where the page would be" "$(cat "$work/first.log")" "/gateway/web/dist (--web-dir)"
	fi
	mkdir "$work/sbin" && cp "$gateway" "$work/sbin/"
	gateway=$work/sbin/saguaro-gateway start installed
	same "installed: nothing of a build" 0 "$(grep -c "gateway/web/dist" "$work/installed.log")"
fi

# Reading from a port in use, a bad address, a bad option: one sentence each.
said=$("$gateway" --listen "127.0.0.1:$port" --snapshot-dir "$work/run" 2>&1)
same "status when the port is in use" 1 "$?"
has "port in use" "$said" "another program listens there"
said=$("$gateway" --listen nonsense 2>&1)
same "status for a bad address" 1 "$?"
has "bad address" "$said" "expected ADDR:PORT"
said=$("$gateway" --threads 0 2>&1)
same "status for a bad number" 2 "$?"
has "bad number" "$said" "threads"
said=$("$gateway" --port-file "$work/no/such/folder" --listen 127.0.0.1:0 --snapshot-dir "$work/run" 2>&1)
same "status when the port file cannot be written" 1 "$?"
has "port file" "$said" "$work/no/such/folder"

for signal in TERM INT; do
	start "$signal"
	[ -n "$port" ] || fail "no port before SIG$signal"
	# A shell gives its background jobs an ignored SIGINT; the program waits for it all the same.
	kill -"$signal" "$pid"
	wait "$pid"
	same "status after SIG$signal" 0 "$?"
done

# logrotate moves the file and sends SIGUSR1; no other signal that a person may send ends it.
start logged --log-file "$work/gateway.out"
until_true test -s "$work/gateway.out"
mv "$work/gateway.out" "$work/gateway.out.1"
kill -USR2 "$pid"
kill -HUP "$pid"
until_true test -s "$work/gateway.out"
mv "$work/gateway.out" "$work/gateway.out.2"
kill -USR2 "$pid"
kill -USR1 "$pid"
holds "SIGUSR1 opens the log again" until_true test -s "$work/gateway.out"
same "alive after SIGUSR1, SIGUSR2 and SIGHUP" 200 "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/healthz")"

start public --listen 0.0.0.0:0
has "warns on a public address" "$(cat "$work/public.log")" "no authentication"

# A gateway that may not read the snapshot says why in its log, and goes on when that is mended.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	"$bin/saguaro" topo ft2 2 2 1 -o "$work/tree.topo"
	chmod 755 "$work"
	start_daemon daemon --fabric "sim:$work/tree.topo" --snapshot-dir "$work/run/main"
	run_dir=$work/run/main
	until_true log_says daemon 'SUBNET UP'
	chgrp -R 0 "$run_dir"
	chown 65534 "$work"
	# A copy, because others may not get into the folder of the build.
	cp "$gateway" "$work/copy"
	printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups %s "$@"\n' "$work/copy" >"$work/as_nobody"
	chmod 755 "$work/copy" "$work/as_nobody"
	gateway=$work/as_nobody
	start closed --snapshot-dir "$run_dir"
	holds "its log says that it may not read" until_true log_says closed 'SAG-GATEWAY-004: cannot read'
	if getent group saguaro >/dev/null; then remedy="chgrp -R saguaro $run_dir"; else remedy="groupadd --system saguaro"; fi
	has "and what to do" "$(cat "$work/closed.log")" "$remedy"
	same "the reply, too" 503 "$(curl -s -o "$work/reply" -w '%{http_code}' "http://127.0.0.1:$port/readyz")"
	has "with the same words" "$(cat "$work/reply")" "$remedy"
	chgrp -R 65534 "$run_dir"
	holds "it goes on when that is mended" until_true log_says closed 'answers from epoch 1'
	url=http://127.0.0.1:$port
	holds "and is ready" until_true ready
fi

finish
