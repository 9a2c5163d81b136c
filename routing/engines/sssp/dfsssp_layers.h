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

/*! Layers: assigns every route a lane so that no lane has a credit loop. Tables are
 * not changed. A route is a pair (source switch, LID). In each layer the routes of
 * every dependency between channels are counted, and a cycle is broken by moving all
 * routes of one dependency to the next layer. */
enum {
	LAYER_NONE = 0xff, /*!< lane of a pair that is not placed */
	LAYERS_MAX = 64,   /*!< more layers are not tried */
	LAYERS_KEPT = 20   /*!< only up to this many are compacted */
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
	uint32_t *routes;   /* [threads][2][n_switches] */
	bool *to_host;      /* [top + 1] the LID is that of a CA or router port */
	/* [n_adj + 1] dependencies of a channel: one per channel that leaves the
	 * switch it leads to */
	uint32_t *first;
	uint32_t *count;    /* [n_deps] movable routes */
	uint32_t *fixed;    /* [n_deps] 1: there are fixed routes */
	uint32_t *from;     /* [n_adj] switch a channel leaves */
	uint8_t *colour;    /* [n_adj] */
	uint32_t *at;       /* [n_adj] next dependency of the search */
	uint32_t *place;    /* [n_adj] in stack */
	uint32_t *stack;    /* [n_adj] */
	uint32_t *queue;    /* [n_switches] */
	uint32_t *parent;   /* [n_switches] as queue */
	uint32_t *moved;    /* [n_switches] as queue */
	/* [n_adj] channels in finishing order of the search */
	uint32_t *finished;
	uint32_t n_finished;
	struct arena *tmp;
	struct cdg_map map_cdg;
	struct cdg kept[LAYERS_KEPT];       /* dependencies of finished layers */
	uint64_t n_entered[LAYERS_MAX + 1]; /* routes that were moved to a layer */
	uint64_t n_routes;
	uint64_t n_moved;
	bool breaks; /* cycles are broken, so counts are exact; else they are 1 */
	bool manage; /* the movable routes are those from switches without hosts */
	uint8_t layer;
};

/*! \brief Allocates working memory and sets all lanes to LAYER_NONE. \param lane_arena
 * Holds the lanes. \retval -ENOMEM */
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

/*! \brief The same by fitting one route after the other. All are on lane 0 before.
 * \param far_first Far routes before near ones. \retval E_UNSUITABLE Too many
 * channels or hops; lanes are unchanged. \retval -ECANCELED -ENOMEM */
int layers_fit(struct layers *l, bool far_first, unsigned *ret_n);

/*! \brief Places the routes from switches without hosts to LIDs of hosts around the
 * others. \param max Layers available. Routes that fit in none get lane 0. \param n
 * Layers used, in and out. \param ret_left Routes that fitted nowhere. \retval
 * -ECANCELED */
int layers_place_management(struct layers *l, unsigned max, unsigned *n,
                            uint64_t *ret_left);

/*! \brief Can all routes to the LIDs of switches without hosts join a layer? They must
 * have no cycle among themselves. */
bool layers_fit_switches(struct layers *l, uint8_t layer);
