#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Each row of messages.def is logged by some call, and each has a paragraph in
# saguaro-messages(7). That each call has a row, the compiler sees.
set -u
cd "${srcdir:-.}" || exit 1
build=${top_builddir:-build}
table=conf/base/messages.def
bad=0

complain() { printf '%s\n' "$1"; bad=1; }

page=$(sed 's/\\-/-/g' "$build/doc/man/saguaro-messages.7")
used=$(find conf routing db sa gateway -name '*.[ch]' -exec grep -ohE '\bMSG_[A-Z0-9_]+' {} + | sort -u)
n=0
while IFS=, read -r area number _ name; do
	n=$((n + 1))
	grep -qx "MSG_${area}_$name" <<<"$used" || complain "$table: no call logs $name (SAG-$area-$number)"
	case $page in *"SAG-$area-$number"*) ;; *) complain "saguaro-messages(7) has no SAG-$area-$number" ;; esac
done < <(sed -n 's/^MESSAGE(\([A-Z]*\), *\([0-9]*\), *\([A-Z]*\), *\([A-Z0-9_]*\),.*/\1,\2,\3,\4/p' $table)
[ "$n" -gt 0 ] || complain "$table has no rows"

# An event is logged by its kind, at its severity.
while IFS=, read -r number level kind; do
	grep -q "^EVENT($kind, [a-z_]*, $level," db/stats/events.def || complain "$table: no event $kind is of the level $level"
	case $page in *"SAG-EVENT-$number"*) ;; *) complain "saguaro-messages(7) has no SAG-EVENT-$number" ;; esac
done < <(sed -n 's/^EVENT_MESSAGE(\([0-9]*\), *\([A-Z]*\), *\([A-Z0-9_]*\),.*/\1,\2,\3/p' $table)
exit $bad
