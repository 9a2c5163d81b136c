/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/hash.h"
#include "conf/base/log.h"
#include "sa/sm/table/table.h"

struct disc_node;
struct job;
struct sm;

/*!
 * Audit: do the nodes still hold the tables that the shadow copies say?
 *
 * Sweeps trust the copies, because a node that restarts shows it. A table that somebody else
 * wrote, or that a fault changed, does not show. So all blocks of which a copy is kept are read
 * and compared in rounds, one after the other, each of which takes audit_interval seconds:
 *
 *   LinearForwardingTable,
 *   P_KeyTable, port groups    a block that differs is marked and sent again. An entry of an LFT that adaptive
 *                              routing moved to another port of its group does not differ
 *   MulticastForwardingTable,
 *   GUIDInfo, SLtoVLMapping,
 *   VLArbitration              the copy takes what was read, so the sweep sends the difference
 *   PortInfo                   what is set there, see program_kept.c; a local sweep sets it again.
 *                              A light sweep looks at state and LID of some ports only
 *
 * The reads of a round are spread evenly over the interval, and there are at most 1,000 a second. A
 * round that has more blocks than that takes longer, and says so. The reads are done in steps of a
 * few while the fabric thread is idle. A difference is logged with its place, and asks for a
 * sweep, which repairs it. When an operator asks, the same reads are part of a heavy sweep.
 *
 * A port that gives cause for suspicion is not left until the round comes to it. Its node and the
 * switch that it hangs on are read at once, in turn with the round and within the same 1,000 reads
 * a second. A node is read so once in AUDIT_LOOK_GAP_MS, and AUDIT_LOOKS wait at most, so that
 * who gives cause again and again has us read no more.
 *
 * A Set that got no answer in time is sent again, so a copy of it may be late in the network. If it
 * arrives after a newer Set of the same block, it undoes that one. Therefore every LFT block
 * of which a Set was sent more than once is read again AUDIT_LATE_MS after the sweep, also when
 * audit_interval is 0. That costs one read for each of these Sets.
 */
enum {
	AUDIT_WINDOW = 32,        /*!< most reads in flight, in a heavy sweep */
	AUDIT_LATE_MS = 10000,    /*!< after which no Set is on its way any more */
	AUDIT_LOOKS = 16,         /*!< most suspicious ports that wait */
	AUDIT_LOOK_GAP_MS = 60000 /*!< between two reads of a node for suspicion */
};

/*! PortInfo comes after the kinds of tables. */
enum { AUDIT_PORTS = TABLE_KIND_COUNT, AUDIT_KIND_COUNT };

/*! One read that waits for its answer. */
struct audit_read {
	struct audit *a;        /*!< NULL: free */
	struct table *t;        /*!< NULL: PortInfo */
	struct disc_node *node; /*!< then: of this node */
	uint32_t block;         /*!< of the table, or number of the port */
};

/*! A place in the order of all blocks, or of those of some nodes. */
struct audit_cursor {
	unsigned
		kind; /*!< enum table_kind_id or AUDIT_PORTS; AUDIT_KIND_COUNT: at its end */
	uint32_t block;   /*!< the same for all nodes */
	uint32_t item;    /*!< in the list of tables */
	bool any;         /*!< a table has this block */
	uint64_t only[2]; /*!< NodeGUIDs; both 0: all nodes */
};

/*! Why the reads of a step are done. */
enum audit_cause { AUDIT_ROUND, AUDIT_LATE, AUDIT_LOOK };

struct audit {
	struct sm *sm;
	struct job *job; /*!< of the step at work; borrowed */
	enum audit_cause cause; /*!< of the step at work */
	struct audit_cursor round;
	struct {
		struct audit_cursor at;
		uint64_t wait[AUDIT_LOOKS]
			     [2]; /*!< [n_wait] NodeGUIDs of a node and its switch */
		unsigned n_wait;
		bool running;
		struct hash_table last; /*!< by NodeGUID: seconds */
		struct log_limit lines;
	} look;
	struct {
		uint64_t
			due_ms; /*!< when the next step reads such blocks; 0: there are none */
		uint32_t kind, item, block; /*!< as of a cursor */
	} late;
	uint32_t left; /*!< reads that the step at work may still begin */
	struct audit_read reads[AUDIT_WINDOW];
	bool running;              /*!< a round in the background is not at its end */
	bool began;                /*!< there was a round */
	bool slow; /*!< a round takes longer than the interval, as was said */
	uint64_t last_ms;          /*!< when the last round began */
	uint64_t next_step_ms;     /*!< of a round in the background */
	uint64_t free_ms;          /*!< no step before: the limit of packets a second */
	uint32_t n_blocks;         /*!< in this round, as counted at its beginning */
	uint32_t n_begun;          /*!< reads of this round */
	uint32_t n_read, n_differ; /*!< blocks in this round */
	struct log_limit lines;
};

/*! \brief When the next step is due, while the subnet is up; UINT64_MAX: never. */
uint64_t audit_deadline(const struct audit *a);

/*! \brief When idle and due: queues the few reads of the next step. */
void audit_step(struct audit *a, struct job *j);

/*!
 * \brief A port gives cause for suspicion: its node and the switch that it hangs on are read first.
 * \param port  In the graph of the fabric as known; GRAPH_NONE: nothing is done.
 * \param why   For the log, such as "another LID on" it.
 */
void audit_suspect(struct audit *a, uint32_t port, const char *why);

/*! \brief When a sweep has ended well: blocks of Sets that were sent again are read later. */
void audit_swept(struct audit *a);

/*! \brief In a heavy sweep, which has read all PortInfo: queues reads of all other blocks. */
void audit_start_all(struct audit *a, struct job *j);

/*! \brief When they are answered. */
void audit_end_all(struct audit *a);

void audit_done(struct audit *a);
