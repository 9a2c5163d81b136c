#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# What a path gets: a qos-policy.conf and then virtual fabrics of an opafm.xml decide alike for
# saquery, HTTP and the command line; a policy is read again on SIGHUP, one with errors changes
# nothing; SLs of a policy turn quality of service on.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients saquery smpquery jq curl

tree=$work/tree.topo
"$bin/saguaro" topo ft2 4 2 2 -o "$tree"
host=$(sed -n 's/^Ca[^"]*"\([^"]*\)".*/\1/p' "$tree" | head -n 1)
mapfile -t guid < <(sed -n 's/^caguid=0x\([0-9a-f]*\).*/\1/p' "$tree")
port() { printf '0x%x' $((16#${guid[$1]} + 1)); } # PortGUID of host N
conf=$work/policy.conf

# A policy; the second word is the SL of service 7.
write_policy() {
	cat >"$conf" <<-END
		port-groups
			port-group
				name: targets
				port-guid: $(port 3)
			end-port-group
		end-port-groups
		qos-levels
			qos-level
				name: DEFAULT
				sl: 0
			end-qos-level
			qos-level
				name: small
				sl: $1
				mtu-limit: 2
				rate-limit: 2
				packet-life: 9
			end-qos-level
		end-qos-levels
		qos-match-rules
			qos-match-rule
				service-id: 7, 0x100-0x1ff
				qos-level-name: small
			end-qos-match-rule
		end-qos-match-rules
		qos-ulps
			any, target-port-guid $(port 3) : 5
			sdp : 6
		end-qos-ulps
	END
}

# Three ways to ask for SL, MTU code, rate code and life time of a path from host 0 to host N.
by_mad() { # by_mad N [FLAGS...]
	local to=$1
	shift
	on "$host" saquery PR --sgid "fe80::$(ipv6 0)" --dgid "fe80::$(ipv6 "$to")" "$@" 2>/dev/null |
		awk -F'[.:]+' '/\tsl\./ || /qos_class_sl/ { sl = $NF % 16 } /mtu\./ { m = $NF % 64 }
			/rate\./ { r = $NF % 64 } /pkt_life|packet_life/ { l = $NF % 64; print sl + 0, m, r, l }'
}
ipv6() { printf '%016x' $((16#${guid[$1]} + 1)) | sed 's/..../&:/g; s/:$//'; }
fields='.paths[] | "\(.sl) \(.mtu) \(.rate) \(.packet_life_time)"'
by_http() { # by_http N [PARAMETERS]
	get "/paths?src=$(port 0)&dst=$(port "$1")${2:-}" | jq -r "$fields"
}
by_command() { # by_command N [FLAGS...]
	local to=$1
	shift
	"$bin/saguaro" paths "$(port 0)" "$(port "$to")" --json "$@" | jq -r "$fields"
}

# all WHAT EXPECTED N [SERVICE-ID]: the three agree.
all() {
	same "$1, MAD" "$2" "$(by_mad "$3" ${4:+--service_id "$4"})"
	same "$1, HTTP" "$2" "$(by_http "$3" ${4:+"&service_id=$4"})"
	same "$1, command line" "$2" "$(by_command "$3" ${4:+--service-id "$4"})"
}

# --- qos-policy.conf ----------------------------------------------------------------------------

start_simulator "$tree"
write_policy 3
start_daemon_on "$host" d -Y "$conf"
start_gateway g
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir
plain=$(by_http 1)
mtu=$(cut -d' ' -f2 <<<"$plain")
rate=$(cut -d' ' -f3 <<<"$plain")
all "no rule fits" "0 $mtu $rate 18" 1
all "a service" "3 2 2 9" 1 7
all "in a range" "3 2 2 9" 1 0x1ff
all "beyond it" "0 $mtu $rate 18" 1 0x200
all "a target" "5 $mtu $rate 18" 3
all "sdp" "6 $mtu $rate 18" 1 0x10050
all "a service at the target" "3 2 2 9" 3 7
mask2=$(get /v1/records/ClassPortInfo | jq -r '.records[0].capability_mask2')
same "ClassPortInfo: quality of service is on" 2 $((mask2 & 2))
has "ports have tables" "$(on "$host" smpquery sl2vl "$(get "/paths?src=$(port 0)&dst=$(port 1)" | jq '.paths[0].slid')" 1)" "| 0| 1| 2| 3|"

said_before=$(grep -c 'configuration refused' "$work/d.log")
printf 'qos-levels\nsl: 1\n' >"$conf"
kill -HUP "$daemon"
refused_again() { [ "$(grep -c 'configuration refused' "$work/d.log")" -gt "$said_before" ]; }
holds "a policy with errors is refused" until_true refused_again
has "by file and line" "$(cat "$work/d.log")" "policy.conf:2: "
all "the running one stays" "3 2 2 9" 1 7
write_policy 4
kill -HUP "$daemon"
now_4() { [ "$(by_http 1 "&service_id=7" | cut -c 1)" = 4 ]; }
holds "a good one is taken on SIGHUP" until_true now_4
all "by all three" "4 2 2 9" 1 7
printf 'qos-ulps\nsrp : 1\nend-qos-ulps\n' >"$work/bad.conf"
refuses "saguarod --check" "$bin/saguarod" --check -Y "$work/bad.conf"
has "says where" "$said" "bad.conf:2: error: 'srp': expected default, sdp"
printf 'lmc 1\nqos_policy_file %s\n' "$work/bad.conf" >"$work/opensm.conf"
same "config check: error and place" "2 bad.conf" "$("$bin/saguaro" config check "$work/opensm.conf" --json |
	jq -r '.errors[] | select(.text | test("srp")) | "\(.line) \(.file | split("/") | last)"')"
end_process "$gateway"
end_process "$daemon"

# --- virtual fabrics ----------------------------------------------------------------------------

cat >"$work/opafm.xml" <<END
<?xml version="1.0" encoding="utf-8"?>
<Config><Common>
<DeviceGroups><DeviceGroup><Name>Few</Name><PortGUID>$(port 0)</PortGUID><PortGUID>$(port 1)</PortGUID></DeviceGroup></DeviceGroups>
<Applications>
<Application><Name>Store</Name><ServiceIDRange>0x100-0x1ff</ServiceIDRange></Application>
<Application><Name>Rest</Name><Select>UnmatchedServiceID</Select></Application>
</Applications>
<VirtualFabrics>
<VirtualFabric><Name>All</Name><Enable>1</Enable><PKey>0x1</PKey><Member>All</Member><Application>Rest</Application></VirtualFabric>
<VirtualFabric><Name>Fast</Name><Enable>1</Enable><PKey>0x2</PKey><QOS>1</QOS><BaseSL>4</BaseSL><MaxMTU>1024</MaxMTU>
<MaxRate>10g</MaxRate><PktLifeTimeMult>2</PktLifeTimeMult><Member>Few</Member><Application>Store</Application></VirtualFabric>
</VirtualFabrics>
</Common><Fm><Shared><Name>fm0</Name></Shared></Fm></Config>
END
start_daemon_on "$host" v -F "$work/opafm.xml"
start_gateway w
wait_ready
export SAGUARO_SNAPSHOT_DIR=$run_dir
plain="0 $mtu $rate 18"
holds "the log says that members have the P_Keys" grep -q "2 virtual fabrics; their members have their P_Keys" "$work/v.log"
all "members of one virtual fabric" "$plain" 2
same "members of two" "$plain|4 3 3 19" "$(by_http 1 | paste -sd'|')"
all "its service" "4 3 3 19" 1 0x1ff
all "another service" "$plain" 1 0x200
same "a service without members" policy "$(get "/paths?src=$(port 0)&dst=$(port 2)&service_id=0x100" | jq -r .reason)"
finds_nothing "the same by MAD" "$host" saquery PR --sgid "fe80::$(ipv6 0)" --dgid "fe80::$(ipv6 2)" --service_id 0x100
end_process "$gateway"
end_process "$daemon"
stop_simulator
finish
