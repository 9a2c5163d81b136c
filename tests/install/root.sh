# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Debian systems in folders, for tests of the installation; source it after e2e/lib.sh. The first
# one of a kind comes from Debian's mirror, the next ones are copies of it. Everything stays in
# the build folder, below roots/.
# shellcheck shell=bash disable=SC2154 # shares variables with lib.sh

roots=$bin/roots
suite=${DEBIAN_SUITE:-bookworm}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	local p
	for p in "$@"; do
		command -v "$p" >/dev/null || skip "$p is not installed"
	done
}

# base_root: a minimal system, made once; its folder in $base.
base_root() {
	local arch
	arch=$(dpkg --print-architecture)
	need_root debootstrap systemd-nspawn
	base=$roots/$suite-$arch
	[ -e "$base.ready" ] && return
	mkdir -p "$roots"
	rm -rf "$base"
	debootstrap --arch="$arch" --variant=minbase "$suite" "$base" "$mirror" >"$roots/debootstrap.log" 2>&1 ||
		skip "debootstrap does not get Debian $suite from $mirror (see $roots/debootstrap.log)"
	touch "$base.ready"
}

# new_root NAME [PACKAGES...]: a copy of the base with these packages; its folder in $root.
new_root() {
	base_root
	root=$roots/$1
	shift
	rm -rf "$root"
	cp -a "$base" "$root"
	[ $# = 0 ] || install_in_root "$@" || skip "these packages are not to be had: $*"
}

# install_in_root PACKAGES|./FILES...: with what they need, from the mirror.
install_in_root() {
	systemd-nspawn -q -D "$root" --register=no --keep-unit --pipe --resolv-conf=copy-host sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"' sh "$@" >"$work/apt.log" 2>&1
}
