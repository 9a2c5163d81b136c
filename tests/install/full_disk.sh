#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A full disk interrupts an upgrade by dpkg and one by rpm: programs, configuration and state are as they
# were before, and with room again the same command succeeds. A first installation whose configuring
# had no room ends with the users and rights that it should have.
[ -n "${MOUNTS_OF_ITS_OWN-}" ] || MOUNTS_OF_ITS_OWN=1 exec unshare --mount bash "$0"
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root systemd-nspawn dpkg-deb rpm
debs=("$bin"/deb/saguaro_*.deb "$bin"/deb/saguaro-tools_*.deb)
mapfile -t rpms < <(find "$bin/rpm/RPMS" -name 'saguaro-[0-9t]*.rpm' 2>/dev/null)
[ -e "${debs[0]}" ] || skip "no packages: make deb"
[ ${#rpms[@]} = 2 ] || skip "no packages: make rpm"

# Each system is in memory, so that its disk is small and its own.
disk=$roots/full_disk
mkdir -p "$disk"
mount -t tmpfs -o size=1g none "$disk"
fill() { head -c $(($(df -B1 --output=avail "$disk" | tail -n 1) - $1)) /dev/zero >"$disk/fill"; }
# sums FOLDERS...: of all files of ours below them.
sums() { (cd "$root" && find "$@" -path '*saguaro*' -type f -exec sha256sum {} + | sort -k 2); }
all_of_it() { sums usr/sbin usr/bin etc/saguaro var/lib/saguaro; }
# leave_traces: what an administrator and the daemon leave there.
leave_traces() {
	echo 'sm_priority 9' >>"$root/etc/saguaro/main/saguaro.conf"
	mkdir -p "$root/var/lib/saguaro/main"
	head -c 100000 /dev/urandom >"$root/var/lib/saguaro/main/data.mdb"
	traces=$(sums etc/saguaro/main/saguaro.conf var/lib/saguaro)
	before=$(all_of_it)
}
# is_kept WHAT: nothing has changed, and the programs run.
is_kept() {
	same "$1: programs, configuration and state are those of before" "$before" "$(all_of_it)"
	has "$1: the programs run" "$(chroot "$root" saguarod --version)" "saguaro"
	same "$1: nothing half written lies about" "" "$(cd "$root" && find usr/sbin usr/bin etc/saguaro -name '*.dpkg-*' -o -name '*;*')"
}

# --- dpkg -----------------------------------------------------------------------------------

new_root full_disk/deb systemd
mkdir "$root/packages"
cp "${debs[@]}" "$root/packages/"
# A newer version: other bytes at the end of the programs, where nothing reads them.
for deb in "${debs[@]}"; do
	dpkg-deb -R "$deb" "$work/deb"
	sed -i -E 's/0\.1\.0-1/0.1.0-2/g' "$work/deb/DEBIAN/control"
	for program in "$work"/deb/usr/*bin/*; do echo newer >>"$program"; done
	dpkg-deb -b "$work/deb" "$root/packages/new-${deb##*/}" >/dev/null
	rm -rf "$work/deb"
done
in_deb() { chroot "$root" sh -c "PATH=/usr/sbin:/usr/bin:/sbin:/bin; $1" </dev/null; }
holds "apt-get install of what the packages need" install_in_root "${debs[@]/#*\//./packages/}"
mount -t proc proc "$root/proc" # for scriptlets
holds "dpkg --purge" in_deb 'dpkg --purge saguaro saguaro-tools'
sed -i /saguaro/d "$root"/etc/{passwd,shadow,group,gshadow} # a purge leaves the users

holds "a first installation is unpacked" in_deb 'dpkg --unpack /packages/saguaro*.deb'
fill 0
refuses "and cannot be configured on a full disk" in_deb 'dpkg --configure -a'
rm "$disk/fill"
holds "with room it is configured" in_deb 'dpkg --configure -a'
same "its configuration belongs to whom it should" "root:saguaro 640" "$(in_deb 'stat -c "%U:%G %a" /etc/saguaro/main/saguaro.conf')"
leave_traces
fill 1000000
refuses "dpkg on a full disk" in_deb 'dpkg -i /packages/new-*.deb'
has "dpkg on a full disk: it says why" "$said" "No space left on device"
is_kept "dpkg on a full disk"
rm "$disk/fill"
holds "dpkg with room again" in_deb 'dpkg -i /packages/new-*.deb'
same "the programs are new" "newer" "$(tail -c 6 "$root/usr/sbin/saguarod")"
same "configuration and state are those of before" "$traces" "$(sums etc/saguaro/main/saguaro.conf var/lib/saguaro)"
umount "$root/proc"
rm -rf "$root"

# --- rpm ------------------------------------------------------------------------------------

new_root full_disk/rpm systemd libgomp1 libibumad3 liblmdb0 libmicrohttpd12 libjansson4 libcurl3-gnutls libexpat1 libgnutls30 libzstd1
# The scratch root has no RPM of libraries, and scriptlets see a /proc.
# shellcheck disable=SC2016,SC2317 # for the inner shell; called by holds
in_rpm() { unshare -m sh -c 'mount -t proc proc "$0/proc" && exec rpm --root "$0" --dbpath /var/lib/rpm --nodeps "$@"' "$root" "$@"; }
holds "rpm -i" in_rpm -i "${rpms[@]}"
leave_traces
fill 1000000
refuses "rpm on a full disk" in_rpm -U --force "${rpms[@]}"
has "rpm on a full disk: it says why" "$said" "needs"
is_kept "rpm on a full disk"
rm "$disk/fill"
holds "rpm with room again" in_rpm -U --force "${rpms[@]}"
same "the state is that of before" "$traces" "$(sums etc/saguaro/main/saguaro.conf var/lib/saguaro)"
has "the programs run" "$(chroot "$root" saguarod --version)" "saguaro"
finish
