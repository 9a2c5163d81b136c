#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Partition files side by side with OpenSM on the same simulated fabric: the P_Key tables of all
# ports and of the switch ports at hosts, enforcement there, the groups that the files create,
# P_KeyTableRecords, and the PathRecords that a host gets for each P_Key. Each is equal, or the
# file says why not.
# shellcheck source=tests/e2e/lib.sh
. "${srcdir:-.}/tests/e2e/lib.sh"
# shellcheck source=tests/e2e/simulator.sh
. "$here/tests/e2e/simulator.sh"
need_clients opensm saquery smpquery

fabric=$work/fabric.topo
sed 's/4xEDR/4xQDR/' "$here/tests/fabrics/two-switch.topo" >"$fabric"
sm=h1 tenant=h3

# keys: the P_Key at index 0, then the others in order: OpenSM gives new P_Keys their indexes in the
# order of their lower byte first.
keys() { grep -o '0x[0-9a-f]\{4\}' | grep -v 0x0000 | { read -r first && printf '%s %s' "$first" "$(sort | tr '\n' ' ')"; }; }

# port_guid HOST
port_guid() { printf '0x%s' "${guid[$1]}"; }

# look: all that partitions show, as text.
look() {
	local n p
	for n in 0 0,1 0,1,2 0,1,7 0,1,7,1 0,1,7,2; do
		printf 'keys %s: %s\n' "$n" "$(on "$sm" smpquery -D pkeys "$n" 2>/dev/null | keys)"
	done
	for n in 0,1 0,1,7; do
		for p in 1 2; do
			printf 'switch %s port %s: %s %s\n' "$n" "$p" "$(on "$sm" smpquery -D pkeys "$n" "$p" 2>/dev/null | keys)" \
				"$(on "$sm" smpquery -D portinfo "$n" "$p" 2>/dev/null | sed -n 's/^PartEnforce\(...\).*:\.*/\1 /p' | tr '\n' ' ')"
		done
	done
	# MLIDs are given in another order
	on "$sm" saquery MCMR 2>/dev/null | grep -vE 'PortGid|mlid|Mlid|dump' | tr -d '\t' | paste -sd' ' | sed 's/MGID/\nMGID/g' |
		sed 's/\.\.*/ /g; s/ *$//' | sort
	for n in h1 h2 h3 h4; do
		printf 'record of %s: %s\n' "$n" "$(on "$sm" saquery --smkey 1 PKTR "${lid[$n]}" 2>/dev/null | keys)"
	done
	for p in 0x7fff 0xffff 0x8010 0x0020 0x8030; do
		printf 'path %s: %s\n' "$p" "$(on "$tenant" saquery PR --slid "${lid[h3]}" --dlid "${lid[h4]}" --pkey "$p" 2>&1 |
			grep -E 'pkey|sl\.|SL' | tr -s '.\n\t' ' ')"
		printf 'path to h2 %s: %s\n' "$p" "$(on "$tenant" saquery PR --slid "${lid[h3]}" --dlid "${lid[h2]}" --pkey "$p" 2>&1 |
			grep -E 'pkey|sl\.|SL' | tr -s '.\n\t' ' ')"
	done
}

# settled: the LIDs of the hosts are known.
read_lids() {
	local h
	declare -gA lid
	for h in "${!route[@]}"; do
		lid[$h]=$(on "$sm" smpquery -D portinfo "${route[$h]}" 2>/dev/null | sed -n 's/^Lid:\.*//p')
	done
}

declare -A guid route=([h1]=0 [h2]=0,1,2 [h3]=0,1,7,1 [h4]=0,1,7,2)
start_simulator "$fabric"
for h in h1 h2 h3 h4; do
	guid[$h]=$(on "$sm" smpquery -D nodeinfo "${route[$h]}" | sed -n 's/^PortGuid:\.*0x//p')
done
stop_simulator

# compare NAME [SED]: the file on standard input, with GUIDs in place of h1 ... h4, no file if it is
# empty; SED makes
# OpenSM's answers into ours where they are meant to differ.
compare() {
	local name=$1 h file=(-P "$work/$1.conf")
	cat >"$work/$name.conf"
	[ -s "$work/$name.conf" ] || file=()
	for h in h1 h2 h3 h4; do sed -i "s/\\b$h\\b/$(port_guid "$h")/g" "$work/$name.conf"; done
	start_simulator "$fabric"
	start_opensm_on "$sm" "osm-$name" "${file[@]}" ${both:+-W}
	opensm_settles "osm-$name"
	read_lids
	# OpenSM answers with the P_Key as asked for, saguarod with the full one of two full members.
	look | sed '/^path/s/pkey 0x7FFF/pkey 0xFFFF/;'"${2:-}" | sort >"$work/$name.opensm"
	end_process "$opensm"
	stop_simulator
	start_simulator "$fabric"
	start_daemon_on "$sm" "d-$name" "${file[@]}" ${both:+-W} --routing_engine minhop
	until_true log_says "d-$name" 'SUBNET UP' || { fail "$name: saguarod does not come up"; finish; }
	read_lids
	look | sort >"$work/$name.saguaro"
	end_process "$daemon"
	stop_simulator
	if diff "$work/$name.opensm" "$work/$name.saguaro" >"$work/$name.diff"; then
		ok "$name: $(wc -l <"$work/$name.saguaro") lines are equal"
	else
		fail "$name"
		cat "$work/$name.diff"
	fi
}

both=
# Switches enforce the default partition, too.
[ -e /etc/opensm/partitions.conf ] || compare no-file </dev/null
compare default <<'END'
Default=0x7fff,ipoib:ALL=full;
END
# The port of the subnet manager is a full member of the default partition, the others are limited.
compare no-rule <<'END'
Other=0x40 : h2=full, h4 ;
END
compare manual <<'END'
Default=0x7fff : ALL, SELF=full ;
Default=0x7fff : ALL, ALL_SWITCHES=full, SELF=full ;

NewPartition=0x10 , ipoib : h3=full, h4=limi, 0x2134af2306 ;

YetAnotherOne = 0x300 : SELF=full ;
YetAnotherOne = 0x300 : ALL=limited ;

ShareIO = 0x80 , defmember=full : h1, h2;
# h3 and h4 will be limited
ShareIO = 0x80 : h3, h4, 0x123455=full;
ShareIO = 0x80 , defmember=full : h2=limited, 0x12345d;
END
compare manual-groups <<'END'
Default=0x7fff,ipoib:
       mgid=ff12:401b::0707,sl=1 # random IPv4 group
       mgid=ff12:601b::16    # MLDv2-capable routers
       mgid=ff12:401b::16    # IGMP
       mgid=ff12:601b::2     # All routers
       mgid=ff12::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2 # random group
       ALL=full;
END
compare tenants <<'END'
Default=0x7fff : ALL=limited, SELF=full ;
Red=0x10,ipoib,rate=7,mtu=5 : h1=full, h3=full, h4=full ;
Blue=0x20,ipoib : h2=full, h3=limited, h4=limited ;
END
compare index0 <<'END'
Default=0x7fff : ALL=full ;
First=0x30,indx0 : ALL_CAS=full ;
Later=0x31,indx0 : h2=full ;
END
compare names <<'END'
Default : ALL=full ;
A : ALL_CAS=full ;
0x31 : h3=full ;
=0x6 : ALL_SWITCHES=full ;
B=0x32 : h2=full ;
B : h3 ;
A2=0x8005 : ALL ;
END
compare flags <<'END'
Default=0x7fff,ipoib : ALL=full ;
A=0x21,ipoib,sl=3,Q_Key=0x1234,TClass=3,FlowLabel=7 : ALL=full ;
H=0x28 : mgid=ff1e::99,scope=5,scope=8
 ALL=full ;
END
compare last-counts <<'END'
Default=0xffff : ALL=full, h4=limited ;
A=0x10 : ALL=full, h3=limited, h4=both ;
A=0x10,defmember=full : h3 ;
END
both=1
compare both <<'END'
Default=0x7fff : ALL=both, SELF=full ;
A=0x10 : h2=both, h3=full, h3=both, h4=both, h4=limited ;
B=0x11 : ALL=limited, h2=full ;
C=0x12,indx0 : ALL=full ;
END

# A file with a mistake: OpenSM makes every port a full member, saguarod does not start.
printf 'A=0x10 : 0x1 0x2 ;\n' >"$work/wrong.conf"
printf 'partition_config_file %s\n' "$work/wrong.conf" >"$work/wrong-file.conf"
"$bin/saguarod" --check -F "$work/wrong-file.conf" >"$work/wrong.out" 2>&1
same "a file with a mistake is refused" 2 "$?"
has "it says where" "$(cat "$work/wrong.out")" "$work/wrong.conf:1: error:"
finish
