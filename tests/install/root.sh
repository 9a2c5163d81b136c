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

# add_fabric NAME UNIT [PRELOAD]: simulated fabric /etc/NAME.topo as a service of its own, and UNIT (saguarod or
# saguarod@) uses it instead of umad devices. The unit stays as it is otherwise. $sim is the deb package
# with the simulator, if it is not told which library to preload.
add_fabric() {
	local preload=${3-$(dpkg-deb -c "${sim-}" | sed -n 's/.* \.\(.*libsaguaro-umad-sim.so\)$/\1/p')}
	cat >"$root/etc/systemd/system/$1.service" <<-U
		[Service]
		User=saguaro
		RuntimeDirectory=$1
		Environment=SAGUARO_SIM_SOCKET=/run/$1/socket
		ExecStart=/usr/bin/saguaro-sim /etc/$1.topo
		ExecStartPost=/bin/sh -c 'until test -S /run/$1/socket; do sleep 0.05; done'
	U
	mkdir -p "$root/etc/systemd/system/$2.service.d"
	cat >"$root/etc/systemd/system/$2.service.d/fabric.conf" <<-U
		[Unit]
		Requires=$1.service
		After=$1.service
		[Service]
		Environment=SAGUARO_SIM_SOCKET=/run/$1/socket
		Environment=LD_PRELOAD=$preload
	U
}

# boot_root: boots the system in $root, with a network of its own, so that ports of this machine do not
# matter. The process of systemd-nspawn is $machine, "inside" runs a command in it.
boot_root() {
	systemd-nspawn -q -b -D "$root" --register=no --keep-unit --private-network >"$work/console.log" 2>&1 </dev/null &
	machine=$!
	pids+=("$machine")
	until_true has_booted || fail "Debian boots"
	inside systemctl --version | head -n 1
	inside ip link set lo up 2>/dev/null || true
}
inside() { nsenter -t "$init" -m -u -i -n -p -C -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
# Of a unit in it.
pid_of() { inside systemctl show -p MainPID --value "$1"; }
state_of() { inside systemctl show -p ActiveState --value "$1"; }
# shellcheck disable=SC2317 # called by until_true
has_booted() {
	kill -0 "$machine" 2>/dev/null || { cat "$work/console.log"; skip "systemd does not boot in systemd-nspawn here"; }
	init=$(pgrep -P "$machine" -x systemd | head -n 1)
	[ -n "$init" ] && inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'
}
