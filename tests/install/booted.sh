#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A booted Debian (systemd as process 1, in systemd-nspawn) with the packages of "make deb" and a
# simulated fabric: services start as the users they have, the gateway answers as its own, a daemon
# that hangs is restarted by the watchdog, logrotate turns the log, and a restart, an upgrade of the
# package, also in the midst of a sweep, and a crash send no LFT block. An instance runs beside the main
# one and is treated as that one is. OpenSM is installed beside it, and the two never run together. Removal
# ends the streams of clients, leaves nothing running and keeps the state.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root systemd-nspawn nsenter dpkg-deb
debs=("$bin"/deb/saguaro_*.deb "$bin"/deb/saguaro-tools_*.deb "$bin"/deb/saguaro-sim_*.deb "$bin"/deb/saguaro-web_*.deb)
[ -e "${debs[0]}" ] || skip "no packages: make deb"
[ -e "${debs[3]}" ] || unset 'debs[3]'

new_root booted systemd systemd-sysv dbus curl jq procps logrotate opensm
mkdir "$root/packages"
cp "${debs[@]}" "$root/packages/"
# There is no udev in it; this one keeps what it is told.
printf '#!/bin/sh\necho "$@" >>/udevadm.told\n' >"$root/usr/bin/udevadm"
chmod +x "$root/usr/bin/udevadm"
holds "apt-get install ./*.deb" install_in_root "${debs[@]/#*\//./packages/}"
has "what it printed names no error" "$(grep -iE 'error|fail|warn' "$work/apt.log" || echo none)" none
same "umad devices that are there get their group" "control --reload
trigger --subsystem-match=infiniband_mad --action=change" "$(cat "$root/udevadm.told")"

# The units as they are; only the fabric is simulated, by a service of its own. Two seconds of the
# watchdog, so that its test is over soon.
chroot "$root" saguaro topo ft2 8 6 4 -o /etc/fabric.topo
chroot "$root" cp /etc/fabric.topo /etc/fabric2.topo
sim=${debs[2]}
add_fabric fabric saguarod
add_fabric fabric2 saguarod@
printf '[Service]\nWatchdogSec=2\n' >"$root/etc/systemd/system/saguarod.service.d/watchdog.conf"
printf '%s\n' 'log_file /var/log/saguaro/saguarod.log' 'sa_db_dump TRUE' >>"$root/etc/saguaro/main/saguaro.conf"
# An instance has a configuration and flags of its own.
mkdir "$root/etc/saguaro/two"
echo 'log_file /var/log/saguaro/two.log' >"$root/etc/saguaro/two/saguaro.conf"
echo 'SAGUARO_GATEWAY_OPTIONS=--listen=127.0.0.1:8630' >"$root/etc/default/saguaro-two"
chroot "$root" chown -R root:saguaro /etc/saguaro/two
# OpenSM's service without an adapter: it runs when it is started, and takes a second to end.
mkdir "$root/etc/systemd/system/opensm.service.d"
cat >"$root/etc/systemd/system/opensm.service.d/no-adapter.conf" <<'U'
[Unit]
ConditionPathExists=
[Service]
ExecCondition=
ExecStart=
ExecStart=/bin/true
ExecStop=/bin/sleep 1
U
chroot "$root" systemctl disable -q opensm.service

boot_root

show_failure() { inside systemctl status --no-pager -l "$@"; inside journalctl --no-pager -n 40; }
starts() { if inside systemctl start "$@"; then ok "systemctl start $*"; else fail "systemctl start $*"; show_failure "$@"; fi; }
user_of() { inside ps -o user:20= -p "$(pid_of "$1")" | tr -d ' '; }
ask() { inside curl -s "http://127.0.0.1:8620$1"; }
# shellcheck disable=SC2317 # called by until_true
answers() { inside curl -s -f -o /dev/null http://127.0.0.1:8620/readyz; }
same "nothing of it runs after installation" "inactive inactive inactive" \
	"$(state_of saguarod) $(state_of saguaro-gateway) $(state_of saguaro-admin)"

starts saguarod.service
starts saguaro-gateway.service
same "the daemon runs as saguaro" saguaro "$(user_of saguarod)"
same "the gateway runs as its own user" saguaro-gateway "$(user_of saguaro-gateway)"
holds "the gateway answers" until_true answers
hosts=$(inside saguaro nodes --type ca --field description)
has "a path" "$(ask "/paths?src=$(head -n 1 <<<"$hosts")&dst=$(tail -n 1 <<<"$hosts")")" '"dlid"'
has "a what-if, by a child of the gateway" \
	"$(inside curl -s -X POST -H 'Content-Type: application/json' -d '{"down":["spine-0000"]}' http://127.0.0.1:8620/v1/whatif)" '"before"'
holds "client records are written where the unit may write" until_true test -s "$root/var/log/saguaro/opensm-sa.dump"
same "the control socket is for its group" "saguaro-admin 660" "$(inside stat -c '%G %a' /run/saguaro/main.control)"
has "systemctl status says what it does" "$(inside systemctl show -p StatusText --value saguarod)" "SUBNET UP"
refuses "another user does not get into the state" inside setpriv --reuid=nobody --regid=nogroup --clear-groups ls /var/lib/saguaro
inside systemd-analyze security --no-pager saguarod.service saguaro-gateway.service saguaro-admin.service 2>/dev/null | grep -i overall || true

# The epoch grows with each start. SUBNET UP tells what the sweep sent.
lft_blocks() { sed -n 's/.*SUBNET UP.*and \([0-9]*\) LFT blocks.*/\1/p' "$root/var/log/saguaro/${1:-saguarod}.log" | tail -n 1; }
ups() { grep -c 'SUBNET UP' "$root/var/log/saguaro/${1:-saguarod}.log"; }
lids() { ask /v1/lids | jq -S '[.lids[] | del(.epoch)]' | sha256sum; }
# shellcheck disable=SC2317 # called by until_true
another_up() { [ "$(ups)" -gt "$ups_before" ] && [ "$(pid_of saguarod)" != "$pid_before" ] && answers; }
# comes_again WHAT COMMAND...: the command makes another process of the daemon, which sends no LFT block.
comes_again() {
	ups_before=$(ups) pid_before=$(pid_of saguarod)
	local what=$1 lids_before
	lids_before=$(lids)
	shift
	holds "$what" "$@"
	until_true another_up || { fail "$what: the daemon comes again"; show_failure saguarod; }
	same "$what: LFT blocks sent" 0 "$(lft_blocks)"
	same "$what: LIDs are as they were" "$lids_before" "$(lids)"
}
holds "there are LIDs" test "$(ask /v1/lids | jq '.lids | length')" -gt 10
echo "LFT blocks of the first sweep: $(lft_blocks)"
comes_again "systemctl restart" inside systemctl restart saguarod
comes_again "the daemon is killed" inside systemctl kill --kill-who=main -s KILL saguarod
comes_again "the daemon hangs (SIGSTOP)" inside systemctl kill --kill-who=main -s STOP saguarod
has "and the watchdog says so" "$(inside journalctl -u saguarod --no-pager)" "atchdog timeout"

log=$root/var/log/saguaro/saguarod.log
holds "logrotate turns the log" inside logrotate -f /etc/logrotate.d/saguaro
holds "the turned log is there" test -s "$log.1"
inside systemctl reload saguarod
holds "the daemon writes to the new one" until_true test -s "$log"
same "which is the daemon's" "saguaro:saguaro" "$(inside stat -c %U:%G /var/log/saguaro/saguarod.log)"

# OpenSM beside it: one ends before the other starts.
monotonic() { inside systemctl show -p "$2" --value "$1"; }
inside systemctl stop saguarod.service
starts opensm.service
starts saguarod.service
same "saguarod ends OpenSM" "active inactive" "$(state_of saguarod) $(state_of opensm)"
holds "and starts after that" test "$(monotonic opensm InactiveEnterTimestampMonotonic)" -le "$(monotonic saguarod ExecMainStartTimestampMonotonic)"
starts opensm.service
same "OpenSM ends saguarod" "inactive active" "$(state_of saguarod) $(state_of opensm)"
inside systemctl stop opensm.service
starts saguarod.service

starts saguarod@two.service saguaro-gateway@two.service
# shellcheck disable=SC2317 # called by until_true
two_answers() { inside curl -s -f -o /dev/null http://127.0.0.1:8630/readyz; }
holds "the gateway of another instance answers" until_true two_answers
same "its processes have the same users" "saguaro saguaro-gateway" "$(user_of saguarod@two) $(user_of saguaro-gateway@two)"
holds "and start with the system" inside systemctl enable saguarod@two.service saguaro-gateway@two.service

# newer N: the same files under version 0.1.0-N, with a configuration that differs as it comes.
newer() {
	local deb
	for deb in "${debs[@]}"; do
		dpkg-deb -R "$deb" "$work/deb"
		sed -i -E "s/0\\.1\\.0-1/0.1.0-$1/g" "$work/deb/DEBIAN/control"
		[ ! -e "$work/deb/etc/saguaro" ] || echo "# of version $1" >>"$work/deb/etc/saguaro/main/saguaro.conf"
		dpkg-deb -b "$work/deb" "$root/packages/$1-${deb##*/}" >/dev/null
		rm -rf "$work/deb"
	done
}
newer 2
gateway_before=$(pid_of saguaro-gateway) two_before="$(pid_of saguarod@two) $(pid_of saguaro-gateway@two)" two_ups=$(ups two)
comes_again "upgrade of the packages" inside sh -c 'dpkg -i --force-confold /packages/2-*.deb'
holds "the gateway is another process, too" test "$(pid_of saguaro-gateway)" != "$gateway_before"
# shellcheck disable=SC2317 # called by until_true
two_up() { [ "$(ups two)" -gt "$two_ups" ] && two_answers; }
holds "the other instance comes again" until_true two_up
same "and sends no LFT block" 0 "$(lft_blocks two)"
same "with other processes" 0 "$(grep -cwE "${two_before/ /|}" <<<"$(pid_of saguarod@two) $(pid_of saguaro-gateway@two)")"
has "configuration is kept" "$(tail -n 2 "$root/etc/saguaro/main/saguaro.conf")" "log_file"
has "the new one lies beside it" "$(tail -n 1 "$root/etc/saguaro/main/saguaro.conf.dpkg-dist")" "# of version 2"

# In the midst of a sweep: the fabric answers nothing while the packages are unpacked.
newer 3
sweeps() { grep -c 'heavy sweep: operator request' "$root/var/log/saguaro/saguarod.log"; }
sweeps_before=$(sweeps)
# shellcheck disable=SC2317 # called by until_true
is_sweeping() { [ "$(sweeps)" -gt "$sweeps_before" ]; }
# shellcheck disable=SC2317 # called by until_true
is_another() { [ "$(pid_of saguarod)" != "$pid_before" ]; }
# shellcheck disable=SC2317 # called by comes_again
upgrade_in_sweep() {
	local dpkg status=0
	inside systemctl kill -s STOP fabric
	inside saguaro sweep --heavy && until_true is_sweeping || status=1
	inside sh -c 'dpkg -i --force-confold /packages/3-*.deb' &
	dpkg=$!
	until_true is_another || status=1
	inside systemctl kill -s CONT fabric
	wait "$dpkg" || status=1
	return "$status"
}
comes_again "upgrade in the midst of a sweep" upgrade_in_sweep
has "the version is the new one" "$(inside dpkg-query -W saguaro)" "0.1.0-3"

# By socket: systemd listens, the first question starts the gateway.
inside systemctl stop saguaro-gateway.service
starts saguaro-gateway.socket
holds "the socket starts the gateway" until_true answers
same "as its own user" saguaro-gateway "$(user_of saguaro-gateway)"

state() { (cd "$root/var/lib/saguaro" && find . -type f ! -name 'lock.mdb' | sort); }
state_before=$(state)
# Clients that stay.
for i in 1 2 3 4; do
	inside curl -sNv http://127.0.0.1:8620/v1/events >"$work/stream-$i.log" 2>&1 &
	pids+=($!)
	holds "stream $i of events" until_true grep -q '^< HTTP/1.1 200' "$work/stream-$i.log"
done
since=$EPOCHREALTIME
holds "dpkg -r" inside dpkg -r saguaro
echo "removal took $(((${EPOCHREALTIME/[.,]/} - ${since/[.,]/}) / 1000)) ms"
same "nothing of it runs any more" "" "$(inside pgrep -u saguaro-gateway,saguaro-admin -l; inside pgrep -x saguarod)"
same "no process had to be killed" "" "$(inside journalctl --no-pager --since="@$since" -u 'saguaro*' | grep -iE 'timed out|SIGKILL')"
same "the state stays" "$state_before" "$(state)"
has "the configuration, too" "$(cat "$root/etc/saguaro/main/saguaro.conf")" "log_file"
holds "dpkg -i of it again" inside sh -c 'dpkg -i --force-confold /packages/3-saguaro_*.deb'
inside systemctl reset-failed
ups_before=$(ups)
starts saguarod.service
# shellcheck disable=SC2317 # called by until_true
is_up() { [ "$(ups)" -gt "$ups_before" ]; }
holds "it starts" until_true is_up
same "and sends no LFT block" 0 "$(lft_blocks)"

holds "dpkg --purge" inside dpkg --purge saguaro
same "no unit of it starts with the system" "" "$(find "$root/etc/systemd" -name 'saguaro*' ! -name '*.d')"
same "a purge keeps the state" "$state_before" "$(state)"

inside systemctl --no-block poweroff
wait "$machine"
rm -rf "$root"
finish
