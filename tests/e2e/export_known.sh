#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A host that is gone stays in the files of Slurm until it is forgotten, and is in the other forms
# when it is asked for.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v jq >/dev/null || skip "jq is not installed"

saguaro() { "$bin/saguaro" "$@"; }
# shellcheck disable=SC2317 # until_true calls it
is_gone() { [ "$(saguaro nodes --gone --field name)" = node2 ]; }

saguaro topo ft2 4 2 2 -o "$work/tree.topo"
start_daemon tree --fabric "sim:$work/tree.topo" --sweep_interval 1
export SAGUARO_SNAPSHOT_DIR=$run_dir
until_true saguaro status >/dev/null 2>&1 || { fail "not up"; finish; }
for form in slurm-tree slurm-yaml slurm-block topology cables; do
	saguaro export "$form" >"$work/$form.before"
done
where=$(saguaro links --json | jq -r '.links[] | select(.a.name == "node2" or .b.name == "node2") | if .a.name == "node2" then .b else .a end | "\(.name):\(.port)"')
saguaro port disable "$where" >/dev/null || fail "cannot disable $where"
until_true is_gone || { fail "node2 is not gone"; finish; }
# comments may have the time
bare() { grep -v '^#' "$1"; }
for form in slurm-tree slurm-yaml slurm-block; do
	saguaro export "$form" >"$work/now"
	same "$form: as before" "$(bare "$work/$form.before")" "$(bare "$work/now")"
	saguaro export "$form" --present >"$work/now"
	holds "$form: --present differs" test "$(bare "$work/$form.before")" != "$(bare "$work/now")"
done
same "cables: less one" "$(grep -v node2 "$work/cables.before")" "$(saguaro export cables)"
same "cables: with it" "$(cat "$work/cables.before")" "$(saguaro export cables --known)"
has "topology: with it" "$(saguaro export topology --known)" '"node2"'
refuses "no tables for it" saguaro export lfts --known
refuses "both" saguaro export cables --known --present
saguaro forget node2 >/dev/null || fail "cannot forget"
# shellcheck disable=SC2317 # until_true calls it
is_forgotten() { ! saguaro export slurm-tree | grep -q node2 && [ "$(saguaro export slurm-tree | grep -c 'node\[1-2')" = 0 ]; }
holds "forgotten: Slurm does not have it" until_true is_forgotten
finish
