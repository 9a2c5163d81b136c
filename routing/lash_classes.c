/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Lanes of a whole torus by what its ways cross.
 *
 * Each ring of more than three switches is cut at the end of its numbering. A way that
 * crosses the cut is at most half around, so it never uses the link across from the cut;
 * one that does not cross never uses the cut. So ways of dimension order that cross the
 * same set of cuts close no cycle, and a lane for each set will do: eight for three
 * dimensions, without a search, however large the torus.
 *
 * Source: W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987.
 */
#include "routing/lash_classes.h"

#include <errno.h>
#include <stdbool.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/lash_layer.h"
#include "routing/lash_mesh.h"

enum { RING_MIN = 4 };

static bool is_cut(const struct lash_mesh *m, unsigned d)
{
	return m->closed[d] && m->size[d] >= RING_MIN;
}

unsigned lash_classes(const struct lash_mesh *m, const struct graph *g)
{
	unsigned n = 1;

	for (unsigned d = 0; d < m->n_dims; d++) {
		n <<= is_cut(m, d);
	}
	return lash_mesh_whole(m, g) ? n : 0;
}

static uint8_t class_of(const struct lash_mesh *m, uint32_t s, uint32_t t)
{
	unsigned class = 0;

	for (unsigned d = 0; d < m->n_dims; d++) {
		if (is_cut(m, d)) {
			class = class << 1 | lash_mesh_crosses(m, s, t, d);
		}
	}
	return (uint8_t) class;
}

int lash_layer_classes(const struct lash_mesh *m, const struct graph *g, struct arena *a,
                       struct lash_layers *ret)
{
	size_t n = g->n_switches;
	uint8_t *lane = arena_array(a, n * n, sizeof(*lane));

	if (!lane) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < n; s++) {
		for (uint32_t t = 0; t < n; t++) {
			lane[s * n + t] = class_of(m, s, t);
		}
	}
	ret->lane = lane;
	ret->n = ret->n_data = lash_classes(m, g);
	return E_OK;
}
