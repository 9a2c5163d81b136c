#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The disk of a standby is full: its copy of the master's state pauses, which the log, `saguaro
# status` and an event say once. With room it goes on by itself. If the master dies before that,
# the standby takes the fabric without the copy, says so, and sends no LFT block.
if [ "${PRIVATE_MOUNTS:-}" = "" ]; then # what is mounted here is gone with this process
	unshare --mount true 2>/dev/null || { echo "skipped: only root can mount a small file system"; exit 77; }
	PRIVATE_MOUNTS=1 exec unshare --mount -- bash "$0" "$@"
fi
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery jq
[ -x "$bin/tests/sa_query" ] || skip "tests/sa_query is not built"
grep -q 'define HAVE_GNUTLS' "$bin/config.h" || skip "built without GnuTLS"
disk=$work/low/state
mkdir -p "$disk"
mount -t tmpfs -o size=8m saguaro "$disk" 2>/dev/null || skip "only root can mount a small file system"
# shellcheck disable=SC2317 # called at the end
unmount() { cleanup_status=$?; [ "$BASHPID" != "$owner" ] || umount -l "$disk"; cleanup; exit "$cleanup_status"; }
trap unmount EXIT

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
mapfile -t names < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree")
low=${names[0]} high=${names[1]}
free_port() { # a port of the loopback address that nobody listens on
	local p
	while p=$((20000 + RANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; do :; done
	echo "$p"
}
port=$(free_port)
(umask 077 && head -c 32 /dev/urandom | base64 >"$work/secret")
common=(--sminfo_polling_timeout=500 --standby-secret "$work/secret")
guid() { on "$1" ibstat | sed -n 's/.*Port GUID: 0x//p'; }
# shellcheck disable=SC2317 # called by until_true
status() { "$bin/saguaro" status --snapshot-dir "$work/$1/run" "${@:2}"; }
# shellcheck disable=SC2317 # called by until_true
copy_is() { [ "$(status "$1" --json | jq -r ".sm.copy.$2")" = "$3" ]; }
# shellcheck disable=SC2317 # called by until_true
has_event() { "$bin/saguaro" events --snapshot-dir "$work/low/run" 2>/dev/null | grep -q "$1"; }
lines() { grep -c "$1" "$work/low.log"; }
lft_blocks() { sed -n 's/.*SUBNET UP.*sent [0-9]* PortInfo and \([0-9]*\) LFT blocks.*/\1/p' "$work/low.log" | tail -n 1; }
fill() { dd if=/dev/zero of="$disk/filler" bs=4096 2>/dev/null; }
# register HOST: 2000 services of this host, for ever
register() {
	local n of
	of=$(guid "$1")
	for ((n = 1; n <= 2000; n++)); do
		printf '2 31 57 1 %016xfe80000000000000%sffff0000ffffffff%032x%0128x\n' "$n" "$of" 0 0
	done | on "$1" "$bin/tests/sa_query" | grep -c '^0000'
}

start_simulator "$tree"
start_daemon_on "$high" high -p 9 "${common[@]}" --standby-listen "127.0.0.1:$port" --standby-wait 60000
high_pid=$daemon
holds "the first is master" until_true log_says high 'SUBNET UP'
same "a client registers services" 2000 "$(register "${names[20]}")"
start_daemon_on "$low" low -p 1 "${common[@]}" --standby-peer "127.0.0.1:$port"
low_pid=$daemon
holds "the standby is in step" until_true copy_is low in_step true

# --- full in the middle ---
fill
same "clients are served all the same" 2000 "$(register "${names[21]}")"
holds "the copy pauses" until_true copy_is low paused true
has "status says why and what to do" "$(status low)" \
	"pauses: the disk is full; free space in the state folder"
holds "an event says so" until_true has_event "the copy of the master's state pauses: the disk is full"
start_gateway g --snapshot-dir "$work/low/run"
has "and an alarm, although the standby has no snapshot" \
	"$(curl -s "$url/v1/alarms" | jq -r '.alarms[] | select(.kind == "copy_paused").text')" "the copy of the master's state pauses: the disk is full"
same "the log has one line" 1 "$(lines "the copy of the master's state pauses")"
rm "$disk/filler"
holds "with room it goes on by itself" until_true copy_is low in_step true
same "it pauses no more" false "$(status low --json | jq -r .sm.copy.paused)"
holds "an event says that, too" until_true has_event "the copy of the master's state is in step again"
same "the log has one line of each" "1 1" \
	"$(lines "the copy of the master's state pauses") $(lines "the copy of the master's state is in step again")"

# --- the master dies while the disk is full ---
fill
same "the master serves clients" 2000 "$(register "${names[22]}")"
holds "the copy pauses again" until_true copy_is low paused true
kill -9 "$high_pid"
wait "$high_pid" 2>/dev/null
holds "the standby takes over" until_true log_says low 'SUBNET UP'
has "without the copy, and says why" "$(cat "$work/low.log")" \
	"takes over without the state of the last master: the copy pauses, because the disk is full"
same "no LFT block was sent" 0 "$(lft_blocks)"
same "no service of a torn copy is there" 0 "$(on "${names[20]}" saquery SR 2>/dev/null | grep -c ServiceID)"
end_process "$low_pid"
finish
