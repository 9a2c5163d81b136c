#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saquery side by side: each of its queries and options, untrusted and with the SM_Key, to
# OpenSM and then to saguarod on the same simulated fabric of 8 hosts. Its output has to
# be the same, but for the differences that tests/e2e/saquery.differences names. Then path
# selection between ports of different LMC, as the Omni-Path fabric manual has it.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery opensm sminfo
subscriber=$bin/tests/subscriber
[ -x "$subscriber" ] || skip "tests/subscriber is not built"

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 2 2 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 1)
host_name=$(sed -n 's/^Ca.*"\(.*\)".*# "\(.*\)"$/\2/p' "$tree" | head -n 1)
far_name=$(sed -n 's/^Ca.*"\(.*\)".*# "\(.*\)"$/\2/p' "$tree" | tail -n 1)

gid_of() { # gid_of NAME
	local guid
	guid=$(printf %016x "$(on "$far" saquery -G "$1" 2>/dev/null | grep -o '0x[0-9a-f]*' | tail -n 1)")
	printf 'fe80::%s:%s:%s:%s' "${guid:0:4}" "${guid:4:4}" "${guid:8:4}" "${guid:12:4}"
}

# What queries name, by their words in {}: the same in both runs, or the runs differ.
names() {
	local nodes
	nodes=$(on "$far" saquery NR 2>/dev/null)
	printf '%s\n' "near=$(on "$far" saquery -l "$host_name" 2>/dev/null | tail -n 1)" \
		"far=$(on "$far" saquery -l "$far_name" 2>/dev/null | tail -n 1)" \
		"sw=$(awk -F'[.]+' '/\tlid/ { lid = $2 } /node_type/ && $2 == "Switch" { print lid; exit }' <<<"$nodes")" \
		"sm=$(on "$far" sminfo 2>/dev/null | sed -n 's/.*sm lid \([0-9]*\).*/\1/p')" \
		"nearname=$host_name" "farname=$far_name" \
		"neargid=$(gid_of "$host_name")" "fargid=$(gid_of "$far_name")" \
		"farguid=$(on "$far" saquery -G "$far_name" 2>/dev/null | grep -o '0x[0-9a-f]*' | tail -n 1)"
}

queries() { # queries NAMES-FILE
	local script
	script=$(sed 's/\(.*\)=\(.*\)/s|{\1}|\2|g/' "$1")
	sed -e '/^#/d' -e '/^$/d' -e "$script" <<'END'
CPI
-c
# nodes, names and numbers
NR
-N
-D
NR {far}
NR 999
{far}
{farname}
-L {farname}
-l {farname}
-G {farname}
-O {far}
-U {farguid}
-L nobody
-O 999
# ports
PIR
PIR {sw}
PIR {sw}/1
PIR {sw}/99
PIR {far}
PIR {far}/1
PIR {far}/1/1
PIR 0/1
PIR 999
-s
SWIR
SWIR {sw}
SWIR {far}
SMIR
SMIR {sm}
SMIR {far}
GIR
GIR {far}
GIR {far}/0
GIR {far}/5
PKTR
PKTR {far}
PKTR {far}/1
PKTR {far}/1/0
PKTR {far}/1/1
PKTR {sw}/0
# quality of service; never a port that is not there, OpenSM ends by that
SL2VL
SL2VL {far}
SL2VL {sw}
SL2VL {sw}/1
SL2VL {sw}/1/2
VLAR
VLAR {far}
VLAR {sw}
VLAR {sw}/1
VLAR {sw}/1/1
# links and tables
-x
LR
LR {sw}
LR {sw}/1
LR {sw} {near}
LR {sw}/1 {near}
LR 0/1
LR {far}/1 {sw}
LFTR
LFTR {sw}
LFTR {sw}/0
LFTR {sw}/1
LFTR 0/0
LFTR {far}
MFTR
MFTR {sw}
MFTR {sw}/0/0
MFTR {sw}/1/0
# written records
IIR
-I
SR
-S
-g
-m
-m 0xc000
MCMR
MCMR --mlid 0xc000
MCMR --mlid 0xc001
MCMR --mgid ff12:401b:ffff::ffff:ffff
MCMR --mgid ff12:401b:ffff::1
MCMR --gid {fargid}
MCMR --pkey 0xffff
MCMR --pkey 0x1234
MCMR --qkey 0xb1b
MCMR --qkey 0xb1c
MCMR --mtu 0x84
MCMR --mtu 0x44
MCMR --mtu 0x4
MCMR --mtu 0xc1
MCMR --rate 0x83
MCMR --rate 0x43
MCMR --rate 0x3
MCMR --sl 0
MCMR --sl 1
MCMR --scope 2
MCMR --scope 5
MCMR --join_state 1
MCMR --proxy_join 0
MCMR --pkt_lifetime 0x92
MCMR --pkt_lifetime 0x41
MCMR --tclass 0
MCMR --tclass 1
MCMR --flow_label 0
MCMR --hop_limit 0
# paths
-p
PR
PR --slid {near}
PR --dlid {far}
PR --slid {near} --dlid {far}
PR --slid 999 --dlid {far}
PR --sgid {neargid}
PR --dgid {fargid}
PR --sgid {neargid} --dgid {fargid}
PR --sgid {neargid} --dgid ff12:401b:ffff::ffff:ffff
PR --slid {near} --dlid {far} --pkey 0xffff
PR --slid {near} --dlid {far} --pkey 0x7fff
PR --slid {near} --dlid {far} --pkey 0x1234
PR --slid {near} --dlid {far} --sl 0
PR --slid {near} --dlid {far} --sl 3
PR --slid {near} --dlid {far} --mtu 0x84
PR --slid {near} --dlid {far} --mtu 0x44
PR --slid {near} --dlid {far} --mtu 0x4
PR --slid {near} --dlid {far} --mtu 0x5
PR --slid {near} --dlid {far} --mtu 0xc1
PR --slid {near} --dlid {far} --rate 0x90
PR --slid {near} --dlid {far} --rate 0x83
PR --slid {near} --dlid {far} --rate 0x43
PR --slid {near} --dlid {far} --rate 0x3
PR --slid {near} --dlid {far} --rate 0xc0
PR --slid {near} --dlid {far} --pkt_lifetime 0x92
PR --slid {near} --dlid {far} --pkt_lifetime 0x52
PR --slid {near} --dlid {far} --pkt_lifetime 0x12
PR --slid {near} --dlid {far} --pkt_lifetime 0x1
PR --slid {near} --dlid {far} --numb_path 1
PR --slid {near} --dlid {far} --reversible 1
PR --slid {near} --dlid {far} --reversible 0
PR --slid {near} --dlid {far} --qos_class 0
PR --slid {near} --dlid {far} --qos_class 2
PR --slid {near} --dlid {far} --tclass 0
PR --slid {near} --dlid {far} --tclass 7
PR --slid {near} --dlid {far} --flow_label 5
PR --slid {near} --dlid {far} --hop_limit 0
PR --slid {near} --dlid {far} --service_id 0x1000000000000000
--src-to-dst {near}:{far}
--src-to-dst {nearname}:{farname}
--src-to-dst {nearname}:nobody
--sgid-to-dgid {neargid}-{fargid}
--sgid-to-dgid {neargid}-fe80::1
END
}

# One line per record that was printed, "name=value|...", sorted; others stand for themselves.
records() {
	awk '
		function out() { if (line != "") print line; line = "" }
		{ gsub(/^[ \t]+|[ \t]+$/, ""); gsub(/\.\.+/, "=") }
		/dump:/ { out(); inside = 1; line = $0; next }
		/^(ERROR|NOTE|status)/ { out(); inside = 0 }
		inside { line = line "|" $0; next }
		$0 != "" { print }
		END { out() }' | sort
}

# OpenSM keeps the state that a port had when it armed it, if no sweep has read it again since. No
# test can wait for that, so it counts as Active; what saguarod says is not touched.
active() {
	if [ "$1" = opensm ]; then sed 's/|LinkState:=Armed|/|LinkState:=Active|/' | sort; else cat; fi
}

ask_all() { # ask_all WHO: $work/WHO/NUMBER.KEY, and what was asked in $work/asked.WHO
	local n=0 query key
	mkdir "$work/$1"
	names >"$work/names.$1"
	queries "$work/names.$1" >"$work/asked.$1"
	while read -r query; do
		n=$((n + 1))
		for key in 0 1; do
			# shellcheck disable=SC2086 # words
			{
				on "$far" saquery --smkey "$key" $query </dev/null 2>&1
				printf 'status %s\n' "$?"
			} | records | active "$1" >"$work/$1/$n.$key"
		done
	done <"$work/asked.$1"
}

# What the differences file says of a query: FIELDS that are left out on both sides, or "more",
# "fewer" (of saguarod), "other".
reason_of() { # reason_of KEY QUERY
	awk -F'\t+' -v key="$1" -v query="$2" '
		/^(#|$)/ { next }
		($1 == "any" || $1 == key) && query ~ $2 { print NR "\t" $3; exit }' "$here/tests/e2e/saquery.differences"
}

without() { # without FIELDS: records on stdin, sorted anew
	sed -E "s#(^|\||\t)($1)[=:]+[^|]*#\1\2#g" | sort
}

compare() { # compare NUMBER KEY QUERY
	local o=$work/opensm/$1.$2 s=$work/saguarod/$1.$2 what="saquery --smkey $2 $3" line how
	cmp -s "$o" "$s" && { n_same=$((n_same + 1)); return; }
	IFS=$'\t' read -r line how <<<"$(reason_of "$2" "$3")"
	used[${line:-0}]=1
	case $how in
	more) [ -z "$(comm -23 "$o" "$s")" ] && return ;;
	fewer) [ -z "$(comm -13 "$o" "$s")" ] && return ;;
	other) return ;;
	fields\ *)
		without "${how#fields }" <"$o" >"$work/o" && without "${how#fields }" <"$s" >"$work/s"
		[ -s "$work/o" ] && cmp -s "$work/o" "$work/s" && return
		;;
	esac
	fail "$what: $(diff "$o" "$s" | head -n 6 | cut -c 1-600)"
}

# --- both -------------------------------------------------------------------------------------

start_both() { # start_both WHO START...: asks all while a program is subscribed
	local who=$1
	start_simulator "$tree"
	"${@:2}"
	on "$host" "$subscriber" 64 1 >"$work/subscribed" &
	pids+=("$!")
	until_true grep -qs subscribed "$work/subscribed" || fail "$who: no subscription"
	ask_all "$who"
}

# shellcheck disable=SC2317 # called by start_both
start_opensm() {
	start_opensm_on "$host" osm -Q
	opensm_settles osm
}
start_both opensm start_opensm
end_process "${pids[-1]}"
end_process "$opensm"
stop_simulator

# shellcheck disable=SC2317 # called by start_both
start_saguarod() {
	# No further sweep: it would clear PortStateChange, which saquery.differences is about.
	# OpenSM enforces the default partition also without a file
	echo 'Default=0x7fff, ipoib : ALL=full ;' >"$work/partitions.conf"
	start_daemon_on "$host" d --qos --sweep_interval 0 -P "$work/partitions.conf"
	until_true log_says d 'SUBNET UP'
}
start_both saguarod start_saguarod
end_process "${pids[-1]}"
end_process "$daemon"
stop_simulator

same "the same LIDs, names and GUIDs" "$(cat "$work/names.opensm")" "$(cat "$work/names.saguarod")"
declare -A used=()
n_same=0 n=0
while read -r query; do
	n=$((n + 1))
	compare "$n" 0 "$query"
	compare "$n" 1 "$query"
done <"$work/asked.saguarod"
ok "$n queries twice: $n_same answers of $((2 * n)) are the same"
while IFS=: read -r line text; do
	[ -n "${used[$line]-}" ] || fail "saquery.differences: no answer needs line $line: $text"
done < <(grep -nv -e '^#' -e '^$' "$here/tests/e2e/saquery.differences")

# --- path selection, LMC 1 at the source (a switch's port 0) and 2 at the destination ----------

start_simulator "$here/tests/fabrics/esp0.topo"
far=node4

lid_of() { on "$far" saquery -l "$1" 2>/dev/null | tail -n 1; }
offsets() { # what saquery prints, as "S1D1 S2D2 ...": LIDs counted from both base LIDs
	awk -F'[.]+' -v s="$sbase" -v d="$dbase" '/\tdlid/ { to = $2 } /\tslid/ { printf "%sS%dD%d", sep, $2 - s + 1, to - d + 1; sep = " " }'
}

selects() { # selects MODE ORDER ORDER-FROM-S2 ORDER-TO-D3
	start_daemon_on node1 "m-$1" --lmc 2 --lmc-esp0 1 --path-selection "$1"
	until_true log_says "m-$1" 'SUBNET UP'
	sbase=$(lid_of sw1) dbase=$(lid_of node2)
	same "$1: by GIDs" "$2" "$(on "$far" saquery PR --sgid "$(gid_of sw1)" --dgid "$(gid_of node2)" 2>/dev/null | offsets)"
	same "$1: from the second LID" "$3" "$(on "$far" saquery PR --slid "$((sbase + 1))" --dgid "$(gid_of node2)" 2>/dev/null | offsets)"
	same "$1: to the third LID" "$4" "$(on "$far" saquery PR --sgid "$(gid_of sw1)" --dlid "$((dbase + 2))" 2>/dev/null | offsets)"
	same "$1: between LIDs" S2D3 "$(on "$far" saquery --src-to-dst "$((sbase + 1)):$((dbase + 2))" 2>/dev/null | offsets)"
	end_process "$daemon"
}

selects minimal "S1D1 S2D2" "S2D2" "S1D3"
selects pairwise "S1D1 S2D2 S1D3 S2D4" "S2D2 S2D4" "S1D3"
selects orderall "S1D1 S2D2 S1D3 S2D4 S1D2 S1D4 S2D1 S2D3" "S2D2 S2D4 S2D1 S2D3" "S1D3 S2D3"
selects srcdstall "S1D1 S1D2 S1D3 S1D4 S2D1 S2D2 S2D3 S2D4" "S2D1 S2D2 S2D3 S2D4" "S1D3 S2D3"
stop_simulator
finish
