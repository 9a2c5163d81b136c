#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# doc/seeds.md names files and tests for each claim of the manuals: they must exist.
set -u
cd "${srcdir:-.}" || exit 1
table=doc/seeds.md
bad=0

complain() { printf '%s:%s: %s\n' "$table" "$1" "$2"; bad=1; }

source_of() { find tests -name "$1.c"; }

while IFS=: read -r line file; do
	[ -e "$file" ] || complain "$line" "there is no $file"
done < <(grep -noE '(conf|routing|db|sa|gateway|tests)/[a-z_0-9/]+\.(c|h|sh)' "$table")

while IFS= read -r row; do
	line=${row%%:*}
	read -ra parts < <(sed 's/.*| *\([^|]*\) *|$/\1/; s/, /,/g; s/: /:/g; s/;/ /g' <<<"${row#*:}")
	for part in "${parts[@]}"; do
		case $part in
		test_*:*) ;;
		test_*) [ -n "$(source_of "$part")" ] || complain "$line" "there is no $part.c"; continue ;;
		*) continue ;;
		esac
		source=$(source_of "${part%%:*}")
		[ -n "$source" ] || { complain "$line" "there is no ${part%%:*}.c"; continue; }
		for name in $(tr ',' ' ' <<<"${part#*:}"); do
			grep -q "START_TEST($name)" "$source" || complain "$line" "$source has no case $name"
		done
	done
done < <(grep -nE '^\| (O|C)([^|]*\|){4}$' "$table")

[ "$bad" = 0 ] && echo "what the table names is there"
exit "$bad"
