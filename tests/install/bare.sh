#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A minimal Debian with nothing but a checkout: the README's first command installs what is
# missing, builds, shows the demo, and ends with Ctrl-C; afterwards quickstart build finds nothing
# to do, and needs no network.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh" || exit 1
# shellcheck source=tests/install/root.sh
. "$here/tests/install/root.sh" || exit 1
need_root git
git -C "$here" rev-parse --git-dir >/dev/null 2>&1 || skip "not a checkout"
(exec 3<>/dev/tcp/127.0.0.1/8620) 2>/dev/null && skip "something listens on port 8620"

new_root bare
mkdir "$root/saguaro"
git -C "$here" ls-files -z | tar -C "$here" -cf - --null -T - | tar -C "$root/saguaro" -xf -
# inside FLAG TEXT: bash reads the text in the system; what it printed is in $root/out and $root/err.
inside() {
	systemd-nspawn -q -D "$root" --register=no --keep-unit --pipe --as-pid2 --resolv-conf=copy-host "$1" \
		bash -c "cd /saguaro; exec >/out 2>/err; $2" </dev/null
}
# A job of an interactive shell: Ctrl-C reaches its process group.
inside --setenv=PAGER=cat 'set -m
./quickstart &
until grep -q "Ctrl-C stops it" /out; do kill -0 $! 2>/dev/null || break; sleep 0.2; done
kill -INT -- -$!
wait $!
echo "exit status $?"'
out=$(cat "$root/out")
sed 's/^/| /' "$root/err" "$root/out"
same "three commands" 3 "$(grep -c '^\$ ' <<<"$out")"
has "a curl with its answer" "$out" '"paths":[{'
has "saguaro status with its answer" "$out" "subnet           up"
has "Ctrl-C is no failure" "$out" "exit status 0"
same "nothing stays in the temporary folder" "" "$(ls -A "$root/tmp")"
same "no command was missing" "" "$(grep -i 'not found' "$root/err" | grep -v '^npm not found: ')"

holds "quickstart build without a network" inside --private-network './quickstart build || exit 1'
same "installs nothing" "" "$(grep installing "$root/err")"
sed 's/^/| /' "$root/err"
rm -rf "$root"
finish
