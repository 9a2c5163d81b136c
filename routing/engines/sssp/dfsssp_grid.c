/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Dimensions of a mesh, torus or hypercube, by squares of links or by port numbers. */
#include "routing/engines/sssp/dfsssp_grid.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/lash/lash_mesh.h"
#include "routing/graph/graph.h"
#include "routing/spread/dims.h"

enum { KEYS = 256, NEIGHBOURS_MAX = 2, SQUARE = 4 };

static uint8_t class_of(const uint8_t *up, uint8_t key)
{
	while (up[key] != key) {
		key = up[key];
	}
	return key;
}

/* Joins two classes. The lowest key represents its class. */
static void unite(uint8_t *up, uint8_t a, uint8_t b)
{
	a = class_of(up, a);
	b = class_of(up, b);
	up[a > b ? a : b] = a > b ? b : a;
}

/* Are there several dimensions, and at most two neighbours of a switch in each? */
static bool is_grid(const struct dims *d, const uint8_t *up)
{
	uint32_t seen[KEYS] = { 0 }, n = 0;
	uint8_t count[KEYS];

	for (uint32_t s = 0; s < d->n; s++) {
		for (uint32_t i = d->first[s]; i < d->first[s + 1]; i++) {
			uint8_t class = class_of(up, d->dim[i].key);

			n += !seen[class];
			count[class] = seen[class] == s + 1 ? count[class] + 1 : 1;
			seen[class] = s + 1;
			if (count[class] > NEIGHBOURS_MAX) {
				return false;
			}
		}
	}
	return n > 1;
}

/* Dimensions by port numbers. */
static int by_ports(const struct graph *g, struct arena *a, uint8_t **ret_dimensions)
{
	uint8_t *dimension = arena_array(a, (size_t)g->n_adj + 1, sizeof(*dimension));
	uint8_t up[KEYS], by_port[KEYS];
	struct dims d;
	int ret = dims_init(&d, g, NULL, a);

	if (ret != E_OK || !dimension) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < KEYS; i++) {
		up[i] = (uint8_t)i;
	}
	for (uint32_t i = 0; i < d.first[d.n]; i++) {
		unite(up, d.dim[i].key, d.dim[i].to_key);
	}
	for (uint32_t s = 0; s < d.n; s++) {
		for (uint32_t i = d.first[s]; i < d.first[s + 1]; i++) {
			for (unsigned k = 0; k < d.dim[i].n; k++) {
				by_port[d.port[d.dim[i].ports + k]] =
					class_of(up, d.dim[i].key);
			}
		}
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			dimension[c] = by_port[g->adj[c].port];
		}
	}
	*ret_dimensions = is_grid(&d, up) ? dimension : NULL;
	return E_OK;
}

/* Dimensions by squares of links. Four switches in a square may also be a tree with
 * two spines. */
static int by_squares(const struct graph *g, struct arena *a,
                      struct dfsssp_grid *ret_grid)
{
	struct lash_mesh m;
	int ret = g->n_switches > SQUARE ? lash_mesh_find(g, a, &m) : E_UNSUITABLE;

	if (ret != E_OK) {
		return ret;
	}
	ret_grid->up = arena_array(a, (size_t)g->n_adj + 1, sizeof(*ret_grid->up));
	ret_grid->odd = arena_array(a, g->n_switches, sizeof(*ret_grid->odd));
	if (!ret_grid->up || !ret_grid->odd) {
		return -ENOMEM;
	}
	ret_grid->dimension = m.dim;
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const uint32_t *at = m.at + (size_t)s * LASH_DIMS_MAX;

		for (unsigned d = 0; d < m.n_dims; d++) {
			ret_grid->odd[s] |= (uint8_t)((at[d] & 1) << d);
		}
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			unsigned d = m.dim[c];
			uint32_t to = m.at[(size_t)g->adj[c].to * LASH_DIMS_MAX + d];

			ret_grid->up[c] = to == (at[d] + 1) % m.size[d];
		}
	}
	return E_OK;
}

int dfsssp_dimensions(const struct graph *g, struct arena *a,
                      struct dfsssp_grid *ret_grid)
{
	struct dfsssp_grid grid = { NULL };
	int ret = by_squares(g, a, &grid);

	if (ret == E_UNSUITABLE) {
		ret = by_ports(g, a, &grid.dimension);
	}
	*ret_grid = grid;
	return ret;
}
