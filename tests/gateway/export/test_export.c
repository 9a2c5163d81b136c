/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Forms of generated fabrics with failed cables: topology text and tables are read back to the
 * same, drawings have every cable once, Slurm's files have every host once and one parent per
 * switch.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "gateway/export/export.h"
#include "gateway/inventory/topology.h"
#include "gateway/view/body.h"
#include "routing/graph/cabling.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/graph/tables.h"
#include "routing/text/cable_list.h"
#include "routing/text/lftfile.h"
#include "routing/text/topofile.h"
#include "routing/topogen/topogen.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static const struct {
	const char *words[6];
	double fail;
} fabrics[] = {
	{ { "ft2", "4", "3", "2" }, 0 },
	{ { "ft2", "12", "11", "3" }, 0.05 },
	{ { "ft3", "6" }, 0.1 },
	{ { "torus", "3x4", "2" }, 0.05 },
	{ { "jellyfish", "16", "5", "2" }, 0.3 },
	{ { "dragonfly", "4", "2", "2" }, 0 },
};

enum { N_FABRICS = sizeof(fabrics) / sizeof(fabrics[0]), HOSTS_MAX = 512 };

static struct arena *arena;
static struct diags diags;
static struct graph *g;
static struct topology shape;
static struct lids lids;

static void setup_fabric(int which)
{
	struct topogen_opts o = { .fail = fabrics[which].fail,
		                  .seed = (uint32_t)which + 1 };
	char *args[5];
	int n = 0;

	arena = arena_new();
	diags_init(&diags, arena);
	for (; n < 5 && fabrics[which].words[n + 1] != NULL; n++) {
		args[n] = arena_strdup(arena, fabrics[which].words[n + 1]);
	}
	ck_assert_int_eq(topogen(fabrics[which].words[0], n, args, &o, arena, &diags, &g),
	                 E_OK);
	ck_assert_int_eq(topology_find(g, arena, &shape), E_OK);
}

/* Any table: the port is a function of switch and LID. */
static int some_row(void *arg, uint32_t sw, uint8_t *ret_row)
{
	(void)arg;
	for (uint32_t lid = 0; lid <= lids.top; lid++) {
		const struct node *n = &g->nodes[g->switches[sw]];

		ret_row[lid] = lids.owner[lid] == GRAPH_NONE || (lid + sw) % 7 == 0
		                       ? LFT_NO_ROUTE
		                       : (uint8_t)((lid * 31 + sw) % n->n_ports + 1);
	}
	return E_OK;
}

static struct body text_of_form(const char *name)
{
	const struct export_fabric x = { g, &lids, &shape, some_row, NULL, 1795424400 };
	const struct export_format *f = export_find(name);
	struct body out = { .len = 0 };

	ck_assert_ptr_nonnull(f);
	for (uint32_t i = 0; i < export_parts(f, &x); i++) {
		ck_assert_int_eq(f->write(&x, i, &out), E_OK);
	}
	ck_assert_int_eq(body_done(&out), E_OK);
	return out;
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)) != NULL; text += strlen(what)) {
		n++;
	}
	return n;
}

START_TEST(topology_is_read_back)
{
	struct graph *again;

	setup_fabric(_i);
	struct body text = text_of_form("topology");
	ck_assert_int_eq(
		topo_parse(text.data, text.len, "text", true, arena, &diags, &again),
		E_OK);
	ck_assert_uint_eq(again->n_nodes, g->n_nodes);
	ck_assert_uint_eq(again->n_ports, g->n_ports);
	ck_assert_uint_eq(again->sm_port, g->sm_port);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i], *q = &again->ports[i];

		ck_assert_uint_eq(p->guid, q->guid);
		ck_assert_uint_eq(p->peer, q->peer);
		ck_assert(p->peer == GRAPH_NONE ||
		          (p->width == q->width && p->speed == q->speed));
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		ck_assert_str_eq(again->nodes[i].description, g->nodes[i].description);
	}
	body_clear(&text);
	arena_free(arena);
}
END_TEST

START_TEST(tables_are_read_back)
{
	char path[] = "/tmp/saguaro-test-export.XXXXXX";
	struct lids again;
	struct lft lft;

	setup_fabric(_i);
	const struct lids_in in = { .g = g };
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &lids, NULL, NULL), E_OK);
	struct body text = text_of_form("lfts");
	int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, text.data, text.len), (ssize_t)text.len);
	close(fd);
	ck_assert_int_eq(lftfile_read(path, g, 0, arena, &diags, &lft, &again), E_OK);
	unlink(path);
	uint8_t *row = malloc(lids.top + 1);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		some_row(NULL, s, row);
		for (uint32_t lid = 1; lid < lft.n_lids; lid++) {
			ck_assert_uint_eq(lft_row(&lft, s)[lid], row[lid]);
		}
	}
	free(row);
	body_clear(&text);
	arena_free(arena);
}
END_TEST

START_TEST(drawings_have_each_cable_once)
{
	setup_fabric(_i);
	g->nodes[0].name = "a\"b\\c<d>&e\n\xff";
	struct body dot = text_of_form("dot"), xml = text_of_form("graphml");

	ck_assert_uint_eq(count(dot.data, " -- "), g->n_links);
	ck_assert_uint_eq(count(dot.data, "[label="), g->n_nodes);
	ck_assert_ptr_nonnull(strstr(dot.data, "label=\"a\\\"b\\\\c<d>&e\?\?\""));
	ck_assert_uint_eq(count(xml.data, "<edge "), g->n_links);
	ck_assert_uint_eq(count(xml.data, "<node "), g->n_nodes);
	ck_assert_ptr_nonnull(strstr(xml.data, ">a\"b\\c&lt;d&gt;&amp;e\?\?<"));
	body_clear(&dot);
	body_clear(&xml);
	arena_free(arena);
}
END_TEST

static void assert_value(const struct xml_element *e, const char *name, uint64_t want,
                         int base)
{
	const struct xml_element *value = xml_child(e, name);

	ck_assert_msg(value != NULL, "%s", name);
	ck_assert_msg(strtoull(value->text, NULL, base) == want, "%s is %s, not %llx",
	              name, value->text, (unsigned long long)want);
}

/* The values of a node, in the form that opareport reads. */
static void assert_node(const struct xml_element *e, const struct node *n)
{
	ck_assert_str_eq(xml_child(e, "NodeDesc")->text, node_name(n));
	assert_value(e, "NodeGUID", n->guid, 16);
	assert_value(e, "NodeType_Int", n->type, 10);
	assert_value(e, "NumPorts", n->n_ports, 10);
	assert_value(e, "SystemImageGUID",
	             n->system_image_guid != 0 ? n->system_image_guid : n->guid, 16);
	assert_value(e, "PartitionCap", n->partition_cap, 10);
	assert_value(e, "DeviceID", n->device_id, 16);
	assert_value(e, "Revision", n->revision, 16);
	assert_value(e, "VendorID", n->vendor_id, 16);
}

/* Well-formed, each node and cable once, and the entries of all tables. */
START_TEST(snapshot_for_opareport)
{
	struct xml_element *root, *nodes;
	unsigned n = 0, entries = 0;

	setup_fabric(_i);
	const struct lids_in in = { .g = g };
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &lids, NULL, NULL), E_OK);
	g->nodes[0].name = "a<b>&c";
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct node *node = &g->nodes[i];

		node->system_image_guid = i % 2 ? 0x1000 + i : 0;
		node->partition_cap = (uint16_t)(2000 + i);
		node->device_id = (uint16_t)(0xa000 + i);
		node->revision = 0xfedc0000 + i;
		node->vendor_id = 0x001175 + i;
	}
	struct body text = text_of_form("opareport");
	ck_assert_int_eq(xml_parse("text", text.data, text.len, arena, &diags, &root), E_OK);
	ck_assert_str_eq(root->name, "Snapshot");
	ck_assert_ptr_nonnull(strstr(text.data, " unixtime=\"1795424400\" stats=\"0\""));
	nodes = xml_child(root, "Nodes");
	for (const struct xml_element *e = xml_child(nodes, "Node"); e != NULL;
	     e = xml_again(e), n++) {
		assert_node(e, &g->nodes[n]);
	}
	ck_assert_uint_eq(n, g->n_nodes);
	ck_assert_uint_eq(count(text.data, "<Link id="), g->n_links);
	ck_assert_uint_eq(count(text.data, "<PortInfo id="), 2 * g->n_links + g->n_switches);
	uint8_t *row = malloc(lids.top + 1);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		some_row(NULL, s, row);
		for (uint32_t lid = 1; lid <= lids.top; lid++) {
			entries += row[lid] != LFT_NO_ROUTE;
		}
	}
	ck_assert_uint_eq(count(text.data, "<Value LID="), entries);
	free(row);
	body_clear(&text);
	arena_free(arena);
}
END_TEST

/* --- Slurm ------------------------------------------------------------------------------- */

struct names {
	char name[HOSTS_MAX][64];
	unsigned n;
};

static void add_name(struct names *l, const char *prefix, size_t len, const char *rest)
{
	ck_assert_uint_lt(l->n, HOSTS_MAX);
	snprintf(l->name[l->n++], sizeof(l->name[0]), "%.*s%s", (int)len, prefix, rest);
}

/* Expands a host list as Slurm's manual describes it. */
static void expand(const char *text, struct names *l)
{
	while (*text != '\0' && *text != '\n') {
		size_t len = strcspn(text, "[,\n");
		const char *prefix = text;

		text += len;
		if (*text != '[') {
			add_name(l, prefix, len, "");
		}
		while (*text == '[' || (*text == ',' && text[-1] != ']' && len > 0 &&
		                        prefix[len] == '[')) {
			unsigned long from, to;
			int digits = (int)strcspn(++text, "-,]");

			from = to = strtoul(text, (char **)&text, 10);
			if (*text == '-') {
				to = strtoul(text + 1, (char **)&text, 10);
			}
			for (; from <= to; from++) {
				char number[32];

				snprintf(number, sizeof(number), "%0*lu", digits, from);
				add_name(l, prefix, len, number);
			}
			if (*text == ']') {
				text++;
				break;
			}
		}
		text += *text == ',';
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Adds what stands behind a word on each line. */
static void collect(const char *text, const char *word, struct names *l)
{
	l->n = 0;
	while ((text = strstr(text, word)) != NULL) {
		text += strlen(word);
		expand(text, l);
	}
	qsort(l->name, l->n, sizeof(l->name[0]), by_text);
}

START_TEST(slurm_has_each_host_once)
{
	static const char *const forms[][2] = { { "slurm-tree", " Nodes=" },
		                                { "slurm-block", " Nodes=" } };
	static struct names got, want;

	setup_fabric(_i);
	want.n = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];

		if (n->type == NODE_CA &&
		    g->ports[n->first_port + 1].peer != GRAPH_NONE) {
			add_name(&want, n->description, strcspn(n->description, " "), "");
		}
	}
	qsort(want.name, want.n, sizeof(want.name[0]), by_text);
	for (unsigned f = 0; f < 2; f++) {
		struct body text = text_of_form(forms[f][0]);

		collect(text.data, forms[f][1], &got);
		ck_assert_uint_eq(got.n, want.n);
		for (unsigned i = 0; i < got.n; i++) {
			ck_assert_str_eq(got.name[i], want.name[i]);
		}
		body_clear(&text);
	}
	arena_free(arena);
}
END_TEST

START_TEST(slurm_switches_have_one_parent)
{
	static struct names named, children;
	unsigned roots = 0;

	setup_fabric(_i);
	struct body text = text_of_form("slurm-tree");
	named.n = 0;
	for (const char *at = text.data; at != NULL && *at != '\0';
	     at = strchr(at, '\n') + 1) {
		ck_assert_int_eq(strncmp(at, "SwitchName=", 11), 0);
		add_name(&named, at + 11, strcspn(at + 11, " "), "");
	}
	qsort(named.name, named.n, sizeof(named.name[0]), by_text);
	collect(text.data, " Switches=", &children);
	for (unsigned i = 0; i < named.n; i++) {
		ck_assert(i == 0 || strcmp(named.name[i], named.name[i - 1]) != 0);
		bool child = bsearch(named.name[i], children.name, children.n,
		                     sizeof(children.name[0]), by_text) != NULL;
		roots += !child;
		ck_assert(child || strncmp(named.name[i], "fabric-", 7) == 0);
	}
	ck_assert_uint_eq(named.n, children.n + roots);
	body_clear(&text);
	arena_free(arena);
}
END_TEST

/* Names that Slurm cannot have, twice the same host, a switch named like a pod. */
START_TEST(slurm_and_odd_names)
{
	setup_fabric(0);
	uint32_t first = g->ports[g->hosts[0]].node, second = g->ports[g->hosts[1]].node;
	uint32_t third = g->ports[g->hosts[2]].node;

	g->nodes[first].name = "host;rm";
	g->nodes[second].name = "twin mlx5_0";
	g->nodes[third].name = "twin mlx5_1";
	g->nodes[g->switches[0]].name = "pod-0";
	g->nodes[g->switches[1]].name = "a b,c";
	struct body text = text_of_form("slurm-tree");
	ck_assert_ptr_nonnull(strstr(text.data, "# 1 host ports are left out"));
	ck_assert_msg(strstr(text.data, ";rm") == NULL, "%s", text.data);
	ck_assert_uint_eq(count(text.data, "twin"), 1);
	ck_assert_ptr_null(strstr(text.data, "SwitchName=pod-0 "));
	ck_assert_ptr_nonnull(strstr(text.data, "SwitchName=pod-0-"));
	ck_assert_ptr_nonnull(strstr(text.data, "SwitchName=a_b_c "));
	body_clear(&text);
	arena_free(arena);
}
END_TEST

/* Names with every character that a list has a use for, and twins. */
static const char *const odd_names[] = { "a,b",  "x;\"y\"", "#z",   " lead", "tail ", "twin",
	                                 "TWIN", "",        "0xff", "1",     "port", "tab\there" };

/* A list of cables is a plan without a difference. */
START_TEST(cables_are_read_back)
{
	struct cable_list list;
	struct graph *plan;
	struct cabling c;
	unsigned cabled = 0;

	setup_fabric(_i % N_FABRICS);
	for (uint32_t i = 0; _i >= N_FABRICS && i < g->n_nodes; i++) {
		g->nodes[i].name = odd_names[i % (sizeof(odd_names) / sizeof(*odd_names))];
	}
	struct body text = text_of_form("cables");
	ck_assert(cable_list_is(text.data, text.len));
	ck_assert_int_eq(
		cable_list_parse(text.data, text.len, "text", arena, &diags, &list), E_OK);
	ck_assert_uint_eq(list.n, g->n_links);
	ck_assert_int_eq(cable_list_plan(&list, "text", g, arena, &diags, &plan), E_OK);
	ck_assert_uint_eq(diags.n_warnings, 0);
	ck_assert_int_eq(cabling_compare(plan, g, arena, &c), E_OK);
	ck_assert_uint_eq(c.n_rows, 0);
	ck_assert_uint_eq(c.n_good, g->n_links);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		cabled += g->ports[i].peer != GRAPH_NONE;
	}
	ck_assert_uint_eq(cabled, 2 * list.n);
	body_clear(&text);
	arena_free(arena);
}
END_TEST

/* Hosts that are gone stand where they were: with them the file is as before they went. */
START_TEST(gone_hosts_stay)
{
	struct export_gone gone[3] = { { .type = NODE_SWITCH, .node_guid = 1 } };
	bool *away;
	unsigned n = 1;

	setup_fabric(_i);
	away = arena_array(arena, g->n_nodes, sizeof(*away));
	struct body before = text_of_form("slurm-tree"), now;
	for (uint32_t i = 0; i < g->n_nodes && n < 3; i++) {
		const struct port *p = &g->ports[g->nodes[i].first_port + 1];
		const struct port *at = &g->ports[p->peer];

		if (g->nodes[i].type == NODE_CA && (n == 1 || i % 3 == 2)) {
			away[i] = true;
			gone[n++] = (struct export_gone){ g->nodes[i].guid,
				                          p->guid,
				                          g->nodes[at->node].guid,
				                          1,
				                          at->num,
				                          NODE_CA,
				                          g->nodes[i].description };
		}
	}
	ck_assert_uint_eq(n, 3);
	g = fabric_without(g, away, NULL, arena);
	ck_assert_int_eq(topology_find(g, arena, &shape), E_OK);
	now = text_of_form("slurm-tree");
	ck_assert_str_ne(now.data, before.data);
	body_clear(&now);
	ck_assert_int_eq(export_with_gone(g, gone, n, arena, &g), E_OK);
	ck_assert_int_eq(topology_find(g, arena, &shape), E_OK);
	now = text_of_form("slurm-tree");
	ck_assert_str_eq(now.data, before.data);
	body_clear(&now);
	/* once more: their places have cables */
	uint32_t links = g->n_links;
	gone[1].node_guid = 3;
	gone[2].switch_guid = 5;
	ck_assert_int_eq(export_with_gone(g, gone, n, arena, &g), E_OK);
	ck_assert_uint_eq(g->n_links, links);
	body_clear(&before);
	arena_free(arena);
}
END_TEST

/* Two leaves of four hosts each. Some of the hosts of the second leaf are second adapters of those of the
 * first, and one of these may have lost its first cable. */
static const struct {
	unsigned shared;
	bool broken;
	const char *first,
		*second; /* hosts of each leaf in Slurm's tree; NULL: the leaf is not there */
} rails[] = {
	{ 4, false, "n[0-3]", NULL },
	{ 4, true, "n[0-3]", NULL },
	{ 3, false, "n[0-3],m3", NULL },
	/* of the three hosts that are left of one leaf, two are of the four of the other one */
	{ 3, true, "n[1-3]", "n0,m3" },
	/* two of four are not more than half; a host counts where its first cable is */
	{ 2, false, "n[0-3]", "m[2-3]" },
	{ 2, true, "n[1-3]", "n0,m[2-3]" },
	{ 0, false, "n[0-3]", "m[0-3]" },
};

static uint32_t add_node(enum node_type type, uint64_t guid, unsigned ports,
                         const char *description)
{
	uint32_t node;

	ck_assert_int_eq(graph_add_node(g, type, guid, ports, description, NULL, &node),
	                 E_OK);
	return node;
}

static void cable(uint32_t a, unsigned port_a, uint32_t b, unsigned port_b)
{
	uint32_t ends[2] = { graph_port(g, a, port_a), graph_port(g, b, port_b) };

	ck_assert_int_eq(graph_connect(g, ends[0], ends[1]), E_OK);
	for (unsigned i = 0; i < 2; i++) {
		g->ports[ends[i]].width = WIDTH_4X;
		g->ports[ends[i]].speed = SPEED_HDR;
	}
}

static void setup_rails(int which)
{
	char name[32];

	arena = arena_new();
	diags_init(&diags, arena);
	g = graph_new(arena);
	uint32_t spine = add_node(NODE_SWITCH, 0x300, 8, "spine");
	uint32_t leaf[2] = { add_node(NODE_SWITCH, 0x100, 8, "leaf-a"),
		             add_node(NODE_SWITCH, 0x200, 8, "leaf-b") };

	for (unsigned rail = 0; rail < 2; rail++) {
		cable(leaf[rail], 8, spine, rail + 1);
		for (unsigned h = 0; h < 4; h++) {
			bool second = rail == 1 && h < rails[which].shared;

			snprintf(name, sizeof(name), "%c%u mlx5_%u",
			         rail == 0 || second ? 'n' : 'm', h, rail);
			uint32_t host =
				add_node(NODE_CA, 0x1000 + 0x10 * h + rail, 1, name);

			if (rail == 1 || h > 0 || !rails[which].broken) {
				cable(leaf[rail], h + 1, host, 1);
			}
		}
	}
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	ck_assert_int_eq(topology_find(g, arena, &shape), E_OK);
}

/* The hosts that a form lists at a switch are these, in any order. */
static void check_hosts(const char *text, const char *before, const char *hosts)
{
	static struct names got, want;
	const char *line = strstr(text, before);

	if (hosts == NULL) {
		ck_assert_msg(line == NULL, "%s", text);
		return;
	}
	ck_assert_msg(line != NULL, "%s: %s", before, text);
	got.n = want.n = 0;
	expand(line + strlen(before), &got);
	expand(hosts, &want);
	qsort(got.name, got.n, sizeof(got.name[0]), by_text);
	qsort(want.name, want.n, sizeof(want.name[0]), by_text);
	ck_assert_msg(got.n == want.n, "%s", text);
	for (unsigned i = 0; i < got.n; i++) {
		ck_assert_str_eq(got.name[i], want.name[i]);
	}
}

START_TEST(slurm_joins_rails)
{
	setup_rails(_i);
	struct body tree = text_of_form("slurm-tree"),
		    block = text_of_form("slurm-block");

	check_hosts(tree.data, "SwitchName=leaf-a Nodes=", rails[_i].first);
	check_hosts(tree.data, "SwitchName=leaf-b Nodes=", rails[_i].second);
	check_hosts(block.data, "BlockName=leaf-a Nodes=", rails[_i].first);
	check_hosts(block.data, "BlockName=leaf-b Nodes=", rails[_i].second);
	/* no name of a leaf that is joined is left among the switches of another one */
	ck_assert_uint_eq(count(tree.data, "leaf-b") + count(tree.data, "leaf-[a-b]"),
	                  rails[_i].second != NULL ? 2 : 0);
	body_clear(&tree);
	body_clear(&block);
	arena_free(arena);
}
END_TEST

TEST_SUITE(export)
{
	TCase *t = tcase_create("export");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, topology_is_read_back, 0, N_FABRICS);
	tcase_add_loop_test(t, snapshot_for_opareport, 0, N_FABRICS);
	tcase_add_loop_test(t, tables_are_read_back, 0, N_FABRICS);
	tcase_add_loop_test(t, drawings_have_each_cable_once, 0, N_FABRICS);
	tcase_add_loop_test(t, slurm_has_each_host_once, 0, N_FABRICS);
	tcase_add_loop_test(t, slurm_switches_have_one_parent, 0, N_FABRICS);
	tcase_add_loop_test(t, cables_are_read_back, 0, 2 * N_FABRICS);
	tcase_add_loop_test(t, gone_hosts_stay, 0, N_FABRICS);
	tcase_add_test(t, slurm_and_odd_names);
	tcase_add_loop_test(t, slurm_joins_rails, 0, sizeof(rails) / sizeof(rails[0]));
	suite_add_tcase(suite, t);
}
