#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Two saguarods that are both master for a moment: one was stopped and goes on after the other one
# took its place, or the two halves of a fabric were apart and are joined. One of them gives way, and
# what hosts registered with either of them is there. ROUNDS=20 for more than a look; the last lines
# have the figures.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery jq
[ -x "$bin/tests/sa_query" ] || skip "tests/sa_query is not built"
grep -q 'define HAVE_GNUTLS' "$bin/config.h" || skip "built without GnuTLS"
rounds=${ROUNDS:-2}

# Two switches with a subnet manager, two hosts and one cable between them.
tree=$work/halves.topo
{
	for s in 1 2; do
		printf 'Switch 8 "S-000000000000a00%s" # "half%s" enhanced port 0 lid 0 lmc 0\n' "$s" "$s"
		for h in 1 2 3; do printf '[%s] "H-000000000000b%s%s0"[1](b%s%s1) # "host%s%s" lid 0 4xEDR\n' "$h" "$s" "$h" "$s" "$h" "$s" "$h"; done
		printf '[8] "S-000000000000a00%s"[8] # "half%s" lid 0 4xEDR\n\n' "$((3 - s))" "$((3 - s))"
	done
	for s in 1 2; do for h in 1 2 3; do
		printf 'Ca 1 "H-000000000000b%s%s0" # "host%s%s"\n[1](b%s%s1) "S-000000000000a00%s"[%s] # lid 0 lmc 0 "half%s" lid 0 4xEDR\n\n' "$s" "$h" "$s" "$h" "$s" "$h" "$s" "$h" "$s"
	done; done
} >"$tree"
managers=(host11 host21) clients=(host12 host22)
link_port=("$(free_port)" "$(free_port)")
(umask 077 && head -c 32 /dev/urandom | base64 >"$work/secret")
manager=()
start() { # start INDEX
	start_daemon_on "${managers[$1]}" "m$1" -p 3 --master_sm_priority=9 --sweep_interval=2 \
		--standby-listen "127.0.0.1:${link_port[$1]}" --standby-peer "127.0.0.1:${link_port[1 - $1]}" \
		--standby-secret "$work/secret"
	manager[$1]=$daemon
}
# shellcheck disable=SC2317 # called by until_true
is_master() { [ "$("$bin/saguaro" status --snapshot-dir "$work/m$1/run" --json 2>/dev/null | jq '.ready and .sm.state == "master"')" = true ]; }
# shellcheck disable=SC2317 # called by until_true
is_standby() { [ "$("$bin/saguaro" status --snapshot-dir "$work/m$1/run" --json 2>/dev/null | jq -r .sm.state)" = standby ]; }
# shellcheck disable=SC2317 # called by until_true
has_standby() { [ "$("$bin/saguaro" status --snapshot-dir "$work/m$1/run" --json 2>/dev/null | jq '.sm.copy.standbys_in_step')" = 1 ]; }
stood_by() { grep -c 'Entering STANDBY' "$work/m$1.log"; }
# shellcheck disable=SC2317 # called by until_true
one_gave_way() { [ "$(($(stood_by 0) + $(stood_by 1)))" -gt "$before" ]; }
# sent INDEX: PortInfo and LFT blocks that it has sent so far
sent() { sed -n 's/.*SUBNET UP.*sent \([0-9]*\) PortInfo and \([0-9]*\) LFT blocks.*/\1 \2/p' "$work/m$1.log" | awk '{ n += $1 + $2 } END { print n + 0 }'; }
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# register CLIENT KIND ROUND: 20 services with names of their own; each that was acknowledged is noted.
register() {
	local k n
	for ((k = 0; k < 20; k++)); do
		n=$(printf '%02x%02x%04x' $(($1 + 1)) "$3" $((k + 256 * $2)))
		printf '2 31 57 1 00000000%sfe80000000000000000000000000b%s%sffff0000ffffffff%032x%0128x\n' "$n" "$(($1 + 1))" 21 0 0
	done | on "${clients[$1]}" "$bin/tests/sa_query" >"$work/answers" 2>&1
	k=0
	while read -r status _ && [ "$status" = 0000 ]; do
		printf '%02x%02x%04x\n' $(($1 + 1)) "$3" $((k++ + 256 * $2)) >>"$work/acknowledged"
	done <"$work/answers"
}
found() { on "${clients[0]}" saquery SR 2>/dev/null | sed -n 's/^.*ServiceID[. ]*0x00000000\([0-9a-f]*\)$/\1/p' | sort -u; }
lost() { comm -23 <(sort -u "$work/acknowledged") <(found); }
named() { grep -c "dropped service" "$work/m0.log" "$work/m1.log" | awk -F: '{ n += $2 } END { print n }'; }

# joined BEGAN KIND: from the moment when both are master, in ms
joined() {
	local began=$1 kind=$2 lower gone
	until_true one_gave_way || { fail "$kind: two masters last"; finish; }
	lower=0
	[ "$(stood_by 1)" = "$before1" ] || lower=1
	printf '%s %s %s %s\n' "$kind" "$(($(now_ms) - began))" "$lower" "$(($(sent "$lower") - sent_before[lower]))" >>"$work/figures"
	master=$((1 - lower))
	until_true is_master "$master" || { fail "$kind: no master"; finish; }
	until_true has_standby "$master" || { fail "$kind: no copy"; finish; }
	until_true is_standby "$lower" || { fail "$kind: no standby"; finish; } # what it shows is a moment old
	gone=$(lost)
	if [ -n "$gone" ]; then
		fail "$kind: lost: $(wc -l <<<"$gone") of $(wc -l <"$work/acknowledged")"
		wc -l <<<"$gone" >>"$work/lost.$kind"
		comm -12 "$work/acknowledged" <(found) >"$work/left"
		mv "$work/left" "$work/acknowledged"
	fi
}
note() { before=$(($(stood_by 0) + $(stood_by 1))) before1=$(stood_by 1) sent_before=("$(sent 0)" "$(sent 1)"); }

start_simulator "$tree"
start 0
until_true is_master 0
start 1
master=0
until_true has_standby 0
: >"$work/acknowledged"
: >"$work/figures"
for ((round = 0; round < rounds; round++)); do
	other=$((1 - master))
	kill -STOP "${manager[master]}"
	until_true is_master "$other" || { fail "no takeover of a stopped master"; finish; }
	register "$other" 0 "$round"
	note
	began=$(now_ms)
	kill -CONT "${manager[master]}"
	joined "$began" frozen
	ctl link down "half1[8]" >/dev/null
	other=$((1 - master))
	until_true is_master "$other" || { fail "no second master in the other half"; finish; }
	register 0 1 "$round"
	register 1 2 "$round"
	note
	began=$(now_ms)
	ctl link up "half1[8]" >/dev/null
	joined "$began" halves
done
for kind in frozen halves; do
	same "$kind: nothing that was acknowledged is lost in $rounds rounds" "" "$(cat "$work/lost.$kind" 2>/dev/null)"
	awk -v kind="$kind" '$1 == kind { n++; t[n] = $2; if ($2 > most) most = $2; sum += $2; sets += $4 }
		END { printf "%s: rounds %d, two masters for %.0f ms on average, %d at most; the lower one sent %d PortInfo and LFT blocks\n", kind, n, sum / n, most, sets }' "$work/figures"
done
echo "services acknowledged $(sort -u "$work/acknowledged" | wc -l), dropped with their names $(named)"
finish
