/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Partitions made at run time: random changes beside a table of who is a member of what, with
 * the state opened again in between; and refusals, each of which changes nothing.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/policy/partitions.h"
#include "db/state/state.h"
#include "sa/partition/runtime.h"
#include "sa/partition/runtime_change.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/db_util.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

enum { SEEDS = 8, STEPS = 150, KEYS = 6, GUIDS = 40 };

static char dir[256], why[300];
static struct arena *arena;
static struct state *state;
static struct runtime_partitions *now;
static const struct partitions *configured;

static void open_state(void)
{
	const char *sentence = "";

	ck_assert_msg(state_open(dir, arena, &sentence, &state) == E_OK, "%s", sentence);
	ck_assert_int_eq(runtime_load(state, &now), E_OK);
}

static void close_state(void)
{
	runtime_free(now);
	state_close(state);
}

static void configure(const char *text)
{
	ck_assert_int_eq(
		partitions_parse("p", text, strlen(text), arena, NULL, &configured),
		E_OK);
}

static void setup(void)
{
	make_tmp(dir);
	arena = arena_new();
	configure("File=0x5:0x77=limited;");
	open_state();
}

static void teardown(void)
{
	close_state();
	arena_free(arena);
	remove_tree(dir);
}

static struct runtime_change change_of(enum runtime_action action, uint16_t p_key)
{
	return (struct runtime_change){ .action = action,
		                        .p_key = p_key,
		                        .indx0 = RUNTIME_SAME,
		                        .ipoib = RUNTIME_SAME,
		                        .sl = RUNTIME_SAME,
		                        .rate = RUNTIME_SAME,
		                        .mtu = RUNTIME_SAME };
}

/* \return What runtime_apply() says; a change is stored. */
static int apply(struct runtime_change *c, bool *ret_changed)
{
	struct runtime_partitions *next = NULL;
	struct state_batch *batch = NULL;
	int ret = runtime_apply(now, configured, c, 1700000000, why, sizeof(why), &next,
	                        &batch);

	*ret_changed = next != NULL;
	ck_assert_int_eq(next != NULL, batch != NULL);
	ck_assert(ret == E_OK || next == NULL);
	if (next != NULL) {
		ck_assert_uint_eq(next->version, now->version + 1);
		ck_assert_int_eq(runtime_store(state, batch), E_OK);
		runtime_free(now);
		now = next;
	}
	return ret;
}

static int apply_one(enum runtime_action action, uint16_t p_key, uint64_t guid,
                     uint8_t membership, bool *ret_changed)
{
	struct runtime_member m = { guid, membership };
	struct runtime_change c = change_of(action, p_key);

	c.members = &m;
	c.n_members = guid != 0;
	return apply(&c, ret_changed);
}

/* --- random changes --------------------------------------------------------------------- */

struct model {
	bool there[KEYS];
	uint8_t is[KEYS][GUIDS];
};

/* By P_Key, and members by GUID, exactly as in the table. */
static const struct runtime_member *member_of(const struct runtime_partition *t,
                                              uint64_t guid)
{
	for (uint32_t i = 0; i < t->n_members; i++) {
		if (t->members[i].guid == guid) {
			return &t->members[i];
		}
	}
	return NULL;
}

static void check_model(const struct model *m)
{
	uint32_t n = 0, members = 0;

	for (unsigned k = 0; k < KEYS; k++) {
		const struct runtime_partition *t =
			runtime_find(now, (uint16_t)(0x8000 | (10 + k)));

		ck_assert_int_eq(t != NULL, m->there[k]);
		n += m->there[k];
		for (unsigned g = 0; m->there[k] && g < GUIDS; g++) {
			const struct runtime_member *x = member_of(t, 100 + g);

			ck_assert_uint_eq(x != NULL ? x->membership : 0, m->is[k][g]);
			members += x != NULL;
		}
	}
	ck_assert_uint_eq(now->n, n);
	ck_assert_uint_eq(now->n_members, members);
}

static void random_change(struct model *m, uint64_t *seed)
{
	struct runtime_member list[2 * GUIDS];
	unsigned k = random_below(seed, KEYS), from = random_below(seed, KEYS);
	unsigned n = random_below(seed, 2 * GUIDS);
	struct model next = *m;
	struct runtime_change c = change_of(random_below(seed, 5), (uint16_t)(10 + k));
	bool changed, fits = m->there[k];
	int ret;

	c.create = random_below(seed, 2);
	c.members = list;
	c.n_members = c.action == RUNTIME_DELETE ? 0 : n;
	if (c.action == RUNTIME_SET) {
		memset(next.is[k], 0, sizeof(next.is[k]));
	}
	for (unsigned i = 0; i < c.n_members; i++) {
		unsigned g = random_below(seed, GUIDS);

		/* a GUID has the same membership wherever it stands in one request */
		list[i] = (struct runtime_member){ 100 + g, (uint8_t)(1 + (g + n) % 3) };
		next.is[k][g] = c.action == RUNTIME_REMOVE ? 0 : list[i].membership;
	}
	if (c.action == RUNTIME_ADD && from != k && random_below(seed, 2)) {
		c.from = (uint16_t)(10 + from);
		for (unsigned i = 0; i < n; i++) {
			next.is[from][list[i].guid - 100] = 0;
		}
		fits &= m->there[from];
	}
	if (c.action == RUNTIME_CREATE) {
		fits = !m->there[k] || c.n_members == 0;
	} else if (c.action == RUNTIME_ADD || c.action == RUNTIME_SET) {
		fits |= c.create && (c.from == 0 || m->there[from]);
	} else if (c.action == RUNTIME_DELETE) {
		memset(next.is[k], 0, sizeof(next.is[k]));
	}
	next.there[k] = c.action != RUNTIME_DELETE;
	c.has_version = random_below(seed, 2);
	c.if_version = now->version + (random_below(seed, 10) == 0);
	if (c.has_version && c.if_version != now->version) {
		ck_assert_int_eq(apply(&c, &changed), E_STALE);
		fits = false;
	} else {
		ret = apply(&c, &changed);
		ck_assert_msg((ret == E_OK) == fits, "%d: %s", ret, why);
		ck_assert_int_eq(changed, fits && memcmp(&next, m, sizeof(next)) != 0);
	}
	if (fits) {
		*m = next;
		c.has_version = false;
		if (c.action != RUNTIME_DELETE && c.action != RUNTIME_CREATE) {
			ck_assert_int_eq(apply(&c, &changed), E_OK); /* once more */
			ck_assert(!changed);
		}
	}
}

START_TEST(random_changes)
{
	uint64_t seed = (uint64_t)_i + 3;
	struct model m = { 0 };

	for (unsigned i = 0; i < STEPS; i++) {
		random_change(&m, &seed);
		check_model(&m);
		if (random_below(&seed, 8) == 0) {
			uint64_t version = now->version;

			close_state();
			open_state();
			ck_assert_uint_eq(now->version, version);
			check_model(&m);
		}
	}
}
END_TEST

/* --- properties ------------------------------------------------------------------------- */

START_TEST(properties_survive)
{
	struct runtime_change c = change_of(RUNTIME_CREATE, 0);
	const struct runtime_partition *t;
	bool changed;

	c.name = "tenant-a";
	c.membership = PARTITION_LIMITED;
	c.indx0 = c.ipoib = 1;
	c.sl = 3;
	c.rate = 7;
	c.mtu = 5;
	ck_assert_int_eq(apply(&c, &changed), E_OK);
	ck_assert_uint_eq(c.p_key, 1);               /* the lowest that is free */
	ck_assert_int_eq(apply(&c, &changed), E_OK); /* the same again */
	ck_assert(!changed);
	ck_assert_int_eq(apply_one(RUNTIME_ADD, 1, 9, 0, &changed), E_OK);
	close_state();
	open_state();
	ck_assert_int_eq(now->changed_s, 1700000000);
	t = runtime_find(now, 1);
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->name, "tenant-a");
	ck_assert(t->indx0 && t->ipoib && t->sl == 3 && t->rate == 7 && t->mtu == 5);
	ck_assert_uint_eq(t->version, 2);
	ck_assert_uint_eq(t->members[0].membership, PARTITION_LIMITED);
	c = change_of(RUNTIME_CREATE, 1);
	c.sl = 4;
	ck_assert_int_eq(apply(&c, &changed), E_DUPLICATE);
	c = change_of(RUNTIME_CREATE, 2);
	c.name = "tenant-a";
	ck_assert_int_eq(apply(&c, &changed), E_DUPLICATE);
	c.name = "File";
	ck_assert_int_eq(apply(&c, &changed), E_DUPLICATE);
}
END_TEST

START_TEST(refusals)
{
	struct runtime_member twice[2] = { { 9, PARTITION_FULL },
		                           { 9, PARTITION_LIMITED } };
	struct runtime_change c;
	char name[RUNTIME_NAME_MAX + 2];
	bool changed;

	ck_assert_int_eq(apply_one(RUNTIME_DELETE, 5, 0, 0, &changed), E_UNSUITABLE);
	ck_assert_int_eq(apply_one(RUNTIME_CREATE, 5, 0, 0, &changed), E_DUPLICATE);
	ck_assert_int_eq(apply_one(RUNTIME_DELETE, PARTITION_DEFAULT, 0, 0, &changed),
	                 E_UNSUITABLE);
	ck_assert_int_eq(apply_one(RUNTIME_DELETE, 9, 0, 0, &changed), E_NOTFOUND);
	ck_assert_int_eq(apply_one(RUNTIME_ADD, 9, 1, 0, &changed), E_NOTFOUND);
	ck_assert_int_eq(apply_one(RUNTIME_REMOVE, 9, 1, 0, &changed), E_NOTFOUND);
	ck_assert_int_eq(apply_one(RUNTIME_ADD, 0x8005, 1, 0, &changed), E_RANGE);
	ck_assert_int_eq(apply_one(RUNTIME_ADD, 5, UINT64_MAX, 0, &changed), E_RANGE);
	c = change_of(RUNTIME_ADD, 5);
	c.members = twice;
	c.n_members = 2;
	ck_assert_int_eq(apply(&c, &changed), E_RANGE);
	c = change_of(RUNTIME_CREATE, 9);
	c.sl = 16;
	ck_assert_int_eq(apply(&c, &changed), E_RANGE);
	c = change_of(RUNTIME_CREATE, 9);
	c.mtu = 0;
	ck_assert_int_eq(apply(&c, &changed), E_RANGE);
	c = change_of(RUNTIME_CREATE, 9);
	c.name = "a\nb";
	ck_assert_int_eq(apply(&c, &changed), E_RANGE);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	c.name = name;
	ck_assert_int_eq(apply(&c, &changed), E_RANGE);
	c = change_of(RUNTIME_ADD, 5);
	c.from = 5;
	ck_assert_int_eq(apply(&c, &changed), E_RANGE);
	ck_assert_uint_eq(now->version, 0);
}
END_TEST

/* All partitions together have so many members at most. A change that would add one more changes nothing. */
START_TEST(full)
{
	struct runtime_member *all = arena_array(arena, RUNTIME_MEMBERS_MAX, sizeof(*all));
	struct runtime_member further = { RUNTIME_MEMBERS_MAX + 1, PARTITION_FULL };
	struct runtime_partition one = { .name = "", .members = all, .p_key = 7 };
	struct runtime_partitions there = { .all = &one, .n = 1, .version = 3 };

	ck_assert_ptr_nonnull(all);
	for (uint32_t i = 0; i < RUNTIME_MEMBERS_MAX; i++) {
		all[i] = (struct runtime_member){ i + 1, PARTITION_FULL };
	}
	for (unsigned room = 0; room < 2; room++) {
		struct runtime_change c = change_of(RUNTIME_CREATE, 9);
		struct runtime_partitions *next = NULL;
		struct state_batch *batch = NULL;

		one.n_members = there.n_members = RUNTIME_MEMBERS_MAX - room;
		c.members = &further;
		c.n_members = 1;
		int ret = runtime_apply(&there, configured, &c, 1700000000, why, sizeof(why),
		                        &next, &batch);
		ck_assert_int_eq(ret, room == 0 ? E_FULL : E_OK);
		ck_assert_int_eq(next != NULL, room != 0);
		ck_assert_int_eq(batch != NULL, room != 0);
		if (room == 0) {
			ck_assert_str_eq(
				why,
				"partitions made at run time have 1000000 members at most, all together");
		} else {
			ck_assert_uint_eq(next->n_members, RUNTIME_MEMBERS_MAX);
		}
		runtime_free(next);
		state_batch_free(batch);
	}
}
END_TEST

/* --- by name ---------------------------------------------------------------------------- */

static int apply_named(enum runtime_action action, const char *name, uint64_t guid,
                       uint16_t *ret_key, bool *ret_changed)
{
	struct runtime_member m = { .guid = guid };
	struct runtime_change c = change_of(action, 0);
	int ret;

	c.name = name;
	c.create = action == RUNTIME_SET;
	c.members = &m;
	c.n_members = guid != 0;
	c.first = 0x10;
	c.last = 0x12;
	ret = apply(&c, ret_changed);
	*ret_key = c.p_key;
	return ret;
}

/* A partition that is known by its name keeps its P_Key; a free one of the range is not the one
 * that became free last. */
START_TEST(by_name)
{
	uint16_t a, b, again, other;
	bool changed;

	ck_assert_int_eq(apply_named(RUNTIME_SET, "a", 1, &a, &changed), E_OK);
	ck_assert(changed && a >= 0x10 && a <= 0x12);
	ck_assert_int_eq(apply_named(RUNTIME_SET, "a", 1, &again, &changed), E_OK);
	ck_assert(!changed && again == a);
	ck_assert_int_eq(apply_named(RUNTIME_SET, "a", 2, &again, &changed), E_OK);
	ck_assert(changed && again == a);
	ck_assert_uint_eq(runtime_find(now, a)->n_members, 1);
	ck_assert_uint_eq(runtime_find(now, a)->members[0].guid, 2);
	ck_assert_int_eq(apply_named(RUNTIME_SET, "b", 3, &b, &changed), E_OK);
	ck_assert(b != a);
	ck_assert_int_eq(apply_named(RUNTIME_DELETE, "a", 0, &again, &changed), E_OK);
	ck_assert(changed && again == a && runtime_find(now, a) == NULL);
	ck_assert_int_eq(apply_named(RUNTIME_DELETE, "a", 0, &again, &changed),
	                 E_NOTFOUND);
	ck_assert_int_eq(apply_named(RUNTIME_SET, "c", 4, &other, &changed), E_OK);
	ck_assert(other != a && other != b);
	ck_assert_int_eq(apply_named(RUNTIME_SET, "d", 5, &again, &changed), E_OK);
	ck_assert_uint_eq(again, a);
	ck_assert_int_eq(apply_named(RUNTIME_SET, "e", 6, &again, &changed), E_FULL);
	ck_assert_msg(strstr(why, "0x0010 to 0x0012") != NULL, "%s", why);
	ck_assert_int_eq(apply_named(RUNTIME_REMOVE, "e", 6, &again, &changed),
	                 E_NOTFOUND);
	struct runtime_change c = change_of(RUNTIME_CREATE, 0);
	c.first = 9;
	c.last = 8;
	ck_assert_int_eq(apply(&c, &changed), E_RANGE);
	c.last = 0;
	ck_assert_int_eq(apply(&c, &changed), E_RANGE);
}
END_TEST

/* --- with the configuration ------------------------------------------------------------- */

START_TEST(laid_over_the_configuration)
{
	const struct partitions *p;
	const struct partition *t;
	struct runtime_change c = change_of(RUNTIME_CREATE, 3);
	bool changed;

	c.ipoib = 1;
	ck_assert_int_eq(apply(&c, &changed), E_OK);
	ck_assert_int_eq(apply_one(RUNTIME_ADD, 5, 0x77, PARTITION_FULL, &changed), E_OK);
	ck_assert_int_eq(runtime_merge(configured, now, arena, &p), E_OK);
	ck_assert_uint_eq(p->n, 3);
	t = partitions_find(p, 3);
	ck_assert(t->runtime && t->n_members == 0 && t->n_groups == 1);
	ck_assert_uint_eq(t->groups[0].prefix, UINT64_C(0xff12401b80030000));
	t = partitions_find(p, 5);
	ck_assert_str_eq(t->name, "File");
	ck_assert(!t->runtime && t->n_members == 2 && t->n_groups == 0);
	ck_assert(!t->members[0].runtime &&
	          t->members[0].membership == PARTITION_LIMITED);
	ck_assert(t->members[1].runtime && t->members[1].membership == PARTITION_FULL);
	ck_assert_uint_eq(partitions_find(p, 0xffff)->p_key, PARTITION_DEFAULT);
	/* another file: what was made at run time stays */
	configure("Other=0x6:0x99;");
	ck_assert_int_eq(runtime_merge(configured, now, arena, &p), E_OK);
	ck_assert_uint_eq(p->n, 4);
	t = partitions_find(p, 5);
	ck_assert(t->runtime && t->n_members == 1 && t->members[0].first == 0x77);
	configure("File=0x5:0x77=limited;");
	/* the last member leaves: nothing is left of it */
	ck_assert_int_eq(apply_one(RUNTIME_REMOVE, 5, 0x77, 0, &changed), E_OK);
	ck_assert_ptr_null(runtime_find(now, 5));
	ck_assert_int_eq(apply_one(RUNTIME_REMOVE, 5, 0x77, 0, &changed), E_OK);
	ck_assert(!changed);
}
END_TEST

/* Memory runs out at any place: there is no half of a list. */
START_TEST(laid_over_without_memory)
{
	struct runtime_change c = change_of(RUNTIME_CREATE, 3);
	const struct partitions *p = NULL;
	size_t n_refused = 0;
	bool changed;

	c.ipoib = 1;
	ck_assert_int_eq(apply(&c, &changed), E_OK);
	ck_assert_int_eq(apply_one(RUNTIME_ADD, 5, 0x77, PARTITION_FULL, &changed), E_OK);
	for (size_t n = 1; p == NULL; n++) {
		alloc_fail_at(n);
		int ret = runtime_merge(configured, now, arena, &p);
		bool any = alloc_fail_end();

		ck_assert_int_eq(ret, any ? -ENOMEM : E_OK);
		ck_assert_int_eq(p == NULL, any);
		n_refused += any;
	}
	ck_assert_uint_gt(n_refused, 2);
	ck_assert_uint_eq(p->n, 3);
}
END_TEST

TEST_SUITE(runtime)
{
	TCase *t = tcase_create("runtime");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, random_changes, 0, test_seeds(SEEDS));
	tcase_add_test(t, properties_survive);
	tcase_add_test(t, refusals);
	tcase_add_test(t, full);
	tcase_add_test(t, by_name);
	tcase_add_test(t, laid_over_the_configuration);
	tcase_add_test(t, laid_over_without_memory);
	suite_add_tcase(suite, t);
}
