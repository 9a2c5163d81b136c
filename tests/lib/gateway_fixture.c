/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/gateway_fixture.h"

void gateway_fixture_init(struct gateway_fixture *w, const char *kind, int argc,
                          char **argv)
{
	struct topogen_opts o = { .fail = 0 };

	memset(w, 0, sizeof(*w));
	const char *tmp = getenv("TMPDIR");
	snprintf(w->dir, sizeof(w->dir), "%s/saguaro-test.XXXXXX",
	         tmp && strlen(tmp) < 30 ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(w->dir));
	w->arena = arena_new();
	diags_init(&w->diags, w->arena);
	ck_assert_int_eq(topogen(kind, argc, argv, &o, w->arena, &w->diags, &w->g), E_OK);
}

void gateway_fixture_route(struct gateway_fixture *w, uint32_t lmc)
{
	struct lids_in in = { .g = w->g, .lmc = lmc };
	const struct adaptive_options adaptive = { .enable = true, .port_groups = 255 };
	struct route_request rq = { .g = w->g, .adaptive = &adaptive };

	if (!w->g->frozen) {
		ck_assert_int_eq(graph_freeze(w->g, &w->diags), E_OK);
	}
	ck_assert_int_eq(lids_assign(&in, w->arena, &w->diags, &w->lids, NULL, NULL),
	                 E_OK);
	ck_assert_int_eq(route_list_parse("minhop", &rq.list, NULL), E_OK);
	rq.lids = &w->lids;
	int ret = route_run(&rq, w->arena, &w->route);
	ck_assert_msg(ret == E_OK, "%s: %s", err_name(ret),
	              proof_text(&w->route.proof, w->g, w->arena));
}

void gateway_fixture_open(struct gateway_fixture *w)
{
	struct snap_options o = { .grace_ms = w->grace_ms ? w->grace_ms : 10000,
		                  .history_bytes = 1 << 20,
		                  .map_bytes = 1 << 30,
		                  .need_bytes = 1 << 20 };
	const char *why = "";

	ck_assert_msg(snap_writer_open(w->dir, &o, w->arena, &why, &w->writer) == E_OK,
	              "%s", why);
	ck_assert_msg(stats_open(w->dir, w->arena, &why, &w->stats) == E_OK, "%s", why);
}

void gateway_fixture_publish(struct gateway_fixture *w, uint64_t epoch)
{
	struct snap_published done;
	struct snap_content c = {
		.epoch = epoch,
		.computed_at = 1767225600, /* 2026-01-01T00:00:00Z */
		.g = w->g,
		.lids = &w->lids,
		.route = &w->route,
		.options_text = "",
		.subnet_prefix = 0xfe80000000000000,
		.sm_lid = 1,
		.sm_state = 3,
		.packet_life_time = 18,
		.stage = { { "route", 0.25 } },
		.n_stages = 1,
	};
	ck_assert_int_eq(snap_publish(w->writer, &c, boottime_ms(), &done), E_OK);
	w->epoch = epoch;
}

void gateway_fixture_heartbeat(struct gateway_fixture *w, uint64_t age_ms, bool up)
{
	const uint64_t ahead_ms = age_ms == 0 ? 3600000 : 0;

	stats_set(w->stats, "subnet_up", up ? 1 : 0);
	ck_assert_int_eq(stats_commit(w->stats, boottime_ms() + ahead_ms - age_ms), E_OK);
}

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void gateway_fixture_remove(const struct gateway_fixture *w)
{
	nftw(w->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void gateway_fixture_done(struct gateway_fixture *w)
{
	stats_close(w->stats);
	snap_writer_close(w->writer);
	arena_free(w->arena);
	gateway_fixture_remove(w);
}
