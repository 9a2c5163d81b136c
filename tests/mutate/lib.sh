# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What mutate.sh and list.sh share: a copy of the last commit in $top_builddir/mutate, where faults are
# planted; which suite enters which function; compiling one object, linking one unit program with it,
# and running one of its suites until the first case that fails. Sourced.
set -u
top=$(cd "${srcdir:-.}" && pwd)
build=${top_builddir:?set by make mutate}
copy=$build/mutate
work=$copy/build
map=$build/mutate.map # one file per program: file, line, program, suite, seconds
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
	refresh || die "cannot copy $top: it has to be a git tree"
	[ -x "$copy/configure" ] || (cd "$copy" && autoreconf -fi) >"$work/bootstrap.log" 2>&1 || die "autoreconf failed"
	[ "$work/entered.o" -nt "$copy/tests/mutate/entered.c" ] ||
		${CC:-gcc} -O1 -fPIC -c -o "$work/entered.o" "$copy/tests/mutate/entered.c" || die "entered.c does not compile"
	[ -f "$work/Makefile" ] || (cd "$work" && ../configure CFLAGS='-O1 -g1 -finstrument-functions' LIBS="$work/entered.o") \
		>"$work/configure.log" 2>&1 || die "configure failed: see $work/configure.log"
	mapfile -t programs < <(sed -n 's/^check_PROGRAMS += tests\/\(test_[a-z0-9_]*\)$/\1/p' $(git -C "$top" ls-files "$top/tests/*Makefile.inc" | sed "s|^|$top/|") | sort)
	make_it "${programs[@]/#/tests/}" || die "the tree does not build: see $work/make.log"
	make_map
}

# suites PROGRAM
suites() { nm "$work/tests/$1" | sed -n 's/.* t register_suite_//p' | sort -u; }

# make_map: runs each suite of the programs that changed, and keeps the functions that it enters, and its time.
make_map() {
	local program suite sum start
	mkdir -p "$map"
	for program in "${programs[@]}"; do
		sum=$(cksum <"$work/tests/$program")
		[ "$(cat "$map/$program.sum" 2>/dev/null)" = "$sum" ] && continue
		note "runs $program, to see what it enters"
		: >"$map/$program.new"
		for suite in $(suites "$program"); do
			rm -f "$work/entered"
			start=$EPOCHREALTIME
			if MUTATE_ENTERED=$work/entered notices "$work/tests/$program" "$suite" 600; then
				note "$program $suite fails without a fault, and is left out: $work/test.log"
				continue
			fi
			sort -u "$work/entered" | addr2line -e "$work/tests/$program" |
				awk -F: -v p="$program" -v s="$suite" -v t="$(since "$start")" '
					{ sub(/ \(discriminator.*/, ""); sub(/.*\/build\/\.\.\//, "", $1) }
					$1 ~ /^(conf|routing|db|sa|gateway)\/.*\.c$/ && !seen[$1, $2]++ { print $1, $2, p, s, t }' >>"$map/$program.new"
		done
		mv "$map/$program.new" "$map/$program" && printf '%s\n' "$sum" >"$map/$program.sum"
	done
}

since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", b - a }'; }

# who_enters FILE LINE: program, suite and seconds of each suite that enters the function around that line; those
# of the file's name first, then those of its folder and of its room, and the quickest of each first.
who_enters() {
	local from to base=${1##*/} dir=${1%/*}
	read -r from to < <(awk -v n="$2" '
		NR <= n && /^}/ && NR < n { from = NR }
		NR <= n && /^{/ { to = NR }
		END { print from + 0, to + 0 }' "$copy/$1")
	cat "$map"/test_* 2>/dev/null | awk -v file="$1" -v from="$from" -v to="$to" -v base="${base%.c}" \
		-v dir="test_${dir//\//_}" -v room="test_${dir%%/*}" -v only=" ${BY:-} " '
		$1 == file && $2 > from && $2 <= to && (only !~ /[^ ]/ || index(only, " " $3 " ")) {
			rank = index(dir, $3) == 1 ? 2 : index($3, room) == 1 ? 3 : 4
			if (rank == 2 && (index($4, base) || index(base, $4))) rank = 1
			print rank, $5, $3, $4
		}' | sort -k1,1n -k2,2n | awk '{ print $3, $4, $2 }'
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

# link_faulty PROGRAM OBJECT: $work/tests/PROGRAM.faulty. The faulty object stands before the libraries, so the
# linker takes no other from them.
link_faulty() {
	local line=$work/tests/$1.link command
	[ "$line" -nt "$work/Makefile" ] || make -C "$work" -n V=1 -W libconf.a -W libtests.a "tests/$1" 2>/dev/null |
		sed -n "s|^\(echo.*;\)\?\(.* -o tests/$1 .*\)|\2|p" | tail -n 1 >"$line"
	command=$(<"$line")
	[ -n "$command" ] || die "how is $1 linked?"
	command=${command/ -o tests\/$1 / -o tests\/$1.faulty }
	case $command in
	*" $2 "*) command=${command/ $2 / $faulty } ;;
	*) command=${command/.faulty /.faulty $faulty } ;;
	esac
	(cd "$work" && eval "$command") >"$work/link.log" 2>&1
}

# notices PROGRAM SUITE SECONDS: a case of the suite fails, or the suite does not end in time. Ends at the first.
notices() {
	local status
	(
		cd "$work" || exit 1
		export srcdir=.. top_builddir=$PWD OMP_WAIT_POLICY=passive TEST_SHORT=1 CK_RUN_SUITE=$2
		export CK_DEFAULT_TIMEOUT=$3 CK_TAP_LOG_FILE_NAME=/dev/fd/3
		[ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm
		timeout -k 5 "$3" "$1" 3>&1 </dev/null >"$work/test.log" 2>&1 | timeout "$3" grep -q -m1 '^not ok'
		status=("${PIPESTATUS[@]}")
		[ "${status[0]}" != 0 ] || [ "${status[1]}" = 0 ]
	)
}
