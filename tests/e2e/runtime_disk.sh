#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The folder that saguarod reports in is full: what reads there says so, and since when it shows nothing
# new, and not that the daemon is gone. With room all is as before; when the daemon is gone, that is said.
if [ "${PRIVATE_MOUNTS:-}" = "" ]; then # what is mounted here is gone with this process
	unshare --mount true 2>/dev/null || { echo "skipped: only root can mount a small file system"; exit 77; }
	PRIVATE_MOUNTS=1 exec unshare --mount -- bash "$0" "$@"
fi
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
disk=$work/run
mkdir -p "$disk"
mount -t tmpfs -o size=330m saguaro "$disk" 2>/dev/null || skip "only root can mount a small file system"
# shellcheck disable=SC2317 # called at the end
unmount() { cleanup_status=$?; [ "$BASHPID" != "$owner" ] || umount -l "$disk"; cleanup; exit "$cleanup_status"; }
trap unmount EXIT

"$bin/saguarod" --fabric "sim:$here/tests/fabrics/ring-4.topo" --state-dir "$work/state" --snapshot-dir "$disk" \
	2>"$work/log" &
pid=$!
pids+=("$pid")
# shellcheck disable=SC2317 # called by until_true
status_has() { "$bin/saguaro" status --snapshot-dir "$disk" >"$work/status" 2>&1; grep -q "$1" "$work/status"; }
holds "comes up" until_true grep -q "SUBNET UP" "$work/log"
holds "status: up" until_true status_has "up"
dd if=/dev/zero of="$disk/filler" bs=1M 2>/dev/null
dd if=/dev/zero of="$disk/filler2" bs=4096 2>/dev/null
holds "status: the folder is full" until_true status_has "the folder $disk is full: saguarod (process $pid) runs"
holds "since when" grep -q "not shown since 20[0-9-]*T[0-9:]*Z; free space there" "$work/status"
holds "not that it is gone" test "$(grep -c "gone" "$work/status")" = 0
holds "it runs" kill -0 "$pid"
rm "$disk/filler" "$disk/filler2"
holds "with room it is up again" until_true status_has "up"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
holds "gone when it is gone" until_true status_has "daemon gone since"
finish
