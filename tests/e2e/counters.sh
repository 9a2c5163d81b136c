#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Port counters of a simulated fabric: what saguarod reads is what perfquery reads, as a list,
# over HTTP and as an event; traffic shows as a rate; nothing is read unless asked for.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

start_fabric_with_counters

port='leaf-0000[5]'
counters() { get "/v1/counters?node=leaf-0000" | jq ".counters[] | select(.port == 5) | $1"; }
# shellcheck disable=SC2317 # called by until_true
counter_is() { [ "$(counters "$1" 2>/dev/null)" = "$2" ]; }
# shellcheck disable=SC2317 # called by until_true
above() { [ "$(counters "$1 >= $2" 2>/dev/null)" = true ]; }
# shellcheck disable=SC2317 # called by until_true
all_read() { [ "$(get /v1/counters | jq .total)" = "$(get '/v1/ports?cabled=1' | jq .total)" ]; }

holds "every cabled port has counters" until_true all_read
ctl counter SymbolErrorCounter 70000 "$port" >/dev/null
ctl counter PortXmitDiscards 3 "$port" >/dev/null
holds "errors are read" until_true counter_is .value.symbol_errors 70000
holds "another counter" until_true counter_is .value.xmit_discards 3
holds "nothing rises any more" until_true counter_is .errors 0
ctl traffic 1000 "$port" >/dev/null
holds "traffic is a rate" until_true above .xmit_bytes_per_second 900000000
holds "the link is used" above .utilization 0.01
holds "it has a history" jq -e '[.counters[0].history[].errors] | add >= 70003' \
	<<<"$(get '/v1/counters?node=leaf-0000&history=1' | jq '.counters |= map(select(.port == 5))')"
holds "there is an event" jq -e '.events[0].text | test("symbol_errors \\+70000")' \
	<<<"$(get '/v1/events?kind=port_errors')"
same "saguaro counters" 70000 "$("$bin/saguaro" counters --node leaf-0000 | awk '$1 == "leaf-0000:5" { print $6 }')"
same "one field" 70000 "$("$bin/saguaro" counters --node leaf-0000 --field port,value.symbol_errors | sed -n 's/^5\t//p')"
same "none has errors now" 0 "$("$bin/saguaro" counters --errors --json | jq '.counters | length')"
if command -v perfquery >/dev/null; then
	lid=$("$bin/saguaro" nodes --name leaf-0000 --field lid)
	seen=$(on "${hosts[1]}" perfquery -x "$lid" 5 | sed -n 's/^SymbolErrorCounter:\.*//p')
	same "perfquery sees the same" 70000 "$seen"
fi
has "a counter that there is not" "$(ctl counter Nonsense 1 "$port" 2>&1)" 'there is no counter'

# --- off by default ---
end_process "$daemon"
start_daemon_on "${hosts[0]}" d --sweep_interval=1
# shellcheck disable=SC2317 # called by until_true
none() { [ "$(get /v1/counters | jq .total)" = 0 ]; }
holds "without --perfmgr there are none" until_true none
stop_simulator
finish
