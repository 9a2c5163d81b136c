/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Whole sweeps over the simulated fabric. What is in the nodes afterwards is read out of
 * the simulation itself, never from the sweep's own books.
 */
#include "tests/sweep_rig.h"

static struct rig *rig;

static void teardown(void)
{
	if (rig != NULL) {
		rig_free(rig);
		rig = NULL;
	}
}

/* --- what a good fabric looks like ------------------------------------------------- */

/* Every cabled port of these nodes is ACTIVE. */
static void check_active(const struct rig *r)
{
	for (uint32_t i = 0; i < r->g->n_ports; i++) {
		if (r->g->ports[i].peer != GRAPH_NONE) {
			ck_assert_msg(rig_peek(r, i, PI_PORT_STATE) == PORT_ACTIVE,
			              "\"%s\" port %u is in state %u",
			              r->g->nodes[r->g->ports[i].node].description,
			              r->g->ports[i].num,
			              (unsigned)rig_peek(r, i, PI_PORT_STATE));
		}
	}
}

/* LIDs as the nodes have them: unique ranges, aligned. Marks owners in ret[0xC000]. */
static void check_lids(const struct rig *r, uint32_t *ret)
{
	memset(ret, 0xff, 0xC000 * sizeof(*ret));
	for (uint32_t i = 0; i < r->g->n_end_ports; i++) {
		uint32_t port = r->g->end_ports[i];
		uint32_t base = (uint32_t)rig_peek(r, port, PI_LID);
		uint32_t n = 1u << rig_peek(r, port, PI_LMC);

		ck_assert_uint_gt(base, 0);
		ck_assert_uint_eq(base & (n - 1), 0);
		for (uint32_t k = 0; k < n; k++) {
			ck_assert_uint_lt(base + k, 0xC000);
			ck_assert_uint_eq(ret[base + k], GRAPH_NONE);
			ret[base + k] = port;
		}
	}
}

static uint8_t entry(const struct rig *r, uint32_t node, uint32_t lid)
{
	uint8_t block[64];

	ck_assert_int_eq(sim_peek(r->sim, r->g->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT,
	                          lid / 64, block),
	                 E_OK);
	return block[lid % 64];
}

/* Walks from a switch to a LID over the tables in the nodes. */
static bool arrives(const struct rig *r, uint32_t node, uint32_t lid, uint32_t owner)
{
	for (unsigned hops = 0; hops < 64; hops++) {
		uint8_t out = entry(r, node, lid);
		uint32_t peer;

		if (out == 0 || out == LFT_NO_ROUTE) {
			return out == 0 && graph_port(r->g, node, 0) == owner;
		}
		peer = r->g->ports[graph_port(r->g, node, out)].peer;
		if (peer == GRAPH_NONE || peer == owner) {
			return peer == owner;
		}
		node = r->g->ports[peer].node;
	}
	return false;
}

/* From a sample of switches every LID is reached. */
static void check_routes(const struct rig *r, const uint32_t *owner)
{
	uint32_t step = r->g->n_switches / 4 + 1;

	for (uint32_t s = 0; s < r->g->n_switches; s += step) {
		for (uint32_t lid = 1; lid < 0xC000; lid++) {
			if (owner[lid] != GRAPH_NONE) {
				ck_assert_msg(
					arrives(r, r->g->switches[s], lid, owner[lid]),
					"switch %u to LID %u", s, lid);
			}
		}
	}
}

static uint32_t lids_a[0xC000];

static void check_fabric(const struct rig *r)
{
	check_active(r);
	check_lids(r, lids_a);
	check_routes(r, lids_a);
}

/* --- tests ------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
	const char *topo;
	unsigned lmc;
} fabrics[] = {
	{ "ft2 2 2 1", 0 },
	{ "ft2 6 6 3", 0 },
	{ "ft2 6 6 3", 2 },
	{ "ft2 36 18 18", 0 },
	{ "ft3 4", 0 },
	{ "ft3 4", 1 },
};
/* clang-format on */

START_TEST(bring_up)
{
	rig = rig_new();
	rig_topo(rig, fabrics[_i].topo, 0, 0);
	rig_sim(rig, 1, 0);
	rig->config.lmc = fabrics[_i].lmc;
	rig_start(rig);
	rig_heavy(rig, 1);
	const struct sweep_status *st = sweep_status(rig->sweep);
	ck_assert_msg(st->up, "%s", st->not_ready);
	ck_assert(st->master);
	ck_assert_str_eq(st->not_ready, "");
	ck_assert_uint_eq(st->switches, rig->g->n_switches);
	ck_assert_uint_eq(st->hosts, rig->g->n_hosts);
	ck_assert_uint_eq(st->unreachable_nodes, 0);
	ck_assert_uint_eq(st->smp_timeouts, 0);
	check_fabric(rig);
	ck_assert_uint_eq(sim_bounces(rig->sim), 0);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("sweep");
	TCase *t = tcase_create("bring-up");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, bring_up, 0, sizeof(fabrics) / sizeof(fabrics[0]));
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *r = srunner_create(suite());
	int failed;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
