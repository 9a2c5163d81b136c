/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/log.h"

struct job;
struct sm;

/*!
 * Audit: do the nodes still hold the tables that the shadow copies say?
 *
 * Sweeps trust the copies, because a node that restarts shows it. A table that somebody else
 * wrote, or that a fault changed, does not show. So every audit_interval seconds all blocks
 * of which a copy is kept are read and compared:
 *
 *   LinearForwardingTable,
 *   P_KeyTable                 a block that differs is marked and sent again
 *   MulticastForwardingTable,
 *   GUIDInfo, SLtoVLMapping,
 *   VLArbitration              the copy takes what was read, so the sweep sends the difference
 *
 * A Set that got no answer in time is sent again, so a copy of it may be late in the network. If it
 * arrives after a newer Set of the same block, it undoes that one. Therefore every LFT block
 * of which a Set was sent more than once is read again AUDIT_LATE_MS after the sweep, also when
 * audit_interval is 0. That costs one read for each of these Sets.
 *
 * In the background a round goes on in steps of a few reads while the fabric thread is idle,
 * at most 1,000 reads a second. A difference is logged with its place, and asks for a heavy
 * sweep, which repairs it. When an operator asks, the same reads are part of a heavy sweep.
 */
enum {
	AUDIT_WINDOW = 32,    /*!< most reads in flight, in a heavy sweep */
	AUDIT_LATE_MS = 10000 /*!< after which no Set is on its way any more */
};

enum audit_kind {
	AUDIT_LFT,
	AUDIT_MFT,
	AUDIT_P_KEYS,
	AUDIT_GUIDS,
	AUDIT_QOS,
	AUDIT_KIND_COUNT
};

/*! One read that waits for its answer. */
struct audit_read {
	struct audit *a; /*!< NULL: free */
	void *copy;      /*!< item of the list of copies of this kind */
	uint32_t index;  /*!< of the table or block in the copy */
};

struct audit {
	struct sm *sm;
	struct job *job; /*!< of the step at work; borrowed */
	struct {
		unsigned kind;  /*!< enum audit_kind */
		uint32_t index; /*!< of the block, the same for all nodes */
		uint32_t item;  /*!< in the list of copies */
		bool any;       /*!< a copy has a block of this index */
	} at;
	struct {
		uint64_t
			due_ms; /*!< when the next step reads such blocks; 0: there are none */
		uint32_t item, block; /*!< in the list of switches */
		bool at_work;         /*!< the step at work reads such blocks */
	} late;
	uint32_t left; /*!< reads that the step at work may still begin */
	struct audit_read reads[AUDIT_WINDOW];
	bool running;              /*!< a round in the background is not at its end */
	uint64_t last_ms;          /*!< when the last round began */
	uint64_t next_step_ms;     /*!< of a round in the background */
	uint32_t n_read, n_differ; /*!< blocks in this round */
	struct log_limit lines;
};

/*! \brief When the next step is due, while the subnet is up; UINT64_MAX: never. */
uint64_t audit_deadline(const struct audit *a);

/*! \brief When idle and due: queues the few reads of the next step. */
void audit_step(struct audit *a, struct job *j);

/*! \brief When a sweep has ended well: blocks of Sets that were sent again are read later. */
void audit_swept(struct audit *a);

/*! \brief In a heavy sweep: queues reads of all blocks of which a copy is kept. */
void audit_start_all(struct audit *a, struct job *j);

/*! \brief When they are answered. */
void audit_end_all(struct audit *a);
