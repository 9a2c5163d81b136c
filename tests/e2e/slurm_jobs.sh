#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# The scripts for Slurm without Slurm: slurm-prolog, slurm-epilog and slurm-reconcile against a real
# saguaro-admin and saguarod on a simulated fabric. Each is run as slurmctld runs it; scontrol and
# squeue are stand-ins of the test.
#   what the ports have after each, exit statuses, repetitions
#   saguaro-admin is down, saguarod is killed, in between and at work: nothing leaks
#   JOBS jobs (40 by default, at most 1000) start and end, WIDTH at a time; it prints how long that took
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
[ -x "$bin/saguaro-admin" ] || skip "built without saguaro-admin"
need_clients curl jq smpquery
jobs=${JOBS:-40} width=${WIDTH:-4}
cd "$work" || exit 1
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

# A host with two rails: its ports have the same first word.
mkdir slurm bin
for name in prolog epilog reconcile; do ln -s "$bin/dist/slurm-job" "slurm/slurm-$name"; done
"$bin/saguaro" topo ft2 4 4 2 -o tree.topo
mapfile -t names < <(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' tree.topo)
sed -i "s/\"${names[3]}\"/\"${names[2]} mlx5_1\"/; s/\"${names[2]}\"/\"${names[2]} mlx5_0\"/" tree.topo
start_simulator "$work/tree.topo"
printf 'Default=0x7fff : ALL=limited, SELF=full ;\n' >partitions.conf
start_sm() { start_daemon_on "${names[0]}" d -P "$work/partitions.conf" --sweep_interval 0; }
start_sm
holds "the daemon comes up" until_true log_says d 'SUBNET UP'
secret=$("$bin/saguaro-admin" --users "$work/users" --add-token slurm --role partition-admin 2>/dev/null)
reader=$("$bin/saguaro-admin" --users "$work/users" --add-token reader --role viewer 2>/dev/null)
start_door() {
	rm -f door.port
	"$bin/saguaro-admin" --users "$work/users" --fabrics "main=$run_dir.control" --listen "$work/door.sock" --port-file "$work/door.port" \
		--audit-log "$work/audit" 2>>"$work/door.log" &
	door=$!
	pids+=("$door")
}
start_door
until_true test -s door.port

# --- what slurmctld has
cat >bin/scontrol <<'S'
#!/bin/sh
[ "$1 $2" = "show hostnames" ] && echo "$3" | tr , '\n'
S
cat >bin/squeue <<S
#!/bin/sh
cat "$work/queue"
S
cat >bin/logger <<'S'
#!/bin/sh
exit 0
S
chmod +x bin/*
export PATH=$work/bin:$PATH
printf 'default login slurm password %s\n' "$secret" >netrc
printf 'default login reader password %s\n' "$reader" >netrc.reader
printf 'default login slurm password wrong\n' >netrc.wrong
configure() { # configure LINE...: further lines, of which the last one counts
	printf '%s\n' "socket=$work/door.sock" "netrc=$work/netrc" p_keys=0x1000-0x13ff timeout=300 "$@" >slurm-jobs.conf
}
configure
export SAGUARO_SLURM_CONF=$work/slurm-jobs.conf
prolog() { SLURM_JOB_ID=$1 SLURM_JOB_NODELIST=$2 slurm/slurm-prolog; }
epilog() { SLURM_JOB_ID=$1 slurm/slurm-epilog; }
status() { # status WHAT EXPECTED COMMAND...: its exit status; what it said is in $said
	local what=$1 want=$2
	shift 2
	said=$("$@" 2>&1)
	same "$what" "$want" "$?"
}
ask() { curl -s --unix-socket door.sock -u "slurm:$secret" "http://localhost$1"; }
job_list() { ask /v1/jobs | jq -r '.jobs[].id' | sort | paste -sd' '; }
key_of() { printf '0x%04x' "$(ask "/v1/jobs/$1" | jq .p_key)"; }
keys() { # keys NAME: the table of a host, by the simulator's own host
	on "$1" smpquery -D pkeys 0 2>/dev/null | grep -o '0x[0-9a-f]\{4\}' | grep -v 0x0000 | sort | paste -sd' '
}

# --- a job starts and ends
status "a job starts" 0 prolog 100 "${names[1]},${names[2]}"
key=$(key_of 100)
holds "with a P_Key of the range" test $((key)) -ge $((0x1000)) -a $((key)) -le $((0x13ff))
full=$(printf '0x%04x' $((key | 0x8000)))
same "its hosts have it" "0x7fff $full" "$(keys "${names[1]}")"
same "on both rails" "0x7fff $full 0x7fff $full" "$(keys "${names[2]} mlx5_0") $(keys "${names[2]} mlx5_1")"
same "others do not" "0x7fff" "$(keys "${names[4]}")"
version=$(ask /v1/jobs | jq .version)
status "the prolog runs again" 0 prolog 100 "${names[1]},${names[2]}"
same "which changes nothing" "$version $key" "$(ask /v1/jobs | jq .version) $(key_of 100)"
status "and again, on other hosts" 0 prolog 100 "${names[1]},${names[4]}"
same "its key stays" "$key" "$(key_of 100)"
same "who is in it now" "0x7fff $full" "$(keys "${names[4]}")"
same "who is no more" "0x7fff" "$(keys "${names[2]} mlx5_1")"
status "the job ends" 0 epilog 100
status "the epilog runs again" 0 epilog 100
status "an epilog without a prolog" 0 epilog 101
same "no job is left" "" "$(job_list)"
# shellcheck disable=SC2317 # called by until_true
is_empty() { [ "$(keys "$1")" = 0x7fff ]; }
holds "its ports are emptied" until_true is_empty "${names[1]}"

# --- configured otherwise
configure membership=limited index0=yes prefix=blue.
status "limited members, index 0" 0 prolog 102 "${names[1]},${names[4]}"
same "the name has the prefix" blue.102 "$(job_list)"
key=$(key_of blue.102)
same "P_Keys in their order" "$key 0x7fff" "$(on "${names[1]}" smpquery -D pkeys 0 2>/dev/null | grep -o '0x[0-9a-f]\{4\}' | grep -v 0x0000 | paste -sd' ')"
printf '1\n' >queue
configure
status "another cluster's jobs are not touched" 0 slurm/slurm-reconcile
same "it is there" blue.102 "$(job_list)"
configure prefix=blue.
status "its own are" 0 slurm/slurm-reconcile
same "it is gone" "" "$(job_list)"
configure

# --- what cannot be
status "no configuration" 2 env SAGUARO_SLURM_CONF=/nonexistent SLURM_JOB_ID=1 slurm/slurm-epilog
configure membership=none
status "a wrong line" 2 prolog 1 "${names[1]}"
has "which is named" "$said" "slurm-jobs.conf:5: 'membership=none'"
configure
status "not started by Slurm" 2 env -u SLURM_JOB_ID slurm/slurm-prolog
configure "netrc=$work/netrc.wrong"
status "a wrong secret" 4 prolog 1 "${names[1]}"
configure "netrc=$work/netrc.reader"
status "a role that is too low" 4 prolog 1 "${names[1]}"
configure
status "a host that is not in the fabric" 5 prolog 1 "${names[1]},nowhere"
has "which is named" "$said" "host 'nowhere' is not in the fabric"
status "a name with quotes" 5 prolog 1 'a"b'
configure p_keys=0x1000-0x1000
status "one P_Key" 0 prolog 1 "${names[1]}"
status "is not for two jobs" 6 prolog 2 "${names[4]}"
has "which is said" "$said" "no P_Key from 0x1000 to 0x1000 is free"
configure p_keys=0x1000-0x1000 on_failure=start
status "a job may start without" 0 prolog 2 "${names[4]}"
has "which is said" "$said" "starts without a partition (status 6)"
status "the other one ends" 0 epilog 1
configure timeout=0 "socket=$work/none.sock"
status "nobody answers" 3 prolog 1 "${names[1]}"
configure
same "nothing is left of all that" "" "$(job_list)"

# --- crashes
kill "$door"
wait "$door"
prolog 200 "${names[1]},${names[4]}" 2>>prolog.log &
waiting=$!
start_door
wait "$waiting"
same "saguaro-admin is down when a job starts" "0 200" "$? $(job_list)"
kill -9 "$door"
wait "$door" 2>/dev/null
configure timeout=0
status "and killed when it ends" 3 epilog 200
configure
start_door
until_true test -s door.port
printf '%s\n' 201 2000 >queue
status "what the epilog left is removed" 0 slurm/slurm-reconcile
has "which is said" "$said" "job 200 is gone"
same "by the list of jobs" "" "$(job_list)"
status "a job that is there" 0 prolog 201 "${names[1]}"
status "keeps its partition" 0 slurm/slurm-reconcile
same "of all" 201 "$(job_list)"
printf '#!/bin/sh\nexit 1\n' >bin/squeue
status "squeue fails" 3 slurm/slurm-reconcile
same "nothing is removed" 201 "$(job_list)"
printf '#!/bin/sh\ncat "%s/queue"\n' "$work" >bin/squeue

kill -9 "$daemon"
wait "$daemon" 2>/dev/null
prolog 202 "${names[4]},${names[5]}" 2>>prolog.log &
waiting=$!
start_sm
wait "$waiting"
same "saguarod is killed and started again" "0 201 202" "$? $(job_list)"
full=$(printf '0x%04x' $(($(key_of 202) | 0x8000)))
same "the hosts have the key" "0x7fff $full" "$(keys "${names[5]}")"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
epilog 202 2>>prolog.log &
waiting=$!
start_sm
wait "$waiting"
same "and when a job ends" "0 201" "$? $(job_list)"
epilog 201

# saguarod is killed at any moment of many starts and ends.
crash_jobs=40 last=339
one_job() { # a start and an end, as slurmctld does them; it starts a job again that did not start
	local a=$((1 + $1 % 5)) b=$((1 + ($1 / 5) % 5))
	until prolog "$1" "${hosts_of[$a]},${hosts_of[$b]}"; do :; done
	[ $(($1 % 10)) = 9 ] || epilog "$1"
}
hosts_of=([1]="${names[1]}" [2]="${names[2]}" [3]="${names[4]}" [4]="${names[5]}" [5]="${names[6]}")
run_jobs() { # run_jobs FIRST LAST
	local i
	for ((i = $1; i <= $2; i++)); do
		while [ "$(jobs -rp | wc -l)" -ge "$((width + n_others))" ]; do wait -n; done
		one_job "$i" 2>>"$work/prolog.log" &
	done
}
n_others=$(jobs -rp | wc -l)
run_jobs 300 320
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
start_sm
run_jobs 321 $last
# shellcheck disable=SC2317 # called by until_true
through() { [ "$(jobs -rp | wc -l)" -le "$n_others" ]; }
until_true through
left=$(for ((i = 300; i <= last; i++)); do [ $((i % 10)) != 9 ] || echo "$i"; done | sort | paste -sd' ')
same "$crash_jobs jobs around a kill: those without an epilog are left" "$left" "$(job_list)"
printf '1\n' >queue
status "and removed" 0 slurm/slurm-reconcile
same "none is left" "" "$(job_list)"

# --- how many: a start and an end each, on four hosts
# shellcheck disable=SC2016 # for the shell of each job
one='export SLURM_JOB_ID=$1 SLURM_JOB_NODELIST=$2; slurm/slurm-prolog && slurm/slurm-epilog'
started=${EPOCHREALTIME/[.,]/}
seq 1000 $((999 + jobs)) | xargs -P "$width" -I{} sh -c "$one" - {} "${names[1]},${names[2]},${names[4]},${names[5]}" || fail "one of many"
took=$((${EPOCHREALTIME/[.,]/} - started))
same "each had a partition and has none" "" "$(job_list)"
same "all are in the audit log" $((2 * jobs)) "$(grep -c '"what":"done".*/v1/jobs/1[0-9][0-9][0-9][?"]' audit)"
printf '%d starts and as many ends in %d ms: %d starts in a minute\n' "$jobs" $((took / 1000)) $((jobs * 60000000 / took))
holds "no host keeps a key" until_true is_empty "${names[1]}"
stop_simulator
finish
