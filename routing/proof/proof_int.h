/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/column.h"
#include "routing/proof/proof.h"
#include "routing/proof/proof_cycle.h"

/*!
 * What the files of the proof share: proof_walk.c counts, proof_rule.c does so with an
 * SL-to-VL rule, proof_list.c finds the culprits, proof.c sums up.
 */
enum { VLS_MAX = 16 };

struct tally {
	uint64_t pairs, unreachable, missed, holes, loops, management_unreachable;
	uint32_t management_lid; /* lowest of management_unreachable, UINT32_MAX: none */
	/* bits: VLs of sources with hosts, by whether the pairs decide */
	unsigned vls, management_vls;
};

enum fault { FAULT_CULPRIT = 1 /* a hole or a loop */, FAULT_MISSED = 2 };

struct prover {
	struct column_map map;
	const struct lanes *lanes;  /* NULL: one lane */
	const struct vl_rule *rule; /* NULL: the VL is the lane */
	uint8_t *class_out,
		*class_in; /* [n_adj] with a rule: port classes at the ends of a channel */
	unsigned levels;   /* with a rule: QoS levels to look at */
	unsigned n_graphs; /* of dependencies: one per VL; with a rule one for all */
	struct deps base[VLS_MAX];       /* of the pairs that decide */
	struct deps management[VLS_MAX]; /* of management pairs */
	const uint8_t *may_miss;         /* [top + 1] or NULL */
	uint32_t *n_may_miss; /* [n] hosts on the switch that are among these */
	uint8_t *faulty;      /* [top + 1] enum fault: what the column has */
	/* [top / COLUMN_BLOCK + 1] bit per LID whose dependencies are not collected in
	   base; NULL: all are */
	const uint64_t *skip;
};

/* Working memory of one thread for one column. */
struct workspace {
	struct column *col;
	struct column_block *block; /* NULL where the lane of a route matters */
	struct deps here[2]; /* with a block: dependencies at one switch, by egress port;
	                        of pairs that decide, of management pairs */
	uint16_t *passed;    /* [n] bit per lane: a route of a pair that decides passes */
	uint16_t *managed;   /* [n] likewise of a management pair */
	uint64_t *state[2];  /* with a rule: [n] bit per (class in, SL) that was followed;
	                       [1] of pairs that decide */
	struct tally tally;
};

/* Lane of a source's traffic to a LID. */
static inline unsigned proof_lane(const struct prover *pv, uint32_t s, uint32_t lid)
{
	return pv->lanes ? lane_of(pv->lanes, s, lid) % VLS_MAX : 0;
}

/* Switches of the part in which the column's owner is. */
static inline const uint32_t *proof_members(const struct prover *pv,
                                            const struct column *c, uint32_t *ret_n)
{
	uint32_t part = pv->map.part[c->home];

	*ret_n = pv->map.part_first[part + 1] - pv->map.part_first[part];
	return pv->map.member + pv->map.part_first[part];
}

/* Does the pair (s, LID of the column) decide, or is it a management pair? */
static inline bool proof_decides(const struct prover *pv, const struct column *c,
                                 uint32_t s)
{
	return c->to_host && pv->map.n_hosts[s];
}

/* Notes VLs that the route of switch \a s to the LID of the column uses. */
static inline void proof_note_vls(const struct prover *pv, struct workspace *b,
                                  uint32_t s, unsigned vls)
{
	struct tally *t = &b->tally;

	if (pv->map.n_hosts[s]) {
		*(proof_decides(pv, b->col, s) ? &t->vls : &t->management_vls) |= vls;
	}
}

/* Hosts on a switch that may be without a route to the LID of the column. */
static inline uint32_t proof_may_miss(const struct prover *pv, const struct column *c,
                                      uint32_t s)
{
	return pv->may_miss && pv->may_miss[c->lid] && s != c->home ? pv->n_may_miss[s]
	                                                            : 0;
}

/* Does the pair decide and have no route, which all hosts of the switch may? */
static inline bool proof_is_missed(const struct prover *pv, const struct column *c,
                                   uint32_t s)
{
	return c->state[s] != COLUMN_ARRIVES && proof_decides(pv, c, s) &&
	       proof_may_miss(pv, c, s) == pv->map.n_hosts[s];
}

/* Is it a hole that fails the proof? */
static inline bool proof_is_hole(const struct workspace *b, uint32_t s)
{
	return b->col->state[s] == COLUMN_HOLE && b->passed[s];
}

/*! \brief Maps the fabric and makes empty dependency graphs. \a pv is zero but for may_miss
 * and skip. \retval -ENOMEM */
int proof_prover_init(struct prover *pv, const struct graph *g, const struct lids *lids,
                      const struct lft *lft, const struct lanes *lanes,
                      struct arena *tmp);

/*!
 * \brief Walks all columns: collects dependencies and counts what does not arrive.
 * \param n  Working sets, at least column_threads(). \retval -ENOMEM
 */
int proof_walk_columns(struct prover *pv, unsigned n, struct arena *tmp,
                       struct workspace **ret_workspace);

/*! \brief Classes of channels, and levels to look at. \retval -ENOMEM */
int proof_rule_init(struct prover *pv, struct arena *tmp);

/*! \brief VLs that a graph of all dependencies has to hold, as a shift. */
unsigned proof_rule_shift(const struct prover *pv);

/*! \brief VLs (bits) on all QoS levels that correspond to these on the levels looked at. */
unsigned proof_rule_vls(const struct prover *pv, unsigned vls);

/*! \brief Follows the routes of one source on all levels, up to states followed before. */
void proof_rule_follow(const struct prover *pv, struct workspace *b, uint32_t s);

/*! A dependency: from one link on one VL to the next. */
struct step {
	uint32_t channel, next; /* index in graph.adj */
	unsigned vl, next_vl;
};

/*! \brief Does the route of s to the column's LID, which arrives, make this step? */
bool proof_rule_takes(const struct prover *pv, const struct column *c, uint32_t s,
                      uint32_t via, const struct step *step);

/*! \brief Marks what both kinds of pairs pass and adds their dependencies. */
void proof_follow_sources(const struct prover *pv, struct workspace *b);

/*!
 * \brief Lists the first holes and loops, in the order of LIDs and switches, and the
 *        first source of p->management_hole.
 * \retval -ENOMEM
 */
int proof_list_faults(const struct prover *pv, struct workspace *b, struct arena *a,
                      struct proof *p);

/*!
 * \brief Lists one shortest cycle of each component while the list has room.
 *
 * \param skip  [comps->n] components to leave out, or NULL.
 * \param like  VL and management flag of the entries.
 * \retval -ENOMEM
 */
int proof_list_cycles(const struct prover *pv, struct column *col, const struct deps *d,
                      const struct components *comps, const uint8_t *skip,
                      struct proof_cycle like, struct arena *a, struct proof *p);
