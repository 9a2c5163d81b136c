#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Congestion control of InfiniBand. Debian's ibccquery and ibccconfig read and write the agents of the
# simulator, which keep settings, and CC_Keys as the annex says. OpenSM and saguarod send the same MADs for
# the same options.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients ibccquery ibccconfig opensm

make_tree ft2 4 4 2
mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$tree")
start_simulator "$tree"

# lid_of NODE PORT: the LID of an end port.
lid_of() { ctl show "$1" | sed -n "s/^ *\[$2\].*lid \([0-9]*\) lmc.*/\1/p"; }
# lines OPERATION LID: what ibccquery says, without dots, in one line.
query() { on "${hosts[1]}" ibccquery "${key[@]}" "$@" | sed -n 's/\.\.*\([^.]\)/\1/p' | tr '\n' ' '; }
change() { on "${hosts[1]}" ibccconfig "${key[@]}" "$@"; }
key=()

# --- the tools of others ---
start_daemon_on "${hosts[0]}" d
holds "comes up" until_true log_says d 'SUBNET UP'
switch=$(lid_of leaf-0000 0)
host=$(lid_of "${hosts[2]}" 1)
same "nothing of this class is sent when congestion control is off" "" "$(ctl congestion sets)"
has "a table of two blocks" "$(query CongestionInfo "$host")" "ControlTableCap:2"
holds "a switch is set" change SwitchCongestionSetting "$switch" 0x1F 0x1FFFFFFFFE 0x2 0xE 8 7 1:3 100
same "it holds that" "Control_Map:0x0000001f Victim_Mask:0000000000000000000000000000000000000000000000000000001ffffffffe Credit_Mask:0000000000000000000000000000000000000000000000000000000000000002 Threshold:0x0e Packet_Size:8 CS_Threshold:0x07 CS_ReturnDelay:0x4003 Marking_Rate:100 " \
	"$(query SwitchCongestionSetting "$switch")"
holds "a port of a switch is set" change SwitchPortCongestionSetting "$switch" 3 1 0 5 7 9
has "it holds that" "$(query SwitchPortCongestionSetting "$switch")" "Port:3 Valid:1 Control_Type:0 Threshold:0x05 Packet_Size:7 Cong_Parm_Marking_Rate:9 Port:4 Valid:0"
holds "an adapter is set" change CACongestionSetting "$host" 1 0x2 150 1 9 4
has "it holds that" "$(query CACongestionSetting "$host")" "Port_Control:0x0001 Control_Map:0x0002 SL:0 CCTI_Timer:0 CCTI_Increase:0 Trigger_Threshold:0 CCTI_Min:0 SL:1 CCTI_Timer:150 CCTI_Increase:1 Trigger_Threshold:9 CCTI_Min:4 SL:2 CCTI_Timer:0"
mapfile -t entries < <(seq -f '1:%g' 0 63)
holds "a control table is set" change CongestionControlTable "$host" 63 0 "${entries[@]}"
has "it holds that" "$(query CongestionControlTable "$host")" "CCTI_Limit:63"
refuses "a switch has no control table" change CongestionControlTable "$switch" 63 0 "${entries[@]}"
refuses "a host has no setting of switches" change SwitchCongestionSetting "$host" 0x1F 0x0 0x0 0xE 8 7 1:3 100

# --- keys ---
holds "a port gets a key" change CongestionKeyInfo "$host" 0x1234 1 0 0
has "without it nobody sees it" "$(query CongestionKeyInfo "$host")" "CC_Key:0x0000000000000000 CC_KeyProtectBit:1"
refuses "nor changes anything" on "${hosts[1]}" ibccconfig -t 200 CACongestionSetting "$host" 1 0x2 151 1 9 4
key=(-c 0x1234)
has "with it all is seen" "$(query CongestionKeyInfo "$host")" "CC_Key:0x0000000000001234 CC_KeyProtectBit:1"
refuses "violations are counted" grep -q "CC_KeyViolations:0 " <<<"$(query CongestionKeyInfo "$host")"
holds "and all is changed" change CACongestionSetting "$host" 1 0x2 152 1 9 4
has "it holds that" "$(query CACongestionSetting "$host")" "SL:1 CCTI_Timer:152"
key=()

# --- devices without this class ---
ctl congestion off "${hosts[2]}"
refuses "a host without an agent does not answer" on "${hosts[1]}" ibccquery -t 200 CongestionInfo "$host"
ctl congestion on "${hosts[2]}"
has "and does again" "$(query CongestionInfo "$host")" "ControlTableCap:2"
end_process "$daemon"
stop_simulator

# --- OpenSM and saguarod, the same options ---
# compare NAME KEYS...: the Set MADs of both, byte for byte but for the transaction IDs.
compare_sets() {
	local name=$1 line
	shift
	printf '%s\n' 'congestion_control TRUE' "$@" >"$work/cc-$name.conf"
	start_simulator "$tree"
	start_opensm_on "${hosts[0]}" "osm-$name" -F "$work/cc-$name.conf"
	until_true all_asked
	ctl congestion sets | sort -u >"$work/$name.osm"
	end_process "$opensm"
	stop_simulator
	start_simulator "$tree"
	start_daemon_on "${hosts[0]}" "d-$name" -F "$work/cc-$name.conf"
	until_true all_asked
	until_true log_says "d-$name" "congestion control is set at $((switches + ${#hosts[@]})) ports"
	ctl congestion sets | sort >"$work/$name.ours"
	same "$name: what saguarod sends is what OpenSM sends, and nothing twice" "$(cat "$work/$name.osm")" "$(cat "$work/$name.ours")"
	line=$(wc -l <"$work/$name.ours")
	same "$name: a MAD for each switch, and $blocks blocks of the table for each host" $((switches + (1 + blocks) * ${#hosts[@]})) "$line"
	end_process "$daemon"
	stop_simulator
}
# shellcheck disable=SC2317 # called by until_true
all_asked() { [ "$(ctl congestion sets | sort -u | wc -l)" -ge $((switches + (1 + blocks) * ${#hosts[@]})) ]; }
switches=$(grep -c '^Switch' "$tree")

blocks=1
compare_sets defaults
compare_sets switches 'cc_key 0x1122334455667788' 'cc_sw_cong_setting_control_map 0x1f' \
	'cc_sw_cong_setting_victim_mask 0x1ffe' \
	'cc_sw_cong_setting_credit_mask 0x8000000000000000000000000000000000000000000000000000000000000003' \
	'cc_sw_cong_setting_threshold 0x9' 'cc_sw_cong_setting_packet_size 8' \
	'cc_sw_cong_setting_credit_starvation_threshold 0xc' \
	'cc_sw_cong_setting_credit_starvation_return_delay 2:777' 'cc_sw_cong_setting_marking_rate 300' \
	'cc_cct 3:16383'
compare_sets hosts 'cc_ca_cong_setting_port_control 0x0001' 'cc_ca_cong_setting_control_map 0x8003' \
	'cc_ca_cong_setting_ccti_timer 0 150' 'cc_ca_cong_setting_ccti_timer 15 65535' \
	'cc_ca_cong_setting_ccti_increase 1 4' 'cc_ca_cong_setting_trigger_threshold 2 9' \
	'cc_ca_cong_setting_ccti_min 3 1' "cc_cct $(seq -s, -f '1:%g' 0 63)"
blocks=2
compare_sets table "cc_cct $(seq -s, -f '2:%g' 100 164)"
# OpenSM reads no more than 1,023 characters of a line
compare_sets most "cc_cct $(seq -s, -f '3:%g' 0 127)"

finish
