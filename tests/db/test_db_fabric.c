/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* The fabric that comes out of a snapshot is the one that went in. */
#include <check.h>
#include <stdlib.h>

#include "db/snapshot/fabric.h"
#include "db/snapshot/reader.h"
#include "routing/graph/node_text.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct snap_writer *w;
static struct fabric fabric;

static void setup(void)
{
	struct snap_options o = { .grace_ms = 10000 };
	const char *why = "";

	make_tmp(dir);
	memset(&fabric, 0, sizeof(fabric));
	fabric.a = arena_new();
	ck_assert_int_eq(snap_writer_open(dir, &o, fabric.a, &why, &w), E_OK);
	arena_free(fabric.a);
	fabric.a = NULL;
}

static void teardown(void)
{
	snap_writer_close(w);
	fabric_done(&fabric);
	remove_tree(dir);
}

static void check_graph(const struct graph *got, const struct graph *want)
{
	ck_assert_uint_eq(got->n_nodes, want->n_nodes);
	ck_assert_uint_eq(got->n_ports, want->n_ports);
	ck_assert_uint_eq(got->n_links, want->n_links);
	ck_assert_uint_eq(got->n_hosts, want->n_hosts);
	ck_assert_uint_eq(got->sm_port, want->sm_port);
	for (uint32_t i = 0; i < want->n_nodes; i++) {
		ck_assert_uint_eq(got->nodes[i].guid, want->nodes[i].guid);
		ck_assert_uint_eq(got->nodes[i].type, want->nodes[i].type);
		ck_assert_uint_eq(got->nodes[i].system_image_guid,
		                  want->nodes[i].system_image_guid);
		ck_assert_str_eq(got->nodes[i].description, want->nodes[i].description);
		ck_assert_str_eq(node_name(&got->nodes[i]), node_name(&want->nodes[i]));
	}
	for (uint32_t i = 0; i < want->n_ports; i++) {
		const struct port *p = &got->ports[i], *q = &want->ports[i];

		ck_assert(p->guid == q->guid && p->peer == q->peer && p->width == q->width &&
		          p->speed == q->speed && p->mtu == q->mtu && p->vls == q->vls);
	}
}

static void check_tables(const struct snap_fabric *got, const struct fabric *want)
{
	const struct route_out *out = &want->route.out;

	ck_assert_uint_eq(got->lids.top, want->lids.top);
	ck_assert_mem_eq(got->lids.owner, want->lids.owner,
	                 (want->lids.top + 1) * sizeof(*want->lids.owner));
	ck_assert_uint_eq(got->lft.stride, out->lft.stride);
	ck_assert_mem_eq(got->lft.rows, out->lft.rows, out->lft.stride * out->lft.n_switches);
	for (uint32_t s = 0; s < want->g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= want->lids.top; lid++) {
			/* to itself no packet takes a lane */
			if (lft_row(&out->lft, s)[lid] != LFT_NO_ROUTE &&
			    graph_switch_of(want->g, want->lids.owner[lid]) != s) {
				ck_assert_uint_eq(lane_of(&got->lanes, s, lid),
				                  lane_of(&out->lanes, s, lid));
			}
		}
	}
}

static void check_rule(const struct snap_fabric *got, const struct fabric *want)
{
	const struct vl_rule *a = got->lanes.rule, *b = want->route.out.lanes.rule;

	ck_assert_int_eq(a != NULL, b != NULL);
	if (!a) {
		return;
	}
	ck_assert_uint_eq(a->vls, b->vls);
	ck_assert_uint_eq(a->levels, b->levels);
	ck_assert_uint_eq(a->level_shift, b->level_shift);
	ck_assert_mem_eq(a->vl, b->vl, sizeof(a->vl));
	for (uint32_t s = 0; s < want->g->n_switches; s++) {
		for (unsigned p = 0; p <= want->g->nodes[want->g->switches[s]].n_ports; p++) {
			ck_assert_uint_eq(vl_class(a, s, p), vl_class(b, s, p));
		}
	}
}

static void route_by(const char *list)
{
	struct route_request rq = { .g = fabric.g, .lids = &fabric.lids };
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse(list, &rq.list, &why), E_OK);
	memset(&fabric.route, 0, sizeof(fabric.route));
	ck_assert_int_eq(route_run(&rq, fabric.a, &fabric.route), E_OK);
}

/* clang-format off */
static const struct {
	const char *spec, *engine;
	uint32_t lmc, lanes;
} cases[] = {
	{ "ft2 4 4 2",     "minhop", 0, 1 },
	{ "ft3 4",         "updn",   2, 1 },
	{ "torus 5x5 2",   "lash",   0, 2 },
	{ "torus 5 2",     "dfsssp", 1, 2 },
	{ "torus 5x5 2",   "torus-2QoS", 0, 2 },
};
/* clang-format on */

START_TEST(round_trip)
{
	struct snap_fabric got;
	struct snap_reader *r;
	struct snap_published p;

	fabric_init(&fabric, cases[_i].spec, cases[_i].lmc);
	fabric.g->nodes[1].name = "what the operator says";
	route_by(cases[_i].engine);
	ck_assert_uint_ge(fabric.route.out.lanes.n, cases[_i].lanes);
	struct snap_content c = fabric_content(&fabric, 3);

	c.sm_port_guid = fabric.g->ports[fabric.g->sm_port].guid;
	ck_assert_int_eq(snap_publish(w, &c, 0, &p), E_OK);
	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	struct arena *a = arena_new();

	ck_assert_int_eq(snap_fabric(r, a, &got), E_NOTREADY); /* nothing is pinned */
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_int_eq(snap_fabric(r, a, &got), E_OK);
	check_graph(got.g, fabric.g);
	check_tables(&got, &fabric);
	check_rule(&got, &fabric);
	arena_free(a);
	snap_reader_close(r);
}
END_TEST

TEST_SUITE(db_fabric)
{
	TCase *t = tcase_create("db_fabric");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, round_trip, 0, sizeof(cases) / sizeof(*cases));
	suite_add_tcase(suite, t);
}
