/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What a row of publishes leaves in the snapshot: for each table how many rows it has,
 * and a sum of them, in tests/golden/snapshot. Other tests say what is right; this one
 * says that a row is no longer as it was. Where that is meant, `make golden` writes the
 * file anew. Numbers in the rows have the byte order of the machine, so it is for
 * little-endian ones.
 */
#include <check.h>
#include <endian.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/txn.h"
#include "db/snapshot/snapshot_int.h"
#include "tests/lib/golden.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static struct snap_writer *w;

static void setup(void)
{
	struct snap_options o = { .grace_ms = 10000 };
	const char *why = "";

	arena = arena_new();
	make_tmp(dir);
	ck_assert_int_eq(snap_writer_open(dir, &o, arena, &why, &w), E_OK);
}

static void teardown(void)
{
	snap_writer_close(w);
	arena_free(arena);
	remove_tree(dir);
}

#define NAME(id, name, ...) [SNAP_##id] = #name,
static const char *const names[] = { SNAP_TABLES(NAME, NAME, NAME, NAME) };

/* Rows with transaction ids and times are only counted. */
static bool is_of_the_moment(unsigned table)
{
	return table == SNAP_META || table == SNAP_CHANGES;
}

struct rows {
	bool only_counted;
	uint64_t sum, n;
};

static void add_row(void *ctx, const struct db_val *k, const struct db_val *v)
{
	struct rows *r = ctx;

	r->sum = golden_sum(r->sum, k->data, k->len);
	r->sum = golden_sum_number(r->sum, k->len);
	r->sum = golden_sum(r->sum, v->data, r->only_counted ? 0 : v->len);
	r->sum = golden_sum_number(r->sum, v->len);
	r->n++;
}

static void put_tables(FILE *f, const char *what)
{
	fprintf(f, "%s\n", what);
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		struct rows r = { is_of_the_moment(i), GOLDEN_SUM, 0 };

		each_row(w, i, add_row, &r);
		fprintf(f, "  %-14s %4llu %016llx\n", names[i], (unsigned long long)r.n,
		        (unsigned long long)r.sum);
	}
}

static void publish(FILE *f, const struct fabric *x, uint64_t epoch, uint8_t stamp,
                    const char *what)
{
	struct snap_content c = fabric_content(x, epoch);
	struct snap_published p;

	c.attrs = fabric_attrs(x, stamp, &c.n_attrs);
	ck_assert_int_eq(snap_publish(w, &c, 0, &p), E_OK);
	put_tables(f, what);
}

static const struct {
	const char *spec;
	uint32_t lmc;
} fabrics[] = {
	{ "ft2 3 2 2", 0 },
	{ "ft2 4 3 2", 2 },
	{ "torus 3x3 1", 1 },
	{ "jellyfish 8 3 2", 0 },
};

START_TEST(publishes)
{
	struct golden golden;
	uint64_t epoch = 0;

	if (htole16(1) != 1) {
		return;
	}
	golden_begin(&golden, "snapshot");
	for (unsigned i = 0; i < sizeof(fabrics) / sizeof(*fabrics); i++) {
		struct fabric x, less;

		fabric_init(&x, fabrics[i].spec, fabrics[i].lmc);
		publish(golden.f, &x, ++epoch, 1, fabrics[i].spec);
		publish(golden.f, &x, ++epoch, 2, "other attributes");
		fabric_cut(&less, &x, 1 + i % 2, fabrics[i].lmc);
		publish(golden.f, &less, ++epoch, 2, "less cables");
		publish(golden.f, &x, ++epoch, 2, "all cables");
		fabric_done(&less);
		fabric_done(&x);
	}
	golden_end(&golden);
}
END_TEST

TEST_SUITE(db_golden)
{
	TCase *t = tcase_create("db_golden");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, publishes);
	suite_add_tcase(suite, t);
}
