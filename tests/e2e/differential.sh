#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# A differential run: the same pseudo-random queries to the subnet administration of OpenSM,
# and then of saguarod on the same simulated fabric, with the same LIDs and forwarding tables.
# Each difference has to be one of tests/e2e/differences, which says why it is right.
#
# A third run gives both a qos-policy.conf, and asks for paths alone, by what it decides by.
#
# make check asks 3,000 queries, make check-differential 100,000. DIFFERENTIAL_QUERIES and
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
runs=-1

# talk WORDS...: the client, with as much time as it needs.
talk() {
	host_command "$far"
	(cd "$work" && exec "${as[@]}" "$client" "$@")
}

ask() { # ask WHO: all queries
	if talk ask "$work/values" "$((seed + runs))" 0 "$queries" ${policy:+policy} | gzip -1 >"$work/$1.answers.gz" && [ "${PIPESTATUS[0]}" = 0 ]; then
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

# unmet: reasons that no difference had, which may be one too many: in a long run any of them, in
# that of make check those that are not marked as rare.
unmet() {
	awk -F'\t+' -v long="$1" '
		FILENAME == ARGV[1] { if ($0 !~ /^(#|$)/) { pattern[++n] = $1; reason[n] = $2 } next }
		/^#/ { next }
		{ for (i = 1; i <= n; i++) if ($0 ~ pattern[i]) { met[i] = 1; next } }
		END { for (i = 1; i <= n; i++) if (!met[i] && (long || reason[i] !~ /^\(rare\)/)) print "not met: " reason[i] }
	' "$here/tests/e2e/differences" "$keep"
}

# What OpenSM does without a file: it lets switches enforce the default partition.
echo 'Default=0x7fff, ipoib : ALL=full ;' >"$work/partitions.conf"

# differential NAME FABRIC LMC [POLICY]
differential() {
	name=$1
	policy=${4:-}
	runs=$((runs + 1)) # each with queries of its own
	local fabric=$2 lmc=$3 osm=$work/osm-$1
	host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$fabric" | head -n 1)
	far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$fabric" | tail -n 1)
	start_simulator "$fabric"

	start_opensm_on "$host" "osm-$name" -Q -l "$lmc" ${policy:+-Y "$policy"}
	until_true test -s "$osm/opensm-lfts.dump" || { fail "OpenSM dumps no tables"; finish; }
	opensm_settles "osm-$name"
	talk write || { fail "$name: records of OpenSM"; finish; }
	talk read >"$work/values" || { fail "$name: values"; finish; }
	ask opensm
	end_process "$opensm"

	printf '%s\n' 'routing_engine file' "lfts_file $osm/opensm-lfts.dump" "lmc $lmc" \
		'qos TRUE' 'path_selection orderall' "partition_config_file $work/partitions.conf" ${policy:+"qos_policy_file $policy"} >"$work/d.conf"
	start_daemon_on "$host" "d-$name" -F "$work/d.conf"
	until_true log_says "d-$name" 'SUBNET UP' || { fail "saguarod does not come up"; finish; }
	talk write || { fail "$name: records of saguarod"; finish; }
	ask saguarod
	end_process "$daemon"
	stop_simulator

	[ "$policy" ] || cp "$work/values" "$work/plain" # the last one is of the fabric of the policy
	"$client" compare "$work/values" <(gzip -dc "$work/opensm.answers.gz") \
		<(gzip -dc "$work/saguarod.answers.gz") ${policy:+"$work/plain"} |
		sed "/^#/!s/^/$name /" >"$work/found"
	cat "$work/found" >>"$keep"
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

# Groups of every kind, levels with every limit, rules that overlap; partitions are alike.
guids() { sed -n 's/^\[1\](\([0-9a-f]*\)).*/0x\1/p; s/^caguid=0x\([0-9a-f]*\).*/\1/p' "$work/tree.topo" | grep -v '^0x' | sed -n "$1"; }
port_guid() { printf '0x%x' $((16#$(guids "$1") + 1)); }
cat >"$work/policy.conf" <<END
port-groups
	port-group
		name: Storage
		use: targets
		port-guid: $(port_guid 1p), $(port_guid 3p)-$(port_guid 6p)
	end-port-group
	port-group
		name: Named
		port-name: $(sed -n 's/^Ca.*# "\(.*\)"$/\1/p' "$work/tree.topo" | sed -n 8p)/P1
	end-port-group
	port-group
		name: Switches
		node-type: SWITCH
	end-port-group
	port-group
		name: Manager
		node-type: SELF
	end-port-group
	port-group
		name: Partition
		pkey: 0x7fff
	end-port-group
end-port-groups
qos-levels
	qos-level
		name: DEFAULT
		sl: 0
	end-qos-level
	qos-level
		name: Small
		sl: 1
		mtu-limit: 3
		packet-life: 12
	end-qos-level
	qos-level
		name: Slow
		sl: 2
		rate-limit: 3
		packet-life: 20
	end-qos-level
	qos-level
		name: Keyed
		sl: 3
		pkey: 0x7fff
	end-qos-level
	qos-level
		name: Other
		sl: 4
		pkey: 0x1234
	end-qos-level
end-qos-levels
qos-match-rules
	qos-match-rule
		use: nobody is in that partition
		service-id: 1
		qos-level-name: Other
	end-qos-match-rule
	qos-match-rule
		source: Storage
		destination: Named, Manager
		qos-level-name: Small
	end-qos-match-rule
	qos-match-rule
		service-id: 2-5, 0x10
		qos-level-name: Small
	end-qos-match-rule
	qos-match-rule
		qos-class: 1-3, 7
		source: Partition
		qos-level-name: Slow
	end-qos-match-rule
	qos-match-rule
		destination: Switches
		qos-level-name: Keyed
	end-qos-match-rule
	qos-match-rule
		pkey: 0x7fff
		service-id: 0-0xff
		qos-level-name: keyed
	end-qos-match-rule
end-qos-match-rules
qos-ulps
	sdp, port-num 0xffff : 7
	sdp                  : 5
	rds                  : 6
	iser                 : 7
	any, target-port-guid $(port_guid 10p) : 8
	any, source-port-guid $(port_guid 11p) : 9
end-qos-ulps
END
differential policy "$work/tree.topo" 1 "$work/policy.conf"
if [ "$queries" -ge 50000 ]; then
	unmet 1
elif [ "$queries/$seed" = 1000/1 ]; then # the queries for which reasons are marked as rare
	same "no reason is one too many" "" "$(unmet "")"
fi
finish
