#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make page-picture: doc/page.png, the page of a fat tree of 128 hosts with a lost cable, a
# degraded one and a path.
: "${srcdir:=.}" "${top_builddir:=.}"
# shellcheck source=tests/e2e/lib.sh
. "$srcdir/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
# shellcheck source=tests/e2e/page/client.sh
. "$here/tests/e2e/page/client.sh"

find_client
[ -z "$why" ] || { fail "$why"; finish; }
"$bin/saguaro" topo ft3 8 -o "$work/tree.topo"
start_simulator "$work/tree.topo"
start_daemon_on node001 sm --sweep_interval=1
start_gateway gw
wait_ready
cd "$work" || exit 1
node "$work/npm/picture.mjs" "$url" "$chromium" "$bin" "$here/doc/page.png"
same "picture" 0 "$?"
size=$(wc -c <"$here/doc/page.png")
[ "$size" -lt 200000 ] || fail "doc/page.png has $size bytes, at most 200,000"
finish
