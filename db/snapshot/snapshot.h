/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/client_records.h"
#include "db/snapshot/reader.h"
#include "routing/route.h"

struct arena;
struct graph;
struct lids;
struct policy;
struct partitions;
struct prefix_routes;
struct snap_reader;

/*!
 * Snapshot, writer side: the published sweep. LMDB on tmpfs in <snapshot dir>/snapshot with
 * MDB_NOSYNC|MDB_NOTLS, one write transaction per publish.
 *
 * The writer pins each published epoch with a read transaction of its own for the grace
 * period after it is superseded (snap_release_old()), so that a foreign reader without lock
 * never sees its pages reused while it answers. Only rows and chunks that differ from what
 * is stored are written. Each commit rewrites `meta` with its own transaction id. The file
 * is never unlinked or recreated. db/lmdb/layout.h gives the bytes of each table.
 */
struct snap_writer;

/*! An SM attribute payload as last read or programmed; becomes a row of `attrs`. */
struct snap_attr {
	uint64_t guid;       /*!< NodeGUID */
	uint16_t attr; /*!< UMAD_SM_ATTR_*; or with SNAP_ATTR_OPA, which see for blocks */
	/*! Port number, or block of a table. SLtoVLMappingTable: egress port, its data
	 * the tables of all ports in from 0 on, 8 bytes each, all ones where unknown, or
	 * 8 bytes that are the table of every port in; VLArbitrationTable: port << 8 |
	 * block from 1 on. */
	uint32_t block;
	const uint8_t *data; /*!< wire order */
	uint16_t len;        /*!< bytes */
};

/*! A virtual port, without the number of its set of P_Keys. */
struct snap_vport_row {
	struct snap_vport v;
	uint32_t port; /*!< in the graph; its P_Keys are those of the virtual port */
};

struct snap_stage {
	const char *name; /*!< "discover", "route", ... */
	double seconds;
};

enum { SNAP_STAGES_MAX = 12 };

/*! The fabric to publish. All borrowed for the call. */
struct snap_content {
	uint64_t
		epoch; /*!< if it equals the stored one, only tables outside routing may differ */
	int64_t computed_at;        /*!< wall clock, seconds since 1970 */
	const struct graph *g;
	const struct lids *lids;
	const struct route_result *route;
	const struct graph *routed; /*!< that it is of: g without what is drained; NULL: g */
	/*! [n_changed] nodes of g, ascending. Other nodes that were published and are not in \a gone are as
	 *  they were, with their cables, LIDs and attributes; \a attrs has those of the changed nodes only.
	 *  There are no virtual ports and no policy then. NULL: anything may have changed. */
	const uint32_t *changed;
	size_t n_changed;
	const uint64_t *
		gone; /*!< [n_gone] NodeGUIDs, ascending: may be stored, and are not in g */
	size_t n_gone;
	/*! [n_changed_lids] LIDs whose entries in forwarding tables, lanes or paths may
	 * be others than those published last; the switches are the same, and those with
	 * hosts. NULL: any. */
	const uint32_t *changed_lid;
	uint32_t n_changed_lids;
	bool only_ports; /*!< with \a changed, in the same epoch: these rows differ, and nothing else does */
	const struct snap_attr *attrs; /*!< sorted by (attr, guid, block) */
	size_t n_attrs;
	const char *options_text;   /*!< effective options as option_dump() writes them */
	uint64_t subnet_prefix;
	uint64_t sm_port_guid;
	uint32_t sm_lid;
	uint8_t sm_priority, sm_state; /*!< SMInfo values */
	uint8_t packet_life_time;   /*!< code returned in PathRecord: subnet_timeout */
	uint8_t life_time_by_hops[SNAP_HOPS_MAX]; /*!< as in struct snap_meta */
	const struct prefix_routes *prefix_routes; /*!< NULL: none */
	const struct partitions *partitions; /*!< in effect; NULL: they are not published */
	const uint32_t (*partition_ports)[2]; /*!< [partitions->n] limited, full members that are there */
	const struct snap_vport_row
		*vports; /*!< [n_vports] by (host_guid, port, index) */
	size_t n_vports;
	uint8_t vport_hop_limit; /*!< as in struct snap_meta */
	bool vport_records;
	bool qos;                   /*!< as in struct snap_meta */
	const struct policy *policy; /*!< sets by index of graph.ports; NULL: none */
	uint8_t path_selection;     /*!< enum path_selection */
	uint16_t
		free_sls; /*!< bits of SLs other than 0 whose packets take the same routes: routing uses one lane, and no port drops these SLs */
	uint16_t multicast_fdb_cap; /*!< least MulticastFDBCap of all switches with multicast tables, 0: none has */
	uint64_t sa_key;            /*!< not public: kept in memory by the daemon, never stored */
	struct snap_stage stage[SNAP_STAGES_MAX];
	unsigned n_stages;
	struct snap_transition transition;
	/*! Chooses the epoch, and may set the transition, when it is known whether what
	 * an epoch stands for differs from what was published last; an error code ends
	 * the publish. NULL: it is \a epoch. */
	int (*choose_epoch)(void *ctx, bool differs, struct snap_content *c);
	void *choose_ctx;
};

/*! \brief Is it an attribute of nodes and ports that is no table? */
bool snap_attr_of_node(uint16_t attr);

struct snap_published {
	uint64_t bytes;        /*!< value bytes written */
	uint32_t rows;         /*!< rows and chunks written or deleted */
	uint64_t txn;          /*!< transaction id */
	bool routing_changed;  /*!< lft, paths, lids, links, nodes or vls differ from before */
};

struct snap_options {
	uint32_t grace_ms;     /*!< how long a superseded epoch stays pinned */
	uint64_t map_bytes;    /*!< 0: 64 GiB of address space */
	uint64_t history_bytes; /*!< for what changed from epoch to epoch (db/snapshot/history.h), 0: none */
	uint64_t need_bytes;   /*!< expected live size without history, to refuse a too small tmpfs (4x this); 0: 64 MiB */
};

/*! \brief Is there the group whose members read what is published? Without it only the daemon's
 * user and root do. */
bool snap_has_group(void);

/*!
 * \brief Opens or creates <dir>/snapshot as its only writer.
 * \param ret_why  On success set only if the database was damaged: it is made anew, and the
 *                 sentence says where the damaged one is kept.
 * \retval E_LAYOUT E_FOREIGN -EACCES  As state_open(). \retval -ENOSPC  Too small; \a ret_why names sizes and remedy.
 */
int snap_writer_open(const char *dir, const struct snap_options *o, struct arena *a,
                     const char **ret_why, struct snap_writer **ret_writer);
void snap_writer_close(struct snap_writer *w);

/*!
 * \brief Publishes in one transaction; on failure the old epoch stays.
 * \param now_ms  Caller's monotonic clock, for the pins.
 * \retval E_FULL  Snapshot folder full. \retval -errno
 * Cost: comparison with the stored rows plus the changed bytes.
 */
int snap_publish(struct snap_writer *w, const struct snap_content *content,
                 uint64_t now_ms, struct snap_published *ret_published);

/*!
 * \brief Mirrors client records between publishes, in one transaction. The epoch stays;
 *        the versions of tables that change are set. Equal rows are not written; if no
 *        row differs, nothing is committed.
 *
 * \param rows  By table and key. They hold nothing secret, because foreign readers see them.
 * \param all   These are all rows; stored rows that are not among them are deleted.
 * \param ret_published   txn 0: nothing was committed.
 * \retval E_NOTREADY  Nothing is published yet. \retval E_FULL \retval -errno
 * Cost: O(n log stored), with \a all O(n + stored).
 */
int snap_mirror(struct snap_writer *w, const struct client_row *rows, size_t n, bool all,
                uint64_t now_ms, struct snap_published *ret_published);

/*! \brief Drops pins of epochs superseded for longer than the grace. Call at each timer turn. */
void snap_release_old(struct snap_writer *w, uint64_t now_ms);

/*! \brief Last published epoch in the file, 0: none. */
uint64_t snap_epoch(const struct snap_writer *w);

/*! \brief Reader inside the writer's process (own read transaction, for one thread). */
int snap_reader_local(struct snap_writer *w, struct snap_reader **ret_reader);
