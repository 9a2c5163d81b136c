#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Do the tests notice faults? `make mutate-list` plants the faults of tests/mutate/faults one at a time
# in a copy of the last commit, builds, runs the test that each fault names and prints whether it
# failed; if it passed, all test programs of the file's room have their turn, because a promise may
# be held by another suite. At the end stands the score. It is no part of make check: a fault takes
# half a minute, one that the named test does not notice some minutes.
#
#   make mutate-list                 all faults that have no result yet
#   make mutate-list MUTATE=ftree    those whose file, text or test has this word
#
# Results stay in $top_builddir/mutate.results, so a run that was stopped goes on; remove the file
# to begin anew. The copy is in $top_builddir/mutate. CC="ccache gcc" in the environment helps.
#
# A fault is four lines and a blank one:
#
#   file: routing/graph/graph.c      in the source tree
#   old: text                        of one line; has to be there exactly once
#   new: text                        what stands there instead
#   test: test_routing_graph graph   program and suite, or the name of a script: e2e/torus.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
results=$build/mutate.results

# plant FILE OLD NEW: the file's text with the fault; fails unless OLD is there once.
plant() {
	local text
	text=$(<"$copy/$1") || return 1
	[[ $text == *"$2"* && ${text#*"$2"} != *"$2"* ]] || return 1
	printf '%s\n' "${text/"$2"/"$3"}" >"$copy/$1"
}

# room_notices ROOM: some test program of the room fails.
room_notices() {
	local program
	for program in "$copy/build/tests/test_$1" "$copy/build/tests/test_$1"_*; do
		program=${program##*/}
		[ -f "$copy/build/tests/$program" ] || continue
		case $program in *.*) continue ;; esac
		make_it "tests/$program" || return 1
		notices "$program" && return 0
	done
	return 1
}

# try FILE OLD NEW TEST: prints the verdict and keeps it in the results.
try() {
	local verdict target
	local -a words
	read -ra words <<<"$4"
	cp "$copy/$1" "$copy/build/original" 2>/dev/null || { printf 'no such file: %s\n' "$1"; return; }
	if ! plant "$1" "$2" "$3"; then
		printf 'not there, or more than once: %s: %s\n' "$1" "$2"
		return
	fi
	target=tests/${words[0]}
	case $target in *.sh) target=all ;; esac
	if ! make_it "$target"; then
		verdict="does not build"
	elif notices "${words[@]}" || room_notices "${1%%/*}"; then
		verdict=caught
	else
		verdict="not caught"
	fi
	cp "$copy/build/original" "$copy/$1"
	printf '%s\t%s\t%s -> %s\t%s\n' "$verdict" "$1" "$2" "$3" "$4" | tee -a "$results"
}

[ -d "$copy/build" ] && [ -f "$results" ] || : >"$results"
prepare
while IFS= read -r line || [ -n "$line" ]; do
	case $line in
	'#'*) ;;
	'file: '*) file=${line#file: } ;;
	'old: '*) old=${line#old: } ;;
	'new: '*) new=${line#new: } ;;
	'new:') new= ;;
	'test: '*)
		test=${line#test: }
		case "$file $old $test" in *"${MUTATE:-}"*) ;; *) continue ;; esac
		grep -qF "$(printf '\t%s\t%s -> %s\t%s' "$file" "$old" "$new" "$test")" "$results" || try "$file" "$old" "$new" "$test"
		;;
	'') ;;
	*) die "tests/mutate/faults: what is '$line'?" ;;
	esac
done <"$top/tests/mutate/faults"
make_it all
awk -F'\t' '{ n[$1]++ } END {
	planted = n["caught"] + n["not caught"]
	printf "%d faults, %d caught, %d not caught, %d do not build", planted, n["caught"], n["not caught"], n["does not build"]
	if (planted) printf "; score %d %%", 100 * n["caught"] / planted
	printf "\n" }' "$results"
