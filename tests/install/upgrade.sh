#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# An upgrade by package: packages of an older version are installed, the state folders of two instances
# hold what saguarod of layout 4 and of layout 5 wrote, then come the packages of "make deb".
# LIDs and epoch stay, also in a fabric with one more host whose GUID is the lowest; a second start
# finds the new layout.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root systemd-nspawn dpkg-deb perl
debs=("$bin"/deb/saguaro_*.deb "$bin"/deb/saguaro-tools_*.deb)
[ -e "${debs[0]}" ] || skip "no packages: make deb"
new=$(dpkg-deb -f "${debs[0]}" Version)
old=0.0.9-1

new_root upgrade systemd
mkdir "$root/packages"
cp "${debs[@]}" "$root/packages/"
# The same files as an older version, with another configuration as it comes.
for deb in "${debs[@]}"; do
	dpkg-deb -R "$deb" "$work/deb"
	sed -i "s/${new//./\\.}/$old/g" "$work/deb/DEBIAN/control"
	[ ! -e "$work/deb/etc/saguaro" ] || echo '# of an older version' >>"$work/deb/etc/saguaro/main/saguaro.conf"
	dpkg-deb -b "$work/deb" "$root/packages/old-${deb##*/}" >/dev/null
	rm -rf "$work/deb"
done
# shellcheck disable=SC2016 # for dpkg-query
version() { chroot "$root" dpkg-query -W -f='${Version} ${db:Status-Status}\n' saguaro saguaro-tools; }
holds "apt-get install of the older version" install_in_root "${debs[@]/#*\//./packages/old-}"
same "which is there" "$old installed
$old installed" "$(version)"

# golden FILE FOLDER: the database that the lines of the file describe.
golden() {
	mkdir -p "$2" && perl -ne 'next if /^#/; if (/^size (\d+)/) { truncate STDOUT, $1; next }
		my ($at, $bytes) = split; seek STDOUT, hex $at, 0; print pack "H*", $bytes' <"$here/tests/golden/$1" >"$2/data.mdb"
}
for layout in 4 5; do golden "state-layout-$layout.hex" "$root/var/lib/saguaro/layout-$layout"; done
chroot "$root" chown -R saguaro:saguaro /var/lib/saguaro
chmod 750 "$root"/var/lib/saguaro/layout-*
echo 'LIDs of nobody' >"$root/var/lib/saguaro/note"
echo 'SAGUAROD_OPTIONS=-v' >"$root/etc/default/saguaro"
sums() { (cd "$root/var/lib/saguaro" && sha256sum note layout-*/data.mdb); }
before=$(sums)
holds "apt-get install of the newer one" install_in_root "${debs[@]/#*\//./packages/}"
has "what it printed names no error" "$(grep -iE 'error|fail|warn' "$work/apt.log" || echo none)" none
same "which is there" "$new installed
$new installed" "$(version)"
same "the state is as it was" "$before" "$(sums)"
has "flags that were changed stay" "$(cat "$root/etc/default/saguaro")" "SAGUAROD_OPTIONS=-v"
same "configuration that was not changed is the new one" "" "$(grep 'of an older version' "$root/etc/saguaro/main/saguaro.conf")"

# The fabric of those files, and a host.
cat >"$root/etc/fabric.topo" <<'T'
caguid=0x100000
Ca 1 "h1" # "node1"
[1] "s1"[1]	# lid 0 4xEDR
switchguid=0x200000
Switch 8 "s1" # "sw1"
[1] "h1"[1]	# lid 0 4xEDR
[2] "h2"[1]	# lid 0 4xEDR
[3] "h0"[1]	# lid 0 4xEDR
[7] "s2"[7]	# lid 0 4xEDR
switchguid=0x200001
Switch 8 "s2" # "sw2"
[1] "h3"[1]	# lid 0 4xEDR
[2] "h4"[1]	# lid 0 4xEDR
[7] "s1"[7]	# lid 0 4xEDR
caguid=0x100002
Ca 1 "h2" # "node2"
[1] "s1"[2]	# lid 0 4xEDR
caguid=0x100004
Ca 1 "h3" # "node3"
[1] "s2"[1]	# lid 0 4xEDR
caguid=0x100006
Ca 1 "h4" # "node4"
[1] "s2"[2]	# lid 0 4xEDR
caguid=0x50000
Ca 1 "h0" # "node0"
[1] "s1"[3]	# lid 0 4xEDR
T
# start INSTANCE: one sweep as the daemon's user, with the state of that instance; its LIDs.
start() {
	mkdir -p "$root/run/saguaro/$1" && chroot "$root" chown -R saguaro:saguaro /run/saguaro
	chroot "$root" setpriv --reuid=saguaro --regid=saguaro --init-groups saguarod --fabric sim:/etc/fabric.topo --once \
		--state-dir "/var/lib/saguaro/$1" --snapshot-dir "/run/saguaro/$1" >"$work/$1.log" 2>&1 || fail "$1: saguarod starts"
	chroot "$root" saguaro nodes --snapshot_dir "/run/saguaro/$1" --field name,lid | sort | tr '\t\n' '= '
}
epoch() { sed -n 's/.*SUBNET UP.*epoch \([0-9]*\);.*/\1/p' "$work/$1.log"; }
same "without a state LIDs are others" "node0=2 node1=1 node2=3 node3=4 node4=5 sw1=6 sw2=7 " "$(start none)"
for i in layout-4 layout-5; do
	kept="node0=7 node1=1 node2=2 node3=3 node4=4 sw1=5 sw2=6 "
	same "$i: LIDs stay" "$kept" "$(start $i)"
	same "$i: the epoch goes on" 2 "$(epoch $i)"
	same "$i: and after a second start" "$kept" "$(start $i)"
	same "$i: so does the epoch" 3 "$(epoch $i)"
	same "$i: the files are the daemon's" "saguaro:saguaro" "$(chroot "$root" stat -c %U:%G "/var/lib/saguaro/$i/data.mdb")"
done
rm -rf "$root"
finish
