#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The README's first command: the demo starts, shows three commands with their output, stays,
# and after Ctrl-C leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
[ -e "$here/configure" ] || skip "no configure in the sources"
# A build that is there already serves; quickstart finds nothing to do there.
export QUICKSTART_BUILD=$bin
unset MAKEFLAGS MAKELEVEL

mkdir "$work/tmp"
# A shell gives its background jobs an ignored SIGINT; a terminal's Ctrl-C is heard.
TMPDIR=$work/tmp env --default-signal=INT setsid "$here/quickstart" --listen 127.0.0.1:0 >"$work/out.log" 2>"$work/err.log" &
demo=$!
pids+=("$demo")
holds "it comes up" until_true grep -q 'Ctrl-C stops it' "$work/out.log"
out=$(cat "$work/out.log")
same "three commands" 3 "$(grep -c '^\$ ' "$work/out.log")"
has "a curl with its answer" "$out" '"paths":[{'
has "saguaro paths with its answer" "$out" "SLID   DLID"
has "saguaro status with its answer" "$out" "subnet           up"
has "it says what it waits for" "$(cat "$work/err.log")" "waiting for saguarod to discover the fabric and to program it"
same "and that is no complaint" 0 "$(grep -c 'no database' "$work/err.log")"
holds "it stays" kill -0 "$demo"
url=$(sed -n 's/^Saguaro runs: \([^ ]*\) .*/\1/p' "$work/out.log")
holds "and answers" ready

kill -INT -- "-$demo"
wait "$demo"
same "Ctrl-C is no failure" 0 "$?"
same "nothing stays in the temporary folder" "" "$(ls -A "$work/tmp")"
refuses "nobody answers any more" curl -s "$url/healthz"
# Orphans that have ended stay in the list until the first process of the machine asks for them.
# shellcheck disable=SC2317 # called by until_true
none_left() { ! pgrep -s "$demo" >/dev/null; }
holds "no process of it is left" until_true none_left

# --- Omni-Path: the same on a fabric that the simulator serves ---
TMPDIR=$work/tmp env --default-signal=INT setsid "$here/quickstart" --omnipath --listen 127.0.0.1:0 >"$work/opa.log" 2>"$work/opa.err" &
demo=$!
pids+=("$demo")
holds "Omni-Path comes up" until_true grep -q 'Ctrl-C stops it' "$work/opa.log"
same "three commands of Omni-Path" 3 "$(grep -c '^\$ ' "$work/opa.log")"
has "a path" "$(cat "$work/opa.log")" "SLID   DLID"
holds "a cable" grep -q 'SAGUARO' "$work/opa.log"
kill -INT -- "-$demo"
wait "$demo"
same "Ctrl-C ends that, too" 0 "$?"
same "and nothing stays" "" "$(ls -A "$work/tmp")"

# stand_ins COMMANDS...: a folder of programs for quickstart check in which these commands are there. make
# fails, so nothing is built; root is whom $user says.
stand_ins() {
	local p
	rm -rf "$work/path" && mkdir -p "$work/path" "$work/build/check" && touch "$work/build/check/Makefile"
	for p in bash env dirname nproc mkdir find grep tail cat uname; do ln -s "$(command -v "$p")" "$work/path/$p"; done
	for p in make "$@"; do ln -s /bin/false "$work/path/$p"; done
	echo $'#!/bin/sh\necho ${user-0}' >"$work/path/id"
	: >"$work/asked"
}
packages_of_check() {
	chmod +x "$work"/path/*
	asked=$work/asked PATH=$work/path QUICKSTART_BUILD=$work/build "$here/quickstart" check >"$work/check.out" 2>&1
}

# installs COMMANDS...: the packages that quickstart check asks apt for where these commands are there
# and apt refuses Debian's nodejs and npm.
installs() {
	stand_ins "$@"
	cat >"$work/path/dpkg-query" <<<$'#!/bin/sh\ncase $3 in nodejs | npm | chromium | ibutils) exit 1 ;; esac\necho installed'
	cat >"$work/path/apt-get" <<<$'#!/bin/sh\nshift\necho "$@" >>"$asked"\ncase "$*" in *npm* | *nodejs*) exit 100 ;; esac'
	packages_of_check
	sed -n 's/^-y -qq --no-install-recommends //p' "$work/asked" | tr '\n' ' '
}
same "npm inside another nodejs: only the browser is installed" "chromium " "$(installs node npm systemd-analyze python3 ibdmchk opasaquery prometheus)"
same "a refused npm costs no other package" "ibutils nodejs npm chromium " "$(installs systemd-analyze python3 opasaquery prometheus)"
has "which is said" "$(cat "$work/check.out")" "npm is not to be had: the page is not tried in a browser"
same "and nothing where all is there" "" "$(installs node npm chromium systemd-analyze python3 ibdmchk opasaquery prometheus)"
same "nobody who may install: nothing is asked" "" "$(user=1000 installs systemd-analyze python3 opasaquery prometheus)"
has "what cannot be installed costs only its tests" "$(cat "$work/check.out")" "chromium is not to be had: the page is not tried in a browser"
has "and the command for root is said" "$(cat "$work/check.out")" "run as root: apt-get install chromium"
has "the build is tried" "$(cat "$work/check.out")" "make $work/build/check"

# dnf_asked MISSING COMMANDS...: what quickstart check asks dnf, sudo and subscription-manager for on RHEL $release,
# where these packages are missing, these commands are there, and dnf refuses words of $refused.
dnf_asked() {
	stand_ins "${@:2}"
	cat >"$work/path/rpm" <<R
#!/bin/sh
[ "\$1" != -E ] || { echo "${release-9}"; exit; }
case " $1 " in *" \$3 "*) exit 1 ;; esac
R
	cat >"$work/path/dnf" <<D
#!/bin/sh
echo "dnf \$*" >>"\$asked"
for word in ${refused-}; do case " \$* " in *" \$word "*) exit 1 ;; esac; done
D
	cat >"$work/path/subscription-manager" <<<$'#!/bin/sh\necho "subscription-manager $*" >>"$asked"'
	[ "${user-0}" = 0 ] || [ -n "${no_sudo-}" ] || cat >"$work/path/sudo" <<<$'#!/bin/sh\necho sudo >>"$asked"\n"$@"'
	packages_of_check
	cat "$work/asked"
}
optional=(opensm ibsim shellcheck ibdmchk opasaquery node npm chromium-browser)
same "dnf: nothing and nobody is asked where all is there" "" "$(user=1000 dnf_asked "" "${optional[@]}")"
same "dnf: CRB is enabled once, before packages are installed" "dnf install -y -q dnf-command(config-manager)
dnf config-manager --set-enabled crb
dnf install -y -q lmdb-devel check-devel
dnf install -y -q libasan
dnf install -y -q ibsim" "$(dnf_asked "dnf-command(config-manager) lmdb-devel check-devel libasan ibsim" "${optional[@]/ibsim/curl}")"
same "dnf: config-manager that is there is not installed" "dnf config-manager --set-enabled crb
dnf install -y -q lmdb-devel" "$(dnf_asked lmdb-devel "${optional[@]}")"
same "dnf: through sudo" "sudo
dnf config-manager --set-enabled crb
sudo
dnf install -y -q lmdb-devel" "$(user=1000 dnf_asked lmdb-devel "${optional[@]}")"
same "dnf: CRB of RHEL in a cloud" "dnf config-manager --set-enabled crb
dnf config-manager --set-enabled codeready-builder-for-rhel-10-rhui-rpms
dnf install -y -q lmdb-devel" "$(release=10 refused=crb dnf_asked lmdb-devel "${optional[@]}")"
same "dnf: CRB of a subscribed RHEL" "dnf config-manager --set-enabled crb
dnf config-manager --set-enabled codeready-builder-for-rhel-9-rhui-rpms
subscription-manager repos --enable codeready-builder-for-rhel-9-$(uname -m)-rpms
dnf install -y -q lmdb-devel" "$(refused=--set-enabled dnf_asked lmdb-devel "${optional[@]}")"
same "dnf: Fedora has no CRB" "dnf install -y -q lmdb-devel" "$(release='' dnf_asked lmdb-devel "${optional[@]}")"
has "dnf: a refused package that tests can do without costs no other" \
	"$(refused=opensm dnf_asked "opensm ibsim" "${optional[@]:2}")" "dnf install -y -q ibsim"
has "which is said" "$(cat "$work/check.out")" "opensm is not to be had: the tests that need it are skipped"
same "dnf: nobody who may install: nothing is asked" "" "$(user=1000 no_sudo=1 dnf_asked "lmdb-devel check-devel" "${optional[@]}")"
has "the command for root is said" "$(cat "$work/check.out")" "run as root: dnf install lmdb-devel check-devel"
same "and nothing is built" "" "$(grep '^make' "$work/check.out")"

refuses "a topology that is not there" "$here/quickstart" --topology "$work/nothing"
has "in a sentence" "$said" "cannot read the topology file"
refuses "an unknown word" "$here/quickstart" --what
finish
