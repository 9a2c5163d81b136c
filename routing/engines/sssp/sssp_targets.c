/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* The destinations of sssp in the order in which they are routed. */
#include "routing/engines/sssp/sssp_targets.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/policy/guidfile.h"
#include "routing/engine.h"
#include "routing/engines/sssp/sssp_fill.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/spread/leaves.h"

enum { NAMED_MAX = 3 };

static void mark_group(const struct graph *g, const struct guid_file *f, const char *key,
                       enum sssp_group group, uint8_t *of, struct why *notes)
{
	unsigned named = 0;

	for (uint32_t i = 0; f && i < f->n; i++) {
		uint32_t port = graph_port_by_guid(g, f->records[i].guid);

		if (port != GRAPH_NONE && g->ports[port].num) {
			of[port] = of[port] == SSSP_OTHER ? (uint8_t)group : of[port];
		} else if (port == GRAPH_NONE && named++ < NAMED_MAX) {
			why_add(notes, "%s %s:%u: no end port has GUID 0x%016" PRIx64,
			        key, f->path, f->records[i].line, f->records[i].guid);
		}
	}
	if (named > NAMED_MAX) {
		why_add(notes, "%s %s: likewise %u more", key, f->path,
		        named - NAMED_MAX);
	}
}

uint8_t *sssp_groups(const struct sssp *in, struct why *notes, struct arena *a)
{
	const struct sssp_options *o = in->options;
	uint8_t *of = arena_array(a, in->g->n_ports, sizeof(*of));

	if (of) {
		memset(of, SSSP_OTHER, in->g->n_ports);
		mark_group(in->g, o ? o->cn : NULL, "cn_guid_file", SSSP_CN, of, notes);
		mark_group(in->g, o ? o->io : NULL, "io_guid_file", SSSP_IO, of, notes);
	}
	return of;
}

/* Switches with most hosts first, equal ones in an order that follows the cables. */
static uint32_t *by_hosts(const struct graph *g, struct arena *a)
{
	uint32_t *order = arena_array(a, g->n_switches, sizeof(*order)), *leaf;
	uint32_t fill[256] = { 0 }, sum = 0, n_leaves;

	if (!order || leaves_order(g, a, &leaf, &n_leaves) != E_OK) {
		return NULL;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		fill[g->host_first[s + 1] - g->host_first[s]]++;
	}
	for (unsigned h = 256; h-- > 0;) {
		uint32_t count = fill[h];

		fill[h] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n_leaves; i++) {
		uint32_t s = leaf[i];

		order[fill[g->host_first[s + 1] - g->host_first[s]]++] = s;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (g->host_first[s + 1] == g->host_first[s]) {
			order[fill[0]++] = s;
		}
	}
	return order;
}

static void add_port(struct sssp_targets *t, const struct sssp *in, uint32_t port,
                     uint8_t home_port, uint32_t offset)
{
	struct lid_range r = in->lids->of[port];

	if (r.base && offset >> r.lmc == 0) {
		t->home_port[t->n_lids] = home_port;
		t->lid[t->n_lids++] = r.base + offset;
	}
}

/* The LIDs of a group on one switch, in the order of its ports. */
static void add_target(struct sssp_targets *t, const struct sssp *in,
                       enum sssp_group group, uint32_t offset, uint32_t s,
                       const uint8_t *of)
{
	const struct graph *g = in->g;
	uint32_t before = t->n_lids;

	if (group == SSSP_SWITCH) {
		add_port(t, in, g->nodes[g->switches[s]].first_port, 0, offset);
	} else {
		for (uint32_t i = g->host_first[s]; i < g->host_first[s + 1]; i++) {
			uint32_t port = g->hosts[i];

			if (of[port] == group) {
				add_port(t, in, port, g->ports[g->ports[port].peer].num,
				         offset);
			}
		}
	}
	if (t->n_lids > before) {
		t->target[t->n++] = (struct sssp_target){ .sw = s,
			                                  .first = before,
			                                  .n = t->n_lids - before,
			                                  .group = group,
			                                  .offset = offset };
	}
}

uint32_t sssp_longest_range(const struct sssp *in)
{
	unsigned lmc = 0;

	for (uint32_t i = 0; i < in->g->n_end_ports; i++) {
		unsigned l = in->lids->of[in->g->end_ports[i]].lmc;

		lmc = l > lmc ? l : lmc;
	}
	return UINT32_C(1) << lmc;
}

int sssp_targets_init(struct sssp_targets *ret_targets, const struct sssp *in,
                      struct why *notes, struct arena *a)
{
	struct sssp_targets t = { .n = 0 };
	size_t n_lids = in->lids->count;
	uint8_t *of = sssp_groups(in, notes, a);
	uint32_t *order = by_hosts(in->g, a);
	unsigned n_groups = in->hosts_only ? SSSP_SWITCH : SSSP_COUNT;
	uint32_t n_parts = sssp_longest_range(in);

	t.lid = arena_array(a, n_lids, sizeof(*t.lid));
	t.home_port = arena_array(a, n_lids, sizeof(*t.home_port));
	t.target = arena_array(a, (size_t)in->g->n_switches * n_groups * n_parts,
	                       sizeof(*t.target));
	if (!of || !order || !t.lid || !t.home_port || !t.target) {
		return -ENOMEM;
	}
	for (unsigned k = 0; k < n_parts * n_groups; k++) {
		for (uint32_t i = 0; i < in->g->n_switches; i++) {
			add_target(&t, in, (enum sssp_group)(k % n_groups), k / n_groups,
			           order[i], of);
		}
	}
	*ret_targets = t;
	return E_OK;
}
