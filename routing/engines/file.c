/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * file: forwarding tables that were computed elsewhere or saved.
 *
 * lfts_file holds forwarding tables. A LID of the file belongs to the port that the file's
 * comment names: if this port has other LIDs now, the entry moves to them. Ports and
 * switches that are no longer in the fabric are skipped. A LID that is not in the file is
 * routed as by minhop at every switch. A switch that is not in the file sends each LID to
 * the neighbour from which the tables of the others arrive with fewest hops
 * (routing/spread/reroute.h), because the port that minhop would take may form a loop with
 * tables that are not shortest paths. A missing entry for a LID that is in the file stays
 * empty. As for every engine, the proof shows whether everything is connected and free of
 * loops; if not, the next engine of the list is tried.
 *
 * lid_matrix_dump_file holds hops. They decide which ports lead closer
 * (routing/spread/matrix.h), and the LIDs are spread over these ports as by minhop.
 *
 * Both files are read with the configuration and refused there; every bad line is named.
 *
 * Difference from OpenSM: OpenSM clears the table of a switch that is not in the file. It
 * keeps a LID if the port of its comment is gone, so the routes of another port that has
 * this LID now are overwritten. It does not follow the comments of a hop matrix, and changes
 * to the next engine during the sweep if a file cannot be read. Without either file its
 * tables are those of minhop, as here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/spread/matrix.h"
#include "routing/spread/reroute.h"
#include "routing/spread/spread.h"
#include "routing/text/lftdump.h"
#include "routing/text/matrixfile.h"

enum { NAMED_MAX = 3 };

struct file_options {
	const struct lft_dump *lfts;
	const struct matrix_dump *hops;
};

struct file_tables {
	const struct graph *g;
	const struct lids *lids;
	const struct lft_dump *dump;
	struct why *notes;
	uint32_t *table; /* [n_switches] of each switch in dump->tables, GRAPH_NONE */
	uint32_t *lid;   /* [dump->lids.top + 1] LID now, 0: nobody's */
	bool *known;     /* [lids.top + 1] LIDs that some table has an entry for */
	uint32_t bad;    /* entries with a port that the switch does not have */
};

static const struct node *switch_node(const struct graph *g, uint32_t s)
{
	return &g->nodes[g->switches[s]];
}

/* ---- the file against the fabric ---- */

/* The LID that the owner of a LID of the file has now. */
static uint32_t lid_now(const struct file_tables *j, uint32_t lid)
{
	uint64_t guid = j->dump->lids.guid[lid];
	uint32_t port = guid ? graph_port_by_guid(j->g, guid) : GRAPH_NONE;
	struct lid_range r;

	if (!guid) {
		return lid <= j->lids->top ? lid : 0;
	}
	if (port == GRAPH_NONE) {
		return 0;
	}
	r = j->lids->of[port];
	if (!r.base || (lid >= r.base && lid - r.base < 1u << r.lmc)) {
		return r.base ? lid : 0;
	}
	return r.base + (lid & ((1u << r.lmc) - 1));
}

/* A port that the switch does not have, or more of them: not its table. */
static void check_ports(struct file_tables *j, uint32_t s)
{
	const struct lft_dump_table *t = &j->dump->tables[j->table[s]];

	for (uint32_t lid = 1; lid < t->n; lid++) {
		if (t->value[lid] != LFT_NO_ROUTE &&
		    t->value[lid] > switch_node(j->g, s)->n_ports) {
			if (j->bad++ < NAMED_MAX) {
				why_add(j->notes, "%s:%u: port %u, and switch %s has %u",
				        j->dump->path, lft_dump_line(t, lid),
				        t->value[lid], switch_text(j->g, j->lids, s).text,
				        switch_node(j->g, s)->n_ports);
			}
		}
	}
}

/*
 * Entries of one table, highest LID first, so that of several LIDs that have become one
 * the lowest counts. \param named  Whether to take LIDs with a remark; the others come
 * before them.
 */
static void take_entries(struct file_tables *j, uint32_t s, bool named, uint8_t *row)
{
	const struct lft_dump_table *t = &j->dump->tables[j->table[s]];

	for (uint32_t lid = t->n; lid-- > 1;) {
		uint32_t now = j->lid[lid];

		if (t->value[lid] == LFT_NO_ROUTE || !now ||
		    named != (j->dump->lids.guid[lid] != 0)) {
			continue;
		}
		row[now] = t->value[lid];
		j->known[now] = true;
	}
}

/* Returns E_UNSUITABLE when the file is of another fabric. */
static int take_tables(struct file_tables *j, const struct lft *lft)
{
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		if (j->table[s] != GRAPH_NONE) {
			check_ports(j, s);
			take_entries(j, s, false, lft_row(lft, s));
			take_entries(j, s, true, lft_row(lft, s));
		}
	}
	if (j->bad) {
		why_add(j->notes,
		        "%s: %" PRIu32
		        " entries with ports that do not exist: these are tables of other switches",
		        j->dump->path, j->bad);
	}
	return j->bad ? E_UNSUITABLE : E_OK;
}

/* ---- what the file leaves out ---- */

static uint32_t left_out(const struct file_tables *j, uint32_t *ret_first)
{
	uint32_t n = 0;

	for (uint32_t s = j->g->n_switches; s-- > 0;) {
		if (j->table[s] == GRAPH_NONE) {
			*ret_first = s;
			n++;
		}
	}
	return n;
}

static uint32_t unknown_lids(const struct file_tables *j, uint32_t *ret_first)
{
	uint32_t n = 0;

	for (uint32_t lid = j->lids->top; lid > 0; lid--) {
		if (!j->known[lid] && j->lids->owner[lid] != GRAPH_NONE) {
			*ret_first = lid;
			n++;
		}
	}
	return n;
}

/* LIDs that the file does not know, at every switch. */
static void fill_columns(const struct file_tables *j, const struct lft *from,
                         const struct lft *lft)
{
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		uint8_t *row = lft_row(lft, s);
		const uint8_t *other = lft_row(from, s);

		for (uint32_t lid = 1; lid <= j->lids->top; lid++) {
			if (!j->known[lid]) {
				row[lid] = other[lid];
			}
		}
	}
}

/* The other LIDs at the switches that the file leaves out. */
static int fill_rows(const struct file_tables *j, const struct lft *from,
                     const struct lft *lft, struct arena *tmp)
{
	bool *open = arena_array(tmp, j->g->n_switches, sizeof(*open));

	if (!open) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		open[s] = j->table[s] == GRAPH_NONE;
	}
	return reroute_switches(j->g, j->lids, open, j->known, from, lft);
}

/* Tables by the hops of a file, or by those of the cables. */
static int spread_tables(const struct route_in *in, const struct matrix_dump *dump,
                         struct why *notes, struct arena *tmp, struct lft *lft)
{
	struct matrix m;
	struct spread spread = { .g = in->g,
		                 .lids = in->lids,
		                 .hops = &m.hops,
		                 .prev = in->prev,
		                 .even = true,
		                 .cancel = in->cancel };
	int ret;

	if (dump) {
		ret = matrix_init(&m, dump, in->g, in->lids, tmp, notes);
		spread.closer = matrix_closer;
		spread.ctx = &m;
	} else {
		ret = hops_init(&m.hops, in->g, tmp);
		spread.closer = spread_shortest;
		spread.ctx = &m.hops;
	}
	if (ret == E_RANGE) {
		why_add(notes,
		        "file: two switches are more than %u hops apart, or there are more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		return E_UNSUITABLE;
	}
	return ret == E_OK ? spread_run(&spread, lft, tmp) : ret;
}

static int fill(struct file_tables *j, const struct route_in *in,
                const struct matrix_dump *hops, struct arena *tmp, const struct lft *lft)
{
	uint32_t sw = 0, lid = 0, n_sw = left_out(j, &sw), n_lids = unknown_lids(j, &lid);
	struct lft other;
	int ret;

	if (n_sw) {
		why_add(j->notes,
		        "%s: no table for %" PRIu32
		        " switches, the first %s: they follow the tables of the others",
		        j->dump->path, n_sw, switch_text(j->g, j->lids, sw).text);
	}
	if (n_lids) {
		const struct port *p = &j->g->ports[j->lids->owner[lid]];

		why_add(j->notes,
		        "%s: no entry for %" PRIu32 " LIDs, the first 0x%04" PRIx32
		        " of %s: filled as minhop does",
		        j->dump->path, n_lids, lid,
		        node_text(j->g, j->lids, p->node).text);
	}
	if (!n_sw && !n_lids) {
		return E_OK;
	}
	ret = lft_init(&other, lft->n_switches, in->lids->top, tmp);
	if (ret == E_OK) {
		ret = spread_tables(in, hops, j->notes, tmp, &other);
	}
	if (ret == E_OK) {
		fill_columns(j, &other, lft);
	}
	return ret == E_OK && n_sw ? fill_rows(j, &other, lft, tmp) : ret;
}

/* ---- the whole ---- */

static int load_tables(const struct route_in *in, const struct file_options *o,
                       struct why *notes, struct arena *tmp, const struct lft *lft)
{
	struct file_tables j = {
		.g = in->g, .lids = in->lids, .dump = o->lfts, .notes = notes
	};
	int ret;
	uint32_t unknown;

	j.table = arena_array(tmp, in->g->n_switches, sizeof(*j.table));
	j.lid = arena_array(tmp, (size_t)o->lfts->lids.top + 1, sizeof(*j.lid));
	j.known = arena_array(tmp, (size_t)in->lids->top + 1, sizeof(*j.known));
	if (!j.table || !j.lid || !j.known) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; lid <= o->lfts->lids.top; lid++) {
		j.lid[lid] = lid_now(&j, lid);
	}
	unknown = 0;
	memset(j.table, 0xff, j.g->n_switches * sizeof(*j.table));
	for (uint32_t i = 0; i < j.dump->n_tables; i++) {
		const struct lft_dump_table *t = &j.dump->tables[i];
		uint32_t node = graph_node_by_guid(j.g, t->guid);
		uint32_t s = node == GRAPH_NONE ? GRAPH_NONE : j.g->nodes[node].sw;

		unknown += s == GRAPH_NONE;
		if (s != GRAPH_NONE && j.table[s] != GRAPH_NONE) {
			why_add(j.notes,
			        "%s:%u: a second table for switch %s is not used",
			        j.dump->path, t->line, switch_text(j.g, j.lids, s).text);
		} else if (s != GRAPH_NONE) {
			j.table[s] = i;
		}
	}
	if (unknown) {
		why_add(j.notes,
		        "%s: %" PRIu32
		        " tables are for switches that the fabric does not have",
		        j.dump->path, unknown);
	}
	ret = take_tables(&j, lft);
	return ret == E_OK ? fill(&j, in, o->hops, tmp, lft) : ret;
}

static int file_route(const struct route_in *in, struct arena *a,
                      struct route_out *ret_out)
{
	static const struct file_options none = { NULL, NULL };
	const struct file_options *o = in->options ? in->options : &none;
	struct arena *tmp = arena_new();
	struct lft lft;
	int ret = -ENOMEM;

	if (!tmp || lft_init(&lft, in->g->n_switches, in->lids->top, a) != E_OK) {
		goto out;
	}
	if (!o->lfts && !o->hops) {
		why_add(&ret_out->notes,
		        "file: neither lfts_file nor lid_matrix_dump_file is given: routed as minhop does");
	}
	ret = o->lfts ? load_tables(in, o, &ret_out->notes, tmp, &lft)
	              : spread_tables(in, o->hops, &ret_out->notes, tmp, &lft);
	if (ret == E_OK) {
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
	}
out:
	arena_free(tmp);
	return ret;
}

/* ---- options ---- */

/* Remarks that contradict each other leave open whose LID it is. */
static unsigned report_claims(const char *path, const struct dump_lids *l,
                              struct diags *d)
{
	for (uint32_t i = 0; i < l->n_claims; i++) {
		diag_add(d, DIAG_ERROR, path, l->claims[i].line,
		         "LID 0x%04" PRIx32 " is of port GUID 0x%016" PRIx64
		         " here, and of 0x%016" PRIx64 " above",
		         l->claims[i].lid, l->claims[i].guid, l->guid[l->claims[i].lid]);
	}
	return l->n_claims;
}

static int read_lfts(const char *path, struct arena *a, struct diags *d,
                     const void **ret_value)
{
	struct lft_dump *dump = arena_alloc(a, sizeof(*dump));
	int ret = dump ? lft_dump_read(path, false, LID_LIMIT_MAX, a, d, dump) : -ENOMEM;

	if (ret == E_OK && dump->errors + report_claims(path, &dump->lids, d)) {
		ret = E_SYNTAX;
	}
	if (ret == E_OK) {
		*ret_value = dump;
	}
	return ret;
}

static int read_hops(const char *path, struct arena *a, struct diags *d,
                     const void **ret_value)
{
	struct matrix_dump *dump = arena_alloc(a, sizeof(*dump));
	int ret = dump ? matrix_dump_read(path, a, d, dump) : -ENOMEM;

	if (ret == E_OK && dump->errors + report_claims(path, &dump->lids, d)) {
		ret = E_SYNTAX;
	}
	if (ret == E_OK) {
		*ret_value = dump;
	}
	return ret;
}

/* clang-format off */
static const struct option_row file_options[] = {
	{ .name = "lfts_file", .type = OPT_FILE, .offset = offsetof(struct file_options, lfts),
	  .letter = 'U', .flags_long = "lfts_file", .arg = "FILE", .read = read_lfts,
	  .help = "Forwarding tables that the engine 'file' loads, as dump_lfts or opensm-lfts.dump have them" },
	{ .name = "lid_matrix_dump_file", .type = OPT_FILE, .offset = offsetof(struct file_options, hops),
	  .letter = 'M', .flags_long = "lid_matrix_file", .arg = "FILE", .read = read_hops,
	  .help = "Hops between switches that the engine 'file' loads, as opensm-lid-matrix.dump has them" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_file = {
	.name = "file",
	.summary = "Forwarding tables or hops from a file",
	.options = file_options,
	.opt_size = sizeof(struct file_options),
	.route = file_route,
};
