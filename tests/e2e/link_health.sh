#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A cable that errs is found by its counters, shown everywhere with what is done, taken out of
# service where that is safe, kept out over a kill, and returned when it was changed. What a host
# counts, what cuts somebody off, and the most at a time take none out. Incidents take 2 s here
# in place of a minute.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
command -v curl >/dev/null && command -v jq >/dev/null || skip "curl or jq is missing"

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 4 2 -o "$tree"
mapfile -t hosts < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$tree")
start_simulator "$tree"
flags=(--sweep_interval=1 --perfmgr --perfmgr_sweep_time_s=1 --link_health_incident=2 --link_health_calm=3600
	--link_health_bisection=30 --link_health_max=1)
start_daemon_on "${hosts[0]}" d "${flags[@]}"
holds "comes up" until_true log_says d 'SUBNET UP'
start_gateway g
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir

# The cables from leaf-0001 up, as NODE:PORT at both ends.
mapfile -t ups < <(get '/v1/links?node=leaf-0001' | jq -r '.links[] | select(.a.type == "switch" and .b.type == "switch") | if .a.name == "leaf-0001" then "\(.a.port) \(.b.name) \(.b.port)" else "\(.b.port) \(.a.name) \(.a.port)" end')
read -r port spine spine_port <<<"${ups[0]}"
read -r other _ _ <<<"${ups[1]}"

# health NODE PORT EXPRESSION: of the cable at a port.
health() { get "/v1/links/health?node=$1" | jq -r --argjson p "$2" --arg n "$1" ".links[] | select((.a.name == \$n and .a.port == \$p) or (.b.name == \$n and .b.port == \$p)) | $3"; }
# shellcheck disable=SC2317 # called by until_true
is() { [ "$(health "$1" "$2" "$3")" = "$4" ]; }

# --- noise at the allowed rate is nothing; discards are nothing ---
same "nothing is sick" 0 "$(get '/v1/links/health?sick=1' | jq .total)"
has "a cable that is well says so" "$("$bin/saguaro" why "leaf-0001:$port")" "is well"
ctl counter PortXmitDiscards 100000 "leaf-0001[$other]" >/dev/null

# --- watch: it is told, and stays in use ---
ctl errors SymbolErrorCounter 36000000 "leaf-0001[$port]" >/dev/null
holds "a cable that errs is sick" until_true is leaf-0001 "$port" .state sick
holds "and is watched" until_true is leaf-0001 "$port" .decision watched
same "its other end counts nothing" 1 "$(health leaf-0001 "$port" '.sides | length')"
has "the list has it" "$("$bin/saguaro" links --sick --csv)" "$spine"
has "the alarm has it" "$("$bin/saguaro" alarms)" "link_sick"
has "doctor has it" "$("$bin/saguaro" doctor)" "clean both ends of the cable"
has "why tells what is done" "$("$bin/saguaro" why "$spine:$spine_port")" "link_health is 'watch'"
has "so does the event" "$(get '/v1/events?kind=link_sick' | jq -r '.events[].text')" "the link is sick"
# shellcheck disable=SC2317 # called by until_true
in_metrics() { get /metrics | grep -q "^saguaro_link_health_ports{state=\"sick\"} 1"; }
holds "the metrics count it" until_true in_metrics
same "discards of a job are no sign" "" "$(health leaf-0001 "$other" .state)"

# --- what a host says of itself is told, and proves nothing ---
ctl errors SymbolErrorCounter 36000000 "${hosts[3]}[1]" >/dev/null
holds "a host's own count" until_true is "${hosts[3]}" 1 .decision host_says
ctl errors SymbolErrorCounter 0 "${hosts[3]}[1]" >/dev/null

# --- isolate: it is taken out, over a kill, and another one is not, because there is one already ---
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "${hosts[0]}" d "${flags[@]}" --link_health=isolate
wait_ready
holds "it is taken out" until_true is leaf-0001 "$port" .decision taken_out
holds "no route uses it" until_true log_says d 'is drained: '
# shellcheck disable=SC2317 # called by until_true
unrouted() { [ "$(get "/v1/links?node=leaf-0001" | jq --argjson p "$port" '[.links[] | select((.a.name == "leaf-0001" and .a.port == $p) or (.b.name == "leaf-0001" and .b.port == $p)) | (.routes_from_a.all // 0) + (.routes_from_b.all // 0)] | add')" -le 2 ]; }
holds "it has no routes of hosts" until_true unrouted
same "all pairs have a path" true "$(get "/paths?src=${hosts[0]}&dst=${hosts[-1]}" | jq '.paths | length > 0')"
ctl errors SymbolErrorCounter 36000000 "leaf-0001[$other]" >/dev/null
holds "the last way out stays" until_true is leaf-0001 "$other" .state sick
# shellcheck disable=SC2317 # called by until_true
stays() { case $(health leaf-0001 "$other" .decision) in most | pairs | last) ;; *) false ;; esac }
holds "with its reason" until_true stays
ctl errors SymbolErrorCounter 0 "leaf-0001[$other]" >/dev/null
out=$(health leaf-0001 "$port" .out_since)
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
start_daemon_on "${hosts[0]}" d "${flags[@]}" --link_health=isolate
wait_ready
holds "it is out after a kill" until_true is leaf-0001 "$port" .decision taken_out
same "since the same time" "$out" "$(health leaf-0001 "$port" .out_since)"

# --- the cable is changed ---
ctl errors SymbolErrorCounter 0 "leaf-0001[$port]" >/dev/null
ctl link down "leaf-0001[$port]" >/dev/null
# shellcheck disable=SC2317 # called by until_true
is_lost() { [ "$(get '/v1/events?kind=cable_lost' | jq '.events | length')" -ge 1 ]; }
holds "it is lost" until_true is_lost
ctl link up "leaf-0001[$port]" >/dev/null
# shellcheck disable=SC2317 # called by until_true
is_back() { [ "$(get '/v1/events?kind=drain_ended' | jq '.events | length')" -ge 1 ]; }
holds "it is in service again" until_true is_back
holds "and is watched closely" until_true is leaf-0001 "$port" .state suspect
finish
