/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Why a path is as it is, on seeded fabrics: its switches are those of a walk over the
 * tables; the ports of equal cost are those that adaptive routing finds in the same tables;
 * the routes on them are those of the load; no cable of the path is slower than the one that
 * is said to limit it.
 */
#include "routing/graph/walk.h"
#include "sa/path/path_query.h"
#include "sa/path/path_why.h"
#include "tests/lib/fabric.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

enum { SEEDS = 24, PAIRS = 60 };

static struct query_fixture *w;
static struct alternates alternates;

static void start(unsigned seed)
{
	static const char *const fabrics[] = { "ft2 4 3 3 2", "tree3 3 2 2 2 2",
		                               "torus 3x3 2", "jellyfish 12 4 2",
		                               "dragonfly 2 3 2" };
	const unsigned n = sizeof(fabrics) / sizeof(fabrics[0]);
	const struct adaptive_options options = { .enable = true,
		                                  .fine_grained = true,
		                                  .port_groups = 255 };
	uint64_t state = 77 + seed;

	w = query_fixture_new();
	w->g = fabric_make(fabrics[seed % n], seed % 3 ? 0.1 : 0, seed + 1, w->a);
	for (uint32_t i = 0; i < w->g->n_ports; i++) {
		struct port *p = &w->g->ports[i];
		if (p->peer != GRAPH_NONE && random_below(&state, 4) == 0) {
			p->speed = (uint8_t)random_below(&state, SPEED_COUNT);
			w->g->ports[p->peer].speed = p->speed;
			p->mtu = (uint8_t)(1 + random_below(&state, 5));
		}
	}
	query_fixture_start(w, seed % 2 ? 2 : 0, 0, PATH_MINIMAL);
	ck_assert_int_eq(alternates_build(w->g, &w->lids, &w->route.out.lft, &options,
	                                  w->a, &alternates),
	                 E_OK);
	ck_assert(alternates.full == 0);
}

static uint8_t cable_rate(const struct port *p)
{
	const struct port *far = &w->g->ports[p->peer];
	uint8_t a = link_rate(p->width, p->speed), b = link_rate(far->width, far->speed);

	return rate_speed(a) < rate_speed(b) ? a : b;
}

static uint32_t load_of(uint32_t sw, unsigned port)
{
	for (uint32_t i = w->g->adj_first[sw]; i < w->g->adj_first[sw + 1]; i++) {
		if (w->g->adj[i].port == port) {
			return w->route.load.all[i];
		}
	}
	return PATH_LOAD_UNKNOWN;
}

static void check_candidates(uint32_t sw, uint32_t lid, const struct path_hop *hop,
                             const struct path_hop_why *why)
{
	const struct node *node = &w->g->nodes[w->g->switches[sw]];
	const struct port_set *equal = alternates_of(&alternates, sw, lid);
	uint32_t fewer = 0, same_speed = 0;
	bool taken = false;

	for (unsigned i = 0; i < why->n; i++) {
		const struct path_port_choice *c = &why->port[i];
		const struct port *p = &w->g->ports[node->first_port + c->cable.port];

		ck_assert_uint_eq(c->cable.rate, cable_rate(p));
		ck_assert_uint_eq(c->routes, load_of(sw, c->cable.port));
		ck_assert(i == 0 || why->port[i - 1].cable.port < c->cable.port);
		ck_assert_int_eq(c->taken, c->cable.port == hop->out_port);
		taken |= c->taken;
		if (rate_speed(c->cable.rate) == rate_speed(why->cable.rate)) {
			same_speed++;
			fewer += c->routes < why->routes;
			ck_assert(equal == NULL || port_set_has(equal, c->cable.port));
		}
	}
	ck_assert(taken);
	ck_assert_uint_eq(same_speed, equal == NULL ? 1 : port_set_count(equal));
	ck_assert_int_eq(why->choice, why->n == 1  ? PATH_CHOICE_ONLY
	                              : fewer == 0 ? PATH_CHOICE_LEAST
	                                           : PATH_CHOICE_SPREAD);
}

/* One path against the graph and the tables that were published. */
static void check_path(uint32_t src, uint32_t lid)
{
	const struct graph *g = w->g;
	struct snap_end from = query_fixture_end(w, g->ports[src].guid);
	struct snap_end to;
	struct path_hop hops[PATH_HOPS_MAX];
	struct path_hop_why why;
	struct path_bounds bounds;
	struct walk walk;
	unsigned n;
	uint32_t speed = UINT32_MAX;
	uint8_t mtu = UINT8_MAX;

	ck_assert_int_eq(snap_lid(w->r, lid, &to), E_OK);
	int ret = path_hops(w->r, from.base_lid, lid, hops, &n);
	ck_assert_int_eq(ret,
	                 walk_route(g, &w->lids, &w->route.out.lft, src, lid, &walk));
	if (ret != E_OK) {
		return;
	}
	ck_assert_uint_eq(walk.n, n + 2);
	for (unsigned i = 0; i <= n; i++) {
		const struct node *node = &g->nodes[walk.hop[i].node];
		const struct port *p = &g->ports[node->first_port + walk.hop[i].out];
		const struct port *far = &g->ports[p->peer];

		speed = rate_speed(cable_rate(p)) < speed ? rate_speed(cable_rate(p))
		                                          : speed;
		mtu = p->mtu < mtu ? p->mtu : mtu;
		mtu = far->mtu < mtu ? far->mtu : mtu;
	}
	ck_assert_int_eq(path_bounds(w->r, &from, hops, n, &bounds), E_OK);
	ck_assert_uint_eq(rate_speed(bounds.rate.rate), speed);
	ck_assert_uint_eq(bounds.mtu.mtu, mtu);
	for (unsigned i = 0; i < n; i++) {
		const struct walk_hop *h = &walk.hop[i + 1];

		ck_assert(g->nodes[h->node].guid == hops[i].node_guid);
		ck_assert(h->in == hops[i].in_port && h->out == hops[i].out_port);
		ck_assert_int_eq(path_hop_why(w->r, &to, lid, &hops[i], n - i, 0, &why),
		                 E_OK);
		if (i + 1 == n) { /* nothing is chosen there */
			const struct port_set none = { { 0 } };

			ck_assert_int_eq(why.choice, PATH_CHOICE_DELIVERS);
			ck_assert_uint_eq(why.routes, PATH_LOAD_UNKNOWN);
			ck_assert_uint_eq(why.least, PATH_LOAD_UNKNOWN);
			ck_assert_uint_eq(why.most, PATH_LOAD_UNKNOWN);
			ck_assert_mem_eq(&why.alternates, &none, sizeof(none));
			ck_assert_uint_eq(why.n, 0);
		} else {
			check_candidates(g->nodes[h->node].sw, lid, &hops[i], &why);
		}
	}
}

START_TEST(explains)
{
	uint64_t state = 1000 + (uint64_t)_i;

	start((unsigned)_i);
	for (unsigned i = 0; i < PAIRS; i++) {
		const struct graph *g = w->g;
		uint32_t src = g->end_ports[random_below(&state, g->n_end_ports)];
		uint32_t dst = g->end_ports[random_below(&state, g->n_end_ports)];

		if (graph_is_host(g, src) && graph_is_host(g, dst) && src != dst) {
			check_path(src, w->lids.of[dst].base +
			                        random_below(&state,
			                                     1U << w->lids.of[dst].lmc));
		}
	}
	query_fixture_free(w);
}
END_TEST

/* The VL of an SL is the one in the table of the output port, by input port. */
START_TEST(takes_vl_from_table)
{
	struct path_hop hops[PATH_HOPS_MAX];
	struct path_hop_why why;
	unsigned n;

	w = query_fixture_small(0, 0, PATH_MINIMAL);
	struct snap_end src = query_fixture_end(w, HOST + 1);
	struct snap_end dst = query_fixture_end(w, TWIN_2 + 1);
	ck_assert_int_eq(path_hops(w->r, src.base_lid, dst.base_lid, hops, &n), E_OK);
	ck_assert_int_eq(path_hop_why(w->r, &dst, dst.base_lid, &hops[0], n, 3, &why),
	                 E_OK);
	ck_assert_uint_eq(why.vl, PATH_VL_UNKNOWN);

	uint8_t *tables = query_fixture_attr(w, UMAD_SM_ATTR_SLVL_TABLE, SW_A,
	                                     hops[0].out_port, 9 * 8);
	memset(tables, 0xff, 9 * 8);
	tables[8 * hops[0].in_port + 1] = 0x57; /* SL 2: VL 5, SL 3: VL 7 */
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_int_eq(path_hop_why(w->r, &dst, dst.base_lid, &hops[0], n, 3, &why),
	                 E_OK);
	ck_assert_uint_eq(why.vl, 7);
	ck_assert(why.vl_programmed);
	ck_assert_int_eq(path_hop_why(w->r, &dst, dst.base_lid, &hops[0], n, 2, &why),
	                 E_OK);
	ck_assert_uint_eq(why.vl, 5);
	query_fixture_free(w);
}
END_TEST

TEST_SUITE(path_why)
{
	TCase *t = tcase_create("path_why");

	tcase_add_loop_test(t, explains, 0, SEEDS);
	tcase_add_test(t, takes_vl_from_table);
	suite_add_tcase(suite, t);
}
