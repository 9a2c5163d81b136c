/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Reading a snapshot: the policy of an epoch, copied out and checked once when it is first
 * asked for; partitions; which P_Key two ports share.
 *
 * A port has the number of a set of P_Keys. Fabrics have few sets, so the last answers by
 * pair of sets are kept, and a warm look-up compares numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/lmdb/layout.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/reader_int.h"

struct policy_cache {
	bool any;
	struct policy p;
	void *part[POLICY_PARTS];
};

static void free_cache(void *data)
{
	struct policy_cache *c = data;
	for (unsigned i = 0; c && i < POLICY_PARTS; i++) {
		free(c->part[i]);
	}
	free(c);
}

/* Copies a part into an array of its own; a part that is not stored becomes an empty one. */
static int copy_part(struct snap_reader *r, unsigned part, size_t unit, void **ret_value,
                     size_t *ret_n)
{
	uint8_t key[2];
	struct db_val v = { NULL, 0 };
	key_u16(key, (uint16_t)part);
	int ret = view_get(&r->view, SNAP_POLICY, key, sizeof(key), &v);
	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	size_t len = ret == E_OK ? v.len : 0;
	if (len % unit != 0) {
		return E_MALFORMED;
	}
	void *copy = malloc(len + 1);
	if (!copy) {
		return -ENOMEM;
	}
	if (len) {
		memcpy(copy, v.data, len);
	}
	*ret_value = copy;
	*ret_n = len / unit;
	return E_OK;
}

static bool list_fits(const struct policy_list *l, uint32_t n)
{
	return l->first <= n && l->n <= n - l->first;
}

static bool rules_fit(const struct policy *p)
{
	for (uint32_t i = 0; i < p->head.n_rules; i++) {
		const struct policy_rule *r = &p->rules[i];
		if (r->level >= p->head.n_levels ||
		    !list_fits(&r->services, p->head.n_ranges) ||
		    !list_fits(&r->qos_classes, p->head.n_ranges) ||
		    !list_fits(&r->p_keys, p->head.n_ranges)) {
			return false;
		}
	}
	return true;
}

static bool others_fit(const struct policy *p)
{
	for (uint32_t i = 0; i < p->head.n_levels; i++) {
		if (!list_fits(&p->levels[i].p_keys, p->head.n_ranges)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < p->head.n_fabrics; i++) {
		if (!list_fits(&p->fabrics[i].services, p->head.n_ids) ||
		    !list_fits(&p->fabrics[i].mgids, p->head.n_ids)) {
			return false;
		}
	}
	return true;
}

static bool counts_fit(const struct policy_head *h, const size_t n[POLICY_PARTS])
{
	return h->n_rules <= POLICY_RULES_MAX && h->words == (h->n_rules + 63) / 64 &&
	       n[POLICY_LEVELS] == h->n_levels && n[POLICY_RULES] == h->n_rules &&
	       n[POLICY_RANGES] == h->n_ranges && n[POLICY_FABRICS] == h->n_fabrics &&
	       n[POLICY_IDS] == h->n_ids &&
	       (h->n_fabrics == 0 || h->n_fabrics == h->n_rules) &&
	       (h->kind == POLICY_EACH ||
	        (h->kind == POLICY_FIRST && h->default_level < h->n_levels));
}

static int load_policy(struct snap_reader *r, struct policy_cache *c)
{
	static const size_t unit[POLICY_PARTS] = {
		[POLICY_HEAD] = sizeof(struct policy_head),
		[POLICY_LEVELS] = sizeof(struct policy_level),
		[POLICY_RULES] = sizeof(struct policy_rule),
		[POLICY_RANGES] = sizeof(struct policy_range),
		[POLICY_FABRICS] = sizeof(struct policy_fabric),
		[POLICY_IDS] = sizeof(struct policy_id),
		[POLICY_PORT_SETS] = sizeof(uint64_t),
	};
	size_t n[POLICY_PARTS];
	struct policy *p = &c->p;
	for (unsigned i = 0; i < POLICY_PARTS; i++) {
		int ret = copy_part(r, i, unit[i], &c->part[i], &n[i]);
		if (ret != E_OK) {
			return ret;
		}
	}
	if (n[POLICY_HEAD] == 0) {
		return E_OK;
	}
	memcpy(&p->head, c->part[POLICY_HEAD], sizeof(p->head));
	p->levels = c->part[POLICY_LEVELS];
	p->rules = c->part[POLICY_RULES];
	p->ranges = c->part[POLICY_RANGES];
	p->fabrics = c->part[POLICY_FABRICS];
	p->ids = c->part[POLICY_IDS];
	p->sets = c->part[POLICY_PORT_SETS];
	size_t width = (size_t)p->head.words * POLICY_SETS;
	if (n[POLICY_HEAD] != 1 || !counts_fit(&p->head, n) || !rules_fit(p) ||
	    !others_fit(p) || (width != 0 && n[POLICY_PORT_SETS] % width != 0)) {
		return E_MALFORMED;
	}
	p->n_sets = width != 0 ? (uint32_t)(n[POLICY_PORT_SETS] / width) : 0;
	c->any = true;
	return E_OK;
}

int snap_policy(struct snap_reader *r, const struct policy **ret_policy)
{
	struct policy_cache *c = r->epoch.cache[CACHE_POLICY].data;
	if (!c) {
		c = calloc(1, sizeof(*c));
		int ret = c ? load_policy(r, c) : -ENOMEM;
		if (ret != E_OK) {
			free_cache(c);
			return ret;
		}
		r->epoch.cache[CACHE_POLICY].data = c;
		r->epoch.cache[CACHE_POLICY].free = free_cache;
	}
	*ret_policy = c->any ? &c->p : NULL;
	return E_OK;
}

/* --- partitions ----------------------------------------------------------------------- */

int snap_partition_from(struct snap_reader *r, uint16_t p_key,
                        struct snap_partition *ret_partition)
{
	struct snap_partition p;
	struct db_val k, v;
	uint8_t key[2];

	key_u16(key, p_key);
	int ret = view_seek(&r->view, SNAP_PARTITIONS, key, sizeof(key), &k, &v);
	if (ret != E_OK) {
		return ret;
	}
	if (k.len != sizeof(key) || v.len < sizeof(p.is)) {
		return E_MALFORMED;
	}
	memcpy(&p.is, v.data, sizeof(p.is));
	size_t groups = (size_t)p.is.n_groups * sizeof(struct snap_partition_group);
	size_t members = (size_t)p.is.n_members * sizeof(struct snap_partition_member);
	if (v.len < sizeof(p.is) + groups + members + p.is.name_len) {
		return E_MALFORMED;
	}
	p.p_key = key_read_u16(k.data);
	p.groups = v.data + sizeof(p.is);
	p.members = p.groups + groups;
	p.name = p.members + members;
	p.hosts = p.name + p.is.name_len;
	p.hosts_len = v.len - (sizeof(p.is) + groups + members + p.is.name_len);
	*ret_partition = p;
	return E_OK;
}

struct snap_partition_group snap_partition_group(const struct snap_partition *p,
                                                 uint32_t i)
{
	struct snap_partition_group g;

	memcpy(&g, p->groups + i * sizeof(g), sizeof(g));
	return g;
}

struct snap_partition_member snap_partition_member(const struct snap_partition *p,
                                                   uint32_t i)
{
	struct snap_partition_member m;

	memcpy(&m, p->members + i * sizeof(m), sizeof(m));
	return m;
}

const char *snap_partition_host(const struct snap_partition *p,
                                const struct snap_partition_member *m, size_t *ret_len)
{
	bool fits = m->first <= p->hosts_len && m->last <= p->hosts_len - m->first;

	*ret_len = fits ? (size_t)m->last : 0;
	return fits ? (const char *)p->hosts + m->first : "";
}

/* --- which P_Key two ports share ------------------------------------------------------ */

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

static int get_set(struct snap_reader *r, uint16_t number, struct set *ret_set)
{
	uint8_t key[2];
	struct db_val v;
	key_u16(key, number);
	int ret = view_get(&r->view, SNAP_P_KEY_SETS, key, sizeof(key), &v);
	if (ret != E_OK) {
		return ret == E_NOTFOUND ? E_MALFORMED : ret;
	}
	if (v.len == 0 || v.len % sizeof(uint16_t) != 0) {
		return E_MALFORMED;
	}
	*ret_set = (struct set){ v.data, v.len / sizeof(uint16_t) };
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
                   const struct snap_end *b, uint16_t want, uint16_t *ret_p_key)
{
	struct set sa, sb;
	int ret = get_set(r, a->p_key_set, &sa);
	if (ret == E_OK) {
		ret = get_set(r, b->p_key_set, &sb);
	}
	if (ret == E_OK) {
		*ret_p_key = find_common(&sa, &sb, want);
	}
	return ret;
}

/* A port and itself: any P_Key it has, full or limited. */
static int own_key(struct snap_reader *r, const struct snap_end *a, uint16_t want,
                   uint16_t *ret_p_key)
{
	struct set s;
	uint16_t found = 0;
	int ret = get_set(r, a->p_key_set, &s);
	for (size_t i = 0; ret == E_OK && i < s.n; i++) {
		uint16_t key = key_at(&s, i), base = key & P_KEY_BASE;
		bool fits = base != 0 && (want == 0 || base == want);
		if (fits && (found == 0 || (key & ~found & P_KEY_FULL))) {
			found = key;
		}
	}
	if (ret == E_OK && found == 0) {
		ret = E_PARTITION;
	}
	if (ret == E_OK) {
		*ret_p_key = found;
	}
	return ret;
}

int snap_common_p_key(struct snap_reader *r, const struct snap_end *a,
                      const struct snap_end *b, uint16_t want, uint16_t *ret_p_key)
{
	struct key_cache *cache = r->epoch.cache[CACHE_P_KEYS].data;
	want &= P_KEY_BASE;
	if (a->base_lid == b->base_lid) {
		return own_key(r, a, want, ret_p_key);
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
		int ret = look_up(r, a, b, want, &fresh.key);
		if (ret != E_OK) {
			return ret;
		}
		*k = fresh;
	}
	if (k->key == 0) {
		return E_PARTITION;
	}
	*ret_p_key = k->key;
	return E_OK;
}

int snap_p_keys(struct snap_reader *r, uint16_t p_key_set, const void **ret_value,
                size_t *ret_n)
{
	struct set s;
	int ret = get_set(r, p_key_set, &s);
	if (ret == E_OK) {
		*ret_value = s.data;
		*ret_n = s.n;
	}
	return ret;
}

int snap_shares_p_key(struct snap_reader *r, const struct snap_end *a,
                      const uint16_t *keys, size_t n)
{
	struct set own, other = { (const uint8_t *)keys, n };
	int ret = get_set(r, a->p_key_set, &own);
	if (ret == E_OK && find_common(&own, &other, 0) == 0) {
		ret = E_PARTITION;
	}
	return ret;
}

int snap_listed_p_key(struct snap_reader *r, const struct snap_end *a,
                      const struct snap_end *b, const struct policy *p,
                      const struct policy_list *list, uint16_t *ret_p_key)
{
	struct set s;
	uint16_t best = 0;
	int ret = get_set(r, a->p_key_set, &s);
	for (size_t i = 0; ret == E_OK && i < s.n; i++) {
		uint16_t base = key_at(&s, i) & P_KEY_BASE, key;
		if (base == 0 || (best != 0 && (best & P_KEY_BASE) <= base) ||
		    !policy_has(p, list, base)) {
			continue;
		}
		ret = snap_common_p_key(r, a, b, base, &key);
		if (ret == E_OK) {
			best = key;
		}
		ret = ret == E_PARTITION ? E_OK : ret;
	}
	if (ret == E_OK && best == 0) {
		ret = E_PARTITION;
	}
	if (ret == E_OK) {
		*ret_p_key = best;
	}
	return ret;
}
