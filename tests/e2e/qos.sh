#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Quality of service over ibsim: what smpquery reads from ports and what saquery is told agree
# with the configuration, and with the lanes of engines that use several; a second daemon on
# the same fabric sends none of it again; bad keys are refused.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/ibsim.sh
. "$here/tests/e2e/ibsim.sh"
need_ibsim smpquery saquery curl jq

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 2 2 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
cat >"$work/qos.conf" <<END
qos TRUE
qos_swe_sl2vl 3,2,1,0,4,5,6,7,8,9,10,11,12,13,14,15
qos_ca_sl2vl 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,15
qos_vlarb_low 0:1,1:2,9:3
qos_vlarb_high 2:200
END
by_switch="3 2 1 0 4 5 6 7 0 1 2 3 4 5 6 15" # eight VLs: modulo 8
by_host="1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 15"

# VLs by SL, a line per table that differs from the others.
maps_of_smpquery() { sed -n 's/^ports:.*: *|//p' | tr '|' ' ' | xargs -r -n 16 | sort -u; }
maps_of_saquery() { sed -n 's/^[ \t]*VL: *//p' | tr '|' ' ' | xargs -r -n 16 | sort -u; }
# Pairs with a weight, "VL:weight", in the order of the tables. smpquery prints hex digits.
pairs_of_smpquery() {
	local name rest i
	local -a vl w
	while IFS=: read -r name rest; do
		case $name in
		VL*) read -r -a vl <<<"${rest//|/ }" ;;
		WEIGHT*)
			read -r -a w <<<"${rest//|/ }"
			for i in "${!w[@]}"; do [ $((w[i])) = 0 ] || echo "$((vl[i])):$((w[i]))"; done
			;;
		esac
	done
}
pairs_of_saquery() {
	local name rest i
	local -a vl w
	while IFS=: read -r name rest; do
		case $name in
		*VL*) read -r -a vl <<<"${rest//|/ }" ;;
		*Weight*)
			read -r -a w <<<"${rest//|/ }"
			for i in "${!w[@]}"; do [ "${w[i]}" = 0 ] || echo "${vl[i]}:${w[i]}"; done
			;;
		esac
	done
}

start_ibsim "$tree"
start_daemon_on "$host" first -F "$work/qos.conf"
start_gateway gw
wait_ready
host_lid=$(get /v1/lids | jq -r '[.lids[] | select(.type != "switch")][0].lid')
want=$'0:1\n1:2\n1:3\n2:200'
for lid in $(get /v1/lids | jq -r '.lids[] | select(.type == "switch") | .lid'); do
	same "switch $lid: smpquery sl2vl" "$by_switch" "$(on "$host" smpquery sl2vl "$lid" 1 | maps_of_smpquery)"
	same "switch $lid: saquery SL2VL" "$by_switch" "$(on "$host" saquery SL2VL "$lid/0/1" 2>/dev/null | maps_of_saquery)"
	same "switch $lid: smpquery vlarb" "$want" "$(on "$host" smpquery vlarb "$lid" 1 | pairs_of_smpquery)"
done
same "host: smpquery sl2vl" "$by_host" "$(on "$host" smpquery sl2vl "$host_lid" 1 | maps_of_smpquery)"
same "host: saquery SL2VL" "$by_host" "$(on "$host" saquery SL2VL "$host_lid" 2>/dev/null | maps_of_saquery)"
same "host: smpquery vlarb" "$want" "$(on "$host" smpquery vlarb "$host_lid" 1 | pairs_of_smpquery)"
# Block by block: ibsim carries two records.
same "host: saquery VLAR" "$want" "$(for block in 1 3; do on "$host" saquery VLAR "$host_lid/1/$block" 2>/dev/null; done | pairs_of_saquery)"

end_process "$daemon"
start_daemon_on "$host" second -F "$work/qos.conf"
until_true log_says second "SUBNET UP" || fail "the second daemon does not get up"
holds "a new daemon sends no table again" log_says second ", 0 QoS tables"

end_process "$gateway"
end_process "$daemon"
stop_ibsim

# Engines with lanes turn it on by themselves: SL n has VL n on every port, and a path has the
# SL that HTTP and the SA agree on. (Over ibsim only the first records of a table are whole.)
torus=$work/torus.topo
"$bin/saguaro" topo torus 6x6 1 -o "$torus"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$torus" | head -n 1)
echo "qos FALSE" >"$work/off.conf"
identity="0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7" # of eight VLs; SL 15 is VL 7
sls_of_saquery() { sed -n 's/^[ \t]*sl\.*\(0x[0-9a-f]*\).*/\1/p' | while read -r sl; do echo $((sl)); done; }
for engine in lash dfsssp; do
	start_ibsim "$torus"
	start_daemon_on "$host" "$engine" -R "$engine"
	start_gateway "gw-$engine"
	wait_ready
	holds "$engine: says that it turns it on" log_says "$engine" "quality of service is on"
	holds "$engine: several lanes, no credit loop" jq -e ".engine_used == \"$engine\" and .vls_used > 1 and .credit_loops == 0" <(get /v1/routing)
	for lid in $(get /v1/lids | jq -r '[.lids[] | select(.type == "switch") | .lid] | .[0, 17, -1]'); do
		same "$engine: switch $lid: smpquery sl2vl" "$identity" "$(on "$host" smpquery sl2vl "$lid" 1 | maps_of_smpquery)"
		same "$engine: switch $lid: saquery SL2VL" "$identity" "$(on "$host" saquery SL2VL "$lid/0/1" 2>/dev/null | maps_of_saquery)"
	done
	used=0
	for lid in $(get /v1/lids | jq -r '.lids[] | select(.lid > 1 and .lid % 9 == 0) | .lid'); do
		want=$(get "/paths?src=$lid&dst=1" | jq '.paths[0].sl')
		same "$engine: SL from LID $lid" "$want" "$(on "$host" saquery PR --slid "$lid" --dlid 1 2>/dev/null | sls_of_saquery)"
		used=$((used > want ? used : want))
	done
	[ "$used" -gt 0 ] || fail "$engine: all paths have SL 0"
	end_process "$daemon"
	start_daemon_on "$host" "$engine-2" -R "$engine"
	until_true log_says "$engine-2" "SUBNET UP" || fail "$engine: the second daemon does not get up"
	holds "$engine: a new daemon sends no table again" log_says "$engine-2" ", 0 QoS tables"
	end_process "$gateway"
	end_process "$daemon"
	stop_ibsim
	said=$("$bin/saguarod" --check -R "$engine" -F "$work/off.conf" 2>&1) || fail "$engine: qos FALSE: $said"
	has "$engine: says which lanes there are" "$said" "'$engine' has virtual lane 0 alone"
done

echo "qos_sl2vl 0,1,2" >"$work/bad.conf"
refuses "a table that is too short" "$bin/saguarod" --check -F "$work/bad.conf"
has "says what is expected" "$said" "16 VLs from 0 to 15"
finish
