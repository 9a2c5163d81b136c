/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/mad/transport.h"

struct arena;
struct graph;

/*!
 * An in-process fabric made from a graph. Every node answers SMPs like a management agent
 * (NodeDescription, NodeInfo, SwitchInfo, GUIDInfo, PortInfo, P_KeyTable, SLtoVL,
 * VLArbitration, LFT, virtual ports; directed and LID routed; hop by hop over the cables that are up). It
 * stores what is Set, raises PortStateChange and traps 128 and 144 on changes, and counts
 * packets (PerfMgt). SA MADs between clients and the SM follow the programmed LFTs, so that a
 * wrong table has an effect. For real programs on its hosts see sa/sim/sim_kernel.h and
 * sa/sim/sim_server.h.
 *
 * What ports show: capabilities as in the graph; CapabilityMask only on end ports (that of a
 * switch covers the speeds of all its ports); extended speeds in LinkSpeedExtActive, beside
 * LinkSpeedActive 10 Gb/s as on hardware; XDR in the second set of extended speeds (see
 * PI_LINK_SPEED_EXT_ACTIVE_2); FDR10, which is vendor-specific, as QDR. After power-on
 * NeighborMTU is at most 2048, OperationalVLs equals VLCap, PortStateChange is set.
 *
 * The clock is virtual (tests: recv advances it to the next event or the deadline) or real.
 * Faults are parameters and drawn from a seed; the same seed gives the same run.
 */
struct sim_options {
	bool virtual_clock;
	uint32_t seed;
	uint32_t drop_ppm;       /*!< SMPs lost, per million */
	uint32_t delay_us;       /*!< per hop (virtual clock only) */
	/*! In which the processor of a node handles one SMP, the next one waits: at each switch that a
	 *  directed route leads through, and at the node that answers (virtual clock only). */
	uint32_t smp_us;
	bool no_mixed; /*!< SMPs whose directed part begins at a LID are dropped, as by ibsim */
	uint64_t sm_port_guid;   /*!< 0: graph.sm_port */
	uint8_t guid_cap;        /*!< GUIDCap: GUIDs of an end port, 0: 8 */
	/*! Nodes are Omni-Path devices (sa/sim/opa/opa_device.h), which answer SMPs of class version
	 *  0x80 beside those of InfiniBand. */
	bool omni_path;
	uint32_t
		lft_cap; /*!< LinearFDBCap of Omni-Path switches for which the graph says none; 0: 0xC000 */
	uint16_t
		vport_cap; /*!< virtual ports of each port of a channel adapter, 0: none */
	bool slvl_one_by_one; /*!< switches do not support one Set for several SL-to-VL tables */
};

/*!
 * What happens to some MADs between the nodes and the SM, per million. Late MADs are overtaken by
 * others. A request that is late or duplicate takes effect when it arrives.
 */
struct sim_noise {
	uint32_t duplicate_ppm;       /*!< requests and responses that arrive a second time, late */
	uint32_t delay_ppm;           /*!< responses and traps that are late */
	uint32_t request_delay_ppm;   /*!< requests that are late */
	uint32_t delay_us;            /*!< at most so late */
	uint32_t corrupt_ppm;         /*!< responses and traps with one to three bits flipped */
	uint32_t request_corrupt_ppm; /*!< the same of requests: a Set may store nonsense */
};

struct sim;

/*! \brief New simulated fabric. All ports start INIT without LIDs unless \a keep_lids (as found in the graph). */
int sim_new(const struct graph *g, const struct sim_options *o, bool keep_lids,
            struct sim **ret_sim);
void sim_free(struct sim *s);

/*! \brief Transport at the SM's port. Owned by the sim: close() only detaches, so that a new SM can attach (restart test). */
struct transport *sim_transport(struct sim *s);

/* Faults and changes; each may be called between two recv calls of the same thread. */
int sim_set_link(struct sim *s, uint64_t node_guid, uint8_t port, bool up); /*!< both ends */
/*! \brief Makes the cable train with one lane; sim_set_link() makes it whole again. */
int sim_wear_link(struct sim *s, uint64_t node_guid, uint8_t port);
int sim_set_node(struct sim *s, uint64_t node_guid, bool up);               /*!< all its cables */
int sim_set_deaf(struct sim *s, uint64_t node_guid, bool deaf);             /*!< links stay up and forward MADs; the node answers none */
/*! \brief Requests and answers of class SMP that move by LID get lost in the node, also its own;
 *  traps do not. */
int sim_set_directed(struct sim *s, uint64_t node_guid, bool directed);
int sim_reboot(struct sim *s, uint64_t node_guid);                          /*!< loses LIDs and tables; ports are INIT */
int sim_set_description(struct sim *s, uint64_t node_guid, const char *text); /*!< NodeDescription; trap 144 */

void sim_set_drop(struct sim *s, uint32_t ppm); /*!< as sim_options.drop_ppm */
/*! \brief Half of the answers of the node have a random status or random bytes. Its tables
 * stay as they were Set. */
int sim_set_hostile(struct sim *s, uint64_t node_guid, bool hostile);
/*!
 * Virtual ports of a channel adapter's port, as of SR-IOV. Index 0 is the port itself; others have
 * a GUID, a virtual node and a description of their own. They are DOWN until the SM enables
 * virtual ports and the link is up, then INIT until the SM activates them.
 */
/*! \brief Adds one at the lowest free index. A port that cannot have any restarts its link with
 *         room for 64. \param guid  0: one is made up. \retval E_NOTFOUND E_FULL E_DUPLICATE
 *         \retval E_UNSUITABLE  No channel adapter. */
int sim_vport_add(struct sim *s, uint64_t node_guid, uint8_t port, uint64_t guid,
                  bool own_lid, uint16_t *ret_index);
int sim_vport_remove(struct sim *s, uint64_t node_guid, uint8_t port, uint16_t index);
int sim_vport_set_guid(struct sim *s, uint64_t node_guid, uint8_t port, uint16_t index,
                       uint64_t guid);

enum sim_vport_lie {
	SIM_VPORT_TRUTH,
	SIM_VPORT_MANY,    /*!< it has 10,000 */
	SIM_VPORT_CHANGES, /*!< VPortStateChange cannot be cleared */
	SIM_VPORT_NONSENSE /*!< all answers about virtual ports are random bytes */
};
int sim_vport_lie(struct sim *s, uint64_t node_guid, uint8_t port,
                  enum sim_vport_lie lie);

/*! \brief Lets the link of an Omni-Path port run on fewer lanes, without going down; 4: on all.
 *  \retval E_UNSUITABLE  It is not up, or may not. */
int sim_set_lanes(struct sim *s, uint64_t node_guid, uint8_t port, unsigned lanes);
/*! \brief Lets an Omni-Path node or port say something else of itself. \param name  "NodeGUID", "NumPorts",
 *  "PartitionCap", "LinearFDBCap", "MTUCap" (as a code), "VLCap", "PacketFormats" (bits),
 *  "NeighborFWAuthBypass"; "CableTemperature": its cable is optical. \retval E_NOTFOUND \retval E_UNKNOWN  No such field, or no Omni-Path. */
int sim_opa_lie(struct sim *s, uint64_t node_guid, uint8_t port, const char *name,
                uint64_t value);
/*! \brief Raises a counter of an Omni-Path port. \param name  As opapmaquery calls it: "RcvErrors".
 *  \retval E_NOTFOUND \retval E_UNKNOWN  No such counter, or no Omni-Path. */
int sim_opa_count(struct sim *s, uint64_t node_guid, uint8_t port, const char *name,
                  uint64_t n);
/*! \brief So much of the buffers of an Omni-Path switch's port is in use, which adaptive routing looks
 *  at. \retval E_NOTFOUND \retval -ENOMEM */
int sim_opa_congest(struct sim *s, uint64_t node_guid, uint8_t port, unsigned percent);

/*! Congestion control of InfiniBand (IBA vol. 1, annex A10). Bytes of the attributes, and how many blocks the
 *  agents have of them. */
enum {
	SIM_CC_SWITCH_BYTES = 76,
	SIM_CC_PORT_BYTES = 128,
	SIM_CC_PORT_BLOCKS = 8,
	SIM_CC_CA_BYTES = 132,
	SIM_CC_TABLE_BYTES = 132,
	SIM_CC_TABLE_BLOCKS = 2
};
/*! \brief Lets the agents of a node answer class 0x21, as they do at first, or not. */
int sim_congestion_set(struct sim *s, uint64_t node_guid, bool on);
/*! \brief An attribute as a port holds it. \return NULL: it has none, or nothing was Set since power-on. */
const uint8_t *sim_congestion_held(const struct sim *s, uint64_t node_guid, uint8_t port,
                                   uint16_t attr, uint32_t mod);
uint64_t sim_congestion_key(const struct sim *s, uint64_t node_guid, uint8_t port); /*!< CC_Key */
uint64_t sim_congestion_requests(const struct sim *s); /*!< that reached an agent */

/*! Port counters of class PerfMgt. */
/*! \brief Raises a counter. \param name  As perfquery prints it: "SymbolErrorCounter".
 *  \retval E_NOTFOUND  No such port. \retval E_UNKNOWN  No such counter. */
int sim_perf_add(struct sim *s, uint64_t node_guid, uint8_t port, const char *name, uint64_t n);
/*! \brief Lets a counter rise all the time, while the link is up; a port has one such counter. \param per_s  0: it
 *  ends. As sim_perf_add(). */
int sim_perf_errors(struct sim *s, uint64_t node_guid, uint8_t port, const char *name,
                    double per_s);
/*! \brief From now on a port sends so many octets per second over its cable. */
int sim_perf_traffic(struct sim *s, uint64_t node_guid, uint8_t port, uint64_t bytes_per_s);
/*! \brief Name of a counter. \return NULL: there are no more. */
const char *sim_perf_name(unsigned i);
/*! \brief What all agents say that they can do: CapabilityMask and CapabilityMask2 of ClassPortInfo. */
void sim_perf_set_caps(struct sim *s, uint16_t mask, uint32_t mask2);

/*!
 * \brief Each host's port sends a data packet to the LID of each other one, over the tables as they stand, in
 *        the default partition.
 * \param ret_lost  Of them, that did not arrive.
 * \return Packets that were sent. Hosts without a LID or an ACTIVE port send none and get none.
 */
uint64_t sim_send_packets(struct sim *s, uint64_t *ret_lost);
/*! \brief For tests: number of requests that the SM sent, by (method, attribute), with retries, also those in an Aggregate of Omni-Path; attributes from 0x40 on share one counter, but for those of virtual ports. */
uint64_t sim_count(const struct sim *s, uint8_t method, uint16_t attr);
/*! \brief Increases with every change that a Get of an attribute shows. */
uint64_t sim_changes(const struct sim *s);
