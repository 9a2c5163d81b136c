/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/key_sets.h"

#include <errno.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
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
	SETS_MAX = 65536
};

/* Sets by content. */
struct intern {
	struct key_sets *k;
	struct arena *a;
	struct hash_table by_keys; /* digest of the keys -> number of a set */
};

/* Number of a set; a new one is copied. \return HASH_NONE: out of memory. */
static uint32_t intern(struct intern *in, const struct key_set *s)
{
	struct key_sets *k = in->k;
	size_t bytes = s->n * sizeof(*s->key);
	uint64_t digest = digest_bytes(0, s->key, bytes);
	uint32_t at = HASH_FIND(&in->by_keys, digest, i,
	                        k->set[i].n == s->n &&
	                                memcmp(k->set[i].key, s->key, bytes) == 0);

	if (at != HASH_NONE) {
		return at;
	}
	uint16_t *copy = arena_array(in->a, s->n + 1, sizeof(*copy));
	if (!copy || hash_add(&in->by_keys, digest, k->n) != E_OK) {
		return HASH_NONE;
	}
	memcpy(copy, s->key, bytes);
	k->set[k->n] = (struct key_set){ copy, s->n };
	return k->n++;
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
	if (number == HASH_NONE) {
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
	struct hash_table by_content; /* digest of old and bits -> number of a new set */
	struct key_set *set;          /* new ones */
	uint16_t *old;                /* [n] their sets of P_Keys */
	uint32_t n;
};

/* Number of a pair of P_Keys and bits; the table has room. */
static uint32_t refined(struct refine *f, uint16_t old, const uint64_t *bits)
{
	size_t bytes = f->width * sizeof(*bits);
	uint64_t digest = digest_bytes(old, bits, bytes);
	uint32_t at =
		HASH_FIND(&f->by_content, digest, i,
	                  f->old[i] == old && memcmp(f->k->bits + (size_t)i * f->width,
	                                             bits, bytes) == 0);

	if (at != HASH_NONE) {
		return at;
	}
	if (bytes) {
		memcpy(f->k->bits + (size_t)f->n * f->width, bits, bytes);
	}
	f->old[f->n] = old;
	f->set[f->n] = f->k->set[old];
	(void)hash_add(&f->by_content, digest, f->n);
	return f->n++;
}

/* Set 0 stays that of a port of which nothing is known. */
static int refine_sets(struct key_sets *k, const struct snap_content *c, struct arena *a)
{
	const struct graph *g = c->g;
	struct refine f = { .k = k,
		            .of_port = c->policy->sets,
		            .width = c->policy->head.words * POLICY_SETS,
		            .by_content.arena = a };
	size_t n = g->n_end_ports + 1u;
	uint64_t *none = arena_array(a, f.width + 1, sizeof(*none));
	f.set = arena_array(a, n, sizeof(*f.set));
	f.old = arena_array(a, n, sizeof(*f.old));
	k->bits = arena_array(a, n * f.width, sizeof(*k->bits));
	if (!none || !f.set || !f.old || !k->bits ||
	    hash_reserve(&f.by_content, (uint32_t)n) != E_OK) {
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
	struct intern in = { .k = k, .a = a, .by_keys.arena = a };
	size_t i, to;
	find_rows(c, &i, &to);
	*k = (struct key_sets){ .n = 0 };
	k->of_port = arena_array(a, c->g->n_ports + 1, sizeof(*k->of_port));
	k->set = arena_array(a, to - i + 2, sizeof(*k->set));
	if (!k->of_port || !k->set ||
	    intern(&in, &(struct key_set){ full, 1 }) == HASH_NONE) {
		return -ENOMEM;
	}
	int ret = E_OK;
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
