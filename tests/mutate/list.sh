#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Do the tests notice faults? `make mutate-list` plants the faults of tests/mutate/faults one at a time
# in a copy of the last commit, compiles that object, links the unit program that each fault names, runs
# its suite and prints whether it failed; if it passed, the other suites that enter the function have their
# turn, because a promise may be held by another one. At the end stands the score. It is no part of make
# check: a fault takes some seconds.
#
#   make mutate-list                 all faults that have no result yet
#   make mutate-list MUTATE=ftree    those whose file, text or test has this word
#
# Results stay in $top_builddir/mutate.results, so a run that was stopped goes on; remove the file
# to begin anew. The copy is in $top_builddir/mutate.
#
# A fault is four lines and a blank one:
#
#   file: routing/graph/graph.c      in the source tree
#   old: text                        of one line; has to be there exactly once
#   new: text                        what stands there instead
#   test: test_routing_graph graph   program and suite
#
# tests/check-mutants.sh fails when the text of a fault is no longer there.
. "${BASH_SOURCE[0]%/*}/lib.sh"
results=$build/mutate.results

# plant FILE OLD NEW: the file's text with the fault; fails unless OLD is there once.
plant() {
	local text
	text=$(<"$copy/$1") || return 1
	[[ $text == *"$2"* && ${text#*"$2"} != *"$2"* ]] || return 1
	printf '%s\n' "${text/"$2"/"$3"}" >"$copy/$1"
}

# judge FILE LINE OBJECT PROGRAM SUITE: prints the verdict.
judge() {
	local test suite seconds rank programs program
	compile "$1" "$3" || { echo "does not build"; return; }
	while read -r test suite seconds rank programs <&4 && [ -n "$test" ]; do
		for program in $programs; do
			link_faulty "$program" "$3" || { echo "does not build"; return; }
		done
		notices "$test" "$suite" $((${seconds%.*} * 5 + 20)) && { echo caught; return; }
	done 4< <(who_enters "$1" "$2" | awk -v p="$4" -v s="$5" '
		$1 == p && $2 == s { named = $0; next }
		{ others = others $0 "\n" }
		END { print (named != "" ? named : p " " s " 60 1 tests/" p) "\n" others }')
	echo "not caught"
}

# try FILE OLD NEW PROGRAM SUITE: prints the verdict and keeps it in the results.
try() {
	local verdict line object
	object=$(object "$1") || { printf 'in no unit program: %s\n' "$1"; return; }
	line=$(grep -nF -m1 -e "$2" "$copy/$1" | cut -d: -f1)
	cp -p "$copy/$1" "$work/original"
	if plant "$1" "$2" "$3"; then
		verdict=$(judge "$1" "$line" "$object" "$4" "$5")
		restore
		printf '%s\t%s\t%s -> %s\t%s\n' "$verdict" "$1" "$2" "$3" "$4 $5" | tee -a "$results"
	else
		printf 'not there, or more than once: %s: %s\n' "$1" "$2"
	fi
	cp -p "$work/original" "$copy/$1"
}

[ -d "$work" ] && [ -f "$results" ] || : >"$results"
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
		grep -qF "$(printf '\t%s\t%s -> %s\t%s' "$file" "$old" "$new" "$test")" "$results" ||
			try "$file" "$old" "$new" "${test% *}" "${test#* }"
		;;
	'') ;;
	*) die "tests/mutate/faults: what is '$line'?" ;;
	esac
done <"$top/tests/mutate/faults"
awk -F'\t' '{ n[$1]++ } END {
	planted = n["caught"] + n["not caught"]
	printf "%d faults, %d caught, %d not caught, %d do not build", planted, n["caught"], n["not caught"], n["does not build"]
	if (planted) printf "; score %d %%", 100 * n["caught"] / planted
	printf "\n" }' "$results"
