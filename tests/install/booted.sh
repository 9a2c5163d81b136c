#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A booted Debian (systemd as process 1, in systemd-nspawn) with the packages of "make deb" and a
# simulated fabric: services start as the users they have, the gateway answers as its own, a daemon
# that hangs is restarted by the watchdog, logrotate turns the log, and a restart, an upgrade of the
# package and a crash send no LFT block. Removal leaves nothing running and keeps the state.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root systemd-nspawn nsenter dpkg-deb
debs=("$bin"/deb/saguaro_*.deb "$bin"/deb/saguaro-tools_*.deb "$bin"/deb/saguaro-sim_*.deb "$bin"/deb/saguaro-web_*.deb)
[ -e "${debs[0]}" ] || skip "no packages: make deb"
[ -e "${debs[3]}" ] || unset 'debs[3]'

new_root booted systemd systemd-sysv dbus curl jq procps logrotate
mkdir "$root/packages"
cp "${debs[@]}" "$root/packages/"
holds "apt-get install ./*.deb" install_in_root "${debs[@]/#*\//./packages/}"
has "what it printed names no error" "$(grep -iE 'error|fail|warn' "$work/apt.log" || echo none)" none

# The units as they are; only the fabric is simulated, by a service of its own. Two seconds of the
# watchdog, so that its test is over soon.
chroot "$root" saguaro topo ft2 8 6 4 -o /etc/fabric.topo
sim=${debs[2]}
add_fabric fabric saguarod
printf '[Service]\nWatchdogSec=2\n' >"$root/etc/systemd/system/saguarod.service.d/watchdog.conf"
echo 'log_file /var/log/saguaro/saguarod.log' >>"$root/etc/saguaro/main/saguaro.conf"

boot_root

show_failure() { inside systemctl status --no-pager -l "$@"; inside journalctl --no-pager -n 40; }
starts() { if inside systemctl start "$@"; then ok "systemctl start $*"; else fail "systemctl start $*"; show_failure "$@"; fi; }
pid_of() { inside systemctl show -p MainPID --value "$1"; }
user_of() { inside ps -o user:20= -p "$(pid_of "$1")" | tr -d ' '; }
state_of() { inside systemctl show -p ActiveState --value "$1"; }
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
has "systemctl status says what it does" "$(inside systemctl show -p StatusText --value saguarod)" "SUBNET UP"
refuses "another user does not get into the state" inside setpriv --reuid=nobody --regid=nogroup --clear-groups ls /var/lib/saguaro
inside systemd-analyze security --no-pager saguarod.service saguaro-gateway.service saguaro-admin.service 2>/dev/null | grep -i overall || true

# The epoch grows with each start. SUBNET UP tells what the sweep sent.
lft_blocks() { sed -n 's/.*SUBNET UP.*and \([0-9]*\) LFT blocks.*/\1/p' "$root/var/log/saguaro/saguarod.log" | tail -n 1; }
ups() { grep -c 'SUBNET UP' "$root/var/log/saguaro/saguarod.log"; }
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

# A newer package: the same files under another version.
for deb in "${debs[@]}"; do
	dpkg-deb -R "$deb" "$work/deb"
	sed -i -E 's/^(Version: .*|(Depends|Recommends): .*saguaro.*)$/\1/; s/0\.1\.0-1/0.1.0-2/g' "$work/deb/DEBIAN/control"
	dpkg-deb -b "$work/deb" "$root/packages/new-${deb##*/}" >/dev/null
	rm -rf "$work/deb"
done
gateway_before=$(pid_of saguaro-gateway)
comes_again "upgrade of the packages" inside sh -c 'dpkg -i /packages/new-*.deb'
holds "the gateway is another process, too" test "$(pid_of saguaro-gateway)" != "$gateway_before"
has "configuration is kept" "$(tail -n 1 "$root/etc/saguaro/main/saguaro.conf")" "log_file"

# By socket: systemd listens, the first question starts the gateway.
inside systemctl stop saguaro-gateway.service
starts saguaro-gateway.socket
holds "the socket starts the gateway" until_true answers
same "as its own user" saguaro-gateway "$(user_of saguaro-gateway)"

state() { (cd "$root/var/lib/saguaro" && find . -type f ! -name 'lock.mdb' | sort); }
state_before=$(state)
holds "dpkg -r" inside dpkg -r saguaro
same "nothing of it runs any more" "" "$(inside pgrep -u saguaro-gateway,saguaro-admin -l; inside pgrep -x saguarod)"
same "the state stays" "$state_before" "$(state)"
has "the configuration, too" "$(cat "$root/etc/saguaro/main/saguaro.conf")" "log_file"
holds "dpkg -i of it again" inside sh -c 'dpkg -i /packages/new-saguaro_*.deb'
inside systemctl reset-failed
ups_before=$(ups)
starts saguarod.service
# shellcheck disable=SC2317 # called by until_true
is_up() { [ "$(ups)" -gt "$ups_before" ]; }
holds "it starts" until_true is_up
same "and sends no LFT block" 0 "$(lft_blocks)"

inside systemctl --no-block poweroff
wait "$machine"
rm -rf "$root"
finish
