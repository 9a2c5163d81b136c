#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Alias GUIDs: the same Sets and Deletes of GUIDInfoRecord to OpenSM and to saguarod, answered
# alike; then, of saguarod: names of paths by MAD, HTTP and command line, tables of the ports,
# restarts of daemon and host. 16 hosts that hold 20 GUIDs each.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery smpquery opensm jq
[ -x "$bin/tests/sa_query" ] || skip "tests/sa_query is not built"

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 2 4 -o "$tree"
sed -i 's/4xEDR/4xQDR/' "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 1)
other=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 2 | head -n 1)

lid() { on "$1" ibstat | sed -n 's/.*Base lid: //p'; }
guid() { on "$1" ibstat | sed -n 's/.*Port GUID: 0x//p'; }
gid() { printf 'fe80::%s' "$(sed 's/..../&:/g;s/:$//' <<<"$1")"; }

GET=1 SET=2 DELETE=15 LID=1 BLOCK=2

# gir METHOD COMPONENTS LID BLOCK [PLACE=GUID...]: a line for sa_ask, with the SM_Key
gir() {
	local method=$1 mask=$2 record place g i
	record=$(printf '%04x%02x0000000000' "$3" "$4")
	shift 4
	local -a block=(0 0 0 0 0 0 0 0)
	for g in "$@"; do
		place=${g%%=*}
		block[place]=${g#*=}
		mask=$((mask | 16 << place))
	done
	for i in "${block[@]}"; do record+=$(printf '%016x' "$((16#${i}))"); done
	printf '%s 30 %x 1 %s\n' "$method" "$mask" "$record"
}

# Both do the same of this. GUIDs that the SM chooses are not here: each has its own.
questions() {
	local own=$1 other=$2 own_guid=$3 other_guid=$4 both=$((LID | BLOCK)) a=11223344556677
	gir $GET $both "$own" 0
	gir $SET $BLOCK "$own" 0 1=${a}01
	gir $SET $LID "$own" 0 1=${a}01
	gir $SET $both 2457 0 1=${a}01
	gir $SET $both "$own" 60 1=${a}01
	gir $SET $both "$own" 3 1=${a}01
	gir $SET $both "$own" 0 0=${a}01
	gir $SET $both "$own" 0 0=${a}01 1=${a}01
	gir $SET $both "$own" 0
	gir $SET $both "$own" 0 1=${a}01
	gir $GET $both "$own" 0
	gir $SET $both "$own" 0 1=${a}01
	gir $SET $both "$own" 0 2=${a}01
	gir $SET $both "$own" 0 1=${a}02
	gir $SET $both "$own" 0 2=${a}02 3=${a}04
	gir $GET $both "$own" 0
	gir $SET $both "$other" 0 1=${a}04
	gir $SET $both "$other" 0 1=${a}0a
	gir $SET $both "$own" 0 7="$other_guid"
	gir $SET $both "$own" 0 7="$own_guid"
	gir $SET $both "$own" 0 6=${a}14 7=${a}14
	gir $SET $both "$own" 1 0=${a}20 7=${a}27
	gir $SET $both "$own" 2 0=${a}30
	gir $GET $both "$own" 2
	gir $DELETE $BLOCK "$own" 0 1=0
	gir $DELETE $LID "$own" 0 1=0
	gir $DELETE $both 2457 0 1=0
	gir $DELETE $both "$own" 60 1=0
	gir $DELETE $both "$own" 0 0=0
	gir $DELETE $both "$own" 0 0=0 7=0
	gir $DELETE $both "$own" 0 1=0
	gir $DELETE $both "$own" 0 1=0
	gir $DELETE $both "$own" 0
	gir $SET $both "$other" 0 2=${a}02
	gir $DELETE $both "$other" 0 1=0
	mcast $SET "$own" ${a}04
	gir $DELETE $both "$own" 0 3=0
	gir $DELETE $both "$own" 0 3=0 6=0
	gir $GET $both "$own" 0
	mcast $DELETE "$own" ${a}04
	gir $DELETE $both "$own" 0 3=0
	gir $GET $both "$own" 0
	gir $GET $both "$other" 0
}

# mcast METHOD LID GUID: joins the broadcast group by a GUID, or leaves it
mcast() {
	printf '%s 38 10003 0 ff12401bffff000000000000fffffffffe80000000000000%s%s01\n' "$1" "$3" \
		"$(printf '0%.0s' {1..32})"
}

# Statuses, and the record where there is one, without LIDs, which each SM gives by itself.
answers() { # answers HOST
	questions "$(lid "$1")" "$(lid "$other")" "$(guid "$1")" "$(guid "$other")" >"$work/questions"
	on "$1" "$bin/tests/sa_query" <"$work/questions" >"$work/answers"
	paste -d ' ' "$work/questions" "$work/answers" |
		awk '$2 == "38" { print NR, $6; next } { print NR, $6, $6 == "0000" ? substr($7, 5, 140) : "" }'
}

start_simulator "$tree" --guid-cap 20
start_opensm_on "$host" osm
opensm_settles osm
want=$(answers "$far")
end_process "$opensm"
stop_simulator

start_simulator "$tree" --guid-cap 20
start_daemon_on "$host" d
start_gateway g
wait_ready
got=$(answers "$far")
same "as many answers as questions" "$(wc -l <"$work/questions")" "$(wc -l <<<"$got")"
refuses "none is missing" grep -q none <<<"$want$got"
same "OpenSM and saguarod answer alike" "$want" "$got"

# --- names ---------------------------------------------------------------------------------------

far_lid=$(lid "$far")
host_guid=$(guid "$host")
alias=1122334455667720 # set above, in block 1
name=$(gid $alias)
in_port() { # GUIDs of the port itself
	on "$far" smpquery guidinfo "$far_lid" 2>/dev/null | grep -o '0x[0-9a-f]*' || true
}
# shellcheck disable=SC2317 # called by until_true
programmed() { [ "$(curl -s -o /dev/null -w '%{http_code}' "$url/paths?src=$name&dst=0x$host_guid")" = 200 ]; }
holds "it is published" until_true programmed
same "HTTP tells the path by that name" "$name" \
	"$(get "/paths?src=$name&dst=0x$host_guid" | jq -r '.paths[0].sgid')"
same "and by the GUID" "$name" "$(get "/paths?src=0x$host_guid&dst=0x$alias" | jq -r '.paths[0].dgid')"
has "saguaro paths knows it" "$("$bin/saguaro" paths "$name" "0x$host_guid" --snapshot-dir "$run_dir" 2>&1)" "$far_lid"
has "saquery, too" "$(on "$host" saquery PR --sgid "$name" --dgid "$(gid "$host_guid")" 2>/dev/null)" "${name#fe80::}"
holds "GUIDInfoRecord shows it" grep -q "0x$alias" <<<"$(on "$far" saquery GIR 2>/dev/null)"
# shellcheck disable=SC2317 # called by until_true
port_has_them() { grep -q "0x$alias" <<<"$(in_port)"; }
holds "the port has it" until_true port_has_them

# --- restarts ------------------------------------------------------------------------------------

records() { on "$host" saquery GIR 2>/dev/null | grep GUID | sort; }
before=$(records)
# shellcheck disable=SC2317 # called by until_true
as_before() { [ "$(records)" = "$before" ]; }
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "$host" d
holds "they survive the death of the daemon" until_true as_before
wait_ready
ctl node down "$far"
holds "a host that is off has none" until_true eval '! as_before'
ctl node up "$far"
holds "and has them again when it is back" until_true as_before
ctl reboot "$far"
holds "also in a port that lost its table" until_true port_has_them
count() { on "$far" sminfo | sed -n 's/.*activity count \([0-9]*\).*/\1/p'; }
counted() { on "$far" saquery SMIR 2>/dev/null | sed -n 's/.*ActCount\.*//p'; }
holds "SMInfoRecord counts as SMInfo does" [ "$(counted)" -ge "$(($(count) - 1000))" ] && [ "$(counted)" -gt 0 ]
http_count() { get /v1/records/sminfo | jq '.records[0].act_count'; }
mad_count=$(counted)
# shellcheck disable=SC2317 # called by until_true
http_caught_up() { [ "$(http_count)" -ge "$mad_count" ]; }
holds "and so it does over HTTP" until_true http_caught_up
holds "which is never ahead" [ "$(http_count)" -le "$(counted)" ]
end_process "$daemon"
end_process "$gateway"
stop_simulator
finish
