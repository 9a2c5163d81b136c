/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/tables.h"
#include "routing/spread/order.h"

struct arena;
struct guid_file;
struct lids;

/*!
 * What the files of the fat-tree engine share. Private to routing/engines/ftree.
 *
 * Rank 0 is the top. A cable between two ranks leads up to the smaller one. A cable between
 * switches of equal rank (a "sibling" link) leads up to the switch that comes first in the
 * up/down order of all switches (routing/spread/order.h). Routes climb, then descend. A pair
 * that has no such route is routed by that order.
 */
enum {
	FTREE_RANKS_MAX = 8, /*!< the manual's limit */
	FTREE_NONE = 0xff,   /*!< distance: no route that climbs, then descends */
	FTREE_UP = 0x80,     /*!< distance: the next hop climbs */
	FTREE_HOPS = 0x7f,   /*!< distance: number of hops */
	FTREE_HOPS_MAX = 126
};

struct ftree_options {
	const struct guid_file *roots, *cn, *io;
	/*! port groups that a line of roots may name */
	const struct port_policy *groups;
	uint32_t max_reverse_hops;
	bool connect_roots;
};

/*! A cable that leads up or down, seen from one end. */
struct ftree_link {
	uint32_t to;      /*!< switch index */
	uint32_t channel; /*!< index in graph.adj */
	uint32_t class;   /*!< of the switch there, UINT32_MAX: of equal rank */
	uint8_t port;     /*!< egress port here */
	uint8_t cable; /*!< number of the cable among those of the lower end into this class */
};

/*! The part of a host's main route between rank r + 1 and rank r. */
struct ftree_stage {
	uint32_t class; /*!< of the switch of rank r, UINT32_MAX: none */
	/*! the host's number divided by the choices so far; spreads over equal links */
	uint32_t quotient;
	uint32_t cable; /*!< which of several cables into that class */
};

struct ftree {
	const struct graph *g;
	const struct lids *lids;
	const struct ftree_options *opt;
	const _Atomic bool *cancel;
	uint32_t n; /*!< switches */
	/* ftree_rank.c */
	uint8_t *kind; /*!< [graph.n_ports] enum ftree_kind of CA and router ports */
	/*! [graph.n_ports] the GUID lists say that the port is no compute node: the manual
	 *  promises no route from one such port to another */
	bool *non_cn;
	bool *only_non_cn; /*!< [n] the switch has hosts, none of them a compute node */
	uint8_t *rank;     /*!< [n] */
	uint8_t n_ranks;
	uint32_t *n_cn; /*!< [n] compute nodes on a switch */
	/*! up/down order of the switches, for pairs that ranks do not join */
	struct order order;
	/* ftree_order.c */
	/*! [n] equal for switches of one rank below the same switches */
	uint32_t *class;
	uint32_t n_classes;
	uint32_t *leaf;     /*!< [n_leaves] switches with hosts, subtree by subtree */
	uint32_t *leaf_pos; /*!< [n] place in leaf, UINT32_MAX: no hosts */
	uint32_t n_leaves;
	/*! host numbers reserved per leaf switch, 0: none for missing hosts */
	uint32_t cn_stride;
	/*! [n_hosts] host numbers behind the first of the leaf switch, if they follow from the
	 *  switch port; NULL: they follow from the order of the hosts */
	uint32_t *place;
	bool placed; /*!< they do for all hosts, and nearly all numbers have one */
	uint32_t cn_rank;        /*!< rank of the switches that have most compute nodes */
	struct ftree_link *link; /*!< [graph.n_adj] per switch: up by class, then down */
	uint32_t *first;         /*!< [n + 1] into link */
	uint32_t *first_down;    /*!< [n] */
	uint32_t n_hosts;        /*!< entries of graph.hosts */
	uint32_t *lid;           /*!< [n_hosts] base LID, 0: none */
	struct ftree_stage *stage; /*!< [FTREE_RANKS_MAX][n_hosts] */
	/* ftree_reach.c */
	uint8_t *dist; /*!< [n][stride] hops to each switch, with FTREE_UP */
	size_t stride;
	/* ftree_fill.c */
	struct lft *lft;
	/*! [n][off_stride] bit per host: the entry here leaves its main route */
	uint8_t *off;
	size_t off_stride;
	uint32_t n_apart; /*!< pairs of switches with hosts that ranks do not join */
	bool broken;      /*!< a main route is cut somewhere */
	bool uneven; /*!< ftree_repair.c: a link carries much more than the mean without need */
};

enum ftree_kind { FTREE_OTHER, FTREE_CN, FTREE_IO };

static inline struct ftree_stage *ftree_stage(const struct ftree *f, unsigned rank,
                                              uint32_t h)
{
	return f->stage + (size_t)rank * f->n_hosts + h;
}

/*! \brief Does the entry of switch \a s for host \a h leave the main route of the host? */
static inline bool ftree_is_off(const struct ftree *f, uint32_t s, uint32_t h)
{
	return f->off[(size_t)s * f->off_stride + h / 8] >> h % 8 & 1;
}

static inline unsigned ftree_dist(const struct ftree *f, uint32_t from, uint32_t to)
{
	return f->dist[(size_t)from * f->stride + to];
}

static inline uint32_t ftree_hosts_on(const struct ftree *f, uint32_t s)
{
	return f->g->host_first[s + 1] - f->g->host_first[s];
}

/*! \brief Does a cable from switch \a s to switch \a to lead up? */
static inline bool ftree_leads_up(const struct ftree *f, uint32_t s, uint32_t to)
{
	return f->rank[to] != f->rank[s] ? f->rank[to] < f->rank[s]
	                                 : order_is_above(&f->order, s, to);
}

/*! \brief The link behind a port. \return NULL: none. */
static inline const struct ftree_link *ftree_link_of(const struct ftree *f, uint32_t s,
                                                     uint8_t port)
{
	for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
		if (f->link[i].port == port) {
			return &f->link[i];
		}
	}
	return NULL;
}

/*! \brief Does a link from switch \a s to \a to, up or down, lead closer to switch \a t?
 */
static inline bool ftree_closer(const struct ftree *f, uint32_t s, uint32_t to, bool up,
                                uint32_t t)
{
	unsigned d = ftree_dist(f, s, t), e = ftree_dist(f, to, t);

	return up ? (e & FTREE_HOPS) + 1 == (d & FTREE_HOPS) : e + 1 == d;
}

/*!
 * \brief Tells compute nodes from others, ranks switches, says whether it is a tree.
 * \retval E_UNSUITABLE  Reason in \a why. \retval -ENOMEM
 */
int ftree_rank(struct ftree *f, struct arena *a, struct why *why);

/*! \brief Finds the classes of switches, the order of leaves and all main routes. \retval -ENOMEM */
int ftree_order(struct ftree *f, struct arena *a);

/*!
 * \brief Computes distances along routes that climb, then descend, and extends the up/down
 * order to all other pairs.
 * \retval E_UNSUITABLE  Ranks do not join many of the lowest switches with compute nodes.
 * \retval -ENOMEM
 */
int ftree_reach(struct ftree *f, struct arena *a, struct why *why);

/*! \brief Fills the tables with main routes; where one is cut, with another shortest route. */
int ftree_fill(struct ftree *f, struct arena *a);

/*!
 * \brief Reroutes pairs whose main route is cut over the least used links.
 * \retval -ENOMEM -ECANCELED
 */
int ftree_repair(struct ftree *f, struct arena *a);

/*!
 * \brief Moves routes from links that carry much more than the others to other routes of the
 *        tree.
 * \param prev  Entries that equal those of these tables stay; NULL: none.
 * \param lft   Tables that ftree made; changed.
 * \retval -ENOMEM -ECANCELED
 */
int ftree_even(struct ftree *f, const struct lft *prev, struct lft *lft, struct arena *a);

/*!
 * \brief Fills entries for pairs that only the up/down order joins: LIDs of switches at every
 * switch, LIDs of hosts wherever a compute node may need them. \retval -ENOMEM
 */
int ftree_fill_order(struct ftree *f, struct arena *a);

/*!
 * \brief Port at switch \a s towards host \a h on switch \a t by the up/down order.
 * \return LFT_NO_ROUTE: the order does not join them.
 */
uint8_t ftree_order_port(const struct ftree *f, uint32_t s, uint32_t t, uint32_t h);

/*! Entries that climb after they descended. */
struct ftree_added {
	uint64_t by_order; /*!< by the up/down order, free of credit loops */
	uint64_t by_hops;  /*!< where the order takes more reverse hops than allowed */
	uint64_t back;     /*!< by the order, the way back of a route that a compute node needs */
};

/*! \brief Routes between non-compute nodes that climb after they descended. \retval -ENOMEM */
int ftree_reverse(struct ftree *f, struct arena *a, struct ftree_added *ret_added);

/*! \brief Adds to \a notes what the tree lacks. */
void ftree_note(const struct ftree *f, struct why *notes);

/*! \brief Is there a host without a route to another one in its connected part? */
bool ftree_misses(const struct ftree *f);

/*! \brief Text of ftree_cn_order(). \return NULL: out of memory. */
char *ftree_cn_text(const struct ftree *f, struct arena *a);

/*!
 * \brief Lists compute nodes in the order in which shifts pass without contention
 * (OpenSM's opensm-ftree-ca-order.dump).
 *
 * A line each: "0x" and the LID in four digits, tab, node description. "0xFFFF", tab,
 * "DUMMY" stand for missing hosts, so that every leaf switch has the same number of
 * lines.
 *
 * \param in   As given to the engine.
 * \param ret_text  Arena string.
 * \retval E_UNSUITABLE  As the engine, reason in \a why. \retval -ENOMEM
 */
int ftree_cn_order(const struct route_in *in, struct arena *a, const char **ret_text,
                   struct why *why);
