/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/client_records.h"
#include "db/lmdb/layout.h"
#include "routing/graph/port_groups.h"
#include "routing/graph/tables.h"

struct arena;
struct alarm_ack;
struct drained_row;
struct known_node;

/*!
 * Snapshot, reader side: one struct per thread.
 *
 *   snap_pin()  -> the newest published epoch; rows below are borrowed until the next pin
 *   ... getters ...
 *   snap_check() -> E_OK: all that was read is of one epoch; E_STALE: discard it and pin again
 *
 * Nothing that a getter returned, not even "not found" or "malformed", may leave the process
 * before snap_check() has returned E_OK. A getter may return E_STALE itself; then pin again.
 *
 * A foreign reader (gateway, command line) opens MDB_RDONLY|MDB_NOLOCK and locks nothing. At
 * each pin it compares the environment's last transaction id with its own and renews its
 * transaction if it differs. If `meta` holds another id than its transaction, the root was
 * half written, and it renews again. snap_check() refuses an epoch that was superseded for
 * more than half of the grace period. A local reader has a reader slot and is never stale.
 */
struct snap_reader;

/*!
 * \brief Opens <dir>/snapshot for reading from another process. Nothing is written there.
 * \param ret_why  Sentence on failure.
 * \retval E_NOTREADY  The folder or file is not there yet. \retval -EACCES E_LAYOUT E_FOREIGN
 */
int snap_reader_open(const char *dir, struct arena *a, const char **ret_why,
                     struct snap_reader **ret_reader);
void snap_reader_close(struct snap_reader *r);

/*! \retval E_NOTREADY  Nothing published yet. */
int snap_pin(struct snap_reader *r);
int snap_check(struct snap_reader *r);

/*!
 * \brief Releases the epoch; all getters return E_NOTREADY until the next pin. A local
 *        reader must call it before it idles, because its epoch keeps the file from reusing
 *        the pages of every later epoch.
 */
void snap_unpin(struct snap_reader *r);

/*!
 * \brief Another reader on the same open file, for another thread. A process opens a folder
 *        once (snap_reader_open() or, in the daemon, the writer) and clones from there.
 */
int snap_reader_clone(const struct snap_reader *r, struct snap_reader **ret_reader);

/*! \brief Another clock than CLOCK_BOOTTIME to measure an epoch's age with, for tests. */
void snap_reader_clock(struct snap_reader *r, uint64_t (*clock_ms)(void *arg), void *arg);

/*!
 * How the switches got their present tables: the last time that forwarding tables which hosts use
 * were replaced by others, as sa/sm planned it (routing/proof/transition.h).
 */
struct snap_transition {
	uint64_t epoch;     /*!< that came of it; 0: there was none since the daemon started, or tables
	                         are sent in any order without a plan */
	uint32_t changed;   /*!< LIDs with another route */
	uint32_t stages;    /*!< in which they were sent */
	uint32_t withdrawn; /*!< LIDs that had no routes in between */
	uint32_t may_loop;  /*!< LIDs that could have circled between old and new entries */
	uint32_t credit_loops; /*!< that old and new routes would have formed together */
	uint32_t blocks;    /*!< LFT blocks sent */
	bool safe;          /*!< no mixture on the way could loop or deadlock */
	double seconds_plan, seconds_send; /*!< the latter with the waits between stages */
	const char *reason; /*!< why stages or withdrawals were needed; NULL: they were not */
};

/*! Head of an epoch, decoded; a copy: it and its strings stay until the next pin. */
struct snap_meta {
	uint64_t epoch;
	uint64_t txn;
	int64_t computed_at;         /*!< seconds since 1970 */
	uint64_t version[SNAP_TABLE_COUNT]; /*!< transaction that last changed each table; of SNAP_META the last publish, a mirror does not count */
	uint32_t n_nodes, n_switches, n_end_ports, n_hosts, n_links, n_lids, top_lid, n_sources;
	uint64_t subnet_prefix, sm_port_guid;
	uint32_t sm_lid;
	uint16_t multicast_fdb_cap;  /*!< multicast groups that every switch with multicast tables can hold */
	uint8_t sm_priority, sm_state, lmc, packet_life_time, path_selection, vls_used;
	uint8_t management_vls;  /*!< further ones, which only management pairs use */
	uint8_t vport_hop_limit; /*!< HopLimit of paths from and to virtual ports */
	bool vport_records; /*!< virtual ports with a LID of their own have NodeRecords and PortInfoRecords */
	bool qos;                    /*!< quality of service is on: ports have SL-to-VL and VL arbitration tables */
	uint8_t life_time_by_hops[SNAP_HOPS_MAX]; /*!< PacketLifeTime of 1, 2, ... switches passed, the last for more; [0] 0: packet_life_time for all */
	const char *engine_asked, *engine_used, *fallback_reason, *notes, *warning;
	uint64_t pairs, unreachable_pairs, forwarding_loops, credit_loops, management_unreachable,
	        management_credit_loops;
	uint32_t load_max, load_p99;
	double load_mean;
	double seconds_route, seconds_prove;
	struct {
		const char *name;
		double seconds;
	} stage[12];
	unsigned n_stages;
	struct snap_transition transition;
};

const struct snap_meta *snap_meta(const struct snap_reader *r);

/*! \brief Newest version of some tables. \param tables  A bit 1 << SNAP_... for each. */
uint64_t snap_version(const struct snap_meta *m, uint32_t tables);

struct snap_node {
	uint64_t guid, system_image_guid;
	char description[65];
	char name[65];     /*!< for people: the operator's, else the description */
	uint8_t type;      /*!< enum node_type */
	uint8_t n_ports;
	bool esp0;
	bool aggregation; /*!< the aggregation node of a switch */
	uint32_t lid;      /*!< of port 0 or of the first port with a LID, 0: none */
	uint32_t vendor_id, revision;
	uint16_t device_id, partition_cap;
};

struct snap_port {
	uint64_t node_guid, guid; /*!< NodeGUID; PortGUID */
	uint64_t peer_guid;       /*!< NodeGUID of the far end, 0: no cable */
	uint8_t num, peer_port;
	uint8_t state, width, speed, rate, mtu, vls;
	uint32_t lid;             /*!< base LID of an end port, else 0 */
	uint8_t lmc;
};

/*! End port that owns a LID, with what a path query needs of it. */
struct snap_end {
	uint64_t port_guid, node_guid;
	uint64_t sw_guid;   /*!< switch it hangs on (its own for port 0), 0: none (cabled to a CA) */
	uint64_t peer_port_guid; /*!< of the far end when that is a CA or router port, else 0 */
	uint32_t base_lid;
	uint32_t sw_row;    /*!< row of that switch in `paths` in this epoch, UINT32_MAX: it has no hosts, and there is one lane */
	uint8_t lmc : 7;
	/*! It is, or is used by, a virtual port of that port; port_guid is then that of the owner of
	 *  the LID, which is a virtual port, too, where the LID is its own. */
	uint8_t is_vport : 1;
	uint8_t port, type;
	uint8_t sw_port;    /*!< port of the switch it hangs on, 0 for port 0 */
	uint8_t mtu, rate;  /*!< of its cable (both ends), own cap for port 0 */
	uint16_t p_key_set; /*!< number of its set of P_Keys in this epoch */
};

/*! A virtual port of a channel adapter. */
struct snap_vport {
	uint64_t guid, node_guid; /*!< PortGUID; NodeGUID of the virtual node */
	uint64_t host_guid;       /*!< NodeGUID of the adapter */
	uint32_t lid;             /*!< that it uses, 0: none */
	uint16_t index, p_key_set;
	uint8_t port, state; /*!< of the adapter; enum port_state */
	bool own_lid;
	char description[65];
};

/*! \brief Virtual ports of an adapter, by port and index. \param i  From 0 on. \retval E_NOTFOUND  No more. */
int snap_vport(struct snap_reader *r, uint64_t host_guid, uint32_t i,
               struct snap_vport *ret_vport);
/*! \brief That with a GUID. \retval E_NOTFOUND */
int snap_vport_by_guid(struct snap_reader *r, uint64_t guid,
                       struct snap_vport *ret_vport);

/*! One stored path row; see struct path_row. mtu 0: no route. */
struct snap_path {
	uint8_t mtu, rate, hops, lane;
};

int snap_node(struct snap_reader *r, uint64_t guid,
              struct snap_node *ret_node); /*!< \retval E_NOTFOUND */
int snap_port(struct snap_reader *r, uint64_t node_guid, uint8_t num,
              struct snap_port *ret_port);
int snap_lid(struct snap_reader *r, uint32_t lid,
             struct snap_end *
                     ret_end); /*!< O(1), no database search after the first of a chunk */
int snap_port_guid(
	struct snap_reader *r, uint64_t guid,
	struct snap_end *
		ret_end); /*!< port GUID, alias GUID of a port, GUID of a virtual port, or node GUID of a switch */
int snap_lft(struct snap_reader *r, uint64_t sw_guid, uint32_t lid, uint8_t *ret_port); /*!< 0xff: no route */
/*! \brief Ports of \a n LIDs from \a lid on; 0xff where there is no route. Cost: one database search per chunk touched. */
int snap_lft_block(struct snap_reader *r, uint64_t sw_guid, uint32_t lid,
                   uint8_t *ret_block, unsigned n);
bool snap_is_omni_path(struct snap_reader *r, uint64_t node_guid); /*!< by its NodeInfo */
int snap_port_group_of(struct snap_reader *r, uint64_t sw_guid, uint32_t lid, uint8_t *ret_group); /*!< of its alternates; PORT_GROUP_NONE: none */
/*! \brief Port groups of a switch for adaptive routing. \param ret_set  [PORT_GROUPS_MAX]
 * \retval E_NOTFOUND  It has none. */
int snap_port_groups(struct snap_reader *r, uint64_t sw_guid, struct port_set *ret_set,
                     unsigned *ret_n);
int snap_path(
	struct snap_reader *r, const struct snap_end *src, uint32_t dlid,
	struct snap_path *
		ret_path); /*!< O(1) once its chunk was touched in this epoch. \retval E_NOTFOUND  no row: walk the LFT. */
/*!
 * Prefetch what snap_path(), snap_lid() and snap_port_guid() will read, if this reader has
 * looked it up before in this epoch. For several look-ups, call it for all of them before
 * the first. snap_guid_known() returns the LID that was last found for a GUID in this
 * epoch, 0: unknown.
 */
void snap_prefetch_path(struct snap_reader *r, const struct snap_end *src, uint32_t dlid);
void snap_prefetch_lid(struct snap_reader *r, uint32_t lid);
void snap_prefetch_guid(struct snap_reader *r, uint64_t guid);
uint32_t snap_guid_known(struct snap_reader *r, uint64_t guid);
int snap_sl(struct snap_reader *r, unsigned level, uint8_t lane, uint8_t *ret_sl);    /*!< SL of a lane on a QoS level. \retval E_NOTFOUND  no such level or lane */

/*! SL-to-VL rule of the routing; see struct vl_rule. */
struct snap_vl_rule {
	uint8_t vls, levels, level_shift;
	uint8_t vl[VL_CLASSES][VL_CLASSES][VL_SLS]; /*!< by class in, class out, SL */
};
int snap_vl_rule(struct snap_reader *r,
                 struct snap_vl_rule
                         *ret_vl_rule); /*!< \retval E_NOTFOUND  none: SL n takes VL n */
int snap_vl_class(
	struct snap_reader *r, uint64_t sw_guid, uint8_t port,
	uint8_t *
		ret_class); /*!< class of a switch port in that rule. \retval E_NOTFOUND */

/*!
 * \brief P_Key over which two end ports may talk, as it stands in a's table: one of both is a
 *        full member; the first over which both are is preferred to the first one of all.
 * \param want  This one only, the membership bit does not count; 0: any.
 * \retval E_PARTITION  None. \retval E_MALFORMED E_STALE -ENOMEM
 * Cost: O(1) once the pair of tables was asked for in this epoch.
 */
int snap_common_p_key(struct snap_reader *r, const struct snap_end *a,
                      const struct snap_end *b, uint16_t want, uint16_t *ret_p_key);

/*! \brief The P_Keys of a set, as in the tables of its ports: uint16_t in host order, at any address; borrowed until the next pin. */
int snap_p_keys(struct snap_reader *r, uint16_t p_key_set, const void **ret_value,
                size_t *ret_n);

/*!
 * \brief Might this end port talk to one with these P_Keys, which need not be of this epoch?
 * \retval E_OK \retval E_PARTITION  No. \retval E_MALFORMED E_STALE
 */
int snap_shares_p_key(struct snap_reader *r, const struct snap_end *a, const uint16_t *keys,
                      size_t n);

struct policy;
struct policy_list;

/*!
 * \brief The least P_Key of a list of the policy over which both may talk, as it stands in a's table.
 * \retval E_PARTITION  None. \retval E_MALFORMED E_STALE
 * Cost: two database look-ups.
 */
int snap_listed_p_key(struct snap_reader *r, const struct snap_end *a,
                      const struct snap_end *b, const struct policy *p,
                      const struct policy_list *list, uint16_t *ret_p_key);

/*! End ports by GUID, those with alias GUIDs several times; borrowed until the next pin. */
struct snap_end_name {
	uint64_t guid;  /*!< PortGUID, or an alias GUID */
	uint32_t lid;   /*!< base LID */
	bool is_alias;
};
struct snap_ends {
	const struct snap_end_name *name; /*!< [n] */
	uint32_t n;
	uint32_t of_lmc[8];  /*!< how many there are of each LMC */
};
/*! \retval E_MALFORMED E_STALE -ENOMEM  Cost: once per epoch a walk over all GUIDs. */
int snap_ends(struct snap_reader *r, const struct snap_ends **ret_ends);

/*! NodeGUIDs with this name or description, ascending. At most \a max stored, all
 * counted. */
int snap_name(struct snap_reader *r, const char *description, uint64_t *ret_guids, unsigned max, unsigned *ret_n);

/*! Walks in key order: the first row with a key >= the one that is passed. \retval E_NOTFOUND  the end. */
int snap_node_from(struct snap_reader *r, uint64_t guid, struct snap_node *ret_node);
int snap_port_from(struct snap_reader *r, uint64_t node_guid, uint8_t num,
                   struct snap_port *ret_port);

struct snap_link {
	uint64_t guid_a, guid_b; /*!< NodeGUIDs; a is the lower (GUID, port) */
	uint8_t port_a, port_b, width, speed, rate, mtu;
};
int snap_link_from(struct snap_reader *r, uint64_t guid_a, uint8_t port_a,
                   struct snap_link *ret_link);

/*! Routes on a directed link by its egress port. \retval E_NOTFOUND */
int snap_load(struct snap_reader *r, uint64_t sw_guid, uint8_t port, uint32_t *ret_all, uint32_t *ret_base);

/*!
 * Rows of `attrs` with an attribute's number and SNAP_ATTR_OPA have it as Omni-Path's devices do (class
 * version 0x80); those without have InfiniBand's layout. A block of a table is numbered row <<
 * SNAP_OPA_ROW | column. The row is a port, the position of a mask, or 0, see sa/sm/table/table_kind.h.
 */
enum { SNAP_ATTR_OPA = 0x8000, SNAP_OPA_ROW = 20 };

/*!
 * An attribute of `attrs` that no agent has: Omni-Path nodes in quarantine, at the node and port (block) behind
 * which each was seen. The bytes are those of QuarantinedNodeRecord, without the LID.
 */
enum { SNAP_ATTR_QUARANTINED = 0xFFC0 };

/*!
 * Another one: device groups. Under GUID 0 block i is the name of group i, with zeros behind it. Under a NodeGUID a
 * block says in which groups the port of that number is, and those behind it up to the next block: bit i % 8 of byte
 * i / 8 is group i.
 */
enum { SNAP_ATTR_DEVICE_GROUPS = 0xFFC1, SNAP_GROUP_NAME_BYTES = 64 };

/*! Attribute payload, borrowed until the next pin. */
int snap_attr(struct snap_reader *r, uint16_t attr, uint64_t guid, uint32_t block,
              const uint8_t **ret_bytes, uint16_t *ret_len);

struct snap_attr_row {
	uint64_t guid;
	uint32_t block;
	const uint8_t *data;
	uint16_t len;
};
/*! First row of an attribute with (guid, block) >= those that are passed. \retval E_NOTFOUND  the end. */
int snap_attr_from(struct snap_reader *r, uint16_t attr, uint64_t guid, uint32_t block,
                   struct snap_attr_row *ret_attr_row);

/*! Effective options as text, borrowed until the next pin. */
const char *
snap_options(struct snap_reader
                     *r); /*!< NULL: it could not be read; snap_check() returns why */

/*! A route out of the subnet: GIDs with this prefix go to the router port. */
struct snap_prefix_route {
	uint64_t prefix;
	uint64_t router_port_guid;
	bool any;          /*!< every prefix */
};
/*! \brief The first route that fits a prefix of another subnet. \retval E_NOTFOUND */
int snap_prefix_route(struct snap_reader *r, uint64_t prefix,
                      struct snap_prefix_route *ret_prefix_route);

/*!
 * Client records as last mirrored: the first one with a key not below \a key (key_len 0: the
 * first of all), and the one after it. Borrowed until the next pin.
 * \retval E_NOTFOUND  There are no more.
 */
int snap_client_row_from(struct snap_reader *r, enum record_table table, const void *key,
                         size_t key_len, struct client_row *ret_row);
int snap_client_row_next(struct snap_reader *r, enum record_table table,
                         struct client_row *ret_row);

/*!
 * Nodes that were ever up (db/lmdb/known.h), as last mirrored: the row with a key not below this
 * one, by NodeGUID and port, and the one after it.
 * \retval E_NOTFOUND  There are no more. \retval E_MALFORMED E_STALE
 */
int snap_known_from(struct snap_reader *r, uint64_t node_guid, uint8_t port,
                    struct known_node *ret_node);
int snap_known_next(struct snap_reader *r, struct known_node *ret_node);

/*! \brief Acknowledgements of alarms (db/lmdb/acks.h), as last mirrored: the first by id, and the one after it.
 *  \retval E_NOTFOUND  There are no more. \retval E_MALFORMED E_STALE */
int snap_ack_first(struct snap_reader *r, struct alarm_ack *ret_ack);
int snap_ack_next(struct snap_reader *r, struct alarm_ack *ret_ack);

/*!
 * Nodes and cables out of service (db/lmdb/drained.h), as last mirrored: the first row, then the rows
 * behind it by GUID, port and reason.
 * \retval E_NOTFOUND  There is no further one. \retval E_MALFORMED E_STALE
 */
int snap_drained_first(struct snap_reader *r, struct drained_row *ret_row);
int snap_drained_next(struct snap_reader *r, struct drained_row *ret_row);

/*!
 * \brief Finds a port that is gone, by name, name:port, NodeGUID, PortGUID or its last LID; of
 *        several the one that went last. The row of one that left with this epoch may be as it was
 *        before: its gone_s is 0 then, and nobody has looked yet why it left.
 * \retval E_NOTFOUND  None. \retval E_MALFORMED E_STALE  Cost: O(known rows).
 */
int snap_known_gone(struct snap_reader *r, const char *text, struct known_node *ret_node);
