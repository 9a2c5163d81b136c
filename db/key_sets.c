/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/key_sets.h"

#include <errno.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "db/diff.h"
#include "db/layout.h"
#include "db/policy.h"
#include "db/snapshot.h"
#include "routing/graph/graph.h"

enum {
	PORT_SHIFT = 16, /* block number: port << 16 | block */
	BLOCK_KEYS = 32,
	P_KEY_BASE = 0x7fff,
	SETS_MAX = 65536,
	NONE = UINT32_MAX
};

/* Sets by content, open addressing. */
struct intern {
	struct key_sets *k;
	struct arena *a;
	uint32_t *slot; /* [mask + 1] number of a set */
	size_t mask;
};

static size_t hash(const struct key_set *s)
{
	uint64_t h = s->n;
	for (uint32_t i = 0; i < s->n; i++) {
		h = (h ^ s->key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (size_t)h;
}

static bool same(const struct key_set *a, const struct key_set *b)
{
	return a->n == b->n && memcmp(a->key, b->key, a->n * sizeof(*a->key)) == 0;
}

/* Number of a set; a new one is copied. \return NONE: out of memory. */
static uint32_t intern(struct intern *in, const struct key_set *s)
{
	struct key_sets *k = in->k;
	size_t at = hash(s) & in->mask;
	for (; in->slot[at] != NONE; at = (at + 1) & in->mask) {
		if (same(&k->set[in->slot[at]], s)) {
			return in->slot[at];
		}
	}
	uint16_t *copy = arena_array(in->a, s->n + 1, sizeof(*copy));
	if (!copy) {
		return NONE;
	}
	memcpy(copy, s->key, s->n * sizeof(*copy));
	k->set[k->n] = (struct key_set){ copy, s->n };
	in->slot[at] = k->n;
	return k->n++;
}

static int intern_init(struct intern *in, struct key_sets *k, size_t n, struct arena *a)
{
	size_t cap = 16;
	while (cap < 2 * (n + 1)) {
		cap *= 2;
	}
	*in = (struct intern){ .k = k, .a = a, .mask = cap - 1 };
	in->slot = arena_array(a, cap, sizeof(*in->slot));
	k->set = arena_array(a, n + 1, sizeof(*k->set));
	if (!in->slot || !k->set) {
		return -ENOMEM;
	}
	memset(in->slot, 0xff, cap * sizeof(*in->slot));
	return E_OK;
}

/* P_KeyTable rows of a publish, which are sorted. */
static void find_rows(const struct snap_content *c, size_t *ret_from, size_t *ret_to)
{
	*ret_from =
		LOWER_BOUND(c->n_attrs, i, c->attrs[i].attr < UMAD_SM_ATTR_PKEY_TABLE);
	*ret_to = LOWER_BOUND(c->n_attrs, i, c->attrs[i].attr <= UMAD_SM_ATTR_PKEY_TABLE);
}

/* Rows from `at` on that are of one port. */
static size_t run_of_port(const struct snap_attr *at, size_t n)
{
	size_t i = 1;
	while (i < n && at[i].guid == at->guid &&
	       at[i].block >> PORT_SHIFT == at->block >> PORT_SHIFT) {
		i++;
	}
	return i;
}

static uint32_t gather(const struct snap_attr *at, size_t n, uint16_t *keys)
{
	uint32_t found = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned there =
			at[i].len / 2u < BLOCK_KEYS ? at[i].len / 2u : BLOCK_KEYS;
		for (unsigned k = 0; k < there; k++) {
			uint16_t key = key_read_u16(at[i].data + 2 * k);
			if ((key & P_KEY_BASE) != 0) {
				keys[found++] = key;
			}
		}
	}
	return found;
}

static int set_of_port(struct intern *in, const struct graph *g,
                       const struct snap_attr *at, size_t n)
{
	uint32_t node = graph_node_by_guid(g, at->guid);
	uint32_t port = at->block >> PORT_SHIFT;
	if (node == GRAPH_NONE || port > g->nodes[node].n_ports) {
		return E_OK;
	}
	uint16_t *keys = arena_array(in->a, n * BLOCK_KEYS, sizeof(*keys));
	if (!keys) {
		return -ENOMEM;
	}
	struct key_set s = { keys, gather(at, n, keys) };
	uint32_t number = intern(in, &s);
	if (number == NONE) {
		return -ENOMEM;
	}
	if (number >= SETS_MAX) {
		return E_FULL;
	}
	in->k->of_port[g->nodes[node].first_port + port] = (uint16_t)number;
	return E_OK;
}

/* --- with a policy: sets by P_Keys and by what the policy says of the port --------- */

struct refine {
	struct key_sets *k;
	const uint64_t *of_port; /* [n_ports * width] */
	uint32_t width;
	uint32_t *slot; /* [mask + 1] number of a new set */
	size_t mask;
	struct key_set *set; /* new ones */
	uint16_t *old;       /* [n] their sets of P_Keys */
	uint32_t n;
};

static size_t hash_bits(uint16_t old, const uint64_t *bits, uint32_t width)
{
	uint64_t h = old + 1u;
	for (uint32_t i = 0; i < width; i++) {
		h = (h ^ bits[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (size_t)h;
}

/* Number of a pair of P_Keys and bits. */
static uint32_t refined(struct refine *f, uint16_t old, const uint64_t *bits)
{
	size_t bytes = f->width * sizeof(*bits);
	size_t at = hash_bits(old, bits, f->width) & f->mask;
	for (; f->slot[at] != NONE; at = (at + 1) & f->mask) {
		uint32_t i = f->slot[at];
		if (f->old[i] == old &&
		    memcmp(f->k->bits + (size_t)i * f->width, bits, bytes) == 0) {
			return i;
		}
	}
	if (bytes) {
		memcpy(f->k->bits + (size_t)f->n * f->width, bits, bytes);
	}
	f->old[f->n] = old;
	f->set[f->n] = f->k->set[old];
	f->slot[at] = f->n;
	return f->n++;
}

static int refine_init(struct refine *f, size_t n, struct arena *a)
{
	size_t cap = 16;
	while (cap < 2 * (n + 1)) {
		cap *= 2;
	}
	f->mask = cap - 1;
	f->slot = arena_array(a, cap, sizeof(*f->slot));
	f->set = arena_array(a, n + 1, sizeof(*f->set));
	f->old = arena_array(a, n + 1, sizeof(*f->old));
	f->k->bits = arena_array(a, (n + 1) * f->width, sizeof(*f->k->bits));
	if (!f->slot || !f->set || !f->old || !f->k->bits) {
		return -ENOMEM;
	}
	memset(f->slot, 0xff, cap * sizeof(*f->slot));
	return E_OK;
}

/* Set 0 stays that of a port of which nothing is known. */
static int refine_sets(struct key_sets *k, const struct snap_content *c, struct arena *a)
{
	const struct graph *g = c->g;
	struct refine f = { .k = k,
		            .of_port = c->policy->sets,
		            .width = c->policy->head.words * POLICY_SETS };
	int ret = refine_init(&f, g->n_end_ports + 1, a);
	if (ret != E_OK) {
		return ret;
	}
	uint64_t *none = arena_array(a, f.width + 1, sizeof(*none));
	if (!none) {
		return -ENOMEM;
	}
	(void)refined(&f, 0, none);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		uint32_t number =
			refined(&f, k->of_port[port], f.of_port + (size_t)port * f.width);
		if (number >= SETS_MAX) {
			return E_FULL;
		}
		k->of_port[port] = (uint16_t)number;
	}
	k->set = f.set;
	k->n = f.n;
	k->width = f.width;
	return E_OK;
}

int key_sets_init(struct key_sets *k, const struct snap_content *c, struct arena *a)
{
	static const uint16_t full[] = { 0xffff };
	struct intern in;
	size_t i, to;
	find_rows(c, &i, &to);
	*k = (struct key_sets){ .n = 0 };
	k->of_port = arena_array(a, c->g->n_ports + 1, sizeof(*k->of_port));
	int ret = k->of_port ? intern_init(&in, k, to - i + 1, a) : -ENOMEM;
	if (ret == E_OK && intern(&in, &(struct key_set){ full, 1 }) == NONE) {
		ret = -ENOMEM;
	}
	for (size_t run; ret == E_OK && i < to; i += run) {
		run = run_of_port(&c->attrs[i], to - i);
		ret = set_of_port(&in, c->g, &c->attrs[i], run);
	}
	return ret == E_OK && c->policy ? refine_sets(k, c, a) : ret;
}

void key_sets_emit(const struct key_sets *k, struct diff *d)
{
	static const uint16_t none[] = { 0 };
	for (uint32_t i = 0; i < k->n; i++) {
		const struct key_set *s = &k->set[i];
		uint8_t key[2];
		key_u16(key, (uint16_t)i);
		diff_row(d, key, sizeof(key), s->n ? s->key : none,
		         (s->n ? s->n : 1) * sizeof(*s->key));
	}
}
