#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The README's first command: the demo starts, shows three commands with their output, stays,
# and after Ctrl-C leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
[ -e "$here/configure" ] || skip "no configure in the sources"
# A build that is there already serves; quickstart finds nothing to do there.
export QUICKSTART_BUILD=$bin
unset MAKEFLAGS MAKELEVEL

mkdir "$work/tmp"
# A shell gives its background jobs an ignored SIGINT; a terminal's Ctrl-C is heard.
TMPDIR=$work/tmp env --default-signal=INT setsid "$here/quickstart" --listen 127.0.0.1:0 >"$work/out.log" 2>"$work/err.log" &
demo=$!
pids+=("$demo")
holds "it comes up" until_true grep -q 'Ctrl-C stops it' "$work/out.log"
out=$(cat "$work/out.log")
same "three commands" 3 "$(grep -c '^\$ ' "$work/out.log")"
has "a curl with its answer" "$out" '"paths":[{'
has "saguaro paths with its answer" "$out" "SLID   DLID"
has "saguaro status with its answer" "$out" "subnet           up"
holds "it stays" kill -0 "$demo"
url=$(sed -n 's/^Saguaro runs: \([^ ]*\) .*/\1/p' "$work/out.log")
holds "and answers" ready

kill -INT -- "-$demo"
wait "$demo"
same "Ctrl-C is no failure" 0 "$?"
same "nothing stays in the temporary folder" "" "$(ls -A "$work/tmp")"
refuses "nobody answers any more" curl -s "$url/healthz"
# Orphans that have ended stay in the list until the first process of the machine asks for them.
# shellcheck disable=SC2317 # called by until_true
none_left() { ! pgrep -s "$demo" >/dev/null; }
holds "no process of it is left" until_true none_left

refuses "a topology that is not there" "$here/quickstart" --topology "$work/nothing"
has "in a sentence" "$said" "cannot read the topology file"
refuses "an unknown word" "$here/quickstart" --what
finish
