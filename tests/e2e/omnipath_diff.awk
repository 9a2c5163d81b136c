# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Two outputs of 'saguaro-sim ctl tables' of one fabric: the first after the packaged fabric manager, the second
# after saguarod. A line for each kind of table: how many are there, how many differ, and why.
#
# Not compared: the places of P_Keys in their table, the order of pairs in an arbitration table, and XmitQ of adapters, which
# have none.

# Weights of the same VL added up: pairs take turns in another order.
function weights(text,   n, i, pair, sum, out, vl) {
	split("", sum)
	n = split(text, part, " ")
	for (i = 1; i <= n; i++) {
		split(part[i], pair, ":")
		sum[pair[1] + 0] += pair[2]
	}
	out = ""
	for (vl = 0; vl < 32; vl++) {
		if (vl in sum) { out = out " " vl ":" sum[vl] }
	}
	return out
}

# P_Keys without their places. 0x0000 stands for none.
function keys(text,   n, i, k, part, out) {
	n = split(text, part, " ")
	for (i = 2; i <= n; i++) {
		for (k = i; k > 1 && part[k - 1] > part[k]; k--) { out = part[k]; part[k] = part[k - 1]; part[k - 1] = out }
	}
	out = ""
	for (i = 1; i <= n; i++) { out = part[i] == "0x0000" ? out : out " " part[i] }
	return out
}

{
	side = FILENAME == ARGV[1] ? 1 : 2
	place = $1
	name = $2
	if (name == "lft") {
		egress[side, place, $3] = $4
		lfts[place, $3] = 1
		next
	}
	value = $0
	sub(/^[^ ]* [^ ]* ?/, "", value)
	if (name == "sc_to_sc") {
		place = place " " $3 " " $4
		value = $5
	}
	if (name == "lid") {
		lid[side, place] = value
		if (value != 0) { owner[side, value] = place }
		next
	}
	if (name == "xmit_q" && place ~ /^(node|h)[0-9]/) { next }
	v[side, name, place] = value
	places[name, place] = 1
	names[name] = 1
}

# Whose LID it is: a switch's own port, an adapter's, or the switch port that leads to this adapter.
function end_of(side, l) { return (side, l) in owner ? owner[side, l] : "" }

function row(what, n, differ, why) {
	printf "  %-12s %6d %6d  %s\n", what, n, differ, differ == 0 ? "equal" : why
	if (differ != 0 && why == "") { bad = 1 }
}

function compare(name, why, loosely,   k, part, n, differ, a, b, first) {
	n = differ = 0
	for (k in places) {
		split(k, part, SUBSEP)
		if (part[1] != name) { continue }
		n++
		a = v[1, name, part[2]]
		b = v[2, name, part[2]]
		if (loosely == "weights") { a = weights(a); b = weights(b) }
		if (loosely == "keys") { a = keys(a); b = keys(b) }
		if (a != b) {
			differ++
			if (why == "" && differ <= 3) { print "    " part[2] " " name ": " a " | " b }
		}
	}
	if (n != 0) { row(name, n, differ, why) }
}

# The most that one port between switches has of the routes to adapters, of all ports with the same neighbours as
# it counts; and how uneven they are.
function spread(side,   k, part, n, sum, squares, most, count, c) {
	split("", count)
	for (k in egress) {
		split(k, part, SUBSEP)
		if (part[1] != side) { continue }
		c = end_of(side, part[3])
		if (c != "" && c !~ /\[0\]$/) { count[part[2], egress[k]]++ }
	}
	n = sum = squares = most = 0
	for (k in count) {
		n++
		sum += count[k]
		squares += count[k] * count[k]
		most = count[k] > most ? count[k] : most
	}
	busiest[side] = most
	return sprintf("%d routes on the busiest port, deviation %.2f", most, n ? sqrt(squares / n - (sum / n) ^ 2) : 0)
}

END {
	# LIDs: the same ones in use, perhaps by other ports
	n = differ = 0
	for (k in lid) {
		split(k, part, SUBSEP)
		if (part[1] != 1 || lid[k] == 0) { continue }
		n++
		differ += lid[k] != lid[2, part[2]]
		used[1, lid[k]] = used[2, lid[2, part[2]]] = 1
	}
	others = 0
	for (k in used) {
		split(k, part, SUBSEP)
		others += !((3 - part[1], part[2]) in used)
	}
	row("lid", n, differ, others == 0 ? "the same LIDs; we give them to switches first, it in the order of discovery" : "")

	# LFTs: by destination, because LIDs may differ
	n = differ = 0
	for (k in egress) {
		split(k, part, SUBSEP)
		if (part[1] != 1) { continue }
		to = end_of(1, part[3])
		n++
		ours = to == "" ? "" : lid[2, to]
		if (egress[2, part[2], ours] != egress[k]) { differ++ }
	}
	why = "ours: " spread(2) "; its: " spread(1)
	if (busiest[2] > 1.25 * busiest[1]) { print "    " why; why = "" }
	row("lft", n, differ, why)

	compare("p_keys", "", "keys")
	compare("lmc"); compare("vls"); compare("mtu"); compare("formats"); compare("enforce"); compare("credit_rate")
	compare("flow_control_off"); compare("downgrade"); compare("error_action"); compare("subnet_timeout")
	compare("sl_to_sc"); compare("sc_to_sl"); compare("sc_to_vl_r"); compare("sc_to_vl_t"); compare("sc_to_vl_nt")
	compare("sc_to_sc")
	compare("arb_low", "", "weights"); compare("arb_high", "", "weights"); compare("high_limit")
	compare("xmit_q"); compare("buffers")
	exit bad
}
