/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/lids.h"
#include "routing/graph/tables.h"

struct arena;
struct deps;
struct graph;

/*!
 * The proof: what is checked of every table before it may reach a switch.
 *
 * Pairs that decide: every (switch with CA or router ports -> LID of a CA or router
 * port), all LIDs of an LMC range, inside one connected part. Each must be reachable, and
 * the channel dependency graph of their routes must be acyclic per VL (Dally & Seitz 1987;
 * channels are directed switch-to-switch links, VL = lane). With an SL-to-VL rule packets
 * change VLs on their way: then the graph over (link, VL) must be acyclic, on every QoS
 * level. Levels that differ only by the numbers of their VLs are checked and counted as
 * one.
 *
 * Management pairs: port 0 of a switch is at either end, that is (any switch -> LID of a
 * switch) and (switch without CA or router ports -> LID of a CA or router port). On a tree
 * with a missing cable the only path of some of these pairs turns upwards again. They are
 * counted separately and fail nothing unless strict; doc/decisions/
 * 0002-management-pairs.md has the reasons.
 *
 * Forwarding loops fail for all pairs: a packet must never circle.
 *
 * A forwarding loop counts once per (LID, loop), also where only management traffic would
 * enter it. Dependencies come from routes that arrive. A route that ends in a hole or
 * circles is counted as such, and not a second time as a credit loop. A credit loop counts
 * once per VL and strongly connected component of more than one channel (or with a
 * self-dependency).
 */
struct proof_channel {
	uint32_t sw;   /*!< switch index the channel leaves */
	uint8_t port;  /*!< egress port */
	uint8_t vl;
	uint32_t src_sw, lid; /*!< a route (source switch, destination LID) that goes on from this channel to the next of the cycle */
};

/*! A pair of hosts without a route that may have none. */
struct proof_missed {
	uint32_t src; /*!< port index */
	uint32_t lid;
};

/*! One shortest cycle of a component; in a huge one the shortest found with a fixed amount of work. */
struct proof_cycle {
	const struct proof_channel *channels; /*!< in the order of the dependency */
	uint32_t n;
	uint32_t component_channels; /*!< size of the component */
	uint8_t vl;      /*!< of its first channel; all have it unless there is an SL-to-VL rule */
	bool management; /*!< appears only when management pairs are counted in */
};

/*! A hole or a forwarding loop, found at one switch for one LID. */
struct proof_fault {
	uint32_t lid;
	uint32_t sw;      /*!< hole: the switch without a usable entry; loop: a switch on it */
	uint8_t port;     /*!< what its entry says */
	const uint32_t *loop; /*!< switches of the loop in order, NULL for a hole */
	uint32_t n_loop;
};

enum {
	PROOF_LIST_MAX = 16,    /*!< how many holes and forwarding loops are kept */
	PROOF_MISSED_MAX = 10,  /*!< how many of missed_pairs */
	PROOF_CYCLES_MAX = 4096 /*!< how many credit loops: one of each component, in any
	                           but a hopeless case */
};

struct proof {
	struct lids lids;            /*!< of the tables, its arrays borrowed; for proof_text() */
	uint64_t pairs;              /*!< ordered (CA/router end port, LID of another CA/router port) in one connected part */
	uint64_t unreachable_pairs;  /*!< of these */
	uint64_t missed_pairs;       /*!< of these, pairs that may be without a route */
	uint64_t holes; /*!< (switch, LID) at which a route of a pair that decides and
	                   must have one ends */
	uint64_t forwarding_loops;   /*!< of any pairs */
	uint64_t credit_loops;       /*!< of the pairs that decide */
	uint64_t management_unreachable; /*!< management pairs (source switch, LID) without a route; a switch's own LID must lead to its port 0 */
	uint64_t management_credit_loops; /*!< further components when management pairs are counted in: those that hold none of the others */
	bool management_kept; /*!< management_credit_loops are those of an earlier proof:
	                           only what changed since then was proven (proof_change.h) */
	uint32_t
		vls_used; /*!< of the pairs that decide: how many, all QoS levels counted */
	uint32_t
		management_vls; /*!< further ones, which only management pairs use; sources with hosts */
	struct proof_fault hole[PROOF_LIST_MAX];
	unsigned n_hole;
	struct proof_fault loop[PROOF_LIST_MAX];
	unsigned n_loop;
	struct proof_missed
		missed[PROOF_MISSED_MAX]; /*!< first of missed_pairs by LID and source */
	unsigned n_missed;
	struct proof_fault management_hole; /*!< first of management_unreachable by LID and source; sw = the source */
	struct proof_cycle *cycle; /*!< [n_cycle] those of pairs that decide first */
	unsigned n_cycle;
};

/*!
 * \brief Proves tables. Same result on any number of threads.
 *
 * \param lanes  NULL: one lane.
 * \param a      Holds the culprits of \a ret_proof and working memory.
 * \retval E_OK  The proof was computed; look at \a ret_proof for its outcome.
 * \retval -ENOMEM
 *
 * Cost: O(S * L) for S switches and L LIDs, plus O(C * P) bits for C channels and P ports.
 */
int proof_run(const struct graph *g, const struct lids *lids, const struct lft *lft,
              const struct lanes *lanes, struct arena *a, struct proof *ret_proof);

/*!
 * \brief The same for tables in which some pairs may be without a route.
 * \param may_miss  [lids->top + 1] as route_out.may_miss, or NULL.
 */
int proof_run_missing(const struct graph *g, const struct lids *lids,
                      const struct lft *lft, const struct lanes *lanes,
                      const uint8_t *may_miss, struct arena *a, struct proof *ret_proof);

/*! The dependencies that a proof collected. */
struct proof_deps {
	const struct deps *base;       /*!< of the pairs that decide; NULL: there is more than one lane */
	const struct deps *management; /*!< at least those of management pairs */
	uint32_t n_parts;              /*!< connected parts of the fabric */
};

/*!
 * \brief proof_run_missing(), after which the dependencies stay.
 * \param ret_deps  In \a a, with what the proof worked with.
 */
int proof_run_keeping(const struct graph *g, const struct lids *lids,
                      const struct lft *lft, const struct lanes *lanes,
                      const uint8_t *may_miss, struct arena *a, struct proof *ret_proof,
                      struct proof_deps *ret_deps);

/*! \brief Has every pair a route that must have one? */
static inline bool proof_reaches(const struct proof *p)
{
	return p->holes == 0 && p->unreachable_pairs == p->missed_pairs;
}

/*! \brief Does it pass? Holes, forwarding loops and credit loops fail; management pairs only if \a strict. */
bool proof_passed(const struct proof *p, bool strict);

/*! \brief How many pairs are missed, and the first of them by name. Empty: none. Arena
 * string. */
const char *proof_missed_text(const struct proof *p, const struct graph *g,
                              const struct lids *lids, struct arena *a);

/*!
 * \brief The first culprit in one sentence with node descriptions, ports and LIDs: what
 *        fails any proof before what fails a strict one. Empty: none. Arena string.
 */
const char *proof_text(const struct proof *p, const struct graph *g, struct arena *a);
