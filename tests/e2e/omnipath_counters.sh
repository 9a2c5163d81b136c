#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Port counters of a simulated Omni-Path fabric: what saguarod reads is what opapmaquery reads, as a
# list, over HTTP, as a series and as an event; poor links and links with fewer lanes are reported.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 4 2 -o "$tree"
mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$tree")
start_simulator "$tree" --omnipath
ctl lie CableTemperature 45 'leaf-0000[5]'
start_daemon_on "${hosts[0]}" d --sweep_interval=1 --perfmgr --perfmgr_sweep_time_s=1 --host_dropped_lanes 3
holds "comes up" until_true log_says d 'SUBNET UP'
start_gateway g
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir

port='leaf-0000[5]'
# counters NODE PORT EXPRESSION: what saguarod read of a port.
counters() { get "/v1/counters?node=$1" | jq ".counters[] | select(.port == $2) | $3"; }
# shellcheck disable=SC2317 # called by until_true
counter_is() { [ "$(counters "$1" "$2" ".value.$3" 2>/dev/null)" = "$4" ]; }
# shellcheck disable=SC2317 # called by until_true
all_read() { [ "$(get /v1/counters | jq .total)" = "$(get '/v1/ports?cabled=1' | jq .total)" ]; }

holds "every cabled port has counters" until_true all_read
n=0
while read -r name; do ctl counter "$name" "$((n = n + 7))" "$port" >/dev/null; done <<'END'
RcvErrors
LocalLinkIntegrityErrors
XmitDiscards
FMConfigErrors
UncorrectableErrors
LinkErrorRecovery
XmitWait
RcvFECN
RcvBECN
MarkFECN
END
ctl counter RcvErrors 70000 "${hosts[3]}[1]" >/dev/null
holds "the last of them is read" until_true counter_is leaf-0000 5 mark_fecn 70
holds "errors, too" until_true counter_is leaf-0000 5 rcv_errors 7
holds "of a host" until_true counter_is "${hosts[3]}" 1 rcv_errors 70000
same "saguaro counters" 7 "$("$bin/saguaro" counters --node leaf-0000 --field port,value.rcv_errors | sed -n 's/^5\t//p')"
holds "there is an event" jq -e '[.events[].text] | any(test("rcv_errors \\+70000"))' \
	<<<"$(get '/v1/events?kind=port_errors')"
ctl traffic 1000 "$port" >/dev/null
# shellcheck disable=SC2317 # called by until_true
fast() { [ "$(counters leaf-0000 5 '.xmit_bytes_per_second >= 900000000')" = true ]; }
holds "traffic is a rate in octets" until_true fast

# --- the tool and the daemon see the same ---
if command -v opapmaquery >/dev/null; then
	lid=$("$bin/saguaro" nodes --name leaf-0000 --field lid)
	# shellcheck disable=SC2317 # called by until_true
	answered() {
		said=$(on "${hosts[1]}" opapmaquery -l "$lid" -m 5 -o getportstatus 2>&1)
		[[ $said == *"Link Qual Indicator"* ]]
	}
	until_true answered
	while IFS='|' read -r label counter; do
		same "opapmaquery: $label" "$(counters leaf-0000 5 ".value.$counter")" \
			"$(sed -n "s/^ *$label  *\([0-9]*\).*/\1/p" <<<"$said")"
	done <<'END'
Rcv Errors|rcv_errors
Local Link Integ Err|link_replays
Xmit Discards|xmit_discards
FM Config Errors|fm_config_errors
Uncorrectable Errors|uncorrectable_errors
Link Error Recovery|link_error_recovery
Xmit Wait|xmit_wait
Rcv FECN|rcv_fecn
Rcv BECN|rcv_becn
Mark FECN|mark_fecn
Link Qual Indicator|link_quality
END
fi

# --- a poor link, and one with fewer lanes ---
ctl counter LinkQualityIndicator 2 'leaf-0001[1]' >/dev/null
holds "a poor link" until_true counter_is leaf-0001 1 link_quality 2
# shellcheck disable=SC2317 # called by until_true
reported() { get '/v1/events?kind=port_errors' | jq -e '[.events[].text] | any(test("link_quality 2"))' >/dev/null; }
holds "is an event" until_true reported
has "and a gauge" "$(get /metrics/fabric)" '# TYPE infiniband_switch_port_link_quality gauge'
has "with its value" "$(get /metrics/fabric | grep '^infiniband_switch_port_link_quality')" '"} 2'
has "counters are series" "$(get '/metrics/fabric?collect=fm_config_errors')" 'infiniband_switch_port_fm_config_errors_total{'
holds "a link may drop three lanes" ctl lanes 1 'leaf-0001[2]'
# shellcheck disable=SC2317 # called by until_true
narrow() { get /v1/alarms | jq -e '[.. | strings] | any(test("runs at 1x"))' >/dev/null; }
holds "fewer lanes are an alarm" until_true narrow

# --- the modules of cables: read once, what they measure as often as counters ---
cable() { get "/v1/ports?node=leaf-0000" | jq -r ".ports[] | select(.port == $1) | .cable.$2"; }
# shellcheck disable=SC2317 # called by until_true
cable_is() { [ "$(cable "$1" "$2" 2>/dev/null)" = "$3" ]; }
holds "who made a cable" until_true cable_is 1 vendor SAGUARO
same "copper does not say how warm it is" null "$(cable 1 temperature_c)"
holds "an optical one does" until_true cable_is 5 temperature_c 45
same "how much light it gets" 0.8 "$(cable 5 'rx_mw[0]')"
ctl lie CableTemperature 61 'leaf-0000[5]'
holds "it is read again" until_true cable_is 5 temperature_c 61
has "of a cable" "$(get '/v1/links?node=leaf-0000' | jq -r '.links[].cable.part')" "SIMULATED-3M"
has "in a list" "$("$bin/saguaro" ports --node leaf-0000 --field port,cable.technology 2>&1)" "5	active optical"
has "as a series" "$(get /metrics/fabric)" 'saguaro_switch_port_cable_temperature_celsius{guid="0x0002c90300000000",port="5"} 61'
has "with its maker" "$(get /metrics/fabric | grep cable_info)" 'vendor="SAGUARO",part="SIMULATED-3M",serial='
stop_simulator
finish
