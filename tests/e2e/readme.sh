#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Every command of README.md runs as it is written there, in order, in one empty folder: each
# indented line without its comment. Commands that cannot run here are named below with their
# reasons. Programs come from the build and keep their folders and their port to themselves.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
# shellcheck source=tests/e2e/document.sh
. "$here/tests/e2e/document.sh"
need_clients saquery jq

# A command, a tab, why it does not run.
# shellcheck disable=SC2034 # for document.sh
not_run='./quickstart	tests/e2e/quickstart.sh runs it
./quickstart check	runs this test
saguarod	needs an InfiniBand adapter
saguarod --fabric umad:mlx5_0:1 -R minhop -l 1	needs an InfiniBand adapter
saguarod --oob-listen 127.0.0.1:3245 ...	is no whole command: tests/e2e/opasaquery.sh
opasaquery -b 127.0.0.1 -o node	the port may be in use: tests/e2e/opasaquery.sh runs it on a free one'

before_line() {
	case $1 in
	*opensm-lfts.dump*) holds "a dump of somebody's tables" saguaro route my.topo --dump-lfts opensm-lfts.dump ;;
	'saguaro-sim --run saguarod'*) end_process "$daemon" ;; # of the section before; its folders are the same
	esac
}

has "README has commands" "$(commands_of "$here/README.md")" "saguaro-sim"
new_folders readme
run_document "$here/README.md"
not_run_is_there "$here/README.md"
end_servers
finish
