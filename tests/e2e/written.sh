#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Records that clients write are there after a restart of saguarod, also one without warning:
# services that OpenSM's test suite registers on a simulated fabric of 48 hosts.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery osmtest jq

tree=$work/tree.topo
"$bin/saguaro" topo ft2 8 6 4 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
far=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | tail -n 1)

# services without end: those with a lease may go at any time
names() { on "$far" saquery SR 2>/dev/null | awk -F'[.][.][.]+' '/ServiceLease/ { lease = $2 } /ServiceName/ && lease == "0xFFFFFFFF" { print $2 }' | sort; }
# shellcheck disable=SC2317 # called by until_true
some_names() { [ "$(names | wc -l)" -ge 2 ]; }
restart() { # restart SIGNAL
	kill "-$1" "$daemon"
	wait "$daemon" 2>/dev/null
	start_daemon_on "$host" d
}

start_simulator "$tree"
start_daemon_on "$host" d
start_gateway g
wait_ready
holds "the test suite's inventory" on "$far" osmtest -f c -i "$work/inventory"
# Its flow for services registers some, and waits for leases to run out; there it is stopped.
host_command "$far"
patient osmtest -f s -i "$work/inventory"
(cd "$work" && exec timeout "$patience" "${as[@]}" "${command[@]}") >/dev/null 2>&1 &
client=$!
holds "services are registered" until_true some_names
end_process "$client"
before=$(names)

# The gateway and the command line show the same, though they see no daemon's state; no ServiceKey.
http() { get "/v1/records/$1" | jq -r "$2"; }
# shellcheck disable=SC2317 # called by until_true
http_as_before() { [ "$(http 'service?service_lease=0xffffffff' '.records[].service_name' | sort)" = "$before" ]; }
holds "the gateway has the same services" until_true http_as_before
same "and no key of theirs" 0 "$(http service '[.records[].service_key[]] | add')"
same "the command line, too" "$(http service '.records | length')" \
	"$("$bin/saguaro" records service --snapshot-dir "$run_dir" | wc -l)"
groups() { on "$far" saquery -g 2>/dev/null | grep -c 'MCMemberRecord group dump'; }
holds "saguaro groups: one line each" test "$("$bin/saguaro" groups --snapshot-dir "$run_dir" | wc -l)" = "$((1 + $(groups)))"
has "saguaro groups: one" "$("$bin/saguaro" groups ff12:401b:ffff::ffff:ffff --snapshot-dir "$run_dir")" "0xc000  0xffff"
same "groups, as many as saquery has" "$(groups)" "$(http 'mcmember?trusted=false' '.records | length')"

# shellcheck disable=SC2317 # called by until_true
as_before() { [ "$(names)" = "$before" ]; }
restart TERM
holds "they are there after a restart" until_true as_before
holds "also for the gateway" until_true http_as_before
restart KILL
holds "and after a death" until_true as_before
end_process "$daemon"
end_process "$gateway"
stop_simulator
finish
