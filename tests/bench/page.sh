#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make bench-page: the page in headless Chromium, with 648 hosts, a torus of 216 switches and
# 11,664 hosts: seconds from the navigation until the map is drawn, megabytes that its scripts hold then, and
# frames per second while it is panned. Median and each run; BENCH_RUNS: how many, 5. The load of the machine stands
# before and after, because a browser has to share it.
: "${srcdir:=.}" "${top_builddir:=.}"
# shellcheck source=tests/e2e/lib.sh
. "$srcdir/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/page/client.sh
. "$here/tests/e2e/page/client.sh"

figures() { # figures NAME ENGINE TOPO-ARGS...
	local name=$1 engine=$2
	shift 2
	"$bin/saguaro" topo "$@" -o "$work/$name.topo"
	open_page "$name" "$work/$name.topo" -R "$engine" --sweep_interval 0
	node "$work/npm/bench.mjs" "$name" "$url" "$chromium" "${BENCH_RUNS:-5}" || fail "$name"
	close_page
}

find_client
[ -z "$why" ] || skip "$why"
printf '%s processors, load %s\n' "$(nproc)" "$(cut -d' ' -f1-3 /proc/loadavg)"
figures 648 minhop ft2 36 18 18
figures torus torus-2QoS torus 6x6x6 2
figures 11664 minhop ft3 36
printf 'load %s\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
finish
