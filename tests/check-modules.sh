#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Modules, by the symbols of the built libraries. A module is a source file. Modules of a
# folder may use each other in a circle only in pairs. A public function begins with the
# name of its file, with the first words of it, or with the name of its folder; `prefixes` has
# the other prefixes of a file or folder, mostly the name of the struct that it serves.
set -u
cd "${srcdir:-.}" || exit 1
build=${top_builddir:-build}

prefixes='
conf                       applications id_rule xml
conf/base/diag             diags
conf/holes                 config
conf/policy                guid life_times partition
db/snapshot                snap
db/snapshot/key_sets       partitions
db/stats                   event
gateway/admin/fields       field
gateway/admin/users        role user
gateway/api/metrics        http_stats
gateway/view               gw
gateway/view/json_text     gid guid mtu named rate real text time word
gateway/view/fabric_json   routing vl_rule
gateway/view/node_json     end link
gateway/view/ready         heartbeat stats
routing/engines/dmodc      shape
routing/engines/sssp       layers
routing/graph/link         node_type port_state rate
routing/graph/node_text    switch
routing/graph/tables       lft
routing/graph/column       columns
routing/multicast          mcast
routing/mcast_blocks       mft
routing/proof/alternates   distances
routing/proof/load         sums
routing/proof/path_rows    rows
routing/proof/paths        load
routing/proof/proof_cycle  deps
routing/text               topo dump cables lft matrix
routing/topogen            make maker
sa/mad/fields              field port_info
sa/mad/request             requests
sa/record                  sa
sa/record/groups           group
sa/record/rec_service      service
sa/record/rec_path         path_request
sa/server                  reports sa bulk
sa/sim                     conn device kernel rmpp
sa/sm/discover             disc shadow
sa/sm/sweep/client_tables  alias_guids
sa/sm/table                table tables
sa/sm/sm                   job
sa/path                    life_times
sa/partition               partitions
sa/store                   records
'

libraries=(libconf librouting libdb libsa_query libsa libsa_control libsa_sim libgateway)
[ -f "$build/libgateway_admin.a" ] && libraries+=(libgateway_admin) # not --without-admin
for lib in "${libraries[@]}"; do
	[ -f "$build/$lib.a" ] || { echo "check-modules: $build/$lib.a is not built"; exit 1; }
done

# KIND ROOM:MODULE NAME of each symbol of all libraries
symbols() {
	local lib
	for lib in "${libraries[@]}"; do
		nm -A -g "$build/$lib.a"
	done | sed -E 's/^.*lib(conf|routing|db|sa|gateway)[a-z_]*\.a:(lib[a-z_]*_a-)?([^:]*)\.o: *[0-9a-f]* /\1:\3 /' |
		awk 'NF == 3 { print $2, $1, $3 }'
}

symbols | awk -v prefixes="$prefixes" -v files="$(find conf routing db sa gateway -name '*.c')" '
BEGIN {
	n = split(files, f, "\n")
	for (i = 1; i <= n; i++) {
		folder = f[i]; sub(/\/[^\/]*$/, "", folder)
		stem = f[i]; sub(/.*\//, "", stem); sub(/\.c$/, "", stem)
		room = f[i]; sub(/\/.*/, "", room)
		of[room ":" stem] = folder
	}
	n = split(prefixes, line, "\n")
	for (i = 1; i <= n; i++) {
		m = split(line[i], word, " ")
		for (k = 2; k <= m; k++) extra[word[1] "," word[k]] = 1
	}
}
function begins(name, prefix) { return name == prefix || index(name, prefix "_") == 1 }
function named(name, module,    folder, stem, part, k, p) {
	folder = of[module]
	stem = module; sub(/.*:/, "", stem)
	n_part = split(stem, part, "_")
	p = part[1]
	if (begins(name, p)) return 1
	n_part = split(folder, part, "/")
	for (k = 1; k <= n_part; k++) if (begins(name, part[k])) return 1
	for (p in extra) {
		split(p, part, ",")
		if ((part[1] == folder || part[1] == folder "/" stem) && begins(name, part[2])) return 1
	}
	return 0
}
$1 == "T" {
	defined[$3] = $2
	if (!($2 in of)) next
	if (!named($3, $2)) { sub(/.*:/, "", $2); printf "%s.c: %s has neither the name of its file nor of its folder\n", $2, $3; bad = 1 }
}
$1 ~ /^[DBRV]$/ { defined[$3] = $2 }
$1 == "U" { used[$2 " " $3] = 1 }
END {
	for (u in used) {
		split(u, w, " ")
		to = defined[w[2]]
		if (to != "" && to != w[1] && of[to] == of[w[1]]) { leads[w[1], to] = 1; module[w[1]]; module[to] }
	}
	# which modules each one reaches, folder by folder
	for (a in module) {
		n = 1; queue[1] = a
		delete seen
		for (i = 1; i <= n; i++)
			for (b in module)
				if ((queue[i], b) in leads && !(b in seen)) { seen[b]; queue[++n] = b }
		for (b in seen) reach[a, b] = 1
	}
	for (a in module) {
		size = 0; text = ""
		for (b in module) if ((a, b) in reach && (b, a) in reach) { size++; text = text " " b }
		if (size > 2 && !(a in told)) {
			printf "%s: modules use each other in a circle:%s\n", of[a], text
			split(text, w, " "); for (k in w) told[w[k]]
			bad = 1
		}
	}
	if (!bad) print "modules are in order"
	exit bad
}'
