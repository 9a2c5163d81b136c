#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A differential run: the same pseudo-random queries to the subnet administration of OpenSM,
# and then of saguarod on the same simulated fabric, with the same LIDs and forwarding tables.
# Each difference has to be one of tests/e2e/differences, which says why it is right.
#
# make check asks 2,000 queries, make check-differential 100,000. DIFFERENTIAL_QUERIES and
# DIFFERENTIAL_SEED change how many (on each of two fabrics) and which, DIFFERENTIAL_KEEP
# names a file for the differences found, DIFFERENTIAL_SHOW says how many of those without a
# reason are shown.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opensm gzip
client=$bin/tests/sa_differential
[ -x "$client" ] || skip "tests/sa_differential is not built"

queries=${DIFFERENTIAL_QUERIES:-1000} # per fabric
seed=${DIFFERENTIAL_SEED:-1}
keep=${DIFFERENTIAL_KEEP:-$work/differences}
: >"$keep"

# talk WORDS...: the client, with as much time as it needs.
talk() {
	host_command "$far"
	(cd "$work" && exec "${as[@]}" "$client" "$@")
}

ask() { # ask WHO: all queries
	if talk ask "$work/values" "$seed" 0 "$queries" | gzip -1 >"$work/$1.answers.gz" && [ "${PIPESTATUS[0]}" = 0 ]; then
		ok "$name: $queries queries to $1"
	else
		fail "$name: queries to $1"
	fi
}

# explained DIFFERENCES: counts each reason, fails on what has none.
explained() {
	awk -F'\t+' -v unknown="$work/unknown" '
		BEGIN { printf "" >unknown }
		FILENAME == ARGV[1] { if ($0 !~ /^(#|$)/) { pattern[++n] = $1; reason[n] = $2 } next }
		/^#/ { next }
		{
			for (i = 1; i <= n; i++) if ($0 ~ pattern[i]) { count[i]++; next }
			print >unknown
		}
		END { for (i = 1; i <= n; i++) if (count[i]) printf "%7d  %s\n", count[i], reason[i] }
	' "$here/tests/e2e/differences" "$1"
	[ ! -s "$work/unknown" ]
}

# differential NAME FABRIC LMC
differential() {
	name=$1
	local fabric=$2 lmc=$3 osm=$work/osm-$1
	host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$fabric" | head -n 1)
	far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$fabric" | tail -n 1)
	start_simulator "$fabric"

	start_opensm_on "$host" "osm-$name" -Q -l "$lmc"
	until_true 20 test -s "$osm/opensm-lfts.dump" || { fail "OpenSM dumps no tables"; finish; }
	talk read >"$work/values" || { fail "$name: values"; finish; }
	ask opensm
	end_process "$opensm"

	printf '%s\n' 'routing_engine file' "lfts_file $osm/opensm-lfts.dump" "lmc $lmc" \
		'qos TRUE' 'path_selection orderall' >"$work/d.conf"
	start_daemon_on "$host" "d-$name" -F "$work/d.conf"
	until_true 60 log_says "d-$name" 'SUBNET UP' || { fail "saguarod does not come up"; finish; }
	ask saguarod
	end_process "$daemon"
	stop_simulator

	"$client" compare <(gzip -dc "$work/opensm.answers.gz") <(gzip -dc "$work/saguarod.answers.gz") >"$work/found"
	sed "s/^/$name /" "$work/found" >>"$keep"
	has "$name: all were compared" "$(tail -n 1 "$work/found")" "# $queries queries"
	if explained "$work/found"; then
		ok "$name: every difference is explained; $(tail -n 1 "$work/found")"
	else
		fail "$name: $(wc -l <"$work/unknown") differences without a reason"
		head -n "${DIFFERENTIAL_SHOW:-20}" "$work/unknown" | cut -c 1-400
	fi
}

"$bin/saguaro" topo ft2 8 4 4 -o "$work/tree.topo"
sed -i 's/4xEDR/4xQDR/' "$work/tree.topo" # OpenSM keeps LinkSpeedActive from before the link trained
differential tree "$work/tree.topo" 0
differential lmc "$work/tree.topo" 1
finish
