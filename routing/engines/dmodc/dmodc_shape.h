/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/engines/dmodc/dmodc.h"
#include "routing/graph/graph.h"
#include "routing/spread/leaves.h"

/*! A plane of the ranks above, while they are numbered. */
struct shape_plane {
	uint32_t plane, parent; /*!< named by a switch */
	uint32_t round;         /*!< planes of its system before it */
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
	uint32_t *cluster; /* [n] the cluster of a switch among those of its rank and
	                      below */
	uint32_t *plane; /* [n] the plane of a switch among those of its rank and above */
	uint32_t *number; /* [n] by plane: its slot in the plane that holds it */
	struct shape_plane *planes; /* [n] */
	uint32_t *seat; /* [n_seats] leaves, also without hosts, neighbours together */
	uint32_t n_seats;
	uint32_t *count; /* [n] by plane, or by switch: members, when counting */
};

/* Sets of switches that grow together, in joined: leaves.h. */

static inline void shape_reset(struct shape *x)
{
	for (uint32_t s = 0; s < x->t->n; s++) {
		x->joined[s] = s;
	}
}

/*! \brief Slots of uplinks, places, dividers, stubs. Needs ranks, groups and clusters. */
void shape_planes(struct shape *x);
