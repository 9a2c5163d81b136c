#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Partitions changed at run time on a simulated fabric, by the command line:
#   what each command says and does, refusals and their exit status
#   hosts that move from one partition to another while a third program asks for their path: each
#     reply has the old P_Key or the new one, none has both, and none is missing
#   random changes while saguarod is killed with SIGKILL: nothing that was confirmed is lost,
#     what was not confirmed happened as a whole or not at all, and the tables of all ports are
#     those of the partitions
# CHANGES is how many random changes there are; `make check-partition-changes` makes 10,000.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients smpquery jq
[ -x "$bin/tests/sa_query" ] || skip "tests/sa_query is not built"
changes=${CHANGES:-60}
seed=${SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed

start_simulator "$here/tests/fabrics/two-switch.topo"
printf 'Default=0x7fff : ALL=limited, SELF=full ;\nFile=0x100 : ALL_CAS=full ;\n' >"$work/partitions.conf"
declare -A guid lid route=([h1]='0' [h2]='0,1,2' [h3]='0,1,7,1' [h4]='0,1,7,2') port=([h1]='0,1 1' [h2]='0,1 2' [h3]='0,1,7 1' [h4]='0,1,7 2')
for h in h1 h2 h3 h4; do
	guid[$h]=0x$(on h1 smpquery -D nodeinfo "${route[$h]}" | sed -n 's/^PortGuid:\.*0x//p')
done
start() { start_daemon_on h1 d -P "$work/partitions.conf" --sweep_interval 0; }
partition() { "$bin/saguaro" partition "$@" --snapshot-dir "$work/d/run"; }
# keys NODE [PORT]: the P_Keys of a table, in order of their numbers
keys() {
	# shellcheck disable=SC2086 # a port of its own
	on h1 smpquery -D pkeys $1 2>/dev/null | grep -o '0x[0-9a-f]\{4\}' | grep -v 0x0000 | sort | paste -sd' '
}
start
holds "the daemon comes up" until_true partition wait

# --- commands
has "create" "$(partition create 0x8010 --name tenant-a --ipoib 2>&1)" "partition 0x0010: changed, version 1"
has "once more is nothing" "$(partition create 0x10 --name tenant-a --ipoib 2>&1)" "nothing to change, version 1"
has "without a P_Key the lowest one" "$(partition create --name tenant-b 2>&1)" "partition 0x0001: changed, version 2"
said=$(partition add tenant-a "${guid[h2]}" 2>&1)
same "a P_Key is needed" 1 "$?"
has "and said" "$said" "'pkey' must be a P_Key"
has "add" "$(partition add 0x10 "${guid[h2]}" "${guid[h3]}=limited" 0x1234567890abcdef --wait 2>&1)" "version 3 is programmed"
same "tables of the hosts" "0x0010 0x7fff 0x8100" "$(keys 0,1,7,1)"
same "tables of their switch ports" "0x7fff 0x8010 0x8100" "$(keys '0,1 2')"
has "GUIDs that are not there" "$(partition add 0x10 0x1234567890abcdef 2>&1)" "1 GUID is not in the fabric yet: 0x1234567890abcdef"
has "the version is compared" "$(partition add 0x10 "${guid[h4]}" --if-version 1 2>&1)" "have version 3, not 1"
refuses "a partition that is not there" partition add 0x20 "${guid[h4]}"
refuses "a partition of the file is not deleted" partition delete 0x100
has "it says where" "$said" "one of the configuration"
has "members of the file stay" "$(partition add 0x100 "${guid[h4]}=limited" --wait; partition remove 0x100 "${guid[h4]}" "${guid[h3]}")" "version 5"
has "set" "$(partition set 0x10 "${guid[h4]}" --wait 2>&1)" "version 6 is programmed"
same "only they are members" "0x7fff 0x8100" "$(keys 0,1,2)"
has "a host by its name" "$(partition add 0x10 node3 --wait 2>&1)" "version 7 is programmed"
has "is a member by its GUID" "$(partition show 0x10)" "${guid[h3]}"
has "a name is removed, too" "$(partition remove 0x10 node3 --wait 2>&1)" "version 8 is programmed"
has "a name that nobody has" "$(partition add 0x10 node9 2>&1)" "no host in the fabric has the name 'node9'"
has "what is no GUID is a name" "$(partition add 0x10 0xyz 2>&1)" "no host in the fabric has the name '0xyz'"
has "members tell where they come from" "$(partition show 0x10)" "runtime"
refuses "a version that is not there yet" partition wait 99
has "JSON has a code" "$(partition add 0x20 "${guid[h4]}" --json)" '"code": "not_found"'
printf 'Default=0x7fff : ALL=limited, SELF=full ;\nFile=0x101 : ALL_CAS=full ;\n' >"$work/partitions.conf"
holds "another file" "$bin/saguaro" reload --snapshot-dir "$work/d/run"
# shellcheck disable=SC2317 # called by until_true
reloaded() { [ "$(keys 0,1,7,2)" = "0x7fff 0x8010 0x8101" ]; }
holds "leaves what was made at run time" until_true reloaded
partition delete 0x10 --wait >/dev/null
# shellcheck disable=SC2317 # called by until_true
event() { "$bin/saguaro" events --snapshot-dir "$work/d/run" | grep -qF "$1"; }
holds "events: made" until_true event "partition 0x0010 tenant-a is made: members at run time from 0 to 0; version 1; by $(id -un), control socket"
holds "events: changed" until_true event "partition 0x0010 tenant-a is changed: members at run time from 0 to 3; version 3"
holds "events: deleted" until_true event "partition 0x0010 is deleted"

# --- a tenant that moves
for h in h3 h4; do lid[$h]=$(on h1 smpquery -D portinfo "${route[$h]}" | sed -n 's/^Lid:\.*//p'); done
printf 'Default=0x7fff : ALL=limited, SELF=full ;\n' >"$work/partitions.conf"
"$bin/saguaro" reload --snapshot-dir "$work/d/run" >/dev/null
partition create 0x11 "${guid[h3]}" "${guid[h4]}" --wait >/dev/null
partition create 0x12 --wait >/dev/null
# shellcheck disable=SC2317 # called by until_true
reloaded() { [ "$(keys 0,1,7,2)" = "0x7fff 0x8011" ]; }
until_true reloaded
path=$(printf '1 35 30 0 %080x%04x%04x' 0 "${lid[h4]}" "${lid[h3]}")
(until [ -e "$work/moved" ]; do printf '%s\n' "$path"; done) | on h3 "$bin/tests/sa_query" >"$work/paths" &
asking=$!
for ((i = 0; i < 10; i++)); do
	from=$((0x11 + i % 2)) to=$((0x12 - i % 2))
	partition add $to "${guid[h3]}" "${guid[h4]}" --from $from --wait >>"$work/moves" 2>&1 || fail "move $i"
done
: >"$work/moved"
wait "$asking"
# P_Keys of the replies, each as often as it follows another
awk '{ print $1, substr($2, 101, 4) }' "$work/paths" | uniq -c | sed 's/^ *//' >"$work/runs"
if awk '$2 != "0000" || $3 != (NR % 2 ? first : second) {
		if (NR == 1 && $2 == "0000" && ($3 == "8011" || $3 == "8012")) { first = $3; second = $3 == "8011" ? "8012" : "8011" } else exit bad = 1 }
	END { exit bad || NR == 0 || NR > 11 }' "$work/runs"; then
	ok "old or new path: $(wc -l <"$work/paths") replies, $(wc -l <"$work/runs") runs"
else
	fail "a reply is neither the old nor the new path"
	cat "$work/runs"
fi
partition delete 0x11 >/dev/null
partition delete 0x12 >/dev/null

# --- random changes and SIGKILL
declare -A member # "P_Key GUID" -> membership
guids=("${guid[@]}" 0x00000000000000aa 0x00000000000000bb)
# expected: all members, as actual shows them
expected() { for m in "${!member[@]}"; do printf '%s %s\n' "$m" "${member[$m]}"; done | sort; }
actual() {
	local k
	for k in 0x0001 0x0011 0x0012 0x0013; do
		partition show "$k" --json 2>/dev/null |
			jq -r --arg k "$k" '.members[] | select(.source == "runtime") | "\($k) \(.first) \(.membership)"'
	done | sort
}
# change: a random one, in $words, and what it makes of the members
change() {
	local p=$((0x11 + RANDOM % 3)) n=$((1 + RANDOM % 4)) action i g as key
	p=$(printf '0x%04x' "$p")
	case $((RANDOM % 8)) in
	0) action='set' ;;
	1 | 2 | 3) action=remove ;;
	*) action=add ;;
	esac
	words=("$action" "$p")
	[ "$action" = remove ] || words+=(--create)
	if [ "$action" = set ]; then
		for key in "${!member[@]}"; do [[ $key == "$p "* ]] && unset "member[$key]"; done
	fi
	for ((i = 0; i < n; i++)); do
		g=${guids[(RANDOM + i) % ${#guids[@]}]}
		as=full
		[[ " ${words[*]} " != *" $g"* ]] || continue
		if [ "$action" = remove ]; then
			words+=("$g")
			unset "member[$p $g]"
		else
			((RANDOM % 2)) || as=limited
			words+=("$g=$as")
			member["$p $g"]=$as
		fi
	done
}
for p in 0x11 0x12 0x13; do partition create $p >/dev/null; done
kills=0 undone=0
for ((i = 0; i < changes; i++)); do
	before=$(expected)
	change
	if ((RANDOM % (changes > 1000 ? 50 : 8))); then
		partition "${words[@]}" >/dev/null 2>>"$work/refused.log" || { fail "change $i: ${words[*]}"; break; }
		continue
	fi
	# somewhere between now and the end of the command
	{
		for ((k = RANDOM % 25000; k > 0; k--)); do :; done
		kill -9 "$daemon"
	} &
	killer=$!
	partition "${words[@]}" >/dev/null 2>&1
	status=$?
	wait "$killer" "$daemon" 2>/dev/null
	((kills++))
	start
	until_true partition wait >/dev/null 2>&1 || { fail "no start after kill $kills"; break; }
	now=$(actual)
	if [ "$status" != 0 ] && [ "$now" = "$before" ]; then
		((undone++))
		member=()
		while read -r p g as; do [ -z "$p" ] || member["$p $g"]=$as; done <<<"$before"
	elif [ "$now" != "$(expected)" ]; then
		fail "after kill $kills, change $i ($status, seed $seed): ${words[*]}"
		diff <(expected) <(printf '%s\n' "$now")
		break
	fi
done
holds "all is programmed" partition wait
same "$changes changes, $kills kills, $undone of them before the change (seed $seed)" "$(expected)" "$(actual)"
for h in h1 h2 h3 h4; do
	want=$([ $h = h1 ] && echo 0xffff || echo 0x7fff)
	for m in "${!member[@]}"; do
		[ "${m#* }" != "${guid[$h]}" ] ||
			want+=$(printf '\n0x%04x' $((${m% *} | $([ "${member[$m]}" = full ] && echo 0x8000 || echo 0))))
	done
	want=$(sort <<<"$want" | paste -sd' ')
	same "table of $h" "$want" "$(keys "${route[$h]}")"
	same "table of its switch port" "$want" "$(keys "${port[$h]}")"
done
finish
