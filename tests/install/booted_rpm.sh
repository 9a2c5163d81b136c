#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The scriptlets of the RPM packages under a running systemd: nothing starts by itself, an upgrade
# restarts the services and the instances that run, and removal leaves nothing running or enabled and
# keeps the state. The system is Debian's, so libraries come from its packages; macros.compat stands
# for the macros of Fedora.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root systemd-nspawn nsenter rpm
mapfile -t rpms < <(find "$bin/rpm/RPMS" -name 'saguaro-[0-9ts]*.rpm' 2>/dev/null | sort)
[ ${#rpms[@]} = 3 ] || skip "no packages: make rpm"

new_root booted_rpm systemd systemd-sysv dbus curl procps rpm libgomp1 libibumad3 liblmdb0 libmicrohttpd12 libjansson4 \
	libcurl3-gnutls libexpat1 libgnutls30 libzstd1
mkdir "$root/packages"
cp "${rpms[@]}" "$root/packages/"
preload=$(rpm -qlp "$root"/packages/saguaro-sim-*.rpm | grep 'libsaguaro-umad-sim.so$')
boot_root
holds "rpm -i" inside sh -c 'rpm -i --nodeps /packages/*.rpm'
units=(saguarod saguaro-gateway saguarod@two saguaro-gateway@two)
pids_of() { for unit in "${units[@]}"; do pid_of "$unit"; done; }
same "nothing of it runs after installation" "inactive inactive" "$(state_of saguarod) $(state_of saguaro-gateway)"

inside saguaro topo ft2 8 6 4 -o /etc/fabric.topo
cp "$root/etc/fabric.topo" "$root/etc/fabric2.topo"
add_fabric fabric saguarod "$preload"
add_fabric fabric2 saguarod@ "$preload"
mkdir "$root/etc/saguaro/two"
cp "$root/etc/saguaro/main/saguaro.conf" "$root/etc/saguaro/two/"
chroot "$root" chown -R root:saguaro /etc/saguaro/two
echo 'SAGUARO_GATEWAY_OPTIONS=--listen=127.0.0.1:8630' >"$root/etc/sysconfig/saguaro-two"
inside systemctl daemon-reload
holds "services and instances start, now and with the system" inside systemctl enable --now "${units[@]}"
# shellcheck disable=SC2317 # called by until_true
answer() { inside curl -s -f -o /dev/null http://127.0.0.1:8620/readyz http://127.0.0.1:8630/readyz; }
holds "both gateways answer" until_true answer
before=$(pids_of)
same "there are four processes" 4 "$(grep -c '[1-9]' <<<"$before")"

echo 'sm_priority 9' >>"$root/etc/saguaro/main/saguaro.conf"
holds "rpm -U" inside sh -c 'rpm -U --force --nodeps /packages/*.rpm'
holds "both gateways answer again" until_true answer
same "by other processes" "" "$(comm -12 <(sort <<<"$before") <(pids_of | sort))"
has "configuration is kept" "$(tail -n 1 "$root/etc/saguaro/main/saguaro.conf")" "sm_priority 9"
state() { (cd "$root/var/lib/saguaro" && find . -name data.mdb | sort); }
same "there is the state of both" "./main/data.mdb
./two/data.mdb" "$(state)"
# shellcheck disable=SC2016 # for the inner shell
holds "rpm -e" inside sh -c 'rpm -e --nodeps $(rpm -qa "saguaro*")'
same "nothing of it runs any more" "" "$(inside pgrep -l saguaro | grep -v saguaro-sim)"
same "no unit of it starts with the system" "" "$(find "$root/etc/systemd" -name 'saguaro*' ! -name '*.d')"
same "the state stays" "./main/data.mdb
./two/data.mdb" "$(state)"

inside systemctl --no-block poweroff
wait "$machine"
rm -rf "$root"
finish
