# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What the field's clients print and what HTTP says, in one form; source it after lib.sh and
# one of ibsim.sh and simulator.sh.
# shellcheck shell=bash disable=SC2154,SC2034 # shares variables with lib.sh

# Each prints one sorted line per object, so that two sources can be compared.

lids_of_ibnetdiscover() { # port-guid base-lid lmc
	awk '
		function guid(s) { return sprintf("0x%16s", s) }
		/^switchguid=/ { split($0, f, /[()]/); sw = f[2] }
		/^Switch/ { for (i = 1; i <= NF; i++) { if ($i == "lid") lid = $(i + 1); if ($i == "lmc") lmc = $(i + 1) } print guid(sw), lid, lmc }
		/^(Ca|Rt)/ { ca = 1 } /^Switch/ { ca = 0 }
		ca && /^\[/ { split($0, f, /[()]/); split($0, g, /# lid /); split(g[2], h, " "); print guid(f[2]), h[1], h[3] }
	' | sed 's/0x\( *\)/0x\1/; :a; s/^\(0x0*\) /\10/; ta' | sort
}

lids_of_http() { get /v1/lids | jq -r '.lids[] | "\(.port_guid) \(.lid) \(.lmc)"' | sort; }

links_of_iblinkinfo() { # from-lid port to-lid port, both directions, without links that are down
	awk '/==>/ && !/Down/ {
		line = $0
		gsub(/"[^"]*"/, "", line); gsub(/\[[^]]*\]/, " ", line); sub(/==\(.*\)==>/, " ", line)
		split(line, f, " "); print f[2], f[3], f[5], f[6] }' | sort -u
}

links_of_http() {
	jq -rn --slurpfile nodes <(get /v1/nodes) --slurpfile links <(get /v1/links) '
		($nodes[0].nodes | map(. as $n | .ports[] | {key: "\($n.guid)/\(.num)", value: (if $n.type == "switch" then $n.lid else .lid end)}) | from_entries) as $lid
		| $links[0].links[] | [.a, .b], [.b, .a]
		| "\($lid["\(.[0].guid)/\(.[0].port)"]) \(.[0].port) \($lid["\(.[1].guid)/\(.[1].port)"]) \(.[1].port)"' | sort -u
}

# Words of each line as decimal numbers; 0x and leading zeros as a program would read them.
decimal() {
	local -a words
	local i
	while read -r -a words; do
		for i in "${!words[@]}"; do
			case ${words[i]} in 0x*) words[i]=$((words[i])) ;; *) words[i]=$((10#${words[i]})) ;; esac
		done
		printf '%s\n' "${words[*]}"
	done
}

lft_of_ibroute() { awk '/^0x/ { print $1, $2 }' | decimal | sort -n; }
lft_of_http() { get "/v1/switches/$1/lft" | jq -r '.routes[] | "\(.lid) \(.port)"' | sort -n; }

hops_of_ibtracert() { # guid in out, a line per switch
	awk '/^\[/ { split($0, f, /[][{}]/); if (open) print open, f[2]; open = /-> switch/ ? f[4] " " f[6] : "" }'
}
hops_of_http() { get "/paths?src=$1&dst=$2&hops=1" | jq -r '.paths[0].hops[] | "\(.guid) \(.in_port) \(.out_port)"'; }

record_of_saquery() { # slid dlid mtu rate sl p_key life of the first N records
	awk -F'[.]+' -v n="$1" '{ gsub(/^[ \t]+/, "", $1); split($2, f, " "); v[$1] = f[1] }
		$1 == "pkt_life" && i++ < n { print v["slid"], v["dlid"], v["mtu"], v["rate"], v["sl"], v["pkey"], v["pkt_life"] }' |
		decimal | awk '{ print $1, $2, $3 % 64, $4 % 64, $5, $6, $7 % 64 }'
}
record_of_json() { jq -r "[.paths[:$1][] | \"\\(.slid) \\(.dlid) \\(.mtu) \\(.rate) \\(.sl) \\(.p_key) \\(.packet_life_time)\"] | .[]"; }

# host_pair: two CA port LIDs that are far apart (first and last by GUID)
host_pair() {
	local cas
	cas=$(get /v1/lids | jq -c '[.lids[] | select(.type != "switch")] | sort_by(.port_guid) | [.[0], .[-1]]')
	a=$(jq -r '.[0].lid' <<<"$cas") b=$(jq -r '.[1].lid' <<<"$cas")
	a_guid=$(jq -r '.[0].port_guid' <<<"$cas") b_guid=$(jq -r '.[1].port_guid' <<<"$cas")
}

gid() { printf 'fe80::%s' "$(sed 's/^0x//; s/\(....\)\(....\)\(....\)\(....\)/\1:\2:\3:\4/' <<<"$1")"; }

agree() { # agree NET-NAME HOST: the clients and HTTP say the same
	local name=$1 client=$2 sm sw
	same "$name: ibnetdiscover, LIDs" "$(lids_of_http)" "$(on "$client" ibnetdiscover 2>/dev/null | lids_of_ibnetdiscover)"
	same "$name: iblinkinfo, links" "$(links_of_http)" "$(on "$client" iblinkinfo --line 2>/dev/null | links_of_iblinkinfo)"
	sm=$(on "$client" sminfo "$(get /v1/fabric | jq .sm.lid)" 2>&1)
	has "$name: sminfo, LID" "$sm" "sm lid $(get /v1/fabric | jq .sm.lid) "
	has "$name: sminfo, GUID" "$sm" "sm guid $(get /v1/fabric | jq -r .sm.port_guid | sed 's/^0x0*/0x/')"
	has "$name: sminfo, MASTER" "$sm" SMINFO_MASTER
	for sw in $(get /v1/nodes | jq -r '[.nodes[] | select(.type == "switch")] | [.[0], .[length / 2 | floor], .[-1]] | unique | .[] | "\(.guid)/\(.lid)"'); do
		same "$name: ibroute of switch ${sw%/*}" "$(lft_of_http "${sw%/*}")" "$(on "$client" ibroute "${sw#*/}" 2>/dev/null | lft_of_ibroute)"
	done
	same "$name: ibtracert" "$(hops_of_http "$a" "$b")" "$(on "$client" ibtracert "$a" "$b" 2>/dev/null | hops_of_ibtracert)"
	same "$name: ibtracert, back" "$(hops_of_http "$b" "$a")" "$(on "$client" ibtracert "$b" "$a" 2>/dev/null | hops_of_ibtracert)"
	same "$name: saquery by LIDs" "$(get "/paths?src=$a&dst=$b" | record_of_json 1)" \
		"$(on "$client" saquery PR --slid "$a" --dlid "$b" 2>/dev/null | record_of_saquery 1)"
}
