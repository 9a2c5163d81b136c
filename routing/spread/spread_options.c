/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/spread/spread_options.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/text/portfile.h"

/* From "the port at each place" to "the place of each port". */
static int places_of(const struct graph *g, const uint8_t *order, struct arena *a,
                     const uint8_t **ret_places)
{
	size_t width = g->max_port + 1u;
	uint8_t *place = order ? arena_array(a, g->n_switches, width) : NULL;

	if (order && !place) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; order && s < g->n_switches; s++) {
		for (unsigned i = 1; i <= g->nodes[g->switches[s]].n_ports; i++) {
			place[s * width + order[s * width + i]] = (uint8_t)i;
		}
	}
	*ret_places = place;
	return E_OK;
}

int spread_tune_init(struct spread_tune *t, const struct spread_options *o,
                     const struct graph *g, struct arena *a, struct why *notes)
{
	uint8_t *order = NULL;
	uint32_t *listed = NULL;
	bool *ignored = NULL;
	int ret = E_OK;

	*t = (struct spread_tune){ .seed = 0 };
	if (!o) {
		return E_OK;
	}
	t->seed = o->seed;
	t->no_scatter = o->no_scatter;
	t->shifting = o->shifting;
	t->switch_nodes = o->switch_nodes;
	ret = portfile_ignored(g, o->ignored, a, notes, &ignored);
	if (ret == E_OK) {
		ret = portfile_order(g, o->search, a, notes, &order);
	}
	if (ret == E_OK) {
		ret = places_of(g, order, a, &t->place);
	}
	if (ret == E_OK && o->listed) {
		ret = portfile_hosts(g, o->listed, a, notes, &listed, &t->n_listed);
		t->listed = listed;
	}
	if (ret == E_OK && t->n_listed) {
		bool *is_listed =
			arena_array(a, g->host_first[g->n_switches], sizeof(*is_listed));

		for (uint32_t i = 0; is_listed && i < t->n_listed; i++) {
			is_listed[listed[i]] = true;
		}
		t->is_listed = is_listed;
		ret = is_listed ? E_OK : -ENOMEM;
	}
	t->ignored = ignored;
	return ret;
}
