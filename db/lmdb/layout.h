/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/client_records.h"
#include "db/lmdb/counters.h"
#include "routing/graph/tables.h"

/*!
 * Bytes of every table. A change of any of them raises the layout number of its
 * environment, enum layout_number.
 *
 * Keys are big-endian, so that order on disk is numeric order (key_*()). Values are in
 * host order, because an LMDB file is bound to the byte order of its machine anyway.
 * Values are only 2-byte aligned, so structs are copied out with memcpy. Structs have no
 * hidden padding and unused bytes are zero, so equal rows are equal bytes.
 *
 * Every environment has a table of its layout number, and the environments with foreign
 * readers have a head that each commit rewrites:
 *
 *   table          key        value
 *   layout         "layout"   struct row_layout
 *   meta           "head"     begins with struct row_head
 *
 * Environment state, layout 9. Layout 1 had no services and subscriptions, layout 2 no
 * groups and members, layout 3 no guids and aliases; up to layout 4 a LID had no gone_epoch
 * and gone_time; up to layout 5 there were no partitions, up to
 * layout 6 no known nodes, up to layout 7 no acknowledgements, up to layout 8 nothing drained. A file of an older layout is taken
 * over, and its rows are converted.
 *
 *   table          key        value
 *   lids           PortGUID   struct row_lid
 *   epoch          "epoch"    u64: the last epoch that was handed out
 *                  name       u64: a number kept under that name (state_mark_put())
 *   services, subscriptions, groups, members, guids, aliases
 *                             client records; sa/store/store.h describes the bytes
 *   partitions     u16 0      struct row_runtime_head
 *                  u16 P_Key  struct row_runtime_partition, then its name without NUL
 *                  u16 P_Key, PortGUID
 *                             u8 enum partition_membership of that member
 *   known          NodeGUID, u8 port, 0 of a switch
 *                             struct row_known, then the names of the node and of the switch
 *                             it was on, without NUL, and of a switch u64 SystemImageGUID;
 *                             with another port of a switch a cable to a switch
 *   acks           id of an alarm, without NUL
 *                             struct row_ack, then who and why, without NUL
 *   drained        NodeGUID, u8 port, u8 enum drained_reason; port 0 for a whole node
 *                             struct row_drained, then its texts without NUL: the names of the
 *                             node and of the peer, who asked, a note
 *
 * Environment stats, layout 5. Layout 4 had no health of links, layout 3 no counters of Omni-Path
 * alone, layout 2 none at all.
 *
 *   table          key        value
 *   meta           "head"     struct row_heartbeat
 *   events         u64 number struct row_event, then its texts without NUL: node, peer,
 *                             cause, detail
 *   values         name, 1-120 bytes
 *                             u8 kind, then a double (kind 0) or a text without NUL (1)
 *   counters       NodeGUID, u8 port
 *                             struct row_counters, then struct counter_sample [], oldest
 *                             first
 *   link_health    NodeGUID, u8 port
 *                             struct link_health of db/lmdb/link_health.h
 *
 * Environment snapshot, layout 13. The rows of one node are one value
 * (doc/decisions/0001). SNAP_TABLES lists the tables; the comment beside each gives its
 * key and its value.
 *
 * A chunk holds CHUNK_BYTES, which with LMDB's page header fill one page. The last chunk
 * of a row ends with the highest LID. A chunk without any route is not stored.
 */
enum { DB_LAYOUT, DB_META };

/*! A writer takes over a state of LAYOUT_STATE_OLDEST or later, and empties an older
 *  snapshot or stats, whose contents are made anew. */
enum layout_number {
	LAYOUT_STATE = 9,
	LAYOUT_STATE_OLDEST = 1,
	LAYOUT_SNAPSHOT = 14,
	LAYOUT_STATS = 5
};

#define DB_KEY_LAYOUT "layout"
#define DB_KEY_HEAD "head"
#define DB_KEY_TEXT "text"
#define DB_KEY_EPOCH "epoch"

/* clang-format off */
/*! Tables of the state: id, name. The records are in the order of enum record_table. */
#define STATE_TABLES(TABLE) \
	TABLE(LAYOUT,        layout) \
	TABLE(LIDS,          lids) \
	TABLE(EPOCH,         epoch) \
	TABLE(GUIDS,         guids) \
	TABLE(ALIASES,       aliases) \
	TABLE(SERVICES,      services) \
	TABLE(SUBSCRIPTIONS, subscriptions) \
	TABLE(GROUPS,        groups) \
	TABLE(MEMBERS,       members) \
	TABLE(KNOWN,         known) \
	TABLE(ACKS,          acks) \
	TABLE(DRAINED,       drained) \
	TABLE(PARTITIONS,    partitions)

#define STATS_TABLES(TABLE) \
	TABLE(LAYOUT, layout) \
	TABLE(META,   meta) \
	TABLE(VALUES, values) \
	TABLE(EVENTS, events) \
	TABLE(COUNTERS, counters) \
	TABLE(LINK_HEALTH, link_health)

/*! Does a change of the table need a new epoch? An epoch stands for one routing. */
enum { SNAP_ANY_EPOCH, SNAP_NEW_EPOCH };

/*!
 * The one list of the snapshot's tables. From it follow the table ids, the names on disk,
 * which table a publish compares, the version of each table, the comparison of rows.c and
 * the tables of an ETag. To add a table: a line here (and the struct of its row below),
 * and emit_NAME() in rows.c.
 *
 *   HEAD(id, name)           made by the publish itself, not of the sweep
 *   ROWS(id, name, epoch)    a publish compares the rows that emit_NAME() offers
 *   CHUNKS(id, name, epoch)  a publish compares the long rows struct rows.NAME in chunks
 *   CLIENT(id, name)         client records, which snap_mirror() writes; in the order of
 *                            enum record_table, without what is secret in them
 *
 * Tables that take long to compare come first, so that all threads end together.
 */
#define SNAP_TABLES(HEAD, ROWS, CHUNKS, CLIENT) \
	HEAD(LAYOUT, layout) \
	/* "head"  ->  struct row_meta, then its texts, each with its NUL: engine asked, engine \
	 * used, reason of a fallback, notes, warning, name of each stage */ \
	HEAD(META, meta) \
	/* u16 attribute, NodeGUID  ->  { u32 block, u16 length, bytes } [], by block */ \
	ROWS(ATTRS, attrs, SNAP_ANY_EPOCH) \
	/* NodeGUID  ->  struct row_port [n_ports + 1], by port number */ \
	ROWS(PORTS, ports, SNAP_ANY_EPOCH) \
	/* description or operator's name, 1-64 bytes, "" is not listed  ->  u64 NodeGUID [], \
	 * ascending */ \
	ROWS(NAMES, names, SNAP_ANY_EPOCH) \
	/* NodeGUID of an adapter  ->  struct row_vport [], by port and index */ \
	ROWS(VPORTS, vports, SNAP_ANY_EPOCH) \
	/* PortGUID, alias GUID, GUID of a virtual port or a switch's NodeGUID  ->  struct row_guid */ \
	ROWS(GUIDS, guids, SNAP_ANY_EPOCH) \
	/* NodeGUID  ->  struct row_node, then the description and the operator's name, both \
	 * without NUL */ \
	ROWS(NODES, nodes, SNAP_NEW_EPOCH) \
	/* NodeGUID a  ->  struct row_link [], by port a */ \
	ROWS(LINKS, links, SNAP_NEW_EPOCH) \
	/* NodeGUID, u32 LID / LFT_PER_CHUNK  ->  u8 egress port [], 0xff no route */ \
	CHUNKS(LFT, lft, SNAP_NEW_EPOCH) \
	/* NodeGUID, u32 LID / PATHS_PER_CHUNK  ->  struct path_row [] */ \
	CHUNKS(PATHS, paths, SNAP_NEW_EPOCH) \
	/* u32 LID / LIDS_PER_ROW  ->  struct snap_end [LIDS_PER_ROW or fewer] */ \
	ROWS(LIDS, lids, SNAP_NEW_EPOCH) \
	/* a switch's NodeGUID  ->  struct row_load [n_ports + 1], by egress port */ \
	ROWS(LOAD, load, SNAP_ANY_EPOCH) \
	/* u16 QoS level  ->  u8 SL [16] by lane, 0xff no such lane; where routing takes one \
	 *   lane, a level for each SL \
	 * u16 VLS_RULE  ->  struct row_vl_rule, where routing has one \
	 * u16 VLS_PORTS, a switch's NodeGUID  ->  u8 class [n_ports + 1] in that rule */ \
	ROWS(VLS, vls, SNAP_NEW_EPOCH) \
	/* "text"  ->  effective options, with NUL */ \
	ROWS(OPTIONS, options, SNAP_ANY_EPOCH) \
	/* u16 number  ->  u16 P_Key [], as in the tables of the ports that have this set */ \
	ROWS(P_KEY_SETS, p_key_sets, SNAP_ANY_EPOCH) \
	/* u16 number  ->  struct row_prefix_route, in the order of preference */ \
	ROWS(PREFIX_ROUTES, prefix_routes, SNAP_ANY_EPOCH) \
	/* u16 P_Key without bit 15  ->  struct row_partition and what follows it (db/snapshot/policy.h) */ \
	ROWS(PARTITIONS, partitions, SNAP_ANY_EPOCH) \
	/* NodeGUID, u32 LID / LFT_PER_CHUNK  ->  u8 port group [], 0xff none; empty without \
	 * adaptive routing */ \
	CHUNKS(ALTERNATES, alternates, SNAP_NEW_EPOCH) \
	/* a switch's NodeGUID  ->  struct port_set [], by group */ \
	ROWS(PORT_GROUPS, port_groups, SNAP_NEW_EPOCH) \
	/* u16 enum policy_part  ->  an array of structs of db/snapshot/policy.h, the bitmaps by \
	 * p_key_set; empty without a policy */ \
	ROWS(POLICY, policy, SNAP_NEW_EPOCH) \
	/* u64 epoch, u16 enum change_kind, key of a row  ->  u32 length of the old value, the old \
	 * value, the new one \
	 * ..., CHANGE_HEAD  ->  struct row_change_head \
	 * ..., CHANGE_LFT, key of a chunk  ->  u32 entries that changed, struct lft_change [] of \
	 *   all of them, or none; see db/snapshot/history.h */ \
	HEAD(CHANGES, changes) \
	/* keys and values as in the state */ \
	CLIENT(SERVICES, services) \
	CLIENT(SUBSCRIPTIONS, subscriptions) \
	CLIENT(GROUPS, groups) \
	CLIENT(MEMBERS, members) \
	CLIENT(KNOWN, known) \
	CLIENT(ACKS, acks) \
	CLIENT(DRAINED, drained)
/* clang-format on */

#define STATE_ID(id, name) STATE_##id,
enum state_table { STATE_TABLES(STATE_ID) STATE_TABLE_COUNT };
#undef STATE_ID

#define STATS_ID(id, name) STATS_##id,
enum stats_table { STATS_TABLES(STATS_ID) STATS_TABLE_COUNT };
#undef STATS_ID

#define SNAP_ID(id, ...) SNAP_##id,
enum snap_table { SNAP_TABLES(SNAP_ID, SNAP_ID, SNAP_ID, SNAP_ID) SNAP_TABLE_COUNT };
#undef SNAP_ID

/*! \brief Table of the snapshot with the client records of one kind. */
#define SNAP_CLIENT_TABLE(records) \
	(SNAP_SERVICES + (unsigned)(records) - (unsigned)RECORDS_MIRRORED_FIRST)

/*! \brief Table of the state with the records of one kind. */
#define STATE_RECORD_TABLE(records) (STATE_GUIDS + (unsigned)(records))

struct db_kind;
extern const struct db_kind kind_state, kind_snapshot, kind_stats;

enum {
	CHUNK_BYTES = 4032,
	LFT_PER_CHUNK = CHUNK_BYTES,
	PATHS_PER_CHUNK = CHUNK_BYTES / 4,
	LIDS_PER_ROW = CHUNK_BYTES / 48, /*!< struct snap_end */
	CHUNK_KEY = 12, /*!< bytes of a chunk's key */
	LANES_MAX = 16,
	VLS_RULE = 0xfffe, /*!< keys of vls behind the levels */
	VLS_PORTS = 0xffff,
	SNAP_HOPS_MAX = 10 /*!< life times by hops */
};

/*! Keys of `policy`. */
enum policy_part {
	POLICY_HEAD,
	POLICY_LEVELS,
	POLICY_RULES,
	POLICY_RANGES,
	POLICY_FABRICS,
	POLICY_IDS,
	POLICY_PORT_SETS,
	POLICY_PARTS
};

struct row_layout {
	char kind[12]; /*!< "state", "snapshot", "stats" */
	uint32_t layout;
};

/*! First bytes of the head: what a reader without lock compares. */
struct row_head {
	uint64_t txn;      /*!< id of the transaction that wrote this row */
	uint32_t grace_ms; /*!< how long the writer pins a superseded epoch */
	uint32_t reserved;
};

struct row_lid {
	uint32_t base;
	uint8_t lmc;
	uint8_t reserved[3];
	/* up to layout 4 the row ends here */
	uint64_t gone_epoch; /*!< as in struct lid_memory */
	int64_t gone_time;
};

/*! Partitions made at run time, as a whole. */
struct row_runtime_head {
	uint64_t version;  /*!< of the last change */
	int64_t changed_s; /*!< when that was, seconds since 1970 */
};

/*! A partition made at run time; also one of the configuration with members added so. */
struct row_runtime_partition {
	uint64_t version; /*!< of its own last change */
	int64_t changed_s;
	uint8_t membership; /*!< of members that come without one: enum partition_membership */
	uint8_t indx0, ipoib;
	uint8_t sl, rate, mtu; /*!< of its broadcast group; rate and mtu are codes */
	uint8_t name_len;
	uint8_t reserved;
};

/*! A node that was ever up; see db/lmdb/known.h. The two names follow. */
struct row_known {
	uint64_t port_guid, switch_guid;
	int64_t first_s, gone_s;
	uint32_t lid;
	uint8_t switch_port, type, cause;
	uint8_t name_len, switch_name_len;
	uint8_t has_system; /*!< 1: u64 SystemImageGUID behind the names; up to layout 7 never */
	uint8_t reserved[6];
};

/*! The acknowledgement of an alarm; see db/lmdb/acks.h. Its two texts follow. */
struct row_ack {
	int64_t at_s, until_s, ended_s;
	uint8_t by_len, note_len;
	uint8_t reserved[6];
};

/*! A node or cable that is out of service; see db/lmdb/drained.h. Its texts follow. */
struct row_drained {
	uint64_t peer_guid;
	int64_t since_s, until_s, state_s;
	uint8_t peer_port, type, state;
	uint8_t flags; /*!< 1: also if pairs of hosts lose their routes; 2: cut off from neighbours */
	uint8_t len[4]; /*!< of the names of node and peer, of who asked, of the note */
	uint8_t reserved[8];
};

enum { PARTITION_KEY_BYTES = 2, PARTITION_MEMBER_KEY_BYTES = 10 };

struct row_node {
	uint64_t system_image_guid;
	uint32_t lid, vendor_id, revision;
	uint16_t device_id, partition_cap;
	uint8_t type, n_ports, esp0, description_len;
	uint8_t aggregation; /*!< 1: the aggregation node of a switch */
	uint8_t name_len;    /*!< 0: the operator gives none */
	uint8_t reserved[2];
};

struct row_port {
	uint64_t guid, peer_guid;
	uint32_t lid;
	uint8_t peer_port, state, width, speed, rate, mtu, vls, lmc;
	uint8_t exists; /*!< 0: slot 0 of a CA or router */
	uint8_t reserved[3];
};

struct row_link {
	uint64_t guid_b;
	uint8_t port_a, port_b, width, speed, rate, mtu;
	uint8_t reserved[2];
};

struct row_guid {
	uint64_t node_guid;
	uint32_t base_lid; /*!< 0: none */
	uint8_t port;
	uint8_t is_vport;
	uint16_t p_key_set; /*!< of a virtual port */
};

struct row_vport {
	uint64_t guid, node_guid; /*!< of the virtual node */
	uint32_t lid;             /*!< that it uses, 0: none */
	uint16_t index, p_key_set;
	uint8_t port, state;
	uint8_t own_lid;
	uint8_t reserved[5];
	char description[64]; /*!< without NUL if it is so long */
};

struct row_vl_rule {
	uint8_t vls, levels, level_shift, reserved;
	uint8_t vl[VL_CLASSES][VL_CLASSES][VL_SLS]; /*!< by class in, class out, SL */
};

struct row_prefix_route {
	uint64_t prefix, router_port_guid;
	uint8_t any;
	uint8_t reserved[7];
};

struct row_load {
	uint32_t all, base; /*!< UINT32_MAX: no switch-to-switch link on this port */
};

enum {
	META_TEXTS = 6, /*!< behind the row: engine asked, used, fallback, notes, warning, transition */
	META_STAGES = 12
};

struct row_meta {
	struct row_head head;
	uint64_t epoch; /*!< 0: nothing published */
	int64_t computed_at;
	uint64_t version[SNAP_TABLE_COUNT]; /*!< transaction that last changed each table; of
	                                      SNAP_META the last publish, also after a mirror */
	uint64_t subnet_prefix, sm_port_guid;
	uint64_t pairs, unreachable_pairs, forwarding_loops, credit_loops,
		management_unreachable, management_credit_loops;
	double load_mean, seconds_route, seconds_prove;
	double stage_seconds[META_STAGES];
	uint32_t n_nodes, n_switches, n_end_ports, n_hosts, n_links, n_lids, top_lid,
		n_sources;
	uint32_t sm_lid, load_max, load_p99, n_stages;
	uint8_t sm_priority, sm_state, lmc, packet_life_time, path_selection, vls_used;
	uint8_t life_time_by_hops[SNAP_HOPS_MAX];
	uint16_t multicast_fdb_cap; /*!< least of all switches */
	uint8_t qos; /*!< is on */
	uint8_t transition_safe;
	uint8_t vport_hop_limit, vport_records;
	uint8_t management_vls;
	uint8_t reserved;
	uint64_t transition_epoch; /*!< 0: no transition is known */
	double seconds_plan, seconds_send;
	uint32_t lids_changed, transition_stages, lids_withdrawn, lids_may_loop,
		transition_credit_loops, blocks_sent;
};

/*! Head of what changed in an epoch. */
struct row_change_head {
	uint64_t since; /*!< the epoch before; 0: none is kept */
	int64_t computed_at;
	uint64_t bytes; /*!< of the record */
};

/*! Routing in the head of an epoch, to be compared with that of another epoch. */
struct row_routing {
	uint64_t pairs, unreachable_pairs, forwarding_loops, credit_loops, sm_port_guid;
	uint32_t sm_lid;
	uint8_t vls_used, lmc;
	uint8_t reserved[2];
	char engine[32]; /*!< with NUL */
};

struct row_heartbeat {
	struct row_head head;
	uint64_t heartbeat_ms;
	int64_t realtime_s;
	uint64_t first_event; /*!< number of the oldest row of events; next_event: none */
	uint64_t next_event;
	uint32_t pid;
	uint32_t reserved;
};

struct row_event {
	int64_t time_s;
	uint64_t clock_ms, node_guid, peer_guid, epoch;
	uint32_t duration_ms, paths_moved, lft_blocks;
	uint16_t kind; /*!< enum event_kind */
	uint8_t flags, port, peer_port;
	uint8_t node_len, peer_len, cause_len;
	uint16_t detail_len;
	uint8_t reserved[2];
};

/*! Counters of a port; as struct port_counters. */
struct row_counters {
	int64_t time_s;
	uint32_t interval_ms, known, saturated, reserved;
	uint64_t value[PORT_COUNTERS], delta[PORT_COUNTERS];
};

_Static_assert(sizeof(struct row_layout) == 16, "row_layout");
_Static_assert(sizeof(struct row_head) == 16, "row_head");
_Static_assert(sizeof(struct row_lid) == 24, "row_lid");
_Static_assert(sizeof(struct row_runtime_head) == 16, "row_runtime_head");
_Static_assert(sizeof(struct row_runtime_partition) == 24, "row_runtime_partition");
_Static_assert(sizeof(struct row_node) == 32, "row_node");
_Static_assert(sizeof(struct row_port) == 32, "row_port");
_Static_assert(sizeof(struct row_link) == 16, "row_link");
_Static_assert(sizeof(struct row_guid) == 16, "row_guid");
_Static_assert(sizeof(struct row_vport) == 96, "row_vport");
_Static_assert(sizeof(struct row_load) == 8, "row_load");
_Static_assert(sizeof(struct row_prefix_route) == 24, "row_prefix_route");
_Static_assert(sizeof(struct row_meta) == 16 + 16 + 8 * SNAP_TABLE_COUNT + 16 + 48 + 24 + 96 + 48 + 24 + 8 + 16 + 24,
               "row_meta");
_Static_assert(sizeof(struct row_change_head) == 24, "row_change_head");
_Static_assert(sizeof(struct row_routing) == 80, "row_routing");
_Static_assert(sizeof(struct row_heartbeat) == 56, "row_heartbeat");
_Static_assert(sizeof(struct row_counters) == 24 + 16 * PORT_COUNTERS, "row_counters");
_Static_assert(sizeof(struct counter_sample) == 24, "counter_sample");
_Static_assert(sizeof(struct row_event) == 64, "row_event");

/*! Big-endian keys, written and read back. */
static inline void key_u16(uint8_t *k, uint16_t v)
{
	k[0] = (uint8_t)(v >> 8);
	k[1] = (uint8_t)v;
}

static inline void key_u32(uint8_t *k, uint32_t v)
{
	key_u16(k, (uint16_t)(v >> 16));
	key_u16(k + 2, (uint16_t)v);
}

static inline void key_u64(uint8_t *k, uint64_t v)
{
	key_u32(k, (uint32_t)(v >> 32));
	key_u32(k + 4, (uint32_t)v);
}

static inline uint16_t key_read_u16(const uint8_t *k)
{
	return (uint16_t)(k[0] << 8 | k[1]);
}

static inline uint32_t key_read_u32(const uint8_t *k)
{
	return (uint32_t)key_read_u16(k) << 16 | key_read_u16(k + 2);
}

static inline uint64_t key_read_u64(const uint8_t *k)
{
	return (uint64_t)key_read_u32(k) << 32 | key_read_u32(k + 4);
}

static inline void key_chunk(uint8_t k[CHUNK_KEY], uint64_t guid, uint32_t chunk)
{
	key_u64(k, guid);
	key_u32(k + 8, chunk);
}
