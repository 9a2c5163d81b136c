#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Two saguarods on a simulated fabric, whose standby copies the state of the master over a link.
# The master is killed while a client registers services: no service that was acknowledged is
# lost, nor members and subscriptions, and no LFT block is sent. When the first one comes back,
# it copies the state before it is handed the fabric. A standby with another secret copies nothing.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery jq
[ -x "$bin/tests/sa_query" ] || skip "tests/sa_query is not built"
[ -x "$bin/tests/subscriber" ] || skip "tests/subscriber is not built"
grep -q 'define HAVE_GNUTLS' "$bin/config.h" || skip "built without GnuTLS"

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
mapfile -t names < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree")
low=${names[0]} high=${names[1]} client=${names[20]} listener=${names[30]}
polling=(--sminfo_polling_timeout=500)

low_port=$(free_port) high_port=$(free_port)
(umask 077 && head -c 32 /dev/urandom | base64 >"$work/secret")
(umask 077 && head -c 32 /dev/urandom | base64 >"$work/other.secret")
link() { # link OWN-PORT PEER-PORT [SECRET]: the words of the options
	echo --standby-listen "127.0.0.1:$1" --standby-peer "127.0.0.1:$2" --standby-secret "$work/${3:-secret}" \
		--standby-wait 60000
}
# start HOST NAME PRIORITY WORDS...: the log is added to, for one that comes again
start() { start_daemon_on "$1" "$2" -p "$3" "${polling[@]}" "${@:4}"; }
# shellcheck disable=SC2317 # called by until_true
says_times() { [ "$(grep -c -- "$2" "$work/$1.log")" -ge "$3" ]; }
# shellcheck disable=SC2317 # called by until_true
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
lft_blocks() { sed -n 's/.*SUBNET UP.*sent [0-9]* PortInfo and \([0-9]*\) LFT blocks.*/\1/p' "$work/$1.log" | tail -n 1; }
guid() { on "$1" ibstat | sed -n 's/.*Port GUID: 0x//p'; }
services() { on "$client" saquery SR 2>/dev/null | sed -n 's/^.*ServiceID[. ]*0x0*\([0-9a-f]*\)$/\1/p' | sort; }
members() { on "$client" saquery -m 2>/dev/null | grep -c PortGid; }
# shellcheck disable=SC2317 # called by until_true
figure() { curl -s "$url/metrics" | grep -v '^#' | grep -F "saguaro_$1 " | sed 's/.* //'; }

# shellcheck disable=SC2317 # called by until_true
has_figure() { [ "$(figure "$1")" = "$2" ]; }

# register FROM TO: lines for sa_query: services with these numbers, of $client, for ever
register() {
	local n
	for ((n = $1; n < $2; n++)); do
		printf '2 31 57 1 %016xfe80000000000000%sffff0000ffffffff%032x%0128x\n' "$n" "$client_guid" 0 0
	done
}

start_simulator "$tree"
client_guid=$(guid "$client")
# shellcheck disable=SC2046 # words
start "$high" high 9 $(link "$high_port" "$low_port")
high_pid=$daemon
holds "the first is master" until_true log_says high 'SUBNET UP'
# shellcheck disable=SC2046
start "$low" low 1 $(link "$low_port" "$high_port")
low_pid=$daemon
start_gateway g
holds "the standby copies its state" until_true log_says low 'copied the state of the master'

# shellcheck disable=SC2317 # called by until_true
status() { "$bin/saguaro" status --snapshot-dir "$work/$1/run" "${@:2}"; }
# shellcheck disable=SC2317 # called by until_true
status_says() { status "$1" | grep -q "$2"; }
holds "status of a standby is no error" until_true status low
holds "it says what it is" until_true status_says low "STANDBY, priority 1"
holds "and who is master" until_true status_says low "node02, GUID 0x$(guid "$high"), LID 1, priority 9"
# shellcheck disable=SC2317 # called by until_true
copy_is() { [ "$(status "$1" --json | jq -r ".sm.copy.$2")" = "$3" ]; }
holds "and that its copy is in step" until_true copy_is low in_step true
# shellcheck disable=SC2317 # called by until_true
ready_says() { [ "$(get /readyz | jq -r .sm.state)" = "$1" ]; }
holds "/readyz says so, too" until_true ready_says standby
same "and /v1/sm" "0x$(guid "$high")" "$(get /v1/sm | jq -r .master.guid)"
holds "so do the metrics" until_true has_figure 'sm_state{state="standby"}' 1
holds "the master has a standby in step" until_true copy_is high standbys_in_step 1

# --- clients: members, a subscriber, and a stream of services ---
for h in "${names[@]:21:4}"; do
	printf '2 38 10003 1 ff12401bffff000000000000fffffffffe80000000000000%s%032x01\n' "$(guid "$h")" 0
done >"$work/joins"
i=21
while read -r line; do
	on "${names[i]}" "$bin/tests/sa_query" <<<"$line" >>"$work/joined"
	i=$((i + 1))
done <"$work/joins"
same "four hosts joined" 4 "$(grep -c '^0000' "$work/joined")"
(on "$listener" "$bin/tests/subscriber" 64 1 >"$work/subscriber.out" 2>&1) &
pids+=("$!")
holds "a program has subscribed" until_true grep -qs subscribed "$work/subscriber.out"
had_members=$(members)
register 1 5000 >"$work/requests"
(on "$client" "$bin/tests/sa_query" <"$work/requests" >"$work/acknowledged" 2>&1) &
stream=$!
pids+=("$stream")
holds "services are registered" until_true has_lines "$work/acknowledged" 200

# --- partitions at run time, too ---
partition() { "$bin/saguaro" partition "${@:2}" --snapshot-dir "$work/$1/run"; }
has "the master makes a partition" "$(partition high add 0x10 --create "0x$client_guid" --wait)" "version 1 is programmed"
refuses "a standby changes none" partition low add 0x10 --create "0x$client_guid"
has "and says who may" "$said" "not the master"
has "the master adds a member last" "$(partition high add 0x10 "0x$(guid "$listener")=limited")" "version 2"

# --- the master dies ---
pkill -9 -P "$high_pid" 2>/dev/null
kill -9 "$high_pid"
wait "$high_pid" 2>/dev/null
holds "the standby takes over" until_true log_says low 'SUBNET UP'
acknowledged=$(grep -c '^0000' "$work/acknowledged")
has "with the state of the master" "$(cat "$work/low.log")" "takes over with the state of the master"
same "no LFT block was sent" 0 "$(lft_blocks low)"
services >"$work/kept"
printf '%x\n' $(seq 1 "$acknowledged") | sort >"$work/expected"
same "none of the acknowledged services is lost" "" "$(comm -13 "$work/kept" "$work/expected")"
same "nor a member" "$had_members" "$(members)"
has "nor a member of the partition" "$(partition low wait)" "version 2 is programmed"
has "not even the last one" "$(partition low show 0x10)" "0x$(guid "$listener")                     limited  runtime"
has "which goes on from there" "$(partition low remove 0x10 "0x$(guid "$listener")")" "version 3"
holds "nor the subscription" until_true has_figure sa_subscriptions 1
end_process "$stream"

# --- and comes back ---
register 5000 5010 >"$work/requests"
on "$client" "$bin/tests/sa_query" <"$work/requests" >"$work/later"
same "the new master takes services" 10 "$(grep -c '^0000' "$work/later")"
services >"$work/kept"
# shellcheck disable=SC2046
start "$high" back 9 $(link "$high_port" "$low_port")
high_pid=$daemon
holds "the first one comes back and takes over" until_true log_says back 'SUBNET UP'
has "it is handed the fabric" "$(cat "$work/back.log")" "hands over to us"
has "and has the state" "$(cat "$work/back.log")" "takes over with the state of the master"
same "no LFT block was sent again" 0 "$(lft_blocks back)"
same "all services are there" "$(cat "$work/kept")" "$(services)"
same "and all members" "$had_members" "$(members)"
holds "the other one copies again" until_true says_times low 'copied the state of the master' 2

# --- an operator hands it over, to the lower one ---
refuses "a standby hands nothing over" "$bin/saguaro" handover --snapshot-dir "$work/low/run"
has "and says why" "$said" "this subnet manager is not master, but STANDBY"
holds "a master does" "$bin/saguaro" handover --snapshot-dir "$work/back/run"
holds "the lower one takes over" until_true says_times low 'takes over with the state of the master' 2
holds "and is up" until_true says_times low 'SUBNET UP' 2
same "no LFT block was sent for that" 0 "$(lft_blocks low)"
same "all services are still there" "$(cat "$work/kept")" "$(services)"
holds "the one that gave it is standby" until_true status_says back "STANDBY, priority 0"
holds "and copies" until_true says_times back 'copied the state of the master' 2
end_process "$low_pid"
holds "it takes the fabric when the other is gone" until_true says_times back 'takes over with the state of the master' 2
holds "and is up again" until_true says_times back 'SUBNET UP' 2

# --- another secret ---
# shellcheck disable=SC2046
start "$low" stranger 1 $(link "$low_port" "$high_port" other.secret)
holds "a standby with another secret is told so" until_true log_says stranger 'is standby_secret the same on both'
end_process "$high_pid"
holds "it takes over without a copy" until_true log_says stranger 'SUBNET UP'
has "and says so" "$(cat "$work/stranger.log")" "takes over without the state of the last master"
same "no LFT block was sent then" 0 "$(lft_blocks stranger)"
same "and has no services" "" "$(services)"
finish
