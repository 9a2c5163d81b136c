# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What ibdmchk reads, out of a topology file and the dumps of saguaro route:
#   awk -f ibdmchk.awk -v out=PREFIX TOPOLOGY DUMP_LFTS DUMP_SL
# writes PREFIX.lst (a cable per line and direction), PREFIX.fdbs, PREFIX.mcfdbs (no groups) and
# PREFIX.sls (source node, destination LID, SL). Formats: ibdmchk(1) and what it takes from OpenSM.
function guid(s) {
	sub(/^0x/, "", s)
	s = tolower(s)
	while (length(s) < 16)
		s = "0" s
	return s
}
function number(h,    i, v) {
	h = tolower(substr(h, 3))
	for (i = 1; i <= length(h); i++)
		v = v * 16 + index("0123456789abcdef", substr(h, i, 1)) - 1
	return v
}
function port_guid(name) {
	return type[name] == "CA" ? pguid[name] : node[name]
}
function end(name, port) {
	return sprintf("{ %s Ports:%02X SystemGUID:%s NodeGUID:%s PortGUID:%s VenID:000000 DevID:0000 Rev:00000000 {%s} LID:%s PN:%02X }",
	               type[name], ports[name], node[name], node[name], port_guid(name), name,
	               toupper(substr(lid[port_guid(name)], 3)), port)
}
function between(s, from, until) { # the text between two marks
	sub(".*" from, "", s)
	sub(until ".*", "", s)
	return s
}
FNR == 1 { file++ }
file == 1 && /^(switchguid|caguid)=/ { last = guid(between($0, "guid=", "[(]")) }
file == 1 && /^(Switch|Ca)/ {
	split($0, part, "\"")
	here = part[2]
	type[here] = /^Switch/ ? "SW" : "CA"
	ports[here] = $2
	node[here] = last
}
file == 1 && /^\[/ {
	split($0, part, "\"")
	n++
	a[n] = here
	a_port[n] = between(part[1], "^\\[", "\\]")
	b[n] = part[2]
	b_port[n] = between(part[3], "^\\[", "\\]")
	if (type[here] == "CA")
		pguid[here] = guid(between(part[1], "\\(", "\\)"))
}
file == 2 && /^Unicast/ {
	sw = between($0, "guid ", " ")
	print "dump_ucast_routes: Switch " sw "\nLID    : Port : Hops : Optimal" > (out ".fdbs")
	print "Switch " sw "\nLID    : Out Port(s)" > (out ".mcfdbs")
}
file == 2 && /^0x/ && /portguid/ {
	lid[guid(between($0, "portguid ", ":"))] = $1
	print $1 " : " $2 "  : 01   : yes" > (out ".fdbs")
	if (/Channel/)
		host[$1] = 1
}
file == 3 && /^Unicast/ { sw = guid(between($0, "guid ", " ")) }
file == 3 && /^0x/ { sl[sw, $1] = $2 }
END {
	for (i = 1; i <= n; i++) {
		print end(a[i], a_port[i]) " " end(b[i], b_port[i]) " PHY=4x LOG=ACT SPD=25" > (out ".lst")
		if (type[a[i]] != "CA")
			continue
		for (to in host)
			if (to != lid[pguid[a[i]]])
				print "0x" node[a[i]], number(to), sl[node[b[i]], to] + 0 > (out ".sls")
	}
}
