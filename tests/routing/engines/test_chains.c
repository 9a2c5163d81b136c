/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Routing chains: policy files, port groups, parts of fabrics, steps. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/port_policy.h"
#include "routing/engine_options.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/port_policy_set.h"
#include "routing/graph/subgraph.h"
#include "routing/route.h"
#include "routing/text/chain_conf.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static char folder[64];
static struct diags diags;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	strcpy(folder, "/tmp/saguaro-chains.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
	static const char *const names[] = { "groups", "topologies", "steps", "extra" };
	char path[128];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	arena_free(arena);
}

static const char *file(const char *name, const char *text)
{
	char *path = arena_printf(arena, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	return path;
}

/* --- files -------------------------------------------------------------------------- */

#define GROUP(x) "port-group\n" x "\nend-port-group\n"
#define TOPO(x) "topology\n" x "\nend-topology\n"
#define STEP(x) "unicast-step\n" x "\nend-unicast-step\n"

/* clang-format off */
static const struct {
	char kind; /* g, t, s */
	const char *text;
	unsigned line; /* of the first error; 0: none */
	const char *says;
} files[] = {
	{ 'g', "", 0, NULL },
	{ 'g', "# nothing\n\n" GROUP("name: a\nuse: some: text\nport-guid: 0x10, 0x11@3, 0x12@2-5/7"), 0, NULL },
	{ 'g', GROUP("name: a\nport-guid-range: 0x10-0x20"), 0, NULL },
	{ 'g', GROUP("name: a\nport-name: hostname=n1; port=1; hca_idx=2, hostname=n2"), 0, NULL },
	{ 'g', GROUP("name: a\nport-regexp: ^x:3"), 0, NULL },
	{ 'g', GROUP("name: u\nunion-rule: ALL_CAS, b") GROUP("name: b\nport-guid: 1"), 0, NULL },
	{ 'g', "name: a\n", 1, "outside of a paragraph" },
	{ 'g', "port-group\nname: a\n", 1, "port-group without end-port-group" },
	{ 'g', GROUP("port-guid: 0x10"), 1, "without a name" },
	{ 'g', GROUP("name: a"), 1, "'a' has no rule" },
	{ 'g', GROUP("name: a\nport-guid: 1\nport-regexp: x"), 4, "two rules" },
	{ 'g', GROUP("name: ALL\nport-guid: 1"), 2, "is there already" },
	{ 'g', GROUP("name: a\nport-guid: 1") GROUP("name: a\nport-guid: 1"), 6, "is there already" },
	{ 'g', GROUP("name: a\nport-guid: 0x10@"), 3, "expected GUIDs" },
	{ 'g', GROUP("name: a\nport-guid: 0x10@5-2"), 3, "expected GUIDs" },
	{ 'g', GROUP("name: a\nport-guid: 0x10@300"), 3, "expected GUIDs" },
	{ 'g', GROUP("name: a\nport-guid-range: 0x10"), 3, "two GUIDs" },
	{ 'g', GROUP("name: a\nport-guid-range: 0x20-0x10"), 3, "two GUIDs" },
	{ 'g', GROUP("name: a\nport-name: port=1"), 3, "hostname=NAME" },
	{ 'g', GROUP("name: a\nport-regexp: (x"), 3, "regular expression" },
	{ 'g', GROUP("name: a\nport-regexp: x:y"), 3, "port number" },
	{ 'g', GROUP("name: a\nunion-rule: b"), 3, "two groups" },
	{ 'g', GROUP("name: a\nunion-rule: b, ALL"), 3, "not 'b'" },
	{ 'g', GROUP("name: a\nunion-rule: b, ALL") GROUP("name: b\nsubtract-rule: ALL, a"), 1, "made of itself" },
	{ 'g', GROUP("name: a\nguid: 1"), 3, "no such name" },
	{ 'g', GROUP("name: a\nname: b"), 3, "twice" },
	{ 'g', GROUP("name:\nport-guid: 1"), 2, "has no value" },
	{ 'g', GROUP("name a\nport-guid: 1"), 2, "name: value" },
	{ 't', TOPO("id: 1\nsw-grp: ALL_SWITCHES\nhca-grp: ALL_CAS"), 0, NULL },
	{ 't', TOPO("id: 0\nsw-grp: a\nhca-grp: b"), 2, "from 1 to" },
	{ 't', TOPO("id: one\nsw-grp: a\nhca-grp: b"), 2, "not 'one'" },
	{ 't', TOPO("id: 1\nsw-grp: a"), 1, "hca-grp is missing" },
	{ 't', TOPO("id: 1\nsw-grp: a\nhca-grp: b") TOPO("id: 1\nsw-grp: a\nhca-grp: b"), 6, "already" },
	{ 's', STEP("id: 2\nengine: x\ntopology: 1") STEP("id: 1\nengine: minhop"), 0, NULL },
	{ 's', "", 0, NULL },
	{ 's', STEP("id: 1\nengine: minhop\ntopology: 1"), 1, "routes the whole fabric" },
	{ 's', STEP("id: 1\nengine: minhop\npath-bit: 1"), 1, "routes the whole fabric" },
	{ 's', STEP("engine: minhop"), 1, "id is missing" },
	{ 's', STEP("id: 1"), 1, "engine is missing" },
	{ 's', STEP("id: 1\nengine: a") STEP("id: 1\nengine: b"), 5, "already" },
	{ 's', STEP("id: 1\nengine: minhop\nconfig: /no/such/file"), 4, "cannot be read" },
	{ 's', STEP("id: 1\nengine: a") STEP("id: 2\nengine: b\npath-bit: 128"), 8, "from 0 to 127" },
};
/* clang-format on */

START_TEST(policy_files)
{
	const char *path = file("groups", files[_i].text);
	const void *got = NULL;
	int ret = files[_i].kind == 'g'   ? port_policy_read(path, arena, &diags, &got)
	          : files[_i].kind == 't' ? chain_topologies_read(path, arena, &diags, &got)
	                                  : chain_steps_read(path, arena, &diags, &got);

	if (!files[_i].says && !(files[_i].kind == 's' && !*files[_i].text)) {
		ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
		ck_assert_ptr_nonnull(got);
		return;
	}
	ck_assert_int_eq(ret, E_SYNTAX);
	ck_assert_ptr_null(got);
	ck_assert_uint_gt(diags.n_errors, 0);
	ck_assert_uint_eq(diags.items[0].line, files[_i].line);
	ck_assert_msg(!files[_i].says || strstr(diags.items[0].text, files[_i].says), "%s",
	              diags.items[0].text);
}
END_TEST

/* --- port groups over a fabric ------------------------------------------------------ */

static const struct port_policy *groups(const char *text)
{
	const void *got;

	ck_assert_msg(port_policy_read(file("groups", text), arena, &diags, &got) == E_OK, "%s",
	              diags_first_error(&diags));
	return got;
}

static struct device_set set_of(const struct graph *g, const struct port_policy *p,
                                const char *name)
{
	struct device_set s;
	uint32_t group = port_policy_find(p, name);

	ck_assert_uint_ne(group, PORT_POLICY_NONE);
	ck_assert_int_eq(port_policy_set(g, p, group, arena, &s), E_OK);
	return s;
}

static uint32_t node_named(const struct graph *g, const char *name)
{
	uint32_t i = 0;

	while (strcmp(g->nodes[i].description, name) != 0) {
		i++;
	}
	return i;
}

static uint32_t port_of(const struct graph *g, const char *name, unsigned num)
{
	return g->nodes[node_named(g, name)].first_port + num;
}

START_TEST(members)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	uint32_t leaf = node_named(g, "leaf-0001"), spine = node_named(g, "spine-0000");
	uint64_t host_port = g->ports[port_of(g, "node03", 1)].guid;
	const struct port_policy *p = groups(arena_printf(
		arena,
		GROUP("name: some\nport-guid: 0x%llx@2-3/7, 0x%llx, 0x%llx, 0xdead")
		GROUP("name: range\nport-guid-range: 0x%llx - 0x%llx")
		GROUP("name: names\nport-name: hostname=node01, hostname=node02; hca_idx=1")
		GROUP("name: like\nport-regexp: ^leaf-000[01]$")
		GROUP("name: like3\nport-regexp: ^leaf-000[01]$:3")
		GROUP("name: both\nunion-rule: like, names")
		GROUP("name: rest\nsubtract-rule: ALL_SWITCHES, like"),
		(unsigned long long)g->nodes[leaf].guid,
		(unsigned long long)g->nodes[spine].guid, (unsigned long long)host_port,
		(unsigned long long)g->nodes[leaf].guid,
		(unsigned long long)g->nodes[leaf].guid + 1));
	struct device_set s = set_of(g, p, "some");

	for (unsigned num = 0; num <= 7; num++) {
		ck_assert_int_eq(device_set_has(&s, port_of(g, "leaf-0001", num)),
		                 num == 0 || num == 2 || num == 3 || num == 7);
		ck_assert(device_set_has(&s, port_of(g, "spine-0000", num)));
		ck_assert(!device_set_has(&s, port_of(g, "leaf-0000", num)));
	}
	ck_assert(device_set_has(&s, port_of(g, "node03", 1)));
	ck_assert_uint_eq(s.n_end_ports, 3);
	ck_assert_uint_eq(set_of(g, p, "range").n_end_ports, 1);
	s = set_of(g, p, "names");
	ck_assert(device_set_has(&s, port_of(g, "node01", 1)));
	ck_assert(!device_set_has(&s, port_of(g, "node02", 1))); /* not "node02 HCA-1" */
	ck_assert_uint_eq(set_of(g, p, "like").n_end_ports, 2);
	s = set_of(g, p, "like3");
	ck_assert(device_set_has(&s, port_of(g, "leaf-0000", 3)));
	ck_assert(!device_set_has(&s, port_of(g, "leaf-0000", 4)));
	ck_assert_uint_eq(set_of(g, p, "both").n_end_ports, 3);
	ck_assert_uint_eq(set_of(g, p, "rest").n_end_ports, 7);
	ck_assert_uint_eq(set_of(g, p, "ALL").n_end_ports, g->n_end_ports);
	ck_assert_uint_eq(set_of(g, p, "ALL_CAS").n_end_ports, g->n_hosts);
}
END_TEST

START_TEST(hca_names)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	const struct port_policy *p =
		groups(GROUP("name: a\nport-name: hostname=node01; hca_idx=2")
	               GROUP("name: b\nport-name: hostname=node01"));

	g->nodes[node_named(g, "node01")].description = "node01 HCA-2";
	g->nodes[node_named(g, "node02")].description = "node01 HCA-1";
	g->nodes[node_named(g, "node03")].description = "node01 HCA-2x";
	ck_assert_uint_eq(set_of(g, p, "a").n_end_ports, 1);
	ck_assert_uint_eq(set_of(g, p, "b").n_end_ports, 2);
}
END_TEST

START_TEST(cut_out)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	const struct port_policy *p = groups(
		GROUP("name: sw\nport-regexp: ^(leaf-000[0-3]|spine-.*)$")
		GROUP("name: no7\nsubtract-rule: sw, seven")
		GROUP("name: seven\nport-regexp: ^leaf-0000$:7"));
	struct device_set sw = set_of(g, p, "sw"), cas = set_of(g, p, "ALL_CAS");
	struct subgraph x;

	ck_assert_int_eq(subgraph_cut(g, &l, &sw, &cas, SUBGRAPH_ALL_LIDS, arena, &x), E_OK);
	ck_assert_uint_eq(x.g->n_switches, 7);
	ck_assert_uint_eq(x.g->n_hosts, 4 * 4);
	ck_assert_uint_eq(x.g->n_adj, 2 * 4 * 3);
	ck_assert_uint_eq(x.lids.count, 7 + 2 * 4 * 4);
	for (uint32_t i = 0; i < x.g->n_ports; i++) {
		const struct port *a = &x.g->ports[i], *b = &g->ports[x.whole_port[i]];

		ck_assert(a->guid == b->guid && a->num == b->num);
		ck_assert(a->peer == GRAPH_NONE || x.whole_port[a->peer] == b->peer);
	}
	ck_assert_int_eq(subgraph_cut(g, &l, &sw, &cas, 1, arena, &x), E_OK);
	for (uint32_t i = 0; i < x.g->n_hosts; i++) {
		uint32_t port = x.g->hosts[i];

		ck_assert_uint_eq(x.lids.of[port].base, l.of[x.whole_port[port]].base + 1);
		ck_assert_uint_eq(x.lids.of[port].lmc, 0);
	}
	/* one cable less */
	sw = set_of(g, p, "no7");
	bool cabled = g->ports[port_of(g, "leaf-0000", 7)].peer != GRAPH_NONE;

	ck_assert_int_eq(subgraph_cut(g, &l, &sw, &cas, 0, arena, &x), E_OK);
	ck_assert(!cabled || x.g->n_switches < 7 || x.g->n_adj == 2 * 4 * 3 - 2);
	/* a port that is out is without its cable, though its switch and the other end are in */
	sw = set_of(g, p, "sw");
	uint32_t port = port_of(g, "leaf-0000", 7);

	ck_assert(cabled);
	sw.bits[port / 64] &= ~(UINT64_C(1) << port % 64);
	ck_assert_int_eq(subgraph_cut(g, &l, &sw, &cas, SUBGRAPH_ALL_LIDS, arena, &x), E_OK);
	ck_assert_uint_eq(x.g->n_switches, 7);
	ck_assert_uint_eq(x.g->n_adj, 2 * 4 * 3 - 2);
}
END_TEST

/* --- chains ------------------------------------------------------------------------- */

/* Routes by files; NULL where there is none. */
static int run(const struct graph *g, const struct lids *l, const char *groups_text,
               const char *topologies, const char *steps, struct route_result *ret_result)
{
	struct engine_options *o = arena_alloc(arena, sizeof(*o));
	struct route_request r = { .g = g, .lids = l, .options = o };
	const struct {
		const char *key, *name, *text;
	} set[] = { { "pgrp_policy_file", "groups", groups_text },
		    { "topo_policy_file", "topologies", topologies },
		    { "rch_policy_file", "steps", steps } };
	struct why why = { "" };
	int ret;

	ck_assert_int_eq(engine_options_init(o, arena), E_OK);
	ck_assert_int_eq(option_set_defaults(&o->sets, arena), E_OK);
	for (unsigned i = 0; i < 3; i++) {
		if (set[i].text) {
			ret = option_set(&o->sets, arena, set[i].key,
			                 file(set[i].name, set[i].text), NULL, 0, &diags);
			ck_assert_msg(ret == E_OK, "%s", diags_first_error(&diags));
		}
	}
	ret = engine_options_bind(o, arena, &diags);
	if (ret != E_OK) {
		return ret;
	}
	ck_assert_int_eq(route_list_parse("chains,no_fallback", &r.list, &why), E_OK);
	return route_run(&r, arena, ret_result);
}

static struct route_result alone(const struct graph *g, const struct lids *l,
                                 const char *engine)
{
	struct route_request r = { .g = g, .lids = l };
	struct route_result result;
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse(engine, &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	return result;
}

static const char left_groups[] = GROUP("name: left\nport-regexp: ^(leaf-000[0-2]|spine-.*)$");
static const char left_topology[] = TOPO("id: 1\nsw-grp: left\nhca-grp: ALL_CAS");
static const char two_steps[] = STEP("id: 1\nengine: minhop")
	STEP("id: 2\nengine: ftree\ntopology: 1");

/* Entries of the second step where it has some, of the first elsewhere. */
START_TEST(last_step_wins)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_result whole = alone(g, &l, "minhop"), result, part;
	struct device_set sw, cas;
	struct subgraph x;
	uint32_t from_step_2 = 0;

	ck_assert_int_eq(run(g, &l, left_groups, left_topology, two_steps, &result),
	                 E_OK);
	const struct port_policy *p = groups(left_groups);

	sw = set_of(g, p, "left");
	cas = set_of(g, p, "ALL_CAS");
	ck_assert_int_eq(subgraph_cut(g, &l, &sw, &cas, 0, arena, &x), E_OK);
	part = alone(x.g, &x.lids, "ftree");
	for (uint32_t s = 0, k = 0; s < g->n_switches; s++) {
		bool in = k < x.g->n_switches && x.whole_sw[k] == s;

		for (uint32_t lid = 1; lid <= l.top; lid++) {
			uint8_t want = lft_row(&whole.out.lft, s)[lid];

			if (in && x.lids.owner[lid] != GRAPH_NONE &&
			    lft_row(&part.out.lft, k)[lid] != LFT_NO_ROUTE) {
				want = lft_row(&part.out.lft, k)[lid];
				from_step_2++;
			}
			ck_assert_uint_eq(lft_row(&result.out.lft, s)[lid], want);
		}
		k += in;
	}
	ck_assert_uint_gt(from_step_2, 0);
	ck_assert_str_eq(result.used->name, "chains");
}
END_TEST

START_TEST(fallbacks)
{
	struct graph *g = fabric_make("torus 5 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_result result, dnup = alone(g, &l, "dnup");

	/* ftree refuses a ring; the step behind it takes over, and only then */
	ck_assert_int_eq(
		run(g, &l, NULL, NULL,
	            STEP("id: 1\nengine: ftree")
	                    STEP("id: 2\nengine: dnup\nfallback-to: 1")
	                            STEP("id: 3\nengine: minhop\nfallback-to: 2")
	                                    STEP("id: 4\nengine: minhop\nfallback-to: 9"),
	            &result),
		E_OK);
	ck_assert_mem_eq(result.out.lft.rows, dnup.out.lft.rows,
	                 result.out.lft.stride * result.out.lft.n_switches);
	ck_assert_ptr_nonnull(strstr(result.out.notes.text, "step 1 failed: ftree"));
	ck_assert_uint_eq(diags.n_warnings, 2);
	ck_assert_ptr_nonnull(strstr(diags.items[0].text, "step 3 is left out"));
	/* a fallback that is not needed does not run */
	ck_assert_int_eq(run(g, &l, NULL, NULL,
	                     STEP("id: 1\nengine: dnup")
	                             STEP("id: 2\nengine: minhop\nfallback-to: 1"),
	                     &result),
	                 E_OK);
	/* nobody routes the whole fabric */
	ck_assert_int_eq(run(g, &l, NULL, NULL, STEP("id: 1\nengine: ftree"), &result),
	                 E_UNSUITABLE);
	ck_assert_ptr_nonnull(
		strstr(result.fallback_reason.text, "the first step failed"));
}
END_TEST

/* Steps that are fine by themselves and deadlock together are refused. */
START_TEST(deadlock_is_caught)
{
	struct graph *g = fabric_make("torus 5 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_result result;

	ck_assert_int_eq(run(g, &l, NULL, NULL,
	                     STEP("id: 1\nengine: dnup") STEP("id: 2\nengine: minhop"),
	                     &result),
	                 E_CREDITLOOP);
	ck_assert_uint_gt(result.proof.credit_loops, 0);
}
END_TEST

/* One LID of two by another engine. */
START_TEST(path_bits)
{
	struct graph *g = fabric_make("ft3 4", 0, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct route_result result, second, first = alone(g, &l, "minhop");
	uint32_t others = 0;

	ck_assert_int_eq(run(g, &l, NULL, NULL,
	                     STEP("id: 1\nengine: minhop")
	                             STEP("id: 2\nengine: ftree\npath-bit: 1"),
	                     &result),
	                 E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			uint32_t owner = l.owner[lid];
			uint8_t is = lft_row(&result.out.lft, s)[lid];
			bool base = owner != GRAPH_NONE && l.of[owner].base == lid;

			ck_assert(!base || is == lft_row(&first.out.lft, s)[lid]);
			others += is != lft_row(&first.out.lft, s)[lid];
		}
	}
	second = result;
	ck_assert_uint_gt(others, 0);
	/* a place that no range has fails the step, and its fallback takes over */
	ck_assert_int_eq(
		run(g, &l, NULL, NULL,
	            STEP("id: 1\nengine: minhop")
	                    STEP("id: 2\nengine: ftree\npath-bit: 2") STEP(
				    "id: 3\nengine: ftree\npath-bit: 1\nfallback-to: 2"),
	            &result),
		E_OK);
	ck_assert_ptr_nonnull(strstr(result.out.notes.text,
	                             "step 2 failed: path-bit 2 is beyond the 2 LIDs"));
	ck_assert_mem_eq(result.out.lft.rows, second.out.lft.rows,
	                 result.out.lft.stride * result.out.lft.n_switches);
}
END_TEST

/* Options of a step's own: roots for updn, which finds none here by itself. */
START_TEST(step_options)
{
	struct graph *g = fabric_make("torus 3x3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_result result;
	const char *roots = file("groups", arena_printf(arena, "0x%llx\n",
	                                                (unsigned long long)g->nodes[g->switches[4]].guid));
	const char *extra =
		file("extra",
	             arena_printf(arena, "root_guid_file %s\nqos TRUE\nlash_start_vl 1\n",
	                          roots));

	int without = run(g, &l, NULL, NULL, STEP("id: 1\nengine: updn"), &result);
	ck_assert_int_eq(without, E_UNSUITABLE);
	ck_assert_int_eq(
		run(g, &l, NULL, NULL,
	            arena_printf(arena, STEP("id: 1\nengine: updn\nconfig: %s"), extra),
	            &result),
		E_OK);
	ck_assert_uint_eq(diags.n_warnings, 2); /* each of which has no effect there */
	ck_assert_uint_eq(diags.items[0].line, 2);
	ck_assert_str_eq(
		diags.items[0].text,
		"qos 'TRUE': no effect in step 1, because engine updn does not read it");
	ck_assert_uint_eq(diags.items[1].line, 3);
	file("extra", "no_such_key 1\n");
	ck_assert_int_eq(
		run(g, &l, NULL, NULL,
	            arena_printf(arena, STEP("id: 1\nengine: updn\nconfig: %s"), extra),
	            &result),
		E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags), "no_such_key"));
}
END_TEST

/* Lanes: those of the step that wrote the entry; a rule of one step, and no others. */
START_TEST(lanes)
{
	struct graph *g = fabric_make("torus 5x5 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_result result, plain = alone(g, &l, "lash"),
				    torus = alone(g, &l, "torus-2QoS");

	ck_assert_int_eq(run(g, &l, NULL, NULL,
	                     STEP("id: 1\nengine: dnup") STEP("id: 2\nengine: lash"),
	                     &result),
	                 E_OK);
	ck_assert_uint_eq(result.out.lanes.n, plain.out.lanes.n);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			ck_assert_uint_eq(lane_of(&result.out.lanes, s, lid),
			                  lane_of(&plain.out.lanes, s, lid));
		}
	}
	ck_assert_int_eq(
		run(g, &l, NULL, NULL, STEP("id: 1\nengine: torus-2QoS"), &result), E_OK);
	ck_assert_ptr_nonnull(result.out.lanes.rule);
	ck_assert_mem_eq(result.out.lanes.rule->vl, torus.out.lanes.rule->vl,
	                 sizeof(torus.out.lanes.rule->vl));
	ck_assert_uint_eq(result.proof.credit_loops, 0);
	ck_assert_int_eq(run(g, &l, NULL, NULL,
	                     STEP("id: 1\nengine: lash")
	                             STEP("id: 2\nengine: torus-2QoS"),
	                     &result),
	                 E_OK);
	ck_assert_ptr_nonnull(strstr(result.out.notes.text, "do not go with those"));
	ck_assert_ptr_null(result.out.lanes.rule);
}
END_TEST

/* clang-format off */
static const struct {
	const char *groups, *topologies, *steps, *says;
} unbound[] = {
	{ NULL, NULL, STEP("id: 1\nengine: nonsense"), "step 1: unknown engine 'nonsense'" },
	{ NULL, NULL, STEP("id: 1\nengine: chains"), "unknown engine 'chains'" },
	{ NULL, NULL, STEP("id: 1\nengine: minhop") STEP("id: 2\nengine: updn\ntopology: 3"), "there is no topo_policy_file" },
	{ left_groups, left_topology, STEP("id: 1\nengine: minhop") STEP("id: 2\nengine: updn\ntopology: 3"), "step 2: no topology 3" },
	{ NULL, left_topology, STEP("id: 1\nengine: minhop"), "no port-group 'left': there is no pgrp_policy_file" },
	{ left_groups, TOPO("id: 1\nsw-grp: right\nhca-grp: ALL"), STEP("id: 1\nengine: minhop"), "no port-group 'right'" },
};
/* clang-format on */

START_TEST(what_is_not_there)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_result result;

	ck_assert_int_eq(run(g, &l, unbound[_i].groups, unbound[_i].topologies,
	                     unbound[_i].steps, &result),
	                 E_UNKNOWN);
	ck_assert_msg(strstr(diags_first_error(&diags), unbound[_i].says), "%s",
	              diags_first_error(&diags));
}
END_TEST

/* --- port groups as roots of trees ---------------------------------------------------
 */

/* Tables of an engine with a root file. */
static int with_roots(const struct graph *g, const struct lids *l, const char *engine,
                      const char *roots, const char *groups_text,
                      struct route_result *ret_result)
{
	struct engine_options o;
	struct route_request r = { .g = g, .lids = l, .options = &o };
	struct why why = { "" };
	int ret;

	ck_assert_int_eq(engine_options_init(&o, arena), E_OK);
	ck_assert_int_eq(option_set_defaults(&o.sets, arena), E_OK);
	if (groups_text) {
		ck_assert_int_eq(option_set(&o.sets, arena, "pgrp_policy_file",
		                            file("groups", groups_text), NULL, 0, &diags),
		                 E_OK);
	}
	ck_assert_int_eq(option_set(&o.sets, arena, "root_guid_file",
	                            file("extra", roots), NULL, 0, &diags),
	                 E_OK);
	ret = engine_options_bind(&o, arena, &diags);
	if (ret != E_OK) {
		return ret;
	}
	ck_assert_int_eq(route_list_parse(engine, &r.list, &why), E_OK);
	r.list.no_fallback = true;
	r.credit_loops = CREDIT_PROGRAM;
	return route_run(&r, arena, ret_result);
}

/* The GUIDs of some switches and the name of a group of them give the same tables. */
START_TEST(roots_by_group)
{
	static const char *const names[] = { "updn", "ftree", "dmodc" };
	struct graph *g = fabric_make("ft2 6 4 3", 0.1, (uint64_t)_i, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const char *guids = "",
		   *some = GROUP("name: top switches\nport-regexp: ^spine-.*");
	struct route_result by_guid, by_group;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];

		if (!strncmp(n->description, "spine", 5)) {
			guids = arena_printf(arena, "%s0x%llx\n", guids,
			                     (unsigned long long)n->guid);
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(with_roots(g, &l, names[i], guids, NULL, &by_guid),
		                 E_OK);
		ck_assert_int_eq(with_roots(g, &l, names[i],
		                            "# roots\ntop switches # all\n", some,
		                            &by_group),
		                 E_OK);
		ck_assert_mem_eq(by_group.out.lft.rows, by_guid.out.lft.rows,
		                 by_guid.out.lft.stride * by_guid.out.lft.n_switches);
		ck_assert_str_eq(by_group.out.notes.text, by_guid.out.notes.text);
	}
	/* hosts stand for their switch; what is nowhere is named */
	ck_assert_int_eq(with_roots(g, &l, "updn", "ALL_CAS\nnone\n",
	                            GROUP("name: none\nport-guid: 0xdead"), &by_group),
	                 E_OK);
	ck_assert_ptr_nonnull(strstr(by_group.out.notes.text,
	                             "port group none has no port in the fabric"));
	ck_assert_int_eq(with_roots(g, &l, "ftree", "ALL\nnobody\n", some, &by_group),
	                 E_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags),
	                             "'nobody' is no GUID and no port group of "));
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_int_eq(with_roots(g, &l, "ftree", "nobody\n", NULL, &by_group),
	                 E_UNKNOWN);
}
END_TEST

/* A topology without switches fails its step and no other. */
START_TEST(empty_topology)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_result result;

	ck_assert_int_eq(run(g, &l, GROUP("name: left\nport-guid: 0xdead"), left_topology,
	                     two_steps, &result),
	                 E_OK);
	ck_assert_ptr_nonnull(
		strstr(result.out.notes.text, "no switch is in topology 1"));
	ck_assert_int_eq(run(g, &l, NULL, NULL, NULL, &result), E_UNSUITABLE);
	ck_assert_ptr_nonnull(
		strstr(result.fallback_reason.text, "give rch_policy_file"));
}
END_TEST

TEST_SUITE(chains)
{
	TCase *t = tcase_create("chains");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, policy_files, 0, sizeof(files) / sizeof(*files));
	tcase_add_test(t, members);
	tcase_add_test(t, hca_names);
	tcase_add_test(t, cut_out);
	tcase_add_test(t, last_step_wins);
	tcase_add_test(t, fallbacks);
	tcase_add_test(t, deadlock_is_caught);
	tcase_add_test(t, path_bits);
	tcase_add_test(t, step_options);
	tcase_add_test(t, lanes);
	tcase_add_loop_test(t, what_is_not_there, 0, sizeof(unbound) / sizeof(*unbound));
	tcase_add_test(t, empty_topology);
	tcase_add_loop_test(t, roots_by_group, 1, 4);
	suite_add_tcase(suite, t);
}
