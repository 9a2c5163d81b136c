/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/lftfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/text/dumptext.h"
#include "routing/text/lftdump.h"

static const char *type_text(uint8_t type)
{
	switch (type) {
	case NODE_CA: return "Channel Adapter";
	case NODE_SWITCH: return "Switch";
	case NODE_ROUTER: return "Router";
	}
	return "?";
}

static const struct node *switch_node(const struct graph *g, uint32_t s)
{
	return &g->nodes[g->switches[s]];
}

static void write_header(const struct graph *g, const struct lids *lids, uint32_t s,
                         FILE *f)
{
	const struct node *n = switch_node(g, s);

	fprintf(f,
	        "Unicast lids [0-%" PRIu32 "] of switch Lid %" PRIu32
	        " guid 0x%016" PRIx64 " ('%s'):\n",
	        lids->top, lids->of[n->first_port].base, n->guid, node_name(n));
}

static unsigned write_row(const struct graph *g, const struct lids *lids,
                          const uint8_t *row, FILE *f)
{
	unsigned n = 0;

	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		uint32_t owner = lids->owner[lid];

		if (owner == GRAPH_NONE || row[lid] == LFT_NO_ROUTE) {
			continue;
		}
		fprintf(f, "0x%04" PRIx32 " %03u # %s portguid 0x%016" PRIx64 ": '%s'\n",
		        lid, row[lid], type_text(g->nodes[g->ports[owner].node].type),
		        g->ports[owner].guid, node_name(&g->nodes[g->ports[owner].node]));
		n++;
	}
	return n;
}

static int written(FILE *f)
{
	return fflush(f) == 0 && !ferror(f) ? E_OK : -EIO;
}

int lftfile_write_switch(const struct graph *g, const struct lids *lids, uint32_t sw,
                         const uint8_t *row, FILE *f)
{
	write_header(g, lids, sw, f);
	fprintf(f, "%u lids dumped\n", write_row(g, lids, row, f));
	return ferror(f) ? -EIO : E_OK;
}

int lftfile_write(const struct graph *g, const struct lids *lids, const struct lft *lft,
                  FILE *f)
{
	for (uint32_t s = 0; s < g->n_switches && !ferror(f); s++) {
		int ret = lftfile_write_switch(g, lids, s, lft_row(lft, s), f);

		if (ret != E_OK) {
			return ret;
		}
	}
	return written(f);
}

int lftfile_write_sl(const struct graph *g, const struct lids *lids,
                     const struct lanes *lanes, FILE *f)
{
	for (uint32_t s = 0; s < g->n_switches && !ferror(f); s++) {
		unsigned n = 0;

		write_header(g, lids, s, f);
		for (uint32_t lid = 1; lid <= lids->top; lid++) {
			if (lids->owner[lid] != GRAPH_NONE) {
				fprintf(f, "0x%04" PRIx32 " %u\n", lid,
				        lane_of(lanes, s, lid));
				n++;
			}
		}
		fprintf(f, "%u lids dumped\n", n);
	}
	return written(f);
}

/*
 * A dump held against a fabric. Problems are counted and reported by line, and the
 * reading goes on, so that all of them are seen at once.
 */
struct lft_mapping {
	const struct lft_dump *dump;
	const struct graph *g;
	struct diags *d;
	unsigned errors;
	uint32_t top;    /* highest LID */
	uint32_t max_lid; /* highest that there may be */
	uint32_t room;   /* highest that owner[] has */
	bool *seen;      /* [n_switches] */
	uint32_t *sw;    /* [n_tables] switch, GRAPH_NONE: refused */
	uint32_t *owner; /* [room + 1] by remark */
	bool is_sl;
};

static void complain(struct lft_mapping *r, unsigned line, const char *what,
                     uint64_t guid)
{
	r->errors++;
	diag_add(r->d, DIAG_ERROR, r->dump->path, line, "%s: 0x%016" PRIx64, what, guid);
}

static void find_switch(struct lft_mapping *r, uint32_t i)
{
	const struct lft_dump_table *t = &r->dump->tables[i];
	uint32_t node = graph_node_by_guid(r->g, t->guid);
	uint32_t s = node == GRAPH_NONE ? GRAPH_NONE : r->g->nodes[node].sw;

	r->sw[i] = GRAPH_NONE;
	if (s == GRAPH_NONE) {
		complain(r, t->line, "the fabric has no switch with this GUID", t->guid);
	} else if (r->seen[s]) {
		complain(r, t->line, "a second table for this switch", t->guid);
	} else {
		r->seen[s] = true;
		r->sw[i] = s;
	}
}

static void check_ports(struct lft_mapping *r, uint32_t i)
{
	const struct lft_dump_table *t = &r->dump->tables[i];
	unsigned n_ports = switch_node(r->g, r->sw[i])->n_ports;

	for (uint32_t lid = 1; lid < t->n; lid++) {
		if (t->value[lid] != LFT_NO_ROUTE && t->value[lid] > n_ports) {
			r->errors++;
			diag_add(r->d, DIAG_ERROR, r->dump->path, lft_dump_line(t, lid),
			         "LID 0x%04" PRIx32
			         " goes to port %u, the switch has no such port",
			         lid, t->value[lid]);
		}
	}
}

/* Ports that left the fabric own nothing here. */
static void find_owners(struct lft_mapping *r)
{
	const struct dump_lids *l = &r->dump->lids;

	for (uint32_t lid = 1; lid <= l->top; lid++) {
		r->owner[lid] = l->guid[lid] ? graph_port_by_guid(r->g, l->guid[lid])
		                             : GRAPH_NONE;
	}
	for (uint32_t i = 0; i < l->n_claims; i++) {
		const struct dump_claim *c = &l->claims[i];
		uint32_t port = graph_port_by_guid(r->g, c->guid);

		if (port == GRAPH_NONE || port == r->owner[c->lid]) {
			continue;
		}
		if (r->owner[c->lid] != GRAPH_NONE) {
			complain(
				r, c->line,
				"another switch's table gives this LID to another port GUID",
				c->guid);
		}
		r->owner[c->lid] = port;
	}
}

static int reader_run(struct lft_mapping *r, const struct lft_dump *dump,
                      const struct graph *g, bool is_sl, struct diags *d,
                      struct arena *tmp)
{
	uint32_t max_lid = r->max_lid;

	*r = (struct lft_mapping){ .dump = dump,
		                   .g = g,
		                   .d = d,
		                   .errors = dump->errors,
		                   .top = dump->lids.top,
		                   .max_lid = max_lid,
		                   .is_sl = is_sl };
	/* the LIDs of the file, and above them one for every port that it does not name */
	r->room = (uint64_t)r->top + g->n_end_ports < max_lid ? r->top + g->n_end_ports
	                                                      : max_lid;
	r->seen = arena_array(tmp, g->n_switches, sizeof(*r->seen));
	r->sw = arena_array(tmp, dump->n_tables, sizeof(*r->sw));
	r->owner = arena_array(tmp, (size_t)r->room + 1, sizeof(*r->owner));
	if (!r->seen || !r->sw || !r->owner) {
		return -ENOMEM;
	}
	memset(r->owner, 0xff, ((size_t)r->room + 1) * sizeof(*r->owner));
	for (uint32_t i = 0; i < dump->n_tables; i++) {
		find_switch(r, i);
		if (r->sw[i] != GRAPH_NONE && !is_sl) {
			check_ports(r, i);
		}
	}
	if (!is_sl) {
		find_owners(r);
	}
	return r->errors ? E_SYNTAX : E_OK;
}

static void warn_missing(const struct lft_mapping *r)
{
	for (uint32_t s = 0; s < r->g->n_switches; s++) {
		if (!r->seen[s]) {
			diag_add(r->d, DIAG_WARNING, r->dump->path, 0,
			         "no table for switch '%s' (GUID 0x%016" PRIx64 ")%s",
			         node_name(switch_node(r->g, s)),
			         switch_node(r->g, s)->guid,
			         r->is_sl ? "" : ": it has no routes");
		}
	}
}

/* LMC of a run of LIDs that belong to one port; the run must be an aligned power of two.
 */
static bool run_lmc(uint32_t base, uint32_t count, uint8_t *ret_lmc)
{
	unsigned lmc = (unsigned)__builtin_ctz(count);

	if (count != 1U << lmc || lmc > 7 || base & (count - 1)) {
		return false;
	}
	*ret_lmc = (uint8_t)lmc;
	return true;
}

/* Ranges of LIDs from the remarks: base is the lowest LID with the port's GUID. */
static void ranges_from_remarks(struct lft_mapping *r, struct lid_range *of)
{
	for (uint32_t lid = 1; lid <= r->top;) {
		uint32_t port = r->owner[lid], count = 1;
		uint8_t lmc;

		while (lid + count <= r->top && r->owner[lid + count] == port) {
			count++;
		}
		if (port != GRAPH_NONE) {
			if (of[port].base || !run_lmc(lid, count, &lmc)) {
				r->errors++;
				diag_add(r->d, DIAG_ERROR, r->dump->path, 0,
				         "LIDs %" PRIu32 "-%" PRIu32
				         " of port GUID 0x%016" PRIx64
				         " are not one aligned range",
				         lid, lid + count - 1, r->g->ports[port].guid);
			} else {
				of[port] = (struct lid_range){ .base = lid, .lmc = lmc };
			}
		}
		lid += count;
	}
}

/*
 * Ports that no table mentions: the LID in the graph when it is free, else one above all
 * others, where no table has a route, so that the proof reports them.
 */
static void ranges_for_rest(struct lft_mapping *r, struct lid_range *of)
{
	const struct graph *g = r->g;
	uint32_t free_lid = r->top;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		const struct port *p = &g->ports[g->end_ports[i]];
		uint32_t lid = p->lid;

		if (of[g->end_ports[i]].base) {
			continue;
		}
		if (!lid || lid > r->top || r->owner[lid] != GRAPH_NONE) {
			lid = ++free_lid;
			diag_add(
				r->d, DIAG_WARNING, r->dump->path, 0,
				"no table has a route to port %u of '%s' (port GUID 0x%016" PRIx64
				")",
				p->num, node_name(&g->nodes[p->node]), p->guid);
		}
		of[g->end_ports[i]] = (struct lid_range){ .base = lid };
		if (lid <= r->max_lid) {
			r->owner[lid] = g->end_ports[i];
		}
	}
	r->top = free_lid;
}

static int read_lids(struct lft_mapping *r, struct arena *a, struct lids *ret_lids)
{
	struct lids l = { 0 };

	l.of = arena_array(a, r->g->n_ports, sizeof(*l.of));
	if (!l.of) {
		return -ENOMEM;
	}
	ranges_from_remarks(r, l.of);
	if (r->errors) {
		return E_SYNTAX;
	}
	ranges_for_rest(r, l.of);
	l.top = r->top;
	if (l.top > r->max_lid) {
		diag_add(r->d, DIAG_ERROR, r->dump->path, 0,
		         "more than %" PRIu32 " LIDs are needed; raise unicast_lid_limit",
		         r->max_lid);
		return E_SYNTAX;
	}
	l.owner = arena_array(a, (size_t)l.top + 1, sizeof(*l.owner));
	if (!l.owner) {
		return -ENOMEM;
	}
	for (uint32_t lid = 0; lid <= l.top; lid++) {
		l.owner[lid] = r->owner[lid];
		l.count += r->owner[lid] != GRAPH_NONE;
	}
	*ret_lids = l;
	return E_OK;
}

static void copy_rows(const struct lft_mapping *r, uint8_t *rows, size_t stride)
{
	for (uint32_t i = 0; i < r->dump->n_tables; i++) {
		const struct lft_dump_table *t = &r->dump->tables[i];
		size_t n = t->n < stride ? t->n : stride;

		memcpy(rows + r->sw[i] * stride, t->value, n);
	}
}

int lftfile_read(const char *path, const struct graph *g, uint32_t max_lid,
                 struct arena *a, struct diags *d, struct lft *ret_lft,
                 struct lids *ret_lids)
{
	struct arena *tmp = arena_new();
	struct lids lids = { 0 };
	struct lft_dump dump;
	struct lft_mapping r = { .max_lid = max_lid ? max_lid : LID_LIMIT_DEFAULT };
	struct lft lft;
	int ret = tmp ? lft_dump_read(path, false, r.max_lid, tmp, d, &dump) : -ENOMEM;

	if (ret == E_OK) {
		ret = reader_run(&r, &dump, g, false, d, tmp);
	}
	if (ret == E_OK && ret_lids) {
		ret = read_lids(&r, a, &lids);
	}
	if (ret == E_OK) {
		warn_missing(&r);
		ret = lft_init(&lft, g->n_switches, r.top, a);
	}
	if (ret == E_OK) {
		copy_rows(&r, lft.rows, lft.stride);
		*ret_lft = lft;
		if (ret_lids) {
			*ret_lids = lids;
		}
	}
	arena_free(tmp);
	return ret;
}

int lftfile_read_sl(const char *path, const struct graph *g, const struct lft *lft,
                    struct arena *a, struct diags *d, struct lanes *ret_lanes)
{
	struct arena *tmp = arena_new();
	struct lanes lanes = { .stride = lft->stride };
	struct lft_dump dump;
	struct lft_mapping r = { .max_lid = lft->n_lids > LID_LIMIT_DEFAULT
		                                    ? lft->n_lids - 1
		                                    : LID_LIMIT_DEFAULT };
	int ret = -ENOMEM;

	lanes.rows = arena_array(a, lft->n_switches, lft->stride);
	if (!tmp || !lanes.rows) {
		goto out;
	}
	ret = lft_dump_read(path, true, r.max_lid, tmp, d, &dump);
	if (ret == E_OK) {
		ret = reader_run(&r, &dump, g, true, d, tmp);
	}
	if (ret == E_OK) {
		warn_missing(&r);
		copy_rows(&r, lanes.rows, lanes.stride);
		for (size_t i = 0; i < (size_t)lft->n_switches * lft->stride; i++) {
			uint8_t *lane = &lanes.rows[i];

			*lane = *lane == LFT_NO_ROUTE ? 0 : *lane; /* without an entry */
			lanes.n = *lane >= lanes.n ? (uint8_t)(*lane + 1) : lanes.n;
		}
		*ret_lanes = lanes;
	}
out:
	arena_free(tmp);
	return ret;
}
