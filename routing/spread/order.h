/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;

/*!
 * Routes for pairs that the ranks of a tree cannot join: up/down routes over a total order
 * of switches (updown.h). Shared by the engines for trees.
 *
 * An engine routes all pairs it can by rank: up, then down. For the other pairs it makes an
 * order from its ranks (order_init), says which pairs it has joined and which of these
 * routes only descend the order (bits of reaches and descends), and has the other pairs
 * joined (order_extend). order.c explains why the whole has no cycle of waiting channels.
 */
struct order {
	const struct graph *g;
	uint32_t n;     /*!< switches */
	uint32_t words; /*!< of 64 bits per row */
	uint32_t *pos;  /*!< [n] place in the order, 0 is the top */
	uint32_t *at;   /*!< [n] switch at a place */
	uint32_t *part; /*!< [n] connected part, over links between switches */
	/*! [n][words] destinations whose routes from here only descend the order: by
	 * rank, or else by a step down to such a switch. A switch descends to itself. */
	uint64_t *descends;
	/*! [n][words] all destinations that have a route. A route that is not by rank and
	 * does not descend begins with a step up to a switch that reaches the end. */
	uint64_t *reaches;
	/*! [n][words] destinations that have a route by rank from here, but get one that
	 * descends the order, because otherwise switches above could not reach them */
	uint64_t *replaced;
	bool *left; /*!< [n] destinations that some switch of their part still lacks */
	uint32_t n_left;
	uint64_t *wanted; /*!< [words] working memory */
	/*! [n] switches where a route by rank descends the order, then climbs to a
	 * neighbour of worse rank that stands above. Routes over the order do not use the
	 * links to such neighbours. */
	bool *is_conflict;
	uint32_t n_conflicts;
	uint32_t conflict;    /*!< the first of them */
	const uint16_t *rank; /*!< [n] of the rule, borrowed */
};

/*! Criteria of the order. */
struct order_rule {
	const uint16_t *rank; /*!< [n] 0 is the top */
	bool siblings; /*!< routes by rank pass links between switches of one rank; up is
	                  up the order */
};

static inline uint64_t *order_descends(const struct order *l, uint32_t s)
{
	return l->descends + (uint64_t)s * l->words;
}

static inline uint64_t *order_reaches(const struct order *l, uint32_t s)
{
	return l->reaches + (uint64_t)s * l->words;
}

static inline uint64_t *order_replaced(const struct order *l, uint32_t s)
{
	return l->replaced + (uint64_t)s * l->words;
}

static inline bool order_is_above(const struct order *l, uint32_t s, uint32_t other)
{
	return l->pos[other] < l->pos[s];
}

/*! \brief Do routes over the order avoid links between these two? */
static inline bool order_excludes(const struct order *l, uint32_t s, uint32_t other)
{
	uint32_t low = l->rank[s] > l->rank[other] ? s : other,
		 high = low == s ? other : s;

	return l->is_conflict[high] && l->rank[low] > l->rank[high] &&
	       order_is_above(l, high, low);
}

/*! \brief Does a step from \a s to a neighbour descend the order? */
static inline bool order_goes_down(const struct order *l, uint32_t s, uint32_t to)
{
	return !order_is_above(l, s, to) && !order_excludes(l, s, to);
}

/*! \brief Does it climb the order? */
static inline bool order_goes_up(const struct order *l, uint32_t s, uint32_t to)
{
	return order_is_above(l, s, to) && !order_excludes(l, s, to);
}

/*!
 * \brief Orders the switches; no bits are set.
 * \retval E_RANGE  More than 65,535 switches. \retval -ENOMEM
 * Cost: O((S + E) log S) time, S * S / 4 bytes.
 */
int order_init(struct order *l, const struct graph *g, const struct order_rule *rule,
               struct arena *a);

/*! \brief Joins the pairs that the bits do not join. A few routes by rank may be replaced.
 * Cost: O(E * S / 64). */
void order_extend(struct order *l);

enum { ORDER_PORTS_MAX = 256 };

/*!
 * \brief Egress ports of \a s to a switch that it reaches over the order only: steps down
 *        where these descend to the end, else steps up.
 * \param ret_ports  [ORDER_PORTS_MAX]
 */
unsigned order_ports(const struct order *l, uint32_t s, uint32_t t, uint8_t *ret_ports);

/*!
 * \brief The first of them for all destinations of a word of bits.
 * \param word  Destinations 64 * \a w and on, as above.
 * \param lid   [n] of a switch.
 * \param row   Forwarding table of \a s.
 */
void order_fill_word(const struct order *l, uint32_t s, uint32_t w, uint64_t word,
                     const uint32_t *lid, uint8_t *row);

/*! \brief Sets the port of the LIDs of those destinations of a word that are also \a there.
 * \return The other destinations. */
static inline uint64_t order_set_ports(const uint32_t *lid, uint8_t *row, uint32_t w,
                                       uint64_t word, uint64_t there, uint8_t port)
{
	for (uint64_t b = word & there; b; b &= b - 1) {
		row[lid[w * 64 + (uint32_t)__builtin_ctzll(b)]] = port;
	}
	return word & ~there;
}

/*! Routes to one destination over the order alone: a destination that some switch lacks
 * gets these in place of all others. */
struct order_routes {
	uint16_t *hops;  /*!< [n] */
	bool *descends;  /*!< [n] the route only descends */
	uint32_t *queue; /*!< [n] */
};

/*! \retval -ENOMEM */
int order_routes_init(struct order_routes *x, const struct order *l, struct arena *a);

/*! \brief Routes to \a t. Cost: O(S + E). */
void order_routes_find(struct order_routes *x, const struct order *l, uint32_t t);

/*! \brief Egress ports of \a s on these routes. \param ret_ports  [ORDER_PORTS_MAX]
 * \return How many; 0: t itself, or no route. */
unsigned order_routes_ports(const struct order_routes *x, const struct order *l,
                            uint32_t s, uint8_t *ret_ports);
