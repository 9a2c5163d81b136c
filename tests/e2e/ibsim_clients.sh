#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguarod on umad over ibsim, looked at by the field's own clients: ibnetdiscover, iblinkinfo,
# ibroute, sminfo, ibtracert and saquery agree with HTTP, on ibsim's example nets and a
# generated tree of 648 hosts.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/ibsim.sh
. "$here/tests/e2e/ibsim.sh"
need_ibsim ibnetdiscover iblinkinfo ibroute sminfo ibtracert saquery jq
nets=/usr/share/doc/ibsim-utils/net-examples

# shellcheck source=tests/e2e/clients.sh
. "$here/tests/e2e/clients.sh"

up_on() { # up_on NET HOST NAME ARGS...: everything runs and is ready
	start_ibsim "$1"
	start_daemon_on "$2" "$3" "${@:4}"
	start_gateway "gw-$3"
	wait_ready
	host_pair
}

down() {
	kill "$daemon" "$gateway"
	wait "$daemon" "$gateway" 2>/dev/null
	stop_ibsim
}

for net in net net.1 net.2sw2path net.2sw2path4hca net.2sw2path4hca2port; do
	[ -r "$nets/$net" ] || continue
	host=$(sed -n 's/^\(Hca\|Ca\)[^"]*"\([^"]*\)".*/\2/p' "$nets/$net" | head -n 1)
	up_on "$nets/$net" "$host" "$net"
	agree "$net" "$host"
	holds "$net: SUBNET UP" log_says "$net" "SUBNET UP"
	down
done

tree=$work/tree.topo
"$bin/saguaro" topo ft2 36 18 18 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 1)
up_on "$tree" "$host" tree648
agree tree648 "$far"
down

# Modes: the first two records of a table arrive whole over ibsim.
for lmc in 0 1 3; do
	for mode in minimal pairwise orderall srcdstall; do
		up_on "$nets/net.2sw2path4hca" Hca1 "m$lmc$mode" --lmc "$lmc" --path-selection "$mode"
		records=$((lmc == 0 ? 1 : 2))
		want=$(get "/paths?src=$a_guid&dst=$b_guid" | record_of_json $records)
		same "LMC $lmc, $mode: saquery by GIDs" "$want" \
			"$(on Hca1 saquery PR --sgid "$(gid "$a_guid")" --dgid "$(gid "$b_guid")" 2>/dev/null | record_of_saquery $records)"
		same "LMC $lmc, $mode: command line" "$want" \
			"$("$bin/saguaro" paths "$a_guid" "$b_guid" --json --snapshot-dir "$run_dir" | record_of_json $records)"
		down
	done
done
finish
