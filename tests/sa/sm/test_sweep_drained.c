/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Nodes and cables out of service: routes leave them, they may be switched off without an event in
 * the tables of others, and routes return. Requests that would cut something are refused; restarts in
 * the middle go on.
 */
#include "sa/sm/drained.h"

#include "db/state/state.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { NOW = 1700000000, QUIET_MS = 20000 };

static struct sweep_fixture *fixture;
static int64_t now_s;
static char why[400];

static int64_t wall_clock(void)
{
	return now_s;
}

static void bring_up(const char *topo)
{
	fixture = fixture_new();
	now_s = NOW;
	fixture->deps.wall_clock = wall_clock;
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
}

static void teardown(void)
{
	fixture_free(fixture);
}

static int request(struct drained_request rq, struct drained_outcome *o)
{
	why[0] = '\0';
	return sweep_request_drained(fixture->sweep, &rq, o, why, sizeof(why));
}

static struct drained_row rows[8];
static unsigned n_rows;

static int take(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value, size_t len)
{
	(void)ctx;
	ck_assert_uint_lt(n_rows, 8);
	ck_assert_int_eq(drained_decode(key, key_len, value, len, &rows[n_rows++]), E_OK);
	return E_OK;
}

static unsigned read_rows(void)
{
	n_rows = 0;
	state_flush(fixture->state);
	ck_assert_int_eq(state_records(fixture->state, RECORDS_DRAINED, take, NULL), E_OK);
	return n_rows;
}

/* A switch without hosts, from 0. */
static uint64_t spine_guid(unsigned i)
{
	const struct graph *g = fixture->g;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (g->host_first[s] == g->host_first[s + 1] && i-- == 0) {
			return g->nodes[g->switches[s]].guid;
		}
	}
	ck_abort_msg("no such spine");
}

/* Entries of other switches that lead to a node, for LIDs that are not its own. */
static unsigned n_entries_to(uint64_t guid)
{
	const struct graph *g = fixture->g;
	const uint8_t *t = fixture_tables(fixture);
	uint32_t node = graph_node_by_guid(g, guid);
	const struct lids *lids = &sweep_job(fixture->sweep)->lids.lids;
	uint32_t own = GRAPH_NONE;
	unsigned n = 0;

	for (uint32_t lid = 1; lid <= lids->top && lid < 64; lid++) {
		const struct graph *now = sweep_job(fixture->sweep)->disc.g;

		if (lids->owner[lid] != GRAPH_NONE &&
		    now->nodes[now->ports[lids->owner[lid]].node].guid == guid) {
			own = lid;
		}
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= lids->top && lid < 64; lid++) {
			uint8_t port = t[s * 64 + lid];
			uint32_t at = port == 0 || port == LFT_NO_ROUTE
			                      ? GRAPH_NONE
			                      : graph_port(g, g->switches[s], port);

			n += at != GRAPH_NONE && lid != own &&
			     lids->owner[lid] != GRAPH_NONE &&
			     g->ports[at].peer != GRAPH_NONE &&
			     g->ports[g->ports[at].peer].node == node;
		}
	}
	return n;
}

static uint64_t lft_sets(void)
{
	return sweep_status(fixture->sweep)->lft_sets;
}

static void check_state(enum drained_state state)
{
	ck_assert_uint_eq(read_rows(), 1);
	ck_assert_str_eq(drained_state_name(rows[0].state), drained_state_name(state));
}

/* A spine goes out of service, is switched off and on, and comes back. */
START_TEST(a_spine)
{
	struct drained_outcome o;
	uint64_t spine;
	struct drained_request rq = { .by = "root", .note = "replace the fan" };

	bring_up("ft2 4 4 3");
	rq.node_guid = spine = spine_guid(1);
	ck_assert_uint_gt(n_entries_to(spine), 0);
	rq.dry_run = true;
	ck_assert_int_eq(request(rq, &o), E_OK);
	ck_assert(!o.changed);
	ck_assert_uint_eq(read_rows(), 0);
	rq.dry_run = false;
	ck_assert_int_eq(request(rq, &o), E_OK);
	ck_assert(o.changed);
	check_state(DRAINED_DRAINING);
	ck_assert_str_eq(rows[0].note, "replace the fan");
	ck_assert_str_eq(rows[0].by, "root");
	ck_assert_int_eq(rows[0].since_s, NOW);
	fixture_run_ms(fixture, QUIET_MS);
	check_state(DRAINED_DRAINED);
	ck_assert_uint_eq(n_entries_to(spine), 0);

	uint64_t sets = lft_sets();
	ck_assert_int_eq(sim_set_node(fixture->sim, spine, false), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	ck_assert_uint_le(lft_sets() - sets, fixture->g->n_switches); /* its own LID alone */
	check_state(DRAINED_DRAINED);
	ck_assert_int_eq(sim_set_node(fixture->sim, spine, true), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	check_state(DRAINED_DRAINED);
	ck_assert_uint_eq(n_entries_to(spine), 0);

	rq.end = true;
	ck_assert_int_eq(request(rq, &o), E_OK);
	ck_assert_uint_eq(read_rows(), 0);
	fixture_run_ms(fixture, QUIET_MS);
	ck_assert_uint_gt(n_entries_to(spine), 0);
	ck_assert_int_eq(request(rq, &o), E_NOTFOUND);
}
END_TEST

/* One cable by its name at either end; its time ends by itself. */
START_TEST(a_cable_until)
{
	struct drained_outcome o;
	const struct graph *g;
	char place[128];
	uint32_t port;

	bring_up("ft2 4 4 3");
	g = fixture->g;
	port = graph_port(g, g->switches[0], g->adj[g->adj_first[0]].port);
	snprintf(place, sizeof(place), "%s:%u", g->nodes[g->ports[port].node].description,
	         g->ports[port].num);
	ck_assert_int_eq(request((struct drained_request){ .place = place, .until_s = NOW + 60 },
	                         &o),
	                 E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	check_state(DRAINED_DRAINED);
	port = g->ports[port].peer;
	snprintf(place, sizeof(place), "0x%016llx:%u",
	         (unsigned long long)g->nodes[g->ports[port].node].guid, g->ports[port].num);
	ck_assert_int_eq(request((struct drained_request){ .place = place, .until_s = NOW + 90 },
	                         &o),
	                 E_OK);
	check_state(DRAINED_DRAINED); /* the same row */
	ck_assert_int_eq(rows[0].until_s, NOW + 90);
	now_s += 89;
	fixture_run_ms(fixture, 1000);
	ck_assert_uint_eq(read_rows(), 1);
	now_s += 1;
	fixture_run_ms(fixture, QUIET_MS);
	ck_assert_uint_eq(read_rows(), 0);
}
END_TEST

/* A host carries no traffic of others: no sweep, no routes. */
START_TEST(a_host)
{
	struct drained_outcome o;
	uint64_t sets;
	uint32_t sweeps;

	bring_up("ft2 4 4 3");
	sets = lft_sets();
	sweeps = fixture_sweeps(fixture);
	ck_assert_int_eq(
		request((struct drained_request){ .node_guid = fixture_host_guid(fixture, 5) }, &o),
		E_OK);
	ck_assert_uint_eq(o.effect.hosts_behind, 1);
	check_state(DRAINED_QUIET);
	fixture_run_ms(fixture, 1000);
	ck_assert_uint_eq(fixture_sweeps(fixture), sweeps);
	ck_assert_uint_eq(lft_sets(), sets);
}
END_TEST

/* What would cut pairs of others is refused unless forced, and the manager's own way always. */
START_TEST(refusals)
{
	struct drained_outcome o;
	struct drained_request rq = { .place = NULL };
	const struct graph *g;

	bring_up("ft2 4 4 2");
	g = fixture->g;
	rq.node_guid = spine_guid(0);
	ck_assert_int_eq(request(rq, &o), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	rq.node_guid = spine_guid(1);
	ck_assert_int_eq(request(rq, &o), E_UNSUITABLE);
	ck_assert_uint_eq(o.effect.pairs_cut, 6 * 4 * 4);
	ck_assert_str_ne(o.cut_host, "");
	ck_assert_uint_eq(read_rows(), 1);
	rq.node_guid = g->nodes[g->switches[graph_switch_of(g, g->sm_port)]].guid;
	rq.force = true;
	ck_assert_int_eq(request(rq, &o), E_UNSUITABLE);
	ck_assert_ptr_ne(strstr(why, "subnet manager itself"), NULL);
	rq.place = "nobody";
	ck_assert_int_eq(request(rq, &o), E_NOTFOUND);
	ck_assert_uint_eq(read_rows(), 1);
}
END_TEST

/* The last cable of a leaf cuts its hosts off, which --force may want. */
START_TEST(last_cable)
{
	struct drained_outcome o;
	struct drained_request rq = { .place = NULL };
	const struct graph *g;
	uint32_t leaf;

	bring_up("ft2 4 4 2");
	g = fixture->g;
	rq.node_guid = spine_guid(0);
	ck_assert_int_eq(request(rq, &o), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	leaf = graph_switch_of(g, fixture_host(fixture, 15));
	ck_assert_uint_ne(leaf, graph_switch_of(g, g->sm_port));
	rq.node_guid = spine_guid(1);
	for (unsigned i = g->adj_first[leaf]; i < g->adj_first[leaf + 1]; i++) {
		uint32_t port = graph_port(g, g->switches[leaf], g->adj[i].port);

		if (g->nodes[g->ports[g->ports[port].peer].node].guid == rq.node_guid) {
			rq.port = g->ports[g->ports[port].peer].num;
		}
	}
	ck_assert_uint_ne(rq.port, 0);
	ck_assert_int_eq(request(rq, &o), E_UNSUITABLE);
	ck_assert_msg(strstr(why, "would lose all routes") != NULL &&
	                      strstr(why, "--force") != NULL,
	              "%s", why);
	ck_assert_uint_gt(o.effect.pairs_cut, 0);
	ck_assert_uint_eq(read_rows(), 1);
	rq.force = true;
	ck_assert_int_eq(request(rq, &o), E_OK);
	ck_assert_uint_eq(read_rows(), 2);
}
END_TEST

/* A request with a place. */
static int at_place(const char *place, bool end)
{
	struct drained_outcome o;
	struct drained_request rq = { .place = place, .end = end };

	return request(rq, &o);
}

static const char *text_of(uint64_t guid, unsigned port)
{
	return port != 0
	               ? arena_printf(fixture->a, "0x%016llx:%u",
	                              (unsigned long long)guid, port)
	               : arena_printf(fixture->a, "0x%016llx", (unsigned long long)guid);
}

/* A cable is named by either of its ends, by name or GUID, and once more while it is off. */
START_TEST(cables_by_name)
{
	const struct graph *g;
	const struct port *a, *b;
	const char *names[4];

	bring_up("ft2 4 4 3");
	g = fixture->g;
	a = &g->ports[graph_port(g, g->switches[0], g->adj[g->adj_first[0]].port)];
	b = &g->ports[a->peer];
	names[0] =
		arena_printf(fixture->a, "%s:%u", node_name(&g->nodes[a->node]), a->num);
	names[1] =
		arena_printf(fixture->a, "%s:%u", node_name(&g->nodes[b->node]), b->num);
	names[2] = text_of(g->nodes[a->node].guid, a->num);
	names[3] = text_of(g->nodes[b->node].guid, b->num);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(at_place(names[i], false), E_OK);
		check_state(DRAINED_DRAINING);
		ck_assert_uint_eq(rows[0].port + rows[0].peer_port, a->num + b->num);
		fixture_run_ms(fixture, QUIET_MS);
		ck_assert_int_eq(sim_set_link(fixture->sim, g->nodes[a->node].guid,
		                              a->num, i != 0),
		                 E_OK);
		fixture_run_ms(fixture, QUIET_MS);
		ck_assert_int_eq(at_place(names[3 - i], true), E_OK);
		ck_assert_uint_eq(read_rows(), 0);
		ck_assert_int_eq(at_place(names[3 - i], true), E_NOTFOUND);
		ck_assert_int_eq(
			sim_set_link(fixture->sim, g->nodes[a->node].guid, a->num, true),
			E_OK);
		fixture_run_ms(fixture, QUIET_MS);
	}
}
END_TEST

/* Places that name nothing, or several things. */
START_TEST(wrong_places)
{
	struct drained_outcome o;
	struct drained_request rq = { .node_guid = 42, .port = 1 };
	uint64_t guid[2], sw;
	const struct port *p;

	bring_up("ft2 4 4 3");
	for (unsigned i = 0; i < 2; i++) {
		guid[i] = fixture_host_guid(fixture, 3 + i);
		ck_assert_int_eq(sim_set_description(fixture->sim, guid[i], "twin"),
		                 E_OK);
	}
	p = &fixture->g->ports[fixture->g->ports[fixture_host(fixture, 6)].peer];
	sw = fixture->g->nodes[p->node].guid;
	ck_assert_int_eq(sim_set_link(fixture->sim, sw, p->num, false), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	ck_assert_int_eq(request(rq, &o), E_NOTFOUND);
	ck_assert_ptr_nonnull(
		strstr(why, "there is no node 0x000000000000002a with a port 1"));
	rq.node_guid = sw;
	rq.port = 200;
	ck_assert_int_eq(request(rq, &o), E_NOTFOUND);
	ck_assert_int_eq(at_place(text_of(sw, p->num), false), E_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(why, "has no cable"));
	ck_assert_int_eq(at_place("twin", false), E_AMBIGUOUS);
	ck_assert_ptr_nonnull(strstr(why, "2 nodes have the name 'twin'"));
	ck_assert_int_eq(at_place("twin:1", false), E_AMBIGUOUS);
	ck_assert_uint_eq(read_rows(), 0);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(at_place(text_of(guid[i], 0), false), E_OK);
	}
	ck_assert_int_eq(at_place("twin", true), E_AMBIGUOUS);
	ck_assert_ptr_nonnull(
		strstr(why, "several nodes named 'twin' are out of service"));
	ck_assert_uint_eq(read_rows(), 2);
	ck_assert_int_eq(at_place(text_of(guid[1], 0), true), E_OK);
	ck_assert_int_eq(at_place("twin", true), E_OK);
	ck_assert_uint_eq(read_rows(), 0);
}
END_TEST

/* A node may be named although it is off, and before saguarod knows a fabric nothing may. */
START_TEST(node_that_is_off)
{
	uint64_t guid;
	const char *name;

	bring_up("ft2 4 4 3");
	guid = fixture_host_guid(fixture, 3);
	name = node_name(
		&fixture->g->nodes[fixture->g->ports[fixture_host(fixture, 3)].node]);
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, false), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	ck_assert_int_eq(at_place(name, false), E_OK);
	check_state(DRAINED_QUIET);
	ck_assert_int_eq(at_place(name, true), E_OK);
	ck_assert_uint_eq(read_rows(), 0);
	fixture_stop(fixture);
	fixture_start(fixture);
	ck_assert_int_eq(at_place(name, false), E_NOTREADY);
	ck_assert_ptr_nonnull(strstr(why, "knows no fabric yet"));
	fixture_up(fixture);
}
END_TEST

/* Limits of a reason. */
START_TEST(limits)
{
	struct drained_outcome o;
	struct drained_limits l = { .rows = 1 };
	struct drained_request rq = { .reason = DRAINED_HEALTH, .limits = &l };
	const struct graph *g;

	bring_up("ft2 4 4 3");
	g = fixture->g;
	rq.node_guid = g->nodes[g->switches[0]].guid;
	rq.port = g->adj[g->adj_first[0]].port;
	l.switch_percent = 30;
	ck_assert_int_eq(request(rq, &o), E_FULL);
	l.switch_percent = 34;
	ck_assert_int_eq(request(rq, &o), E_OK);
	check_state(DRAINED_DRAINING);
	rq.port = g->adj[g->adj_first[0] + 1].port;
	l.switch_percent = 0;
	ck_assert_int_eq(request(rq, &o), E_FULL);
	l.rows = 2;
	l.switch_percent = 50;
	ck_assert_int_eq(request(rq, &o), E_FULL);
	ck_assert_uint_eq(read_rows(), 1);
	/* the end of a maintenance is not the end of this */
	rq.port = rows[0].port;
	rq.node_guid = rows[0].node_guid;
	rq.reason = DRAINED_MAINTENANCE;
	rq.end = true;
	ck_assert_int_eq(request(rq, &o), E_NOTFOUND);
	rq.reason = DRAINED_HEALTH;
	ck_assert_int_eq(request(rq, &o), E_OK);
	ck_assert_uint_eq(read_rows(), 0);
}
END_TEST

/* saguarod is killed between the request and its sweep: the next one goes on. */
START_TEST(restart)
{
	struct drained_outcome o;
	struct drained_request rq = { .place = NULL };

	bring_up("ft2 4 4 3");
	rq.node_guid = spine_guid(1);
	ck_assert_int_eq(request(rq, &o), E_OK);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, QUIET_MS);
	check_state(DRAINED_DRAINED);
	ck_assert_uint_eq(n_entries_to(rq.node_guid), 0);
}
END_TEST

/* The other spine fails: the drained one carries traffic again, and is left alone when it is back. */
START_TEST(needed_again)
{
	struct drained_outcome o;
	struct drained_request rq = { .place = NULL };

	bring_up("ft2 4 4 2");
	rq.node_guid = spine_guid(1);
	ck_assert_int_eq(request(rq, &o), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	check_state(DRAINED_DRAINED);
	ck_assert_int_eq(sim_set_node(fixture->sim, spine_guid(0), false), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	check_state(DRAINED_NEEDED);
	ck_assert_uint_gt(n_entries_to(rq.node_guid), 0);
	ck_assert_int_eq(sim_set_node(fixture->sim, spine_guid(0), true), E_OK);
	fixture_run_ms(fixture, QUIET_MS);
	check_state(DRAINED_DRAINED);
	ck_assert_uint_eq(n_entries_to(rq.node_guid), 0);
}
END_TEST

/* --- no pair of hosts is without a route at any time ------------------------------------------ */

enum { BLOCK = 64, BLOCKS = 8, LIDS = BLOCK * BLOCKS };

static uint8_t (*held)[LIDS]; /* [n_switches] what the switches hold */
static const char *doing;     /* for messages */
static uint32_t off;          /* a switch that is off; GRAPH_NONE: none */
static unsigned n_looks, n_drained;

static void read_tables(void)
{
	const struct graph *g = fixture->g;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (unsigned b = 0; b < BLOCKS && s != off; b++) {
			ck_assert_int_eq(sim_peek(fixture->sim, g->nodes[g->switches[s]].guid,
			                          UMAD_SM_ATTR_LINEAR_FT, b,
			                          held[s] + b * BLOCK),
			                 E_OK);
		}
	}
}

static void check_way(uint32_t from, uint32_t lid, uint32_t to)
{
	const struct graph *g = fixture->g;
	uint32_t at = from;

	for (uint32_t hops = 0; hops <= 2 * g->n_switches; hops++) {
		uint8_t port = held[at][lid];
		uint32_t out = port == LFT_NO_ROUTE || port == 0
		                       ? GRAPH_NONE
		                       : graph_port(g, g->switches[at], port);

		ck_assert_msg(out != GRAPH_NONE && g->ports[out].peer != GRAPH_NONE,
		              "%s: no route from switch %u to LID %u at switch %u", doing, from,
		              lid, at);
		if (g->ports[out].peer == to) {
			return;
		}
		ck_assert_msg(g->nodes[g->ports[g->ports[out].peer].node].type == NODE_SWITCH,
		              "%s: LID %u goes to another host", doing, lid);
		at = g->nodes[g->ports[g->ports[out].peer].node].sw;
		ck_assert_msg(at != off, "%s: LID %u goes to the switch that is off", doing, lid);
	}
	ck_abort_msg("%s: LID %u circles from switch %u", doing, lid, from);
}

/* All pairs of hosts that do not hang on the switch that is off. */
static void check_pairs(void)
{
	const struct graph *g = fixture->g, *now = sweep_job(fixture->sweep)->disc.g;
	const struct lids *lids = &sweep_job(fixture->sweep)->lids.lids;

	read_tables();
	n_looks++;
	for (uint32_t lid = 1; now != NULL && lids->owner != NULL && lid <= lids->top; lid++) {
		const struct port *owner;
		uint32_t to;

		if (lids->owner[lid] == GRAPH_NONE) {
			continue;
		}
		ck_assert_uint_lt(lid, LIDS);
		owner = &now->ports[lids->owner[lid]];
		to = graph_port(g, graph_node_by_guid(g, now->nodes[owner->node].guid),
		                owner->num);
		if (owner->num == 0 || graph_switch_of(g, to) == off) {
			continue;
		}
		for (uint32_t s = 0; s < g->n_switches; s++) {
			if (s != off && g->host_first[s] != g->host_first[s + 1]) {
				check_way(s, lid, to);
			}
		}
	}
}

/* Runs, and looks at all pairs after each change of a table. */
static void run_watched(const char *what, uint64_t ms)
{
	uint64_t end = fixture_now(fixture) + ms, seen = 0;

	doing = what;
	while (fixture_now(fixture) < end) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		if (sim_changes(fixture->sim) != seen &&
		    strcmp(sweep_status(fixture->sweep)->phase, "tables") == 0) {
			check_pairs();
		}
		seen = sim_changes(fixture->sim);
	}
	check_pairs();
}

/* Engines for which no order of updates is safe now and then. Then it is not drained; when routes return, LIDs may be
 * without one. */
static const char MOMENT[] = "would be without routes for a moment";

static const struct {
	const char *topo, *engine;
	unsigned lmc;
	bool omni_path;
	const char *refusal; /* that may be said; NULL: none */
} flows[] = {
	{ "ft2 4 3 3", "minhop", 0, false, NULL },
	{ "ft2 4 3 3", "updn", 2, false, NULL },
	{ "ft2 4 3 3", "ftree", 0, false, NULL },
	{ "ft2 4 3 3 2", "minhop", 1, false, NULL },
	{ "ft2 4 3 3", "dfsssp", 0, false, NULL },
	{ "ft2 4 3 3", "minhop", 0, true, NULL },
	{ "ft3 4", "minhop", 0, false, NULL },
	{ "ft3 4", "updn", 0, false, NULL },
	{ "ft3 4", "ftree", 0, false, NULL },
	{ "ft3 4", "dmodc", 0, false, NULL },
	{ "tree3 2 2 2 2 2", "minhop", 0, false, NULL },
	{ "tree3 2 2 2 2 2", "dfsssp", 0, false, NULL },
	{ "ft3 4", "lash", 0, false, NULL },
	{ "ft2 4 3 3", "lash", 0, false, NULL },
	/* the engine alone cannot route without a switch or cable */
	{ "mesh 3x3 2", "dor", 0, false, "dor serves" },
	{ "torus 4x4 1", "dor", 0, false, "cannot be drained" },
	{ "torus 4x4 1", "torus-2QoS", 0, false, "torus-2QoS serves" },
	{ "torus 3x3 2", "lash", 0, false, NULL },
	{ "mesh 3x3 1", "lash", 0, false, MOMENT },
	{ "torus 4x4 1", "dfsssp", 0, false, MOMENT },
	{ "torus 4x4 1", "nue", 0, false, MOMENT },
	{ "jellyfish 8 3 2", "dnup", 0, false, MOMENT },
};

/* Is it drained? A flow that may be refused may have no row either, and then the log says why. */
static bool is_drained(unsigned i)
{
	if (flows[i].refusal != NULL && read_rows() == 0) {
		ck_assert_uint_gt(fixture_logged(fixture, flows[i].refusal), 0);
		return false;
	}
	check_state(DRAINED_DRAINED);
	n_drained++;
	return true;
}

/* The end of a row, and what follows. */
static void end_watched(struct drained_request rq, unsigned i)
{
	struct drained_outcome o;

	rq.end = true;
	ck_assert_int_eq(request(rq, &o), E_OK);
	if (flows[i].refusal == MOMENT) {
		fixture_run_ms(fixture, QUIET_MS);
		check_pairs();
	} else {
		run_watched("end", QUIET_MS);
	}
	ck_assert_uint_eq(read_rows(), 0);
}

static void bring_up_flow(unsigned i)
{
	struct why reason = { "" };

	fixture = fixture_new();
	now_s = NOW;
	fixture->deps.wall_clock = wall_clock;
	fixture->omni_path = flows[i].omni_path;
	fixture->config.lmc = flows[i].lmc;
	fixture_topo(fixture, flows[i].topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	ck_assert_int_eq(route_list_parse(flows[i].engine, &fixture->deps.list, &reason), E_OK);
	fixture_start(fixture);
	fixture_up(fixture);
	off = GRAPH_NONE;
	held = arena_alloc(fixture->a, fixture->g->n_switches * sizeof(*held));
}

/* Every switch in turn but the manager's: drained, off, on, back. */
START_TEST(switches_without_a_lost_pair)
{
	const struct graph *g;
	uint32_t sm;

	bring_up_flow((unsigned)_i);
	g = fixture->g;
	sm = graph_switch_of(g, g->sm_port);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		struct drained_request rq = { .node_guid = g->nodes[g->switches[s]].guid };
		struct drained_outcome o;

		if (s == sm || request(rq, &o) != E_OK) {
			continue;
		}
		fixture_log(fixture);
		run_watched("drain", QUIET_MS);
		if (!is_drained((unsigned)_i)) {
			continue;
		}
		off = s;
		ck_assert_int_eq(sim_set_node(fixture->sim, rq.node_guid, false), E_OK);
		run_watched("off", QUIET_MS);
		ck_assert_int_eq(sim_set_node(fixture->sim, rq.node_guid, true), E_OK);
		run_watched("on", QUIET_MS);
		off = GRAPH_NONE;
		check_state(DRAINED_DRAINED);
		end_watched(rq, (unsigned)_i);
	}
	ck_assert_uint_gt(n_looks, g->n_switches / 2);
	ck_assert(n_drained > 1 || (flows[_i].refusal != NULL && flows[_i].refusal != MOMENT));
}
END_TEST

/* Every cable between switches in turn: drained, pulled, back. */
START_TEST(cables_without_a_lost_pair)
{
	const struct graph *g;
	unsigned n = 0;

	bring_up_flow((unsigned)_i);
	g = fixture->g;
	for (uint32_t i = 0; i < g->n_ports && n < 8; i++) {
		struct drained_request rq = { .node_guid = g->nodes[g->ports[i].node].guid,
			                      .port = g->ports[i].num };
		struct drained_outcome o;

		if (g->ports[i].peer == GRAPH_NONE || g->ports[i].peer < i ||
		    g->nodes[g->ports[i].node].type != NODE_SWITCH ||
		    g->nodes[g->ports[g->ports[i].peer].node].type != NODE_SWITCH ||
		    request(rq, &o) != E_OK) {
			continue;
		}
		n++;
		fixture_log(fixture);
		run_watched("drain", QUIET_MS);
		if (!is_drained((unsigned)_i)) {
			continue;
		}
		ck_assert_int_eq(sim_set_link(fixture->sim, rq.node_guid, rq.port, false), E_OK);
		run_watched("off", QUIET_MS);
		ck_assert_int_eq(sim_set_link(fixture->sim, rq.node_guid, rq.port, true), E_OK);
		run_watched("on", QUIET_MS);
		end_watched(rq, (unsigned)_i);
	}
	ck_assert_uint_gt(n, 1);
	ck_assert(n_drained > 1 || (flows[_i].refusal != NULL && flows[_i].refusal != MOMENT));
}
END_TEST

/* What is refused because of a moment without routes is drained by force. */
START_TEST(forced)
{
	unsigned n = 0;

	bring_up_flow(sizeof(flows) / sizeof(*flows) - 1);
	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		struct drained_request rq = {
			.node_guid = fixture->g->nodes[fixture->g->switches[s]].guid
		};
		struct drained_outcome o;

		if (request(rq, &o) != E_OK) {
			continue;
		}
		fixture_run_ms(fixture, QUIET_MS);
		if (read_rows() == 0) {
			n++;
			rq.force = true;
			ck_assert_int_eq(request(rq, &o), E_OK);
			fixture_run_ms(fixture, QUIET_MS);
			check_state(DRAINED_DRAINED);
		}
		rq.end = true;
		ck_assert_int_eq(request(rq, &o), E_OK);
		fixture_run_ms(fixture, QUIET_MS);
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

TEST_SUITE(sweep_drained)
{
	TCase *t = tcase_create("drained");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_spine);
	tcase_add_test(t, a_cable_until);
	tcase_add_test(t, a_host);
	tcase_add_test(t, refusals);
	tcase_add_test(t, limits);
	tcase_add_test(t, last_cable);
	tcase_add_test(t, cables_by_name);
	tcase_add_test(t, wrong_places);
	tcase_add_test(t, node_that_is_off);
	tcase_add_test(t, restart);
	tcase_add_test(t, needed_again);
	suite_add_tcase(suite, t);
	t = tcase_create("flows");
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, switches_without_a_lost_pair, 0,
	                    sizeof(flows) / sizeof(*flows));
	tcase_add_test(t, forced);
	tcase_add_loop_test(t, cables_without_a_lost_pair, 0, sizeof(flows) / sizeof(*flows));
	suite_add_tcase(suite, t);
}
