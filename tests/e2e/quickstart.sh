#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The README's first command: the demo starts, shows three commands with their output, stays,
# and after Ctrl-C leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
{ [ -x "$here/quickstart" ] && [ -x "$here/build/saguarod" ]; } || skip "not in a tree that quickstart has built"

# A port that is free now; another may take it before the demo does, then it says so.
port=$((10000 + RANDOM % 10000)) # below the range from which programs get theirs
while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done

mkdir "$work/tmp"
TMPDIR=$work/tmp setsid "$here/quickstart" --listen "127.0.0.1:$port" >"$work/out.log" 2>"$work/err.log" &
demo=$!
pids+=("$demo")
holds "it comes up" until_true grep -q 'Ctrl-C stops it' "$work/out.log"
out=$(cat "$work/out.log")
same "three commands" 3 "$(grep -c '^\$ ' "$work/out.log")"
has "a curl with its answer" "$out" '"paths":[{'
has "saguaro paths with its answer" "$out" "SLID   DLID"
has "saguaro status with its answer" "$out" "subnet           up"
holds "it stays" kill -0 "$demo"
same "and answers" 200 "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/readyz")"

kill -INT -- "-$demo"
wait "$demo"
same "nothing stays in the temporary folder" "" "$(ls -A "$work/tmp")"
refuses "nobody answers any more" curl -s "http://127.0.0.1:$port/healthz"
same "no process of it is left" "" "$(pgrep -s "$demo" || true)"

refuses "a topology that is not there" "$here/quickstart" --topology "$work/nothing"
has "in a sentence" "$said" "cannot read the topology file"
refuses "an unknown word" "$here/quickstart" --what
finish
