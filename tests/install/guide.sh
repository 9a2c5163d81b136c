#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Every command of doc/guide/install.md as it is written there, in order, on a booted Debian with the
# packages of "make deb"; both fabrics are simulated.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/e2e/document.sh
. "$here/tests/e2e/document.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root systemd-nspawn nsenter dpkg-deb
debs=("$bin"/deb/saguaro_*.deb "$bin"/deb/saguaro-tools_*.deb "$bin"/deb/saguaro-web_*.deb "$bin"/deb/saguaro-sim_*.deb)
for deb in "${debs[@]}"; do [ -e "$deb" ] || skip "no package ${deb##*/}: make web deb"; done
sim=${debs[3]}

new_root guide systemd systemd-sysv dbus curl procps logrotate
mkdir "$root/packages"
cp "${debs[@]}" "$root/packages/"
# There is no network inside, so the line that installs runs before.
installs=$(commands_of "$here/doc/guide/install.md" | grep '^apt-get install')
# shellcheck disable=SC2086,SC2046 # words of a command
holds "$installs" install_in_root $(cd "$root/packages" && printf './packages/%s\n' ${installs#apt-get install })
holds "the simulator is installed" install_in_root "./packages/${sim##*/}"
chroot "$root" saguaro topo ft2 8 6 4 -o /etc/fabric.topo
chroot "$root" saguaro topo ft2 4 4 2 -o /etc/fabric2.topo
add_fabric fabric saguarod
add_fabric fabric2 saguarod@
chroot "$root" useradd --create-home alice
echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/yes"
boot_root

is_answered() { # in document.sh: runs here
	said=$(inside bash -c "${1/#curl /curl -sS }" 2>&1 </dev/null)
	got=$?
	[ "$got" = "$2" ] && { [ -n "$said" ] || [ -z "$3" ]; }
}
run_line() {
	[ "$1" = "$installs" ] || run_command "$1" "$2"
}
run_document "$here/doc/guide/install.md"
same "nothing of it runs any more" "" "$(inside pgrep -l saguaro | grep -v saguaro-sim)"
holds "the state stays" test -s "$root/var/lib/saguaro/main/data.mdb"

inside systemctl --no-block poweroff
wait "$machine"
rm -rf "$root"
finish
