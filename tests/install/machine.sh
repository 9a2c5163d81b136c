#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Unit tests as programs of another machine, with Debian's libraries for it. MACHINE is
#   i386   words of 32 bits
#   s390x  big-endian
# They are compiled by Debian's cross compiler (gcc-i686-linux-gnu, gcc-s390x-linux-gnu) and run by
# qemu-user-static, because not every kernel runs programs of 32 bits. As many run at a time as there
# are processors; with two a whole run takes about 20 to 40 minutes. PROGRAMS='test_db fuzz/fuzz_mad ...'
# chooses programs. Sources are those of the tarball of "make dist".
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
machine=${MACHINE:-i386}
libraries=libc6-dev,libgomp1,libibumad-dev,liblmdb-dev,libmicrohttpd-dev,zlib1g-dev,libzstd-dev,libjansson-dev,libcurl4-gnutls-dev,libexpat1-dev,libcrypt-dev,libgnutls28-dev,check,libsystemd-dev
unset MAKEFLAGS MAKELEVEL
export CK_DEFAULT_TIMEOUT=120 CK_TIMEOUT_MULTIPLIER=10 OMP_WAIT_POLICY=passive TEST_SHORT=1
limit=3600 # seconds of a program; a guard, as $patience is

case $machine in
i386)
	# A case in a process of its own costs three times as much, as the emulator translates it
	# anew. With 64-bit words it keeps tables of each large map of a database until its process
	# ends, which took 24 GiB of memory.
	export TEST_ONE_PROCESS=1
	triplet=i686-linux-gnu multiarch=i386-linux-gnu emulator=qemu-i386-static
	magic='\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x03\x00'
	mask='\xff\xff\xff\xff\xff\xff\xff\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
	;;
s390x)
	triplet=s390x-linux-gnu multiarch=s390x-linux-gnu emulator=qemu-s390x-static
	magic='\x7fELF\x02\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x16'
	mask='\xff\xff\xff\xff\xff\xff\xff\xfc\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff'
	;;
*) skip "MACHINE is i386 or s390x" ;;
esac

need_root debootstrap "$triplet-gcc" "$emulator"
base=$roots/$suite-$machine
if [ ! -e "$base.ready" ]; then
	rm -rf "$base" && mkdir -p "$roots"
	debootstrap --foreign --arch="$machine" --variant=minbase --include="$libraries" "$suite" "$base" "$mirror" >"$roots/debootstrap.log" 2>&1 ||
		skip "debootstrap does not get Debian $suite for $machine from $mirror"
	for deb in "$base"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$deb" "$base" 2>/dev/null; done
	# Links that start at / would lead out of it, and devices are those of this machine.
	# shellcheck disable=SC2016 # for the inner shell
	find "$base/usr" "$base/lib" -type l -lname '/*' -exec sh -c 'for l; do ln -sfr "$0$(readlink "$l")" "$l"; done' "$base" {} +
	rm -rf "${base:?}/dev"
	touch "$base.ready"
fi
at=$base/build
mkdir -p "$base/source" "$at"
export PKG_CONFIG_SYSROOT_DIR=$base
export PKG_CONFIG_LIBDIR=$base/usr/lib/$multiarch/pkgconfig:$base/usr/share/pkgconfig
within() { env -C "$at" "$@"; }
# Programs that tests start are of that machine, too: a user namespace has formats of its own.
format=:$emulator:M::$magic:$mask:$(command -v "$emulator"):PF
unshare --user --mount sleep infinity &
space=$!
pids+=("$space")
inside() { nsenter --user --mount --target "$space" --setuid 0 --setgid 0 "$@"; }
# shellcheck disable=SC2317 # called by until_true
is_apart() { [ "$(readlink /proc/self/ns/user)" != "$(readlink "/proc/$space/ns/user")" ]; }
until_true is_apart
echo '0 0 65536' | tee "/proc/$space/uid_map" >"/proc/$space/gid_map"
# They run in the system that has their libraries, whatever environment a test gives its children.
# Tests that mount something ask for a root that is a mount itself.
# shellcheck disable=SC2016 # for the inner shell
inside sh -c 'mount -t binfmt_misc none "$0" && printf %s "$1" >"$0/register" && mkdir -p "$2/dev" "$2/proc" "$2/tmp" &&
	mount --bind "$2" "$2" && mount --rbind /dev "$2/dev" && mount --rbind /proc "$2/proc" && mount -t tmpfs none "$2/tmp"' /proc/sys/fs/binfmt_misc "$format" "$base" ||
	skip "this kernel has no binfmt_misc in user namespaces"
# shellcheck disable=SC2317 # called by run_program
execute() { inside timeout --foreground --kill-after=60 "$limit" chroot "$base" env -C /build TMPDIR=/tmp srcdir=/source top_builddir=/build "$@"; }
configure=("$base/source/configure" --host="$triplet" "CC=$triplet-gcc --sysroot=$base")

tarball=$(echo "$bin"/saguaro-*.tar.xz)
[ -e "$tarball" ] || skip "no tarball: make dist"
# Only files that are others than the last time get a new time, so that make compiles no more.
rm -rf "$base/new" && mkdir "$base/new" && tar -C "$base/new" --strip-components=1 -xmf "$tarball"
(
	cd "$base/new" || exit 1
	find . -type f -print0 | while IFS= read -rd '' f; do
		cmp -s "$f" "$base/source/$f" || { mkdir -p "$base/source/${f%/*}" && cp "$f" "$base/source/$f"; }
	done
)
log=$roots/$machine.log
build() { [ -e "$base/build/Makefile" ] || within "${configure[@]}" CFLAGS='-O2 -g1' && within make -s -j2 check-programs; }
build >"$log" 2>&1 || { fail "$machine: it builds (see $log)"; grep -E 'error|\*\*\*' "$log" | head; finish; }
ok "$machine: it builds"
same "without a warning" "" "$(grep -E 'warning:' "$log" | head)"
# shellcheck disable=SC2016 # for make
read -ra programs <<<"${PROGRAMS:-$(within make -s --eval='names:;@echo $(patsubst tests/%,%,$(check_PROGRAMS))' names)}"

# run_program NAME: one line of how it ended, and of what failed. Fuzz targets have no cases.
# shellcheck disable=SC2317 # called by xargs
run_program() {
	local out=$roots/$machine.${1##*/}.log status cases
	SECONDS=0
	execute "/build/tests/$1" >"$out" 2>&1
	status=$?
	cases=$(awk '/^[0-9]+%: Checks: / { n += $3 } END { if (n) printf ", %d cases", n }' "$out")
	if [ "$status" = 0 ]; then
		echo "ok: $machine: $1$cases, $SECONDS s"
	else
		echo "FAILED: $machine: $1$cases, $SECONDS s, status $status (see $out)"
		grep -aE ':[FES]:' "$out" | head
	fi
	grep -a '^skipped: ' "$out" | sort -u | sed "s|^|$machine: ${1##*/}: |"
}
export -f inside execute run_program
export base space machine roots limit
# shellcheck disable=SC2016 # for the inner shell
printf '%s\n' "${programs[@]}" | xargs -P "$(nproc)" -I{} bash -c 'run_program "$1"' bash {} | tee "$work/results"
failures=$((failures + $(grep -c '^FAILED: ' "$work/results")))
awk -v machine="$machine" -v n="${#programs[@]}" '
	/^ok: / { ok++; if (match($0, /[0-9]+ cases/)) cases += substr($0, RSTART) }
	END { printf "%s: %d of %d programs passed, %d cases in them\n", machine, ok, n, cases }' "$work/results"
# A program of which there is no line did not run.
same "$machine: all programs ran" "${#programs[@]}" "$(grep -cE '^(ok|FAILED): ' "$work/results")"
finish
