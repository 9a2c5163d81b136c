/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/engines/dmodc/dmodc.h"
#include "routing/graph/graph.h"
#include "routing/spread/leaves.h"

/*! A plane of the ranks above, for numbering. */
struct shape_plane {
	uint32_t plane, parent; /*!< named by a switch */
	uint32_t round;         /*!< planes of the same system before it */
	uint64_t system;
};

/*! Working memory of dmodc_tree_init(). Private to dmodc_tree.c and dmodc_planes.c. */
struct shape {
	struct dmodc_tree *t;
	const struct graph *g;
	const struct dmodc_rule *rule;
	struct why *why;
	struct arena *a;
	uint32_t *queue;   /* [n] */
	uint32_t *joined;  /* [n] union-find */
	uint32_t *cluster; /* [n] connected component of a switch in its rank and below */
	uint32_t *plane;   /* [n] connected component of a switch in its rank and above */
	uint32_t *number;  /* [n] by plane: its slot in the plane that contains it */
	struct shape_plane *planes; /* [n] */
	/* [n_all_leaves] leaves, also those without hosts, subtree by subtree */
	uint32_t *all_leaves;
	uint32_t n_all_leaves;
	uint32_t *count; /* [n] counters by plane or by switch */
};

static inline void shape_reset(struct shape *x)
{
	for (uint32_t s = 0; s < x->t->n; s++) {
		x->joined[s] = s;
	}
}

/*! \brief Finds slots of uplinks, places, dividers and stubs. Needs ranks, groups, clusters. */
void shape_planes(struct shape *x);
