#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro-sim and the field's own programs: OpenSM comes up on it and the clients work; then
# saguarod over umad on the same fabric, looked at by the same clients; whole path tables in
# all four modes; cables that are pulled and plugged in. 48 hosts.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
# shellcheck source=tests/e2e/clients.sh
. "$here/tests/e2e/clients.sh"
need_clients ibnetdiscover iblinkinfo ibroute sminfo ibtracert saquery smpquery perfquery ibstat ibaddr ibhosts ibswitches ibqueryerrors ibportstate dump_lfts opensm jq

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 1)
leaf=$(sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
switches=12 hosts=48

records() { grep -c 'Record dump' <<<"$1"; }

# --- errors name the remedy -------------------------------------------------------------------

export SAGUARO_SIM_SOCKET=$work/none.sock
refuses "--run without a simulator" "$bin/saguaro-sim" --run true
has "names the remedy" "$said" "saguaro-sim FILE"
refuses "no topology file" "$bin/saguaro-sim" "$work/none.topo"
refuses "no arguments" "$bin/saguaro-sim"
has "names topo" "$said" "saguaro topo"

start_simulator "$tree"
has "the ready line counts" "$sim_ready" "$switches switches, $hosts hosts"
refuses "a second one on the socket" "$bin/saguaro-sim" "$tree"
has "names --socket" "$said" "--socket"
refuses "--run on a host that is not there" "$bin/saguaro-sim" --run --host h99999 true
has "names ctl list" "$said" "ctl list"
refuses "a command that is not there" "$bin/saguaro-sim" --run "$work/nothing"
refuses "a link that is not there" ctl link down "\"$leaf\"[99]"
has "lists the cables" "$said" "cables of this node are at 1, 2"
same "without a simulator no machine's own adapters" "" \
	"$(LD_PRELOAD=$bin/libsaguaro-umad-sim.so SAGUARO_SIM_SOCKET=$work/none.sock ibstat -l 2>/dev/null)"

# --- before any SM ----------------------------------------------------------------------------

has "ibstat: no SM yet" "$(on "$host" ibstat)" "State: Initializing"
same "ibnetdiscover finds all" "$((switches + hosts))" "$(on "$far" ibnetdiscover -l | wc -l)"
refuses "saquery without an SM" on "$host" saquery NR

# --- OpenSM -----------------------------------------------------------------------------------

start_opensm_on "$host" osm
opensm_settles osm
has "ibstat: active" "$(on "$far" ibstat)" "State: Active"
has "sminfo" "$(on "$far" sminfo)" "SMINFO_MASTER"
same "a whole table of nodes" "$((switches + hosts))" "$(records "$(on "$far" saquery NR)")"
same "a whole table of paths, all pairs" "$(((switches + hosts) * (switches + hosts)))" "$(records "$(on "$far" saquery PR)")"
holds "smpquery, directed" on "$far" smpquery -D nodeinfo 0
holds "smpquery, directed and by LID" on "$far" smpquery -c nodeinfo 2 0
holds "ibtracert" on "$far" ibtracert 1 2
far_lid=$(on "$far" ibstat | sed -n 's/.*Base lid: //p')
packets() { on "$host" perfquery -x "$far_lid" 1 | sed -n 's/^PortRcvPkts:\.*//p'; }
first=$(packets)
holds "perfquery: counters grow" [ "$(packets)" -gt "$first" ]
# ibdiagnet gives an answer 100 ms, which no option changes: here it gets more.
diagnosis=$(command -v ibdiagnet)
if [ -n "$diagnosis" ]; then
	mkdir "$work/dia"
	sed "s/^set argv0/rename ibis_set_transaction_timeout set_timeout\\
proc ibis_set_transaction_timeout {ms} { set_timeout $client_ms }\\
&/" "$diagnosis" >"$work/ibdiagnet"
	has "ibdiagnet has more time" "$(cat "$work/ibdiagnet")" "{ set_timeout $client_ms }"
	has "ibdiagnet: no bad links" "$(on "$host" sh "$work/ibdiagnet" -o "$work/dia" 2>&1)" "No bad Links (with logical state = INIT) were found"
fi
ups() { grep -c 'SUBNET UP' "$work/osm.log"; }
before=$(ups)
ctl link down "\"$leaf\"[7]"
# shellcheck disable=SC2317 # called by until_true
more_ups() { [ "$(ups)" -gt "$before" ]; }
holds "OpenSM hears the trap and sweeps" until_true more_ups
ctl link up "\"$leaf\"[7]"
end_process "$opensm"

# --- saguarod ---------------------------------------------------------------------------------

start_daemon_on "$host" d
start_gateway g
wait_ready
host_pair
agree saguarod "$far"
same "a whole table of nodes" "$((switches + hosts))" "$(records "$(on "$far" saquery NR)")"
has "ibstat has the LID at once" "$(on "$host" ibstat)" "Base lid: $(get /v1/fabric | jq .sm.lid)"
[ -z "$diagnosis" ] || holds "ibdiagnet" on "$host" sh "$work/ibdiagnet" -o "$work/dia"
first_switch=$(get /v1/nodes | jq '[.nodes[] | select(.type == "switch")][0].lid')
far_lid=$(on "$far" ibstat | sed -n 's/.*Base lid: //p')
same "ibaddr" "$(printf 'LID start 0x%x end 0x%x' "$far_lid" "$far_lid")" "$(on "$far" ibaddr "$far_lid" | grep -o 'LID start.*')"
same "ibhosts" $hosts "$(on "$far" ibhosts | wc -l)"
same "ibswitches" $switches "$(on "$far" ibswitches | wc -l)"
has "ibqueryerrors" "$(on "$far" ibqueryerrors)" "$((switches + hosts)) nodes checked, 0 bad nodes found"
same "dump_lfts: every LID on every switch" $((switches * (switches + hosts))) "$(on "$far" dump_lfts 2>/dev/null | grep -c '^0x')"
has "ibportstate" "$(on "$far" ibportstate "$first_switch" 1)" Active
has "perfquery of a LID alone" "$(on "$far" perfquery "$far_lid")" PortRcvPkts
same "smpquery nodedesc" "$(get "/v1/records/NodeRecord?lid=$far_lid" | jq -r '.records[0].node_description')" "$(on "$far" smpquery nodedesc "$far_lid" | sed 's/.*[.][.]//')"

# Quality of service is off: records show what ports have, as they say themselves.
tables_of_smpquery() { # in out VLs
	awk -F'[:|]' '/^ports/ { split($2, w, /[ ,]+/); line = w[3] " " w[5]; for (i = 4; i < 20; i++) line = line " " $i + 0; print line }'
}
tables_of_saquery() {
	awk -F'[.]+' '/InPort/ { a = $2 } /OutPort/ { b = $2 } / VL:/ || /\tVL:/ { sub(/.*VL:/, ""); n = split($0, v, "|"); line = a " " b; for (i = 1; i < n; i++) line = line " " v[i] + 0; print line }'
}
want=$(on "$far" smpquery sl2vl "$first_switch" 7 2>/dev/null | tables_of_smpquery | sort)
same "smpquery sl2vl has the tables of all ports in" "$(get /v1/nodes | jq '[.nodes[] | select(.type == "switch")][0].ports | length')" "$(wc -l <<<"$want")"
same "saquery SL2VL has the same" "$want" "$(on "$far" saquery SL2VL "$first_switch//7" 2>/dev/null | tables_of_saquery | sort)"
same "and HTTP, once somebody asked" "$want" "$(get "/v1/records/SLtoVLTableRecord?lid=$first_switch&output_port_num=7" |
	jq -r '.records[] | "\(.input_port_num) \(.output_port_num) \(.sl_to_vl_mapping_table | map(tostring) | join(" "))"' | sort)"

path_hops() { get "/paths?src=$a&dst=$b&hops=1" | jq -c '.paths[0].hops | map([.guid, .in_port, .out_port])'; }
epoch() { get /v1/fabric | jq .epoch; }
# shellcheck disable=SC2317 # called by until_true
epoch_past() { [ "$(epoch)" -gt "$1" ] && ready; }
change() { # change WHAT CTL-WORDS...: waits for the epoch that follows
	local before what=$1
	shift
	before=$(epoch)
	ctl "$@"
	holds "$what: a new epoch follows" until_true epoch_past "$before"
}
up=$(path_hops | jq '.[0][2]')
change "link down" link down "\"$leaf\"[$up]"
holds "the path takes another uplink" [ "$(path_hops | jq '.[0][2]')" != "$up" ]
same "and ibtracert takes it too" "$(hops_of_http "$a" "$b")" "$(on "$far" ibtracert "$a" "$b" 2>/dev/null | hops_of_ibtracert)"
change "link up" link up "\"$leaf\"[$up]"
change "host off" node down "$far"
same "its path is gone" 404 "$(curl -s -o /dev/null -w '%{http_code}' "$url/paths?src=$a&dst=$b")"
change "host on" node up "$far"
same "and back" 200 "$(curl -s -o /dev/null -w '%{http_code}' "$url/paths?src=$a&dst=$b")"
end_process "$daemon"
end_process "$gateway"

# --- whole path tables, every mode ------------------------------------------------------------

all=1000
for lmc in 0 1 3; do
	for mode in minimal pairwise orderall srcdstall; do
		start_daemon_on "$host" "m$lmc" --lmc "$lmc" --path-selection "$mode"
		start_gateway "g$lmc"
		wait_ready
		host_pair
		want=$("$bin/saguaro" paths "$a_guid" "$b_guid" --json --snapshot-dir "$run_dir" | record_of_json $all)
		case $mode in minimal | pairwise) n=$((1 << lmc)) ;; *) n=$((1 << 2 * lmc)) ;; esac
		same "LMC $lmc, $mode: so many paths" "$n" "$(wc -l <<<"$want")"
		same "LMC $lmc, $mode: saquery by GIDs, whole" "$want" \
			"$(on "$far" saquery PR --sgid "$(gid "$a_guid")" --dgid "$(gid "$b_guid")" 2>/dev/null | record_of_saquery $all)"
		end_process "$daemon"
		end_process "$gateway"
	done
done

# --- several ports and adapters -----------------------------------------------------------------

stop_simulator
start_simulator "$here/tests/fabrics/dual-port.topo"
two=$(on node1 ibstat)
same "both ports of an adapter" "1 2" "$(sed -n 's/^\tPort \([0-9]*\):/\1/p' <<<"$two" | xargs)"
has "by the first word of its description" "$two" "Node GUID: 0x0002c90500001000"
same "the second port" 2 "$(on node1 smpquery -P 2 -D nodeinfo 0 | sed -n 's/^LocalPort:\.*//p')"
same "two adapters" "sim0 sim1" "$(on h1,h2 ibstat -l | xargs)"
same "each is its own" 0x0002c90500002000 "$(on h1,h2 ibstat sim1 2>/dev/null | sed -n 's/.*Node GUID: //p')"

# --- the end ----------------------------------------------------------------------------------

stop_simulator
same "nothing is left of it" "" "$(ls "$work" | grep "^sim\.sock")"
finish
