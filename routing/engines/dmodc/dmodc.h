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
 * The tree that the engines dmodc and fattree share, and which switch reaches which in it.
 * dmodc_job.h has the tables. The idea is described in dmodc.c.
 *
 * Switches with hosts have rank 0. Every other switch is one rank above its lowest
 * neighbour. Links between switches of one rank are not used.
 */

/*! Selects the uplink for a host. */
enum dmodc_select_by {
	DMODC_BY_NUMBER = 0,
	DMODC_PASS_THROUGH =
		1, /*!< its place on its switch; higher up also the switch's place */
	DMODC_CONVERGE = 2 /*!< in the middle of three ranks, its switch's place alone */
};

/*! Parameters of an engine. */
struct dmodc_rule {
	const char *engine;            /*!< name, for messages */
	/*! Switches at the top, by their GUID or that of a host on them. NULL: none. */
	const struct guid_file *roots;
	/*! [n_switches] switches at the top. NULL: ranks are distances from the leaves. */
	const bool *core;
	/*! [graph.n_ports] hosts placed after all others; NULL: none */
	const bool *last;
	unsigned select_by; /*!< enum dmodc_select_by, for all hosts that are not last */
};

enum { DMODC_NO_SLOT = 0xffff, DMODC_SLOTS_MAX = 254 };

/*! The cables from a switch to one neighbour. */
struct dmodc_group {
	uint32_t to;    /*!< switch index */
	uint32_t first; /*!< of its egress ports in dmodc_tree.port */
	/*! uplinks only: position in the selection; DMODC_NO_SLOT: a stub */
	uint16_t slot;
	uint8_t n;      /*!< ports */
};

/*! Groups of all switches in one direction, sorted by switch, slot, index. */
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
	uint8_t *slots;    /*!< [n] number of uplink slots, 0: no uplinks */
	uint32_t *place;   /*!< [n] index among the switches of its rank and plane */
	uint64_t *divider; /*!< [height + 1] per rank: product of the slots below */
	uint32_t *leaf;    /*!< [n_leaves] switches with hosts, subtree by subtree */
	uint32_t n_leaves;
	/*! [n_leaves] index among all leaves, also those without hosts */
	uint32_t *leaf_index;
	/*! [n] column of a switch's first host: hosts by leaf, then port */
	uint32_t *col;
	uint32_t n_cols;
	uint32_t *number; /*!< [n_cols] topological index of a host */
	/*! [n_cols] index of a host among those of its set on its switch */
	uint32_t *nth;
	/*! Hosts use nearly all the numbers that leaves reserve for them (leaves.h), so that
	 *  few are renumbered when one goes. */
	bool full;
	bool *is_stub;  /*!< [n] stub: connects nothing that is not connected below it */
	unsigned tiers; /*!< ranks that have switches other than stubs */
	uint32_t n_missing; /*!< uplinks that others of the same kind have */
	uint32_t n_unused;  /*!< cables between switches of one rank */
};

/*!
 * \brief Finds ranks, groups, slots, dividers and the order of hosts.
 *
 * \retval E_UNSUITABLE  Not a tree, reason in \a why. \retval -ENOMEM
 * Cost: O(E log E).
 */
int dmodc_tree_init(struct dmodc_tree *t, const struct graph *g,
                    const struct dmodc_rule *rule, struct arena *a, struct why *why);

/*!
 * Which switch reaches which by climbing k ranks, then descending. Row k of a switch has a
 * bit for each destination whose smallest k this is.
 */
struct dmodc_reach {
	uint32_t words; /*!< of 64 bits per row */
	unsigned rows;  /*!< per switch: height + 1 */
	uint64_t *bits; /*!< [n][rows][words] */
};

static inline uint64_t *dmodc_row(const struct dmodc_reach *r, uint32_t s, unsigned k)
{
	return r->bits + ((uint64_t)s * r->rows + k) * r->words;
}

/*!
 * \brief Makes the up/down order of switches that joins the pairs which have no route by rank.
 * All routes by rank are routes of this order, too.
 * \retval E_RANGE  As order_init(). \retval -ENOMEM
 * Cost: O(height * E * S / 64 + (S + E) log S).
 */
int dmodc_updown_init(struct order *l, const struct dmodc_tree *t,
                      const struct dmodc_reach *r, struct arena *a);

/*! \brief Is there a route by rank? */
static inline bool dmodc_reaches(const struct dmodc_reach *r, uint32_t s, uint32_t t)
{
	for (unsigned k = 0; k < r->rows; k++) {
		if (dmodc_row(r, s, k)[t / 64] >> t % 64 & 1) {
			return true;
		}
	}
	return false;
}
