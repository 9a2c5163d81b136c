#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The oldest libraries and tools that are supported: Debian 11 has those of RHEL 9 or older ones (gcc,
# autoconf 2.69, libmicrohttpd 0.9.72). The tarball of "make dist" is unpacked there, the build system
# made anew, everything compiled with warnings as errors, the unit tests run, the programs installed,
# and a gateway asked for a path. No step has a network. LOWEST_CC chooses another compiler of that
# system, for instance clang.
DEBIAN_SUITE=${LOWEST_SUITE:-bullseye}
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root systemd-nspawn
unset MAKEFLAGS MAKELEVEL
compiler=${LOWEST_CC:-gcc}
mapfile -t tarballs < <(find "$bin" -maxdepth 1 -name 'saguaro-*.tar.xz')
[ ${#tarballs[@]} = 1 ] || skip "no tarball: make dist"

libraries=(libcrypt-dev libcurl4-gnutls-dev libexpat1-dev libgnutls28-dev libibumad-dev libjansson-dev liblmdb-dev
	libmicrohttpd-dev libsystemd-dev libzstd-dev zlib1g-dev check)
new_root lowest "$compiler" autoconf automake make libc6-dev pkg-config curl perl procps "${libraries[@]}"
mkdir "$root/source"
tar -C "$root/source" --strip-components=1 -xf "${tarballs[0]}"

# step WHAT COMMAND: bash runs it in the sources of that system; what it says goes to roots/lowest.log.
step() {
	systemd-nspawn -q -D "$root" --register=no --keep-unit --pipe --as-pid2 --private-network \
		--setenv=OMP_WAIT_POLICY=passive --setenv=CC="$compiler" --setenv=TEST_SHORT="${TEST_SHORT-1}" --setenv=CK_TIMEOUT_MULTIPLIER=10 \
		bash -c "cd /source; $2" >"$roots/lowest.log" 2>&1 </dev/null && ok "$1" && return
	fail "$1 (see $roots/lowest.log)"
	grep -aE 'error|warning:|^FAIL|:[FES]:|\*\*\*' "$roots/lowest.log" | head -n 20
	finish
}
echo "Debian $(cat "$root/etc/debian_version")"
# shellcheck disable=SC2016 # for dpkg-query
chroot "$root" dpkg-query -W -f='${Package} ${Version}\n' "$compiler" autoconf automake "${libraries[@]}"

step "autoreconf" 'autoreconf -fi'
step "configure" './configure --enable-werror --prefix=/usr --sysconfdir=/etc --localstatedir=/var'
step "make" 'make -s -j2 all'
step "check programs" 'make -s -j2 check-programs'
step "unit tests" 'make -s check-unit'
grep -aE '^(PASS|SKIP|FAIL|ERROR)' "$roots/lowest.log" | cut -d: -f1 | sort | uniq -c
step "make install" 'make -s install'
# shellcheck disable=SC2016 # for the shell in the system
step "a question to the gateway" 'set -e
saguaro topo ft2 8 6 4 -o /tmp/my.topo
saguarod --fabric sim:/tmp/my.topo --state-dir /tmp/state --snapshot-dir /tmp/run &
daemon=$!
saguaro-gateway --listen 127.0.0.1:0 --port-file /tmp/port --snapshot-dir /tmp/run &
gateway=$!
until test -s /tmp/port && curl -s -f "http://127.0.0.1:$(cat /tmp/port)/readyz"; do kill -0 $daemon $gateway; sleep 0.1; done
host() { saguaro nodes --snapshot-dir /tmp/run --type ca --field description | sed -n "$1"; }
curl -s -f "http://127.0.0.1:$(cat /tmp/port)/paths?src=$(host 1p)&dst=$(host \$p)" | grep "\"dlid\""
kill $daemon $gateway
wait $daemon $gateway'
rm -rf "$root"
finish
