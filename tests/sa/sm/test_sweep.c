/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Whole sweeps over the simulated fabric. The state of the nodes afterwards is read out of the
 * simulation itself, never from the sweep's own books.
 *
 * Longer than most: the cases share one reading of the nodes.
 */
#include <inttypes.h>

#include "conf/policy/node_names.h"
#include "tests/lib/graph_check.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

static struct sweep_fixture *fixture;

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

/* --- what a good fabric looks like ------------------------------------------------- */

/* Every cabled port of these nodes is ACTIVE. */
static void check_active(const struct sweep_fixture *r)
{
	for (uint32_t i = 0; i < r->g->n_ports; i++) {
		if (r->g->ports[i].peer != GRAPH_NONE) {
			ck_assert_msg(fixture_peek(r, i, PI_PORT_STATE) == PORT_ACTIVE,
			              "\"%s\" port %u is in state %u",
			              r->g->nodes[r->g->ports[i].node].description,
			              r->g->ports[i].num,
			              (unsigned)fixture_peek(r, i, PI_PORT_STATE));
		}
	}
}

/* LIDs as the nodes have them: unique ranges, aligned. Marks owners in ret_lids[0xC000].
 * */
static void check_lids(const struct sweep_fixture *r, uint32_t *ret_lids)
{
	memset(ret_lids, 0xff, 0xC000 * sizeof(*ret_lids));
	for (uint32_t i = 0; i < r->g->n_end_ports; i++) {
		uint32_t port = r->g->end_ports[i];
		uint32_t base = (uint32_t)fixture_peek(r, port, PI_LID);
		uint32_t n = 1u << fixture_peek(r, port, PI_LMC);

		ck_assert_uint_gt(base, 0);
		ck_assert_uint_eq(base & (n - 1), 0);
		for (uint32_t k = 0; k < n; k++) {
			ck_assert_uint_lt(base + k, 0xC000);
			ck_assert_uint_eq(ret_lids[base + k], GRAPH_NONE);
			ret_lids[base + k] = port;
		}
	}
}

static uint8_t entry(const struct sweep_fixture *r, uint32_t node, uint32_t lid)
{
	uint8_t block[64];

	ck_assert_int_eq(sim_peek(r->sim, r->g->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT,
	                          lid / 64, block),
	                 E_OK);
	return block[lid % 64];
}

/* Walks from a switch to a LID over the tables in the nodes. */
static bool arrives(const struct sweep_fixture *r, uint32_t node, uint32_t lid,
                    uint32_t owner)
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
static void check_routes(const struct sweep_fixture *r, const uint32_t *owner)
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

static uint32_t lids_a[0xC000], lids_b[0xC000];

static void check_fabric(const struct sweep_fixture *r)
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
	fixture = fixture_new();
	fixture_topo(fixture, fabrics[_i].topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.lmc = fabrics[_i].lmc;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	const struct sweep_status *st = sweep_status(fixture->sweep);
	ck_assert_msg(st->up, "%s", st->not_ready);
	ck_assert(st->master);
	ck_assert_str_eq(st->not_ready, "");
	ck_assert_uint_eq(st->switches, fixture->g->n_switches);
	ck_assert_uint_eq(st->hosts, fixture->g->n_hosts);
	ck_assert_uint_eq(st->unreachable_nodes, 0);
	ck_assert_uint_eq(st->smp_timeouts, 0);
	check_fabric(fixture);
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

static uint64_t lft_sets(const struct sweep_fixture *r)
{
	return sim_count(r->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT);
}

START_TEST(restart)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	fixture->config.lmc = (unsigned)_i;
	fixture_heavy(fixture, 1);
	check_fabric(fixture);
	memcpy(lids_b, lids_a, sizeof(lids_b));
	uint64_t before = lft_sets(fixture);
	uint64_t epoch = sweep_status(fixture->sweep)->epoch;
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert(sweep_status(fixture->sweep)->up);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->epoch, epoch);
	ck_assert_uint_eq(lft_sets(fixture), before);
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
	check_fabric(fixture);
	ck_assert_mem_eq(lids_a, lids_b, sizeof(lids_a));
}
END_TEST

static uint32_t node_named(const struct sweep_fixture *r, const char *name)
{
	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		if (r->g->nodes[i].id && strcmp(r->g->nodes[i].id, name) == 0) {
			return i;
		}
	}
	ck_abort_msg("no node %s", name);
	return 0;
}

/* The durable state is lost, the published snapshot is not: what is published next is
 * above all that readers have seen, and is published at once. */
START_TEST(fresh_state)
{
	uint64_t epoch;

	fixture = fixture_bring_up("ft2 4 4 2", 1, 0);
	fixture_heavy(fixture, 1);
	for (int i = 0; i < _i; i++) {
		uint64_t guid = fixture->g->nodes[node_named(fixture, "h00005")].guid;

		ck_assert_int_eq(sim_set_node(fixture->sim, guid, i % 2), E_OK);
		sweep_request_heavy(fixture->sweep);
		fixture_heavy(fixture, sweep_status(fixture->sweep)->heavy_sweeps + 1);
	}
	epoch = sweep_status(fixture->sweep)->epoch;
	ck_assert_uint_gt(epoch, (uint64_t)_i);
	fixture_stop(fixture);
	nftw(fixture->state_dir, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
	fixture->config.lmc = 1; /* so that the routing is another one */
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->epoch, epoch);
	ck_assert(sweep_status(fixture->sweep)->up);
}
END_TEST

/* Killed after any number of turns, in whatever phase that is, and started again: LIDs
 * that a port was ever given stay its own. */
START_TEST(killed)
{
	uint64_t seed = 0x9e3779b97f4a7c15u * (unsigned)(_i + 1);
	bool known = false;

	fixture = fixture_bring_up("ft2 4 4 2", (unsigned)_i, 0);
	for (unsigned life = 0; life < 12; life++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		for (unsigned turn = (unsigned)(seed >> 33) % 700; turn; turn--) {
			ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		}
		for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
			uint32_t lid = (uint32_t)fixture_peek(
				fixture, fixture->g->end_ports[i], PI_LID);

			ck_assert(!known || lids_b[i] == 0 || lids_b[i] == lid);
			lids_b[i] = lid;
		}
		known = true;
		fixture_stop(fixture);
		fixture_start(fixture);
	}
	fixture_up(fixture);
	check_fabric(fixture);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t lid =
			(uint32_t)fixture_peek(fixture, fixture->g->end_ports[i], PI_LID);

		ck_assert(lids_b[i] == 0 || lids_b[i] == lid);
	}
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

/* Two sweeps over an unchanged fabric: nothing is set, the epoch stays. */
START_TEST(unchanged)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	fixture_heavy(fixture, 1);
	uint64_t epoch = sweep_status(fixture->sweep)->epoch;
	fixture_run_ms(fixture, 11000);
	uint64_t ports = sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO);
	uint64_t tables = lft_sets(fixture);
	uint32_t heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	fixture_run_ms(fixture, 30000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->light_sweeps, 3);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, heavy + 1);
	ck_assert_uint_eq(
		sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO), ports);
	ck_assert_uint_eq(lft_sets(fixture), tables);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->epoch, epoch);
}
END_TEST

/* First port of a node that is cabled to a switch. */
static uint8_t uplink(const struct sweep_fixture *r, uint32_t node)
{
	for (unsigned i = 1; i <= r->g->nodes[node].n_ports; i++) {
		uint32_t peer = r->g->ports[graph_port(r->g, node, i)].peer;

		if (peer != GRAPH_NONE &&
		    r->g->nodes[r->g->ports[peer].node].type == NODE_SWITCH) {
			return (uint8_t)i;
		}
	}
	return 0;
}

START_TEST(link_down_up)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	fixture_heavy(fixture, 1);
	check_fabric(fixture);
	memcpy(lids_b, lids_a, sizeof(lids_b));
	uint32_t node = fixture->g->switches[0];
	uint64_t guid = fixture->g->nodes[node].guid;
	uint8_t port = uplink(fixture, node);
	uint32_t gone = graph_port(fixture->g, node, port);
	uint32_t far = fixture->g->ports[gone].peer;
	uint64_t tables = lft_sets(fixture);

	ck_assert_int_eq(sim_set_link(fixture->sim, guid, port, false), E_OK);
	fixture_run_ms(fixture, 1000);
	fixture_up(fixture);
	fixture->g->ports[gone].peer = fixture->g->ports[far].peer = GRAPH_NONE;
	check_fabric(fixture);
	fixture->g->ports[gone].peer = far;
	fixture->g->ports[far].peer = gone;
	/* Only the two switches at the cable and those that routed over it change, each in
	 * at most two steps of the transition. */
	ck_assert_uint_gt(lft_sets(fixture), tables);
	ck_assert_uint_le(lft_sets(fixture), tables + 2 * fixture->g->n_switches);

	ck_assert_int_eq(sim_set_link(fixture->sim, guid, port, true), E_OK);
	fixture_run_ms(fixture, 1000);
	fixture_up(fixture);
	check_fabric(fixture);
	ck_assert_mem_eq(lids_a, lids_b, sizeof(lids_a));
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

START_TEST(host_gone_and_back)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	fixture_heavy(fixture, 1);
	check_fabric(fixture);
	memcpy(lids_b, lids_a, sizeof(lids_b));
	uint64_t guid = fixture->g->nodes[node_named(fixture, "h00007")].guid;

	fixture->config.sweep_on_trap =
		_i == 0; /* without traps a light sweep must see it */
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, false), E_OK);
	fixture_run_ms(fixture, 12000);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts - 1);
	ck_assert_int_eq(sim_reboot(fixture->sim, guid), E_OK);
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, true), E_OK);
	fixture_run_ms(fixture, 12000);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts);
	check_fabric(fixture);
	ck_assert_mem_eq(lids_a, lids_b, sizeof(lids_a));
}
END_TEST

START_TEST(drops)
{
	fixture =
		fixture_bring_up("ft2 6 6 3", 7u + (unsigned)_i, _i % 2 ? 100000 : 10000);
	fixture_up(fixture);
	fixture_run_ms(fixture, 30000);
	fixture_up(fixture);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->smp_retries, 0);
	check_fabric(fixture);
}
END_TEST

START_TEST(deaf_switch)
{
	fixture = fixture_bring_up("ft2 8 4 4", 1, 0);
	uint32_t spine = fixture->g->switches[fixture->g->n_switches - 1];

	ck_assert_int_eq(sim_set_deaf(fixture->sim, fixture->g->nodes[spine].guid, true),
	                 E_OK);
	fixture_heavy(fixture, 1);
	const struct sweep_status *st = sweep_status(fixture->sweep);
	ck_assert_msg(st->up, "%s", st->not_ready);
	ck_assert_uint_eq(st->switches, fixture->g->n_switches - 1);
	ck_assert_uint_eq(st->hosts, fixture->g->n_hosts);
	ck_assert_uint_gt(st->unreachable_nodes, 0);
	ck_assert_uint_lt(fixture_now(fixture), 5000);
	/* A later sweep does not wait for it again. */
	uint64_t before = fixture_now(fixture);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	ck_assert_uint_lt(fixture_now(fixture) - before,
	                  1300); /* seven tries take 1400 ms */
	/* When it answers, a light sweep finds it. */
	ck_assert_int_eq(sim_set_deaf(fixture->sim, fixture->g->nodes[spine].guid, false),
	                 E_OK);
	fixture_run_ms(fixture, 15000);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->unreachable_nodes, 0);
	check_fabric(fixture);
}
END_TEST

/* A switch reports a change by trap 128 and does not set PortStateChange. */
START_TEST(trap_without_bit)
{
	const struct port *p, *far;
	uint32_t port;

	fixture = fixture_bring_up("ft2 4 4 2", 1, 0);
	fixture_up(fixture);
	fixture_run_ms(fixture, 15000);
	fixture->config.sweep_interval = 0;
	port = fixture->g->ports[fixture->g->end_ports[fixture->g->n_end_ports - 1]].peer;
	p = &fixture->g->ports[port];
	far = &fixture->g->ports[p->peer];
	ck_assert_int_eq(fixture->g->nodes[far->node].type, NODE_CA);
	sim_set_link(fixture->sim, fixture->g->nodes[p->node].guid, p->num, false);
	uint8_t info[SMP_DATA_BYTES];
	uint64_t guid = fixture->g->nodes[p->node].guid;

	ck_assert_int_eq(sim_peek(fixture->sim, guid, UMAD_SM_ATTR_SWITCH_INFO, 0, info),
	                 E_OK);
	ck_assert_uint_eq(field_get(info, SI_PORT_STATE_CHANGE), 1);
	sim_poke(fixture->sim, guid, UMAD_SM_ATTR_SWITCH_INFO, 0, info); /* clears it */
	sim_peek(fixture->sim, guid, UMAD_SM_ATTR_SWITCH_INFO, 0, info);
	ck_assert_uint_eq(field_get(info, SI_PORT_STATE_CHANGE), 0);
	fixture_run_ms(fixture, 3000);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts - 1);
}
END_TEST

/* The SM's own port does not answer at first, for longer than the interval of light sweeps. */
START_TEST(deaf_local_port)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 2 2 1", 0, 1);
	fixture_sim(fixture, 1, 0);
	fixture->config.sweep_interval = 1;
	const struct graph *g = fixture->g;
	uint64_t own = g->nodes[g->ports[g->sm_port].node].guid;

	ck_assert_int_eq(sim_set_deaf(fixture->sim, own, true), E_OK);
	fixture_start(fixture);
	fixture_run_ms(fixture, 60000);
	ck_assert(!sweep_status(fixture->sweep)->up);
	ck_assert_int_eq(sim_set_deaf(fixture->sim, own, false), E_OK);
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
}
END_TEST

/* A switch that goes deaf later counts as one node, and the rest stays up. */
START_TEST(switch_goes_deaf)
{
	fixture = fixture_bring_up("ft2 8 4 4", 1, 0);
	fixture_heavy(fixture, 1);
	uint32_t spine = fixture->g->switches[fixture->g->n_switches - 1];

	ck_assert_int_eq(sim_set_deaf(fixture->sim, fixture->g->nodes[spine].guid, true),
	                 E_OK);
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->switches,
	                  fixture->g->n_switches - 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->unreachable_nodes, 1);
}
END_TEST

START_TEST(split)
{
	uint32_t *part, n_parts;

	fixture = fixture_new();
	fixture_file(fixture, "split.topo");
	ck_assert_int_eq(graph_check_components(fixture->g, fixture->a, &part, &n_parts),
	                 E_OK);
	ck_assert_uint_gt(n_parts, 1);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
	uint32_t mine = part[fixture->g->ports[fixture->g->sm_port].node];
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		const struct port *p = &fixture->g->ports[i];

		if (p->peer != GRAPH_NONE) {
			ck_assert_uint_eq(fixture_peek(fixture, i, PI_PORT_STATE),
			                  part[p->node] == mine ? PORT_ACTIVE
			                                        : PORT_INIT);
		}
	}
}
END_TEST

/* Small fabrics from files come up, whatever is special about them. */
static const char *const files[] = { "back-to-back.topo", "two-switch.topo",
	                             "dual-port.topo", "esp0.topo", "router.topo" };

START_TEST(from_file)
{
	fixture = fixture_new();
	fixture_file(fixture, files[_i]);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
	              sweep_status(fixture->sweep)->not_ready);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts);
	check_fabric(fixture);
	fixture_run_ms(fixture, 35000);
	ck_assert(sweep_status(fixture->sweep)->up);
}
END_TEST

static void fixture_reconfigure(struct sweep_fixture *r)
{
	uint32_t heavy = sweep_status(r->sweep)->heavy_sweeps;

	sweep_reconfigure(r->sweep, &r->deps);
	fixture_heavy(r, heavy + 1);
}

START_TEST(lmc_change)
{
	static const unsigned lmc[] = { 0, 2, 1, 3, 0 };

	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	for (unsigned k = 0; k < sizeof(lmc) / sizeof(lmc[0]); k++) {
		fixture->config.lmc = lmc[k];
		fixture_reconfigure(fixture);
		ck_assert_msg(sweep_status(fixture->sweep)->up, "%s",
		              sweep_status(fixture->sweep)->not_ready);
		check_fabric(fixture);
		for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
			uint32_t p = fixture->g->end_ports[i];

			ck_assert_uint_eq(fixture_peek(fixture, p, PI_LMC),
			                  fixture->g->ports[p].num ? lmc[k] : 0);
		}
	}
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

/* With the unicast routing cache a host and a leaf switch that go and come back cost no
 * computation; a cable between switches does. */
START_TEST(routes_are_kept)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 1);
	fixture_sim(fixture, 1, 0);
	fixture->config.use_ucast_cache = true;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	const struct sweep_status *st = sweep_status(fixture->sweep);
	uint64_t host = fixture->g->nodes[node_named(fixture, "h00007")].guid;
	uint64_t leaf = fixture->g->nodes[fixture->g->switches[2]].guid;
	uint32_t misses = st->cache_misses, hits = st->cache_hits;

	ck_assert_uint_ge(misses, 1);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t guid = i ? leaf : host;

		ck_assert_int_eq(sim_set_node(fixture->sim, guid, false), E_OK);
		fixture_run_ms(fixture, 12000);
		fixture_up(fixture);
		ck_assert_uint_lt(sweep_status(fixture->sweep)->hosts,
		                  fixture->g->n_hosts);
		ck_assert_int_eq(sim_reboot(fixture->sim, guid), E_OK);
		ck_assert_int_eq(sim_set_node(fixture->sim, guid, true), E_OK);
		fixture_run_ms(fixture, 12000);
		fixture_up(fixture);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts,
		                  fixture->g->n_hosts);
		check_fabric(fixture);
	}
	ck_assert_uint_ge(st->cache_hits, hits + 4);
	ck_assert_uint_eq(st->cache_misses, misses);
	/* options may say anything else now */
	fixture_reconfigure(fixture);
	ck_assert_uint_eq(st->cache_misses, misses + 1);
}
END_TEST

/* The snapshot has the operator's name and the description; the next map replaces it. */
START_TEST(operator_names)
{
	const struct node_names *names[2];
	struct snap_reader *r;
	struct snap_node node;

	fixture = fixture_bring_up("ft2 4 4 2", 1, 0);
	uint64_t guid = fixture->g->nodes[fixture->g->switches[0]].guid;
	const char *description = fixture->g->nodes[fixture->g->switches[0]].description;
	for (unsigned i = 0; i < 2; i++) {
		const char *map =
			arena_printf(fixture->a, "0x%" PRIx64 " \"name %u\"", guid, i);
		ck_assert_int_eq(node_names_parse("map", map, strlen(map), fixture->a,
		                                  &fixture->diags, &names[i]),
		                 E_OK);
		fixture->config.node_names = names[i];
		fixture_reconfigure(fixture);
		ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
		ck_assert_int_eq(snap_pin(r), E_OK);
		ck_assert_int_eq(snap_node(r, guid, &node), E_OK);
		ck_assert_str_eq(node.name, arena_printf(fixture->a, "name %u", i));
		ck_assert_str_eq(node.description, description);
		snap_reader_close(r);
	}
}
END_TEST

START_TEST(credit_loop_refused)
{
	fixture = fixture_new();
	fixture_file(fixture, "ring-4.topo");
	fixture_sim(fixture, 1, 0);
	fixture->config.credit_loops = _i == 0 ? CREDIT_REFUSE : CREDIT_FALLBACK;
	fixture->deps.list.no_fallback = true;
	log_set_level(LOG_LEVEL_ERROR);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	const struct sweep_status *st = sweep_status(fixture->sweep);
	ck_assert(!st->up);
	ck_assert_ptr_nonnull(strstr(st->not_ready, "credit loop"));
	fixture_run_ms(fixture, 30000); /* and stays refused */
	ck_assert(!sweep_status(fixture->sweep)->up);
	ck_assert_uint_eq(
		sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO), 0);
	ck_assert_uint_eq(lft_sets(fixture), 0);
	fixture->config.credit_loops = CREDIT_PROGRAM;
	fixture_reconfigure(fixture);
	ck_assert_msg(st->up, "%s", st->not_ready);
	check_fabric(fixture);
	/* Refused again: what runs stays as it is. */
	uint64_t ports = sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO);
	uint64_t tables = lft_sets(fixture);
	fixture->config.credit_loops = CREDIT_REFUSE;
	fixture->config.lmc = 1;
	fixture_reconfigure(fixture);
	fixture_run_ms(fixture, 30000);
	ck_assert(!sweep_status(fixture->sweep)->up);
	ck_assert_uint_eq(
		sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO), ports);
	ck_assert_uint_eq(lft_sets(fixture), tables);
}
END_TEST

/* Two hosts on different leaves, two on one leaf, and two spines with one NodeGUID. The rest
 * is up, and of the two one is left alone. */
static const char *const doubled[][2] = { { "h00003", "h00020" },
	                                  { "h00008", "h00007" },
	                                  { "spine-0000", "spine-0002" } };

static uint32_t node_any(const struct sweep_fixture *r, const char *name)
{
	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		if (strcmp(r->g->nodes[i].description, name) == 0) {
			return i;
		}
	}
	return node_named(r, name);
}

static unsigned active_ports(const struct sweep_fixture *r, uint32_t node)
{
	unsigned n = 0;

	for (unsigned i = 1; i <= r->g->nodes[node].n_ports; i++) {
		const struct port *p = &r->g->ports[graph_port(r->g, node, i)];

		/* The far end: asking this node by its GUID is just what does not work. */
		n += p->peer != GRAPH_NONE &&
		     fixture_peek(r, p->peer, PI_PORT_STATE) == PORT_ACTIVE;
	}
	return n;
}

START_TEST(duplicate_guid)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	uint32_t a = node_any(fixture, doubled[_i][0]),
		 b = node_any(fixture, doubled[_i][1]);
	uint64_t node_guid = fixture->g->nodes[a].guid, port_guid = 0;
	bool is_switch = fixture->g->nodes[a].type == NODE_SWITCH;

	port_guid = fixture->g->ports[graph_port(fixture->g, a, !is_switch)].guid;
	fixture->g->nodes[b].guid = node_guid;
	for (unsigned i = 0; i <= fixture->g->nodes[b].n_ports; i++) {
		fixture->g->ports[graph_port(fixture->g, b, i)].guid = port_guid;
	}
	fixture_heavy(fixture, 1);
	const struct sweep_status *st = sweep_status(fixture->sweep);
	ck_assert_msg(st->up, "%s", st->not_ready);
	ck_assert_uint_eq(st->switches, fixture->g->n_switches - is_switch);
	ck_assert_uint_eq(st->hosts, fixture->g->n_hosts - !is_switch);
	ck_assert_uint_gt(active_ports(fixture, a) + active_ports(fixture, b), 0);
	ck_assert_uint_eq(active_ports(fixture, a) * active_ports(fixture, b), 0);
	fixture_run_ms(fixture, 30000);
	ck_assert(sweep_status(fixture->sweep)->up);
}
END_TEST

/* One of many small disasters per step; after the last one heals, all is well again. */
static void disturb(struct sweep_fixture *r, uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	uint32_t node = (uint32_t)(*seed >> 33) % r->g->n_nodes;
	uint64_t guid = r->g->nodes[node].guid;
	uint8_t port = (uint8_t)(1 + (*seed >> 20) % r->g->nodes[node].n_ports);
	bool on = *seed >> 61 & 1;

	if (node == r->g->ports[r->g->sm_port].node) {
		return;
	}
	switch (*seed >> 58 & 7) {
	case 0:
	case 1: sim_set_link(r->sim, guid, port, on); break;
	case 2: sim_set_node(r->sim, guid, on); break;
	case 3: sim_set_deaf(r->sim, guid, !on); break;
	case 4: sim_reboot(r->sim, guid); break;
	case 5: sweep_request_heavy(r->sweep); break;
	case 6:
		fixture_stop(r);
		fixture_start(r);
		break;
	default: break;
	}
}

static void heal(struct sweep_fixture *r)
{
	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		const struct node *n = &r->g->nodes[i];

		sim_set_node(r->sim, n->guid, true);
		sim_set_deaf(r->sim, n->guid, false);
		for (unsigned k = 1; k <= n->n_ports; k++) {
			sim_set_link(r->sim, n->guid, (uint8_t)k, true);
		}
	}
}

START_TEST(fault_schedule)
{
	uint64_t seed = 0xfa017 + 7919u * (unsigned)_i;

	log_set_level((enum log_level) - 1); /* failures are the point here */
	fixture =
		fixture_bring_up("ft2 4 3 2", (unsigned)_i + 1, _i % 3 == 2 ? 20000 : 0);
	for (unsigned step = 0; step < 25; step++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		for (unsigned turn = (unsigned)(seed >> 33) % 300; turn; turn--) {
			ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		}
		disturb(fixture, &seed);
	}
	heal(fixture);
	fixture_run_ms(fixture, 60000);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts);
	check_fabric(fixture);
}
END_TEST

/* A directed route has 63 hops, so the end of a longer chain of switches is out of reach:
 * the log says where, and the rest is served. */
START_TEST(too_far)
{
	fixture = fixture_new();
	fixture_topo(fixture, "mesh 70x1x1 1", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_log(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_ge(
		fixture_logged(fixture,
	                       "no node further than 63 hops can be reached: over "),
		1);
	ck_assert_uint_lt(sweep_status(fixture->sweep)->switches, 70);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->switches, 62);
}
END_TEST

TEST_SUITE(sweep)
{
	TCase *t = tcase_create("bring-up");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, bring_up, 0, sizeof(fabrics) / sizeof(fabrics[0]));
	tcase_add_loop_test(t, restart, 0, 3);
	tcase_add_loop_test(t, fresh_state, 0, 4);
	tcase_add_loop_test(t, killed, 0, 10);
	tcase_add_test(t, unchanged);
	tcase_add_loop_test(t, lmc_change, 0, 1);
	tcase_add_test(t, operator_names);
	tcase_add_loop_test(t, credit_loop_refused, 0, 2);
	tcase_add_loop_test(t, from_file, 0, sizeof(files) / sizeof(files[0]));
	suite_add_tcase(suite, t);
	t = tcase_create("trouble");
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, link_down_up);
	tcase_add_loop_test(t, host_gone_and_back, 0, 2);
	tcase_add_test(t, routes_are_kept);
	tcase_add_loop_test(t, drops, 0, 4);
	tcase_add_test(t, deaf_switch);
	tcase_add_test(t, switch_goes_deaf);
	tcase_add_test(t, deaf_local_port);
	tcase_add_test(t, trap_without_bit);
	tcase_add_test(t, split);
	tcase_add_loop_test(t, duplicate_guid, 0, sizeof(doubled) / sizeof(doubled[0]));
	tcase_add_loop_test(t, fault_schedule, 0, 100);
	tcase_add_test(t, too_far);
	suite_add_tcase(suite, t);
}
