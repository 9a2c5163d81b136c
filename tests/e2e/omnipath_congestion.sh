#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Congestion control of Omni-Path: the packaged fabric manager and saguarod, each from power-on, with
# the same opafm.xml. Switches and adapters hold the same settings and control tables, also where links have
# fewer lanes. (opa-fm takes all lanes for 25 Gb/s.) opasaquery gets the same records of them from both. When it is off
# saguarod sets none, and there are no records.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
fm=/usr/lib/opa-fm/runtime/sm
example=/usr/share/opa-fm/opafm.xml
need_clients opasaquery
if [ ! -x "$fm" ] || [ ! -r "$example" ]; then skip "opa-fm is not installed"; fi

"$bin/saguaro" topo ft2 4 2 2 -o "$work/t.topo"
sed -i '/node0*[34]"/s/4xEDR/1xEDR/' "$work/t.topo"
host=$(sed -n 's/^Ca.*# "\([^"]*\)".*/\1/p' "$work/t.topo" | head -n 1)
hosts=$(grep -c '^Ca' "$work/t.topo")
switches=$(grep -c '^Switch' "$work/t.topo")

# policy NAME ENABLE SED...: opafm.xml with this section of congestion control.
policy() {
	awk -v enable="$2" '/<CongestionControl>/ { on = 1 }
		on && /<Enable>/ { sub(/<Enable>[01]/, "<Enable>" enable); on = 0 } { print }' "$example" |
		sed -e "s|<!-- <LogFile>/var/log/fm.log</LogFile> -->|<LogFile>$work/fm.log</LogFile>|" \
			-e 's|<LogMode>0</LogMode>|<LogMode>2</LogMode>|' \
			-e 's|<RespTimeout>250<|<RespTimeout>10000<|' -e 's|<MinRespTimeout>35<|<MinRespTimeout>5000<|' \
			-e "s|<CoreDumpDir>.*</CoreDumpDir>|<CoreDumpDir>$work</CoreDumpDir>|" "${@:3}" >"$work/$1.xml"
}
settings() { ctl tables | grep -E '^[^ ]* (congestion|hfi_congestion|cct) ' | sort; }
# shellcheck disable=SC2317 # called by until_true
all_are_set() { [ "$(settings | wc -l)" = $((switches + 2 * hosts)) ]; }

types="conginfo swcongset swportcong hficongset hficongcon"
# shellcheck disable=SC2317 # called by until_true
ended() { [ -r "$work/fm.log" ] && grep -q 'DISCOVERY CYCLE END' "$work/fm.log"; }
# records_of TYPE: sets $said, the records that opasaquery gets.
# shellcheck disable=SC2317 # called by until_true
records_of() {
	on "$host" opasaquery -o "$1" >"$work/said" 2>&1
	grep -q -e '^-----' -e 'No Records' "$work/said" || return 1
	said=$(opa_records "$work/said")
}
# shellcheck disable=SC2317 # called by until_true
records_are() { records_of "$1" && [ "$said" = "$2" ]; }

# compare NAME
compare_with_fm() {
	local manager
	rm -f "$work/fm.log"
	start_simulator "$work/t.topo" --omnipath
	host_command "$host"
	(cd "$work" && exec "${as[@]}" "$fm" -e sm_0 -X "$work/$1.xml" >"$work/fm.out" 2>&1) &
	manager=$!
	pids+=("$manager")
	until_true all_are_set || { fail "$1: opa-fm sets no congestion control"; finish; }
	settings >"$work/$1.its"
	until_true ended || { fail "$1: opa-fm does not sweep"; finish; }
	for t in $types; do
		until_true records_of "$t" || { fail "$1: opa-fm does not answer"; finish; }
		[[ $said == *"LID "* ]] || fail "$1: $t: opa-fm has none"
		printf '%s' "$said" >"$work/$1.$t"
	done
	end_process "$manager"
	stop_simulator
	start_simulator "$work/t.topo" --omnipath
	start_daemon_on "$host" "$1" -F "$work/$1.xml"
	until_true all_are_set || { fail "$1: saguarod sets no congestion control"; finish; }
	same "$1: all nodes hold what opa-fm gives them" "$(cat "$work/$1.its")" "$(settings)"
	for t in $types; do
		until_true records_are "$t" "$(cat "$work/$1.$t")"
		same "$1: $t: as opa-fm" "$(cat "$work/$1.$t")" "$said"
	done
	start_gateway "$1"
	wait_ready
	same "$1: limits of all blocks over HTTP" "$(grep -o 'Max CCTI: [0-9]*' "$work/$1.hficongcon" | sort -u)" \
		"Max CCTI: $(get '/v1/records/HFICongestionControlTableRecord' | jq -r '.records | map(.ccti_limit) | unique[]')"
	end_process "$gateway"
	end_process "$daemon"
	stop_simulator
}

policy usual 1
compare_with_fm usual
policy other 1 -e 's|<Threshold>8</Threshold>|<Threshold>5</Threshold>|' -e 's|<PacketSize>0<|<PacketSize>7<|' \
	-e 's|<MarkingRate>0<|<MarkingRate>300<|' -e 's|<VictimMarkingEnable>1<|<VictimMarkingEnable>0<|' \
	-e 's|<Increase>5<|<Increase>9<|' -e 's|<Timer>10<|<Timer>777<|' -e 's|<Min>0<|<Min>3<|' \
	-e 's|<Limit>127<|<Limit>255<|' -e 's|<DesiredMaxDelay>8300<|<DesiredMaxDelay>4000000<|'
compare_with_fm other

policy off 0
start_simulator "$work/t.topo" --omnipath
start_daemon_on "$host" off -F "$work/off.xml"
until_true log_says off 'a round of' || fail "saguarod does not come up"
same "nothing is set when it is off" "" "$(settings)"
for t in $types; do
	until_true records_of "$t"
	has "$t: none when it is off" "$said" "No Records"
done
end_process "$daemon"
stop_simulator
finish
