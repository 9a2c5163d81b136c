/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The policy of an epoch, copied out and checked once when it is first asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/layout.h"
#include "db/policy.h"
#include "db/reader_int.h"

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
static int copy_part(struct snap_reader *r, unsigned part, size_t unit, void **ret,
                     size_t *ret_n)
{
	uint8_t key[2];
	struct db_val v = { NULL, 0 };
	key_u16(key, (uint16_t)part);
	int err = view_get(&r->view, SNAP_POLICY, key, sizeof(key), &v);
	if (err != E_OK && err != E_NOTFOUND) {
		return err;
	}
	size_t len = err == E_OK ? v.len : 0;
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
	*ret = copy;
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
		int err = copy_part(r, i, unit[i], &c->part[i], &n[i]);
		if (err != E_OK) {
			return err;
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

int snap_policy(struct snap_reader *r, const struct policy **ret)
{
	struct policy_cache *c = r->epoch.cache[CACHE_POLICY].data;
	if (!c) {
		c = calloc(1, sizeof(*c));
		int err = c ? load_policy(r, c) : -ENOMEM;
		if (err != E_OK) {
			free_cache(c);
			return err;
		}
		r->epoch.cache[CACHE_POLICY].data = c;
		r->epoch.cache[CACHE_POLICY].free = free_cache;
	}
	*ret = c->any ? &c->p : NULL;
	return E_OK;
}

/* --- partitions ----------------------------------------------------------------------- */

int snap_partition_from(struct snap_reader *r, uint16_t p_key, struct snap_partition *ret)
{
	struct snap_partition p;
	struct db_val k, v;
	uint8_t key[2];

	key_u16(key, p_key);
	int err = view_seek(&r->view, SNAP_PARTITIONS, key, sizeof(key), &k, &v);
	if (err != E_OK) {
		return err;
	}
	if (k.len != sizeof(key) || v.len < sizeof(p.is)) {
		return E_MALFORMED;
	}
	memcpy(&p.is, v.data, sizeof(p.is));
	size_t groups = (size_t)p.is.n_groups * sizeof(struct snap_partition_group);
	size_t members = (size_t)p.is.n_members * sizeof(struct snap_partition_member);
	if (v.len != sizeof(p.is) + groups + members + p.is.name_len) {
		return E_MALFORMED;
	}
	p.p_key = key_read_u16(k.data);
	p.groups = v.data + sizeof(p.is);
	p.members = p.groups + groups;
	p.name = p.members + members;
	*ret = p;
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
