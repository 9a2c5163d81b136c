# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What mutate.sh and list.sh share: a copy of the last commit in $top_builddir/mutate, where faults are
# planted, and running a test there. Sourced.
set -u
top=$(cd "${srcdir:-.}" && pwd)
build=${top_builddir:?set by make mutate}
copy=$build/mutate
jobs=$(nproc 2>/dev/null || echo 2)

die() { printf 'mutate: %s\n' "$*" >&2; exit 1; }

# refresh: brings the copy to the last commit. Only files that differ are written, so that make sees
# which ones: also one with a fault that a run left behind when it was killed.
refresh() {
	local file
	rm -rf "$copy.new" && mkdir -p "$copy/build" "$copy.new" || return 1
	git -C "$top" archive HEAD | tar -x -C "$copy.new" || return 1
	while IFS= read -r file; do
		cmp -s "$copy.new/$file" "$copy/$file" && continue
		mkdir -p "$copy/$(dirname "$file")" && cp -P --remove-destination "$copy.new/$file" "$copy/$file" || return 1
	done < <(git -C "$top" ls-tree -r --name-only HEAD)
	rm -rf "$copy.new"
}

# prepare: a copy of the last commit, configured and built.
prepare() {
	refresh || die "cannot copy $top: it has to be a git tree"
	[ -x "$copy/configure" ] || (cd "$copy" && autoreconf -fi) >"$copy/build/bootstrap.log" 2>&1 || die "autoreconf failed"
	[ -f "$copy/build/Makefile" ] || (cd "$copy/build" && ../configure CFLAGS='-O1 -g') >"$copy/build/configure.log" 2>&1 ||
		die "configure failed: see $copy/build/configure.log"
	make_it all && make_it check-programs || die "the tree does not build: see $copy/build/make.log"
}

make_it() { make -C "$copy/build" -s -j"$jobs" "$1" >"$copy/build/make.log" 2>&1; }

# notices TEST [SUITE] [SECONDS]: the test fails, or does not end in time (900).
notices() {
	(
		cd "$copy/build" || exit 1
		export srcdir=.. top_builddir=$PWD OMP_WAIT_POLICY=passive CK_DEFAULT_TIMEOUT=120 CK_TIMEOUT_MULTIPLIER=5
		case $1 in
		*.sh) timeout 900 bash "../tests/$1" ;;
		*) timeout "${3:-900}" env TEST_SHORT=1 ${2:+"CK_RUN_SUITE=$2"} "./tests/$1" ;;
		esac
	) >"$copy/build/test.log" 2>&1
	local status=$?
	[ "$status" != 77 ] || die "$1 was skipped: what it needs is not installed"
	! grep -qF 'Checks: 0,' "$copy/build/test.log" || die "$1 has no suite ${2:-at all}"
	[ "$status" != 0 ]
}
