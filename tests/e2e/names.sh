#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Names that a host, a cable's far end or a file of another program may choose: escape sequences, C1 controls,
# marks that turn the direction of text, bytes that are not UTF-8, formulas of spreadsheets. No list, export,
# answer or line of a log passes them on.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
for tool in curl jq python3; do command -v "$tool" >/dev/null || skip "no $tool here"; done
cd "$work" || exit 1

# The hosts of a small tree get these names, the switches, too.
cat >hostile.py <<'P'
import re, sys
names = [b"a\x1b[31mb", b"a\xc2\x9b31mb", b"a\x9b31mb", b"a\xe2\x80\xaetxt.exe", b"a\xe2\x81\xa6b\xe2\x81\xa9",
         b"a\xe2\x80\xa8b\xe2\x80\xa9", b"a\xff\xfe\x80\xc0\xaf", b"a\xd8\x9c\xe2\x80\x8e\xe2\x80\x8fb",
         b"=cmd|' /C calc'!A0", b"+1+1", b"-1+1", b"@SUM(A1)", b"a\xed\xa0\x80\xf4\x90\x80\x80", b"<script>alert(1)</script>",
         b"a\x7f\xc2\x80\xc2\x85b", b"Z\xc3\xbcrich"]
n = 0
for line in open(sys.argv[1], "rb"):
    def hostile(m):
        global n
        n += 1
        return b'# "' + names[(n - 1) % len(names)] + b'-%d"' % n
    if re.match(rb"(Ca|Switch)", line):
        line = re.sub(rb'# "[^"]*"', hostile, line, count=1)
    sys.stdout.buffer.write(line)
P
# Fails on what a terminal, an editor or a spreadsheet would obey. ASCII: JSON, all of it escaped.
cat >harmless.py <<'P'
import csv, io, sys
kind, bad = sys.argv[1], 0
data = sys.stdin.buffer.read()
try:
    text = data.decode("utf-8")
except UnicodeDecodeError as e:
    sys.exit(f"not UTF-8: {data[max(0, e.start - 60):e.end + 20]!r}")
forbidden = set(range(0x20)) | set(range(0x7f, 0xa0)) | {0x61c, 0x200e, 0x200f} | set(range(0x2028, 0x202f)) | set(range(0x2066, 0x206a))
forbidden -= {9, 10}
if kind == "http":
    forbidden -= {13}
for i, c in enumerate(text):
    if ord(c) in forbidden:
        sys.exit(f"U+{ord(c):04X} in {text[max(0, i - 60):i + 20]!r}")
if kind == "csv":
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            if cell[:1] in "=+-@\t\r" and cell[:1] != "" and not cell.lstrip("-").replace(".", "", 1).isdigit():
                sys.exit(f"a formula: {cell!r}")
if len(text) < int(sys.argv[2]):
    sys.exit(f"only {text!r}")
P
harmless() { # harmless WHAT KIND COMMAND...: what the command prints, in both streams
	local what=$1 kind=$2 why
	shift 2
	timeout 100 "$@" >out 2>err </dev/null
	cat out err >both
	why=$(python3 harmless.py "$kind" "${least:-1}" <both 2>&1) && ok "$what" || fail "$what: $why"
}
"$bin/saguaro" topo ft2 8 4 4 -o plain.topo
python3 hostile.py plain.topo >hostile.topo
holds "the file is hostile" python3 -c 'import sys; sys.exit(b"\xe2\x80\xae" not in open("hostile.topo", "rb").read())'

# Commands on files.
for args in "route" "report pathusage" "report validateroutes" "report portusage" "report route" "whatif" "check --lfts hostile.lfts"; do
	read -r command rest <<<"$args"
	case $args in
	report*) set -- report "$rest" hostile.topo ;;
	check*) set -- check hostile.topo --lfts hostile.lfts ;;
	*) set -- "$command" hostile.topo ;;
	esac
	[ "$command" != whatif ] || set -- "$@" --down 'Z*'
	least=0 harmless "saguaro $args FILE" text "$bin/saguaro" "$@"
	least=0 harmless "saguaro $args FILE --json" text "$bin/saguaro" "$@" --json
done

# A running fabric with partitions, an opensm.conf and a list of names of other programs that are hostile, too.
printf 'Default=0x7fff,ipoib:ALL=full;\n\xe2\x80\xaeevil\xc2\x9b=0x1,ipoib:ALL=full;\n@SUM(A1)=0x2:ALL=full;\n\xff\xfe=0x3:ALL=full;\n' >partitions.conf
printf 'routing_engine \xe2\x80\xaeminhop\xc2\x9b\nno_such_\xe2\x80\xae \xff\xfe\npartition_config_file /no/\xc2\x9b31m\xff\n' >opensm.conf
printf 'Default=0x7fff,ipoib,\xe2\x80\xaeflag=\xff:ALL=full;\n' >bad.conf
harmless "what --check says of a file" text "$bin/saguarod" --check --Pconfig bad.conf --fabric sim:hostile.topo
harmless "and of opensm.conf" text "$bin/saguarod" --check --config opensm.conf
harmless "config check" text "$bin/saguaro" config check opensm.conf
harmless "config check --json" text "$bin/saguaro" config check --json opensm.conf
start_daemon d --fabric sim:hostile.topo --Pconfig partitions.conf --log-file "$work/file.log" --verbose
start_gateway g
wait_ready
host() { "$bin/saguaro" "$@" --snapshot-dir "$run_dir"; }
a=$(curl -s "$url/v1/nodes?type=ca" | jq -r '.nodes[0].node_guid // .nodes[0].guid')
b=$(curl -s "$url/v1/nodes?type=ca" | jq -r '.nodes[-1].node_guid // .nodes[-1].guid')
s=$(curl -s "$url/v1/nodes?type=switch" | jq -r '.nodes[0].node_guid // .nodes[0].guid')
while read -r command rest; do
	rest=${rest//A/$a} rest=${rest//B/$b} rest=${rest//S/$s}
	# shellcheck disable=SC2086
	{
		for flag in "" --json --csv; do
			"$bin/saguaro" $command $rest $flag --snapshot-dir "$run_dir" </dev/null >out 2>err
			[ "$?" != 2 ] || [ "$flag" = --csv ] || fail "saguaro $command $rest $flag: $(cat err)"
			kind=text
			[ "$flag" = --csv ] && kind=csv
			[ "$flag" = --csv ] || cat err >>out
			why=$(python3 harmless.py "$kind" 0 <out 2>&1) && ok "saguaro $command $rest $flag" || fail "saguaro $command $rest $flag: $why"
		done
	}
done <<'L'
status
doctor
doctor A B
alarms
events
events --last 1000
sweeps
diff
nodes
links
ports
lids
counters
paths A B
trace A B
why A B
lft S
load
report pathusage
report validateroutes
report validatecreditloops
check
partition list
partition show 0x1
groups
services
records NodeRecord
records MCMemberRecord
records P_KeyTableRecord
whatif --down A
plan hostile.topo
L
for format in $(host export --json | jq -r '.formats[].format // .formats[].name'); do
	least=0 harmless "saguaro export $format" text host export "$format"
done
# Everything that the gateway has without parameters, and the page's own requests.
for path in $(curl -s "$url/openapi.json" | jq -r '.paths | to_entries[] | select(.value.get) | .key' | grep -v '[{]\|events'); do
	least=0 harmless "$path" http curl -s -m 20 "$url$path"
done
harmless "an answer about a name" http curl -s "$url/v1/nodes?name=%E2%80%AE%C2%9B%ff"
harmless "a resource that is not there" http curl -s "$url/v1/%E2%80%AE%C2%9B"
harmless "a header" http curl -s -i -H $'Host: \xe2\x80\xae\xff' "$url/v1/status"
for name in $(host records --json 2>/dev/null | jq -r '.records[]?.name // empty'); do harmless "/v1/records/$name" http curl -s "$url/v1/records/$name"; done

# The log, its file, as JSON, and what it writes at its end.
kill -TERM "$daemon"
wait "$daemon"
harmless "standard error" text cat d.log
harmless "the log file" text cat file.log
harmless "the log of the gateway" text cat g.log
start_daemon j --fabric sim:hostile.topo --Pconfig partitions.conf --log-format json --verbose
start_gateway k
wait_ready
harmless "the log as JSON" text cat j.log
finish
