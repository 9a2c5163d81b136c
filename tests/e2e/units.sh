#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What dist/ installs: systemd takes the units and finds them confined, the sample configuration
# is accepted line by line, and a daemon under a service manager says that it is ready, what it
# does, that it lives, and that it ends.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# Of the units that this build has made. Programs that are not installed are stood for by true.
if command -v systemd-analyze >/dev/null; then
	units=("$bin"/dist/*.service "$bin"/dist/*.socket)
	mkdir "$work/units"
	for u in "${units[@]}"; do
		sed -E 's#^(ExecStart(Pre)?=)[^ ]*/saguaro[^ ]*#\1/bin/true#' "$u" >"$work/units/${u##*/}"
	done
	said=$(systemd-analyze verify --man=no "$work"/units/*.service "$work"/units/*.socket 2>&1)
	same "systemd-analyze verify has nothing to say" "" "$(grep -F "$work" <<<"$said")"
	exposure() { systemd-analyze security --offline=yes "$work/units/$1" 2>&1 | sed -n 's/.*exposure level for [^:]*: \([0-9.]*\) .*/\1/p'; }
	for limit in "saguarod.service 3.0" "saguarod@.service 3.0" "saguaro-gateway.service 2.0" "saguaro-gateway@.service 2.0" "saguaro-admin.service 2.0"; do
		[ -f "$work/units/${limit%% *}" ] || continue # --without-admin
		read -r unit most <<<"$limit"
		got=$(exposure "$unit")
		holds "$unit: exposure ${got:-unknown}, at most $most" awk -v a="${got:-99}" -v b="$most" 'BEGIN { exit !(a <= b) }'
	done
else
	echo "no systemd-analyze here: the units are not verified"
fi

sed -E 's/^#([a-z_0-9]+) ?(.*)$/\1 \2/' "$bin/dist/saguaro.conf" | grep -vE ' $' >"$work/all.conf"
holds "the sample has more than 100 options" test "$(grep -c '^[a-z]' "$work/all.conf")" -gt 100
has "and all of them are accepted" "$("$bin/saguarod" --check -F "$work/all.conf" 2>&1)" "configuration is good, 0 warnings"

holds "all files name the same version" "$here/dist/release" --check
# The RPM asks the build for the versions that configure asks for; libibmad is for one of its tests.
same "the spec names the versions that configure wants" \
	"$(sed -nE 's/.*PKG_CHECK_MODULES\(\[[A-Z]+\], \[(.*)\].*/\1/p' "$here/configure.ac" | cut -d']' -f1 | grep -v -e libibmad -e '^lmdb' | sort)" \
	"$(sed -nE 's/^BuildRequires: *pkgconfig\((.*)\)/\1/p' "$here/dist/saguaro.spec" | sort)"

# What packages are built with is asked for first, a line for each that is missing.
mkdir "$work/tools"
for tool in sh sed tr grep tar xz env bash; do ln -s "$(command -v "$tool")" "$work/tools/"; done
needs() { PATH=$work/tools "$here/dist/package-needs" "$@" 2>&1; }
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$work/tools/$1" && chmod +x "$work/tools/$1"; }
same "no tools of Debian" "make deb needs the command dpkg-buildpackage: Debian: apt-get install dpkg-dev; RHEL: dnf install dpkg-dev
make deb needs the command dh: Debian: apt-get install debhelper; RHEL: dnf install debhelper" "$(needs deb "$here/dist/debian/control")"
stand_in dh true
stand_in dpkg-buildpackage true
stand_in dpkg-checkbuilddeps 'echo "dpkg-checkbuilddeps: error: Unmet build dependencies: debhelper-compat (= 13) libcurl4-gnutls-dev (>= 7.61) | libcurl4-openssl-dev (>= 7.61) liblmdb-dev (>= 0.9.24)" >&2; exit 1'
same "packages of Debian" "make deb needs the package debhelper-compat: apt-get install debhelper-compat
make deb needs the package libcurl4-gnutls-dev: apt-get install libcurl4-gnutls-dev
make deb needs the package liblmdb-dev: apt-get install liblmdb-dev" "$(needs deb "$here/dist/debian/control")"
holds "which is a failure" test "$(needs deb "$here/dist/debian/control" >/dev/null; echo $?)" = 1
stand_in dpkg-checkbuilddeps true
same "nothing is missing" "0" "$(needs deb "$here/dist/debian/control" nocheck; echo $?)"
same "no tools of RHEL" "make rpm needs the command rpmbuild: Debian: apt-get install rpm; RHEL: dnf install rpm-build" "$(needs rpm "$here/dist/saguaro.spec")"
stand_in rpmbuild true
stand_in rpmspec 'echo "gcc
pkgconfig(jansson) >= 2.10"'
stand_in rpm 'case $1 in --eval) echo /usr/lib/systemd/system ;; *) [ "$3" = gcc ] ;; esac'
same "packages of RHEL" "make rpm needs the package pkgconfig(jansson): dnf install 'pkgconfig(jansson)'" "$(needs rpm "$here/dist/saguaro.spec")"

if grep -q '^#define HAVE_SYSTEMD 1' "$bin/config.h" && command -v python3 >/dev/null; then
	# A service manager for the test: it keeps what it is told.
	python3 - "$work/notify" "$work/told" <<'P' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
with open(sys.argv[2], "w", buffering=1) as out:
    while True:
        text = s.recv(4096).decode()
        out.write(text.replace("\n", " ") + "\n")
        if "STOPPING=1" in text:
            break
P
	manager=$!
	until_true test -S "$work/notify"
	"$bin/saguaro" topo ft2 4 4 2 -o "$work/tree.topo"
	NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=300000 "$bin/saguarod" --fabric "sim:$work/tree.topo" \
		--state_dir "$work/state" --snapshot_dir "$work/snap" >"$work/d.log" 2>&1 &
	daemon=$!
	holds "ready" until_true grep -q '^READY=1' "$work/told"
	holds "what it is doing" until_true grep -q '^STATUS=SUBNET UP: .* epoch' "$work/told"
	holds "it lives" until_true grep -q '^WATCHDOG=1' "$work/told"
	kill -HUP "$daemon"
	holds "it reads its configuration again" until_true grep -q '^RELOADING=1' "$work/told"
	kill -TERM "$daemon"
	wait "$daemon"
	wait "$manager"
	has "it ends" "$(tail -n 1 "$work/told")" "STOPPING=1"
else
	echo "no systemd or no python3 here: what is told to a service manager is not looked at"
fi

# The configuration for logrotate as it is installed, but for the folder, and for systemctl, which
# sends the signal to this daemon.
if command -v logrotate >/dev/null; then
	mkdir "$work/logs" "$work/path"
	sed -e "s#^/var/log/#$work/logs/#" -e '/^\tsu /d' "$here/dist/saguaro.logrotate" >"$work/rotate.conf"
	chmod go-w "$work/rotate.conf"
	mkdir "$work/logs/saguaro" "$work/logs/saguaro-admin"
	"$bin/saguaro" topo ft2 4 4 2 -o "$work/tree.topo"
	log=$work/logs/saguaro/saguarod.log
	start_daemon turned --fabric "sim:$work/tree.topo" --log-file "$log"
	holds "a log file" until_true grep -q 'SUBNET UP' "$log"
	cat >"$work/path/systemctl" <<S
#!/bin/sh
echo "\$*" >>"$work/path/told"
case \$* in *saguarod*) for w; do case \$w in --signal=SIG*) kill -s "\${w#--signal=SIG}" $daemon ;; esac; done ;; esac
S
	chmod +x "$work/path/systemctl"
	PATH=$work/path:$PATH logrotate --force --state "$work/rotate.state" "$work/rotate.conf" >"$work/rotate.log" 2>&1
	same "logrotate has nothing to say" "" "$(cat "$work/rotate.log")"
	has "it asks for a signal" "$(cat "$work/path/told")" "kill --signal=SIGUSR1 --kill-who=main saguarod*.service"
	has "what was logged is in the old file" "$(cat "$log.1")" "SUBNET UP"
	holds "the daemon opens a new file" until_true test -e "$log"
	end_process "$daemon"
	holds "and writes to it" test -s "$log"
else
	echo "no logrotate here: the turning of log files is not tried"
fi
finish
