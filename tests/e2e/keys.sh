#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Keys. What ports show of their M_Key, side by side with OpenSM; OpenSM's fabric taken over with
# another key, by its file guid2mkey; and no key in a log, a dump, the snapshot, a record, an answer
# over HTTP or of the control socket, whoever asks.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opensm saquery smpquery sminfo curl

fabric=$work/fabric.topo
sed 's/4xEDR/4xQDR/' "$here/tests/fabrics/two-switch.topo" >"$fabric"
sm=h1 tenant=h3
old_key=5ec2e7a11ce0b0b1 m_key=7a31f00dc0ffee42 sm_key=44b1c2d3e4f50617 sa_key=1f2e3d4c5b6a7988
umask 077
printf 'm_key 0x%s\nm_key_protection_level 1\nm_key_lease_period 60\n' "$old_key" >"$work/old.conf"
printf 'm_key 0x%s\nm_key_protection_level 1\nm_key_lease_period 60\nsm_key 0x%s\nsa_key 0x%s\n' \
	"$m_key" "$sm_key" "$sa_key" >"$work/new.conf"

# look: what a host without the key sees of the others'.
look() {
	local r
	for r in 0 0,1 0,1,2 0,1,7 0,1,7,1; do
		printf 'from a host %s: %s\n' "$r" "$(on "$tenant" smpquery -D portinfo "$r" 2>&1 | grep -E '^(Mkey|MkeyLease|ProtectBits|NeighborMTU|OperVLs|HoqLife|VLStallCount|LocalPhysErr|OverrunErr|SubnetTimeout|LinkSpeed.*Enabled|LinkState)' | tr -s '.\n' ' ')"
	done
	for r in "0,1 1" "0,1 7" "0,1,7 7" "0,1,7 1"; do
		# shellcheck disable=SC2086 # route and port
		printf 'port of a switch %s: %s\n' "$r" "$(on "$tenant" smpquery -D portinfo $r 2>&1 | grep -E '^(Link|NeighborMTU|OperVLs|HoqLife|VLStallCount|LocalPhysErr|OverrunErr|PartEnf)' | tr -s '.\n' ' ')"
	done
	printf 'sminfo: %s\n' "$(on "$tenant" sminfo 2>&1 | sed 's/activity count [0-9]*//')"
}

start_simulator "$fabric"
start_opensm_on "$sm" osm -F "$work/old.conf"
opensm_settles osm
look >"$work/osm.look"
end_process "$opensm"
cp "$work/osm/guid2mkey" "$work/guid2mkey" || fail "OpenSM writes no guid2mkey"
stop_simulator

start_simulator "$fabric"
start_daemon_on "$sm" same -F "$work/old.conf" --m_key_per_port FALSE --routing_engine minhop
until_true log_says same 'SUBNET UP' || { fail "saguarod does not come up"; finish; }
look >"$work/same.look"
# The file has the format of OpenSM's, and the same keys.
until_true test -s "$work/same/state/guid2mkey"
same "guid2mkey is OpenSM's" "$(sort "$work/guid2mkey")" "$(sort "$work/same/state/guid2mkey")"
same "guid2mkey is private" 600 "$(stat -c %a "$work/same/state/guid2mkey")"
end_process "$daemon"
stop_simulator
if diff "$work/osm.look" "$work/same.look" >"$work/diff"; then
	ok "M_Keys and ports as with OpenSM: $(wc -l <"$work/osm.look") lines are equal"
else
	fail "M_Keys and ports as with OpenSM"
	cat "$work/diff"
fi

# --- taken over, with other keys; then all that can be read is searched -------------------------
start_simulator "$fabric"
start_opensm_on "$sm" first -F "$work/old.conf"
opensm_settles first
end_process "$opensm"
start_daemon_on "$sm" d -F "$work/new.conf" --guid2mkey-file "$work/first/guid2mkey" --m_key_per_port FALSE --routing_engine minhop -v \
	--log_file "$work/d.file.log" --sa_db_dump TRUE --dump_files_dir "$work/dumps" --oob-listen 127.0.0.1:0 2>/dev/null
mkdir -p "$work/dumps"
until_true log_says d 'SUBNET UP' || { fail "saguarod does not take over"; finish; }
same "no sweep is given up" 0 "$(grep -c 'sweep given up' "$work/d.log")"
same "all ports have the new key" 6 "$(grep -c "0x$m_key" "$work/first/guid2mkey")"
start_gateway gw
wait_ready

# patterns: a key as text and as bytes of both orders.
patterns() {
	local k
	for k in "$@"; do
		printf '%s\n' "$k" "${k^^}" "$(printf '%u' "0x$k")"
	done
}
# leaks FILE...: files with a key.
leaks() {
	local k swapped
	# shellcheck disable=SC2086 # several keys
	grep -l -a -r -F -f <(patterns $keys) "$@"
	for k in $keys; do
		swapped=$(fold -w2 <<<"$k" | tac | tr -d '\n')
		# shellcheck disable=SC2001 # two digits at a time
		LC_ALL=C grep -l -a -r -P "$(sed 's/../\\x&/g' <<<"$k")|$(sed 's/../\\x&/g' <<<"$swapped")" "$@"
	done
}
keys="$old_key $m_key $sm_key $sa_key"
printf 'x %s\n' "$sa_key" >"$work/known"
printf 'x\x42\xee\xff\xc0\x0d\xf0\x31\x7a' >"$work/known.bytes"
same "a key is found as text and as bytes" 2 "$(leaks "$work/known" "$work/known.bytes" | sort -u | wc -l)"

mkdir "$work/read"
n=0
fetch() {
	n=$((n + 1))
	get "$1" >"$work/read/http.$n"
}
for path in $(get /openapi.json | jq -r '(.paths // {}) | keys[]' | grep -v '{') /metrics /readyz / /openapi.json; do
	case $path in *stream* | */events) continue ;; esac
	fetch "$path"
done
for name in NodeRecord PortInfoRecord SMInfoRecord PathRecord PKeyTableRecord GUIDInfoRecord SwitchInfoRecord LinkRecord; do
	fetch "/v1/records/$name"
done
same "records over HTTP" 200 "$(curl -s -o /dev/null -w '%{http_code}' "$url/v1/records/PortInfoRecord")"
export SAGUARO_SNAPSHOT_DIR=$run_dir
for words in status "status --json" nodes "nodes --json" "records PortInfoRecord" "records SMInfoRecord" "sweep --json" \
	"reload" "config check $work/new.conf" "config check --json $work/new.conf" "events"; do
	n=$((n + 1))
	# shellcheck disable=SC2086 # words
	"$bin/saguaro" $words >"$work/read/cli.$n" 2>&1
done
for words in PIR SMIR NR "PIR --smkey 0x$sa_key" "SMIR --smkey 0x$sa_key"; do
	n=$((n + 1))
	# shellcheck disable=SC2086 # words
	on "$tenant" saquery $words >"$work/read/sa.$n" 2>&1
done
for r in 0 0,1 0,1,7 0,1,7,1; do
	on "$tenant" smpquery -D portinfo "$r" >"$work/read/smp.${r//,/-}" 2>&1
done
on "$tenant" sminfo >"$work/read/sminfo" 2>&1
holds "there was something to read" test "$(cat "$work"/read/* | wc -c)" -gt 20000

# a wrong key, as an operator mistypes it, and one that needs a restart
sed -i "s/^sa_key .*/sa_key 0x${sa_key}99/" "$work/new.conf"
"$bin/saguaro" reload >"$work/read/typo" 2>&1
has "a mistyped key is told" "$(cat "$work/read/typo" "$work/d.log")" "sa_key '...'"
sed -i "s/^sa_key .*/sa_key 0x${sm_key}/" "$work/new.conf"
"$bin/saguaro" reload >>"$work/read/typo" 2>&1
has "a key that needs a restart" "$(cat "$work/d.log")" "sa_key: '...' needs a restart"

same "no key in what was read" "" "$(leaks "$work/read")"
same "no key in the logs" "" "$(leaks "$work/d.log" "$work/d.file.log" "$work/gw.log")"
same "no key in the snapshot" "" "$(leaks "$run_dir")"
same "no key in dumps" "" "$(leaks "$work/dumps")"
same "no key in the state but in guid2mkey" "" "$(leaks "$work/d/state")"
same "files with keys are private" "" "$(find "$work/d/state" -type f -perm /077)"
end_process "$gateway"
end_process "$daemon"

# --- a random sa_key ------------------------------------------------------------------------------
start_daemon_on "$sm" r --sa-key-file auto --m_key "0x$m_key" --guid2mkey-file "$work/first/guid2mkey"
until_true log_says r 'SUBNET UP' || { fail "saguarod does not come up with sa_key_file"; finish; }
same "the file of the sa_key is private" 600 "$(stat -c %a "$work/r/state/sa_key")"
own=$(cat "$work/r/state/sa_key")
has "OpenSM's key is not trusted any more" "$(on "$tenant" timeout 20 saquery -t 500 --smkey 1 PKTR 2>&1)" "timed out"
holds "the key is" on "$tenant" saquery --smkey "$own" PKTR
keys=${own#0x}
same "it is in no log" "" "$(leaks "$work/r.log" "$work/r/run")"
end_process "$daemon"
stop_simulator

# --- the program's own files ------------------------------------------------------------------------
"$bin/saguarod" --m_key "0x$m_key" --create-config "$work/created.conf"
same "a file that --create-config writes is private" 600 "$(stat -c %a "$work/created.conf")"
finish
