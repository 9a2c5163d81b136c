/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A change is made in two steps: a draft of the one or two partitions that it concerns is
 * compared with what there is, and if it differs, a copy of all partitions with the draft in
 * its place is made, and rows for what differs. All partitions are small beside a fabric, so
 * copying them costs less than keeping track of who uses which version.
 */
#include "sa/partition/runtime_change.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "conf/policy/partitions.h"
#include "db/lmdb/layout.h"
#include "db/state/state.h"
#include "sa/partition/runtime.h"

enum { SL_MAX = 15, MTU_MAX = 5, RATE_MIN = 2, RATE_MAX = 63 };

/* --- the request ---------------------------------------------------------------------- */

/* A change at work. */
struct changing {
	const struct runtime_partitions *now;
	const struct partitions *configured;
	struct runtime_change *c;
	struct arena *a; /* of what is to be */
	char *why;
	size_t why_bytes;
	struct runtime_partition
		draft[2]; /* [n_drafts] what changes; p_key 0: is deleted */
	uint16_t key[2];
	unsigned n_drafts;
};

static int refuse_change(struct changing *s, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse_change(struct changing *s, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->why, s->why_bytes, fmt, ap);
	va_end(ap);
	return ret;
}

static int by_guid(const void *a, const void *b)
{
	const struct runtime_member *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static bool is_in(int value, int min, int max)
{
	return value == RUNTIME_SAME || (value >= min && value <= max);
}

/* Numbers and GUIDs of the request, which come from outside. */
static int check_request(struct changing *s)
{
	struct runtime_change *c = s->c;
	uint32_t n = 0;

	if (((c->p_key | c->from | c->first | c->last) & P_KEY_FULL) != 0) {
		return refuse_change(s, E_RANGE, "a P_Key has 15 bits");
	}
	if (c->first > c->last || (c->first == 0) != (c->last == 0)) {
		return refuse_change(s, E_RANGE,
		                     "the range of P_Keys from 0x%04x to 0x%04x is empty",
		                     c->first, c->last);
	}
	if (!is_in(c->sl, 0, SL_MAX) || !is_in(c->mtu, 1, MTU_MAX) ||
	    !is_in(c->rate, RATE_MIN, RATE_MAX)) {
		return refuse_change(
			s, E_RANGE,
			"'sl' must be from 0 to 15, 'mtu' a code from 1 to 5, 'rate' a code from 2 to 63");
	}
	if (c->name != NULL && (*c->name == '\0' || strlen(c->name) > RUNTIME_NAME_MAX)) {
		return refuse_change(s, E_RANGE, "a name has 1 to %d bytes",
		                     RUNTIME_NAME_MAX);
	}
	if (c->name != NULL && text_has_control(c->name, strlen(c->name))) {
		return refuse_change(s, E_RANGE, "a name has no control characters");
	}
	if (c->n_members == 0) {
		return E_OK;
	}
	qsort(c->members, c->n_members, sizeof(*c->members), by_guid);
	for (uint32_t i = 0; i < c->n_members; i++) {
		const struct runtime_member *m = &c->members[i];

		if (m->guid == 0 || m->guid == UINT64_MAX) {
			return refuse_change(s, E_RANGE,
			                     "0x%016" PRIx64 " is no PortGUID", m->guid);
		}
		if (n > 0 && c->members[n - 1].guid == m->guid &&
		    c->members[n - 1].membership != m->membership) {
			return refuse_change(
				s, E_RANGE,
				"0x%016" PRIx64
				" is there twice, with different memberships",
				m->guid);
		}
		if (n == 0 || c->members[n - 1].guid != m->guid) {
			c->members[n++] = *m;
		}
	}
	c->n_members = n;
	return E_OK;
}

/* A P_Key that nobody uses, or 0. */
static uint16_t free_p_key(const struct changing *s)
{
	bool ranged = s->c->first != 0;
	uint16_t first = ranged ? s->c->first : 1;
	uint16_t last = ranged ? s->c->last : PARTITION_DEFAULT - 1;
	uint32_t n = last - first + 1U;
	uint32_t start = ranged ? (uint32_t)(s->now->version % n) : 0;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t key = (uint16_t)(first + (start + i) % n);

		if (key != PARTITION_DEFAULT &&
		    partitions_find(s->configured, key) == NULL &&
		    runtime_find(s->now, key) == NULL) {
			return key;
		}
	}
	return 0;
}

/* The partition, other than this one, that has the name, or 0. */
static uint16_t owner_of_name(const struct changing *s, const char *name)
{
	for (uint32_t i = 0; i < s->configured->n; i++) {
		if (strcmp(s->configured->all[i].name, name) == 0) {
			return s->configured->all[i].p_key;
		}
	}
	for (uint32_t i = 0; i < s->now->n; i++) {
		if (strcmp(s->now->all[i].name, name) == 0) {
			return s->now->all[i].p_key;
		}
	}
	return 0;
}

static bool differs(int given, int is)
{
	return given != RUNTIME_SAME && given != is;
}

/* A partition that is there already must be as it was asked for. */
static int check_same(struct changing *s, const struct runtime_partition *t)
{
	const struct runtime_change *c = s->c;

	if ((c->name != NULL && strcmp(c->name, t->name) != 0) ||
	    (c->membership != 0 && c->membership != t->membership) ||
	    differs(c->indx0, t->indx0) || differs(c->ipoib, t->ipoib) ||
	    differs(c->sl, t->sl) || differs(c->rate, t->rate) ||
	    differs(c->mtu, t->mtu)) {
		return refuse_change(s, E_DUPLICATE,
		                     "partition 0x%04x exists, and with other properties",
		                     t->p_key);
	}
	return E_OK;
}

static struct runtime_partition *add_draft(struct changing *s, uint16_t p_key,
                                           const struct runtime_partition *is)
{
	const struct partition_group usual = partition_broadcast_group(p_key);
	struct runtime_partition *t = &s->draft[s->n_drafts];

	s->key[s->n_drafts++] = p_key;
	*t = is != NULL ? *is
	                : (struct runtime_partition){ .name = "",
		                                      .p_key = p_key,
		                                      .membership = PARTITION_FULL,
		                                      .rate = usual.rate,
		                                      .mtu = usual.mtu };
	return t;
}

static int set_properties(struct changing *s, struct runtime_partition *t)
{
	const struct runtime_change *c = s->c;

	uint16_t owner = c->name != NULL ? owner_of_name(s, c->name) : 0;

	if (c->name != NULL && owner != t->p_key) {
		if (partitions_find(s->configured, t->p_key) != NULL) {
			return refuse_change(
				s, E_UNSUITABLE,
				"partition 0x%04x has its name from the configuration",
				t->p_key);
		}
		if (owner != 0) {
			return refuse_change(s, E_DUPLICATE,
			                     "partition 0x%04x has the name '%s' already",
			                     owner, c->name);
		}
		t->name = c->name;
	}
	t->membership = c->membership != 0 ? c->membership : t->membership;
	t->indx0 = c->indx0 != RUNTIME_SAME ? c->indx0 : t->indx0;
	t->ipoib = c->ipoib != RUNTIME_SAME ? c->ipoib : t->ipoib;
	t->sl = c->sl != RUNTIME_SAME ? (uint8_t)c->sl : t->sl;
	t->rate = c->rate != RUNTIME_SAME ? (uint8_t)c->rate : t->rate;
	t->mtu = c->mtu != RUNTIME_SAME ? (uint8_t)c->mtu : t->mtu;
	return E_OK;
}

/* Members of a draft: those there are, with those of the change added or taken away. Both lists
 * are by GUID. */
static int merge_members(struct changing *s, struct runtime_partition *t, bool adds,
                         bool keeps)
{
	const struct runtime_change *c = s->c;
	uint32_t n_old = keeps ? t->n_members : 0, n = 0;
	struct runtime_member *to =
		arena_array(s->a, (size_t)n_old + c->n_members, sizeof(*to));

	if (to == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0, k = 0; i < n_old || k < c->n_members;) {
		const struct runtime_member *old = i < n_old ? &t->members[i] : NULL;
		const struct runtime_member *m = k < c->n_members ? &c->members[k] : NULL;

		if (m == NULL || (old != NULL && old->guid < m->guid)) {
			to[n++] = *old;
			i++;
			continue;
		}
		if (adds) {
			to[n++] = (struct runtime_member){
				m->guid, m->membership ? m->membership : t->membership
			};
		}
		i += old != NULL && old->guid == m->guid;
		k++;
	}
	t->members = to;
	t->n_members = n;
	return E_OK;
}

static int refuse_no_key(struct changing *s)
{
	const struct runtime_change *c = s->c;

	if (c->first == 0) {
		return refuse_change(s, E_FULL, "no P_Key is free");
	}
	return refuse_change(s, E_FULL, "no P_Key from 0x%04x to 0x%04x is free",
	                     c->first, c->last);
}

/* The P_Key of the partition with the name; of one that is to be made a free one. */
static int find_named(struct changing *s)
{
	struct runtime_change *c = s->c;

	c->p_key = owner_of_name(s, c->name);
	if (c->p_key == 0 && !c->create) {
		return refuse_change(s, E_NOTFOUND, "there is no partition '%s'",
		                     c->name);
	}
	c->p_key = c->p_key != 0 ? c->p_key : free_p_key(s);
	return c->p_key != 0 ? E_OK : refuse_no_key(s);
}

static int draft_create(struct changing *s)
{
	struct runtime_change *c = s->c;
	const struct runtime_partition *is;
	const struct partition *of_file;

	if (c->p_key == 0) {
		c->p_key = free_p_key(s);
	}
	if (c->p_key == 0) {
		return refuse_no_key(s);
	}
	is = runtime_find(s->now, c->p_key);
	of_file = partitions_find(s->configured, c->p_key);
	if (of_file != NULL) {
		return refuse_change(
			s, E_DUPLICATE,
			"partition 0x%04x is one of the configuration; members can be added to it",
			c->p_key);
	}
	if (is != NULL && c->n_members == 0) {
		return check_same(s, is);
	}
	if (is != NULL) {
		return refuse_change(s, E_DUPLICATE,
		                     "partition 0x%04x exists; add the members to it",
		                     c->p_key);
	}
	struct runtime_partition *t = add_draft(s, c->p_key, NULL);
	int ret = set_properties(s, t);

	return ret == E_OK ? merge_members(s, t, true, true) : ret;
}

/* The members leave another partition. */
static int draft_leave(struct changing *s)
{
	const struct runtime_partition *is = runtime_find(s->now, s->c->from);

	if (s->c->from == s->c->p_key) {
		return refuse_change(
			s, E_RANGE,
			"members cannot leave the partition that they are added to");
	}
	if (is == NULL) {
		return partitions_find(s->configured, s->c->from) != NULL
		               ? E_OK
		               : refuse_change(s, E_NOTFOUND,
		                               "there is no partition 0x%04x",
		                               s->c->from);
	}
	return merge_members(s, add_draft(s, s->c->from, is), false, true);
}

static int draft_members(struct changing *s)
{
	const struct runtime_change *c = s->c;
	const struct runtime_partition *is = runtime_find(s->now, c->p_key);
	bool there = is != NULL || partitions_find(s->configured, c->p_key) != NULL;
	struct runtime_partition *t;
	int ret;

	if (!there && (!c->create || c->p_key == 0 || c->action == RUNTIME_REMOVE)) {
		return refuse_change(s, E_NOTFOUND, "there is no partition 0x%04x",
		                     c->p_key);
	}
	t = add_draft(s, c->p_key, is);
	ret = set_properties(s, t);
	if (ret == E_OK) {
		ret = merge_members(s, t, c->action != RUNTIME_REMOVE,
		                    c->action != RUNTIME_SET);
	}
	return ret == E_OK && c->from != 0 ? draft_leave(s) : ret;
}

static int draft_delete(struct changing *s)
{
	if (partitions_find(s->configured, s->c->p_key) != NULL) {
		return refuse_change(
			s, E_UNSUITABLE,
			"partition 0x%04x is one of the configuration, where it is to be deleted; members that were added at run time can be removed",
			s->c->p_key);
	}
	if (runtime_find(s->now, s->c->p_key) == NULL) {
		return refuse_change(s, E_NOTFOUND, "there is no partition 0x%04x",
		                     s->c->p_key);
	}
	add_draft(s, s->c->p_key, NULL)->p_key = 0;
	return E_OK;
}

/* --- what differs --------------------------------------------------------------------- */

static bool same_partition(const struct runtime_partition *a,
                           const struct runtime_partition *b)
{
	if (strcmp(a->name, b->name) != 0 || a->membership != b->membership ||
	    a->indx0 != b->indx0 || a->ipoib != b->ipoib || a->sl != b->sl ||
	    a->rate != b->rate || a->mtu != b->mtu || a->n_members != b->n_members) {
		return false;
	}
	for (uint32_t i = 0; i < a->n_members; i++) {
		if (a->members[i].guid != b->members[i].guid ||
		    a->members[i].membership != b->members[i].membership) {
			return false;
		}
	}
	return true;
}

/* One of the configuration to which nothing was added needs no row. */
static bool is_empty(const struct changing *s, const struct runtime_partition *t)
{
	return t->n_members == 0 && !t->indx0 && !t->ipoib &&
	       partitions_find(s->configured, t->p_key) != NULL;
}

/* Drops drafts that are as what there is. */
static void drop_same(struct changing *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_drafts; i++) {
		const struct runtime_partition *is = runtime_find(s->now, s->key[i]);
		struct runtime_partition *t = &s->draft[i];

		t->p_key = t->p_key != 0 && is_empty(s, t) ? 0 : t->p_key;
		if (is == NULL ? t->p_key != 0
		               : t->p_key == 0 || !same_partition(t, is)) {
			s->key[n] = s->key[i];
			s->draft[n++] = *t;
		}
	}
	s->n_drafts = n;
}

static int put_member(struct state_batch *b, uint16_t p_key,
                      const struct runtime_member *m, bool removes)
{
	uint8_t key[PARTITION_MEMBER_KEY_BYTES];

	key_u16(key, p_key);
	key_u64(key + PARTITION_KEY_BYTES, m->guid);
	return state_batch_put(b, RECORDS_PARTITIONS, key, sizeof(key),
	                       removes ? NULL : &m->membership, 1);
}

static int put_partition(struct state_batch *b, uint16_t p_key,
                         const struct runtime_partition *t)
{
	struct row_runtime_partition row = { .version = t->version,
		                             .changed_s = t->changed_s,
		                             .membership = t->membership,
		                             .indx0 = t->indx0,
		                             .ipoib = t->ipoib,
		                             .sl = t->sl,
		                             .rate = t->rate,
		                             .mtu = t->mtu,
		                             .name_len = (uint8_t)strlen(t->name) };
	uint8_t key[PARTITION_KEY_BYTES], value[sizeof(row) + RUNTIME_NAME_MAX];

	key_u16(key, p_key);
	memcpy(value, &row, sizeof(row));
	memcpy(value + sizeof(row), t->name, row.name_len);
	return state_batch_put(b, RECORDS_PARTITIONS, key, sizeof(key),
	                       t->p_key != 0 ? value : NULL, sizeof(row) + row.name_len);
}

/* Rows of one partition that differ. */
static int put_differences(struct state_batch *b, uint16_t p_key,
                           const struct runtime_partition *t,
                           const struct runtime_partition *is)
{
	static const struct runtime_partition none;
	int ret = put_partition(b, p_key, t);

	is = is != NULL ? is : &none;
	for (uint32_t i = 0, k = 0;
	     ret == E_OK && (i < is->n_members || k < t->n_members);) {
		const struct runtime_member *old =
			i < is->n_members ? &is->members[i] : NULL;
		const struct runtime_member *m = k < t->n_members ? &t->members[k] : NULL;

		if (m == NULL || (old != NULL && old->guid < m->guid)) {
			ret = put_member(b, p_key, old, true);
			i++;
			continue;
		}
		if (old == NULL || old->guid != m->guid ||
		    old->membership != m->membership) {
			ret = put_member(b, p_key, m, false);
		}
		i += old != NULL && old->guid == m->guid;
		k++;
	}
	return ret;
}

static int make_batch(const struct changing *s, const struct runtime_partitions *next,
                      struct state_batch **ret_batch)
{
	const struct row_runtime_head head = { next->version, next->changed_s };
	const uint8_t key[PARTITION_KEY_BYTES] = { 0 };
	struct state_batch *b;
	int ret = state_batch_new(&b);

	if (ret != E_OK) {
		return ret;
	}
	for (unsigned i = 0; i < s->n_drafts && ret == E_OK; i++) {
		ret = put_differences(b, s->key[i], &s->draft[i],
		                      runtime_find(s->now, s->key[i]));
	}
	if (ret == E_OK) {
		ret = state_batch_put(b, RECORDS_PARTITIONS, key, sizeof(key), &head,
		                      sizeof(head));
	}
	if (ret != E_OK) {
		state_batch_free(b);
		return ret;
	}
	*ret_batch = b;
	return E_OK;
}

/* --- the copy ------------------------------------------------------------------------- */

static int copy_partition(struct runtime_partitions *to,
                          const struct runtime_partition *t)
{
	struct runtime_partition copy = *t;
	struct runtime_member *members =
		arena_array(to->arena, t->n_members, sizeof(*members));

	copy.name = arena_strdup(to->arena, t->name);
	if (members == NULL || copy.name == NULL) {
		return -ENOMEM;
	}
	if (t->n_members != 0) {
		memcpy(members, t->members, t->n_members * sizeof(*members));
	}
	copy.members = members;
	((struct runtime_partition *)to->all)[to->n++] = copy;
	to->n_members += t->n_members;
	return E_OK;
}

/* All partitions by P_Key, with the drafts in place of what there is. */
static int copy_all(const struct changing *s, struct runtime_partitions *to)
{
	int ret = E_OK;
	uint32_t i = 0;

	for (uint32_t key = 1; key <= P_KEY_BASE && ret == E_OK; key++) {
		const struct runtime_partition *t =
			i < s->now->n && s->now->all[i].p_key == key ? &s->now->all[i++]
								     : NULL;

		for (unsigned k = 0; k < s->n_drafts; k++) {
			if (s->key[k] == key) {
				t = s->draft[k].p_key != 0 ? &s->draft[k] : NULL;
			}
		}
		ret = t != NULL ? copy_partition(to, t) : E_OK;
	}
	return ret;
}

static int make_next(struct changing *s, int64_t now_s,
                     struct runtime_partitions **ret_partitions)
{
	struct runtime_partitions *next = runtime_new(s->now->n + s->n_drafts);
	int ret;

	if (next == NULL) {
		return -ENOMEM;
	}
	next->version = s->now->version + 1;
	next->changed_s = now_s;
	for (unsigned i = 0; i < s->n_drafts; i++) {
		s->draft[i].version = next->version;
		s->draft[i].changed_s = now_s;
	}
	ret = copy_all(s, next);
	if (ret == E_OK && next->n_members > RUNTIME_MEMBERS_MAX) {
		ret = refuse_change(
			s, E_FULL,
			"partitions made at run time have %d members at most, all together",
			RUNTIME_MEMBERS_MAX);
	}
	if (ret != E_OK) {
		runtime_free(next);
		return ret;
	}
	*ret_partitions = next;
	return E_OK;
}

static int draft_change(struct changing *s)
{
	int ret = check_request(s);

	if (ret != E_OK) {
		return ret;
	}
	if (s->c->has_version && s->c->if_version != s->now->version) {
		return refuse_change(s, E_STALE,
		                     "the partitions have version %" PRIu64
		                     ", not %" PRIu64,
		                     s->now->version, s->c->if_version);
	}
	if (s->c->action != RUNTIME_CREATE && s->c->p_key == 0 && s->c->name != NULL) {
		ret = find_named(s);
	}
	if (ret != E_OK) {
		return ret;
	}
	switch (s->c->action) {
	case RUNTIME_CREATE: ret = draft_create(s); break;
	case RUNTIME_ADD:
	case RUNTIME_REMOVE:
	case RUNTIME_SET: ret = draft_members(s); break;
	case RUNTIME_DELETE: ret = draft_delete(s); break;
	}
	return ret;
}

int runtime_apply(const struct runtime_partitions *now,
                  const struct partitions *configured, struct runtime_change *c,
                  int64_t now_s, char *why, size_t why_bytes,
                  struct runtime_partitions **ret_partitions,
                  struct state_batch **ret_batch)
{
	struct changing s = { .now = now,
		              .configured = configured,
		              .c = c,
		              .a = arena_new(),
		              .why = why,
		              .why_bytes = why_bytes };
	struct runtime_partitions *next = NULL;
	struct state_batch *batch = NULL;
	int ret = s.a != NULL ? draft_change(&s) : -ENOMEM;

	if (ret == E_OK) {
		drop_same(&s);
	}
	if (ret == E_OK && s.n_drafts != 0) {
		ret = make_next(&s, now_s, &next);
	}
	if (ret == E_OK && next != NULL) {
		ret = make_batch(&s, next, &batch);
	}
	arena_free(s.a);
	if (ret != E_OK) {
		runtime_free(next);
		return ret;
	}
	*ret_partitions = next;
	*ret_batch = batch;
	return E_OK;
}
