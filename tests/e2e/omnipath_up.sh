#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguarod brings fabrics of Omni-Path devices up from power-on: the six on which the packaged fabric
# manager is tried (omnipath_sm.sh). Tools of Omni-Path read what it left, by path and by LID. A cable is
# pulled and put back.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"

"$bin/saguaro" topo ft2 8 6 4 -o "$work/two-tier.topo"
"$bin/saguaro" topo ft3 4 -o "$work/three-tier.topo"
"$bin/saguaro" topo director 4 4 1 3 2 1 2 -o "$work/director.topo"
"$bin/saguaro" topo mesh 3x3 2 -o "$work/mesh.topo"
sed -e '/node0[3-5]/s/4xEDR/4xQDR/' -e '/"leaf-0001"\[8\]/s/4xEDR/1xEDR/' "$work/two-tier.topo" >"$work/mixed.topo"
cp "$work/two-tier.topo" "$work/dead-port.topo"

ports_in() { for s in $(ctl list | awk '{ print $2 }'); do ctl show "$s"; done | grep -c "^  \[[0-9]*\] $1" || true; }
first_host() { sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/$1.topo" | head -n 1; }

# bring_up FABRIC [CUT]: all ports with a cable become ACTIVE.
bring_up() {
	start_simulator "$work/$1.topo" --omnipath
	[ -z "${2:-}" ] || ctl link down "$2"
	start_daemon_on "$(first_host "$1")" "$1" --sweep_interval=1
	holds "$1: comes up" until_true log_says "$1" 'SUBNET UP'
	same "$1: nothing stays behind" 0 "$(ports_in '\(init\|armed\)')"
	printf '%s: %s; %s SMPs\n' "$1" "$(grep -o 'SUBNET UP.*' "$work/$1.log" | head -n 1)" "$(ctl smps | sed -n 's/^all *//p')"
}
end_fabric() {
	end_process "$daemon"
	unset 'pids[-1]'
	stop_simulator
}

sed -e 's/4xEDR/4xNDR/' "$work/mesh.topo" >"$work/fast.topo"
bring_up fast
mapfile -t ends < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/fast.topo")
has "lanes of 100 Gb/s" "$("$bin/saguaro" paths "${ends[0]}" "${ends[5]}" --snapshot-dir "$run_dir")" "400 Gb/s"
end_fabric

for fabric in three-tier director mesh mixed; do
	bring_up "$fabric"
	end_fabric
done
bring_up dead-port 'h00004[1]'
has "a host without a cable has no LID" "$(ctl show h00004)" "[1] down, cut, lid 0"
end_fabric

bring_up two-tier
far=$(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/two-tier.topo" | tail -n 1)
lid=$(ctl show "$far" | sed -n 's/.*active, lid \([0-9]*\) .*/\1/p')

export SAGUARO_SNAPSHOT_DIR=$run_dir
proof=$("$bin/saguaro" check --json)
same "what is published is proven" "0 0" "$(jq -r '"\(.credit_loops // .proof.credit_loops) \(.unreachable_pairs // .proof.unreachable_pairs)"' <<<"$proof")"

if command -v opasmaquery >/dev/null; then
	# shellcheck disable=SC2317 # called by until_true
	answered() {
		said=$(on "$far" "$@" 2>&1)
		[[ $said != *"No hfi"* && $said != *imeout* && $said != *TIMEOUT* ]]
	}
	ask() {
		until_true answered "$@"
		printf '%s\n' "$said"
	}
	has "ACTIVE by LID" "$(ask opasmaquery -l "$lid" -o portinfo)" "PortState:        Active"
	has "the MTU of the lane in use, and of no other" "$(ask opasmaquery -l "$lid" -o portinfo)" "00:10240 01:    0"
	has "a path for SMPs" "$(ask opasmaquery -l "$lid" -o pkey)" "0xffff  0x7fff  0xffff"
	leaf=$(ctl show leaf-0000 | sed -n 's/.*\[0\] active, lid \([0-9]*\) .*/\1/p')
	has "a switch knows the LID of its host" "$(ask opasmaquery -l "$leaf" -m 1 -o portinfo)" \
		"BaseLID:       $(printf '0x%08x' "$(ctl show "$(first_host two-tier)" | sed -n 's/.*active, lid \([0-9]*\) .*/\1/p')")"
	# the tables of all switches, as a foreign program reads them from the devices
	"$bin/saguaro" export topology >"$work/found.topo"
	for sw in $(ctl list switches | awk '{ print $3 }'); do
		at=$(ctl show "$sw" | sed -n 's/.*\[0\] active, lid \([0-9]*\) .*/\1/p')
		printf "Unicast lids [0-60] of switch Lid %s guid %s ('%s'):\n" "$at" "$(ctl show "$sw" | awk 'NR == 1 { print $2 }')" "$sw"
		ask opasmaquery -l "$at" -o linfdb | sed -n 's/^  LID 0x0000\(....\) -> Port *\([0-9]*\)$/0x\1 \2/p' |
			awk '$2 != 255 { printf "%s %03d\n", $1, $2 }'
	done >"$work/read.lfts"
	holds "the tables in the switches are proven" "$bin/saguaro" check "$work/found.topo" --lfts "$work/read.lfts"
fi
if command -v opasaquery >/dev/null; then
	same "nodes of its administration" 60 "$(on "$far" opasaquery -o node | grep -c '^LID:')"
	path=$(on "$far" opasaquery -o path -l "$lid")
	has "a path" "$path" "Rate: 100g"
	has "with Omni-Path's MTU" "$path" "10240"
fi

# shellcheck disable=SC2317 # called by until_true
repaired() { [ "$(ports_in '\(init\|armed\)')" = 0 ] && ctl show spine-0001 | grep -q '^  \[1\] active'; }
ctl link down 'spine-0001[1]'
holds "a pulled cable is seen" until_true log_says two-tier 'cable lost'
ctl link up 'spine-0001[1]'
holds "the cable is used again" until_true repaired
same "nothing but the cable is worth a warning" "" "$(grep -E '^(warning|error)' "$work/two-tier.log" | grep -v 'SAG-START\|cable')"
end_fabric
finish
