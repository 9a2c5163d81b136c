/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/why.h"
#include "routing/graph/tables.h"

struct arena;
struct graph;
struct lids;

/*!
 * The transition from one set of tables to another, proven before the first block is sent.
 *
 * Switches take their new entries one by one, in an order that nobody controls: SMPs are
 * lost, repeated and overtaken. Until the last one is in, some switches route a LID by the
 * old table and some by the new one. Both tables may be free of loops while a mixture of
 * them is not.
 *
 * For one LID the old and the new entry of each switch together form a graph in which a
 * switch has up to two next switches. A mixture with a forwarding loop exists exactly when
 * this graph has a cycle. The channel dependencies of all mixtures are the dependencies
 * along this graph. If the union of the dependencies of all LIDs is acyclic, no mixture can
 * deadlock, and neither can packets of the old tables that are still on their way.
 *
 * Where the union has a cycle, LIDs change in stages: a stage begins when all switches
 * have confirmed the entries of the stage before. In a stage the LIDs of earlier stages
 * have their new routes, those of later ones their old routes, those of the stage any
 * mixture. LIDs that fit in no stage are withdrawn at the end: their entries that differ
 * become LFT_NO_ROUTE first, packets on old routes drain, then the new entries are sent.
 *
 * Where that is asked for (by_rank), such LIDs change switch by switch instead, and none of their
 * routes is missing at any time. The rank of a switch for a LID is the number of switches on the
 * new route. A stage with ranks has a step for each: the switches of rank 1 get their entries, and when all have
 * confirmed them, those of rank 2, and so on. So a switch has its new entry only when all switches behind it
 * have theirs. A packet follows old entries, then new ones to its end. Hence it cannot circle, and no
 * dependency leads from a channel of a new entry to one of an old entry. LIDs of which even those dependencies
 * have a cycle are withdrawn.
 *
 * LIDs that only gain entries, as those of hosts that come, need no proof of their own: each
 * mixture of their entries is a part of the new ones, so if no other LID changes, the
 * dependencies of all mixtures are among those of the new tables.
 *
 * Packets to a LID have the lane of its old routes before its stage, of its new routes after
 * it, and of either during it. A host that goes on with an SL of before, which it keeps from
 * an earlier PathRecord, is beyond this plan, as it is beyond the proof of the new tables.
 *
 * Sources: J. Duato, O. Lysne, R. Pang, T. Pinkston, "Part I: A Theory for Deadlock-Free
 * Dynamic Network Reconfiguration", IEEE TPDS 2005; O. Lysne et al., "An Efficient and
 * Deadlock-Free Network Reconfiguration Protocol", IEEE Transactions on Computers 2008.
 */
enum {
	TRANSITION_STAGES_MAX = 8, /*!< stages before the rest is withdrawn */
	TRANSITION_RANKS_MAX = 64, /*!< a LID with more is withdrawn */
	TRANSITION_WITHDRAWN = 0xff
};

struct transition_in {
	const struct graph
		*g; /*!< as it is now: an entry that leads to a lost link ends there */
	const struct lids *lids;
	const struct lft *from, *to; /*!< of the shape that \a lids and \a g have */
	const struct lanes *from_lanes, *to_lanes; /*!< NULL: one lane; n 0: not known */
	bool to_is_proven; /*!< the new tables are known to be free of credit loops */
	bool by_rank; /*!< LIDs that fit in no stage may change switch by switch */
};

struct transition {
	/*! [lids->top + 1] 0: the LID keeps its routes; 1 to n_stages: the stage in which it
	 *  changes; TRANSITION_WITHDRAWN: it is withdrawn and set after the last stage. */
	uint8_t *stage;
	/*! [switches] 1: it takes its new entries when the others have theirs, so until then it
	 *  forwards what still reaches it as before. transition_plan_late() sets it; NULL: none. */
	const uint8_t *late;
	const struct transition *second; /*!< how those take them; the rest of this is about the others */
	uint32_t n_stages;
	/*! Steps of each stage from 1 on. More than 1: its LIDs change by transition_rank(). */
	uint8_t ranks[TRANSITION_STAGES_MAX + 1];
	uint32_t changed;   /*!< LIDs with another entry at any switch, or another lane */
	uint32_t withdrawn; /*!< of these */
	uint32_t
		may_loop; /*!< LIDs of which some mixture has a forwarding loop; all are withdrawn, or change by rank */
	/*! Cyclic components of the dependencies when all LIDs change at once; 0: any order is
	 *  free of credit loops. */
	uint32_t credit_loops;
	struct why
		why; /*!< why stages or withdrawals are needed, with the first LID; empty: they are not */
};

/*!
 * \brief Plans the stages of a transition. Same result on any number of threads.
 *
 * Routes of pairs that decide count for credit loops (proof.h); forwarding loops count
 * from any switch. Both tables have to be free of both by themselves.
 *
 * \param a  Holds \a ret_transition.
 * \retval E_OK  \a ret_transition is a plan; where n_stages is 1 and withdrawn 0, any
 *        order is safe.
 * \retval E_UNSUITABLE  No order can be shown to be free of credit loops, for instance because one
 * of the tables alone is not: the reason is in ret->why. LIDs that may loop are withdrawn all
 * the same, all others are in stage 1.
 * \retval -ENOMEM
 *
 * Cost: that of a proof of the unchanged LIDs, plus O(S) for each changed one; with stages
 * up to some hundred searches for cycles more.
 */
int transition_plan(const struct transition_in *in, struct arena *a,
                    struct transition *ret_transition);

/*!
 * \brief The same with switches that change last, for switches that no new route passes.
 *
 * Where routes leave a switch, its neighbours must not send it packets any more before it sends them
 * back. Such LIDs may loop in some mixture, so transition_plan() withdraws them. If the switch keeps its old
 * entries until all others have the new ones, there is no such mixture. The
 * other way round, a switch to which routes return takes its entries before all others. Both parts are
 * planned: from the old tables to the new ones with the old rows of the late switches, and from there on.
 *
 * \param late  [switches] 1: it changes last; borrowed as long as the plan.
 * \retval E_UNSUITABLE  One of the two parts cannot be shown to be safe.
 * \retval -ENOMEM
 * Cost: that of two plans.
 */
int transition_plan_late(const struct transition_in *in, const uint8_t *late,
                         struct arena *a, struct transition *ret_transition);

/*! \brief Steps in which switches get their tables, each confirmed before the next: of the stages and the
 *         withdrawal, without late switches. */
static inline uint32_t transition_steps(const struct transition *t)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i <= t->n_stages; i++) {
		n += t->ranks[i] > 1 ? t->ranks[i] : 1;
	}
	return (n != 0 ? n : 1) + (t->withdrawn != 0);
}

/*!
 * \brief The stage of a step, counted from 1.
 * \param ret_rank  Switches up to this rank have their new entries of the stage; UINT32_MAX: all have.
 * \return One more than n_stages in the step behind the last stage.
 */
uint32_t transition_stage_at(const struct transition *t, uint32_t step, uint32_t *ret_rank);

/*! \brief Switches on the route from a switch to a LID, itself included. \return UINT32_MAX: it has no route.
 *  Cost: O(hops). */
uint32_t transition_rank(const struct graph *g, const struct lft *to, uint32_t sw, uint32_t lid);

/*! \brief LIDs of hosts that are without a route meanwhile. Ports 0 of switches do not count. Cost: O(LIDs). */
uint32_t transition_hosts_withdrawn(const struct transition *t, const struct graph *g,
                                    const struct lids *lids);

/*! \brief Pairs of a host's port and one of those LIDs that have no route meanwhile: an entry on the way changes.
 *  \param t  Of transition_plan() with \a in. Cost: O(withdrawn LIDs * switches * hops). */
uint64_t transition_pairs_withdrawn(const struct transition *t, const struct transition_in *in);

/*! \brief Is any order of updates safe? */
static inline bool transition_is_free(const struct transition *t)
{
	return transition_steps(t) <= 1 && t->late == NULL;
}

/*!
 * \brief The plan where a proof of the change has shown what it has to (proof_change.h).
 *
 * \param lid       [n] LIDs that change, ascending.
 * \param circling  [n_circling] of these, which have to be withdrawn, because a mixture of
 *                  their entries may circle.
 * \retval -ENOMEM
 */
int transition_of_change(const uint32_t *lid, uint32_t n, const uint32_t *circling,
                         uint32_t n_circling, uint32_t top, struct arena *a,
                         struct transition *ret_transition);
