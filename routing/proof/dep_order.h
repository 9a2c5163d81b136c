/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routing/graph/shape.h"

struct arena;
struct deps;

/*!
 * Dependencies between channels, with a topological order that is kept and repaired.
 *
 * The order is the certificate of a proof: a channel dependency graph is free of cycles exactly
 * when its channels can be numbered so that every dependency leads from a lower to a higher
 * number. A full proof finds such numbers. A later change only has to look at dependencies that are
 * new. One that leads from a lower to a higher number fits as it is. For any other one the channels
 * between the two numbers are searched: either the dependency closes a cycle, or these
 * channels are numbered anew among themselves (Pearce and Kelly 2006).
 *
 * Dependencies of routes that are gone may stay. The graph is then a superset of what the
 * tables make, and a superset without cycles proves every part of it. Where the superset
 * has a cycle nothing is proven or disproven, and a full proof has to decide. So this never accepts
 * what a full proof refuses.
 *
 * A channel is a direction of a link between switches: switch * width + port.
 *
 * Sources: W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987; D. Pearce, P. Kelly, "A Dynamic Topological Sort Algorithm
 * for Directed Acyclic Graphs", ACM Journal of Experimental Algorithmics 11, 2006.
 */
struct dep_order {
	const struct shape *shape; /*!< borrowed; where channels lead */
	uint32_t n;                /*!< channels, ports without a link included */
	unsigned words;
	uint64_t *after; /*!< [n][words] bit per egress port of the switch the channel leads to */
	uint32_t *place; /*!< [n] number of the channel in the order */
	bool management; /*!< dependencies of management pairs are in it, too */
	/* working memory */
	uint32_t *stack, *forward, *back, *pool;
	uint32_t *seen; /*!< [n] stamp of the last search that came by */
	uint32_t stamp;
	uint64_t steps; /*!< dependencies looked at since dep_order_begin() */
	struct dep_new {
		uint32_t channel;
		uint8_t egress;
	} *added; /*!< [n_added] malloc; since dep_order_begin() */
	uint32_t n_added;
	size_t cap_added;
};

/*!
 * \brief Takes over the dependencies that a proof collected, on one lane, and orders them.
 *
 * \param base        Of the pairs that decide.
 * \param management  Of management pairs, or NULL: they are left out.
 * \param a           Holds the arrays; \a o->added is freed by dep_order_done().
 * \retval E_CREDITLOOP  They have a cycle, so there is no order.
 * \retval -ENOMEM
 * Cost: O(channels + dependencies).
 */
int dep_order_init(struct dep_order *o, const struct shape *shape, const struct deps *base,
                   const struct deps *management, struct arena *a);
void dep_order_done(struct dep_order *o);

/*! \brief Forgets the dependencies of a link that is lost; before the shape changes. */
void dep_order_cut(struct dep_order *o, struct shape_link link);

/*! \brief A batch of additions begins, which dep_order_undo() can take back. */
void dep_order_begin(struct dep_order *o);

/*!
 * \brief Adds "a route goes on from channel to egress port" of the switch that it leads to.
 *
 * \retval E_CREDITLOOP  It would close a cycle; nothing is added.
 * \retval E_FULL        So much had to be searched in this batch that a full proof is faster.
 * \retval -ENOMEM
 */
int dep_order_add(struct dep_order *o, uint32_t channel, unsigned egress);

/*! \brief Takes back what was added since dep_order_begin(). The order still fits what is left. */
void dep_order_undo(struct dep_order *o);

static inline uint32_t dep_order_channel(const struct dep_order *o, uint32_t sw,
                                         unsigned port)
{
	return sw * o->shape->width + port;
}
