#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Do the unit programs notice faults? `make mutate` draws lines of the code from a seed, plants a small
# fault in one of them at a time (mutants.awk has the operators), compiles that object in a copy of the
# last commit, links the unit programs that contain it and runs them until one fails or does not end in
# time. It prints each fault with its verdict, and at the end a table by room and the survivors. It is no
# part of make check: a fault costs as long as the programs run.
#
#   make mutate                             40 faults from seed 1
#   make mutate FAULTS=200 SEED=7           others, and more of them
#   make mutate IN=sa/sm                    only in files below this folder
#   make mutate IN=sa/sm BY=test_sa_sm         and only by these programs
#
# A fault that does not compile is drawn again. "no program" is a line whose object is in no unit
# program, such as that of a main(). What is in tests/mutate/equivalent counts apart.
#
# Results stay in $top_builddir/mutate.SEED.results (with IN in the name), so a run that was stopped goes
# on; remove the file to begin anew. The copy is in $top_builddir/mutate. CC="ccache gcc" in the
# environment helps, and so does nice.
. "${BASH_SOURCE[0]%/*}/lib.sh"
seed=${SEED:-1} wanted=${FAULTS:-40} folder=${IN:-}
folder=${folder%/}
results=$build/mutate.$seed${folder:+.${folder//\//_}}.results
known=$build/mutate.programs # program, global symbol
sep=$'\x1f'

# list_symbols: which unit program contains which object, by the symbols that it defines.
list_symbols() {
	local program
	for program in "$copy"/build/tests/test_*; do
		[ -x "$program" ] && [ ! -d "$program" ] || continue
		nm -g --defined-only "$program" 2>/dev/null | awk -v p="${program##*/}" '$3 != "main" { print p, $3 }'
	done >"$known"
	[ -s "$known" ] || die "no unit program was built"
}

# object FILE: its object, in the build folder.
object() {
	local base=${1##*/} o
	base=${base%.c}
	for o in "$copy/build/${1%/*}/$base.o" "$copy/build/${1%/*}"/*-"$base.o"; do
		[ -f "$o" ] && { printf '%s\n' "${o#"$copy/build/"}"; return; }
	done
	return 1
}

# programs FILE OBJECT: the unit programs that contain it; those of its folder and its room first.
programs() {
	local dir=${1%/*} symbol
	symbol=$(nm -g --defined-only "$copy/build/$2" | awk '$2 ~ /[TDRBV]/ && $3 != "main" { print $3; exit }')
	[ -n "$symbol" ] || return 0
	awk -v s="$symbol" -v dir="test_${dir//\//_}" -v room="test_${dir%%/*}" -v only=" ${BY:-} " '
		$2 == s && (only !~ /[^ ]/ || index(only, " " $1 " ")) {
			r = index(dir, $1) == 1 ? 200 - length($1) : index($1, room) == 1 ? 300 : 400
			print r, $1
		}' "$known" | sort -n | cut -d' ' -f2
}

# usual PROGRAM: seconds that it takes without a fault; 0: it fails then, too.
usual() {
	local seconds start
	seconds=$(awk -v p="$1" '$1 == p { print $2 }' "$build/mutate.seconds" 2>/dev/null)
	if [ -z "$seconds" ]; then
		start=$SECONDS
		if notices "$1" >&2; then
			printf 'mutate: %s fails without a fault, and is left out\n' "$1" >&2
			seconds=0
		else
			seconds=$((SECONDS - start + 1))
		fi
		printf '%s %s\n' "$1" "$seconds" >>"$build/mutate.seconds"
	fi
	printf '%s\n' "$seconds"
}

# plant FILE LINE TEXT
plant() { TEXT=$3 awk -v n="$2" 'NR == n { $0 = ENVIRON["TEXT"] } { print }' "$copy/build/original" >"$copy/$1"; }

# judge FILE OBJECT: sets verdict and by, or fails: it does not compile.
judge() {
	local list program seconds
	make_it "$2" || return 1
	mapfile -t list < <(programs "$1" "$2")
	verdict="no program" by=
	for program in "${list[@]}"; do
		seconds=${usually[$program]:-0}
		[ "$seconds" != 0 ] || continue
		verdict=survived
		make_it "tests/$program" || return 1
		if notices "$program" "" $((3 * seconds + 20)); then
			verdict=noticed by=$program
			return 0
		fi
	done
}

# is_equivalent FILE OLD NEW: somebody gave a reason why no test can notice it.
is_equivalent() {
	grep -qxF -e "$1: $(trim "$2") -> $(trim "$3")" "$top/tests/mutate/equivalent"
}

trim() { awk '{ $1 = $1; print }' <<<"$1"; }

prepare
list_symbols
rooms=(conf routing db sa gateway)
mapfile -t files < <(git -C "$top" ls-tree -r --name-only HEAD "${folder:-.}" | grep '\.c$' | grep -E "^($(IFS='|'; printf '%s' "${rooms[*]}"))/")
[ "${#files[@]}" != 0 ] || die "no code in ${folder:-the rooms}"
declare -A usually
while read -r program; do usually[$program]=; done < <(cut -d' ' -f1 "$known" | sort -u)
touch "$results"
n=$(grep -vc '^does not compile' "$results")
while [ "$n" -lt "$wanted" ] && IFS=$sep read -r file line op new <&3; do
	cut -d"$sep" -f2-5 "$results" | grep -qxF "$file$sep$line$sep$op$sep$new" && continue
	object=$(object "$file") || continue
	old=$(sed -n "${line}p" "$copy/$file")
	for program in $(programs "$file" "$object"); do
		[ -n "${usually[$program]}" ] || usually[$program]=$(usual "$program")
	done
	cp "$copy/$file" "$copy/build/original"
	plant "$file" "$line" "$new"
	if judge "$file" "$object"; then
		[ "$verdict" = survived ] && is_equivalent "$file" "$old" "$new" && verdict=equivalent
		printf '%s\n' "$verdict$sep$file$sep$line$sep$op$sep$new$sep$old$sep$by" >>"$results"
		n=$((n + 1))
		printf '%-10s  %s:%s  %s: %s -> %s%s\n' "$verdict" "$file" "$line" "$op" "$(trim "$old")" "$(trim "$new")" "${by:+  ($by)}"
	else
		printf '%s\n' "does not compile$sep$file$sep$line$sep$op$sep$new$sep$old$sep" >>"$results"
	fi
	cp "$copy/build/original" "$copy/$file"
done 3< <(cd "$copy" && awk -v seed="$seed" -v count=100000 -f tests/mutate/mutants.awk "${files[@]}")
make_it all
awk -F"$sep" '
function row(room, f) {
	f = n[room, "noticed"] + n[room, "survived"]
	printf "%-10s %7d %8d %9d %11d %11d %8s\n", room, f + n[room, "no program"] + n[room, "equivalent"], n[room, "noticed"],
		n[room, "survived"], n[room, "equivalent"], n[room, "no program"], f ? int(100 * n[room, "noticed"] / f) " %" : "-"
}
$1 != "does not compile" {
	split($2, p, "/")
	if (!(p[1] in seen)) rooms[++n_rooms] = p[1]
	seen[p[1]]
	n[p[1], $1]++
	n["all", $1]++
	gsub(/^[ \t]+/, "", $5)
	gsub(/^[ \t]+/, "", $6)
	if ($1 == "survived") survivors = survivors sprintf("%s:%s  %s: %s -> %s\n", $2, $3, $4, $6, $5)
}
END {
	printf "\n%-10s %7s %8s %9s %11s %11s %8s\n", "room", "faults", "noticed", "survived", "equivalent", "no program", "noticed"
	for (i = 1; i <= n_rooms; i++) row(rooms[i])
	row("all")
	if (survivors != "") printf "\nsurvivors:\n%s", survivors
}' "$results"
