#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Two saguarods, of which the master is killed again and again while hosts register services, join
# groups and subscribe to events. When the standby has taken over, all that was acknowledged must be
# there; the one that was killed comes back and copies the state. ROUNDS=20 for more than a look; the
# last line has the figures.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery jq
[ -x "$bin/tests/sa_query" ] || skip "tests/sa_query is not built"
grep -q 'define HAVE_GNUTLS' "$bin/config.h" || skip "built without GnuTLS"
rounds=${ROUNDS:-2} seed=${SEED:-$RANDOM}
RANDOM=$seed

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
mapfile -t names < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree")
managers=("${names[@]:0:2}") clients=("${names[@]:20:3}")
free_port() { # a port of the loopback address that nobody listens on
	local p
	while p=$((20000 + RANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; do :; done
	echo "$p"
}
# link_port[i]: where manager i listens for the other
link_port=("$(free_port)" "$(free_port)")
(umask 077 && head -c 32 /dev/urandom | base64 >"$work/secret")
start() { # start INDEX
	start_daemon_on "${managers[$1]}" "m$1" -p 3 --master_sm_priority=9 --sminfo_polling_timeout=500 --sa_groups_per_port=1000 \
		--standby-listen "127.0.0.1:${link_port[$1]}" --standby-peer "127.0.0.1:${link_port[1 - $1]}" \
		--standby-secret "$work/secret" --standby-wait 60000
	manager[$1]=$daemon
}
# shellcheck disable=SC2317 # called by until_true
is_master() { "$bin/saguaro" status --snapshot-dir "$work/m$1/run" --json 2>/dev/null | jq -e '.ready and .sm.state == "master"' >/dev/null; }
# shellcheck disable=SC2317 # called by until_true
has_standby() { "$bin/saguaro" status --snapshot-dir "$work/m$1/run" --json 2>/dev/null | jq -e '.sm.copy.standbys_in_step == 1' >/dev/null; }
guid() { on "$1" ibstat | sed -n 's/.*Port GUID: 0x//p'; }

# requests CLIENT ROUND: lines for sa_query; of each six one joins a group of its own, two subscribe
# to a trap of their own, three register a service.
requests() {
	local k n
	for ((k = 0; k < 240; k++)); do
		n=$(printf '%02x%02x%04x' $(($1 + 1)) $(($2 + 1)) "$k")
		case $((k % 6)) in
		5) printf '2 38 130c7 1 ff120001ffff000000000000%sfe80000000000000%s%08x0000%02x%02xffff%02x%02x%08x%02x%02x\n' \
			"$n" "${client_guid[$1]}" 2843 0 0 0 0 0 0x21 0 ;;
		1 | 3) printf '2 3 0 1 %032xffff000000000101ffff%04x00000000ffffff\n' 0 $(($2 * 240 + k)) ;;
		*) printf '2 31 57 1 00000000%sfe80000000000000%sffff0000ffffffff%032x%0128x\n' "$n" "${client_guid[$1]}" 0 0 ;;
		esac
	done
}
# acknowledged CLIENT ROUND: what a client was told to be done, as found() names it
acknowledged() {
	local k=0 status n
	while read -r status _ && [ "$status" = 0000 ]; do
		n=$(printf '%02x%02x%04x' $(($1 + 1)) $(($2 + 1)) "$k")
		case $((k % 6)) in
		5) printf 'join %x:%x\n' $((16#${n:0:4})) $((16#${n:4})) ;;
		1 | 3) echo "subscription ${client_gid[$1]} $(($2 * 240 + k))" ;;
		*) echo "service $n" ;;
		esac
		k=$((k + 1))
	done <"$work/answers.$1.$2"
}
# found: what subnet administration has, in the same words
found() {
	on "${clients[0]}" saquery SR 2>/dev/null | sed -n 's/^.*ServiceID[. ]*0x00000000\([0-9a-f]*\)$/service \1/p'
	on "${clients[0]}" saquery MCMR 2>/dev/null | sed -n 's/^.*MGID[. ]*ff12:1:ffff::/join /p'
	on "${clients[0]}" saquery IIR 2>/dev/null | awk '/SubscriberGID/ { sub(/.*\.\./, ""); gid = $0 }
		/trap_num/ { sub(/.*\.\./, ""); print "subscription", gid, $0 }'
}
# lost WHAT: acknowledged things that are not found; counts both
lost() {
	found | sort -u >"$work/found"
	sort -u "$work/acknowledged" >"$work/expected"
	comm -23 "$work/expected" "$work/found"
}

start_simulator "$tree"
client_guid=() client_gid=()
for c in "${clients[@]}"; do
	g=$(guid "$c")
	client_guid+=("$g")
	client_gid+=("$(printf 'fe80::%x:%x:%x:%x' "0x${g:0:4}" "0x${g:4:4}" "0x${g:8:4}" "0x${g:12:4}")")
done
manager=()
start 0
until_true is_master 0
start 1
master=0
: >"$work/acknowledged"
total_lost=0 in_flight=0
for ((round = 0; round < rounds; round++)); do
	until_true has_standby "$master" || { fail "round $round: the standby gets no copy"; finish; }
	streams=()
	for i in "${!clients[@]}"; do
		requests "$i" "$round" >"$work/requests.$i.$round"
		: >"$work/answers.$i.$round"
		on "${clients[i]}" "$bin/tests/sa_query" <"$work/requests.$i.$round" >"$work/answers.$i.$round" 2>&1 &
		streams+=("$!")
		pids+=("$!")
	done
	enough=$((1 + RANDOM % 400))
	# shellcheck disable=SC2317 # called by until_true
	answered() { [ "$(cat "$work"/answers.*."$round" | wc -l)" -ge "$enough" ]; }
	until_true answered
	kill -9 "${manager[master]}"
	wait "${manager[master]}" 2>/dev/null
	other=$((1 - master))
	until_true is_master "$other" || { fail "round $round: no takeover"; finish; }
	for p in "${streams[@]}"; do end_process "$p"; done
	for i in "${!clients[@]}"; do acknowledged "$i" "$round" >>"$work/acknowledged"; done
	[ "$(cat "$work"/answers.*."$round" | wc -l)" -ge 720 ] || in_flight=$((in_flight + 1))
	gone=$(lost)
	[ -z "$gone" ] || { total_lost=$((total_lost + $(wc -l <<<"$gone"))); fail "round $round, seed $seed: lost: $gone"; }
	start "$master"
	until_true has_standby "$other" || { fail "round $round: the one that was killed gets no copy"; finish; }
	master=$other
done
same "nothing that was acknowledged is lost in $rounds rounds" 0 "$total_lost"
same "each takeover had the state of the master" 0 "$(cat "$work"/m?.log | grep -c 'takes over without')"
figure() { grep -c "^$1 " "$work/$2"; }
printf 'rounds %s, killed with requests under way %s; acknowledged %s (services %s, joins %s, subscriptions %s), of them found %s, lost %s; seed %s\n' \
	"$rounds" "$in_flight" "$(wc -l <"$work/expected")" "$(figure service expected)" "$(figure join expected)" \
	"$(figure subscription expected)" "$(comm -12 "$work/expected" "$work/found" | wc -l)" "$total_lost" "$seed"
finish
