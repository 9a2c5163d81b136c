/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct graph;

/*!
 * Channel dependency graphs that stay acyclic: one struct cdg per lane, a struct cdg_map
 * for what they share.
 *
 * A channel is a directed switch-to-switch link (index of graph.adj). A dependency (a, b)
 * says that some route goes on from channel a to channel b; b leaves the switch to which
 * a leads. cdg_add() takes one only if no cycle closes, so a lane that is built with it
 * can't deadlock (Dally and Seitz 1987).
 */
struct cdg_map {
	const struct graph *g;
	uint32_t n;     /*!< channels */
	unsigned words; /*!< 64-bit words in a row of a cdg */
	uint32_t *from; /*!< [n] switch that a channel leaves */
	uint32_t *back; /*!< [n] channel of the same cable in the other direction */
};

struct cdg {
	const struct cdg_map *m;
	uint64_t *out; /*!< [n][words] bit k: a route goes on to the k-th link of the
	                  switch behind */
	uint64_t *in;  /*!< [n][words] bit k: a route comes from the back of the k-th link
	                  of  the switch that the channel leaves */
	uint32_t *ord; /*!< [n] place of a channel; dependencies lead from lower to higher
	                */
	uint32_t *at;  /*!< [n] channel at a place */
	/* working memory of cdg_add() */
	uint32_t *mark; /*!< [n] by place: the search that came by last */
	uint32_t *ahead, *behind, *slots;
	uint32_t search;
};

/*! \brief What all lanes share. \retval -ENOMEM */
int cdg_map_init(struct cdg_map *m, const struct graph *g, struct arena *a);

/*!
 * \brief Empty graph of one lane.
 * \param order  [n] channels in the order to start from, NULL: by index. The nearer it is
 * to that of the dependencies to come, the less there is to do. \retval -ENOMEM
 */
int cdg_init(struct cdg *c, const struct cdg_map *m, const uint32_t *order,
             struct arena *a);

/*!
 * \brief Notes a dependency without a look at cycles. Callable from many threads at once;
 *        cdg_settle() must follow before anything else is done with the graph.
 */
void cdg_note(struct cdg *c, uint32_t from, uint32_t to);

/*!
 * \brief Finds the order of all that was noted.
 * \return false when there is a cycle; then the graph is cleared.
 * Cost: O(channels + dependencies).
 */
bool cdg_settle(struct cdg *c);

/*! \brief Removes all dependencies. */
void cdg_clear(struct cdg *c);

/*!
 * \brief Adds a dependency unless it closes a cycle.
 * \return false when it would; then nothing changed. true also when it was there.
 * Cost: O(1) when \a to stands behind \a from, else what lies between them.
 */
bool cdg_add(struct cdg *c, uint32_t from, uint32_t to);

/*! \brief Could the dependency be added? Costs as much as adding it, but moves nothing.
 */
bool cdg_fits(struct cdg *c, uint32_t from, uint32_t to);

/*! \brief Removes a dependency. O(1). */
void cdg_remove(struct cdg *c, uint32_t from, uint32_t to);

/*! \brief Is the dependency there? */
bool cdg_has(const struct cdg *c, uint32_t from, uint32_t to);
