#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# OpenSM's own test suite of the subnet administration over the simulated fabric: against
# OpenSM as the control, then against saguarod, each twice in a row without a restart.
#
# make check runs the quick flows on 48 hosts. make check-osmtest (OSMTEST_ALL=1) runs all
# there are: an inventory (c), then v, a, s, m, e, the four kinds of stress, q; on 48 hosts,
# and but for v and a, which ask for every pair of ports one by one, on 648. There the
# stress of kind 2 is 1,334 tables of all 492,804 paths, 42 GB, which takes most of the time:
# some ten minutes each on a machine of its own.
#
# OSMTEST_FABRICS takes "48" or "648" alone, OSMTEST_FLOWS other flows (c first: it writes
# the inventory), OSMTEST_SMS "opensm" or "saguarod" alone.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opensm osmtest

all=${OSMTEST_ALL:-0}

# What -f takes; a digit behind f is the kind of stress.
flows() { # flows HOSTS WHO
	if [ -n "${OSMTEST_FLOWS:-}" ]; then
		echo "$OSMTEST_FLOWS"
		return
	fi
	case $all,$1,$2 in
	0,*,opensm) echo c m e q f2 f3 ;;
	0,*) echo c s v m e q f2 f3 ;;
	*,48,*) echo c v a s m e f1 f2 f3 f4 q ;;
	*) echo c s m e f1 f2 f3 f4 q ;;
	esac
}

flow() { # flow WHAT FLOW: its last line says PASS
	local said stress=() began took
	[ "${2#f}" = "$2" ] || stress=(-s "${2#f}")
	host_command "$host"
	# Flow a asks four things that have to stay unanswered, and waits this long for each.
	patient osmtest -t 5000 -f "${2:0:1}" "${stress[@]}" -i "$work/inventory" -l "$work/osmtest.log"
	began=${EPOCHREALTIME/./}
	said=$(cd "$work" && timeout 3600 "${as[@]}" "${command[@]}" 2>&1)
	took=$(((${EPOCHREALTIME/./} - began) / 1000))
	has "$(printf '%s: osmtest -f %s, %d.%03d s' "$1" "${2:0:1}${stress[*]:+ ${stress[*]}}" $((took / 1000)) $((took % 1000)))" \
		"$(grep TEST <<<"$said" | tail -n 1)" PASS
	rm -f "$work/osmtest.log"
}

rounds() { # rounds HOSTS WHO
	local round f
	for round in 1 2; do
		for f in $(flows "$1" "$2"); do flow "$1 hosts, $2, round $round" "$f"; done
	done
}

on_fabric() { # on_fabric HOSTS TOPO-WORDS...
	local hosts=$1 tree=$work/$1.topo
	shift
	"$bin/saguaro" topo "$@" -o "$tree"
	host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
	start_simulator "$tree"

	case $sms in *opensm*)
		start_opensm_on "$host" "osm$hosts"
		opensm_settles "osm$hosts"
		rounds "$hosts" opensm
		end_process "$opensm"
		;;
	esac
	case $sms in *saguarod*) on_saguarod "$hosts" ;; esac
	stop_simulator
}

on_saguarod() {
	local hosts=$1
	# Flow m joins on behalf of other ports without the SM_Key.
	start_daemon_on "$host" "d$hosts" --sa_own_records=FALSE
	until_true log_says "d$hosts" 'SUBNET UP' || { fail "saguarod does not come up"; finish; }
	rounds "$hosts" saguarod
	has "saguarod: saquery -g, the broadcast group" "$(on "$host" saquery -g 2>&1)" 'ff12:401b:ffff::ffff:ffff'
	has "saguarod: saquery MFTR, its block in the first switch" "$(on "$host" saquery MFTR 2>&1)" 'MFT Record dump'
	end_process "$daemon"
}

sms=${OSMTEST_SMS:-opensm saguarod}
fabrics=${OSMTEST_FABRICS:-48 648}
[ "$all" != 0 ] || fabrics=48
for f in $fabrics; do
	case $f in
	48) on_fabric 48 ft2 8 6 4 ;;
	648) on_fabric 648 ft2 36 18 18 ;;
	*) fail "OSMTEST_FABRICS: '$f' is neither 48 nor 648" ;;
	esac
done
finish
