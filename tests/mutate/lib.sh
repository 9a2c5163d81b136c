# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What mutate.sh and list.sh share: a copy of the last commit in $top_builddir/mutate, where faults are
# planted, one run at a time; which test enters which function; compiling one object, linking one program with it, and
# running one suite until the first case that fails. A test is a unit program and one of its suites, or
# "simulate" and a kind of seeds, or with E2E=short or E2E=1 a script and "-". Sourced.
# shellcheck disable=SC2034 # mutate.sh has the separator
set -u
top=$(cd "${srcdir:-.}" && pwd)
build=${top_builddir:?set by make mutate}
copy=$build/mutate
work=$copy/build
map=$build/mutate.map # one file per unit program or script: file, line, test (two words), seconds, program that enters
jobs=${JOBS:-1}
faulty=$work/faulty.o
sep=$'\x1f'

die() { printf 'mutate: %s\n' "$*" >&2; exit 1; }
note() { printf 'mutate: %s\n' "$*" >&2; }
trim() { awk '{ $1 = $1; print }' <<<"$1"; }
make_it() { make -C "$work" -s -j"$jobs" "$@" >"$work/make.log" 2>&1; }

# refresh: brings the copy to the last commit. Only files that differ are written, so that make sees
# which ones: also one with a fault that a run left behind when it was killed.
refresh() {
	local file
	rm -rf "$copy.new" && mkdir -p "$work" "$copy.new" || return 1
	git -C "$top" archive HEAD | tar -x -C "$copy.new" || return 1
	while IFS= read -r file; do
		cmp -s "$copy.new/$file" "$copy/$file" && continue
		mkdir -p "$copy/$(dirname "$file")" && cp -P --remove-destination "$copy.new/$file" "$copy/$file" || return 1
	done < <(git -C "$top" ls-tree -r --name-only HEAD)
	rm -rf "$copy.new"
}

# prepare: a copy of the last commit, configured, with its unit programs, and the map of each.
prepare() {
	restore
	refresh || die "cannot copy $top: it has to be a git tree"
	[ -x "$copy/configure" ] || (cd "$copy" && autoreconf -fi) >"$work/bootstrap.log" 2>&1 || die "autoreconf failed"
	if ! [ "$work/entered.o" -nt "$copy/tests/mutate/entered.c" ]; then
		${CC:-gcc} -O1 -fPIC -c -o "$work/entered.o" "$copy/tests/mutate/entered.c" || die "entered.c does not compile"
		rm -f "$work"/tests/test_* "$work"/saguaro* # make does not know that they contain it
	fi
	[ -f "$work/Makefile" ] || (cd "$work" && ../configure CFLAGS='-O1 -g1 -finstrument-functions' LIBS="$work/entered.o") \
		>"$work/configure.log" 2>&1 || die "configure failed: see $work/configure.log"
	mapfile -t programs < <(sed -n 's/^check_PROGRAMS += tests\/\(test_[a-z0-9_]*\)$/\1/p' $(git -C "$top" ls-files "$top/tests/*Makefile.inc" | sed "s|^|$top/|") | sort)
	make_it "${programs[@]/#/tests/}" tests/simulate || die "the tree does not build: see $work/make.log"
	[ -z "${E2E:-}" ] || make_it all check-programs || die "the tree does not build: see $work/make.log"
	make_map
}

# tests: what there is to run: names of unit programs, and of scripts, which stand in tests/e2e/Makefile.inc in
# two lists.
tests() {
	printf '%s\n' "${programs[@]}" simulate
	case ${E2E:-} in
	'') return ;;
	short) sed -n '/^short_scripts/,/[^\\]$/p' "$copy/tests/e2e/Makefile.inc" ;;
	*) sed -n '/_scripts = /,/[^\\]$/p' "$copy/tests/e2e/Makefile.inc" ;;
	esac | sed -n 's|^\t%D%/\([a-z0-9_]*\.sh\).*|e2e/\1|p' | sort -u
}

# The seeds of tests/sim/simulate.sh by kind, of each the first ones.
simulate_kinds='
plain --seeds 20
nonsense --nonsense --seeds 16
vports --vports --seeds 12
vports_nonsense --vports --nonsense --seeds 8
crashes --crashes --managers 0 --seeds 12
crashes_nonsense --crashes --managers 0 --nonsense --seeds 12
freezes --managers 2 --freezes --first 200000 --seeds 12
packets --packets --seeds 12
omnipath --omnipath --seeds 12
omnipath_packets --omnipath --packets --seeds 8
omnipath_crashes --omnipath --crashes --managers 0 --seeds 8
'
simulate_options() { sed -n "s/^$1 /--first 100000 /p" <<<"$simulate_kinds"; }

# sum TEST: changes when the test has to be run once more, to see what it enters.
sum() {
	local file=$work/tests/$1
	case $1 in *.sh) file=$copy/tests/$1 ;; esac
	cksum <"$file"
}

# suites TEST
suites() {
	case $1 in
	*.sh) echo - ;;
	simulate) echo counts && sed -n 's/ .*//p' <<<"$simulate_kinds" ;;
	*) nm "$work/tests/$1" | sed -n 's/.* t register_suite_//p' | sort -u ;;
	esac
}

# make_map: runs each suite of the tests that changed, and keeps the functions that it enters, and its time.
make_map() {
	local test suite now start name
	mkdir -p "$map/sums"
	for test in $(tests); do
		now=$(sum "$test") name=${test//\//.}
		[ "$(cat "$map/sums/$name" 2>/dev/null)" = "$now" ] && continue
		note "runs $test, to see what it enters"
		: >"$work/map"
		for suite in $(suites "$test"); do
			rm -f "$work/entered"
			start=$EPOCHREALTIME
			if MUTATE_ENTERED=$work/entered notices "$test" "$suite" 600; then
				note "$test $suite fails without a fault, and is left out"
				cp "$work/test.log" "$work/$name.$suite.log"
				continue
			fi
			touch "$work/entered"
			entered "$test" "$suite" "$(since "$start")" >>"$work/map"
		done
		mv "$work/map" "$map/$name" && printf '%s\n' "$now" >"$map/sums/$name"
	done
}

# entered TEST SUITE SECONDS: the lines of the map.
entered() {
	local program binary
	sort -u "$work/entered" | cut -d' ' -f1 | uniq | while read -r program; do
		binary=$program
		case $program in test_* | simulate) binary=tests/$program ;; esac
		[ -x "$work/$binary" ] || continue
		awk -v p="$program" '$1 == p { print $2 }' "$work/entered" | sort -u | addr2line -e "$work/$binary" |
			awk -F: -v test="$1 $2 $3" -v p="$binary" '
				{ sub(/ \(discriminator.*/, ""); sub(/.*\/build\/\.\.\//, "", $1) }
				$1 ~ /^(conf|routing|db|sa|gateway)\/.*\.c$/ && !seen[$1, $2]++ { print $1, $2, test, p }'
	done
}

since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", b - a }'; }

# who_enters FILE LINE: test, seconds, rank and programs of each test that enters the function around that line; those
# of the file's name and quick ones that compare all with golden files first (rank 1), then those of its folder (2), the
# simulator for sa (3), those of its room (4), others (5) and scripts (6), and the quickest of each first.
who_enters() {
	local from to base=${1##*/} dir=${1%/*}
	read -r from to < <(awk -v n="$2" '
		NR < n && /^}/ { from = NR }
		NR <= n && /^{/ { to = NR }
		END { print from + 0, to + 0 }' "$copy/$1")
	cat "$map"/test_* "$map"/simulate ${E2E:+"$map"/e2e.*} 2>/dev/null | awk -v file="$1" -v from="$from" -v to="$to" -v base="${base%.c}" \
		-v dir="test_${dir//\//_}" -v room="test_${dir%%/*}" -v only=" ${BY:-} " '
		$1 == file && $2 > from && $2 <= to && (only !~ /[^ ]/ || index(only, " " $3 " ")) {
			test = $3 " " $4
			if (!(test in rank)) {
				rank[test] = $4 == "-" ? 6 : index(dir, $3) == 1 ? 2 : index($3, room) == 1 ? 4 : 5
				if ($3 == "simulate") rank[test] = room == "test_sa" ? 3 : 5
				if ($4 ~ /golden|^counts$/ && rank[test] > 1 && rank[test] < 4) rank[test] = 2 - ($5 < 5 || $4 == "counts")
				if (rank[test] == 2 && (index($4, base) || index(base, $4))) rank[test] = 1
				seconds[test] = $5
			}
			if (!index(programs[test] " ", " " $6 " ")) programs[test] = programs[test] " " $6
		}
		END { for (test in rank) print rank[test], seconds[test], test, programs[test] }' |
		sort -k1,1n -k2,2n | awk '{ printf "%s %s %s %s", $3, $4, $2, $1; for (i = 5; i <= NF; i++) printf " %s", $i; print "" }'
}

# object FILE: its object, in the build folder.
object() {
	local base=${1##*/} o
	base=${base%.c}
	for o in "${1%/*}/$base.o" "$work/${1%/*}"/*-"$base.o"; do
		o=${o#"$work/"}
		[ -f "$work/$o" ] && { printf '%s\n' "$o"; return; }
	done
	return 1
}

# compile FILE OBJECT: the faulty object; the true one stays, and make takes both for unchanged afterwards.
compile() {
	local status=0
	cp -p "$work/$2" "$work/true.o"
	touch "$copy/$1"
	make_it "$2" && cp "$work/$2" "$faulty" || status=1
	cp -p "$work/true.o" "$work/$2"
	return "$status"
}

# is_same_code: the compiler makes the same of both.
is_same_code() {
	objcopy -g "$faulty" "$work/a.o" && objcopy -g "$work/true.o" "$work/b.o" && cmp -s "$work/a.o" "$work/b.o"
}

# link_faulty PROGRAM OBJECT: $work/PROGRAM with the fault; restore puts the true one back. The faulty object
# stands before the libraries, so the linker takes no other from them.
link_faulty() {
	local line=$work/$1.link command
	[ -f "$work/$1.true" ] && return
	[ "$line" -nt "$work/Makefile" ] || make -C "$work" -n V=1 -W libconf.a -W libtests.a "$1" 2>/dev/null |
		sed -n "s|^\(echo.*;\)\?\(.* -o $1 .*\)|\2|p" | tail -n 1 >"$line"
	command=$(<"$line")
	[ -n "$command" ] || die "how is $1 linked?"
	command=${command/ -o $1 / -o $1.faulty }
	case $command in
	*" $2 "*) command=${command/ $2 / $faulty } ;;
	*) command=${command/.faulty /.faulty $faulty } ;;
	esac
	(cd "$work" && eval "$command") >"$work/link.log" 2>&1 || return 1
	mv "$work/$1" "$work/$1.true" && mv "$work/$1.faulty" "$work/$1"
}

# restore: all programs without a fault, with the time at which they were linked.
restore() {
	local program
	for program in "$work"/*.true "$work"/tests/*.true; do
		[ ! -f "$program" ] || mv "$program" "${program%.true}"
	done
}

# notices TEST SUITE SECONDS [all]: a case of the suite fails, or the suite does not end in time. Ends at the first.
# "all": with all seeds, not with the quarter that TEST_SHORT leaves.
notices() {
	local status
	(
		cd "$work" || exit 1
		exec 9>&- # what a test leaves behind holds no lock
		export srcdir=.. top_builddir=$PWD OMP_WAIT_POLICY=passive TEST_SHORT=1
		[ -z "${4:-}" ] || unset TEST_SHORT
		[ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
		case $1 in
		*.sh)
			! timeout -k 5 "$3" bash "../tests/$1" </dev/null >"$work/test.log" 2>&1
			;;
		simulate)
			export OMP_NUM_THREADS=1
			# shellcheck disable=SC2046 # words
			case $2 in
			counts) ! timeout -k 5 "$3" bash ../tests/sim/counts.sh ;;
			*) ! timeout -k 5 "$3" tests/simulate $(simulate_options "$2") ;;
			esac </dev/null >"$work/test.log" 2>&1
			;;
		*)
			export CK_RUN_SUITE=$2 CK_DEFAULT_TIMEOUT=$3 CK_TAP_LOG_FILE_NAME=/dev/fd/3
			timeout -k 5 "$3" "./tests/$1" 3>&1 </dev/null >"$work/test.log" 2>&1 | timeout "$3" grep -q -m1 '^not ok'
			status=("${PIPESTATUS[@]}")
			[ "${status[0]}" != 0 ] || [ "${status[1]}" = 0 ]
			;;
		esac
	)
}

exec 9>"$build/mutate.lock"
flock -n 9 || die "another run works in $copy"
