#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The proof against ibdmchk: both find the same tables free of credit loops, or not, lane by
# lane, and both find a path between all hosts. Its text counts, not its exit status: some
# versions crash when all is done.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
command -v ibdmchk >/dev/null || skip "ibdmchk (package ibutils) is not installed"
command -v jq >/dev/null || skip "jq is not installed"

# verdict LOOPS ENGINE TOPOLOGY...: LOOPS is yes or no
verdict() {
	local expected=$1 engine=$2 what="$2 on $3 $4" x=$work/x said hosts pairs loops
	shift 2
	rm -f "$x".*
	"$bin/saguaro" topo "$@" -o "$x.topo" || fail "$what: topo"
	"$bin/saguaro" route "$x.topo" -R "$engine,no_fallback" --credit-loops program --json \
		--dump_lfts="$x.lft" --dump_sl="$x.sl" >"$x.json" 2>"$x.log"
	awk -f "$here/tests/e2e/ibdmchk.awk" -v out="$x" "$x.topo" "$x.lft" "$x.sl"
	{ ibdmchk -s "$x.lst" -f "$x.fdbs" -m "$x.mcfdbs" -c "$x.sls" -l 0 || :; } >"$x.said" 2>/dev/null
	hosts=$(grep -c '^Ca' "$x.topo")
	pairs=$(sed -n 's/^-I- Scanned:\([0-9]*\) CA to CA paths.*/\1/p' "$x.said" | head -n 1)
	same "$what: pairs" "$((hosts * (hosts - 1)))" "$pairs"
	same "$what: pairs without a path" 0 "$(grep -c 'Fail to find a path' "$x.said")"
	same "$what: the same by our proof" 0 "$(jq .unreachable_pairs "$x.json")"
	said=$(grep -iE 'credit loops? (in routing|found)|no credit loops' "$x.said" | head -n 1)
	case $said in
	*o\ credit\ loops*) loops=no ;;
	*redit\ loops\ in\ routing*) loops=yes ;;
	*) loops="no verdict: $(tail -n 3 "$x.said")" ;;
	esac
	same "$what: credit loops by ibdmchk" "$expected" "$loops"
	same "$what: credit loops by our proof" "$expected" \
		"$(jq -r 'if .credit_loops > 0 then "yes" else "no" end' "$x.json")"
	same "$what: lanes" "$(jq .vls_used "$x.json")" \
		"$(sed -n 's/.*Credit Loops [0-9]* SLs, \([0-9]*\) VLs used.*/\1/p' "$x.said" | head -n 1)"
}

verdict no minhop ft2 6 4 3
verdict no updn ft3 4
verdict no ftree ft3 4
verdict yes minhop torus 5 2
verdict yes minhop jellyfish 20 4 2
verdict yes dor torus 6x6 1
verdict no dor mesh 4x4 1
verdict no lash torus 5 2
verdict no lash torus 6x6 1
verdict no dfsssp jellyfish 20 4 2
finish
