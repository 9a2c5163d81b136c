#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# RPM packages in a scratch root (rpm --root): what is in them, what their scriptlets do, that an
# upgrade and a removal keep state and configuration; what rpmlint and lintian say; and that OpenSM can
# be installed beside them.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root rpm rpmlint lintian
mapfile -t rpms < <(find "$bin/rpm/RPMS" -name '*.rpm' 2>/dev/null | sort)
[ ${#rpms[@]} -gt 0 ] || skip "no packages: make rpm"

# Fedora's man pages are compressed by gzip.
echo 'CompressExtension = "gz"' >"$work/rpmlint.toml"
findings() { grep -E '(: |^)[EW]: ' || true; }
same "rpmlint finds no error and warns of nothing" "" "$(rpmlint -c "$work/rpmlint.toml" -r "$here/dist/saguaro.rpmlintrc" "${rpms[@]}" "$bin"/rpm/SRPMS/*.rpm 2>&1 | findings)"
# The packages are not for Debian's archive, where a first upload closes a request for it.
same "lintian finds no error and warns of nothing" "" "$(lintian --allow-root --suppress-tags initial-upload-closes-no-bugs "$bin"/deb/*.changes 2>&1 | findings)"

# Beside OpenSM: no file is in both, no package excludes another; only the units do.
debs=("$bin"/deb/*.deb)
files_of_debs() { for d; do dpkg-deb --fsys-tarfile "$d" | tar -t | grep -v '/$' | sed 's/^\.//'; done | sort -u; }
files_of_rpms() { rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$@" | sed -n 's/^[^d][^ ]* //p' | sort -u; }
if (cd "$work" && apt-get download -qq opensm "$(apt-cache depends opensm | sed -n 's/.*Depends: \(libopensm.*\)/\1/p')") >"$work/apt.log" 2>&1; then
	files_of_debs "$work"/*opensm*.deb >"$work/opensm.files"
	has "OpenSM has files" "$(cat "$work/opensm.files")" /usr/sbin/opensm
	same "no file of OpenSM's packages is in the deb packages" "" "$(comm -12 "$work/opensm.files" <(files_of_debs "${debs[@]}"))"
	same "nor in the RPM packages" "" "$(comm -12 "$work/opensm.files" <(files_of_rpms "${rpms[@]}"))"
else
	echo "OpenSM's packages are not to be had: their files are not compared"
fi
same "no deb package excludes another" "" "$(for d in "${debs[@]}"; do dpkg-deb -f "$d" Conflicts Breaks Replaces; done)"
same "nor does an RPM package" "" "$(rpm -qp --conflicts --obsoletes "${rpms[@]}")"

new_root rpm systemd systemd-sysv
# The scratch root has no RPM of libraries, and scriptlets see a /proc.
# shellcheck disable=SC2016 # for the inner shell
in_root() { unshare -m sh -c 'mount -t proc proc "$0/proc" && exec rpm --root "$0" --dbpath /var/lib/rpm "$@"' "$root" "$@"; }
# shellcheck disable=SC2317 # called by holds
put() { in_root --nodeps "$@" >"$work/rpm.log" 2>&1; }
mode() { chroot "$root" stat -c '%A %U:%G %n' "$@"; }
# There is no udev in it; this one keeps what it is told.
printf '#!/bin/sh\necho "$@" >>/udevadm.told\n' >"$root/usr/bin/udevadm"
chmod +x "$root/usr/bin/udevadm"
holds "rpm -i" put -i "${rpms[@]}"
same "umad devices that are there get their group" "control --reload
trigger --subsystem-match=infiniband_mad --action=change" "$(cat "$root/udevadm.told")"
same "and no scriptlet complains" "" "$(grep -v -e '^rpm: ' -e '^Creating ' "$work/rpm.log")"
in_root -qa | sort
same "all of it is there as it was packed" "" "$(in_root -Va --nodeps --nogroup --nouser 2>&1 | grep -v ' /usr/share/\(doc\|man\)')"
for p in saguaro saguaro-tools saguaro-sim saguaro-web; do
	in_root -q "$p" >/dev/null || continue
	printf -- '--- %s\n' "$p"
	in_root -ql "$p" | grep -v -e /usr/share/man -e /usr/share/doc -e /usr/share/licenses
	in_root -q --scripts "$p"
done
same "folders and files belong to whom they should" \
	"drwxr-x--- root:saguaro /etc/saguaro
drwxr-x--- root:saguaro /etc/saguaro/main
-rw-r----- root:saguaro /etc/saguaro/main/saguaro.conf
drwxr-x--- root:saguaro-admin /etc/saguaro-admin
drwxr-x--- saguaro:saguaro /var/lib/saguaro
drwxr-x--- saguaro:saguaro /var/log/saguaro" \
	"$(mode /etc/saguaro /etc/saguaro/main /etc/saguaro/main/saguaro.conf /etc/saguaro-admin /var/lib/saguaro /var/log/saguaro)"
has "the gateway's user is in the daemon's group" "$(chroot "$root" id saguaro-gateway)" "(saguaro)"

# What an administrator and the daemon leave there.
mkdir "$root/var/lib/saguaro/main"
head -c 100000 /dev/urandom >"$root/var/lib/saguaro/main/data.mdb"
echo 'sm_priority 9' >>"$root/etc/saguaro/main/saguaro.conf"
echo 'SAGUAROD_OPTIONS=-v' >"$root/etc/sysconfig/saguaro"
kept() { (cd "$root" && sha256sum var/lib/saguaro/main/data.mdb); }
before=$(kept)
holds "rpm -U by a package of the same name" put -U --force "${rpms[@]}"
same "state is as it was" "$before" "$(kept)"
has "configuration, too" "$(cat "$root/etc/saguaro/main/saguaro.conf")" "sm_priority 9"
has "and flags" "$(cat "$root/etc/sysconfig/saguaro")" "SAGUAROD_OPTIONS=-v"
# An instance that starts with the system.
holds "systemctl enable saguarod@two" chroot "$root" systemctl enable saguarod@two.service saguaro-gateway@two.service
mapfile -t names < <(in_root -qa 'saguaro*')
holds "rpm -e" put -e "${names[@]}"
same "nothing is installed any more" "" "$(in_root -qa 'saguaro*')"
same "state stays" "$before" "$(kept)"
same "systemd has no unit of it to start" "" "$(find "$root/etc/systemd" -name 'saguaro*')"
has "changed configuration stays under another name" "$(cat "$root/etc/saguaro/main/saguaro.conf.rpmsave")" "sm_priority 9"
same "of files nothing else stays" "" "$(cd "$root" && find usr -name '*saguaro*' ! -path '*/doc/*' ! -path '*/__pycache__/*')"
rm -rf "$root"
finish
