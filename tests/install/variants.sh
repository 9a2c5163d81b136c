#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Each option of configure that leaves something out: it builds without a warning, installs into a
# folder, and the unit tests pass. VARIANTS chooses: "--without-gnutls,--without-systemd --disable-web"
# are two builds. clang is one of them, where it is installed. An LMDB that is too old is refused.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
default="--without-check --without-systemd --disable-web --without-admin --without-gnutls --without-gnutls,--without-systemd,--disable-web,--with-systemdsystemunitdir=no"
unset MAKEFLAGS MAKELEVEL
here=$(cd "$here" && pwd)
! command -v clang >/dev/null || default="$default CC=clang"
read -ra variants <<<"${VARIANTS:-$default}"
for variant in "${variants[@]}"; do
	dir=$bin/variants/$variant
	IFS=, read -ra options <<<"$variant"
	mkdir -p "$dir"
	cd "$dir" || exit 1
	run() { # run WHAT COMMAND...
		local what=$1
		shift
		if "$@" >log 2>&1; then
			ok "$variant: $what"
		else
			fail "$variant: $what (see $dir/log)"
			grep -E 'error|^FAIL|:[FES]:|\*\*\*' log | head -n 20
			return 1
		fi
	}
	# shellcheck disable=SC2015 # any of them may fail
	run configure "$here/configure" --enable-werror ${CC:+CC="$CC"} "${options[@]}" &&
		run make make -s -j2 all &&
		run "make install" make -s install DESTDIR="$dir/dest" || continue
	if grep -q 'unit tests *yes' config.log || grep -q "^HAVE_CHECK_TRUE=''" config.log; then
		run "check programs" make -s -j2 check-programs && TEST_SHORT=1 run "unit tests" make -s -j2 check-unit
	fi
	rm -rf dest
done

mkdir -p "$work/lmdb" "$work/build"
printf '#define MDB_VERINT(a,b,c) (((a) << 24) | ((b) << 16) | (c))\n#define MDB_VERSION_FULL MDB_VERINT(0, 9, 23)\n' >"$work/lmdb/lmdb.h"
refuses "LMDB 0.9.23" env -C "$work/build" "$here/configure" CPPFLAGS="-I$work/lmdb"
has "LMDB 0.9.23: the reason" "$said" "LMDB is too old: install liblmdb-dev or lmdb-devel 0.9.24 or later"
finish
