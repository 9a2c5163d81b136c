#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Records of an Omni-Path fabric that saguarod brought up: subnet administration says of each port and switch,
# field by field, what its own agent says. Two foreign programs read them: opasmaquery asks the agent,
# opasaquery saguarod. opareport reads the whole fabric from both. A table of which
# administration has no record is named at the end.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opasmaquery opasaquery

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 3 2 -o "$tree"
mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$tree")
start_simulator "$tree" --omnipath
# the neighbour of this one sees that it is not what it says
ctl lie NodeGUID 0x1234 "${hosts[3]}[1]"
start_daemon_on "${hosts[0]}" d --sweep_interval=1 --qos
holds "comes up" until_true log_says d 'SUBNET UP'
start_gateway g
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir
far=${hosts[1]}

# shellcheck disable=SC2317 # called by until_true
answered() {
	said=$(on "$far" "$@" 2>&1)
	[[ $said != *"No hfi"* && $said != *imeout* && $said != *TIMEOUT* ]]
}
ask() {
	until_true answered "$@"
	printf '%s\n' "$said"
}
mapfile -t switches < <(ctl list switches | awk '{ print $3 }')
lid_of() { ctl show "$1" | sed -n 's/.*\[[01]\] active, lid \([0-9]*\) .*/\1/p' | head -n 1; }
ports_of() { ctl show "$1" | sed -n 's/^  \[\([0-9]*\)\] active.*/\1/p'; }
# Indentation, headings and what only one of the programs prints is no field.
fields() { sed -e 's/^ *//; s/ *$//; /^Port [0-9]* Info$/d; /^PortLID:/d; /^LinkDownErrorLog/d; /^LID: /d; /^-*$/d; /^OutputPort:/d; /^BlockNum:/d'; }

# shellcheck disable=SC2317 # called by until_true
cables_known() { [ "$(get '/v1/records/CableInfoRecord?limit=1000' | jq '.records | length')" = $((2 * 2 * ($(get /v1/links | jq .total)))) ]; }
holds "all cables are read" until_true cables_known

# --- PortInfo, SwitchInfo, NodeInfo, P_Keys: each node, each port ---
for node in "${switches[@]}" "$far" "${hosts[5]}"; do
	lid=$(lid_of "$node")
	administration=$(ask opasaquery -o portinfo -l "$lid")
	for port in $(ports_of "$node"); do
		if [[ $node == "${hosts[5]}" || $node == "$far" ]]; then at=(); else at=(-m "$port"); fi
		same "$node port $port: PortInfo" "$(ask opasmaquery -l "$lid" "${at[@]}" -o portinfo | fields)" \
			"$(awk -v p="$port" '/^PortLID:/ { on = 0 } /^PortLID:/ && $0 ~ "\\( *" p "\\)" { on = 1 } on' <<<"$administration" | fields)"
	done
	same "$node: NodeInfo" "$(ask opasmaquery -l "$lid" -o nodeinfo | sed 's/^Type: *//' | fields)" \
		"$(ask opasaquery -o node -l "$lid" | sed -n '1s/.*Type: *\([A-Z]*\).*/\1/p; 2,$p' | paste -sd' ' | sed 's/ Ports/ Ports/; s/ \(NodeGuid\|SystemImageGuid\|BaseVersion\)/\n\1/g' | fields)"
	same "$node: P_Keys" "$(ask opasmaquery -l "$lid" -o pkey | fields | grep -v '0x0000  0x0000  0x0000  0x0000  0x0000  0x0000  0x0000  0x0000' | head -n 1)" \
		"$(ask opasaquery -o pkey -l "$lid" | fields | grep -v '0x0000  0x0000  0x0000  0x0000  0x0000  0x0000  0x0000  0x0000' | head -n 1)"
done
for node in "${switches[@]}"; do
	lid=$(lid_of "$node")
	same "$node: SwitchInfo" "$(ask opasmaquery -l "$lid" -o swinfo | fields)" "$(ask opasaquery -o swinfo -l "$lid" | fields)"
	same "$node: its entries" "$(ask opasmaquery -l "$lid" -o linfdb | grep -- '->' | grep -v 255)" \
		"$(ask opasaquery -o linfdb -l "$lid" | grep -- '->' | grep -v 255)"
done

# --- tables: where administration has records, they are those of the agent ---
leaf=${switches[0]}
lid=$(lid_of "$leaf")
missing=
for o in slsc scsl scvlt scvlnt scvlr scsc vlarb bfrctrl mcfdb portgroup; do
	of_sa=$(ask opasaquery -o "$o" -l "$lid")
	if [[ $of_sa == *"No Records"* ]]; then
		missing+=" $o"
		continue
	fi
	# the numbers in their order; both programs print the same table with other headings
	for words in 'VL[TNR]*:' "SC':" 'S[LC]: ' ' D: ' '^ *[0-9]* *[0-9]* *[0-9]*$'; do
		of_sma=$(ask opasmaquery -o "$o" -l "$lid" | grep -e "$words" | sed 's/.*[:|]//' | tr -s ' ' | sort | uniq)
		[ -z "$of_sma" ] || same "$o: $words" "$of_sma" "$(grep -e "$words" <<<"$of_sa" | sed 's/.*[:|]//' | tr -s ' ' | sort | uniq)"
	done
done
printf 'no records of:%s\n' "${missing:- none}"

# --- cables ---
same "cable: who made it" "$(ask opasmaquery -l "$lid" -m 1 -o cableinfo | grep -o 'S/N [A-Z0-9]*' | cut -d' ' -f2)" \
	"$(ask opasaquery -o cableinfo -l "$lid" | sed -n 's/.*VendorSN: *\([A-Z0-9]*\).*/\1/p' | head -n 1)"

# --- quarantine ---
has "the node that lies is listed" "$(ask opasaquery -o quarantine)" "0x0000000000001234"
has "over HTTP" "$(get /v1/records/QuarantinedNodeRecord | jq -r '.records[0].node_guid')" "0x0000000000001234"
has "in a list" "$("$bin/saguaro" records QuarantinedNodeRecord)" "0x0000000000001234"
has "as an alarm" "$(get /v1/alarms | jq -r '.alarms[] | select(.kind == "quarantined").text')" "that port says another NodeGUID"

# --- opareport, which reads records and asks agents ---
if command -v opareport >/dev/null; then
	report=$(ask opareport -o all -M)
	has "opareport finds the hosts" "$report" "$((${#hosts[@]} - 1)) Connected FIs in Fabric"
	has "and its SM" "$report" "1 Connected SMs in Fabric"
	same "and nothing to complain of" "" "$(grep -iE 'unable to|failed|error:' <<<"$report" | head -n 5)"
fi
stop_simulator
finish
