/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Links by the number of routes on them, and how many routes links between two tiers have. */
#include <errno.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/inventory/inventory.h"
#include "gateway/inventory/topology.h"

uint16_t inventory_tier(const struct inventory *v, uint32_t port)
{
	uint32_t sw = v->g->nodes[v->g->ports[port].node].sw;

	return sw != GRAPH_NONE ? v->shape->tier[sw] : TOPOLOGY_NO_TIER;
}

/* A port with its key, so that a sort needs nothing else. */
struct loaded {
	uint32_t routes, port;
};

static int compare_loaded(const void *x, const void *y)
{
	const struct loaded *a = x, *b = y;

	if (a->routes != b->routes) {
		return a->routes > b->routes ? -1 : 1;
	}
	return a->port < b->port ? -1 : a->port > b->port;
}

static int sort_by_load(struct inventory *v)
{
	struct loaded *list = calloc(v->g->n_ports + 1U, sizeof(*list));
	uint32_t n = 0;

	for (uint32_t p = 0; list != NULL && p < v->g->n_ports; p++) {
		if (v->port[p].routes != INVENTORY_NO_ROUTES) {
			list[n++] = (struct loaded){ v->port[p].routes, p };
		}
	}
	v->by_load = arena_array(v->arena, n, sizeof(*v->by_load));
	if (list == NULL || v->by_load == NULL) {
		free(list);
		return -ENOMEM;
	}
	qsort(list, n, sizeof(*list), compare_loaded);
	for (uint32_t i = 0; i < n; i++) {
		v->by_load[i] = list[i].port;
	}
	v->n_loaded = n;
	free(list);
	return E_OK;
}

/* Place of a class among all that there may be; the last tier stands for none. */
static unsigned class_at(const struct inventory *v, uint32_t port)
{
	const unsigned n = v->shape->n_tiers + 1U;
	unsigned from = inventory_tier(v, port);
	unsigned to = inventory_tier(v, v->g->ports[port].peer);

	from = from < n - 1 ? from : n - 1;
	to = to < n - 1 ? to : n - 1;
	return from * n + to;
}

static int count_classes(struct inventory *v)
{
	const unsigned n = v->shape->n_tiers + 1U;

	v->n_load = n * n;
	v->load = arena_array(v->arena, v->n_load, sizeof(*v->load));
	if (v->load == NULL) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < v->n_load; i++) {
		unsigned from = i / n, to = i % n;

		v->load[i].from = (uint16_t)(from < n - 1 ? from : TOPOLOGY_NO_TIER);
		v->load[i].to = (uint16_t)(to < n - 1 ? to : TOPOLOGY_NO_TIER);
	}
	for (uint32_t i = 0; i < v->n_loaded; i++) {
		struct load_class *c = &v->load[class_at(v, v->by_load[i])];
		uint32_t routes = v->port[v->by_load[i]].routes;

		c->links++;
		c->sum += routes;
		c->max = routes > c->max ? routes : c->max;
	}
	return E_OK;
}

int inventory_shape(struct inventory *v)
{
	struct topology *t;

	if (v->shape != NULL) {
		return E_OK;
	}
	t = arena_alloc(v->arena, sizeof(*t));
	int ret = t != NULL ? topology_find(v->g, v->arena, t) : -ENOMEM;
	if (ret == E_OK) {
		ret = sort_by_load(v);
	}
	if (ret == E_OK) {
		v->shape = t;
		ret = count_classes(v);
	}
	if (ret != E_OK) {
		v->shape = NULL;
	}
	return ret;
}

const struct load_class *inventory_load_class(const struct inventory *v, uint32_t port)
{
	return &v->load[class_at(v, port)];
}
