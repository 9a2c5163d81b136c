/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/lftfile.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/diag.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/lids.h"

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
	        lids->top, lids->of[n->first_port].base, n->guid, n->description);
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
		        g->ports[owner].guid, g->nodes[g->ports[owner].node].description);
		n++;
	}
	return n;
}

static int written(FILE *f)
{
	return fflush(f) == 0 && !ferror(f) ? E_OK : -EIO;
}

int lftfile_write(const struct graph *g, const struct lids *lids, const struct lft *lft,
                  FILE *f)
{
	for (uint32_t s = 0; s < g->n_switches && !ferror(f); s++) {
		write_header(g, lids, s, f);
		fprintf(f, "%u lids dumped\n", write_row(g, lids, lft_row(lft, s), f));
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

/* One entry line. */
struct entry {
	uint32_t lid;
	uint32_t value;    /* port or SL */
	uint64_t portguid; /* 0: no remark */
};

/*
 * Reader of both kinds of file. Tables grow by the highest LID, so the lines are read
 * twice: once to find it and the LIDs' owners, once to store.
 */
struct reader {
	const char *path;
	const struct graph *g;
	struct diags *d;
	unsigned line;
	unsigned errors;
	uint32_t sw;  /* present switch, GRAPH_NONE: before the first header or unknown */
	uint32_t top; /* highest LID */
	bool *seen;   /* [n_switches] */
	uint32_t *owner; /* [UNICAST_TOP + 1] by remark */
	uint8_t *rows;   /* NULL in the first reading */
	size_t stride;
	bool is_sl;
};

enum { UNICAST_TOP = 0xbfff, SL_MAX = 15 };

static void complain(struct reader *r, const char *what, const char *line)
{
	r->errors++;
	diag_add(r->d, DIAG_ERROR, r->path, r->line, "%s: '%.60s'", what, line);
}

/* GUID after a word of the line, 0: none. */
static uint64_t guid_after(const char *line, const char *word)
{
	const char *p = strstr(line, word);

	return p ? strtoull(p + strlen(word), NULL, 16) : 0;
}

static void read_header(struct reader *r, const char *line)
{
	uint64_t guid = guid_after(line, " guid 0x");
	uint32_t node = guid ? graph_node_by_guid(r->g, guid) : GRAPH_NONE;

	r->sw = GRAPH_NONE;
	if (!guid) {
		complain(r, "header without ' guid 0x...'", line);
	} else if (node == GRAPH_NONE || r->g->nodes[node].sw == GRAPH_NONE) {
		complain(r, "the fabric has no switch with this GUID", line);
	} else if (r->seen[r->g->nodes[node].sw] && !r->rows) {
		complain(r, "a second table for this switch", line);
	} else {
		r->sw = r->g->nodes[node].sw;
		r->seen[r->sw] = true;
	}
}

/* "0xLID VALUE [# ... portguid 0xGUID...]" */
static bool parse_entry(const char *line, struct entry *e)
{
	char *end;
	unsigned long lid = strtoul(line, &end, 16), value;

	if (end == line || !isblank((unsigned char)*end) || lid > UINT32_MAX) {
		return false;
	}
	while (isblank((unsigned char)*end)) {
		end++;
	}
	if (!isdigit((unsigned char)*end)) {
		return false;
	}
	value = strtoul(end, &end, 10);
	if ((*end && !isspace((unsigned char)*end)) || value > UINT8_MAX) {
		return false;
	}
	*e = (struct entry){ .lid = (uint32_t)lid,
		             .value = (uint32_t)value,
		             .portguid = guid_after(end, " portguid 0x") };
	return true;
}

/* Notes who owns a LID; two owners are an error. */
static void note_owner(struct reader *r, const struct entry *e, const char *line)
{
	uint32_t port = e->portguid ? graph_port_by_guid(r->g, e->portguid) : GRAPH_NONE;

	if (port == GRAPH_NONE) {
		return; /* no remark, or a port that left the fabric: nobody's LID here */
	}
	if (r->owner[e->lid] != GRAPH_NONE && r->owner[e->lid] != port) {
		complain(r, "another switch's table gives this LID to another port GUID",
		         line);
	}
	r->owner[e->lid] = port;
}

static void read_entry(struct reader *r, const char *line)
{
	struct entry e;

	if (!parse_entry(line, &e)) {
		complain(r,
		         r->is_sl ? "expected '0xLID SL'" : "expected '0xLID PORT # ...'",
		         line);
	} else if (e.lid == 0 || e.lid > UNICAST_TOP) {
		complain(r, "not a unicast LID", line);
	} else if (r->is_sl && e.value > SL_MAX) {
		complain(r, "an SL is 0 to 15", line);
	} else if (!r->is_sl && e.value != LFT_NO_ROUTE &&
	           e.value > switch_node(r->g, r->sw)->n_ports) {
		complain(r, "the switch has no such port", line);
	} else if (r->rows) {
		if (e.lid < r->stride) {
			r->rows[(size_t)r->sw * r->stride + e.lid] = (uint8_t)e.value;
		}
	} else {
		r->top = e.lid > r->top ? e.lid : r->top;
		note_owner(r, &e, line);
	}
}

static void read_line(struct reader *r, const char *line)
{
	r->line++;
	if (strncmp(line, "Unicast lids", 12) == 0) {
		read_header(r, line);
	} else if (strncmp(line, "Multicast mlids", 15) == 0) {
		complain(r, "this is a dump of multicast tables", line);
	} else if (strncmp(line, "0x", 2) == 0 && r->sw != GRAPH_NONE) {
		read_entry(r, line);
	} else if (strncmp(line, "0x", 2) == 0 && r->line && !r->errors) {
		complain(r, "entry before any 'Unicast lids' header", line);
	}
}

static int read_all(struct reader *r)
{
	FILE *f = fopen(r->path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int ret = E_OK;

	if (!f) {
		ret = -errno;
		diag_add(r->d, DIAG_ERROR, r->path, 0, "cannot be opened: %s",
		         strerror(-ret));
		return ret;
	}
	r->line = 0;
	r->sw = GRAPH_NONE;
	while ((len = getline(&line, &cap, f)) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		read_line(r, line);
	}
	if (ferror(f)) {
		ret = -EIO;
		diag_add(r->d, DIAG_ERROR, r->path, 0, "cannot be read");
	}
	free(line);
	fclose(f);
	return r->errors ? E_SYNTAX : ret;
}

static int reader_init(struct reader *r, const char *path, const struct graph *g,
                       bool is_sl, struct diags *d, struct arena *tmp)
{
	*r = (struct reader){ .path = path, .g = g, .d = d, .is_sl = is_sl };
	r->seen = arena_array(tmp, g->n_switches, sizeof(*r->seen));
	r->owner = arena_array(tmp, (size_t)UNICAST_TOP + 1, sizeof(*r->owner));
	if (!r->seen || !r->owner) {
		return -ENOMEM;
	}
	memset(r->owner, 0xff, ((size_t)UNICAST_TOP + 1) * sizeof(*r->owner));
	return E_OK;
}

static void warn_missing(const struct reader *r)
{
	bool any = false;

	for (uint32_t s = 0; s < r->g->n_switches; s++) {
		any |= r->seen[s];
		if (!r->seen[s]) {
			diag_add(r->d, DIAG_WARNING, r->path, 0,
			         "no table for switch '%s' (GUID 0x%016" PRIx64 ")%s",
			         switch_node(r->g, s)->description,
			         switch_node(r->g, s)->guid,
			         r->is_sl ? "" : ": it has no routes");
		}
	}
	if (!any) {
		diag_add(r->d, DIAG_WARNING, r->path, 0,
		         "no 'Unicast lids' header at all");
	}
}

/* LMC of a run of LIDs that belong to one port; the run must be an aligned power of two.
 */
static bool run_lmc(uint32_t base, uint32_t count, uint8_t *ret)
{
	unsigned lmc = (unsigned)__builtin_ctz(count);

	if (count != 1U << lmc || lmc > 7 || base & (count - 1)) {
		return false;
	}
	*ret = (uint8_t)lmc;
	return true;
}

/* Ranges of LIDs from the remarks: base is the lowest LID with the port's GUID. */
static void ranges_from_remarks(struct reader *r, struct lid_range *of)
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
				diag_add(r->d, DIAG_ERROR, r->path, 0,
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
static void ranges_for_rest(struct reader *r, struct lid_range *of)
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
			diag_add(r->d, DIAG_WARNING, r->path, 0,
			         "no table has a route to port %u of '%s' (port GUID "
			         "0x%016" PRIx64 ")",
			         p->num, g->nodes[p->node].description, p->guid);
		}
		of[g->end_ports[i]] = (struct lid_range){ .base = lid };
		if (lid <= UNICAST_TOP) {
			r->owner[lid] = g->end_ports[i];
		}
	}
	r->top = free_lid;
}

static int read_lids(struct reader *r, struct arena *a, struct lids *ret)
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
	if (l.top > UNICAST_TOP) {
		diag_add(r->d, DIAG_ERROR, r->path, 0, "more than %u LIDs are needed",
		         UNICAST_TOP);
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
	*ret = l;
	return E_OK;
}

int lftfile_read(const char *path, const struct graph *g, struct arena *a,
                 struct diags *d, struct lft *ret, struct lids *ret_lids)
{
	struct arena *tmp = arena_new();
	struct lids lids = { 0 };
	struct reader r;
	struct lft lft;
	int ret_code = -ENOMEM;

	if (!tmp || reader_init(&r, path, g, false, d, tmp) != E_OK) {
		goto out;
	}
	ret_code = read_all(&r);
	if (ret_code == E_OK && ret_lids) {
		ret_code = read_lids(&r, a, &lids);
	}
	if (ret_code == E_OK) {
		warn_missing(&r);
		ret_code = lft_init(&lft, g->n_switches, r.top, a);
	}
	if (ret_code == E_OK) {
		r.rows = lft.rows;
		r.stride = lft.stride;
		ret_code = read_all(&r);
	}
	if (ret_code == E_OK) {
		*ret = lft;
		if (ret_lids) {
			*ret_lids = lids;
		}
	}
out:
	arena_free(tmp);
	return ret_code;
}

static uint8_t count_lanes(const struct lanes *l, size_t cells)
{
	uint8_t top = 0;

	for (size_t i = 0; i < cells; i++) {
		top = l->rows[i] > top ? l->rows[i] : top;
	}
	return (uint8_t)(top + 1);
}

int lftfile_read_sl(const char *path, const struct graph *g, const struct lft *lft,
                    struct arena *a, struct diags *d, struct lanes *ret)
{
	struct arena *tmp = arena_new();
	struct lanes lanes = { .stride = lft->stride };
	struct reader r;
	int ret_code = -ENOMEM;

	lanes.rows = arena_array(a, lft->n_switches, lft->stride);
	if (!tmp || !lanes.rows || reader_init(&r, path, g, true, d, tmp) != E_OK) {
		goto out;
	}
	ret_code = read_all(&r);
	if (ret_code == E_OK) {
		warn_missing(&r);
		r.rows = lanes.rows;
		r.stride = lanes.stride;
		ret_code = read_all(&r);
	}
	if (ret_code == E_OK) {
		lanes.n = count_lanes(&lanes, (size_t)lft->n_switches * lft->stride);
		*ret = lanes;
	}
out:
	arena_free(tmp);
	return ret_code;
}
