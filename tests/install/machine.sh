#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Unit tests as programs of another machine, with Debian's libraries for it. MACHINE is
#   i386   words of 32 bits; compiled and run in a Debian of that machine, which this kernel runs
#   s390x  big-endian; compiled by s390x-linux-gnu-gcc and run by qemu-s390x-static
# TESTS='test_db ...' chooses programs. Sources are those of the tarball of "make dist".
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh"
machine=${MACHINE:-i386}
libraries=libc6-dev,libibumad-dev,liblmdb-dev,libmicrohttpd-dev,libjansson-dev,libcurl4-gnutls-dev,libexpat1-dev,libcrypt-dev,libgnutls28-dev,check,libsystemd-dev
unset MAKEFLAGS MAKELEVEL
export CK_DEFAULT_TIMEOUT=600 CK_TIMEOUT_MULTIPLIER=10 OMP_WAIT_POLICY=passive TEST_SHORT=1

case $machine in
i386)
	base_root i386 "$libraries,gcc,make,pkg-config"
	at=/build
	within() { setarch i686 chroot "$base" env -C "$at" "$@"; }
	execute() { within env srcdir=/source top_builddir="$at" "$@"; }
	configure=(/source/configure --build=i686-linux-gnu)
	;;
s390x)
	need_root debootstrap s390x-linux-gnu-gcc qemu-s390x-static
	base=$roots/$suite-s390x
	if [ ! -e "$base.ready" ]; then
		rm -rf "$base" && mkdir -p "$roots"
		debootstrap --foreign --arch=s390x --variant=minbase --include="$libraries" "$suite" "$base" "$mirror" >"$roots/debootstrap.log" 2>&1 ||
			skip "debootstrap does not get Debian $suite for s390x from $mirror"
		for deb in "$base"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$deb" "$base" 2>/dev/null; done
		# Links that start at / would lead out of it, and devices are those of this machine.
		# shellcheck disable=SC2016 # for the inner shell
		find "$base/usr" "$base/lib" -type l -lname '/*' -exec sh -c 'for l; do ln -sfr "$0$(readlink "$l")" "$l"; done' "$base" {} +
		rm -rf "${base:?}/dev"
		touch "$base.ready"
	fi
	at=$base/build
	export QEMU_LD_PREFIX=$base PKG_CONFIG_SYSROOT_DIR=$base PKG_CONFIG_LIBDIR=$base/usr/lib/s390x-linux-gnu/pkgconfig
	within() { env -C "$at" "$@"; }
	execute() { within env srcdir="$base/source" top_builddir="$at" qemu-s390x-static "$@"; }
	configure=("$base/source/configure" --host=s390x-linux-gnu "CC=s390x-linux-gnu-gcc --sysroot=$base")
	;;
*) skip "MACHINE is i386 or s390x" ;;
esac

tarball=$(echo "$bin"/saguaro-*.tar.xz)
[ -e "$tarball" ] || skip "no tarball: make dist"
mkdir -p "$base/source" "$base/build"
tar -C "$base/source" --strip-components=1 --keep-newer-files -xf "$tarball" 2>/dev/null
log=$roots/$machine.log
build() { [ -e "$base/build/Makefile" ] || within "${configure[@]}" CFLAGS='-O2 -g1' && within make -s -j2 check-programs; }
build >"$log" 2>&1 || { fail "$machine: it builds (see $log)"; grep -E 'error|\*\*\*' "$log" | head; finish; }
ok "$machine: it builds"
same "without a warning" "" "$(grep -E 'warning:' "$log" | head)"
# shellcheck disable=SC2016 # for make
read -ra programs <<<"${TESTS:-$(within make -s --eval='names:;@echo $(notdir $(check_PROGRAMS))' names)}"
for p in "${programs[@]}"; do
	execute "$at/tests/$p" >"$roots/$machine.$p.log" 2>&1 && ok "$machine: $p" && continue
	fail "$machine: $p (see $roots/$machine.$p.log)"
	grep -aE ':[FES]:' "$roots/$machine.$p.log" | head
done
finish
