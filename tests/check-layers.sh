#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A room includes only rooms to its left: conf routing db sa gateway. The gateway may
# use of sa/ only the query core. And the tree names nothing that is not its own.
set -u
cd "${srcdir:-.}" || exit 1
bad=0

complain() { printf '%s\n' "$1"; bad=1; }

allowed() { # allowed ROOM INCLUDED-ROOM
	case "$1:$2" in
	conf:conf | routing:conf | routing:routing | db:conf | db:routing | db:db) ;;
	sa:conf | sa:routing | sa:db | sa:sa) ;;
	gateway:conf | gateway:routing | gateway:db | gateway:gateway) ;;
	*) return 1 ;;
	esac
}

# Headers of the query core, which the gateway may use too.
query_core=$(sed -n '/^libsa_query_a_SOURCES/,/[^\\]$/p' sa/Makefile.inc | grep -o '[a-z0-9_]*\.h')

for file in conf/*.[ch] routing/*.[ch] db/*.[ch] sa/*.[ch] gateway/*.[ch]; do
	[ -e "$file" ] || continue
	room=${file%%/*}
	while read -r header; do
		other=${header%%/*}
		allowed "$room" "$other" && continue
		if [ "$room:$other" = gateway:sa ] && grep -qx "${header#sa/}" <<<"$query_core"; then
			continue
		fi
		complain "$file: must not include $header"
	done < <(sed -n 's/^#include "\(\(conf\|routing\|db\|sa\|gateway\|tests\)\/[^"]*\)".*/\1/p' "$file")
done

# The query core itself speaks no MADs through a transport.
for source in $(sed -n '/^libsa_query_a_SOURCES/,/[^\\]$/p' sa/Makefile.inc | grep -o '[a-z0-9_]*\.[ch]'); do
	while read -r header; do
		grep -qx "${header#sa/}" <<<"$query_core" || complain "sa/$source (query core): must not include $header"
	done < <(sed -n 's/^#include "\(sa\/[^"]*\)".*/\1/p' "sa/$source")
done

[ "$bad" = 0 ] && echo "layers hold"
exit "$bad"
