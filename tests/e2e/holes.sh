#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What saguarod --check says of five configurations, as a whole: doc/guide/security.md has the same in a table.
# What is open at one of them stands in saguaro doctor, too, and changes nothing else there.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"

m_key='m_key 0x7a31f00dc0ffee42' sm_key='sm_key 0x44b1c2d3e4f50617' sa_key='sa_key 0x1f2e3d4c5b6a7988'
no_m_key="open to hosts: there is no m_key, so every host whose users may open umad devices can set up ports and switches; set m_key_file auto, and give a copy of the file to the other saguarod; 'saguaro keys init' makes all keys"
first="open to hosts: a program that is master before this subnet manager starts is respected, whoever runs it; name the ports of your subnet managers in allowed_sm_guids, or set sm_key_file auto and m_key_file auto and give copies of the files to the others"
no_sa_key="open to hosts: sa_key is 1, as on every subnet where nobody has set it, so every host can change what belongs to others; set sa_key_file auto, and give the key to the clients that need it"
one_key="open to hosts: all ports hold the same M_Key, so a host that learns it can set up every port; set m_key_per_port TRUE, with another m_key than now"
any="open to hosts: sm_trust is any, so any host that shows a higher priority becomes master; set sm_trust announced, and name the ports of your subnet managers in allowed_sm_guids"

# says WHAT EXPECTED LINE...: of a file of these lines
says() {
	local what=$1 expected=$2
	shift 2
	printf '%s\n' "$@" >"$work/check.conf"
	same "$what" "$expected" "$("$bin/saguarod" --check -F "$work/check.conf" 2>&1)"
}
says "the defaults" "$no_m_key
$first
$no_sa_key
configuration is accepted, 0 warnings, open to hosts in 3 places" 'sweep_interval 10'
says "sm_key alone" "$no_m_key
$first
$no_sa_key
configuration is accepted, 0 warnings, open to hosts in 3 places" "$sm_key"
says "m_key alone" "$first
$no_sa_key
configuration is accepted, 0 warnings, open to hosts in 2 places" "$m_key"
says "all keys" "configuration is good, 0 warnings" "$m_key" "$sm_key" "$sa_key"
says "OpenSM beside" "$one_key
$any
$first
configuration is accepted, 0 warnings, open to hosts in 3 places" "$m_key" "$sm_key" "$sa_key" 'm_key_per_port FALSE' 'sm_trust any'
same "a new installation" "configuration is good, 0 warnings" "$("$bin/saguarod" --check -F "$bin/dist/saguaro.conf" 2>&1)"

# --- of a running fabric --------------------------------------------------------------------------
start_daemon d --fabric "sim:$here/tests/fabrics/two-switch.topo" --sm_key 0x44b1c2d3e4f50617
until_true log_says d 'SUBNET UP' || { fail "saguarod does not come up"; finish; }
export SAGUARO_SNAPSHOT_DIR=$run_dir
until_true test -n "$("$bin/saguaro" nodes --field name)"
has "the log says so" "$(cat "$work/d.log")" "there is no m_key"
is_said() { "$bin/saguaro" doctor >"$work/doctor"; }
holds "nothing is wrong" until_true is_said
same "and this is open" "nothing is wrong

Open to hosts of the fabric:
m_key
first_master
sa_key" "$(grep -v '^  ' "$work/doctor")"
same "as JSON" "m_key first_master sa_key" "$("$bin/saguaro" doctor --json | jq -r '[.open_to_hosts[].name] | join(" ")')"
finish
