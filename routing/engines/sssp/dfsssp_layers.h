/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/cdg.h"
#include "routing/graph/column.h"
#include "routing/graph/tables.h"

struct arena;
struct graph;
struct lids;

/*!
 * Layers: gives every route a lane so that no lane has a credit loop.
 *
 * Tables stay as they are. A route is a pair (source switch, LID); in each layer the
 * dependencies between channels are counted by the routes that make them, and cycles are
 * broken by moving all routes of one dependency on to the next layer.
 */
enum {
	LAYER_NONE = 0xff, /*!< lane of a pair that was not placed */
	LAYERS_MAX = 64,   /*!< more are not looked for */
	LAYERS_KEPT = 20   /*!< at most so many are made fewer */
};

struct layers {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;
	const _Atomic bool *cancel;
	uint8_t *lane; /*!< [n_switches][stride of the lft] */
	/* working memory */
	struct column_map map;
	struct column *col; /* [threads] */
	uint32_t *tally;    /* [threads][2][n_switches] */
	bool *to_host;      /* [top + 1] the LID is that of a CA or router port */
	/* [n_adj + 1] dependencies of a channel: one per channel that leaves the
	 * switch it leads to */
	uint32_t *first;
	uint32_t *count;    /* [n_deps] routes that may be moved */
	uint32_t *fixed;    /* [n_deps] routes that may not */
	uint32_t *from;     /* [n_adj] switch a channel leaves */
	uint8_t *colour;    /* [n_adj] */
	uint32_t *at;       /* [n_adj] dependency looked at */
	uint32_t *place;    /* [n_adj] in stack */
	uint32_t *stack;    /* [n_adj] */
	uint32_t *queue;    /* [n_switches] */
	uint32_t *parent;   /* [n_switches] as queue */
	uint32_t *moved;    /* [n_switches] as queue */
	/* [n_adj] channels in the order in which the search left them */
	uint32_t *finished;
	uint32_t n_finished;
	struct arena *tmp;
	struct cdg_map map_cdg;
	struct cdg kept[LAYERS_KEPT];       /* dependencies of finished layers */
	uint64_t n_entered[LAYERS_MAX + 1]; /* routes that came to a layer */
	uint64_t n_routes;
	uint64_t n_moved;
	bool manage; /* routes of switches without hosts are those that move */
	uint8_t layer;
};

/*!
 * \brief Working memory, and lanes that are LAYER_NONE everywhere.
 * \param lane_arena  Holds the lanes. \retval -ENOMEM
 */
int layers_init(struct layers *l, const struct graph *g, const struct lids *lids,
                const struct lft *lft, const _Atomic bool *cancel,
                struct arena *lane_arena, struct arena *tmp);

/*!
 * \brief Places all routes from switches with hosts to LIDs of hosts.
 * \param in_dimensions  They keep to an order of dimensions.
 * \param ret_n  Layers used, at most LAYERS_MAX; LAYERS_MAX + 1 when these are not
 * enough. \retval -ECANCELED
 */
int layers_place_hosts(struct layers *l, bool in_dimensions, unsigned *ret_n);

/*!
 * \brief The same by fitting one route after the other. All of them are on lane 0 before.
 * \param far_first  Far routes before near ones.
 * \retval E_UNSUITABLE  Too many channels, or hops; lanes are as they were.
 * \retval -ECANCELED -ENOMEM
 */
int layers_fit(struct layers *l, bool far_first, unsigned *ret_n);

/*!
 * \brief Places the routes from switches without hosts to LIDs of hosts around the
 * others.
 *
 * \param max    Layers there are. Routes that fit in none get lane 0.
 * \param n      In: layers used; out: likewise.
 * \param ret_left  Routes that fitted nowhere.
 * \retval -ECANCELED
 */
int layers_place_management(struct layers *l, unsigned max, unsigned *n,
                            uint64_t *ret_left);

/*!
 * \brief Can all routes to the LIDs of switches without hosts join a layer?
 * The columns of these must be free of cycles by themselves.
 */
bool layers_fit_switches(struct layers *l, uint8_t layer);

/*! \brief Keeps the dependencies of the layer just searched, for layers_compact().
 * \retval -ENOMEM */
int layers_keep(struct layers *l, unsigned layer);

/*!
 * \brief Empties small last layers into earlier ones. Only behind layers_place_hosts().
 * \param n  In: layers used; out: likewise.
 * \retval -ECANCELED
 */
int layers_compact(struct layers *l, unsigned *n);
