/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Which P_Key two ports share. A port has the number of a set of P_Keys; fabrics have few
 * sets, so the last answers by pair of sets are kept, and a warm look-up compares
 * numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/layout.h"
#include "db/policy.h"
#include "db/reader_int.h"

enum { KEPT = 1024 };

struct kept {
	bool used;
	uint16_t a, b, want;
	uint16_t key; /* 0: none */
};

struct key_cache {
	struct kept kept[KEPT];
};

struct set {
	const uint8_t *data;
	size_t n;
};

static uint16_t key_at(const struct set *s, size_t i)
{
	uint16_t key;
	memcpy(&key, s->data + i * sizeof(key), sizeof(key));
	return key;
}

static int get_set(struct snap_reader *r, uint16_t number, struct set *ret)
{
	uint8_t key[2];
	struct db_val v;
	key_u16(key, number);
	int res = view_get(&r->view, SNAP_P_KEY_SETS, key, sizeof(key), &v);
	if (res != E_OK) {
		return res == E_NOTFOUND ? E_MALFORMED : res;
	}
	if (v.len == 0 || v.len % sizeof(uint16_t) != 0) {
		return E_MALFORMED;
	}
	*ret = (struct set){ v.data, v.len / sizeof(uint16_t) };
	return E_OK;
}

/* Membership that a P_Key has in a set: 0 none, 1 limited, 2 full. */
static unsigned membership(const struct set *s, uint16_t base)
{
	unsigned best = 0;
	for (size_t i = 0; i < s->n; i++) {
		uint16_t key = key_at(s, i);
		if ((key & P_KEY_BASE) == base) {
			unsigned m = key & P_KEY_FULL ? 2 : 1;
			best = m > best ? m : best;
		}
	}
	return best;
}

/* One of both has to be a full member; that both are is better. */
static uint16_t find_common(const struct set *a, const struct set *b, uint16_t want)
{
	uint16_t found = 0;
	for (size_t i = 0; i < a->n; i++) {
		uint16_t key = key_at(a, i), base = key & P_KEY_BASE;
		if (base == 0 || (want != 0 && base != want)) {
			continue;
		}
		unsigned there = membership(b, base);
		if (there == 2 && (key & P_KEY_FULL)) {
			return key;
		}
		if (found == 0 && there + (key & P_KEY_FULL ? 2 : 1) > 2 && there != 0) {
			found = key;
		}
	}
	return found;
}

static int look_up(struct snap_reader *r, const struct snap_end *a,
                   const struct snap_end *b, uint16_t want, uint16_t *ret)
{
	struct set sa, sb;
	int res = get_set(r, a->p_key_set, &sa);
	if (res == E_OK) {
		res = get_set(r, b->p_key_set, &sb);
	}
	if (res == E_OK) {
		*ret = find_common(&sa, &sb, want);
	}
	return res;
}

/* A port and itself: any P_Key it has, full or limited. */
static int own_key(struct snap_reader *r, const struct snap_end *a, uint16_t want,
                   uint16_t *ret)
{
	struct set s;
	uint16_t found = 0;
	int res = get_set(r, a->p_key_set, &s);
	for (size_t i = 0; res == E_OK && i < s.n; i++) {
		uint16_t key = key_at(&s, i), base = key & P_KEY_BASE;
		bool fits = base != 0 && (want == 0 || base == want);
		if (fits && (found == 0 || (key & ~found & P_KEY_FULL))) {
			found = key;
		}
	}
	if (res == E_OK && found == 0) {
		res = E_PARTITION;
	}
	if (res == E_OK) {
		*ret = found;
	}
	return res;
}

int snap_common_p_key(struct snap_reader *r, const struct snap_end *a,
                      const struct snap_end *b, uint16_t want, uint16_t *ret)
{
	struct key_cache *cache = r->epoch.cache[CACHE_P_KEYS].data;
	want &= P_KEY_BASE;
	if (a->base_lid == b->base_lid) {
		return own_key(r, a, want, ret);
	}
	if (!cache) {
		cache = calloc(1, sizeof(*cache));
		if (!cache) {
			return -ENOMEM;
		}
		r->epoch.cache[CACHE_P_KEYS].data = cache;
		r->epoch.cache[CACHE_P_KEYS].free = free;
	}
	unsigned at = (a->p_key_set * 31u + b->p_key_set * 7u + want) % KEPT;
	struct kept *k = &cache->kept[at];
	if (!k->used || k->a != a->p_key_set || k->b != b->p_key_set || k->want != want) {
		struct kept fresh = { true, a->p_key_set, b->p_key_set, want, 0 };
		int res = look_up(r, a, b, want, &fresh.key);
		if (res != E_OK) {
			return res;
		}
		*k = fresh;
	}
	if (k->key == 0) {
		return E_PARTITION;
	}
	*ret = k->key;
	return E_OK;
}

int snap_p_keys(struct snap_reader *r, uint16_t p_key_set, const void **ret,
                size_t *ret_n)
{
	struct set s;
	int res = get_set(r, p_key_set, &s);
	if (res == E_OK) {
		*ret = s.data;
		*ret_n = s.n;
	}
	return res;
}

int snap_shares_p_key(struct snap_reader *r, const struct snap_end *a,
                      const uint16_t *keys, size_t n)
{
	struct set own, other = { (const uint8_t *)keys, n };
	int res = get_set(r, a->p_key_set, &own);
	if (res == E_OK && find_common(&own, &other, 0) == 0) {
		res = E_PARTITION;
	}
	return res;
}

int snap_listed_p_key(struct snap_reader *r, const struct snap_end *a,
                      const struct snap_end *b, const struct policy *p,
                      const struct policy_list *list, uint16_t *ret)
{
	struct set s;
	uint16_t best = 0;
	int res = get_set(r, a->p_key_set, &s);
	for (size_t i = 0; res == E_OK && i < s.n; i++) {
		uint16_t base = key_at(&s, i) & P_KEY_BASE, key;
		if (base == 0 || (best != 0 && (best & P_KEY_BASE) <= base) ||
		    !policy_has(p, list, base)) {
			continue;
		}
		res = snap_common_p_key(r, a, b, base, &key);
		if (res == E_OK) {
			best = key;
		}
		res = res == E_PARTITION ? E_OK : res;
	}
	if (res == E_OK && best == 0) {
		res = E_PARTITION;
	}
	if (res == E_OK) {
		*ret = best;
	}
	return res;
}
