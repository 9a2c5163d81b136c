#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026, The Saguaro authors
#
# Random faults in simulated fabrics: the seeds that found a defect once, and SIMULATE_SEEDS
# others. `make simulate SEEDS=N FIRST_SEED=K` runs more.
set -u
simulate=$top_builddir/tests/simulate
status=0
export OMP_NUM_THREADS=1

# 173: a node that goes deaf while it is discovered. 1344: lanes unknown after a restart.
# 2313: a switch goes deaf while tables are sent. 4868: a switch restarts between the
# Get and the Set of its SwitchInfo.
for seed in 173 1344 2313 4868; do
	"$simulate" --first "$seed" --seeds 1 || status=1
done
# 718: P_Keys of a host that lied are read again. 932, 1368: a host lies about its M_Key when
# its port is activated. 502: a switch had the GUIDs of another when its tables were set.
# 3469: a switch comes back with more lanes than the routing has now. 21494: a node falls
# silent that showed the GUID of another. 30156: reads of P_Key tables are lost. 200392: a switch
# seems to have a cable to itself. 501235: a host lies about its VLs.
for seed in 502 718 932 1368 3469 21494 30156 200392 501235; do
	"$simulate" --nonsense --first "$seed" --seeds 1 || status=1
done
# 207679: a switch goes deaf while it is discovered.
"$simulate" --first 207679 --seeds 1 || status=1
# several subnet managers. 2: the port of one does not answer at first. 75: an ACKNOWLEDGE gets
# lost.
for seed in 2 75; do
	"$simulate" --managers 2 --first "$seed" --seeds 1 || status=1
done
# 300500: two parts with a master each are joined. 400035: a handover during the first sweep.
for seed in 300500 400035; do
	"$simulate" --managers 0 --crashes --first "$seed" --seeds 1 || status=1
done
# 20560: the port of the subnet manager falls silent in the first discovery.
"$simulate" --managers 0 --crashes --nonsense --first 20560 --seeds 1 || status=1
# 30327: all tables are asked for while a heavy sweep is at work that was told lies.
"$simulate" --managers 0 --crashes --nonsense --first 30327 --seeds 1 || status=1
# 300600: a master that was cut off comes back when the other one has ended.
"$simulate" --managers 0 --crashes --nonsense --first 300600 --seeds 1 || status=1
# 604892: the switch of the subnet manager restarts while a heavy sweep sets its ports.
"$simulate" --first 604892 --seeds 1 || status=1
# two halves are joined, and the higher master has not found the lower one yet when that hands over
"$simulate" --managers 2 --crashes --first 1001016 --seeds 1 || status=1
"$simulate" --managers 2 --vports --first 1001044 --seeds 1 || status=1
# a master is stopped while packets drain, and a write waits for its answer when it goes on
"$simulate" --managers 2 --freezes --vports --first 1001023 --seeds 1 || status=1
# a cable goes out and in while the ports at its ends are made ARMED
"$simulate" --crashes --managers 0 --first 1003023 --seeds 1 || status=1
# a subnet manager that is stopped does not answer while tables are read from its host
"$simulate" --managers 2 --freezes --crashes --first 2001264 --seeds 1 || status=1
# one that did not take the fabric is master later
"$simulate" --managers 0 --freezes --first 2001563 --seeds 1 || status=1
# a trap reaches the former master, which is standby
"$simulate" --managers 2 --freezes --crashes --first 2001553 --seeds 1 || status=1
# two masters see each other again when a switch between them answers that was silent for long
"$simulate" --managers 2 --first 2001339 --seeds 1 || status=1
"$simulate" --managers 0 --freezes --vports --first 2001332 --seeds 1 || status=1
# the higher master refuses HANDOVER, because its switch was silent and it does not know the fabric
"$simulate" --managers 2 --freezes --first 1003025 --seeds 1 || status=1
# a switch restarts while a port of it has no cable
"$simulate" --first 9106 --seeds 1 || status=1
# a node that answers stays out of the graph, because it shows the GUID of another
"$simulate" --crashes --managers 0 --nonsense --first 7000186 --seeds 1 || status=1
# a switch answers a Set with another speed than it showed before
"$simulate" --nonsense --first 7000397 --seeds 1 || status=1
# SC-to-SC maps of a rule that was left, and a restart with several lanes
"$simulate" --omnipath --crashes --managers 0 --first 7000329 --seeds 1 || status=1
"$simulate" --omnipath --first 100048 --seeds 1 || status=1
# a node that lies refuses its neighbours, and has its records under another GUID
"$simulate" --omnipath --nonsense --first 7000015 --seeds 1 || status=1
"$simulate" --omnipath --nonsense --first 7000446 --seeds 1 || status=1
# a switch is refused over a cable that was looked at before it said what it lacks
"$simulate" --omnipath --nonsense --first 1039 --seeds 1 || status=1
# a node is refused over one end of a cable alone
"$simulate" --omnipath --nonsense --first 232 --seeds 1 || status=1
# a master whose own port was silent for long meets another one
"$simulate" --omnipath --crashes --managers 0 --first 7000597 --seeds 1 || status=1
# a lower master is restarted in the moment when it hands over, and stands by then
"$simulate" --omnipath --crashes --managers 0 --first 301369 --seeds 1 || status=1
# a switch restarts and gets a block while its LinearFDBTop is 0
"$simulate" --congestion --vports --nonsense --first 5107 --seeds 1 || status=1
# several subnet managers with congestion control that crash and are stopped
"$simulate" --congestion --managers 0 --freezes --crashes --first 1050 --seeds 1 || status=1
# LIDs above 0xbfff. 19: a port loses one, which InfiniBand's form of its attributes never showed. 21: a switch lies about
# the end of its tables. 15, with drains: a switch restarts before a Set of its SwitchInfo.
for seed in 19 21; do
	"$simulate" --high-lids --nonsense --first "$seed" --seeds 1 || status=1
done
"$simulate" --high-lids --drains --first 15 --seeds 1 || status=1
# a master that was passed over as standby is master once again
"$simulate" --managers 3 --nonsense --freezes --first 301261 --seeds 1 || status=1
# switches of Omni-Path begin with enforcement of partitions, and an option takes it away
"$simulate" --options --omnipath --first 710114 --seeds 1 || status=1
# a HANDOVER comes while the fabric is discovered; two masters that see each other late
"$simulate" --managers 2 --first 2001060 --seeds 1 || status=1
"$simulate" --managers 2 --first 12027 --seeds 1 || status=1
"$simulate" --first 100000 --seeds "${SIMULATE_SEEDS:-100}" || status=1
"$simulate" --nonsense --first 100000 --seeds "${SIMULATE_SEEDS:-80}" || status=1
"$simulate" --vports --first 100000 --seeds "${SIMULATE_SEEDS:-60}" || status=1
"$simulate" --vports --nonsense --first 100000 --seeds "${SIMULATE_SEEDS:-40}" || status=1
"$simulate" --crashes --managers 0 --first 100000 --seeds "${SIMULATE_SEEDS:-60}" || status=1
"$simulate" --crashes --managers 0 --nonsense --first 100000 --seeds "${SIMULATE_SEEDS:-60}" || status=1
# masters that are stopped while another one takes their place, and go on
"$simulate" --managers 2 --freezes --first 200000 --seeds "${SIMULATE_SEEDS:-60}" || status=1
"$simulate" --crashes --managers 0 --freezes --first 200000 --seeds "${SIMULATE_SEEDS:-30}" || status=1
# fabrics of Omni-Path, whose switches adapt their routes: by themselves, with packets, with others, in bad company
"$simulate" --omnipath --first 100000 --seeds "${SIMULATE_SEEDS:-60}" || status=1
"$simulate" --omnipath --packets --first 100000 --seeds "${SIMULATE_SEEDS:-30}" || status=1
"$simulate" --omnipath --crashes --managers 0 --first 100000 --seeds "${SIMULATE_SEEDS:-30}" || status=1
# an alternate leads to a switch whose host is gone, and to which no packet came before
"$simulate" --omnipath --first 40104 --seeds 1 || status=1
# a switch that lied about its LIDs has a copy of its port groups that is too large
"$simulate" --omnipath --crashes --managers 0 --nonsense --first 40438 --seeds 1 || status=1
# a node that lies brings a cable of which its other end knows nothing
"$simulate" --omnipath --crashes --managers 0 --nonsense --first 60383 --seeds 1 || status=1
# a host of Omni-Path that lied leaves its link with other VLs
"$simulate" --omnipath --nonsense --first 21040 --seeds 1 || status=1
# a standby of Omni-Path hands over to a master whose SMP came over a directed route
"$simulate" --omnipath --managers 2 --freezes --first 5145 --seeds 1 || status=1
# a link restarts after its tables were set and before it is ARMED
"$simulate" --omnipath --nonsense --first 1077 --seeds 1 || status=1
# a switch restarts and gets LinearFDBTop before it is looked at
"$simulate" --omnipath --first 2042 --seeds 1 || status=1
# a port between switches enforces P_Keys until a sweep ends it
"$simulate" --omnipath --nonsense --drains --first 301045 --seeds 1 || status=1
# the routes of another part of the fabric move while a sweep is to set nothing
"$simulate" --omnipath --managers 0 --crashes --freezes --nonsense --drains --first 301307 --seeds 1 || status=1
# a node that is refused stands between two subnet managers
"$simulate" --omnipath --managers 2 --first 301047 --seeds 1 || status=1
# the description of the own host changes before its LID is known again
"$simulate" --omnipath --managers 2 --freezes --first 20743 --seeds 1 || status=1
# a restart after a rule of lanes came and went, after links had to restart for their maps, and with a
# lane that no route has
for seed in 100047 100048 130031; do
	"$simulate" --omnipath --first "$seed" --seeds 1 || status=1
done
# configurations by the seed
"$simulate" --options --first 100000 --seeds "${SIMULATE_SEEDS:-40}" || status=1
"$simulate" --options --omnipath --first 100000 --seeds "${SIMULATE_SEEDS:-40}" || status=1
# the other combinations
while read -r combination; do
	# shellcheck disable=SC2086 # words
	"$simulate" $combination --first 100000 --seeds "${SIMULATE_SEEDS:-6}" || status=1
done <<'E'
--crashes
--crashes --nonsense
--managers 2 --vports
--managers 2 --nonsense
--managers 2 --vports --crashes
--managers 0 --crashes --vports
--managers 2 --freezes --vports
--managers 0 --crashes --freezes --vports
--packets --vports
--packets --managers 2 --freezes
--high-lids
--high-lids --managers 0 --crashes
--congestion
--congestion --nonsense
--congestion --omnipath
--congestion --managers 0 --crashes --freezes
--options --vports
--options --nonsense
--options --drains
--options --managers 0 --crashes
--options --managers 2 --freezes
--options --omnipath --crashes --managers 0
E
# virtual ports that lie are a thousand at a time, which takes seconds
"$simulate" --managers 0 --crashes --nonsense --vports --first 100000 --seeds "${SIMULATE_SEEDS:-2}" || status=1
# a host tells the truth again while its thousand virtual ports are being read
"$simulate" --managers 0 --crashes --nonsense --vports --first 900283 --seeds 1 || status=1

# Packets in the middle of a change. Among some hundred seeds, tables that are sent in any order bring
# a deadlock about: packets wait for each other, or a loop fills all buffers on it. The same seeds
# with tables in stages do not.
said=
for first in 201 801 1 401 601 1001 1201 1401; do
	said=$("$simulate" --packets --any-order --first "$first" --seeds 200)
	"$simulate" --packets --first "$first" --seeds 200 || status=1
	case $said in *"a deadlock of packets"*) break ;; esac
done
case $said in
*"a deadlock of packets"*) ;;
*) echo "any order: a deadlock was expected: $said"; status=1 ;;
esac
"$simulate" --packets --first 100000 --seeds "${SIMULATE_SEEDS:-60}" || status=1
exit $status
