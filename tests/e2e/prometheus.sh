#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The real Prometheus: its linter finds nothing in our metrics; it scrapes them, loads the alert
# rules of dist/monitoring, and understands every query of them and of the dashboard; an alert
# names the cable that is pulled, and another one fires when saguarod is gone.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
for p in curl jq prometheus promtool; do command -v "$p" >/dev/null || skip "$p is not installed"; done
dist=$here/dist/monitoring

start_fabric_with_counters

# --- the text ---
# shellcheck disable=SC2317 # called by until_true
fabric_has() { get "/metrics/fabric" | grep -q "^infiniband_switch_port_symbol_error_total{.*port=\"$1\"} $2\$"; }
holds "counters are read" until_true fabric_has 5 0
for target in /metrics /metrics/fabric '/metrics/fabric?hosts=1&collect=info,uplink,rate,routes,symbol_errors,xmit_bytes'; do
	same "promtool check metrics $target" "" "$(get "$target" | promtool check metrics 2>&1)"
done
same "every family has a help of its own" "" "$(get /metrics | grep 'As reported by')"
ctl counter SymbolErrorCounter 70000 'leaf-0000[5]' >/dev/null
holds "a counter rises" until_true fabric_has 5 70000
leaf=$("$bin/saguaro" nodes --name leaf-0000 --field guid)
same "the series of a port" 'infiniband_switch_port_symbol_error_total{guid="'"$leaf"'",port="5"} 70000' \
	"$(get '/metrics/fabric?collect=symbol_errors' | grep ' 70000$')"
cables=$(get '/v1/links' | jq .total)
hosts_of_tree=${#hosts[@]}
same "each cable at each switch" $((2 * cables - hosts_of_tree)) "$(get '/metrics/fabric?collect=uplink' | grep -c '^infiniband_switch_uplink_info{')"
same "and at each host" "$hosts_of_tree" "$(get '/metrics/fabric?collect=uplink&hosts=1' | grep -c '^infiniband_hca_uplink_info{')"

# --- the rules and the dashboard ---
holds "promtool check rules" promtool check rules "$dist/saguaro.rules.yml"
holds "promtool check config" promtool check config --syntax-only "$dist/prometheus.yml"

# A cable is lost before the first scrape.
early=$(get '/v1/links?node=leaf-0001' | jq -r '[.links[] | select((.a.name + .b.name) | test("spine"))][0] | if .a.name == "leaf-0001" then .a else .b end | .port')
ctl link down "leaf-0001[$early]" >/dev/null
# shellcheck disable=SC2317 # called by until_true
alarm_is_shown() { get /metrics | grep -q '^saguaro_alarm{.*alarm="link_down"'; }
holds "a lost cable is a series" until_true alarm_is_shown

sed "s/for: 30s/for: 1s/" "$dist/saguaro.rules.yml" >"$work/saguaro.rules.yml"
sed -e "s/127.0.0.1:8620/${url#http://}/" -e 's/\(_interval\|_timeout\): .*/\1: 1s/' "$dist/prometheus.yml" >"$work/prometheus.yml"
nice -n 19 prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" \
	--web.listen-address=127.0.0.1:0 2>>"$work/prometheus.log" >&2 &
prometheus=$!
pids+=("$prometheus")

# Sockets that a process listens at, by the kernel's table: it does not say which port it got.
# shellcheck disable=SC2317 # called by until_true
find_port() {
	local inodes
	inodes=$(find "/proc/$prometheus/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n')
	prom_port=$(awk -v inodes="$inodes" '
		BEGIN { n = split(inodes, a, "\n"); for (i = 1; i <= n; i++) of[a[i]] = 1 }
		$4 == "0A" && $10 in of { split($2, at, ":"); print at[2]; exit }' /proc/net/tcp)
	[ -n "$prom_port" ] && prom_port=$((16#$prom_port)) && curl -s -f -o /dev/null "http://127.0.0.1:$prom_port/-/ready"
}
until_true find_port || { fail "prometheus does not start"; finish; }
prom=http://127.0.0.1:$prom_port/api/v1

# query EXPRESSION: the number of series.
query() { curl -s --data-urlencode "query=$1" "$prom/query" | jq -r 'if .status == "success" then .data.result | length else .error end'; }
# shellcheck disable=SC2317 # called by until_true
finds() { [ "$(query "$1")" -gt 0 ] 2>/dev/null; }
# shellcheck disable=SC2317 # called by until_true
all_up() { [ "$(query 'up == 1')" = 2 ]; }
holds "it scrapes both" until_true all_up
holds "the subnet is up" until_true finds 'saguaro_subnet_up == 1'
holds "counters are there" until_true finds 'infiniband_switch_port_symbol_error_total == 70000'
holds "the last sweep is not old" until_true finds 'time() - max(saguaro_last_sweep_timestamp_seconds) < 600'
rules=$(grep -c 'alert:' "$dist/saguaro.rules.yml")
# shellcheck disable=SC2317 # called by until_true
rules_work() { [ "$(curl -s "$prom/rules" | jq '[.data.groups[].rules[] | select(.health == "ok")] | length')" = "$rules" ]; }
holds "all rules are loaded and can be evaluated" until_true rules_work

# Queries of the dashboard that find nothing in a sound fabric without clients of its own.
empty='unless on|topk\(20|sa_dropped'
while IFS= read -r expr; do
	n=$(query "${expr//\$instance/.*}")
	if [[ ! $n =~ ^[0-9]+$ ]]; then
		fail "dashboard: $expr: $n"
	elif ! grep -Eq "$empty|rate\(|degraded" <<<"$expr"; then
		holds "dashboard: $expr" until_true finds "${expr//\$instance/.*}"
	fi
done < <(jq -r '.panels[].targets[]?.expr' "$dist/grafana.json")

# --- a cable is pulled ---
# alert NAME LABEL VALUE: it fires.
# shellcheck disable=SC2317 # called by until_true
alert() { curl -s "$prom/alerts" | jq -e --arg n "$1" --arg l "$2" --arg v "$3" 'any(.data.alerts[]; .labels.alertname == $n and .labels[$l] == $v and .state == "firing")' >/dev/null; }
# shellcheck disable=SC2317 # called by until_true
none_fires() { [ "$(curl -s "$prom/alerts" | jq --arg n "$1" '[.data.alerts[] | select(.labels.alertname == $n)] | length')" = 0 ]; }
# shellcheck disable=SC2317 # called by until_true
fires_for() { # fires_for N NODE PORT: N alerts for lost cables, one of them for this end
	curl -s "$prom/alerts" | jq -e --argjson n "$1" --arg s "$2" --arg p "$3" '[.data.alerts[] | select(.labels.alertname == "InfinibandCableLost" and .state == "firing") | .labels] |
		length == $n and any((.node == $s and .port == $p) or (.peer == $s and .peer_port == $p))' >/dev/null
}
holds "a cable that was lost before Prometheus looked is one alert" until_true fires_for 1 leaf-0001 "$early"
spine=$(get '/v1/links?node=leaf-0000' | jq -r '[.links[] | select((.a.name + .b.name) | test("spine"))][0] | if .a.name == "leaf-0000" then .a else .b end | .port')
ctl link down "leaf-0000[$spine]" >/dev/null
holds "one that is pulled is another one, by names" until_true fires_for 2 leaf-0000 "$spine"
holds "so does the dashboard" until_true finds 'last_over_time(infiniband_switch_uplink_info{switch="leaf-0000"}[1h]) unless on (instance, guid, port) infiniband_switch_uplink_info'
ctl link up "leaf-0001[$early]" >/dev/null
holds "each ends when its cable is back" until_true fires_for 1 leaf-0000 "$spine"
ctl link up "leaf-0000[$spine]" >/dev/null
holds "and so does the other one" until_true none_fires InfinibandCableLost

# --- the daemon dies ---
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
holds "the daemon is down" until_true finds 'saguaro_daemon_up == 0'
holds "so is the subnet" until_true finds 'saguaro_subnet_up == 0'
# shellcheck disable=SC2317 # called by until_true
gone() { [ "$(query "$1")" = 0 ]; }
holds "its series are gone" until_true gone 'saguaro_heavy_sweeps_total or saguaro_nodes or infiniband_switch_info'
holds "no cable is lost by that" none_fires InfinibandCableLost
holds "the alert fires" until_true alert SaguaroDaemonGone severity critical
stop_simulator
finish
