/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <infiniband/umad_sm.h>

#include "conf/base/hash.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/mad_buf.h"
#include "sa/mad/transport.h"
#include "sa/mad/wakeup.h"
#include "sa/sim/opa/opa_device.h"
#include "sa/sim/opa/opa_fields.h"
#include "sa/sim/sim.h"

/*!
 * State of the simulated fabric, for the files of this folder only. sim.lock guards everything here; only
 * the functions of sa/sim/sim.h and those of the transport lock it.
 */

/* PortInfo.PortPhysicalState */
enum { PHYS_SLEEP = 1, PHYS_POLLING = 2, PHYS_DISABLED = 3, PHYS_LINK_UP = 5 };

/* PortInfo.CapabilityMask and CapabilityMask2 */
enum {
	CAP_SM = 1 << 1,
	CAP_NOTICE = 1 << 2,
	CAP_TRAP = 1 << 3,
	CAP_SL_MAPPING = 1 << 6,
	CAP_SYSTEM_IMAGE_GUID = 1 << 11,
	CAP_EXTENDED_SPEEDS = 1 << 14,
	CAP_CAPABILITY_MASK2 = 1 << 15,
	CAP_COMMUNICATION_MANAGEMENT = 1 << 16,
	CAP_CAPABILITY_MASK_NOTICE = 1 << 22,
	CAP_CLIENT_REREGISTRATION = 1 << 25,
	CAP_OTHER_LOCAL_CHANGES_NOTICE = 1 << 26,
	CAP2_LINK_WIDTH_2X = 1 << 4,
	CAP2_LINK_SPEED_HDR = 1 << 5,
	CAP2_LINK_SPEED_NDR = 1 << 10,
	CAP2_EXTENDED_SPEEDS2 = 1 << 11,
	CAP2_LINK_SPEED_XDR = 1 << 12
};

enum {
	LID_PERMISSIVE = 0xFFFF,
	LID_UNICAST_END = 0xC000,
	LFT_NO_ROUTE = 0xFF,
	LFT_BLOCK = 64,     /* entries of one block */
	PKEY_BLOCK = 32,    /* P_Keys of one block */
	GUID_BLOCK = 8,     /* GUIDs of one block */
	PARTITION_CAP = 64, /* of nodes whose topology file does not say */
	MULTICAST_FDB_CAP = 1024,
	SIM_TRAP_COUNT = 5
};

/*! Port counters (IBA vol. 1, 16.1), in the order of the table in sim_perf.c. */
enum {
	SIM_XMIT_DATA, /* data in units of 4 octets */
	SIM_RCV_DATA,
	SIM_XMIT_PKTS,
	SIM_RCV_PKTS,
	SIM_COUNTERS = 24
};

struct sim_perf {
	uint64_t count[SIM_COUNTERS]; /*!< what there was since it was last cleared */
	uint64_t rate;                /*!< octets per second that the port sends */
	uint64_t sent_us, received_us; /*!< until when traffic is counted */
	uint64_t erred_us;             /*!< the same of errors */
	double errors_per_s;           /*!< by which the counter \a errs rises; 0: it does not */
	double errors_left;            /*!< less than one error that is not counted yet */
	uint8_t errs;
};

/*! A virtual port. */
struct sim_vport {
	bool there;
	uint8_t state; /*!< ARMED or ACTIVE as Set while ports.ups was ups; 0: not yet */
	uint32_t ups;
	uint8_t info[SMP_DATA_BYTES]; /*!< VPortInfo without the state */
	uint64_t node_guid;
};

/*! The virtual ports of a port. Index 0 is the port itself. */
struct sim_virtual {
	uint16_t cap;
	bool enabled, changed;
	uint8_t lie;             /*!< enum sim_vport_lie */
	uint32_t cleared_ups;    /*!< ports.ups when VPortStateChange was cleared */
	struct sim_vport *vport; /*!< [cap] */
};

struct sim_port {
	uint8_t info[SMP_DATA_BYTES]; /*!< PortInfo as a Get shows it */
	uint32_t client;              /*!< index in sim.clients + 1, 0: nobody listens */
	bool cut;                     /*!< cable pulled by sim_set_link() */
	bool one_lane;                /*!< cable worn by sim_wear_link() */
	bool disabled;                /*!< PortPhysicalState set to Disabled or Sleep */
	bool up;                      /*!< the cable carries MADs */
	uint32_t ups;                 /*!< how often that changed */
	uint64_t lease_end_us; /*!< of the M_Key; 0: no wrong one was met since the right one */
	struct sim_perf perf;
	struct sim_virtual *virtual_ports; /*!< NULL: it cannot have any */
	struct sim_congestion *congestion; /*!< see sim_congestion.c; NULL: nothing was Set */
};

/*! A trap that was raised and not yet repressed. */
struct sim_trap {
	uint64_t tid;
	uint32_t timer; /*!< number of the valid timer; older ones in the queue are ignored */
	uint8_t left;   /*!< remaining sends, 0: not pending */
	bool description; /*!< 144: NodeDescriptionChange, else the CapabilityMask */
};

struct sim_node {
	uint8_t *lft; /*!< [lft_len] grown by blocks; beyond: no route */
	uint32_t lft_len;
	uint32_t life; /*!< number of boots; payloads stored before the last boot are void */
	uint64_t busy_us; /*!< until when its processor handles SMPs (sim_options.smp_us) */
	bool down, deaf;
	bool directed;  /*!< SMPs by LID get lost in it; traps do not */
	bool hostile;   /*!< half of its answers are nonsense */
	bool no_congestion; /*!< it does not answer MADs of congestion control */
	uint32_t guids; /*!< index + 1 of the node whose GUIDs it shows, 0: its own */
	uint8_t sw_info[SMP_DATA_BYTES];       /*!< SwitchInfo */
	struct sim_trap traps
		[SIM_TRAP_COUNT]; /*!< 128, 144, 1146, width of Omni-Path, M_Key */
};

/*! An event at some time. */
enum sim_event_kind {
	EVENT_MAD,   /*!< msg reaches the programs at port */
	EVENT_SEND,  /*!< msg, a late request, leaves port */
	EVENT_TRAP,  /*!< trap number trap of node is due */
	EVENT_ADAPT, /*!< the adaptive routing of node is due */
	EVENT_TIMER  /*!< one of the receiver's: id, timer */
};

struct sim_event {
	uint64_t at_us, seq; /*!< the order of events */
	struct mad_buf *msg;
	union {
		uint32_t port; /*!< an end port */
		uint32_t node;
		uint32_t id;
	};
	uint32_t timer; /*!< number of the valid timer */
	uint8_t kind;   /*!< enum sim_event_kind */
	uint8_t trap;   /*!< index in traps */
};

/*!
 * Receives the MADs for programs at all end ports, instead of the one SM of the transport.
 * sim_step() calls it with the lock held; take() takes over the message.
 */
struct sim_receiver {
	void (*take)(void *ctx, uint32_t port, struct mad_buf *m);
	void (*timer)(void *ctx, uint32_t id, uint32_t timer);
};

/*! A program on a host. */
struct sim_client {
	uint32_t port;
	struct mad_list waiting;
	struct mad_buf *held; /*!< borrowed by the client */
};

/*! A payload that was Set, of an attribute that is rarely Set: P_Keys, SLtoVL, ... */
struct sim_stored {
	uint32_t port, mod; /*!< port index; the node's first port for attributes of the node */
	uint32_t life;      /*!< of the node */
	uint32_t stamp;     /*!< the newer the higher */
	uint16_t attr;
	uint8_t data[SMP_DATA_BYTES];
};

/*! A Set of congestion control that reached an end port. */
struct sim_cc_set {
	uint32_t port;
	uint8_t mad[MAD_BYTES]; /*!< without its transaction ID */
};

enum { SIM_METHODS = 8, SIM_ATTRS = 0x40, SIM_VPORT_ATTRS = 7 };

/*! Column of sim.counts: attributes below SIM_ATTRS, those of virtual ports, all others. */
static inline unsigned sim_count_column(uint16_t attr)
{
	unsigned vport = (unsigned)attr - VPORT_ATTR_VIRTUALIZATION_INFO;

	return attr < SIM_ATTRS          ? attr
	       : vport < SIM_VPORT_ATTRS ? SIM_ATTRS + vport
	                                 : SIM_ATTRS + SIM_VPORT_ATTRS;
}

struct sim {
	struct transport transport; /* first: the transport's functions cast back */
	const struct graph *g;
	struct sim_options o;
	struct sim_noise noise;
	pthread_mutex_t lock;
	struct wakeup wakeup;
	struct sim_port *ports; /*!< like graph.ports */
	struct sim_node *nodes; /*!< like graph.nodes */
	uint32_t sm_port;

	struct sim_opa *opa; /*!< [n_nodes] Omni-Path devices, NULL: InfiniBand only */

	uint64_t now_us; /*!< virtual clock */
	uint32_t perf_caps, perf_caps2; /*!< CapabilityMask and CapabilityMask2 of class PerfMgt */
	uint64_t seq;
	uint64_t rng;
	uint64_t tid;   /*!< of traps */
	uint32_t timer; /*!< number of the last trap timer */

	struct sim_event *heap; /*!< [n_events] binary heap, earliest first */
	size_t n_events, cap_events;
	struct mad_pool pool;
	struct mad_buf *held; /*!< borrowed by the caller of the last recv */
	const struct sim_receiver *receiver; /*!< NULL: the SM's transport and clients */
	void *receiver_ctx;
	struct sim_ports *several; /*!< transports at several ports; malloc, NULL: none */

	struct sim_stored *stored; /*!< [n_stored] */
	struct hash_table stored_at;
	uint32_t n_stored;
	size_t cap_stored;
	uint32_t stamp; /*!< of the last one stored */
	struct sim_client *clients;
	uint32_t n_clients;
	size_t cap_clients;

	struct sim_cc_set *cc_sets; /*!< [n_cc_sets] the first ones of congestion control */
	uint32_t n_cc_sets;
	size_t cap_cc_sets;
	uint64_t cc_requests; /*!< of congestion control that reached an agent */

	uint64_t counts[SIM_METHODS][SIM_ATTRS + SIM_VPORT_ATTRS + 1];
	int64_t n_more; /*!< how many more these are than MADs, because an Aggregate has several */
	uint64_t bounces;
	uint64_t changes; /*!< of anything that a Get shows */
};

/*! Where a MAD is on its route. */
struct sim_at {
	uint32_t node;
	uint8_t port; /*!< ingress port; at the start the sender's port, 0 of a switch */
	unsigned hops; /*!< cables passed */
	uint64_t late_us; /*!< time that processors of nodes took, beside that of the hops */
	bool smp;         /*!< a request or an answer of class SMP; no trap of a node */
	uint16_t p_key;   /*!< of the sender, on an Omni-Path fabric */
	uint32_t slid; /*!< of what moves by LID; 0: permissive, or nobody looks at it */
};

/*! An Omni-Path device, and whose it is. */
struct sim_opa {
	struct opa_device *device;
	struct sim *s;
	uint32_t node;
	uint8_t violation[64]; /*!< header of the request with a wrong M_Key */
	uint8_t *percent;      /*!< [n_ports + 1] buffers in use, NULL: none anywhere */
	bool adapts;           /*!< an event is in the queue */
	bool infiniband; /*!< an SM of InfiniBand was the last one that Set something */
	uint8_t reason, reason_port; /*!< LinkDownReason of an order of the SM; 0: none */
};

static inline uint32_t sim_port_index(const struct sim *s, uint32_t node, unsigned num)
{
	return s->g->nodes[node].first_port + num;
}

static inline bool sim_is_switch(const struct sim *s, uint32_t node)
{
	return s->g->nodes[node].type == NODE_SWITCH;
}

/*! \brief GUIDCap of every end port. */
static inline unsigned sim_guid_cap(const struct sim *s)
{
	return s->o.guid_cap != 0 ? s->o.guid_cap : GUID_BLOCK;
}

/*! \brief End port at which a MAD is: port 0 of a switch, else the port it came in by. */
static inline uint32_t sim_end_port(const struct sim *s, const struct sim_at *at)
{
	return sim_port_index(s, at->node, sim_is_switch(s, at->node) ? 0 : at->port);
}

/* sim_queue.c: clock, events, message pool */
int sim_queue_init(struct sim *s);
void sim_queue_done(struct sim *s);
int sim_event_add(struct sim *s, const struct sim_event *e, uint64_t delay_us);
/*! \brief Removes the earliest event; there is one. */
struct sim_event sim_event_pop(struct sim *s);
bool sim_event_is_due(const struct sim *s); /*!< whether the earliest event is due */
void sim_event_drop_mads(struct sim *s);    /*!< removes all arrivals of MADs */
uint64_t sim_now_us(const struct sim *s);
/*! \brief Time of the next event, UINT64_MAX: none. */
uint64_t sim_next_us(const struct sim *s);

/* sim_transport.c: the transport's functions */
extern const struct transport_ops sim_ops;
/*! \brief Handles the next event that is due. The virtual clock advances to it, but not beyond
 * \a deadline_us. For a sim with a receiver. \return false: no event was due. */
bool sim_step(struct sim *s, uint64_t deadline_us);

/* sim_transport.c: a request of the SM at a port. \retval -EINVAL \retval -ENOMEM */
int sim_send_from(struct sim *s, uint32_t port, const struct mad_msg *m);

/* sim_walk.c: how a MAD moves from node to node */
enum { SIM_MANAGEMENT = 0 /* P_Key of packets that have none */ };
/*! \brief Walks by LFTs to the owner of \a dlid. \a p_key: of a data packet, which goes by the
 * rules of data VLs; SIM_MANAGEMENT: by those of VL 15. \return false: it does not arrive. */
bool sim_walk_lid(struct sim *s, struct sim_at *at, uint32_t dlid, uint16_t p_key);
/*! \brief The processor of the node handles an SMP. */
void sim_handle_smp(struct sim *s, struct sim_at *at);
/*! \brief Walks the initial path of an SMP and fills its return path. */
bool sim_walk_initial_path(struct sim *s, struct sim_at *at, uint8_t *mad);
/*! \brief Walks the return path of an SMP, from its end to its start. */
bool sim_walk_return_path(struct sim *s, struct sim_at *at, uint8_t *mad);

/* sim_route.c: sending */
/*! \brief Sends a MAD from an end port to m->addr. Programs there get it by sim_deliver() with
 * the sender's address. Takes m. */
void sim_send_mad(struct sim *s, uint32_t from, struct mad_buf *m);

/* sim_fault.c: what goes wrong with MADs */
bool sim_lost(struct sim *s); /*!< draws whether a MAD is lost (drop_ppm) */
/*! \brief Faults of a request of the SM at port \a from. \return true: it is sent later; \a m is taken. */
bool sim_fault_request(struct sim *s, uint32_t from, struct mad_buf *m);
/*! \brief Faults of a MAD that arrives. \a ret_twin: a duplicate that arrives \a
 * ret_twin_us later still, or NULL. \return Microseconds by which \a m is late. */
uint64_t sim_fault_arrival(struct sim *s, struct mad_buf *m, struct mad_buf **ret_twin,
                           uint64_t *ret_twin_us);
/*! \brief Spoils an answer of a node that is hostile. */
void sim_fault_answer(struct sim *s, uint32_t node, struct mad_buf *m);

/* sim_pkey.c: P_Key tables */
unsigned sim_partition_cap(const struct node *n);
/*! \brief Does the node appear as an Omni-Path host? */
bool sim_is_omni_path(const struct sim *s, uint32_t node);
/*! \brief First block after power-on: full member of the default partition, and on Omni-Path
 * hosts also limited member, which Omni-Path's tools use. \a block is zeros. */
void sim_pkey_default(const struct sim *s, uint32_t node, uint8_t *block);
/*! \brief P_Key of an end port by index, 0: there is none. */
uint16_t sim_pkey_at(struct sim *s, uint32_t port, unsigned index);
/*! \brief Index of the P_Key that \a pkey can talk to: the same partition, not both limited
 * members. \return -1: none. */
int sim_pkey_find(struct sim *s, uint32_t port, uint16_t pkey);
/*! \brief Index of the P_Key that a packet came with on Omni-Path: of exactly that one if the table has it, else
 * of one that matches. */
uint16_t sim_pkey_index(struct sim *s, uint32_t port, uint16_t pkey);
unsigned sim_pkey_cap(const struct sim *s, uint32_t port);

/* sim_node.c: the management agent */
/*! \brief Answers the SMP in place. \return false: no answer. */
bool sim_agent(struct sim *s, const struct sim_at *at, uint8_t *mad);
/*! \brief One attribute. \return MAD status. */
uint16_t sim_attr(struct sim *s, const struct sim_at *at, bool set, uint16_t attr,
                  uint32_t mod, uint8_t *data);
void sim_node_reset(struct sim *s,
                    uint32_t node); /*!< as after power-on; links are not touched */

/* sim_store.c: payloads that were Set and have no field of their own */
/*! \brief Stored payload or NULL. */
uint8_t *sim_stored_find(struct sim *s, uint32_t port, uint16_t attr, uint32_t mod);
int sim_stored_put(struct sim *s, uint32_t port, uint16_t attr, uint32_t mod,
                   const uint8_t *data);
/*! \brief When it was stored: higher is newer; 0: it was not. */
uint32_t sim_stored_stamp(const struct sim *s, uint32_t port, uint16_t attr,
                          uint32_t mod);

/* sim_port.c: PortInfo */
void sim_port_reset(struct sim *s, uint32_t port);
uint16_t sim_port_set(struct sim *s, uint32_t port, const uint8_t *in);

/* sim_link.c: cables and traps */
void sim_link_update(struct sim *s, uint32_t port); /*!< up or down, by the state of both ends */
void sim_link_bounce(struct sim *s, uint32_t port); /*!< down, and up again if it may */
void sim_trap_raise(struct sim *s, uint32_t node,
                    unsigned trap); /*!< 0: 128, 1: 144, 2: 1146 */
/*! \brief Sets IsSM of an end port. A change raises trap 144 if \a tell. */
void sim_port_issm(struct sim *s, uint32_t port, bool on, bool tell);
void sim_trap_due(struct sim *s, uint32_t node, unsigned trap, uint32_t timer);
void sim_trap_repress(struct sim *s, uint32_t node, const uint8_t *mad);

/* sim_vport.c: virtual ports */
void sim_vport_reset(struct sim *s, uint32_t port); /*!< as after power-on */
/*! \brief One of the attributes of virtual ports. \return MAD status. */
uint16_t sim_vport_attr(struct sim *s, uint32_t port, bool set, uint16_t attr,
                        uint32_t mod, uint8_t *data);
/*! \brief VPortState: follows from the link, the enable bit and what was Set. The port's own virtual
 * port needs no enable bit. 0: there is none. */
static inline unsigned sim_vport_state(const struct sim_port *p, unsigned index)
{
	const struct sim_vport *v = &p->virtual_ports->vport[index];

	if (!v->there) {
		return 0;
	}
	if (!p->up || (index != 0 && !p->virtual_ports->enabled)) {
		return PORT_DOWN;
	}
	return v->state != 0 && v->ups == p->ups ? v->state : PORT_INIT;
}
/*! \brief Has a virtual port of this port that LID for itself? */
static inline bool sim_vport_has_lid(const struct sim_port *p, uint32_t lid)
{
	const struct sim_virtual *v = p->virtual_ports;

	for (unsigned i = 1; v != NULL && i < v->cap; i++) {
		const uint8_t *info = v->vport[i].info;

		if (field_get(info, VPI_LID_REQUIRED) &&
		    field_get(info, VPI_LID) == lid &&
		    sim_vport_state(p, i) >= PORT_INIT) {
			return true;
		}
	}
	return false;
}
void sim_vport_done(struct sim *s);
/*! \brief Lists the virtual ports of a port. */
void sim_vport_print(const struct sim *s, uint32_t port, FILE *f);

/* sim_opa.c: Omni-Path devices in the fabric */
int sim_opa_new(struct sim *s);
/*! \brief The LID that the kernel puts into a GID. \return 0: it is another kind of GID. */
uint32_t sim_opa_lid_of_gid(const uint8_t gid[16]);
/*!
 * \brief May a program send a MAD to this address? From and to LIDs above 0xBFFF it needs a GRH that
 *        says the destination; \a to has the LID from there.
 */
bool sim_opa_may_send(const struct sim *s, uint32_t from, const struct mad_addr *to);
/*! \brief Adds the GRH in which a program at port \a at sees the source of a MAD, if it has one. */
void sim_opa_show_source(const struct sim *s, uint32_t at, struct mad_addr *a);
void sim_opa_done(struct sim *s);
void sim_opa_reset(struct sim *s, uint32_t node); /*!< as after power-on */
/*! \brief A block of the LFT of a switch: Get or Set. \return false: there is none. */
bool sim_opa_lft(struct sim *s, uint32_t node, bool set, uint32_t block,
                 uint8_t data[SMP_DATA_BYTES]);
/*! \brief The link of a port has come up or gone down, at both ends. \return false: it does not come up
 *         after all, because the ports have no speed or width in common. */
bool sim_opa_link(struct sim *s, uint32_t port);
void sim_opa_issm(struct sim *s, uint32_t port, bool on);
/*! \brief Answers an SMP or a MAD of class PerfMgt in place. \param from  Sender's end port.
 * \return Bytes of the answer, 0: none. \a m has room for OPA_MAD_BYTES. */
size_t sim_opa_agent(struct sim *s, const struct sim_at *at, uint32_t from,
                     struct mad_buf *m);
bool sim_opa_is_perf(const struct sim *s,
                     const uint8_t *mad); /*!< a request of class PerfMgt */
size_t sim_opa_perf(struct sim *s, const struct sim_at *at, uint32_t from,
                    struct mad_buf *m);
/*! \brief Trap of a node that an SM of Omni-Path manages. \return Bytes. */
size_t sim_opa_trap(struct sim *s, uint32_t port, unsigned trap, uint8_t *mad);
void sim_opa_adapt(struct sim *s, uint32_t node); /*!< EVENT_ADAPT */
/*! \brief Lets the switch look at its routes as soon as it may. */
void sim_opa_schedule_adapt(struct sim *s, uint32_t node);

/*! \brief Is an SM of Omni-Path the one that has Set this node? */
static inline bool sim_is_opa_managed(const struct sim *s, uint32_t node)
{
	return s->opa != NULL && s->opa[node].device->managed && !s->opa[node].infiniband;
}

static inline struct opa_port *sim_opa_port(const struct sim *s, uint32_t port)
{
	const struct port *p = &s->g->ports[port];

	return &s->opa[p->node].device->ports[p->num];
}

/*! \brief An SMP of Omni-Path, on a fabric that has such devices? */
static inline bool sim_is_opa_mad(const struct sim *s, const uint8_t *mad)
{
	return s->opa != NULL && mad[0] == OPA_VERSION && mad[2] == OPA_VERSION;
}

/*! \brief Who asks the agent of the node at \a at. \param from  End port. */
static inline struct opa_from sim_opa_from(const struct sim *s, const struct sim_at *at,
                                           uint32_t from)
{
	return (struct opa_from){ .port = at->port,
		                  .local = s->g->ports[from].node == at->node &&
		                           at->hops == 0,
		                  .p_key = at->p_key };
}

/*! \brief GUID of an end port. Those of Omni-Path follow from the NodeGUID. */
static inline uint64_t sim_port_guid(const struct sim *s, uint32_t port)
{
	return s->opa != NULL ? sim_opa_port(s, port)->guid : s->g->ports[port].guid;
}

/*! \brief Gives the device's end port a LID, as if it had been Set. */
static inline void sim_opa_set_lid(struct sim *s, uint32_t port, uint32_t lid,
                                   uint8_t lmc)
{
	field_set(sim_opa_port(s, port)->info, OPI_LID, lid);
	field_set(sim_opa_port(s, port)->info, OPI_LMC, lmc);
}

/*! \brief LID of an end port. */
static inline uint32_t sim_lid(const struct sim *s, uint32_t port)
{
	return sim_is_opa_managed(s, s->g->ports[port].node)
	               ? (uint32_t)field_get(sim_opa_port(s, port)->info, OPI_LID)
	               : (uint32_t)field_get(s->ports[port].info, PI_LID);
}

static inline unsigned sim_lmc(const struct sim *s, uint32_t port)
{
	return sim_is_opa_managed(s, s->g->ports[port].node)
	               ? (unsigned)field_get(sim_opa_port(s, port)->info, OPI_LMC)
	               : (unsigned)field_get(s->ports[port].info, PI_LMC);
}

static inline uint32_t sim_sm_lid(const struct sim *s, uint32_t port)
{
	return sim_is_opa_managed(s, s->g->ports[port].node)
	               ? (uint32_t)field_get(sim_opa_port(s, port)->info,
	                                     OPI_MASTER_SM_LID)
	               : (uint32_t)field_get(s->ports[port].info, PI_MASTER_SM_LID);
}

/*! \brief Sets PortState of a port with a link. */
static inline void sim_port_state(struct sim *s, uint32_t port, unsigned state)
{
	field_set(s->ports[port].info, PI_PORT_STATE, state);
	if (s->opa != NULL && s->g->ports[port].num != 0) {
		opa_port_state(sim_opa_port(s, port), state);
	}
}

/* sim_perf.c: performance management */
/*! \brief A MAD passes a cable from one port to its peer. */
static inline void sim_perf_count(struct sim *s, uint32_t from, uint32_t to)
{
	enum { WORDS = (8 + 12 + 8 + MAD_BYTES + 4) / 4 }; /* LRH BTH DETH MAD ICRC */
	s->ports[from].perf.count[SIM_XMIT_DATA] += WORDS;
	s->ports[from].perf.count[SIM_XMIT_PKTS]++;
	s->ports[to].perf.count[SIM_RCV_DATA] += WORDS;
	s->ports[to].perf.count[SIM_RCV_PKTS]++;
}
/*! \brief Counts what a port sent and received since it was last looked at. */
void sim_perf_settle(struct sim *s, uint32_t port);
/*! \brief Answers a request of class PerfMgt in place. \return false: it is none. */
bool sim_perf_agent(struct sim *s, const struct sim_at *at, uint8_t *mad);

/* sim_congestion.c: congestion control */
void sim_congestion_reset(struct sim *s, uint32_t port); /*!< as after power-on */
void sim_congestion_done(struct sim *s);
/*! \brief A request of class 0x21 that nodes of this fabric may answer? */
bool sim_is_congestion(const struct sim *s, const uint8_t *mad);
/*! \brief Answers it in place. \return false: no answer. */
bool sim_congestion_agent(struct sim *s, const struct sim_at *at, struct mad_buf *m);
/*! \brief Prints NodeGUID, port and bytes of each Set, without the transaction ID. */
void sim_congestion_print(const struct sim *s, FILE *f);

/* sim.c */
/*! \brief Locks the fabric and finds a node; sim_unlock() is its counterpart. */
uint32_t sim_lock_node(struct sim *s, uint64_t node_guid);
/*! \brief Wakes who waits for MADs. \return \a ret */
int sim_unlock(struct sim *s, int ret);

/* sim_client.c: programs at end ports */
/*! \brief Delivers a message to the programs at the end port where it is, after the delay of its
 * way. Takes \a m also on failure. */
int sim_deliver(struct sim *s, const struct sim_at *at, struct mad_buf *m);
void sim_clients_done(struct sim *s);
