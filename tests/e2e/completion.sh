#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Completion of saguaro on a running fabric: by the functions of bash, and by zsh where it is installed.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"

start_daemon d --fabric "sim:$here/tests/fabrics/two-switch.topo"
until_true log_says d 'SUBNET UP' || { fail "saguarod does not come up"; finish; }
export SAGUARO_SNAPSHOT_DIR=$run_dir
until_true test -n "$("$bin/saguaro" nodes --field name)"

# shellcheck source=dist/saguaro
. "$here/dist/saguaro"
PATH=$bin:$PATH

# completes LINE CANDIDATES: as bash does at the end of the line.
completes() {
	COMP_LINE=$1 COMP_POINT=${#1} COMPREPLY=()
	_saguaro
	same "'$1'" "$2" "${COMPREPLY[*]}"
}
completes "saguaro wha" "whatif"
completes "saguaro nodes --js" "--json"
completes "saguaro why nod" "node1 node2 node3 node4"
completes "saguaro why node1 sw" "sw1 sw2"
completes "saguaro why sw1:" "0 1 2 3 4 5 6 7 8"
completes "saguaro port disable sw1:7" "7"
completes "saguaro port " "disable enable"
completes "saguaro links --field a." "a.guid a.port a.name a.type a.state"
completes "saguaro nodes --field guid,na" "guid,name"
completes "saguaro records node --field node_g" "node_guid"
completes "saguaro records NodeR" "NodeRecord"
completes "saguaro lft sw" "sw1 sw2"
completes "saguaro route x.topo -R dn" "dnup"
completes "saguaro events --kind subnet" "subnet_up"
completes "saguaro diff --kind link" "link_new link_lost"
completes "saguaro report valid" "validatecreditloops validateroutes"
completes "saguaro partition sh" "show"
completes "saguaro partition add --if" "--if_version"
completes "saguaro partition add 0x1 nod" "node1 node2 node3 node4"
completes "saguaro keys " "init"
completes "saguaro help doc" "doctor"
completes "saguaro lids --snapshot_dir $work/none --field " "lid lmc port_guid node_guid port type name description"
has "help of a command" "$("$bin/saguaro" help doctor)" "Usage: saguaro doctor"

if command -v zsh >/dev/null; then
	# The file runs in a shell whose compadd prints instead of offering.
	said=$(cd "$work" && zsh -f -c '
		_call_program() { shift; eval "$*"; }
		compadd() { print -rl -- ${(P)@[-1]}; }
		_files() { print files; }
		words=(saguaro why nod); CURRENT=3
		. "$1"
		words=(saguaro check /no); CURRENT=3
		. "$1"' zsh "$here/dist/zsh/_saguaro" 2>&1)
	same "zsh" "node1 node2 node3 node4 files" "$(tr '\n' ' ' <<<"$said" | sed 's/ $//')"
else
	printf 'zsh is not installed: its completion is not tried\n'
fi
finish
