#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The real Slurm: slurmctld and slurmd on this machine, with the hosts of a simulated fabric as its
# nodes. It takes the topology that saguaro exports, and runs slurm-prolog and slurm-epilog for a
# job: while the job runs, its hosts have its P_Key, and afterwards they do not.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
[ -x "$bin/saguaro-admin" ] || skip "built without saguaro-admin"
need_clients curl jq slurmctld slurmd munged scontrol sbatch squeue
[ "$(id -u)" = 0 ] || skip "slurmd needs root"
cd "$work" || exit 1
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy
chmod 0755 "$work"

# --- the fabric: hosts with two rails, a leaf for each rail of four hosts
cat >rails.topo <<'T'
T
for group in 0 1; do
	for rail in 0 1; do
		n=$((2 * group + rail))
		{
			printf '\nSwitch 8 "S-%d" # "leaf-%d-rail-%d"\n' $((0x100 + n)) $group $rail
			for ((h = 0; h < 4; h++)); do
				printf '[%d] "H-%d"[1]\n' $((h + 1)) $((0x1000 + 16 * (4 * group + h) + rail))
			done
			printf '[5] "S-%d"[%d]\n' $((0x200)) $((n + 1))
		} >>rails.topo
		for ((h = 0; h < 4; h++)); do
			printf '\nCa 1 "H-%d" # "n%d mlx5_%d"\n[1] "S-%d"[%d]\n' $((0x1000 + 16 * (4 * group + h) + rail)) \
				$((4 * group + h)) $rail $((0x100 + n)) $((h + 1)) >>rails.topo
		done
	done
done
{
	printf '\nSwitch 8 "S-%d" # "spine"\n' $((0x200))
	for n in 0 1 2 3; do printf '[%d] "S-%d"[5]\n' $((n + 1)) $((0x100 + n)); done
} >>rails.topo
start_simulator "$work/rails.topo"
printf 'Default=0x7fff : ALL=limited, SELF=full ;\n' >partitions.conf
start_daemon_on "n0 mlx5_0" d -P "$work/partitions.conf" --sweep_interval 0
holds "the fabric comes up" until_true log_says d 'SUBNET UP'
secret=$("$bin/saguaro-admin" --users "$work/users" --add-token slurm --role partition-admin 2>/dev/null)
"$bin/saguaro-admin" --users "$work/users" --fabrics "main=$run_dir.control" --listen "$work/door.sock" --port-file "$work/door.port" \
	--audit-log "$work/audit" --requests-per-minute 0 2>>door.log &
pids+=("$!")
until_true test -s door.port
printf 'default login slurm password %s\n' "$secret" >netrc
printf '%s\n' "socket=$work/door.sock" "netrc=$work/netrc" "slurm_conf=$work/slurm.conf" p_keys=0x1000-0x1fff >slurm-jobs.conf
mkdir hooks
for name in prolog epilog reconcile; do ln -s "$bin/dist/slurm-job" "hooks/slurm-$name"; done
for name in prolog epilog; do
	# shellcheck disable=SC2016 # for the script
	printf '#!/bin/sh\nexport SAGUARO_SLURM_CONF=%s/slurm-jobs.conf\n%s/hooks/slurm-%s 2>>%s/hooks.log; s=$?\necho "$SLURM_JOB_ID %s $s" >>%s/hooks.log\nexit $s\n' \
		"$work" "$work" $name "$work" $name "$work" >"ctld-$name"
	chmod +x "ctld-$name"
done

# --- Slurm
mkdir -m 0700 munge spool state
dd if=/dev/urandom of=munge/key bs=128 count=1 2>/dev/null
chmod 0400 munge/key
mkdir -m 0755 munge.run
chown -R munge: munge munge.run 2>/dev/null
setpriv --reuid munge --regid munge --clear-groups munged --foreground --force --socket "$work/munge.run/socket" --key-file "$work/munge/key" \
	--log-file "$work/munge/log" --pid-file "$work/munge/pid" --seed-file "$work/munge/seed" 2>>munged.log &
pids+=("$!")
until_true test -S munge.run/socket
"$bin/saguaro" export slurm-tree --snapshot-dir "$run_dir" >topology.conf
has "a host counts once, with all its rails" "$(cat topology.conf)" 'Nodes=n[0-3]'
same "in one line" 2 "$(grep -c 'Nodes=' topology.conf)"
control=$(free_port) node=$(free_port)
cat >slurm.conf <<C
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$control
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.run/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
TopologyPlugin=topology/tree
ReturnToService=2
MpiDefault=none
SlurmctldTimeout=300
SlurmdTimeout=300
PrologSlurmctld=$work/ctld-prolog
EpilogSlurmctld=$work/ctld-epilog
NodeName=n0 NodeHostName=$(hostname -s) NodeAddr=127.0.0.1 Port=$node CPUs=1
NodeName=n1 NodeHostName=$(hostname -s) NodeAddr=127.0.0.1 Port=$((node + 1)) CPUs=1
NodeName=n[2-7] NodeHostName=$(hostname -s) NodeAddr=127.0.0.1 Port=[$((node + 2))-$((node + 7))] CPUs=1 State=DOWN
PartitionName=all Nodes=n[0-7] Default=YES MaxTime=10 State=UP
C
export SLURM_CONF=$work/slurm.conf
slurmctld -D -f "$SLURM_CONF" >>slurmctld.log 2>&1 &
pids+=("$!")
# shellcheck disable=SC2317 # called by until_true
answers() { scontrol ping 2>/dev/null | grep -q UP; }
holds "slurmctld takes the configuration" until_true answers
topology=$(scontrol show topology)
printf '%s\n' "$topology"
has "and the topology: a leaf has the hosts of both its rails" "$topology" 'Nodes=n[0-3]'
same "all hosts are below the root" 1 "$(grep -c 'Level=1.*Nodes=n\[0-7\]' <<<"$topology")"
for n in 0 1; do
	mkdir -p "spool/n$n"
	slurmd -D -N "n$n" -f "$SLURM_CONF" >>slurmd.log 2>&1 &
	pids+=("$!")
done
# shellcheck disable=SC2317 # called by until_true
nodes_are_up() { [ "$(sinfo -h -N -n n0,n1 -o %T 2>/dev/null | sort -u)" = idle ]; }
holds "its nodes are up" until_true nodes_are_up

# --- a job
cat >job.sh <<'J'
#!/bin/sh
read -r go <"$1"
J
chmod +x job.sh
mkfifo go
job=$(sbatch --parsable -N 2 -w n0,n1 -D "$work" -o job.out job.sh "$work/go")
ask() { curl -s --unix-socket door.sock -u "slurm:$secret" "http://localhost$1"; }
# shellcheck disable=SC2317 # called by until_true
runs() { [ "$(squeue -h -j "$job" -o %T 2>/dev/null)" = RUNNING ]; }
if until_true runs; then ok "a job of two nodes runs"; else fail "the job does not run: $(squeue -a; cat hooks.log)"; finish; fi
same "its prolog was good" "$job prolog 0" "$(grep "^$job" hooks.log)"
same "its partition has both rails of both hosts" 4 "$(ask "/v1/jobs/$job" | jq .member_count)"
shown=$("$bin/saguaro" jobs --snapshot-dir "$run_dir")
printf '%s\n' "$shown"
has "saguaro jobs shows it" "$shown" "$job "
"$bin/saguaro" jobs "$job" --snapshot-dir "$run_dir"
SAGUARO_SLURM_CONF=$work/slurm-jobs.conf hooks/slurm-reconcile
same "the reconciler leaves a job that runs alone" 4 "$(ask "/v1/jobs/$job" | jq .member_count)"
echo >go
# shellcheck disable=SC2317 # called by until_true
ended() { grep -q "^$job epilog" hooks.log; }
holds "the job ends" until_true ended
same "its epilog was good" "$job epilog 0" "$(tail -n 1 hooks.log)"
same "and its partition is gone" 0 "$(ask /v1/jobs | jq '.jobs | length')"
for tool in slurmctld slurmd; do printf '%s ' "$tool"; "$tool" -V; done
cat hooks.log
stop_simulator
finish
