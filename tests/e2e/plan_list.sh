#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro plan reads a list of cables: what saguaro export cables writes is no difference, also after a
# spreadsheet wrote it anew, and a wrong name is told by its line.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"

saguaro() { "$bin/saguaro" "$@"; }

for kind in "ft3 4" "torus 3x3 2"; do
	name=${kind%% *}
	# shellcheck disable=SC2086 # words
	saguaro topo $kind -o "$work/$name.topo" || { fail "no $kind"; continue; }
	start_daemon "$name" --fabric "sim:$work/$name.topo"
	export SAGUARO_SNAPSHOT_DIR=$run_dir
	until_true saguaro status >/dev/null 2>&1 || { fail "$name: not up"; finish; }
	saguaro export cables >"$work/$name.csv"
	cables=$(saguaro links --field speed | wc -l)
	same "$name: a row for each cable" "$((cables + 1))" "$(wc -l <"$work/$name.csv")"
	same "$name: read back" "$cables of $cables planned cables are there" "$(saguaro plan "$work/$name.csv" 2>&1)"
	{ printf '\xef\xbb\xbf'; sed -e 's/,/;/g' -e 's/$/\r/' "$work/$name.csv"; } >"$work/sheet.csv"
	same "$name: with semicolons, a mark and CRLF" "$cables of $cables planned cables are there" "$(saguaro plan "$work/sheet.csv" 2>&1)"
	same "$name: against a file" "$cables of $cables planned cables are there" "$(saguaro plan "$work/$name.csv" --against "$work/$name.topo" 2>&1)"
	same "$name: nothing to warn of" 0 "$(saguaro plan "$work/$name.csv" --strict >/dev/null 2>&1; echo $?)"
	[ "$name" = torus ] || kill "$daemon"
done

# the running torus: a wrong name, a missing row, two ends exchanged
row=$(sed -n 2p "$work/torus.csv")
sed "2s/^[^,]*/${row%%,*}x/" "$work/torus.csv" >"$work/wrong.csv"
said=$(saguaro plan "$work/wrong.csv" 2>&1)
same "a wrong name: exit status" 1 "$(saguaro plan "$work/wrong.csv" >/dev/null 2>&1; echo $?)"
has "with its line" "$said" "wrong.csv:2: warning: no node is '${row%%,*}x'; near: '${row%%,*}'"
has "and where the other end leads" "$said" "leads to '${row%%,*}' port"
saguaro plan "$work/wrong.csv" --strict >/dev/null 2>&1
same "strict: exit status" 2 $?
sed 2d "$work/torus.csv" >"$work/less.csv"
has "a row less is a cable more" "$(saguaro plan "$work/less.csv")" "extra "
{ head -n 1 "$work/torus.csv"; tail -n +2 "$work/torus.csv" | sort -r; } >"$work/same.csv"
same "rows in another order" 0 "$(saguaro plan "$work/same.csv" >/dev/null 2>&1; echo $?)"
finish
