#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Which folder may include which, and how large a folder may be. Each line of the table is
# a folder and the folders that its files include besides their own. The lines stand in
# order: a folder includes only folders above it, so there is no cycle and nothing points
# upward. A new arrow is a new word in this table. Each folder has a map of its files.
set -u
cd "${srcdir:-.}" || exit 1
bad=0
most=40 # files in a folder, without Makefile.inc

complain() { printf '%s\n' "$1"; bad=1; }

table='
conf/base
conf/policy           conf/base
conf                  conf/base conf/policy
routing/graph         conf/base conf/policy conf
routing/text          conf/base conf/policy routing/graph
routing/topogen       conf/base routing/graph
routing/proof         conf/base conf/policy routing/graph
routing               conf/base conf routing/graph routing/proof
routing/spread        conf/base conf routing/graph routing/text routing/proof routing
routing/engines/lash  conf/base conf routing/graph routing/proof routing routing/spread
routing/engines/sssp  conf/base conf/policy conf routing/graph routing/proof routing routing/spread routing/engines/lash
routing/engines/nue   conf/base routing/graph routing routing/spread routing/engines/sssp
routing/engines/ftree conf/base conf/policy routing/graph routing routing/spread
routing/engines/dmodc conf/base conf/policy conf routing/graph routing routing/spread
routing/engines/torus conf/base conf routing/graph routing/text routing routing/spread
routing/engines       conf/base conf/policy conf routing/graph routing/text routing routing/spread
db/lmdb               conf/base routing/graph
db/snapshot           conf/base conf/policy routing/graph routing db/lmdb
db/state              conf/base routing/graph db/lmdb
db/stats              conf/base db/lmdb
sa/mad                conf/base routing/graph
sa/store              conf/base routing/graph routing db/lmdb db/snapshot db/state sa/mad
sa/path               conf/base conf routing/graph db/snapshot
sa/record             conf/base routing/graph routing routing/spread db/snapshot sa/mad sa/store sa/path
sa/standby            conf/base db/lmdb db/state sa/store
sa/perf               conf/base conf routing/graph db/lmdb db/stats sa/mad
sa/server             conf/base db/snapshot db/state sa/mad sa/store sa/record
sa/partition          conf/base conf/policy conf routing/graph db/lmdb db/state
sa/sm/discover        conf/base conf/policy conf routing/graph sa/mad
sa/sm/table           conf/base conf/policy routing/graph sa/mad sa/sm/discover
sa/sm/policy          conf/base conf/policy conf routing/graph db/lmdb db/snapshot
sa/sm/program         conf/base conf/policy conf routing/graph routing/proof routing sa/mad sa/sm/discover sa/sm/table
sa/sm/virtual         conf/base conf/policy conf routing/graph routing sa/mad sa/sm/discover sa/sm/program
sa/sm                 conf/base conf routing/graph routing/text routing/proof routing db/lmdb db/snapshot db/state db/stats sa/mad sa/store sa/server sa/partition sa/sm/discover sa/sm/table sa/sm/policy sa/sm/program sa/sm/virtual
sa/sm/congestion      conf/base conf/policy conf routing/graph db/stats sa/mad sa/sm/table sa/sm
sa/sm/manager         conf/base conf routing/graph db/state sa/mad sa/standby sa/server sa/sm/discover sa/sm
sa/sm/publish         conf/base conf/policy conf routing/graph routing db/snapshot db/state db/stats sa/mad sa/store sa/standby sa/server sa/sm/discover sa/sm/policy sa/sm/program sa/sm sa/sm/manager
sa/sm/sweep           conf/base conf/policy conf routing/graph db/state sa/mad sa/store sa/standby sa/perf sa/server sa/partition sa/sm/discover sa/sm/table sa/sm/virtual sa/sm sa/sm/congestion sa/sm/manager sa/sm/publish
sa/control            conf/base conf/policy sa/partition sa/sm sa/sm/sweep
sa/sim/opa            conf/base sa/mad
sa/sim                conf/base conf routing/graph routing/text sa/mad sa/sim/opa
sa                    conf/base conf routing/text routing db/snapshot db/state db/stats sa/mad sa/store sa/standby sa/server sa/sm sa/control sa/sim
gateway/view          conf/base routing/graph db/lmdb db/snapshot db/stats sa/path sa/record
gateway/httpd         conf/base gateway/view
gateway/resource      conf/base gateway/view
gateway/inventory     conf/base routing/graph routing/proof routing/spread db/lmdb db/snapshot db/stats sa/record gateway/view
gateway/export        conf/base routing/graph routing/text gateway/view gateway/inventory
gateway/api           conf/base conf routing/graph db/lmdb db/snapshot db/stats sa/path sa/record gateway/view gateway/resource gateway/inventory gateway/export
gateway/web           conf/base gateway/view
gateway/http          conf/base conf gateway/view gateway/httpd gateway/api gateway/web
gateway/admin         conf/base conf gateway/view gateway/httpd gateway/resource
gateway/cli/help      conf/base conf routing/topogen routing db/stats gateway/inventory
gateway/cli           conf/base conf routing/graph routing/text routing/topogen routing/proof routing routing/spread db/snapshot db/stats sa/record gateway/view gateway/inventory gateway/api gateway/cli/help
gateway/cli/planning  conf/base routing/graph routing/text routing/proof routing gateway/view gateway/cli/help gateway/cli
'

declare -A place allowed used
n=0
while read -r folder others; do
	[ -n "$folder" ] || continue
	for other in $others; do
		[ -n "${place[$other]:-}" ] || complain "the table lets $folder include $other, which does not stand above it"
		allowed[$folder:$other]=1
	done
	place[$folder]=$((++n))
done <<<"$table"

while IFS=: read -r file line; do
	folder=${file%/*}
	header=${line#*\"}
	header=${header%\"*}
	other=${header%/*}
	[ "$other" = "$folder" ] && continue
	if [ -z "${place[$folder]:-}" ]; then
		complain "$file: the table of folders has no line $folder"
	elif [ -z "${allowed[$folder:$other]:-}" ]; then
		complain "$file: must not include $header"
	fi
	used[$folder:$other]=1
done < <(grep -rE --include='*.[ch]' '^#include "[^"]*/[^"]*"' conf routing db sa gateway)

for edge in "${!allowed[@]}"; do
	[ -n "${used[$edge]:-}" ] || complain "the table lets ${edge%:*} include ${edge#*:}, but nothing does"
done

while read -r folder; do
	files=("$folder"/*.*)
	n=0
	for file in "${files[@]}"; do
		case $file in *.inc | *.def) ;; *) [ -f "$file" ] && n=$((n + 1)) ;; esac
	done
	[ "$n" -le "$most" ] || complain "$folder: $n files, more than $most"
done < <(find conf routing db sa gateway tests -type d -not -path 'tests/fuzz/corpus*' -not -path 'tests/e2e*' -not -path '*/node_modules*')

# The MAP at the head of Makefile.inc has a line for each module, and no other lines.
while read -r folder; do
	list=$folder/Makefile.inc
	map=$(sed -n '/^# MAP/,/^[^#]/s/^# *\([^ ]*\).*/\1/p' "$list")
	for file in "$folder"/*.[ch] "$folder"/*.def; do
		[ -f "$file" ] || continue
		name=${file##*/}
		stem=${name%.*}
		grep -qE "^${stem}(\.\[ch\]|\.[ch]|\.def|\*.*)?$" <<<"$map" || complain "$list: the MAP has no line for $name"
	done
	while read -r name; do
		case $name in
		*'[ch]') [ -f "$folder/${name%'[ch]'}c" ] || complain "$list: the MAP names $name, which does not exist" ;;
		*.c | *.h | *.def) [ -f "$folder/$name" ] || complain "$list: the MAP names $name, which does not exist" ;;
		esac
	done <<<"$map"
done < <(find conf routing db sa gateway -name '*.c' -printf '%h\n' | sort -u)

# A source file has a header of its name or one of its family, or it includes first the
# header of its folder that declares it; unless it is a program or an engine.
while read -r file; do
	stem=${file%.c}
	found=
	while [ -z "$found" ] && [ -n "$stem" ]; do
		for header in "$stem.h" "${stem}_int.h"; do
			[ -f "$header" ] && found=1
		done
		case ${stem##*/} in *_*) stem=${stem%_*} ;; *) stem= ;; esac
	done
	[ -n "$found" ] && continue
	first=$(grep -m1 '^#include "' "$file" | cut -d'"' -f2)
	[ "${first%/*}" = "${file%/*}" ] && continue
	case $file in gateway/cli/*cmd_*) [ -f gateway/cli/help/command.h ] && continue ;; esac
	grep -qE '^int main\(|const struct engine engine_' "$file" || complain "$file: neither it nor its family has a header"
done < <(find conf routing db sa gateway -name '*.c')

# A test file that no list names would not be built.
while read -r file; do
	grep -q "/${file##*/}" "${file%/*}/Makefile.inc" || complain "$file is not in ${file%/*}/Makefile.inc"
done < <(find tests -name 'test_*.c')

[ "$bad" = 0 ] && echo "layers hold"
exit "$bad"
