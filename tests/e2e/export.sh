#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# saguaro export: the same bytes from the snapshot and over HTTP; ibsim serves the topology and
# ibnetdiscover finds the same fabric there; the tables pass saguaro check; slurmctld takes the
# tree, opareport the snapshot. saguaro plan holds the fabric against what was exported.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/ibsim.sh
. "${srcdir:-.}/tests/e2e/ibsim.sh"
command -v curl >/dev/null || skip "curl is not installed"

"$bin/saguaro" topo ft3 4 -o "$work/ft3.topo"
start_daemon sm --fabric "sim:$work/ft3.topo"
start_gateway gw
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir
formats=$("$bin/saguaro" export | awk '{ print $1 }')
same "all formats" "topology cables lfts dot graphml slurm-tree slurm-block slurm-yaml opareport" "$(paste -sd" " <<<"$formats")"
for format in $formats; do
	"$bin/saguaro" export "$format" >"$work/$format" || fail "saguaro export $format"
	holds "$format: not empty" test -s "$work/$format"
	get "/v1/export/$format" >"$work/http"
	holds "$format: the same over HTTP" cmp "$work/$format" "$work/http"
	"$bin/saguaro" export "$format" --url "$url" >"$work/http"
	holds "$format: the same by --url" cmp "$work/$format" "$work/http"
done
refuses "an unknown format" "$bin/saguaro" export povray
has "and says where the list is" "$said" "'saguaro export' lists them"
holds "the tables are proven" "$bin/saguaro" check "$work/topology" --lfts "$work/lfts"

# A plan: the fabric itself, then one with a cable more and one that leads elsewhere.
holds "the fabric is as planned" "$bin/saguaro" plan "$work/topology"
"$bin/saguaro" topo ft3 4 --fail 0.04 --seed 2 -o "$work/less.topo" 2>/dev/null
refuses "cables that are not planned" "$bin/saguaro" plan "$work/less.topo"
has "and says which" "$said" ": not planned"
posted=$(curl -s -H 'Content-Type: text/plain' --data-binary "@$work/less.topo" "$url/v1/plan")
same "the same over HTTP" "$("$bin/saguaro" plan "$work/less.topo" --json | tr -d ' \n')" "$(tr -d ' \n' <<<"$posted")"
has "a body that is no topology" "$(curl -s -H 'Content-Type: text/plain' -d nonsense "$url/v1/plan")" '"status":4'

if [ -n "$sim_preload" ] && command -v ibsim >/dev/null && command -v ibnetdiscover >/dev/null; then
	start_ibsim "$work/topology"
	host=$(sed -n 's/^Ca\t[0-9]* "\([^"]*\)".*/\1/p' "$work/topology" | head -n 1)
	on "$host" ibnetdiscover >"$work/found" || fail "ibnetdiscover"
	stop_ibsim
	start_daemon again --fabric "sim:$work/found"
	export SAGUARO_SNAPSHOT_DIR=$run_dir
	until_true "$bin/saguaro" status >/dev/null 2>&1 || fail "no subnet from what ibnetdiscover found"
	"$bin/saguaro" export dot >"$work/again.dot"
	holds "ibsim serves the same fabric" cmp "$work/dot" "$work/again.dot"
fi

if command -v opareport >/dev/null; then # Debian: opa-basic-tools
	report() { opareport -X "$work/opareport" -o "$1" 2>/dev/null; }
	has "opareport has all cables" "$(report links)" "$(grep -c '<Link id=' "$work/opareport") Links in Fabric"
	has "and all routes" "$(report validateroutes)" "0 Incomplete Route(s)"
	has "without credit loops" "$(report validatecreditloops)" "Routes are deadlock free"
	has "by their names" "$(report brnodes)" "node01"
fi

if command -v slurmctld >/dev/null && command -v scontrol >/dev/null; then
	mkdir "$work/slurm" "$work/slurm/state"
	cp "$work/slurm-tree" "$work/slurm/topology.conf"
	hosts=$(grep -o 'Nodes=[^ ]*' "$work/slurm-tree" | cut -d= -f2 | paste -sd,)
	cat >"$work/slurm/slurm.conf" <<-END
		ClusterName=test
		SlurmctldHost=$(hostname -s)(127.0.0.1)
		SlurmctldPort=$(free_port)
		SlurmUser=$(id -un)
		AuthType=auth/none
		CredType=cred/none
		StateSaveLocation=$work/slurm/state
		SlurmctldPidFile=$work/slurm/pid
		SelectType=select/cons_tres
		TopologyPlugin=topology/tree
		MpiDefault=none
		ProctrackType=proctrack/linuxproc
		NodeName=$hosts CPUs=1 State=UNKNOWN NodeAddr=127.0.0.1
		PartitionName=all Nodes=ALL Default=YES
	END
	export SLURM_CONF=$work/slurm/slurm.conf
	slurmctld -D -f "$SLURM_CONF" >"$work/slurmctld.log" 2>&1 &
	pids+=("$!")
	# shellcheck disable=SC2317 # until_true calls it
	slurm_answers() { timeout 20 scontrol show topology >"$work/slurm/shown" 2>/dev/null || ! kill -0 "${pids[-1]}" 2>/dev/null; }
	if until_true slurm_answers && [ -s "$work/slurm/shown" ]; then
		same "Slurm has all switches" "$(grep -o '^SwitchName=[^ ]*' "$work/slurm-tree" | sort)" \
			"$(grep -o '^SwitchName=[^ ]*' "$work/slurm/shown" | sort)"
		has "and all hosts under one root" "$(grep 'SwitchName=fabric-0' "$work/slurm/shown")" "Nodes=node[01-16]"
	else
		printf 'slurmctld does not run here\n'
	fi
fi
finish
