/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/keep.h"

#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/lids.h"
#include "routing/paths.h"

bool keep_has_shape(const struct lft *prev, const struct lft *today)
{
	return prev && prev->n_switches == today->n_switches &&
	       prev->n_lids == today->n_lids && prev->stride == today->stride;
}

/* The LIDs of one set, and nothing else. */
static int lids_of_set(const struct keep_measure *m, unsigned set, struct arena *a,
                       struct lids *ret)
{
	struct lids l = *m->lids;

	l.owner = arena_array(a, (size_t)l.top + 1, sizeof(*l.owner));
	if (!l.owner) {
		return -ENOMEM;
	}
	for (uint32_t lid = 0; lid <= l.top; lid++) {
		uint32_t owner = m->lids->owner[lid];

		l.owner[lid] =
			owner != GRAPH_NONE && m->set[owner] == set ? owner : GRAPH_NONE;
	}
	*ret = l;
	return E_OK;
}

/* Routes that do not count: two destinations for all hosts of a switch. */
static uint32_t few_routes(const struct graph *g)
{
	uint32_t most = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n = g->host_first[s + 1] - g->host_first[s];

		most = n > most ? n : most;
	}
	return 2 * most;
}

static uint32_t busiest(const uint32_t *load, uint32_t n)
{
	uint32_t most = 0;

	for (uint32_t c = 0; c < n; c++) {
		most = load[c] > most ? load[c] : most;
	}
	return most;
}

static uint64_t total(const uint32_t *load, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < n; c++) {
		sum += load[c];
	}
	return sum;
}

/* A link that carries nothing in either direction. */
static bool is_idle(const struct graph *g, const uint32_t *load, uint32_t c)
{
	const struct sw_link *l = &g->adj[c];
	uint32_t back = g->adj_first[l->to];

	if (load[c]) {
		return false;
	}
	while (g->adj[back].port != l->to_port) {
		back++;
	}
	return load[back] == 0;
}

static bool is_even(const struct graph *g, const uint32_t *load, uint32_t few)
{
	uint64_t sum = total(load, g->n_adj);

	for (uint32_t c = 0; c < g->n_adj; c++) {
		if (is_idle(g, load, c)) {
			return false;
		}
	}
	return (uint64_t)busiest(load, g->n_adj) * g->n_adj <=
	       sum + sum / 10 + (uint64_t)few * g->n_adj;
}

static bool is_as_good(const struct graph *g, const uint32_t *load, const uint32_t *other,
                       uint32_t few)
{
	uint64_t most = busiest(other, g->n_adj), sum = total(other, g->n_adj);

	for (uint32_t c = 0; c < g->n_adj; c++) {
		if (other[c] > few / 2 && (uint64_t)other[c] * g->n_adj * 2 > sum &&
		    is_idle(g, load, c)) {
			return false;
		}
	}
	return busiest(load, g->n_adj) <= most + most / 4 + few;
}

static int judge_set(const struct keep_measure *m, const struct lids *lids,
                     const struct lft *kept, const struct lft *anew, struct arena *tmp,
                     bool *ret)
{
	uint32_t few = few_routes(m->g);
	struct load load, other;
	int err = load_build(m->g, lids, kept, tmp, &load);

	if (err == E_OK && anew) {
		err = load_build(m->g, lids, anew, tmp, &other);
	}
	if (err == E_OK) {
		*ret = anew ? is_as_good(m->g, load.base, other.base, few) &&
		                       is_as_good(m->g, load.all, other.all, few)
		            : is_even(m->g, load.base, few) &&
		                       is_even(m->g, load.all, few);
	}
	return err;
}

int keep_is_good(const struct keep_measure *m, const struct lft *kept,
                 const struct lft *anew, bool *ret)
{
	struct arena *tmp = arena_new();
	bool good = true;
	int err = tmp ? E_OK : -ENOMEM;

	for (unsigned i = 0; err == E_OK && good && i < (m->set ? m->n_sets : 1); i++) {
		struct lids lids = *m->lids;

		err = m->set ? lids_of_set(m, i, tmp, &lids) : E_OK;
		if (err == E_OK) {
			err = judge_set(m, &lids, kept, anew, tmp, &good);
		}
	}
	if (err == E_OK) {
		*ret = good;
	}
	arena_free(tmp);
	return err;
}
