#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Do the unit programs notice faults? `make mutate` draws lines of the code from a seed, plants a small
# fault in one of them at a time (mutants.awk has the operators), compiles that object in a copy of the
# last commit, links the programs that contain it and runs what enters the function of make check: the
# suites, those of its folder and the quickest first, the first seeds of the simulator of each kind, and at
# last the suites of its folder with all their seeds, until one fails or does not end in time. It prints each
# fault with its verdict, and at the end a table by room and the survivors. It is no part of make check: a
# fault takes about 10 s, and the first run builds the copy and runs each suite once, to see what it enters.
#
#   make mutate                             40 faults from seed 1
#   make mutate FAULTS=200 SEED=7           others, and more of them
#   make mutate IN=sa/sm                    only in files below this folder
#   make mutate IN=sa/sm BY=test_sa_sm         and only by these programs
#   make mutate E2E=short                   the short scripts of tests/e2e, too
#   make mutate E2E=1                       all of them, which takes longer
#   make mutate LIMIT=600                   seconds of tests per fault, then it has survived (180)
#   make mutate AGAIN=1 SEED=7              the survivors of that run, after tests were added
#
# A fault that does not compile, or makes no other machine code, is drawn again. "not run" is a line whose
# function no suite enters, such as that of a main(); it counts as survived. What is in
# tests/mutate/equivalent counts apart.
#
# Results stay in $top_builddir/mutate.SEED.results (with IN in the name), so a run that was stopped goes
# on; remove the file to begin anew. The copy is in $top_builddir/mutate. It builds on one core; JOBS=4
# gives it more.
. "${BASH_SOURCE[0]%/*}/lib.sh"
seed=${SEED:-1} wanted=${FAULTS:-40} folder=${IN:-} most=${LIMIT:-180}
folder=${folder%/}
results=$build/mutate.$seed${folder:+.${folder//\//_}}.results

# plant FILE LINE TEXT
plant() { TEXT=$3 awk -v n="$2" 'NR == n { $0 = ENVIRON["TEXT"] } { print }' "$work/original" >"$copy/$1"; }

# judge FILE LINE OBJECT: sets verdict and by.
judge() {
	local test suite seconds rank programs program spent=$SECONDS
	verdict="not run" by=
	[ -n "$3" ] || return
	compile "$1" "$3" || { verdict="does not compile"; return; }
	is_same_code && { verdict="same code"; return; }
	while read -r test suite seconds rank programs <&4; do
		verdict=survived
		[ $((SECONDS - spent)) -lt "$most" ] || { by="only the first $most s of tests"; return; }
		for program in $programs; do
			link_faulty "$program" "$3" || { verdict="does not compile"; return; }
		done
		if notices "$test" "$suite" $((${seconds%.*} * 5 + 20)) && is_sure "$test" "$suite" "$seconds"; then
			verdict=noticed by="$test $suite"
			return
		fi
	done 4< <(who_enters "$1" "$2")
	# what notices no fault with a quarter of the seeds may do so with all, as make check runs them
	while read -r test suite seconds rank programs <&4; do
		[ $((SECONDS - spent)) -lt "$most" ] || { by="only the first $most s of tests"; return; }
		if notices "$test" "$suite" $((${seconds%.*} * 20 + 60)) all; then
			verdict=noticed by="$test $suite, all seeds"
			return
		fi
	done 4< <(who_enters "$1" "$2" | grep -E '^test_[^ ]+ [^ ]+ [^ ]+ [12] ')
}

# is_sure TEST SUITE SECONDS: scripts wait for other processes, and fail for other reasons on a loaded machine; so
# one has to fail twice.
is_sure() {
	case $1 in *.sh) notices "$1" "$2" $((${3%.*} * 5 + 20)) ;; esac
}

# is_equivalent FILE OLD NEW: somebody gave a reason why no test can notice it.
is_equivalent() {
	grep -qxF -e "$1: $(trim "$2") -> $(trim "$3")" "$top/tests/mutate/equivalent"
}

# try FILE LINE OPERATOR NEW: plants, judges, and keeps the result.
try() {
	local object old start=$EPOCHREALTIME
	object=$(object "$1") # none: it belongs to no unit program
	old=$(sed -n "${2}p" "$copy/$1")
	cp -p "$copy/$1" "$work/original"
	plant "$1" "$2" "$4"
	verdict=equivalent by=
	is_equivalent "$1" "$old" "$4" || judge "$1" "$2" "$object"
	restore
	cp -p "$work/original" "$copy/$1"
	printf '%s\n' "$verdict$sep$1$sep$2$sep$3$sep$4$sep$old$sep$by$sep$(since "$start")" >>"$results"
	case $verdict in "does not compile" | "same code") return ;; esac
	n=$((n + 1))
	printf '%-10s  %s:%s  %s: %s -> %s%s  %s s\n' "$verdict" "$1" "$2" "$3" "$(trim "$old")" "$(trim "$4")" "${by:+  ($by)}" "$(since "$start")"
}

# draw_new: tries faults that have no result yet, until there are enough.
draw_new() {
	local file line op new
	mapfile -t files < <(git -C "$top" ls-tree -r --name-only HEAD "${folder:-.}" | grep -E '^(conf|routing|db|sa|gateway)/.*\.c$')
	[ "${#files[@]}" != 0 ] || die "no code in ${folder:-the rooms}"
	while [ "$n" -lt "$wanted" ] && IFS=$sep read -r file line op new <&3; do
		cut -d"$sep" -f2-5 "$results" | grep -qxF "$file$sep$line$sep$op$sep$new" || try "$file" "$line" "$op" "$new"
	done 3< <(cd "$copy" && awk -v seed="$seed" -v count=100000 -f tests/mutate/mutants.awk "${files[@]}")
}

# try_again: tries the survivors once more, wherever their line stands now.
try_again() {
	local verdict file line op new old by seconds now
	# of a run that was stopped: what it did not come to
	[ -f "$results.before" ] && tail -n +$(($(wc -l <"$results") + 1)) "$results.before" >>"$results"
	mv "$results" "$results.before"
	while IFS=$sep read -r verdict file line op new old by seconds <&3; do
		case $verdict in
		survived | "not run")
			now=$(OLD=$old awk -v n="$line" '$0 == ENVIRON["OLD"] {
				d = NR > n ? NR - n : n - NR
				if (at == "" || d < best) { at = NR; best = d }
			} END { print at }' "$copy/$file" 2>/dev/null)
			[ -n "$now" ] && { try "$file" "$now" "$op" "$new"; continue; }
			verdict="line gone"
			;;
		esac
		printf '%s\n' "$verdict$sep$file$sep$line$sep$op$sep$new$sep$old$sep$by$sep$seconds" >>"$results"
	done 3<"$results.before"
	rm "$results.before"
}

# report: the table and the survivors.
report() {
	awk -F"$sep" '
	function row(room, f) {
		f = n[room, "noticed"] + n[room, "survived"] + n[room, "not run"]
		printf "%-10s %7d %8d %9d %8d %11d %8s\n", room, f + n[room, "equivalent"], n[room, "noticed"], n[room, "survived"],
			n[room, "not run"], n[room, "equivalent"], f ? int(100 * n[room, "noticed"] / f) " %" : "-"
	}
	$1 != "does not compile" && $1 != "same code" && $1 != "line gone" {
		split($2, p, "/")
		if (!(p[1] in seen)) rooms[++n_rooms] = p[1]
		seen[p[1]]
		n[p[1], $1]++
		n["all", $1]++
		seconds += $8
		faults++
		gsub(/^[ \t]+/, "", $5)
		gsub(/^[ \t]+/, "", $6)
		if ($1 == "survived" || $1 == "not run")
			survivors = survivors sprintf("%s:%s  %s: %s -> %s%s\n", $2, $3, $4, $6, $5, $1 == "not run" ? "  (not run)" : "")
	}
	END {
		printf "\n%-10s %7s %8s %9s %8s %11s %8s\n", "room", "faults", "noticed", "survived", "not run", "equivalent", "noticed"
		for (i = 1; i <= n_rooms; i++) row(rooms[i])
		row("all")
		if (faults) printf "%.0f s per fault\n", seconds / faults
		if (survivors != "") printf "\nsurvivors:\n%s", survivors
	}' "$results"
}

prepare
touch "$results"
if [ -n "${AGAIN:-}" ]; then
	n=0
	try_again
else
	n=$(grep -Evc '^(does not compile|same code|line gone)' "$results")
	draw_new
fi
report
