/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What a restart moves: a leaf switch with its hosts, a host, a cable or a switch above
 * leaves and comes back with its LIDs. Routes that do not concern it stay.
 */
#include "routing/graph/tables.h"
#include "routing/route.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/routing/fabric_life.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* --- tables from one fabric to the next ------------------------------------------------ */

static uint32_t switch_by_guid(const struct graph *g, uint64_t guid)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (g->nodes[g->switches[s]].guid == guid) {
			return s;
		}
	}
	return GRAPH_NONE;
}

/* The tables that the switches of l->g have: those of another fabric. A switch that was not
 * there has none. */
static struct lft known(const struct life *l, const struct graph *was,
                        const struct lft *from)
{
	struct lft t;

	ck_assert_int_eq(lft_init(&t, l->g->n_switches, l->lids.top, l->arena), E_OK);
	for (uint32_t s = 0; s < t.n_switches; s++) {
		uint32_t old = switch_by_guid(was, l->g->nodes[l->g->switches[s]].guid);

		if (old != GRAPH_NONE) {
			memcpy(lft_row(&t, s), lft_row(from, old),
			       t.n_lids < from->n_lids ? t.n_lids : from->n_lids);
		}
	}
	return t;
}

/* Does an entry for the LID lead nowhere now? */
static bool is_cut(const struct life *l, const struct lft *t, uint32_t lid)
{
	const struct graph *g = l->g;
	uint32_t home = graph_switch_of(g, l->lids.owner[lid]);

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint8_t port = lft_row(t, s)[lid];
		const struct node *n = &g->nodes[g->switches[s]];

		if (s != home && port != LFT_NO_ROUTE &&
		    (port > n->n_ports ||
		     g->ports[n->first_port + port].peer == GRAPH_NONE)) {
			return true;
		}
	}
	return false;
}

/* The lanes of the same. */
static struct lanes known_lanes(const struct life *l, const struct graph *was,
                                const struct lanes *from)
{
	struct lanes t = { .n = from->n, .stride = l->prev.stride };

	if (from->rows == NULL) {
		return t;
	}
	t.rows = arena_array(l->arena, l->prev.n_switches, t.stride);
	memset(t.rows, LANE_UNKNOWN, l->prev.n_switches * t.stride);
	for (uint32_t s = 0; s < l->g->n_switches; s++) {
		uint32_t old = switch_by_guid(was, l->g->nodes[l->g->switches[s]].guid);

		if (old != GRAPH_NONE) {
			memcpy(t.rows + s * t.stride, from->rows + old * from->stride,
			       t.stride < from->stride ? t.stride : from->stride);
		}
	}
	return t;
}

struct moves {
	uint64_t hosts,
		switches; /* entries for hosts and switches that the change does not concern */
};

/* Entries that differ from those that the switches had. */
static struct moves count_moves(const struct life *l, const struct lft *was,
                                const struct lft *is)
{
	struct moves m = { 0 };

	for (uint32_t lid = 1; lid <= l->lids.top; lid++) {
		uint32_t owner = l->lids.owner[lid], n = 0;

		if (owner == GRAPH_NONE || is_cut(l, was, lid)) {
			continue;
		}
		for (uint32_t s = 0; s < is->n_switches; s++) {
			uint8_t old = lft_row(was, s)[lid];

			n += old != LFT_NO_ROUTE && old != lft_row(is, s)[lid];
		}
		*(l->g->ports[owner].num == 0 ? &m.switches : &m.hosts) += n;
	}
	return m;
}

/* clang-format off */
static const struct {
	const char *topo;
	double fail;
} fabrics[] = {
	{ "ft3 4", 0 }, { "ft3 6", 0 }, { "ft2 8 4 4", 0 }, { "tree3 4 3 3 3 3", 0 },
	{ "ft3 6", 0.05 }, { "tree3 4 3 3 3 3", 0.1 }, { "ft3 8", 0.02 },
};
static const char *const lists[] = {
	"ftree", "dmodc", "fattree", "minhop", "updn", "dnup", "nue", "lash", "sssp", "dfsssp",
};
enum event { LEAF, SPINE, HOST, CABLE, EVENTS };
static const char *const event_text[] = { "leaf", "spine", "host", "cable" };
/* clang-format on */

enum {
	FABRICS = sizeof(fabrics) / sizeof(fabrics[0]),
	LISTS = sizeof(lists) / sizeof(lists[0]),
	EVEN = 8, /* where the lists of engines begin that want links more even than others */
	CLOSED =
		3, /* the first lists: engines whose tables follow from the fabric where it is whole */
	SEEDS = 2, /* the second with changes before */
	HISTORY = 4
};

static void take(struct life *l, enum event e, uint64_t *seed)
{
	const struct graph *g = l->whole;

	for (;;) {
		uint32_t s = random_below(seed, g->n_switches);
		bool leaf = g->host_first[s] != g->host_first[s + 1];
		uint32_t port = random_below(seed, g->n_ports);

		if (e == CABLE && life_has_link(g, port) && !l->cut[port] &&
		    !l->cut[g->ports[port].peer]) {
			l->cut[port] = true;
			return;
		}
		if (e == HOST) {
			l->gone[g->ports[g->hosts[random_below(seed, g->n_hosts)]].node] =
				true;
			return;
		}
		if ((e == LEAF && leaf) || (e == SPINE && !leaf)) {
			l->gone[g->switches[s]] = true;
			for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1];
			     h++) {
				l->gone[g->ports[g->hosts[h]].node] = true;
			}
			return;
		}
	}
}

static struct route_result run(struct life *l)
{
	struct route_result r;

	ck_assert_int_eq(route_run(&l->request, l->arena, &r), E_OK);
	return r;
}

/* Routes the fabric as it is after a change. */
static struct route_result change(struct life *l, const struct route_out *from,
                                  const struct graph *was, struct moves *ret_moves)
{
	struct route_result r;
	struct lanes lanes;

	life_make_fabric(l);
	l->prev = known(l, was, &from->lft);
	lanes = known_lanes(l, was, &from->lanes);
	l->left.tables = &l->prev;
	l->left.lanes = from->lanes.rule ? NULL : &lanes;
	r = run(l);
	*ret_moves = count_moves(l, &l->prev, &r.out.lft);
	return r;
}

/* Entries of hosts in which tables of one fabric differ. */
static uint64_t differences(const struct life *l, const struct lft *a,
                            const struct lft *b)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < a->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l->lids.top; lid++) {
			n += l->g->ports[l->lids.owner[lid]].num != 0 &&
			     lft_row(a, s)[lid] != lft_row(b, s)[lid];
		}
	}
	return n;
}

/* The busiest link may carry a quarter more than with fresh tables, and two routes for all
 * hosts of a switch. */
static bool is_balanced(const struct life *l, const struct route_result *r)
{
	struct route_request q = l->request;
	struct route_result fresh;
	uint32_t few = 0;

	q.memory = NULL;
	ck_assert_int_eq(route_run(&q, arena, &fresh), E_OK);
	for (uint32_t s = 0; s < l->g->n_switches; s++) {
		uint32_t n = l->g->host_first[s + 1] - l->g->host_first[s];

		few = 2 * n > few ? 2 * n : few;
	}
	return r->load.max <= fresh.load.max + fresh.load.max / 4 + few;
}

/* Entries of others that fresh tables would move. */
static uint64_t moves_of_fresh(const struct life *l)
{
	struct route_request q = l->request;
	struct route_result fresh;

	q.memory = NULL;
	ck_assert_int_eq(route_run(&q, arena, &fresh), E_OK);
	return count_moves(l, &l->prev, &fresh.out.lft).hosts;
}

/* An event, and its end.
 * \param old   Earlier changes left tables that a fresh start would not make, or the engine
 *              wants more balance than others: routes may move, but no more than with fresh
 *              tables.
 * \param same  The tables return. */
static void restart(struct life *l, enum event e, bool old, bool same,
                    const struct route_result *tables, uint64_t *state, const char *what)
{
	size_t n_nodes = l->whole->n_nodes, n_ports = l->whole->n_ports;
	bool *gone = arena_array(arena, n_nodes, sizeof(*gone));
	bool *cut = arena_array(arena, n_ports, sizeof(*cut));
	const struct graph *was = l->g;
	struct route_result away, back;
	struct moves m;

	memcpy(gone, l->gone, n_nodes * sizeof(*gone));
	memcpy(cut, l->cut, n_ports * sizeof(*cut));
	take(l, e, state);
	away = change(l, &tables->out, was, &m);
	if (e == LEAF || e == HOST) {
		ck_assert_msg(m.hosts == 0 || (old && m.hosts <= moves_of_fresh(l)),
		              "%s, %s gone: %llu entries of others moved", what,
		              event_text[e], (unsigned long long)m.hosts);
		ck_assert_msg(old || is_balanced(l, &away),
		              "%s, %s gone: %u routes on a link", what, event_text[e],
		              away.load.max);
	}
	memcpy(l->gone, gone, n_nodes * sizeof(*gone));
	memcpy(l->cut, cut, n_ports * sizeof(*cut));
	was = l->g;
	back = change(l, &away.out, was, &m);
	if ((e == LEAF || e == HOST) && !old) {
		ck_assert_msg(m.hosts == 0, "%s, %s back: %llu entries of others moved",
		              what, event_text[e], (unsigned long long)m.hosts);
		ck_assert_msg(is_balanced(l, &back), "%s, %s back: %u routes on a link",
		              what, event_text[e], back.load.max);
	}
	if (same) {
		ck_assert_msg(differences(l, &tables->out.lft, &back.out.lft) == 0,
		              "%s, %s: the tables do not return", what, event_text[e]);
	}
}

START_TEST(restarts)
{
	unsigned f = (unsigned)_i / SEEDS / LISTS;
	uint64_t seed = (uint64_t)_i % SEEDS + 1, state = seed * 77 + f;
	unsigned engine = (unsigned)_i / SEEDS % LISTS;
	bool old = seed % 2 == 0 || (engine >= EVEN && fabrics[f].fail > 0);
	struct life l = { 0 };
	struct route_result tables;
	struct moves m;
	char what[80];

	snprintf(what, sizeof(what), "%s, %g, %s, seed %u", fabrics[f].topo,
	         fabrics[f].fail, lists[engine], (unsigned)seed);
	life_start(&l,
	           fabric_renamed(fabric_make(fabrics[f].topo, fabrics[f].fail,
	                                      (uint32_t)seed, arena),
	                          seed, arena),
	           lists[engine], 0, arena);
	tables = run(&l);
	for (unsigned step = 0; step < (seed % 2 == 0 ? HISTORY : 0); step++) {
		const struct graph *was = l.g;
		struct route_out from = tables.out;

		life_change(&l, &state);
		tables = change(&l, &from, was, &m);
	}
	for (unsigned e = 0; e < EVENTS; e++) {
		restart(&l, (enum event)e, old,
		        !old && fabrics[f].fail == 0 && engine < CLOSED, &tables, &state,
		        what);
	}
}
END_TEST

TEST_SUITE(route_restart)
{
	TCase *t = tcase_create("restart");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, restarts, 0, FABRICS * LISTS * SEEDS);
	suite_add_tcase(suite, t);
}
