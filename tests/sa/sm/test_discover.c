/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Discovery alone: what comes back equals the graph from which the simulation was made.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/text/topofile.h"
#include "routing/topogen/topogen.h"
#include "sa/mad/fields.h"
#include "sa/sim/sim.h"
#include "sa/sm/discover/discover.h"
#include "tests/lib/graph_check.h"
#include "tests/lib/suite.h"
#include "tests/lib/words.h"

static struct arena *arena;
static struct diags diags;
static struct graph *made;
static struct sim *sim;
static struct smp *smp;
static struct disc disc;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	disc_done(&disc);
	smp_free(smp);
	sim_free(sim);
	arena_free(arena);
	memset(&disc, 0, sizeof(disc));
	smp = NULL;
	sim = NULL;
}

static void make(const char *what)
{
	const char *srcdir = getenv("srcdir");
	char text[300], *argv[8];
	struct topogen_opts o = { .fail = 0.05, .seed = 3 };
	int argc;

	if (strstr(what, ".topo") != NULL) {
		snprintf(text, sizeof(text), "%s/tests/fabrics/%s", srcdir ? srcdir : ".",
		         what);
		ck_assert_int_eq(topo_read(text, true, arena, &diags, &made), E_OK);
		return;
	}
	argc = words_split(what, arena, argv, 8);
	ck_assert_int_eq(topogen(argv[0], argc - 1, argv + 1, &o, arena, &diags, &made),
	                 E_OK);
}

static void start(uint32_t drop_ppm, unsigned window)
{
	struct sim_options o = {
		.virtual_clock = true, .seed = 5, .delay_us = 3, .drop_ppm = drop_ppm
	};
	struct smp_limits l = { .window = window, .timeout_ms = 200 };
	struct disc_options d = { .retries = 3 };

	ck_assert_int_eq(sim_new(made, &o, false, &sim), E_OK);
	ck_assert_int_eq(smp_new(sim_transport(sim), &l, &smp), E_OK);
	ck_assert_int_eq(disc_start(&disc, smp, arena, &d), E_OK);
}

/* One turn. \return false: nothing is pending any more. */
static bool turn(void)
{
	struct transport *t = sim_transport(sim);
	struct mad_msg m;
	int ret;

	smp_run(smp);
	if (!smp_pending(smp)) {
		return false;
	}
	ret = t->ops->recv(t, smp_deadline(smp), &m);
	ck_assert(ret == E_OK || ret == E_TIMEOUT);
	if (ret == E_OK) {
		ck_assert(smp_receive(smp, &m));
	}
	return true;
}

static void run(void)
{
	while (turn()) {
	}
}

static void same_port(const struct graph *g, uint32_t i, uint32_t k)
{
	const struct port *a = &made->ports[i], *b = &g->ports[k];
	bool linked = a->peer != GRAPH_NONE;

	ck_assert_uint_eq(linked, b->peer != GRAPH_NONE);
	if (graph_is_end_port(made, i) && (linked || a->num == 0)) {
		ck_assert_uint_eq(a->guid, b->guid);
	}
	if (linked) {
		const struct port *fa = &made->ports[a->peer], *fb = &g->ports[b->peer];

		ck_assert_uint_eq(made->nodes[fa->node].guid, g->nodes[fb->node].guid);
		ck_assert_uint_eq(fa->num, fb->num);
		ck_assert_uint_eq(a->mtu, b->mtu);
		ck_assert_uint_eq(a->vls, b->vls);
		ck_assert_uint_eq(b->state, PORT_INIT);
		ck_assert_uint_eq(a->width, b->width);
		/* FDR10 is told apart by a vendor's attribute only. */
		ck_assert_uint_eq(a->speed == SPEED_FDR10 ? SPEED_QDR : a->speed,
		                  b->speed);
	}
}

/* All nodes of the part of the fabric where the SM is, and nothing else. */
static void same_fabric(const struct graph *g)
{
	uint32_t *part, n_parts, n = 0;

	ck_assert_int_eq(graph_check_components(made, arena, &part, &n_parts), E_OK);
	for (uint32_t i = 0; i < made->n_nodes; i++) {
		const struct node *a = &made->nodes[i], *b;
		uint32_t k = graph_node_by_guid(g, a->guid);
		bool mine = part[i] == part[made->ports[made->sm_port].node];

		ck_assert_msg(mine == (k != GRAPH_NONE), "\"%s\"", a->description);
		if (!mine) {
			continue;
		}
		n++;
		b = &g->nodes[k];
		ck_assert_str_eq(a->description, b->description);
		ck_assert_uint_eq(a->type, b->type);
		ck_assert_uint_eq(a->n_ports, b->n_ports);
		ck_assert_uint_eq(a->esp0, b->esp0);
		ck_assert_uint_eq(a->vendor_id, b->vendor_id);
		ck_assert_uint_eq(a->device_id, b->device_id);
		ck_assert_uint_eq(a->system_image_guid, b->system_image_guid);
		for (unsigned p = 0; p <= a->n_ports; p++) {
			same_port(g, graph_port(made, i, p), graph_port(g, k, p));
		}
	}
	ck_assert_uint_eq(n, g->n_nodes);
	ck_assert_uint_eq(g->ports[g->sm_port].guid, made->ports[made->sm_port].guid);
}

/* Routes lead where they say, over the made graph. */
static void routes_lead_there(void)
{
	for (uint32_t i = 0; i < disc.g->n_nodes; i++) {
		const struct smp_path *p = &disc.of[i]->dest.path;
		uint32_t node = made->ports[made->sm_port].node;

		for (unsigned h = 1; h <= p->hops; h++) {
			uint32_t peer =
				made->ports[graph_port(made, node, p->port[h])].peer;

			ck_assert_uint_ne(peer, GRAPH_NONE);
			node = made->ports[peer].node;
		}
		ck_assert_uint_eq(made->nodes[node].guid, disc.of[i]->guid);
	}
}

static const char *const fabrics[] = {
	"back-to-back.topo", "two-switch.topo", "dual-port.topo",
	"esp0.topo",         "router.topo",     "split.topo",
	"ring-4.topo",       "ft2 6 6 3 2",     "ft3 6",
	"torus 4x4 2",
};
enum { N_FABRICS = sizeof(fabrics) / sizeof(fabrics[0]) };

START_TEST(same)
{
	make(fabrics[_i]);
	start(0, 32);
	run();
	ck_assert_int_eq(disc_finish(&disc, NULL), E_OK);
	graph_check(disc.g);
	same_fabric(disc.g);
	routes_lead_there();
	ck_assert_uint_eq(disc.n_problems, 0);
	ck_assert_uint_eq(disc.n_unreachable, 0);
}
END_TEST

/* The same graph and routes whatever the window and however many packets are lost. */
START_TEST(lossy)
{
	make("ft2 6 6 3 2");
	start(_i % 2 ? 30000 : 0, 1u << _i);
	run();
	ck_assert_int_eq(disc_finish(&disc, NULL), E_OK);
	same_fabric(disc.g);
	routes_lead_there();
	ck_assert_uint_eq(disc.n_problems, 0);
}
END_TEST

/* Deaf nodes are missing with all that hangs on them, and nothing else; with a neighbour.
 */
START_TEST(deaf)
{
	make("ft2 6 6 3");
	start(0, 32);
	uint32_t node = made->hosts[made->host_first[2]]; /* a host of the third leaf */
	uint64_t guid = made->nodes[made->ports[node].node].guid;
	uint64_t leaf = made->nodes[made->switches[2]].guid;
	char text[40];

	ck_assert_int_eq(sim_set_deaf(sim, guid, true), E_OK);
	run();
	ck_assert_int_eq(disc_finish(&disc, NULL), E_OK);
	ck_assert_uint_eq(disc.g->n_nodes, made->n_nodes - 1);
	ck_assert_uint_eq(graph_node_by_guid(disc.g, guid), GRAPH_NONE);
	ck_assert_uint_eq(disc.n_unreachable, 1);
	ck_assert_uint_eq(disc.n_problems, 1);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)leaf);
	ck_assert_msg(strstr(disc.problem[0], text) != NULL, "%s", disc.problem[0]);
}
END_TEST

/* Deaf after its first answers: left out with its GUID, the rest complete. */
START_TEST(deaf_midway)
{
	uint64_t victim;
	unsigned turns = 0;

	make("ft2 6 6 3");
	victim = made->nodes[made->switches[made->n_switches - 1]].guid;
	start(0, 8);
	while (turn()) {
		if (hash_get(&disc.by_guid, victim) != HASH_NONE &&
		    turns++ == 4u * (unsigned)_i) {
			ck_assert_int_eq(sim_set_deaf(sim, victim, true), E_OK);
		}
	}
	ck_assert_int_eq(disc_finish(&disc, NULL), E_OK);
	graph_check(disc.g);
	/* The hosts are all there: they hang on the leaves. */
	ck_assert_uint_eq(disc.g->n_hosts, made->n_hosts);
	ck_assert_uint_ge(disc.g->n_switches, made->n_switches - 1);
	if (disc.g->n_switches < made->n_switches) {
		ck_assert_uint_ge(disc.n_unreachable, 1);
		ck_assert_uint_ge(disc.n_problems, 1);
	}
}
END_TEST

START_TEST(nobody_home)
{
	make("two-switch.topo");
	start(0, 32);
	ck_assert_int_eq(sim_set_deaf(sim, sim_transport(sim)->local.node_guid, true),
	                 E_OK);
	run();
	ck_assert_int_eq(disc_finish(&disc, NULL), E_TIMEOUT);
}
END_TEST

TEST_SUITE(discover)
{
	TCase *t = tcase_create("fabrics");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, same, 0, N_FABRICS);
	tcase_add_loop_test(t, lossy, 0, 8);
	tcase_add_test(t, deaf);
	tcase_add_loop_test(t, deaf_midway, 0, 12);
	tcase_add_test(t, nobody_home);
	suite_add_tcase(suite, t);
}
