/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/partition/runtime.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/search.h"
#include "conf/policy/partitions.h"
#include "db/lmdb/layout.h"
#include "db/state/state.h"

/* --- what there is -------------------------------------------------------------------- */

const struct runtime_partition *runtime_find(const struct runtime_partitions *r,
                                             uint16_t p_key)
{
	size_t i = LOWER_BOUND(r->n, k, r->all[k].p_key < (p_key & P_KEY_BASE));

	return i < r->n && r->all[i].p_key == (p_key & P_KEY_BASE) ? &r->all[i] : NULL;
}

void runtime_free(struct runtime_partitions *r)
{
	if (r != NULL) {
		arena_free(r->arena);
	}
}

struct runtime_partitions *runtime_new(uint32_t n)
{
	struct arena *a = arena_new();
	struct runtime_partitions *r = a != NULL ? arena_alloc(a, sizeof(*r)) : NULL;

	if (r != NULL) {
		r->arena = a;
		r->all = arena_array(a, n, sizeof(*r->all));
	}
	if (r == NULL || r->all == NULL) {
		arena_free(a);
		return NULL;
	}
	return r;
}

/* --- the state ------------------------------------------------------------------------ */

/* Rows come by key: the head, then each partition and behind it its members. */
struct loading {
	uint32_t n, n_members;        /* counted in the first pass */
	struct runtime_partitions *r; /* NULL in the first pass */
	struct runtime_partition *all;
	struct runtime_member *members; /* of all, one partition behind the other */
};

static int load_partition(struct loading *l, uint16_t p_key, const uint8_t *value)
{
	struct runtime_partition *t = &l->all[l->r->n++];
	struct row_runtime_partition row;
	char *name;

	memcpy(&row, value, sizeof(row));
	name = arena_alloc(l->r->arena, row.name_len + 1U);
	if (name == NULL) {
		return -ENOMEM;
	}
	memcpy(name, value + sizeof(row), row.name_len);
	*t = (struct runtime_partition){ .name = name,
		                         .members = l->members + l->r->n_members,
		                         .version = row.version,
		                         .changed_s = row.changed_s,
		                         .p_key = p_key,
		                         .membership = row.membership,
		                         .indx0 = row.indx0,
		                         .ipoib = row.ipoib,
		                         .sl = row.sl,
		                         .rate = row.rate,
		                         .mtu = row.mtu };
	return E_OK;
}

static int load_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                    size_t len)
{
	struct loading *l = ctx;
	bool is_member = key_len == PARTITION_MEMBER_KEY_BYTES;
	uint16_t p_key;

	if (!state_partition_fits(key, key_len, value, len)) {
		return E_MALFORMED;
	}
	p_key = key_read_u16(key);
	if (l->r == NULL) {
		l->n += !is_member && p_key != 0;
		l->n_members += is_member;
	} else if (!is_member && p_key == 0) {
		struct row_runtime_head head;

		memcpy(&head, value, sizeof(head));
		l->r->version = head.version;
		l->r->changed_s = head.changed_s;
	} else if (!is_member) {
		return l->r->n < l->n ? load_partition(l, p_key, value) : E_MALFORMED;
	} else {
		struct runtime_partition *t = l->r->n > 0 ? &l->all[l->r->n - 1] : NULL;

		if (t == NULL || t->p_key != p_key || l->r->n_members == l->n_members) {
			return E_MALFORMED;
		}
		l->members[l->r->n_members++] =
			(struct runtime_member){ key_read_u64(key + PARTITION_KEY_BYTES),
			                         value[0] & PARTITION_BOTH };
		t->n_members++;
	}
	return E_OK;
}

int runtime_load(struct state *state, struct runtime_partitions **ret_partitions)
{
	struct loading l = { .n = 0 };
	struct runtime_partitions *r;
	int ret = E_OK;

	if (state != NULL) {
		ret = state_records(state, RECORDS_PARTITIONS, load_row, &l);
	}
	if (ret != E_OK) {
		return ret;
	}
	r = runtime_new(l.n);
	if (r == NULL) {
		return -ENOMEM;
	}
	l.r = r;
	l.all = (struct runtime_partition *)r->all;
	l.members = arena_array(r->arena, l.n_members, sizeof(*l.members));
	ret = l.members == NULL ? -ENOMEM
	      : state != NULL   ? state_records(state, RECORDS_PARTITIONS, load_row, &l)
	                        : E_OK;
	if (ret != E_OK) {
		runtime_free(r);
		return ret;
	}
	*ret_partitions = r;
	return E_OK;
}

static void note_result(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

int runtime_store(struct state *state, struct state_batch *batch)
{
	int ret = -EIO;

	state_batch_commit(state, batch, note_result, &ret);
	state_flush(state);
	return ret;
}

/* --- with the configuration ------------------------------------------------------------ */

static const struct partition_group *find_broadcast(const struct partition *t)
{
	for (uint32_t i = 0; t != NULL && i < t->n_groups; i++) {
		if (t->groups[i].broadcast) {
			return &t->groups[i];
		}
	}
	return NULL;
}

static int merge_groups(const struct partition *of_file,
                        const struct runtime_partition *t, struct arena *a,
                        struct partition *to)
{
	struct partition_group *groups, broadcast = partition_broadcast_group(t->p_key);

	if (!t->ipoib || find_broadcast(of_file) != NULL) {
		return E_OK;
	}
	groups = arena_array(a, to->n_groups + 1, sizeof(*groups));
	if (groups == NULL) {
		return -ENOMEM;
	}
	if (to->n_groups != 0) {
		memcpy(groups, to->groups, to->n_groups * sizeof(*groups));
	}
	broadcast.sl = t->sl;
	broadcast.rate = t->rate;
	broadcast.mtu = t->mtu;
	groups[to->n_groups++] = broadcast;
	to->groups = groups;
	return E_OK;
}

static int merge_partition(const struct partition *of_file,
                           const struct runtime_partition *t, struct arena *a,
                           struct partition *to)
{
	uint32_t n = of_file != NULL ? of_file->n_members : 0;
	struct partition_member *m = arena_array(a, (size_t)n + t->n_members, sizeof(*m));

	*to = of_file != NULL ? *of_file
	                      : (struct partition){ .name = arena_strdup(a, t->name),
		                                    .p_key = t->p_key,
		                                    .sl = t->sl,
		                                    .runtime = true };
	if (m == NULL || to->name == NULL) {
		return -ENOMEM;
	}
	if (n != 0) {
		memcpy(m, of_file->members, n * sizeof(*m));
	}
	for (uint32_t i = 0; i < t->n_members; i++) {
		m[n + i] =
			(struct partition_member){ .first = t->members[i].guid,
			                           .last = t->members[i].guid,
			                           .who = PARTITION_GUIDS,
			                           .membership = t->members[i].membership,
			                           .runtime = true };
	}
	to->members = m;
	to->n_members = n + t->n_members;
	to->indx0 |= t->indx0;
	return merge_groups(of_file, t, a, to);
}

int runtime_merge(const struct partitions *configured, const struct runtime_partitions *r,
                  struct arena *a, const struct partitions **ret_partitions)
{
	struct partitions *list = arena_alloc(a, sizeof(*list));
	struct partition *all = arena_array(a, configured->n + r->n, sizeof(*all));
	uint32_t i = 0, k = 0;
	int ret = E_OK;

	if (list == NULL || all == NULL) {
		return -ENOMEM;
	}
	*list = *configured;
	list->all = all;
	for (list->n = 0; ret == E_OK && (i < configured->n || k < r->n); list->n++) {
		const struct partition *t =
			i < configured->n ? &configured->all[i] : NULL;
		const struct runtime_partition *x = k < r->n ? &r->all[k] : NULL;

		if (x == NULL || (t != NULL && t->p_key < x->p_key)) {
			all[list->n] = *t;
			i++;
			continue;
		}
		t = t != NULL && t->p_key == x->p_key ? t : NULL;
		ret = merge_partition(t, x, a, &all[list->n]);
		i += t != NULL;
		k++;
	}
	if (ret == E_OK) {
		*ret_partitions = list;
	}
	return ret;
}
