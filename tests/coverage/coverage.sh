#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What do the unit programs and the seeds of the simulator not run? `make coverage FOLDER=sa/sm` compiles the tree
# with gcov's counters, runs the programs of the room and some seeds of each kind, and prints a table of the folders below
# FOLDER: lines that ran, branches taken, and places that refuse something (an error or a reason is returned, a
# message is logged) and that nothing ran. Below it stand the functions that nothing called and these places.
# What only happens when memory runs out is counted apart, as tests with failing allocations go through it.
#
#   make coverage FOLDER=sa/standby                     another folder
#   make coverage FOLDER=sa/standby BY=test_sa_standby  and only by these programs; simulate is one of them
#   make coverage FOLDER=sa/sm SIMULATE_SEEDS=60        more seeds of each kind (12)
#   make coverage FOLDER=sa/sm BRANCHES=1               branches of lines that ran are listed, too
#   make coverage FOLDER=sa/sm AGAIN=1                  what ran before counts, too, as long as its file is the same
#
# It is no part of make check. The counters are in $top_builddir/coverage. It builds on one core; JOBS=4 gives it more.
set -u
top=$(cd "${srcdir:-.}" && pwd)
build=${top_builddir:?set by make coverage}
folder=${FOLDER:-sa/sm} jobs=${JOBS:-1}
folder=${folder%/}
room=${folder%%/*}
copy=$build/coverage

die() { printf 'coverage: %s\n' "$*" >&2; exit 1; }

[ -d "$top/$folder" ] || die "there is no folder $folder"
by=${BY:-$(find "$top/tests/$room" -name Makefile.inc -exec sed -n 's/^check_PROGRAMS += tests\///p' {} + | sort)}
[ -n "${BY:-}" ] || [ "$room" != sa ] || by="$by simulate"
mkdir -p "$copy"
cd "$copy" || die "cannot make $copy"
[ -f Makefile ] || "$top/configure" CFLAGS='-O0 -g --coverage' >configure.log 2>&1 || die "see $copy/configure.log"
# shellcheck disable=SC2046,SC2086 # words
make -s -j"$jobs" $(printf 'tests/%s ' $by) >make.log 2>&1 || die "the tree does not build: see $copy/make.log"
[ -n "${AGAIN:-}" ] || find . -name '*.gcda' -delete
tests=
for program in $by; do
	case $program in
	simulate) tests="$tests tests/sim/simulate.sh" ;;
	*) tests="$tests tests/$program" ;;
	esac
done
SIMULATE_SEEDS=${SIMULATE_SEEDS:-12} make -s -j"$jobs" check-TESTS TESTS="$tests" >check.log 2>&1 ||
	printf 'coverage: some of these tests fail: see %s\n' "$copy/check.log" >&2
find "$folder" -name '*.gcno' | sort | xargs gcov -b -c -t 2>gcov.log |
	awk -v FOLDER="$folder" -v TOP="$top" -v BRANCHES="${BRANCHES:-}" -f "$top/tests/coverage/coverage.awk"
