/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Every dimension between two switches has a key at either end. Where dimensions are
 * cabled consistently, a key meets one other key all over the fabric: itself in a
 * hypercube, that of the opposite direction in a mesh. So each pair of keys is a vote,
 * the key most often met is the partner, and a dimension whose keys are not partners of
 * each other is odd. A swapped pair of cables makes odd dimensions at one switch and one
 * at each neighbour: switches are blamed in the order of how many odd dimensions they
 * explain.
 */
#include "routing/spread/dims.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

enum {
	KEYS = 256,
	NAMED_MAX = 3,
	RING_MIN = 4 /* shorter ones have no turnless cycle */
};

/* ---- grouping ---- */

/* Fills the dims of one switch and returns where the next one starts. */
static uint32_t group_switch(struct dims *d, const struct graph *g, const uint8_t *order,
                             uint32_t s, uint32_t at)
{
	const struct sw_link *by_place[KEYS] = { NULL };
	unsigned n_ports = g->nodes[g->switches[s]].n_ports;
	uint32_t n_ports_out = g->adj_first[s];

	for (unsigned i = 1; i <= n_ports; i++) {
		uint8_t port = order ? order[i] : (uint8_t)i;

		for (uint32_t k = g->adj_first[s]; k < g->adj_first[s + 1]; k++) {
			if (g->adj[k].port == port) {
				by_place[i] = &g->adj[k];
			}
		}
	}
	d->first[s] = at;
	for (unsigned i = 1; i <= n_ports; i++) {
		uint32_t to = by_place[i] ? by_place[i]->to : GRAPH_NONE;
		struct dim *x = &d->dim[at];

		if (to == GRAPH_NONE) {
			continue;
		}
		*x = (struct dim){ .to = to, .ports = n_ports_out, .key = (uint8_t)i };
		for (unsigned k = i; k <= n_ports; k++) {
			if (by_place[k] && by_place[k]->to == to) {
				d->port[n_ports_out++] = by_place[k]->port;
				by_place[k] = NULL;
				x->n++;
			}
		}
		at++;
	}
	return at;
}

int dims_init(struct dims *d, const struct graph *g, const uint8_t *order,
              struct arena *a)
{
	struct dims x = { .n = g->n_switches };
	uint32_t at = 0;

	x.first = arena_array(a, (size_t)x.n + 1, sizeof(*x.first));
	x.dim = arena_array(a, g->n_adj + 1, sizeof(*x.dim));
	x.port = arena_array(a, g->n_adj + 1, sizeof(*x.port));
	if (!x.first || !x.dim || !x.port) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < x.n; s++) {
		const uint8_t *row =
			order ? order + (size_t)s * (g->max_port + 1u) : NULL;
		at = group_switch(&x, g, row, s, at);
	}
	x.first[x.n] = at;
	for (uint32_t s = 0; s < x.n; s++) {
		for (uint32_t i = x.first[s]; i < x.first[s + 1]; i++) {
			uint32_t back = x.first[x.dim[i].to];

			while (x.dim[back].to != s) {
				back++;
			}
			x.dim[i].to_key = x.dim[back].key;
		}
	}
	*d = x;
	return E_OK;
}

/* ---- judging ---- */

struct judge {
	const struct dims *d;
	const struct graph *g;
	uint32_t (*votes)[KEYS];
	unsigned partner[KEYS];
	uint32_t *odd;  /* [n] odd dimensions that no switch was blamed for yet */
	bool *blamed;   /* [n] */
	uint32_t *seen; /* [n] walk that passed the switch last */
	uint32_t n_odd;
};

static bool is_odd(const struct judge *j, const struct dim *x)
{
	return j->partner[x->key] != x->to_key || j->partner[x->to_key] != x->key;
}

static void vote(struct judge *j)
{
	const struct dims *d = j->d;

	for (uint32_t i = 0; i < d->first[d->n]; i++) {
		j->votes[d->dim[i].key][d->dim[i].to_key]++;
	}
	for (unsigned p = 0; p < KEYS; p++) {
		for (unsigned q = 0; q < KEYS; q++) {
			if (j->votes[p][q] > j->votes[p][j->partner[p]]) {
				j->partner[p] = q;
			}
		}
	}
	for (uint32_t s = 0; s < d->n; s++) {
		for (uint32_t i = d->first[s]; i < d->first[s + 1]; i++) {
			j->odd[s] += is_odd(j, &d->dim[i]);
		}
		j->n_odd += j->odd[s];
	}
}

/* The first odd dimension of a switch says what is wrong with it. */
static void describe(const struct judge *j, uint32_t s, struct why *notes)
{
	const struct dim *x = &j->d->dim[j->d->first[s]];

	while (!is_odd(j, x)) {
		x++;
	}
	why_add(notes,
	        "switch %s is not cabled as the others: its dimension %u leads to dimension %u of %s, elsewhere %u leads to %u",
	        switch_text(j->g, NULL, s).text, x->key, x->to_key,
	        switch_text(j->g, NULL, x->to).text, x->key, j->partner[x->key]);
}

/* Blames switches until every odd dimension has one at an end of it. */
static void blame(struct judge *j, struct why *notes)
{
	uint32_t n = 0, left = j->n_odd;

	while (left) {
		uint32_t s = 0;

		for (uint32_t i = 1; i < j->d->n; i++) {
			s = j->odd[i] > j->odd[s] ? i : s;
		}
		if (n++ < NAMED_MAX) {
			describe(j, s, notes);
		}
		j->blamed[s] = true;
		for (uint32_t i = j->d->first[s]; i < j->d->first[s + 1]; i++) {
			const struct dim *x = &j->d->dim[i];

			if (is_odd(j, x) && !j->blamed[x->to]) {
				j->odd[x->to]--;
				left -= 2;
			}
		}
		j->odd[s] = 0;
	}
	if (n > NAMED_MAX) {
		why_add(notes, "%" PRIu32 " more switches are cabled differently",
		        n - NAMED_MAX);
	}
}

/* The neighbour in the direction of a key, GRAPH_NONE: none that is cabled as usual. */
static uint32_t step(const struct judge *j, uint32_t s, unsigned key)
{
	for (uint32_t i = j->d->first[s]; i < j->d->first[s + 1]; i++) {
		if (j->d->dim[i].key == key) {
			return is_odd(j, &j->d->dim[i]) ? GRAPH_NONE : j->d->dim[i].to;
		}
	}
	return GRAPH_NONE;
}

/*
 * Follows one direction from every switch. A direction and its opposite lead back and
 * forth between the same switches, so each switch is on one line or ring per direction.
 */
static uint32_t count_rings(struct judge *j, unsigned key, uint32_t *ret_at,
                            uint32_t *ret_len)
{
	uint32_t n = 0;

	memset(j->seen, 0, j->d->n * sizeof(*j->seen));
	for (uint32_t s = 0; s < j->d->n; s++) {
		uint32_t len = 0, t = s;

		while (t != GRAPH_NONE && !j->seen[t]) {
			j->seen[t] = s + 1;
			len++;
			t = step(j, t, key);
		}
		if (t == s && len >= RING_MIN) {
			*ret_at = n ? *ret_at : s;
			*ret_len = n ? *ret_len : len;
			n++;
		}
	}
	return n;
}

static void judge_rings(struct judge *j, struct why *notes)
{
	for (unsigned key = 1; key < KEYS; key++) {
		uint32_t at = 0, len = 0, n;

		if (j->partner[key] <= key || j->partner[j->partner[key]] != key) {
			continue; /* a hypercube's, no such key, or seen from the other
			             end */
		}
		n = count_rings(j, key, &at, &len);
		if (n) {
			why_add(notes,
			        "%" PRIu32
			        " rings in the dimension of ports %u and %u, such as that of %" PRIu32
			        " switches through %s: a torus is not free of credit loops under dimension order",
			        n, key, j->partner[key], len,
			        switch_text(j->g, NULL, at).text);
		}
	}
}

int dims_judge(const struct dims *d, const struct graph *g, struct why *notes)
{
	struct arena *tmp = arena_new();
	struct judge j = { .d = d, .g = g };
	int ret = -ENOMEM;

	if (tmp) {
		j.votes = arena_array(tmp, KEYS, sizeof(*j.votes));
		j.odd = arena_array(tmp, d->n, sizeof(*j.odd));
		j.blamed = arena_array(tmp, d->n, sizeof(*j.blamed));
		j.seen = arena_array(tmp, d->n, sizeof(*j.seen));
		ret = j.votes && j.odd && j.blamed && j.seen ? E_OK : -ENOMEM;
	}
	if (ret == E_OK && d->n) {
		vote(&j);
		if (j.n_odd > d->first[d->n] / 4) {
			why_add(notes,
			        "cables do not join the same ports throughout, as in a mesh or hypercube: there is no order of dimensions to keep");
		} else {
			judge_rings(&j, notes);
			blame(&j, notes);
		}
	}
	arena_free(tmp);
	return ret;
}
