/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "db/client_records.h"
#include "db/env.h"
#include "db/reader.h"

/*!
 * Bytes of every table. Whoever changes one raises the layout number of its environment.
 *
 * Keys are big-endian, so that order on disk is numeric order (key_*()). Values are in
 * host order: an LMDB file is bound to the byte order of its machine anyway. A value is
 * 2-byte aligned at most, so structs are copied out with memcpy. Structs have no hidden
 * padding and unused bytes are zero, so equal rows are equal bytes.
 *
 * Every environment has
 *   layout     "layout"                  struct row_layout
 * and those with foreign readers
 *   meta       "head"                    begins with struct row_head
 *
 * state (layout 4; layout 1 had no services and subscriptions, layout 2 no groups and
 * members, layout 3 no guids and aliases: all are taken over as they are)
 *   lids       PortGUID                  struct row_lid
 *   epoch      "epoch"                   u64: the last one handed out
 *              name                      u64: what was done once (state_mark_put())
 *   services, subscriptions, groups, members, guids, aliases
 *                                        keys and values of sa/store/store.h, whose records they are
 *
 * snapshot (layout 6); what belongs to one node is one value (doc/decisions/0001)
 *   meta       "head"                    struct row_meta, then its texts, each with its
 * NUL: engine asked, engine used, fallback reason, notes, warning, name of each stage
 *   options    "text"                    effective options, with NUL
 *   nodes      NodeGUID                  struct row_node, then the description and the
 *                                        operator's name, both without NUL
 *   ports      NodeGUID                  struct row_port [n_ports + 1], by port number
 *   links      NodeGUID a                struct row_link [], by port a
 *   names      description or operator's name (1-64 bytes)   u64 [] NodeGUIDs,
 *                                        ascending; "" is not listed
 *   guids      PortGUID or switch's NodeGUID   struct row_guid
 *   lids       u32 LID / LIDS_PER_ROW    struct snap_end [LIDS_PER_ROW or fewer]
 *   attrs      u16 attribute, NodeGUID   { u32 block, u16 length, bytes } [], by block
 *   lft        NodeGUID, u32 LID / LFT_PER_CHUNK     u8 egress port [], 0xff no route
 *   paths      NodeGUID, u32 LID / PATHS_PER_CHUNK   struct path_row []
 *   vls        u16 QoS level             u8 SL [16] by lane, 0xff no such lane; where
 *                                        routing takes one lane, a level for each SL
 *              u16 VLS_RULE              struct row_vl_rule, where routing has one
 *              u16 VLS_PORTS, switch's NodeGUID   u8 class [n_ports + 1] in that rule
 *   partitions u16 P_Key                 struct row_partition
 *   load       switch's NodeGUID         struct row_load [n_ports + 1], by egress port
 *   p_key_sets u16 number                u16 P_Key [], as in the tables of the ports that have it
 *   prefix_routes u16 number             struct row_prefix_route, in the order of preference
 *   alternates NodeGUID, u32 LID / LFT_PER_CHUNK     u8 port group [], 0xff none; nothing
 * without adaptive routing
 *   port_groups switch's NodeGUID        struct port_set [], by group
 *   services, subscriptions, groups, members   rows of the state without what is secret in
 * them (snap_mirror())
 *   policy     u16 enum policy_part      structs of db/policy.h, an array of each; the sets
 *                                        by p_key_set; nothing without a policy
 *
 * A chunk holds CHUNK_BYTES, which with LMDB's page header fill one page; the last chunk
 * of a row ends with the highest LID. A chunk without any route is not stored.
 *
 * stats (layout 1)
 *   meta       "head"                    struct row_heartbeat
 *   values     name (1-120 bytes)        u8 kind: 0 then a double, 1 then a text without
 * NUL
 */
enum { DB_LAYOUT, DB_META };

#define DB_KEY_LAYOUT "layout"
#define DB_KEY_HEAD "head"
#define DB_KEY_TEXT "text"
#define DB_KEY_EPOCH "epoch"

enum state_table {
	STATE_LAYOUT,
	STATE_LIDS,
	STATE_EPOCH,
	STATE_SERVICES, /*!< the first of enum record_table, in its order */
	STATE_SUBSCRIPTIONS,
	STATE_GROUPS,
	STATE_MEMBERS,
	STATE_GUIDS,
	STATE_ALIASES,
	STATE_TABLE_COUNT
};
enum stats_table { STATS_LAYOUT, STATS_META, STATS_VALUES, STATS_TABLE_COUNT };
enum snap_table {
	SNAP_LAYOUT,
	SNAP_META,
	SNAP_OPTIONS,
	SNAP_NODES,
	SNAP_PORTS,
	SNAP_LINKS,
	SNAP_NAMES,
	SNAP_GUIDS,
	SNAP_LIDS,
	SNAP_ATTRS,
	SNAP_LFT,
	SNAP_PATHS,
	SNAP_VLS,
	SNAP_PARTITIONS,
	SNAP_LOAD,
	SNAP_P_KEY_SETS,
	SNAP_PREFIX_ROUTES,
	SNAP_ALTERNATES,
	SNAP_PORT_GROUPS,
	SNAP_SERVICES, /*!< the first of enum record_table, in its order: those that are mirrored */
	SNAP_SUBSCRIPTIONS,
	SNAP_GROUPS,
	SNAP_MEMBERS,
	SNAP_POLICY,
	SNAP_TABLE_COUNT
};

extern const struct db_kind kind_state, kind_snapshot, kind_stats;

enum {
	CHUNK_BYTES = 4032,
	LFT_PER_CHUNK = CHUNK_BYTES,
	PATHS_PER_CHUNK = CHUNK_BYTES / 4,
	LIDS_PER_ROW = CHUNK_BYTES / 48,
	CHUNK_KEY = 12, /*!< bytes of a chunk's key */
	LANES_MAX = 16,
	VLS_RULE = 0xfffe, /*!< keys of vls behind the levels */
	VLS_PORTS = 0xffff,
	DEFAULT_P_KEY = 0x7fff
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
};

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
	uint8_t reserved[3];
};

struct row_vl_rule {
	uint8_t vls, levels, level_shift, reserved;
	uint8_t vl[VL_CLASSES][VL_CLASSES][VL_SLS]; /*!< by class in, class out, SL */
};

struct row_partition {
	uint8_t all_full, sl, mtu, rate;
};

struct row_prefix_route {
	uint64_t prefix, router_port_guid;
	uint8_t any;
	uint8_t reserved[7];
};

struct row_load {
	uint32_t all, base; /*!< UINT32_MAX: no switch-to-switch link on this port */
};

/*! Which table a version of row_meta belongs to; the order of struct row_meta.version. */
enum meta_version {
	VERSION_NODES,
	VERSION_PORTS,
	VERSION_LINKS,
	VERSION_LIDS,
	VERSION_LFT,
	VERSION_PATHS,
	VERSION_ATTRS,
	VERSION_OPTIONS,
	VERSION_PARTITIONS,
	VERSION_LOAD,
	VERSION_HEAD, /*!< the last publish; a mirror is none */
	VERSION_WRITTEN, /*!< the first of enum record_table */
	VERSION_COUNT = VERSION_WRITTEN + RECORDS_MIRRORED
};

enum { META_STAGES = 12 };

struct row_meta {
	struct row_head head;
	uint64_t epoch; /*!< 0: nothing published */
	int64_t computed_at;
	uint64_t version[VERSION_COUNT];
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
	uint8_t reserved[5];
};

struct row_heartbeat {
	struct row_head head;
	uint64_t heartbeat_ms;
	int64_t realtime_s;
	uint32_t pid;
	uint32_t reserved;
};

_Static_assert(sizeof(struct row_layout) == 16, "row_layout");
_Static_assert(sizeof(struct row_head) == 16, "row_head");
_Static_assert(sizeof(struct row_lid) == 8, "row_lid");
_Static_assert(sizeof(struct row_node) == 32, "row_node");
_Static_assert(sizeof(struct row_port) == 32, "row_port");
_Static_assert(sizeof(struct row_link) == 16, "row_link");
_Static_assert(sizeof(struct row_guid) == 16, "row_guid");
_Static_assert(sizeof(struct row_load) == 8, "row_load");
_Static_assert(sizeof(struct row_prefix_route) == 24, "row_prefix_route");
_Static_assert(sizeof(struct row_meta) == 16 + 16 + 80 + 40 + 16 + 48 + 24 + 96 + 48 + 24,
               "row_meta");
_Static_assert(sizeof(struct row_heartbeat) == 40, "row_heartbeat");
_Static_assert(sizeof(struct snap_end) == 48, "snap_end is stored as it is");
_Static_assert(offsetof(struct snap_end, base_lid) == 32 &&
                       offsetof(struct snap_end, rate) == 45 &&
                       offsetof(struct snap_end, p_key_set) == 46,
               "snap_end is stored as it is");

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
