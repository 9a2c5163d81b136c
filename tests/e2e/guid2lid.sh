#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# LIDs for life between OpenSM and saguarod over ibsim: saguarod takes those of OpenSM's guid2lid
# file, OpenSM those of the file that saguarod wrote, and a wrong line changes nothing.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/ibsim.sh
. "$here/tests/e2e/ibsim.sh"
need_ibsim opensm jq

cache=$work/cache
file=$cache/guid2lid
entries() { grep -v '^$' "$file" | sort; }
lid_of() { get /v1/lids | jq "[.lids[] | select(.port_guid == \"$1\")] | .[0].lid"; }

# opensm_once NAME: OpenSM configures the fabric and ends
opensm_once() {
	host_command "$host"
	(cd "$work" && OSM_CACHE_DIR=$cache OSM_TMP_DIR=$work exec timeout "$patience" "${as[@]}" \
		opensm -o -x -l 1 -f "$work/$1.log" >"$work/$1.out" 2>&1)
}

tree=$work/tree.topo
"$bin/saguaro" topo ft2 3 2 2 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
start_ibsim "$tree"
mkdir "$cache"
opensm_once osm
holds "OpenSM wrote the LIDs of its ports" test -s "$file"

# one port gets other LIDs in the file, as after a change of mind of the operator
guid=$(entries | tail -n 1 | cut -d ' ' -f 1)
sed -i "s/^$guid .*/$guid 0x0040 0x0041/" "$file"
before=$(entries)
start_daemon_on "$host" d -l 1 --honor_guid2lid --guid2lid-file "$file"
start_gateway g
wait_ready
same "saguarod takes the LIDs of the file" 64 "$(lid_of "$guid")"
same "and keeps all of them in it" "$before" "$(entries)"
end_process "$daemon"

# the way back: OpenSM takes what saguarod wrote
sed -i "s/^$guid .*/$guid 0x0050 0x0051/" "$file"
start_daemon_on "$host" e -l 1 --honor_guid2lid --guid2lid-file "$file"
start_gateway h
wait_ready
same "saguarod takes a change of the file at its next start" 80 "$(lid_of "$guid")"
end_process "$daemon"
before=$(entries)
opensm_once again
same "OpenSM takes what saguarod wrote" "$before" "$(entries)"

# nothing of a file with a wrong line is used, and it is not overwritten
sed -i "s/^$guid .*/$guid 0x0060 0x0061/" "$file"
echo '0x0000000000000001 0x0003' >>"$file"
before=$(entries)
start_daemon_on "$host" f --state-dir "$work/e/state" -l 1 --honor_guid2lid --guid2lid-file "$file"
start_gateway i
wait_ready
same "a file with a wrong line changes no LID" 80 "$(lid_of "$guid")"
same "and stays as it is" "$before" "$(entries)"
holds "the line is named" log_says f "guid2lid:[0-9]*: expected '0x<port GUID> 0x<lowest LID> 0x<highest LID>'"
finish
