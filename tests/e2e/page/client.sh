# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The page and a browser for it; source it after lib.sh.
# shellcheck shell=bash disable=SC2154,SC2034 # shares variables with lib.sh

page=$here/gateway/web/dist
chromium=$(command -v chromium || command -v chromium-browser)

# find_client: the browser's client in $work/npm; or why there is none in $why.
find_client() {
	why=
	[ -f "$page/index.html" ] || why="the page is not built (make web)"
	[ -z "$why" ] && [ -n "$(find "$here/gateway/web/src" "$here/gateway/web/build.mjs" -newer "$page/index.html")" ] &&
		why="the page is older than its sources (make web)"
	[ -n "$chromium" ] || why="chromium is not installed"
	command -v npm >/dev/null || why="npm is not installed"
	[ -z "$why" ] || return
	mkdir "$work/npm"
	cp "$here"/tests/e2e/page/* "$work/npm"
	(cd "$work/npm" && timeout 120 npm ci --ignore-scripts --no-audit --no-fund) >"$work/npm.log" 2>&1 ||
		why="playwright-core and axe-core cannot be had from npm"
}

# open_page NAME TOPO-FILE DAEMON-ARGS...: a daemon on that fabric, and a gateway with the page.
open_page() {
	local name=$1 file=$2
	shift 2
	start_daemon "$name" --fabric "sim:$file" "$@"
	start_gateway "gw-$name"
	wait_ready
	export SAGUARO_SNAPSHOT_DIR=$run_dir
}

close_page() {
	end_process "$gateway"
	end_process "$daemon"
}
