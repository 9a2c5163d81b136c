#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What listens when nobody asks for more: all programs run as they come in a network of their own,
# whose sockets are then all listed. None can be reached from another machine.
if [ "${PRIVATE_NETWORK:-}" = "" ]; then # in which the default ports are free
	command -v ip >/dev/null || { echo "skipped: ip is not installed"; exit 77; }
	unshare --net ip link set lo up 2>/dev/null || { echo "skipped: only root has networks of its own"; exit 77; }
	PRIVATE_NETWORK=1 exec unshare --net -- bash "$0" "$@"
fi
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
ip link set lo up || skip "there is no loopback interface"

# listening: protocol, address and port of each socket that takes what others send
listening() {
	awk 'FNR > 1 && ($4 == "0A" || FILENAME ~ /udp/) { sub(".*/", "", FILENAME); print FILENAME, $2 }' \
		/proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 /proc/net/raw /proc/net/raw6 | sort
}

same "nothing listens before" "" "$(listening)"
"$bin/saguaro" topo ft2 2 2 2 -o "$work/net.topo"
start_daemon d --fabric "sim:$work/net.topo"
holds "saguarod is up" until_true log_says d 'SUBNET UP'
same "saguarod listens on nothing" "" "$(listening)"

"$bin/saguaro-gateway" --snapshot-dir "$run_dir" 2>>"$work/g.log" &
pids+=("$!")
holds "the gateway answers on 127.0.0.1:8620" until_true curl -sf http://127.0.0.1:8620/healthz
same "and nowhere else" "tcp 0100007F:21AC" "$(listening)"

if [ -x "$bin/saguaro-admin" ]; then
	"$bin/saguaro-admin" --users "$work/users" --add-token robot --role viewer >/dev/null
	"$bin/saguaro-admin" --users "$work/users" --listen "$work/admin.sock" --fabrics "main=$run_dir.control" \
		2>>"$work/a.log" &
	pids+=("$!")
	holds "saguaro-admin answers on its socket" until_true curl -sf --unix-socket "$work/admin.sock" http://localhost/healthz
	same "and nowhere else" "tcp 0100007F:21AC" "$(listening)"
	refuses "on TCP it does not start without TLS" "$bin/saguaro-admin" --users "$work/users" --listen 127.0.0.1:0
	has "an error has a code" "$("$bin/saguaro-admin" --users "$work/users" --listen "$work/none/admin.sock" --log-format json 2>&1)" \
		'"code":"SAG-ADMIN-001"'
	same "the socket is for its group" "srw-rw----" "$(stat -c %A "$work/admin.sock")"
fi
holds "the control socket is for its user, and its group if there is one" grep -qxE 'srw-(rw-|---)---' \
	<(find "$work/d" -type s -printf '%M\n')

# --- the list would show more ---
has "a second one on the same port says why it ends" "$("$bin/saguaro-gateway" --snapshot-dir "$run_dir" --log-format json 2>&1)" \
	'"code":"SAG-GATEWAY-001"'
"$bin/saguaro-gateway" --snapshot-dir "$run_dir" --listen 0.0.0.0:8621 2>>"$work/g.log" &
pids+=("$!")
holds "a gateway for everybody answers" until_true curl -sf http://127.0.0.1:8621/healthz
has "and is in the list" "$(listening)" "tcp 00000000:21AD"
finish
