/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Memory runs out at any place of a publish: readers keep the epoch that there was, and the next publish
 * has everything.
 */
#include <check.h>
#include <errno.h>

#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static struct snap_writer *w;
static struct fabric before, after;

static void setup(void)
{
	struct snap_options o = { .grace_ms = 10000 };
	const char *why = "";

	make_tmp(dir);
	arena = arena_new();
	ck_assert_msg(snap_writer_open(dir, &o, arena, &why, &w) == E_OK, "%s", why);
	fabric_init(&before, "ft2 4 2 2", 0);
	fabric_cut(&after, &before, 1, 0);
}

static void teardown(void)
{
	snap_writer_close(w);
	fabric_done(&after);
	fabric_done(&before);
	arena_free(arena);
	remove_tree(dir);
}

/* Whole tables of the epoch that a reader finds. */
static void check_epoch(uint64_t epoch, const struct fabric *f)
{
	struct snap_reader *r = NULL;
	const char *why = "";

	ck_assert_msg(snap_reader_open(dir, arena, &why, &r) == E_OK, "%s", why);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_uint_eq(snap_meta(r)->epoch, epoch);
	for (uint32_t s = 0; s < f->g->n_switches; s++) {
		for (uint32_t lid = 1; lid < f->route.out.lft.n_lids; lid++) {
			uint8_t port;

			ck_assert_int_eq(
				snap_lft(r, f->g->nodes[f->g->switches[s]].guid, lid, &port),
				E_OK);
			ck_assert_uint_eq(port, lft_row(&f->route.out.lft, s)[lid]);
		}
	}
	snap_reader_close(r);
}

START_TEST(publish_without_memory)
{
	struct snap_content first = fabric_content(&before, 1), second;
	struct snap_published p;
	uint64_t epoch = 1;

	first.attrs = fabric_attrs(&before, 1, &first.n_attrs);
	ck_assert_int_eq(snap_publish(w, &first, 1, &p), E_OK);
	check_epoch(1, &before);
	for (size_t n = 1;; n++) {
		second = fabric_content(&after, epoch + 1);
		second.attrs = fabric_attrs(&after, 2, &second.n_attrs);
		if (_i == 0) {
			alloc_fail_at(n);
		} else {
			alloc_fail_from(n);
		}
		int ret = snap_publish(w, &second, 2, &p);
		bool any = alloc_fail_end();

		if (ret != E_OK) {
			ck_assert(any);
			ck_assert_msg(ret == -ENOMEM, "allocation %zu fails: %s", n,
			              err_text(ret));
			check_epoch(epoch, &before);
			continue;
		}
		check_epoch(++epoch, &after);
		if (!any) {
			break;
		}
		first.epoch = ++epoch; /* it did without that memory */
		ck_assert_int_eq(snap_publish(w, &first, 2, &p), E_OK);
	}
}
END_TEST

TEST_SUITE(publish_alloc)
{
	TCase *t = tcase_create("publish_alloc");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, publish_without_memory, 0, 2);
	suite_add_tcase(suite, t);
}
