/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/hash.h"
#include "routing/graph/lids.h"
#include "sa/sm/discover/shadow.h"

struct arena;
struct config;
struct disc;
struct disc_node;
struct graph;
struct lft;
struct partitions;
struct program;
struct route_result;
struct smp;

/*!
 * Virtual ports: what SR-IOV makes of a port of a channel adapter. Each has a GUID, a virtual node with
 * a description, and either a LID of its own or that of another virtual port or of
 * the port itself. No cable leads to it, so it is no part of the graph: routing sees the port
 * only, and the LID of a virtual port takes the routes of its port's base LID.
 *
 * A port is known to have them only after GeneralInfo, which is asked of ports that show
 * IsVirtualizationSupported in CapabilityMask2. Virtual ports are kept from sweep to sweep. A sweep
 * asks each such port for VirtualizationInfo alone, and reads the rest again where it is not known,
 * where VPortStateChange is set, or where the port was restarted:
 *
 *   vports_read()         with the tables of the sweep: VirtualizationInfo, Set to enable and to
 *                         clear VPortStateChange, then states, VPortInfo, VNodeInfo, description
 *   vports_assign_lids()  GUIDs that are there twice are refused; LIDs
 *   vports_extend_routes()
 *   vports_set_lids()     before ports go ACTIVE
 *   vports_activate()     with the ports
 *
 * A light sweep, and a trap of the port, asks for VirtualizationInfo; what changed leads to a
 * local sweep, which begins with vports_read().
 *
 * Their tables of P_Keys and GUIDs are neither read nor written (doc/decisions/0022), so a virtual
 * port has the P_Keys of its port for those who ask for paths.
 *
 * The memory that an adapter can fill is bounded. It has at most VPORTS_MAX virtual ports, has at
 * most VPORTS_LIDS_MAX LIDs for GUIDs that come and go (then those that went first lose theirs), and is read again ever more rarely while VPortStateChange stays set. A GUID belongs to the port
 * that has it first; a port in the fabric comes before any virtual one.
 *
 * Source: the attributes in sa/mad/fields.h; the stages are those of osm_virt_mgr.h.
 */
enum {
	VPORTS_MAX = 1024,
	VPORTS_LIDS_MAX = 4096,
	VPORT_DESCRIPTION_BYTES = 64
};

struct vport {
	uint64_t guid, node_guid; /*!< of the virtual node */
	uint64_t since;           /*!< the lower, the longer it is known with this GUID */
	uint32_t lid;             /*!< that it uses; 0: none yet, or it is refused */
	uint16_t index;
	uint16_t lid_by_index; /*!< VPortInfo: whose LID it uses, if it needs none */
	uint16_t shown_lid;    /*!< VPortInfo.LID */
	uint8_t state; /*!< enum port_state */
	bool own_lid;  /*!< it needs one */
	bool refused;  /*!< its GUID is another port's */
	char description[VPORT_DESCRIPTION_BYTES + 1];
};

enum vports_support { VPORTS_UNKNOWN, VPORTS_NO, VPORTS_YES };

/*! A port of a channel adapter that shows the capability. */
struct vport_host {
	uint64_t node_guid;
	uint8_t num;
	uint8_t support; /*!< enum vports_support: GeneralInfo */
	bool known;      /*!< list was read, and no change was reported since */
	bool reported;   /*!< a complaint about it was logged */
	uint16_t cap;    /*!< VPortCap */
	uint32_t port;   /*!< in the graph of the last vports_index(); GRAPH_NONE: away */
	uint64_t *took; /*!< [n_lids] malloc; GUIDs that took a LID, the first ones first */
	uint32_t n_lids;
	size_t cap_took;
	uint32_t n_readings; /*!< begun so far; only the last one counts */
	unsigned streak; /*!< reads in a row that found VPortStateChange set */
	uint64_t next_read_ms; /*!< not before, while it stays set */
	struct vport *list;    /*!< [n] by index; malloc */
	uint32_t n;
};

struct vports {
	struct vport_host **hosts; /*!< [n_hosts] malloc */
	uint32_t n_hosts;
	size_t cap_hosts;
	struct hash_table by_port; /*!< guid_port_key() -> index in hosts */
	struct hash_table
		by_guid;  /*!< virtual ports that are there and not refused: index in
	                      hosts * VPORTS_MAX + that in the list */
	uint64_t counter; /*!< for since */
	bool reported_members; /*!< that ALL_VCAS has no effect */
};

void vports_done(struct vports *v);

/*! \brief All virtual ports are read again: another SM may have cleared VPortStateChange. What is known
 *         stays until then. */
void vports_forget(struct vports *v);

/*! \brief What is known of a port. \return NULL: nothing. */
struct vport_host *vports_find(const struct vports *v, uint64_t node_guid, uint8_t num);

/*! \brief Is a virtual port with this GUID there? After vports_index(). */
bool vports_has_guid(const struct vports *v, uint64_t guid);

/*! \brief Finds all hosts in a graph, refuses GUIDs that are there twice, and says so once.
 *  \retval -ENOMEM */
int vports_index(struct vports *v, const struct graph *g);

/* --- reading --------------------------------------------------------------------------- */

/*! One round of reading; in the arena. Zeroed: none. */
struct vports_read {
	struct vports *v;
	struct smp *smp;
	const struct disc *disc;
	const struct config *config;
	struct arena *arena;
	uint64_t now_ms;
	bool forget;  /*!< read everything, whatever is known */
	bool changes; /*!< only ports that are known to have virtual ports */
	struct vport_reader *waiting; /*!< more than virt_max_ports_in_process */
	uint32_t n_active;
	uint32_t n_unread; /*!< ports that did not answer all */
	const struct disc_node *
		*changed; /*!< [n_changed] in the arena, at most cap_changed */
	uint32_t n_changed, cap_changed;
};

/*!
 * \brief Queues the requests of a round for all ports that may have virtual ports, at most
 *        virt_max_ports_in_process at the same time. In a local discovery only what is new or
 *        suspect is asked.
 * \param r  v to changes are set. Must stay until nothing is pending.
 * \retval -ENOMEM
 */
int vports_read(struct vports_read *r);

/*! \brief The same for one port. */
int vports_read_port(struct vports_read *r, struct disc_node *n, uint8_t num);

/* --- LIDs and routes ---------------------------------------------------------------------- */

/*! A LID of a virtual port, and the base LID of its port. */
struct vport_lid {
	uint32_t lid, base;
};

struct vports_lids {
	const struct vport_lid *own; /*!< [n_own] by lid */
	uint32_t n_own;
	struct lids all; /*!< the LIDs of ports and these: owner, top and count differ */
	const struct lid_memory *changed; /*!< [n_changed] rows to be stored */
	size_t n_changed;
};

struct vports_lids_in {
	const struct graph *g;
	const struct lids *lids; /*!< of the ports */
	const struct lid_memory
		*memory; /*!< [n_memory] by GUID, with those of virtual ports */
	size_t n_memory;
	uint32_t max_lid; /*!< as in struct lids_in */
	bool forget;      /*!< the memory counts for nothing, and is written anew */
};

/*!
 * \brief Gives virtual ports that need one a LID: the remembered one, else the one that it shows,
 *        else the lowest free one that no absent port has. One for which none is left has none.
 * \retval -ENOMEM
 * Cost: O(LIDs + virtual ports * log memory).
 */
int vports_assign_lids(struct vports *v, const struct vports_lids_in *in, struct arena *a,
                       struct vports_lids *ret_lids);

/*! \brief Adds to computed routes those to the LIDs of virtual ports: they are the routes to the base
 *  LIDs of their ports. \retval -ENOMEM  Cost: O(switches * LIDs), nothing without such LIDs. */
int vports_extend_routes(const struct vports_lids *l, struct arena *a,
                         struct route_result *r);

/*! \brief The other way round: tables that switches have, without the LIDs of virtual ports, as routing
 *  sees them. \param ret_lft  In \a a, or \a t itself where there are no such LIDs.
 * \retval -ENOMEM */
int vports_strip_routes(const struct vports_lids *l, const struct lids *ports,
                        struct arena *a, const struct lft *t, struct lft *ret_lft);

/*! \brief Adds to a list of LIDs whose routes change those of virtual ports that follow them.
 *  \param lid  [n] ascending; a new list in \a a if there are any. \retval -ENOMEM */
int vports_extend_changes(const struct vports_lids *l, struct arena *a,
                          const uint32_t **lid, uint32_t *n);

/* --- partitions, states ----------------------------------------------------------------------- */

/*! What the steps that program share. */
struct vports_program {
	struct vports *v;
	struct program *program;
	struct arena *arena; /*!< of the requests */
	uint32_t *n_unread; /*!< counts requests that were not answered */
};

/*! \brief Logs once that virtual ports do not become members by ALL_VCAS, if partitions have it. */
void vports_check_partitions(struct vports *v, const struct partitions *p);

/*! \brief Queues Set(VPortInfo) of virtual ports that show another LID, or that are not ACTIVE. One that
 *  refuses is asked again by the next sweep. \retval -ENOMEM */
int vports_set_lids(struct vports_program *p);
int vports_activate(struct vports_program *p);
