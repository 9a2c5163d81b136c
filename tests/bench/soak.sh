#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# make soak [SECONDS=N] [FAULTS=N]: saguarod and saguaro-gateway on a simulated fabric (saguaro-sim)
# with random faults and client load, for SOAK_SECONDS (3600) or until SOAK_FAULTS faults, whichever
# comes first (0: no limit). One JSON document on standard output, progress on standard error.
#
# Faults, from SOAK_SEED (1): cables out and in, nodes off, on, deaf and awake, restarts, other
# descriptions, lost MADs, a heavy sweep, SIGHUP. Load: four hosts at the subnet manager's switch ask
# for paths, join and leave groups; a client asks the gateway. Their leaf is left alone, but for its
# cables to spines. SOAK_TOPO: what saguaro topo generates, "ft2 8 6 4".
#
# Memory (private, without mapped files), file descriptors and file sizes are sampled every ten
# seconds. flat: none of them was larger in the last quarter than in the second one, but for a tenth
# and 4 MB (descriptors: 4). In the end the faults stop, and with ibutils installed ibdiagnet and ibdmchk
# look at the fabric as it is then: ibdiagnet_errors, ibdmchk. Fails if anything is not flat or not well.
set -eu
# make exports SECONDS=N, and bash would count on from there.
SECONDS=0
bin=${top_builddir:-.}
seconds=${SOAK_SECONDS:-3600} faults=${SOAK_FAULTS:-0}
RANDOM=${SOAK_SEED:-1}
read -ra shape <<<"${SOAK_TOPO:-ft2 8 6 4}"
work=$(mktemp -d "${TMPDIR:-/tmp}/saguaro-soak.XXXXXX")
export SAGUARO_SIM_SOCKET=$work/sim.sock
pids=() loads=()
cleanup() {
	trap - EXIT
	touch "$work/end"
	kill "${loads[@]}" 2>/dev/null || true
	local i
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill "${pids[i]}" 2>/dev/null || true
		wait "${pids[i]}" 2>/dev/null || true
	done
	[ -n "${SOAK_KEEP:-}" ] || rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

say() { printf '%s\n' "$*" >&2; }
ctl() { "$bin/saguaro-sim" ctl "$@"; }

# --- the fabric and the daemons -----------------------------------------------------------

"$bin/saguaro" topo "${shape[@]}" | awk '/^(ca|switch)guid=/ { split($0, w, /[=(]/); print "sysimgguid=" w[2] } { print }' >"$work/fabric.topo"
mapfile -t hosts < <(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$work/fabric.topo")
mapfile -t switches < <(sed -n 's/^Switch[^"]*"\([^"]*\)".*/\1/p' "$work/fabric.topo")
leaf=$(sed -n '/^Ca/,$ s/^\[1\][^"]*"\([^"]*\)".*/\1/p' "$work/fabric.topo" | head -n 1)
# NODE[PORT] of all cables between switches, and the hosts that are not at the leaf of the subnet manager
mapfile -t cables < <(awk -F'"' '/^Switch/ { me = $2; next } /^$/ { me = "" }
	me != "" && /^\[/ { sub(/\].*/, "]", $1); to[me $1] = $2; is[me] = 1 }
	END { for (k in to) if (to[k] in is) print k }' "$work/fabric.topo" | sort)
mapfile -t others < <(awk -F'"' -v leaf="$leaf" '/^Ca/ { me = $2; next } /^\[1\]/ && me != "" { if ($2 != leaf) print me; me = "" }' "$work/fabric.topo")

mkfifo "$work/ready"
"$bin/saguaro-sim" "$work/fabric.topo" >"$work/ready" &
pids+=($!)
read -r _ <"$work/ready"
"$bin/saguaro-sim" --run --host "${hosts[0]}" "$bin/saguarod" --fabric umad --sweep-interval 2 \
	--control-socket "$work/control.sock" --state-dir "$work/state" --snapshot-dir "$work/run" 2>"$work/log" &
daemon=$!
pids+=("$daemon")
"$bin/saguaro-gateway" --listen 127.0.0.1:0 --port-file "$work/port" --snapshot-dir "$work/run" 2>"$work/gateway.log" &
gateway=$!
pids+=("$gateway")
until [ -s "$work/port" ] && curl -sf -o /dev/null "http://127.0.0.1:$(cat "$work/port")/readyz"; do sleep 0.1; done
url=http://127.0.0.1:$(cat "$work/port")

# --- load: each line of a counter is one run that went well (or did not, because of a fault) ---

load() { # load HOST KIND
	while [ ! -e "$work/end" ]; do
		if timeout 60 "$bin/saguaro-sim" --run --host "$1" "$bin/tests/sa_load" "$2" 2 16 >>"$work/load.$2" 2>/dev/null; then
			echo >>"$work/load.good"
		else
			echo >>"$work/load.failed"
			sleep 0.5
		fi
	done
}
gateway_load() {
	while [ ! -e "$work/end" ]; do
		for path in fabric routing nodes switches links problems; do
			curl -s -o /dev/null -m 10 "$url/v1/$path" && echo >>"$work/load.gateway"
		done
		sleep 0.2
	done
}
touch "$work"/load.{good,failed,gateway}
load "${hosts[1]}" lid & loads+=($!)
load "${hosts[2]}" gid & loads+=($!)
load "${hosts[3]}" join & loads+=($!)
load "${hosts[4]}" table & loads+=($!)
gateway_load & loads+=($!)

# --- samples ------------------------------------------------------------------------------

bytes() { stat -c %s "$1" 2>/dev/null || echo 0; }
descriptors() { find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l; }
memory() { awk '/^RssAnon/ { print $2 * 1024 }' "/proc/$1/status"; }
process_of() { pgrep -P "$1" -x saguarod || echo "$1"; } # behind saguaro-sim --run
daemon_now=$(process_of "$daemon")
sample() {
	printf '{"at": %d, "daemon_bytes": %s, "daemon_descriptors": %d, "gateway_bytes": %s, "gateway_descriptors": %d, "state_bytes": %d, "snapshot_bytes": %d, "stats_bytes": %d}\n' \
		"$SECONDS" "$(memory "$daemon_now")" "$(descriptors "$daemon_now")" "$(memory "$gateway")" "$(descriptors "$gateway")" \
		"$(bytes "$work/state/data.mdb")" "$(bytes "$work/run/snapshot/data.mdb")" "$(bytes "$work/run/stats/data.mdb")" >>"$work/samples"
}

# --- faults -------------------------------------------------------------------------------

declare -A out=() # what is cut, off or deaf, by name
toggle() { # toggle KIND NAME OFF ON
	if [ -n "${out[$1 $2]:-}" ]; then
		unset "out[$1 $2]"
		ctl "$1" "$4" "$2" >/dev/null
	else
		out[$1 $2]=1
		ctl "$1" "$3" "$2" >/dev/null
	fi
}
pick_node() { # a switch or a host that may be disturbed
	node=$leaf
	while [ "$node" = "$leaf" ]; do
		if ((RANDOM % 3)); then node=${others[RANDOM % ${#others[@]}]}; else node=${switches[RANDOM % ${#switches[@]}]}; fi
	done
}
count=0
fault() {
	pick_node
	case $((RANDOM % 12)) in
	0 | 1 | 2 | 3) toggle link "${cables[RANDOM % ${#cables[@]}]}" down up ;;
	4 | 5) toggle node "$node" down up ;;
	6) ctl node deaf "$node" >/dev/null; sleep 1; ctl node awake "$node" >/dev/null ;;
	7 | 8) ctl reboot "$node" >/dev/null ;;
	9) ctl describe "\"$node\"" "renamed $RANDOM" >/dev/null ;;
	10) ctl drop $((RANDOM % 3 ? 0 : RANDOM % 20000)) >/dev/null ;;
	11) if ((RANDOM % 2)); then "$bin/saguaro" sweep --control-socket "$work/control.sock" --heavy >/dev/null; else kill -HUP "$daemon_now"; fi ;;
	esac
	count=$((count + 1))
	# at most a third of the nodes and a quarter of the cables are away at a time
	if ((${#out[@]} > (${#cables[@]} + ${#hosts[@]}) / 6)); then
		for k in "${!out[@]}"; do
			read -r kind name <<<"$k"
			toggle "$kind" "$name" down up
		done
	fi
}

next=0
sample
while ((SECONDS < seconds)) && ((faults == 0 || count < faults)); do
	kill -0 "$daemon_now" 2>/dev/null || { say "saguarod is gone after $count faults"; tail -n 20 "$work/log" >&2; exit 1; }
	fault
	sleep "0.$((RANDOM % 10))"
	if ((SECONDS >= next)); then
		sample
		next=$((SECONDS + 10))
		((SECONDS % 60 >= 10)) || say "$SECONDS s, $count faults: $(tail -n 1 "$work/samples")"
	fi
done

# --- the end ------------------------------------------------------------------------------

touch "$work/end"
kill "${loads[@]}" 2>/dev/null || true
wait "${loads[@]}" 2>/dev/null || true
loads=()
ctl drop 0 >/dev/null
quiet() { # no SMP but for light sweeps: no sweep at work, and the subnet is up
	local a b
	a=$(grep -c "SUBNET UP\|nothing changed" "$work/log" || true)
	sleep 8
	b=$(grep -c "SUBNET UP\|nothing changed" "$work/log" || true)
	[ "$a" = "$b" ] && curl -sf -o /dev/null "$url/readyz"
}
until quiet; do ((SECONDS < seconds + 600)) || { say "not quiet: $(curl -s "$url/readyz")"; exit 1; }; done
sample

errors=null checked=null
if command -v ibdiagnet >/dev/null && command -v ibdmchk >/dev/null; then
	# some versions crash when all is said
	(
		cd "$work"
		timeout 300 "$bin/saguaro-sim" --run --host "${hosts[0]}" ibdiagnet -o "$work/ibd" >"$work/ibdiagnet.said" 2>&1 || :
		cd "$work/ibd"
		ibdmchk -s ibdiagnet.lst -f ibdiagnet.fdbs -m ibdiagnet.mcfdbs >"$work/ibdmchk.said" 2>&1 || :
	) 2>/dev/null
	errors=$(awk '/STAGE .*Errors/ { on = 1; next } on && NF >= 3 && $NF ~ /^[0-9]+$/ { e += $(NF - 1); n++ } END { if (n) print e; else print "null" }' "$work/ibdiagnet.said")
	checked=$(jq -n --argjson pairs "$(sed -n 's/^-I- Scanned:\([0-9]*\) CA to CA paths.*/\1/p' "$work/ibdmchk.said" | head -n 1 | grep . || echo null)" \
		--argjson nopath "$(grep -c 'Fail to find a path' "$work/ibdmchk.said" || true)" \
		--argjson hosts "$(grep -o '{ CA[^{]* NodeGUID:[^ ]*' "$work/ibd/ibdiagnet.lst" | grep -o 'NodeGUID:.*' | sort -u | wc -l)" \
		--arg loops "$(grep -iE 'credit loops? (in routing|found)|no credit loops' "$work/ibdmchk.said" | head -n 1)" \
		'{hosts: $hosts, pairs: $pairs, pairs_without_path: $nopath, credit_loops: ($loops | test("no credit loops found") | not)}')
fi
jq -n --slurpfile s "$work/samples" --argjson faults "$count" --argjson seconds "$SECONDS" --argjson errors "$errors" --argjson checked "$checked" \
	--argjson good "$(wc -l <"$work/load.good")" --argjson failed "$(wc -l <"$work/load.failed")" --argjson gateway "$(wc -l <"$work/load.gateway")" \
	--argjson answered "$(cat "$work"/load.{lid,gid,join,table} 2>/dev/null | jq -s '[.[] | .answers // 0] | add // 0')" \
	--argjson ups "$(grep -c 'SUBNET UP\|nothing changed' "$work/log" || true)" --argjson up "$(curl -s "$url/v1/routing")" \
	--argjson refused "$(grep -c '^error' "$work/log" || true)" '
	def quarter($k; $q): [$s[($s | length) * $q / 4 | floor : ($s | length) * ($q + 1) / 4 | ceil][] | .[$k]] | max;
	def figure($k; $more): {second_quarter: quarter($k; 1), last_quarter: quarter($k; 3)} | . + {flat: (.last_quarter <= .second_quarter * 1.1 + $more)};
	($s[0] | keys - ["at"]) as $keys |
	{seconds: $seconds, faults: $faults, sweeps: $ups, errors_logged: $refused, samples: ($s | length),
	 load: {runs: $good, runs_disturbed: $failed, sa_requests: $answered, gateway_requests: $gateway},
	 figures: ([$keys[] | {key: ., value: figure(.; if test("descriptors") then 4 else 4194304 end)}] | from_entries),
	 proof: ($up | {unreachable_pairs, forwarding_loops, credit_loops}),
	 ibdiagnet_errors: $errors, ibdmchk: $checked}' >"$work/result"
cat "$work/result"
jq -e '([.figures[].flat] | all) and (.ibdiagnet_errors // 0) == 0 and
	(.ibdmchk == null or (.ibdmchk.pairs_without_path == 0 and .ibdmchk.pairs == .ibdmchk.hosts * (.ibdmchk.hosts - 1) and (.ibdmchk.credit_loops | not)))' "$work/result" >/dev/null
