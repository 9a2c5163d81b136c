/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * pathusage, treepathusage: routes between FIs (channel adapters and routers) per port
 * that leads to another switch, those of base LIDs apart from alternates. portusage:
 * entries of the forwarding tables per port.
 */
#include <errno.h>
#include <stdio.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/cli/client.h"
#include "gateway/cli/report.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/graph/usage.h"
#include "routing/proof/paths.h"
#include "routing/spread/leaves.h"
#include "routing/spread/updown.h"

/* Routes over one directed link: all, base LIDs, the others. */
struct counts {
	uint32_t all, base;
};

struct sums {
	struct usage_sum all, base, other;
};

static void sums_add(struct sums *s, struct counts c)
{
	usage_add(&s->all, c.all);
	usage_add(&s->base, c.base);
	usage_add(&s->other, c.all - c.base);
}

static json_t *counts_json(struct counts c)
{
	return json_pack("{s:I, s:I, s:I}", "all", (json_int_t)c.all, "base",
	                 (json_int_t)c.base, "non_base", (json_int_t)c.all - c.base);
}

static json_t *sum_json(const struct usage_sum *s)
{
	return json_pack("{s:I, s:I, s:f, s:f, s:I, s:I}", "ports", (json_int_t)s->n,
	                 "total", (json_int_t)s->total, "average", usage_average(s),
	                 "deviation", usage_deviation(s), "min", (json_int_t)s->min, "max",
	                 (json_int_t)s->max);
}

static json_t *sums_json(const struct sums *s)
{
	return json_pack("{s:o, s:o, s:o}", "all", sum_json(&s->all), "base",
	                 sum_json(&s->base), "non_base", sum_json(&s->other));
}

/* --- pathusage and treepathusage ------------------------------------------------- */

/* The same cable in the other direction. */
static uint32_t reverse_of(const struct graph *g, uint32_t channel)
{
	const struct sw_link *l = &g->adj[channel];
	uint32_t i = g->adj_first[l->to];

	while (g->adj[i].port != l->to_port) {
		i++;
	}
	return i;
}

static struct counts load_of(const struct load *l, uint32_t channel)
{
	return (struct counts){ l->all[channel], l->base[channel] };
}

static json_t *port_json(const struct graph *g, uint32_t channel)
{
	const struct sw_link *l = &g->adj[channel];
	const struct node *to = &g->nodes[g->switches[l->to]];

	return json_pack("{s:i, s:o, s:o, s:i}", "port", l->port, "neighbor",
	                 text_json(node_name(to)), "neighbor_guid", guid_json(to->guid),
	                 "neighbor_port", l->to_port);
}

/* Which group a port belongs to: 0 and 1 are counted apart. */
enum group { GROUP_RECEIVED, GROUP_TRANSMITTED, GROUP_UP = 0, GROUP_DOWN = 1 };

struct walk {
	const struct report_in *in;
	struct load load;
	uint16_t *height; /* [n_switches] 0: has FIs; NULL: no tree is looked at */
	struct sums fabric[2];
};

static json_t *add_sums(json_t *o, const char *first, const char *second,
                        const struct sums s[2])
{
	json_object_set_new(o, first, sums_json(&s[0]));
	json_object_set_new(o, second, sums_json(&s[1]));
	return o;
}

static void add_to(struct walk *w, struct sums own[2], enum group i, struct counts c)
{
	sums_add(&own[i], c);
	sums_add(&w->fabric[i], c);
}

static json_t *path_switch(struct walk *w, uint32_t s)
{
	const struct graph *g = w->in->g;
	json_t *o = report_node(g, g->switches[s]), *ports = json_array();
	struct sums own[2] = { 0 };

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		struct counts received = load_of(&w->load, reverse_of(g, i));
		struct counts sent = load_of(&w->load, i);
		json_t *port = port_json(g, i);

		json_object_set_new(port, "received", counts_json(received));
		json_object_set_new(port, "transmitted", counts_json(sent));
		json_array_append_new(ports, port);
		add_to(w, own, GROUP_RECEIVED, received);
		add_to(w, own, GROUP_TRANSMITTED, sent);
	}
	json_object_set_new(o, "ports", ports);
	return add_sums(o, "received", "transmitted", own);
}

enum direction { LEVEL, UP, DOWN };

static const char *const direction_names[] = {
	[LEVEL] = "level", [UP] = "up", [DOWN] = "down"
};

static enum direction direction_of(const struct walk *w, uint32_t s, uint32_t channel)
{
	uint16_t here = w->height[s], there = w->height[w->in->g->adj[channel].to];

	return there > here ? UP : there < here ? DOWN : LEVEL;
}

static json_t *tree_switch(struct walk *w, uint32_t s)
{
	const struct graph *g = w->in->g;
	json_t *o = report_node(g, g->switches[s]), *ports = json_array();
	struct sums own[2] = { 0 };

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		struct counts sent = load_of(&w->load, i);
		enum direction direction = direction_of(w, s, i);
		json_t *port = port_json(g, i);

		json_object_set_new(port, "direction",
		                    json_string(direction_names[direction]));
		json_object_set_new(port, "paths", counts_json(sent));
		json_array_append_new(ports, port);
		if (direction != LEVEL) {
			add_to(w, own, direction == UP ? GROUP_UP : GROUP_DOWN, sent);
		}
	}
	json_object_set_new(o, "tier", w->height[s] == UPDOWN_RANK_NONE
	                                       ? json_null()
	                                       : json_integer(w->height[s] + 1));
	json_object_set_new(o, "ports", ports);
	return add_sums(o, "uplink", "downlink", own);
}

static int build_paths(const struct report_in *in, bool tree, json_t **ret_json)
{
	struct walk w = { .in = in };
	json_t *switches = json_array();
	int ret = load_build(in->g, in->lids, in->lft, in->arena, &w.load);

	if (ret == E_OK && tree) {
		ret = leaves_distances(in->g, in->arena, &w.height);
	}
	for (uint32_t s = 0; ret == E_OK && s < in->g->n_switches; s++) {
		json_array_append_new(switches, tree ? tree_switch(&w, s) : path_switch(&w, s));
	}
	if (ret != E_OK) {
		json_decref(switches);
		return ret;
	}
	*ret_json = json_pack("{s:s, s:o, s:o}", "report",
	                      tree ? report_tree_path_usage.name : report_path_usage.name,
	                      "switches", switches, "fabric",
	                      add_sums(json_object(), tree ? "uplink" : "received",
	                               tree ? "downlink" : "transmitted", w.fabric));
	return *ret_json ? E_OK : -ENOMEM;
}

static int build_path_usage(const struct report_in *in, json_t **ret_json, bool *ret_good)
{
	*ret_good = true;
	return build_paths(in, false, ret_json);
}

static int build_tree_path_usage(const struct report_in *in, json_t **ret_json,
                                 bool *ret_good)
{
	*ret_good = true;
	return build_paths(in, true, ret_json);
}

static void print_counts(const json_t *c)
{
	printf(" %10lld %10lld %10lld", member_int(c, "all"), member_int(c, "base"),
	       member_int(c, "non_base"));
}

static void print_sums(const char *title, const json_t *sums)
{
	static const char *const part[] = { "all", "base", "non_base" };
	static const char *const name[] = { "FI-All", "FI-Base", "FI-NonBase" };
	char line[64];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "%s %s", title, name[i]);
		const json_t *s = json_object_get(sums, part[i]);
		printf("    %-24s Total %lld  Avg %.1f  StdDev %.1f  Min %lld  Max %lld\n",
		       line, member_int(s, "total"),
		       json_number_value(json_object_get(s, "average")),
		       json_number_value(json_object_get(s, "deviation")),
		       member_int(s, "min"), member_int(s, "max"));
	}
}

static void print_switch_head(const json_t *sw)
{
	printf("%s %s %s", member_text(sw, "guid"), member_text(sw, "type"),
	       member_text(sw, "name"));
}

static void print_path_usage(const json_t *r)
{
	size_t i, k;
	json_t *sw, *port;

	printf("Path Usage\n");
	json_array_foreach(json_object_get(r, "switches"), i, sw)
	{
		print_switch_head(sw);
		printf("\n  Port Rcv: FI-All    FI-Base FI-NonBase Xmt: FI-All    FI-Base FI-NonBase\n");
		json_array_foreach(json_object_get(sw, "ports"), k, port)
		{
			printf("  %4lld", member_int(port, "port"));
			print_counts(json_object_get(port, "received"));
			print_counts(json_object_get(port, "transmitted"));
			printf("\n");
		}
		print_sums("Rcv", json_object_get(sw, "received"));
		print_sums("Xmt", json_object_get(sw, "transmitted"));
	}
	printf("Fabric\n");
	print_sums("Rcv", json_object_get(json_object_get(r, "fabric"), "received"));
	print_sums("Xmt", json_object_get(json_object_get(r, "fabric"), "transmitted"));
}

static void print_tree_path_usage(const json_t *r)
{
	size_t i, k;
	json_t *sw, *port;

	printf("Tree Path Usage\n");
	json_array_foreach(json_object_get(r, "switches"), i, sw)
	{
		const json_t *up = json_object_get(json_object_get(sw, "uplink"), "all");
		const json_t *down = json_object_get(json_object_get(sw, "downlink"), "all");

		print_switch_head(sw);
		printf("  Tier %lld\n  Port Direction     FI-All    FI-Base FI-NonBase\n",
		       member_int(sw, "tier"));
		json_array_foreach(json_object_get(sw, "ports"), k, port)
		{
			printf("  %4lld %-9s", member_int(port, "port"),
			       member_text(port, "direction"));
			print_counts(json_object_get(port, "paths"));
			printf("\n");
		}
		printf("  %lld Uplink Port(s) %lld Downlink Port(s)\n",
		       member_int(up, "ports"), member_int(down, "ports"));
		print_sums("Uplink", json_object_get(sw, "uplink"));
		print_sums("Downlink", json_object_get(sw, "downlink"));
	}
	printf("Fabric\n");
	print_sums("Uplink", json_object_get(json_object_get(r, "fabric"), "uplink"));
	print_sums("Downlink", json_object_get(json_object_get(r, "fabric"), "downlink"));
}

const struct report report_path_usage = {
	.name = "pathusage",
	.help = "routes between FIs per port towards another switch, received and sent",
	.build = build_path_usage,
	.print = print_path_usage,
};

const struct report report_tree_path_usage = {
	.name = "treepathusage",
	.help = "the same by tier of a tree, uplinks apart from downlinks",
	.build = build_tree_path_usage,
	.print = print_tree_path_usage,
};

/* --- portusage -------------------------------------------------------------------- */

static int build_port_usage(const struct report_in *in, json_t **ret_json, bool *ret_good)
{
	const struct graph *g = in->g;
	struct port_usage *u;
	int ret = usage_ports(g, in->lids, in->lft, in->arena, &u);

	if (ret != E_OK) {
		return ret;
	}
	json_t *switches = json_array();

	for (uint32_t s = 0; s < g->n_switches; s++) {
		json_t *o = report_node(g, g->switches[s]), *ports = json_array();

		for (unsigned num = 0; num <= g->nodes[g->switches[s]].n_ports; num++) {
			const struct port_usage *x =
				&u[(size_t)s * (g->max_port + 1U) + num];

			json_array_append_new(
				ports, json_pack("{s:i, s:I, s:I, s:I, s:I}", "port",
			                         (int)num, "total", (json_int_t)x->total,
			                         "fi_all", (json_int_t)x->host_all,
			                         "fi_base", (json_int_t)x->host_base,
			                         "switch", (json_int_t)x->sw));
		}
		json_object_set_new(o, "ports", ports);
		json_array_append_new(switches, o);
	}
	*ret_good = true;
	*ret_json = json_pack("{s:s, s:o}", "report", report_port_usage.name, "switches",
	                      switches);
	return *ret_json ? E_OK : -ENOMEM;
}

static void print_port_usage(const json_t *r)
{
	size_t i, k;
	json_t *sw, *port;

	printf("Port Usage\n");
	json_array_foreach(json_object_get(r, "switches"), i, sw)
	{
		print_switch_head(sw);
		printf("\n  Port      Total     FI-All    FI-Base     Switch\n");
		json_array_foreach(json_object_get(sw, "ports"), k, port)
		{
			printf("  %4lld %10lld %10lld %10lld %10lld\n",
			       member_int(port, "port"), member_int(port, "total"),
			       member_int(port, "fi_all"), member_int(port, "fi_base"),
			       member_int(port, "switch"));
		}
	}
}

const struct report report_port_usage = {
	.name = "portusage",
	.help = "entries of the forwarding tables per port",
	.build = build_port_usage,
	.print = print_port_usage,
};
