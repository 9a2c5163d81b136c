#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# torus-2QoS over ibsim: SL-to-VL mapping and VL arbitration that smpquery and saquery read
# from ports are those of the rule in /v1/routing; SLs that saquery is told are those of
# /paths, and on either QoS level; they stay when a cable and when a switch fails; a second
# daemon sends no table again; bad files are refused with their line.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/ibsim.sh
. "$here/tests/e2e/ibsim.sh"
need_ibsim smpquery saquery curl jq

torus=$work/torus.topo
"$bin/saguaro" topo torus 5x3 1 -o "$torus"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$torus" | head -n 1)
guid_of() { grep -B 1 "^Switch.*\"$1\"" "$torus" | sed -n 's/switchguid=\(0x[0-9a-f]*\).*/\1/p'; }
seed() { # seed SWITCH +X +Y -XDATELINE -YDATELINE
	printf 'xp_link %s %s\nyp_link %s %s\nx_dateline %s\ny_dateline %s\n' \
		"$(guid_of "$1")" "$(guid_of "$2")" "$(guid_of "$1")" "$(guid_of "$3")" "$4" "$5"
}
{
	echo "torus 5 3 1"
	seed t-000-000 t-001-000 t-000-001 0 0
	echo next_seed
	seed t-003-001 t-004-001 t-003-002 -3 -1
} >"$work/torus-2QoS.conf"

# "port in, VLs" of a switch's port out, a line per port in.
by_smpquery() { on "$host" smpquery sl2vl "$1" "$2" | sed -n 's/^ports: in *\([0-9]*\), out.*: *|/\1 /p' | tr '|' ' ' | xargs -n 17; }
by_saquery() { on "$host" saquery SL2VL "$1/$2/$3" 2>/dev/null | sed -n 's/^[ \t]*VL: *//p' | tr '|' ' ' | xargs; }
by_rule() {
	jq -rn --argjson rule "$(get /v1/routing | jq .sl_to_vl)" --argjson node "$(get "/v1/nodes/$1")" --argjson out "$2" '
		$node.ports as $ports | ($ports[] | select(.num == $out).vl_class) as $class_out |
		$ports[] | .vl_class as $class_in |
		[.num] + ($rule.map[] | select(.class_in == $class_in and .class_out == $class_out).vl) | join(" ")'
}
# VLs with a weight.
vls_by_smpquery() {
	local name rest i
	local -a vl w
	on "$host" smpquery vlarb "$1" "$2" | while IFS=: read -r name rest; do
		case $name in
		VL*) read -r -a vl <<<"${rest//|/ }" ;;
		WEIGHT*)
			read -r -a w <<<"${rest//|/ }"
			for i in "${!w[@]}"; do [ $((w[i])) = 0 ] || echo "$((vl[i]))"; done
			;;
		esac
	done | sort -un | xargs
}
sls_by_saquery() { sed -n 's/^[ \t]*sl\.*\(0x[0-9a-fA-F]*\).*/\1/p' | while read -r sl; do echo $((sl)); done; }
all_sls() { # SL of every path between hosts that are left, by GUID
	local src dst
	for src in $hosts; do
		for dst in $hosts; do
			[ "$src" = "$dst" ] || echo "$src $dst $(get "/paths?src=$src&dst=$dst" | jq -c '.paths[0].sl')"
		done
	done
}

start_ibsim "$torus"
start_daemon_on "$host" first -R torus-2QoS,no_fallback --torus_config "$work/torus-2QoS.conf" --sweep_interval 1
start_gateway gw
wait_ready
holds "the engine, no credit loop" jq -e '.engine_used == "torus-2QoS" and .credit_loops == 0 and .management_pairs.credit_loops == 0 and .notes == null' <(get /v1/routing)
holds "the rule" jq -e '.sl_to_vl | .vls == 8 and .qos_levels == 2 and .map[6].vl == [0,0,1,1,0,0,1,1,4,4,5,5,4,4,5,5]' <(get /v1/routing)
holds "says that QoS is on" log_says first "quality of service is on"
for name in t-000-000 t-002-001 t-004-002; do
	guid=$(guid_of $name)
	lid=$(get "/v1/nodes/$guid" | jq .lid)
	for out in 1 4 5; do
		want=$(by_rule "$guid" $out)
		same "$name port $out: smpquery sl2vl" "$want" "$(by_smpquery "$lid" $out)"
		for in in 0 2 3; do
			same "$name in $in out $out: saquery SL2VL" "$(sed -n "s/^$in //p" <<<"$want")" "$(by_saquery "$lid" $in $out)"
		done
	done
	same "$name: VLs between switches" "0 1 2 3 4 5 6 7" "$(vls_by_smpquery "$lid" 2)"
	same "$name: VLs towards its host" "0 1" "$(vls_by_smpquery "$lid" 5)"
done
host_lid=$(get /v1/lids | jq '[.lids[] | select(.type == "ca") | .lid][3]')
same "host: smpquery sl2vl" "0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1" "$(on "$host" smpquery sl2vl "$host_lid" 1 | sed -n 's/^ports:.*: *|//p' | tr '|' ' ' | xargs)"

used=0
for lid in $(get /v1/lids | jq -r '.lids[] | select(.lid > 1 and .lid % 4 == 0) | .lid'); do
	want=$(get "/paths?src=$lid&dst=1" | jq '.paths[0].sl')
	same "SL from LID $lid" "$want" "$(on "$host" saquery PR --slid "$lid" --dlid 1 2>/dev/null | sls_by_saquery)"
	same "on the other level" $((want + 8)) "$(on "$host" saquery PR --slid "$lid" --dlid 1 --sl $((want + 8)) 2>/dev/null | sls_by_saquery)"
	finds_nothing "not with another SL" "$host" saquery PR --slid "$lid" --dlid 1 --sl $((want ^ 1))
	same "HTTP likewise" null "$(get "/paths?src=$lid&dst=1&sl=$((want ^ 1))" | jq -c '.paths[0].sl')"
	used=$((used | want))
done
same "all datelines are crossed" 3 $used

end_process "$daemon"
start_daemon_on "$host" second -R torus-2QoS,no_fallback --torus_config "$work/torus-2QoS.conf" --sweep_interval 1
until_true log_says second "SUBNET UP" || fail "the second daemon does not get up"
holds "a new daemon sends no table again" log_says second ", 0 QoS tables"
end_process "$gateway"
start_gateway gw2
wait_ready

# Failures: SLs stay.
hosts=$(get /v1/lids | jq -r '[.lids[] | select(.type == "ca")] | sort_by(.port_guid) | .[0, 4, 7, 13].port_guid')
before=$(all_sls)
# shellcheck disable=SC2317 # called by until_true
noted() { get /v1/routing | jq -e ".notes // \"\" | contains(\"$1\")" >/dev/null && ready; }
console 'Unlink "t-001-000"[1]'
holds "a cable is gone: said in /v1/routing" until_true noted "no cable from"
same "no credit loop, the same engine" '"torus-2QoS",0' "$(get /v1/routing | jq -r '[.engine_used, .credit_loops] | @json' | tr -d '[]')"
same "SLs stay" "$before" "$(all_sls)"
console 'Relink "t-001-000"[1]'
# shellcheck disable=SC2317 # called by until_true
whole() { get /v1/routing | jq -e '.notes == null' >/dev/null && ready; }
holds "it is back" until_true whole
for port in 1 2 3 4 5; do console "Unlink \"t-002-002\"[$port]"; done
holds "a switch is gone: said in /v1/routing" until_true noted "there is no switch at (2, 2, 0)"
same "no credit loop, the same engine" '"torus-2QoS",0' "$(get /v1/routing | jq -r '[.engine_used, .credit_loops] | @json' | tr -d '[]')"
same "SLs stay" "$before" "$(all_sls)"
end_process "$gateway"
end_process "$daemon"
stop_ibsim

echo "xp_lnk 1 2" >>"$work/torus-2QoS.conf"
refuses "a bad file" "$bin/saguarod" --check -R torus-2QoS --torus_config "$work/torus-2QoS.conf"
has "says where" "$said" "torus-2QoS.conf:$(wc -l <"$work/torus-2QoS.conf"):"
has "says what is expected" "$said" "unknown keyword, expected torus, mesh"
echo "qos FALSE" >"$work/off.conf"
said=$("$bin/saguarod" --check -R torus-2QoS -F "$work/off.conf" 2>&1) || fail "qos FALSE: $said"
has "says which lanes there are" "$said" "'torus-2QoS' has virtual lane 0 alone"
finish
