#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Virtual ports of simulated hosts: they come up, a client asks for a path to the GID of one, 'saguaro nodes'
# names them, and one that is added while the daemon runs gets its LID without a heavy sweep.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery

fabric=$work/fabric.topo
sed 's/4xEDR/4xQDR/' "$here/tests/fabrics/two-switch.topo" >"$fabric"
printf 'tenant=0x10: ALL_VCAS=full;\n' >"$work/partitions.conf"
printf 'virt_enabled 2\nenable_virt_rec_ext TRUE\nsweep_interval 1\n' >"$work/vports.conf"
start_simulator "$fabric" --vports 16
ctl vport h2 add own 0x0a00000000000001 >/dev/null
ctl vport h3 add shared 0x0a00000000000003 >/dev/null
start_daemon_on h1 d -F "$work/vports.conf" -P "$work/partitions.conf"
until_true log_says d 'SUBNET UP' || { fail "saguarod does not come up"; finish; }

# vport HOST: its line of 'ctl show' with the LID.
vport() { ctl show "$1" | grep "vport $2 "; }
# lid_of HOST INDEX
lid_of() { vport "$1" "$2" | sed -n 's/.* lid \([0-9]*\).*/\1/p'; }
nodes() { "$bin/saguaro" nodes --snapshot-dir "$run_dir"; }
# shellcheck disable=SC2317 # called by until_true
is_active() { vport "$1" "$2" | grep -q "$3.*active\|active.*$3"; }

until_true is_active h2 1 0x0a00000000000001 || fail "the virtual port of h2 is not active: $(ctl show h2)"
until_true is_active h3 1 0x0a00000000000003 || fail "the virtual port of h3 is not active: $(ctl show h3)"
log_says d 'SAG-VIRT-004' || fail "the log does not say that ALL_VCAS has no effect"
own=$(lid_of h2 1)
has "a LID of its own" "$(on h1 saquery NR "$own" 2>&1)" "vport 1"
path=$(on h1 saquery PR --dgid fe80::0a00:0000:0000:0003 --slid 1 2>&1)
has "a path to the GID of a virtual port" "$path" "fe80::a00:0:0:3"
has "with a HopLimit, so that hosts send a global route header" "$(tr -d ' .\t' <<<"$path" | grep -i hop)" "2"

added=$(ctl vport h4 add own 0x0a00000000000002)
same "the index of the next one" "vport 1" "$added"
until_true is_active h4 1 0x0a00000000000002 || fail "the added virtual port is not active: $(ctl show h4)"
same "no heavy sweep for it" 1 "$(grep -c 'heavy sweep:' "$work/d.log")"
for i in 1 2 3; do has "'saguaro nodes' lists virtual ports: $i" "$(nodes)" "0x0a0000000000000$i"; done
has "with the names of their nodes" "$(nodes)" "vport 1 (port 1, active)"

ctl vport h4 lie many
# shellcheck disable=SC2317 # called by until_true
complained() { grep -q 'more virtual ports than' "$work/d.log"; }
until_true complained || fail "an adapter with 10,000 virtual ports is not reported"
has "the others stay up" "$(vport h2 1)" "active"
same "and keep their LIDs" "$own" "$(lid_of h2 1)"
finish
