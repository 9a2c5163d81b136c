/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/spread/order.h"

struct arena;
struct graph;
struct guid_file;
struct why;

/*!
 * Trees by closed form: what the engines dmodc and fattree share (dmodc.c tells the
 * idea). The tree and who reaches whom in it; dmodc_job.h has the tables.
 *
 * Rank 0 are the switches with hosts, each other switch is one above its lowest
 * neighbour. Links between switches of one rank are not used.
 */

/*! How hosts are dealt over the ways up. */
enum dmodc_deal_by {
	DMODC_BY_NUMBER = 0,
	DMODC_PASS_THROUGH =
		1, /*!< by place on the switch, and by that of the switch higher up */
	DMODC_CONVERGE =
		2 /*!< in the middle of three ranks by the place of the switch alone */
};

/*! What an engine wants of it. */
struct dmodc_rule {
	const char *engine;            /*!< name, for messages */
	const struct guid_file *roots; /*!< switches at the top, by their GUID or that of
	                                  a host on them; NULL: none */
	const bool *core; /*!< [n_switches] likewise; NULL: ranks are distances from the
	                     switches with hosts */
	const bool *last; /*!< [graph.n_ports] hosts that are numbered after all others;
	                     NULL: none */
	unsigned deal_by; /*!< enum dmodc_deal_by, for all that are not last */
};

enum { DMODC_NO_SLOT = 0xffff, DMODC_SLOTS_MAX = 254 };

/*! The cables from a switch to one neighbour. */
struct dmodc_group {
	uint32_t to;    /*!< switch index */
	uint32_t first; /*!< of its egress ports in dmodc_tree.port */
	uint16_t slot;  /*!< up only: its turn in dealing, DMODC_NO_SLOT: it joins nothing
	                 */
	uint8_t n;      /*!< ports */
};

/*! Groups of all switches in one direction, by switch; of one switch by slot, then index.
 */
struct dmodc_groups {
	uint32_t *first; /*!< [n + 1] into group */
	struct dmodc_group *group;
};

struct dmodc_tree {
	const struct graph *g;
	uint32_t n;           /*!< switches */
	unsigned height;      /*!< greatest rank */
	uint8_t *rank;        /*!< [n] */
	uint32_t *by_rank;    /*!< [n] switches, ascending rank, then index */
	uint32_t *rank_first; /*!< [height + 2] into by_rank */
	uint32_t *part;       /*!< [n] connected part, over all links between switches */
	struct dmodc_groups up, down;
	uint8_t *port;
	uint8_t *slots;  /*!< [n] slots that an uplink of the switch can have, 0: no
	                    uplinks */
	uint32_t *place; /*!< [n] place among the switches of its rank that reach the same
	                    tops */
	uint64_t *divider; /*!< [height + 1] per rank */
	uint32_t *home;    /*!< [n_homes] switches with hosts, neighbours in the tree
	                      together */
	uint32_t n_homes;
	uint32_t *seat; /*!< [n_homes] place among all leaves, empty ones counted */
	uint32_t *
		col; /*!< [n] column of a switch's first host: hosts by home, then port */
	uint32_t n_cols;
	uint32_t *number; /*!< [n_cols] of a host, in the order in which they are dealt */
	uint32_t *nth;    /*!< [n_cols] of a host among those of its set on its switch */
	bool full;        /*!< hosts have nearly all the numbers that leaves hold for them
	                     (leaves.h),        so that few are dealt anew when one goes */
	bool *bare;       /*!< [n] joins nothing new: a leaf that lost its hosts */
	unsigned tiers;   /*!< ranks of switches that are no bare leaves */
	uint32_t n_missing; /*!< uplinks that others of the same kind have */
	uint32_t n_unused;  /*!< cables between switches of one rank */
};

/*!
 * \brief Ranks, groups, slots, dividers and the order of hosts.
 *
 * \retval E_UNSUITABLE  Not a tree, reason in \a why. \retval -ENOMEM
 * Cost: O(E log E).
 */
int dmodc_tree_init(struct dmodc_tree *t, const struct graph *g,
                    const struct dmodc_rule *rule, struct arena *a, struct why *why);

/*!
 * Who reaches whom by climbing k ranks, then descending: row k of a switch has a bit for
 * each switch for which k is the least.
 */
struct dmodc_reach {
	uint32_t words; /*!< of 64 bits per row */
	unsigned rows;  /*!< per switch: height + 1 */
	uint64_t *bits; /*!< [n][rows][words] */
};

/*! \brief Cost: O(height * E * S / 64). Parallel. \retval -ENOMEM */
int dmodc_reach_init(struct dmodc_reach *r, const struct dmodc_tree *t, struct arena *a);

static inline uint64_t *dmodc_row(const struct dmodc_reach *r, uint32_t s, unsigned k)
{
	return r->bits + ((uint64_t)s * r->rows + k) * r->words;
}

/*!
 * \brief Joins by a line of switches what climbing and descending ranks does not. All
 * routes by rank are routes over the line, too. \retval E_RANGE as order_init() \retval
 * -ENOMEM Cost: O(height * E * S / 64 + (S + E) log S).
 */
int dmodc_line_init(struct order *l, const struct dmodc_tree *t,
                    const struct dmodc_reach *r, struct arena *a);

/*! \brief By rank? */
static inline bool dmodc_reaches(const struct dmodc_reach *r, uint32_t s, uint32_t t)
{
	for (unsigned k = 0; k < r->rows; k++) {
		if (dmodc_row(r, s, k)[t / 64] >> t % 64 & 1) {
			return true;
		}
	}
	return false;
}
