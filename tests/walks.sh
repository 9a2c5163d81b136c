#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make walks: how many functions, in how many files, are entered on three ways through the
# programs. They are counted in programs compiled without optimisation, so an inline function is
# one, too; "not_inlined" are those that a debugger finds in the optimised programs. Lines of JSON;
# lists of the functions in walks/ of the build folder. Needs curl.
#
#   trap  from trap 128 of a lost cable to the Set of the first block of a forwarding table, on
#         all threads; routing on one thread
#   path  from a PathRecord request by LIDs to its reply, on the thread that takes it
#   get   from GET /paths to its answer, on the thread that takes it
#
# Requests were asked before, so that files and tables are open.
#
# SOURCE=DIR walks another tree, whose marks TRAP, PATH_RECORD and GET give: FUNCTION@FILE of the
# first function, of those that have to follow, and of the one that sends. PLAIN=DIR has its
# optimised programs.
export top_builddir=${top_builddir:-.} srcdir=${srcdir:-.}
# shellcheck source=tests/e2e/lib.sh
. "$srcdir/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$srcdir/tests/e2e/simulator.sh"
source=$(cd "${SOURCE:-$srcdir}" && pwd)
plain=${PLAIN:-$bin}
walks=${WALKS:-$bin/walks}
TRAP=${TRAP:-take_trap@sa/sm/sweep/agent.c send_block@sa/sm/program/program_lfts.c umad_op_send@sa/mad/umad.c}
PATH_RECORD=${PATH_RECORD:-sa_server_receive@sa/server/server_receive.c umad_op_send@sa/mad/umad.c}
GET=${GET:-begin@gateway/httpd/server.c httpd_queue@gateway/httpd/server.c}

mkdir -p "$walks"
walks=$(cd "$walks" && pwd)
(
	set -e
	cd "$walks"
	${CC:-gcc} -O1 -fPIC -c -o entered.o "$here/tests/mutate/entered.c"
	[ -f Makefile ] || "$source/configure" CFLAGS='-O0 -g1 -finstrument-functions' LIBS="$walks/entered.o"
	make -j"$(nproc)" all
	make -j"$(nproc)" tests/sa_query
) >"$walks/build.log" 2>&1 || { fail "$walks/build.log"; finish; }
bin=$walks

# address PROGRAM FUNCTION@FILE: as nm shows it
address() {
	nm "$bin/$1" | awk -v f="${2%@*}" '$3 == f { print $1 }' | while read -r at; do
		[[ $(addr2line -e "$bin/$1" "$at") != */"${2#*@}":* ]] || echo "$at"
	done | head -n 1
}

# marked NAME PROGRAM MARKS...: what the program is told by its environment
marked() {
	local mark at marks=
	export MUTATE_ENTERED=$walks/$1.entered WALK_ARMED=$work/$1.armed
	rm -f "$MUTATE_ENTERED"
	for mark in "${@:3}"; do
		at=$(address "$2" "$mark")
		[ -n "$at" ] || { fail "$2 has no function $mark"; finish; }
		marks=$marks,$at
	done
	export WALK_MARKS=${marks#,}
}

lines() { { wc -l <"$walks/$1.entered"; } 2>/dev/null || echo 0; }

# walked NAME PROGRAM: counts, when the walk is over
walked() {
	local n=-1
	until [ "$n" = "$(lines "$1")" ] && [ "$n" != 0 ]; do
		n=$(lines "$1")
		sleep 1
	done
	awk -v p="$2" '$1 == p { print $2 }' "$walks/$1.entered" | addr2line -f -e "$bin/$2" | paste - - |
		sed -n "s, (discriminator.*,,; s,\t$source/,\t,p" | sort -u >"$walks/$1.functions"
	nm "$plain/$2" | awk -F'\t' -v walk="$1" 'NR == FNR { sub(/^.* [tT] /, ""); sub(/\..*/, ""); plain[$0]; next }
		{ sub(/:[0-9?]*$/, "", $2); n++; file[$2] }
		$1 in plain { n_plain++; plain_file[$2] }
		END { printf "{\"walk\":\"%s\",\"functions\":%d,\"files\":%d,\"not_inlined\":%d,\"their_files\":%d}\n", walk, n, length(file), n_plain, length(plain_file) }' \
		- "$walks/$1.functions"
}

export OMP_NUM_THREADS=1
need_clients curl
tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 4 2 -o "$tree"
mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$tree")
leaf=$(sed -n 's/^Switch.*# "\([^"]*\)".*/\1/p' "$tree" | head -n 1)
start_simulator "$tree"

# shellcheck disable=SC2086 # marks are words
{
	marked trap saguarod $TRAP
	start_daemon_on "${hosts[0]}" trap
	until_true log_says trap 'SUBNET UP' || { fail "does not come up"; finish; }
	start_gateway first
	wait_ready
	touch "$WALK_ARMED"
	ctl link down "${leaf}[5]"
	walked trap saguarod
	end_process "$daemon"
	end_process "$gateway"

	export WALK_THREAD=1
	marked path saguarod $PATH_RECORD
	start_daemon_on "${hosts[0]}" path
	until_true log_says path 'SUBNET UP' || { fail "does not come up"; finish; }
	marked get saguaro-gateway $GET
	start_gateway get
	unset WALK_MARKS MUTATE_ENTERED
	wait_ready
	record() { # by SLID, DLID, NumbPath 1
		on "${hosts[1]}" "$bin/tests/sa_query" <<<"1 35 1030 0 $(printf '%080d' 0)$(printf '%04x%04x' "$2" "$1")000000000001"
	}
	mapfile -t lids < <(get "/paths?src=${hosts[1]}&dst=${hosts[2]}" | grep -oE '"[sd]lid":[0-9]+' | sort -r | grep -oE '[0-9]+')
	for ((i = 0; i < 10; i++)); do record "${lids[0]}" "${lids[1]}" >/dev/null; done
	touch "$work/path.armed"
	record "${lids[0]}" "${lids[1]}" >"$walks/path.answer"
	walked path saguarod
	for ((i = 0; i < 50; i++)); do get "/paths?src=${hosts[1]}&dst=${hosts[2]}" >/dev/null; done # on all threads
	touch "$work/get.armed"
	get "/paths?src=${hosts[1]}&dst=${hosts[2]}" >"$walks/get.answer"
	walked get saguaro-gateway
}
finish
