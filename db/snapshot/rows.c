/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* The rows of the snapshot's tables, made from the results of a sweep: emit_NAME() for each
 * line ROWS(..., NAME, ...) of SNAP_TABLES. Longer than most: it has a function for each table,
 * and most of these share the helpers for rates, ends and sorted names. */
#include "db/snapshot/rows.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"
#include "conf/policy/prefix_routes.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/snapshot.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

_Static_assert(sizeof(struct path_row) * PATHS_PER_CHUNK == CHUNK_BYTES,
               "chunk of paths");
_Static_assert(sizeof(struct snap_end) * LIDS_PER_ROW == CHUNK_BYTES &&
                       offsetof(struct snap_end, base_lid) == 32 &&
                       offsetof(struct snap_end, rate) == 45 &&
                       offsetof(struct snap_end, p_key_set) == 46,
               "snap_end is stored as it is");

/* Rate codes by width and speed, because a call of link_rate() for each port takes longer. */
enum { WIDTHS = WIDTH_2X + 1, ATTR_KEY = 10 };

/* Rate of a cabled port: that of the slower end; of port 0 its own. */
static void fill_rates(const struct graph *g, uint8_t *rate)
{
	uint8_t code[WIDTHS][SPEED_COUNT];
	for (unsigned w = 0; w < WIDTHS; w++) {
		for (unsigned c = 0; c < SPEED_COUNT; c++) {
			code[w][c] = link_rate((uint8_t)w, (uint8_t)c);
		}
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		bool known = p->width < WIDTHS && p->speed < SPEED_COUNT;
		uint8_t own = known ? code[p->width][p->speed] : 0;
		if (p->peer == GRAPH_NONE) {
			rate[i] = p->num == 0 ? own : 0;
			continue;
		}
		const struct port *q = &g->ports[p->peer];
		rate[i] = own;
		if (q->width != p->width || q->speed != p->speed) {
			uint8_t other = link_rate(q->width, q->speed);
			rate[i] = rate_speed(other) < rate_speed(own) ? other : own;
		}
	}
}

static void set_chunks(struct rows *r, uint32_t n_sources)
{
	const struct paths *p = &r->c->route->paths;
	const struct lft *lft = &r->c->route->out.lft;
	size_t row_bytes = (size_t)p->n_lids * sizeof(struct path_row);
	r->lft = (struct chunk_rows){
		.guid = r->switch_guid,
		.base = lft->rows,
		.stride = lft->stride,
		.row_bytes = lft->n_lids,
		.n_rows = lft->rows ? lft->n_switches : 0,
		.none = LFT_NO_ROUTE,
	};
	r->paths = (struct chunk_rows){
		.guid = r->source_guid,
		.base = (const uint8_t *)p->rows,
		.stride = row_bytes,
		.row_bytes = row_bytes,
		.n_rows = n_sources,
		.none = 0,
	};
	const struct alternates *x = &r->c->route->alternates;
	r->alternates = (struct chunk_rows){
		.guid = r->switch_guid,
		.base = x->rows,
		.stride = x->stride,
		.row_bytes = lft->n_lids,
		.n_rows = x->rows ? lft->n_switches : 0,
		.none = PORT_GROUP_NONE,
	};
}

/* Chunks of rows without a LID that changed. */
static int mark_chunks(struct rows *r, struct chunk_rows *rows, uint32_t per_chunk)
{
	const struct snap_content *c = r->c;
	size_t row_bytes = rows->row_bytes;
	uint32_t n = (uint32_t)((row_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES) + 1;
	uint8_t *same = c->changed_lid ? arena_alloc(r->a, n) : NULL;
	if (!c->changed_lid) {
		return E_OK;
	}
	if (!same) {
		return -ENOMEM;
	}
	memset(same, 1, n);
	for (uint32_t i = 0; i < c->n_changed_lids; i++) {
		if (c->changed_lid[i] / per_chunk < n) {
			same[c->changed_lid[i] / per_chunk] = 0;
		}
	}
	rows->same = same;
	return E_OK;
}

static void mark_lid(uint8_t *marked, const struct lids *l, uint32_t lid, unsigned lmc)
{
	uint32_t last = lid + (UINT32_C(1) << (lmc & 7)) - 1;
	for (uint32_t at = lid; lid != 0 && at <= last && at <= l->top; at++) {
		marked[at / LIDS_PER_ROW] = 1;
	}
}

/* LIDs that a node had when it was published last. */
static void mark_stored(struct rows *r, struct db_txn *t, uint64_t guid, uint8_t *marked)
{
	struct row_port p;
	struct db_val v;
	uint8_t key[8];
	key_u64(key, guid);
	if (db_find(t, SNAP_PORTS, key, sizeof(key), &v) != E_OK) {
		return;
	}
	for (size_t i = 0; (i + 1) * sizeof(p) <= v.len; i++) {
		memcpy(&p, v.data + i * sizeof(p), sizeof(p));
		mark_lid(marked, r->c->lids, p.lid, p.lmc);
	}
}

/* Rows of `lids` with a LID that a node has or had which changed. The others are as they
 * were if the sets of P_Keys and the sources of paths have the same numbers. */
static int mark_lid_rows(struct rows *r, struct db_txn *t)
{
	const struct snap_content *c = r->c;
	uint8_t *marked = arena_alloc(r->a, c->lids->top / LIDS_PER_ROW + 1);
	if (!marked) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < c->n_changed; i++) {
		const struct node *n = &c->g->nodes[c->changed[i]];
		for (uint32_t p = n->first_port; p <= n->first_port + n->n_ports; p++) {
			mark_lid(marked, c->lids, c->lids->of[p].base,
			         c->lids->of[p].lmc);
		}
		mark_stored(r, t, n->guid, marked);
	}
	for (size_t i = 0; i < c->n_gone; i++) {
		mark_stored(r, t, c->gone[i], marked);
	}
	r->lid_rows = marked;
	return E_OK;
}

/* The stored rows that stay where only some nodes changed. */
static int init_changed(struct rows *r, struct db *db)
{
	struct db_txn t;
	int ret = db_begin(&t, db, false);
	if (ret != E_OK) {
		return ret;
	}
	ret = key_sets_init_changed(&r->keys, r->c, &t, r->a);
	/* with changed_lid the sources of paths and the highest LID are as they were */
	if (ret == E_OK && r->keys.same && r->c->changed_lid) {
		ret = mark_lid_rows(r, &t);
	}
	db_abort(&t);
	return ret;
}

int rows_init(struct rows *r, const struct snap_content *c, struct db *db)
{
	const struct graph *g = c->g;
	const struct paths *p = &c->route->paths;
	uint32_t n_sources = p->rows ? p->n_sources : 0;
	memset(r, 0, sizeof(*r));
	r->c = c;
	r->a = arena_new();
	if (!r->a) {
		return -ENOMEM;
	}
	if (c->only_ports) { /* their rows need no more than this */
		r->rate = arena_array(r->a, g->n_ports, 1);
		if (!r->rate) {
			return -ENOMEM;
		}
		fill_rates(g, r->rate);
		return E_OK;
	}
	r->sw_row = arena_array(r->a, g->n_switches, sizeof(uint32_t));
	r->switch_guid = arena_array(r->a, g->n_switches, sizeof(uint64_t));
	r->source_guid = arena_array(r->a, n_sources, sizeof(uint64_t));
	r->rate = arena_array(r->a, g->n_ports, 1);
	if (!r->sw_row || !r->switch_guid || !r->source_guid || !r->rate) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		r->switch_guid[s] = g->nodes[g->switches[s]].guid;
		r->sw_row[s] = UINT32_MAX;
	}
	for (uint32_t i = 0; i < n_sources; i++) {
		r->source_guid[i] = r->switch_guid[p->source[i]];
		r->sw_row[p->source[i]] = i;
	}
	fill_rates(g, r->rate);
	set_chunks(r, n_sources);
	int ret = mark_chunks(r, &r->lft, LFT_PER_CHUNK);
	if (ret == E_OK) {
		ret = mark_chunks(r, &r->paths, PATHS_PER_CHUNK);
	}
	if (ret != E_OK) {
		return ret;
	}
	return c->changed ? init_changed(r, db) : key_sets_init(&r->keys, c, r->a);
}

void rows_done(struct rows *r)
{
	arena_free(r->a);
	memset(r, 0, sizeof(*r));
}

static uint8_t port_mtu(const struct graph *g, const struct port *p)
{
	if (p->peer == GRAPH_NONE || g->ports[p->peer].mtu > p->mtu) {
		return p->mtu;
	}
	return g->ports[p->peer].mtu;
}

static uint32_t node_lid(const struct snap_content *c, const struct node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		uint32_t base = c->lids->of[n->first_port + i].base;
		if (base) {
			return base;
		}
	}
	return 0;
}

enum { NAME_BYTES = 64 }; /* of a description and of an operator's name */

static size_t name_len(const char *text)
{
	return text ? strnlen(text, NAME_BYTES) : 0;
}

/* Rows by NodeGUID: of all nodes, or of those that changed. The latter are in the order
 * of GUIDs, too, as the history wants them. */
static void emit_by_node(const struct rows *r, struct diff *d,
                         void (*emit)(const struct rows *r, uint32_t node,
                                      struct diff *d))
{
	const struct snap_content *c = r->c;
	uint8_t key[8];
	if (!d->sparse) {
		for (uint32_t i = 0; i < c->g->n_nodes; i++) {
			emit(r, i, d);
		}
		return;
	}
	for (size_t i = 0, k = 0; i < c->n_changed || k < c->n_gone;) {
		if (k == c->n_gone ||
		    (i < c->n_changed && c->g->nodes[c->changed[i]].guid < c->gone[k])) {
			emit(r, c->changed[i++], d);
		} else {
			key_u64(key, c->gone[k++]);
			diff_delete(d, key, sizeof(key));
		}
	}
}

static void emit_node(const struct rows *r, uint32_t node, struct diff *d)
{
	const struct node *n = &r->c->g->nodes[node];
	size_t len = name_len(n->description), own = name_len(n->name);
	struct row_node row = {
		.system_image_guid = n->system_image_guid,
		.lid = node_lid(r->c, n),
		.vendor_id = n->vendor_id,
		.revision = n->revision,
		.device_id = n->device_id,
		.partition_cap = n->partition_cap,
		.type = n->type,
		.n_ports = n->n_ports,
		.esp0 = n->esp0,
		.aggregation = n->aggregation,
		.description_len = (uint8_t)len,
		.name_len = (uint8_t)own,
	};
	uint8_t key[8], val[sizeof(row) + 2 * NAME_BYTES];
	key_u64(key, n->guid);
	memcpy(val, &row, sizeof(row));
	memcpy(val + sizeof(row), n->description, len);
	memcpy(val + sizeof(row) + len, own ? n->name : "", own);
	diff_row(d, key, sizeof(key), val, sizeof(row) + len + own);
}

static void emit_nodes(const struct rows *r, struct diff *d)
{
	emit_by_node(r, d, emit_node);
}

static void fill_port(const struct rows *r, uint32_t index, struct row_port *row)
{
	const struct graph *g = r->c->g;
	const struct port *p = &g->ports[index];
	const struct lid_range *lid = &r->c->lids->of[index];
	*row = (struct row_port){
		.guid = p->guid,
		.lid = lid->base,
		.lmc = lid->base ? lid->lmc : 0,
		.state = p->state,
		.width = p->width,
		.speed = p->speed,
		.rate = r->rate[index],
		.mtu = p->mtu,
		.vls = p->vls,
		.exists = 1,
	};
	if (p->peer != GRAPH_NONE) {
		const struct port *q = &g->ports[p->peer];
		row->peer_guid = g->nodes[q->node].guid;
		row->peer_port = q->num;
	}
}

static void emit_ports_of(const struct rows *r, uint32_t node, struct diff *d)
{
	const struct node *n = &r->c->g->nodes[node];
	struct row_port row[256];
	uint8_t key[8];
	memset(&row[0], 0, sizeof(row[0]));
	for (unsigned p = n->type == NODE_SWITCH ? 0 : 1; p <= n->n_ports; p++) {
		fill_port(r, n->first_port + p, &row[p]);
	}
	key_u64(key, n->guid);
	diff_row(d, key, sizeof(key), row, (n->n_ports + 1U) * sizeof(row[0]));
}

static void emit_ports(const struct rows *r, struct diff *d)
{
	emit_by_node(r, d, emit_ports_of);
}

static void emit_links_of(const struct rows *r, uint32_t node, struct diff *d)
{
	const struct graph *g = r->c->g;
	const struct node *n = &g->nodes[node];
	struct row_link row[256];
	unsigned n_rows = 0;
	uint8_t key[8];
	for (uint32_t p = n->first_port; p <= n->first_port + n->n_ports; p++) {
		const struct port *a = &g->ports[p];
		if (a->peer == GRAPH_NONE || a->peer < p) {
			continue; /* ports are in order of (GUID, number) */
		}
		const struct port *b = &g->ports[a->peer];
		row[n_rows++] = (struct row_link){
			.guid_b = g->nodes[b->node].guid,
			.port_a = a->num,
			.port_b = b->num,
			.width = a->width,
			.speed = a->speed,
			.rate = r->rate[p],
			.mtu = port_mtu(g, a),
		};
	}
	key_u64(key, n->guid);
	if (n_rows) {
		diff_row(d, key, sizeof(key), row, n_rows * sizeof(row[0]));
	} else if (d->sparse) {
		diff_delete(d, key, sizeof(key));
	}
}

static void emit_links(const struct rows *r, struct diff *d)
{
	emit_by_node(r, d, emit_links_of);
}

struct name {
	uint64_t start; /* first 8 bytes as a number: decides most comparisons */
	const char *text;
	uint64_t guid;
	size_t len;
};

static int compare_text(const struct name *a, const struct name *b)
{
	int c = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
	if (c != 0) {
		return c;
	}
	return a->len < b->len ? -1 : a->len > b->len;
}

static int compare_name(const void *x, const void *y)
{
	const struct name *a = x, *b = y;
	if (a->start != b->start) {
		return a->start < b->start ? -1 : 1;
	}
	int c = compare_text(a, b);
	if (c != 0) {
		return c;
	}
	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

/* In many fabrics the names are in the order of the GUIDs, so most need no sorting. */
static void sort_rows(void *rows, size_t n, size_t size,
                      int (*cmp)(const void *, const void *))
{
	uint8_t *p = rows;
	for (size_t i = 1; i < n; i++) {
		if (cmp(p + (i - 1) * size, p + i * size) > 0) {
			qsort(rows, n, size, cmp);
			return;
		}
	}
}

/* \return How many were added: none if the text is empty. */
static size_t list_name(struct name *to, const struct node *n, const char *text)
{
	size_t len = name_len(text);

	if (len) {
		uint8_t start[8] = { 0 };
		memcpy(start, text, len < 8 ? len : 8);
		*to = (struct name){ key_read_u64(start), text, n->guid, len };
	}
	return len > 0;
}

static void emit_names(const struct rows *r, struct diff *d)
{
	const struct graph *g = r->c->g;
	struct name *names = malloc((2 * (size_t)g->n_nodes + 1) * sizeof(*names));
	uint64_t *guids = malloc((g->n_nodes + 1) * sizeof(*guids));
	size_t n = 0;
	if (!names || !guids) {
		d->ret = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *node = &g->nodes[i];
		n += list_name(&names[n], node, node->description);
		if (node->name && strcmp(node->name, node->description) != 0) {
			n += list_name(&names[n], node, node->name);
		}
	}
	sort_rows(names, n, sizeof(*names), compare_name);
	for (size_t i = 0, run; i < n; i += run) {
		for (run = 0; i + run < n && names[i].start == names[i + run].start &&
		              compare_text(&names[i], &names[i + run]) == 0;
		     run++) {
			guids[run] = names[i + run].guid;
		}
		diff_row(d, names[i].text, names[i].len, guids, run * sizeof(*guids));
	}
out:
	free(names);
	free(guids);
}

struct alias {
	uint64_t guid;
	uint32_t port;   /* index */
	uint32_t
		second; /* 0: PortGUID, 1: a switch's NodeGUID, 2: out of GUIDInfo, 3 and more:
	                    virtual ports; of equal GUIDs the first in this order counts */
};

enum { ALIAS_VPORT = 3 };

static int compare_alias(const void *x, const void *y)
{
	const struct alias *a = x, *b = y;
	if (a->guid != b->guid) {
		return a->guid < b->guid ? -1 : 1;
	}
	return a->second < b->second ? -1 : a->second > b->second;
}

static size_t list_aliases(const struct graph *g, struct alias *list)
{
	size_t n = 0;
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t p = g->end_ports[i];
		const struct node *node = &g->nodes[g->ports[p].node];
		list[n++] = (struct alias){ g->ports[p].guid, p, 0 };
		if (node->type == NODE_SWITCH && node->guid != g->ports[p].guid) {
			list[n++] = (struct alias){ node->guid, p, 1 };
		}
	}
	return n;
}

/* Rows of GUIDInfo among the attributes, which are sorted. */
static size_t guid_info_rows(const struct snap_content *c,
                             const struct snap_attr **ret_attr)
{
	size_t from = 0, n = 0;
	while (from < c->n_attrs && c->attrs[from].attr < UMAD_SM_ATTR_GUID_INFO) {
		from++;
	}
	while (from + n < c->n_attrs &&
	       c->attrs[from + n].attr == UMAD_SM_ATTR_GUID_INFO) {
		n++;
	}
	*ret_attr = n > 0 ? c->attrs + from : NULL;
	return n;
}

/* GUIDs that a port has besides its PortGUID, out of one block of its GUIDInfo. */
static size_t list_block(const struct graph *g, const struct snap_attr *at,
                         struct alias *list)
{
	uint32_t node = graph_node_by_guid(g, at->guid);
	uint32_t num = at->block >> 8;
	size_t n = 0;
	if (node == GRAPH_NONE || num > g->nodes[node].n_ports) {
		return 0;
	}
	for (unsigned i = at->block & 0xff ? 0 : 1; i < at->len / 8u && i < 8; i++) {
		uint64_t guid = key_read_u64(at->data + 8 * i);
		if (guid != 0) {
			list[n++] = (struct alias){ guid, g->nodes[node].first_port + num,
				                    2 };
		}
	}
	return n;
}

/* The same out of what is stored of nodes that did not change. \return How many. */
static size_t list_stored_blocks(const struct rows *r, struct diff *d,
                                 struct alias **list, size_t n)
{
	const struct snap_content *c = r->c;
	size_t cap = n, changed = 0;
	struct db_val k, v;
	uint8_t key[2];
	key_u16(key, UMAD_SM_ATTR_GUID_INFO);
	int ret = db_seek(&d->t, SNAP_ATTRS, key, sizeof(key), &k, &v);
	for (; ret == E_OK && k.len == ATTR_KEY &&
	       key_read_u16(k.data) == UMAD_SM_ATTR_GUID_INFO;
	     ret = db_next(&d->t, SNAP_ATTRS, &k, &v)) {
		struct snap_attr at = { .guid = key_read_u64(k.data + 2) };
		while (changed < c->n_changed &&
		       c->g->nodes[c->changed[changed]].guid < at.guid) {
			changed++;
		}
		if (changed < c->n_changed &&
		    c->g->nodes[c->changed[changed]].guid == at.guid) {
			continue;
		}
		for (size_t pos = 0; pos + 6 <= v.len; pos += 6 + (size_t)at.len) {
			memcpy(&at.block, v.data + pos, 4);
			memcpy(&at.len, v.data + pos + 4, 2);
			at.data = v.data + pos + 6;
			if (at.len > v.len - pos - 6) {
				break;
			}
			if (VECTOR_RESERVE(*list, cap, n + 8) != E_OK) {
				d->ret = -ENOMEM;
				return n;
			}
			n += list_block(c->g, &at, *list + n);
		}
	}
	return n;
}

static size_t list_vport_guids(const struct snap_content *c, struct alias *list)
{
	size_t n = 0;
	for (uint32_t i = 0; i < c->n_vports; i++) {
		const struct snap_vport_row *v = &c->vports[i];
		list[n++] = (struct alias){ v->v.guid, v->port, ALIAS_VPORT + i };
	}
	return n;
}

static void emit_guids(const struct rows *r, struct diff *d)
{
	const struct graph *g = r->c->g;
	const struct snap_attr *info;
	size_t n_info = guid_info_rows(r->c, &info);
	struct alias *list = malloc(
		(2 * (size_t)g->n_end_ports + 8 * n_info + r->c->n_vports + 1) *
		sizeof(*list));
	if (!list) {
		d->ret = -ENOMEM;
		return;
	}
	size_t n = list_aliases(g, list);
	for (size_t i = 0; i < n_info; i++) {
		n += list_block(g, &info[i], list + n);
	}
	n += list_vport_guids(r->c, list + n);
	n = r->c->changed ? list_stored_blocks(r, d, &list, n) : n;
	sort_rows(list, n, sizeof(*list), compare_alias);
	for (size_t i = 0; i < n; i++) {
		if (i && list[i].guid == list[i - 1].guid) {
			continue;
		}
		const struct port *p = &g->ports[list[i].port];
		struct row_guid row = {
			.node_guid = g->nodes[p->node].guid,
			.base_lid = r->c->lids->of[list[i].port].base,
			.port = p->num,
		};
		if (list[i].second >= ALIAS_VPORT) {
			row.base_lid = r->c->vports[list[i].second - ALIAS_VPORT].v.lid;
			row.is_vport = 1;
			row.p_key_set = r->keys.of_port[list[i].port];
		}
		uint8_t key[8];
		key_u64(key, list[i].guid);
		diff_row(d, key, sizeof(key), &row, sizeof(row));
	}
	free(list);
}

static void fill_end(const struct rows *r, uint32_t index, struct snap_end *e)
{
	const struct graph *g = r->c->g;
	const struct port *p = &g->ports[index];
	const struct port *q = p->peer == GRAPH_NONE ? NULL : &g->ports[p->peer];
	uint32_t sw = graph_switch_of(g, index);
	memset(e, 0, sizeof(*e));
	e->port_guid = p->guid;
	e->node_guid = g->nodes[p->node].guid;
	e->base_lid = r->c->lids->of[index].base;
	e->lmc = r->c->lids->of[index].lmc & 7;
	e->port = p->num;
	e->type = g->nodes[p->node].type;
	e->mtu = p->num ? port_mtu(g, p) : p->mtu;
	e->rate = r->rate[index];
	e->sw_row = UINT32_MAX;
	e->p_key_set = r->keys.of_port[index];
	if (sw != GRAPH_NONE) {
		e->sw_guid = r->switch_guid[sw];
		e->sw_row = r->sw_row[sw];
		e->sw_port = p->num && q ? q->num : 0;
	} else if (q) {
		e->peer_port_guid = q->guid;
	}
}

/* Virtual ports by host; the list is in this order. */
static void emit_vports(const struct rows *r, struct diff *d)
{
	const struct snap_content *c = r->c;
	struct row_vport *row = calloc(c->n_vports + 1, sizeof(*row));

	if (!row) {
		d->ret = -ENOMEM;
		return;
	}
	for (size_t i = 0, n; i < c->n_vports; i += n) {
		uint8_t key[8];

		for (n = 0; i + n < c->n_vports &&
		            c->vports[i + n].v.host_guid == c->vports[i].v.host_guid;
		     n++) {
			const struct snap_vport *v = &c->vports[i + n].v;

			row[n] = (struct row_vport){ .guid = v->guid,
				                     .node_guid = v->node_guid,
				                     .lid = v->lid,
				                     .index = v->index,
				                     .p_key_set = r->keys.of_port[c->vports[i + n].port],
				                     .port = v->port,
				                     .state = v->state,
				                     .own_lid = v->own_lid };
			memcpy(row[n].description, v->description,
			       name_len(v->description));
		}
		key_u64(key, c->vports[i].v.host_guid);
		diff_row(d, key, sizeof(key), row, n * sizeof(*row));
	}
	free(row);
}

/* Virtual port of each LID that is the own one of such, as index + 1. NULL: there are none, or
 * out of memory (d->ret). */
static uint32_t *vports_by_lid(const struct snap_content *c, struct diff *d)
{
	uint32_t *by_lid =
		c->n_vports ? calloc((size_t)c->lids->top + 1, sizeof(*by_lid)) : NULL;

	d->ret = c->n_vports && !by_lid ? -ENOMEM : d->ret;
	for (size_t i = 0; by_lid && i < c->n_vports; i++) {
		const struct snap_vport *v = &c->vports[i].v;

		if (v->own_lid && v->lid <= c->lids->top) {
			by_lid[v->lid] = (uint32_t)i + 1;
		}
	}
	return by_lid;
}

static void fill_vport_end(const struct rows *r, uint32_t i, struct snap_end *e)
{
	const struct snap_vport_row *v = &r->c->vports[i];

	fill_end(r, v->port, e);
	e->port_guid = v->v.guid;
	e->base_lid = v->v.lid;
	e->lmc = 0;
	e->is_vport = 1;
	e->p_key_set = r->keys.of_port[v->port];
}

static void emit_lids(const struct rows *r, struct diff *d)
{
	const struct lids *lids = r->c->lids;
	struct snap_end row[LIDS_PER_ROW];
	uint32_t last = GRAPH_NONE;
	struct snap_end end;
	uint32_t *vport = vports_by_lid(r->c, d);
	memset(&end, 0, sizeof(end));
	for (uint32_t from = 0; lids->owner && from <= lids->top; from += LIDS_PER_ROW) {
		uint32_t n = lids->top + 1 - from;
		bool any = false;
		uint8_t key[4];
		if (r->lid_rows && !r->lid_rows[from / LIDS_PER_ROW]) {
			continue;
		}
		n = n < LIDS_PER_ROW ? n : LIDS_PER_ROW;
		memset(row, 0, sizeof(row));
		for (uint32_t i = 0; i < n; i++) {
			uint32_t owner = lids->owner[from + i];
			if (owner == GRAPH_NONE) {
				continue;
			}
			any = true;
			if (vport && vport[from + i]) {
				fill_vport_end(r, vport[from + i] - 1, &row[i]);
				continue;
			}
			if (owner != last) {
				fill_end(r, owner, &end);
				last = owner;
			}
			memcpy(&row[i], &end, sizeof(end));
		}
		key_u32(key, from / LIDS_PER_ROW);
		if (any) {
			diff_row(d, key, sizeof(key), row, n * sizeof(row[0]));
		} else if (d->sparse) {
			diff_delete(d, key, sizeof(key));
		}
	}
	free(vport);
}

/* A value that is built from the attribute rows of one node. */
struct gather {
	uint8_t *buf;
	size_t len, cap;
};

static int gather_add(struct gather *v, const struct snap_attr *at)
{
	size_t need = v->len + 6 + at->len;
	if (VECTOR_RESERVE(v->buf, v->cap, need) != E_OK) {
		return -ENOMEM;
	}
	memcpy(v->buf + v->len, &at->block, 4);
	memcpy(v->buf + v->len + 4, &at->len, 2);
	memcpy(v->buf + v->len + 6, at->data, at->len);
	v->len = need;
	return E_OK;
}

static bool attrs_ascend(const struct snap_attr *a, const struct snap_attr *b)
{
	if (a->attr != b->attr) {
		return a->attr < b->attr;
	}
	return a->guid != b->guid ? a->guid < b->guid : a->block < b->block;
}

/* Is this what n rows would be gathered to? Saves the copy where nothing changed. */
static bool attrs_same(const struct db_val *v, const struct snap_attr *at, size_t n)
{
	size_t pos = 0;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = v->data + pos;
		pos += 6 + (size_t)at[i].len;
		if (pos > v->len || memcmp(p, &at[i].block, 4) != 0 ||
		    memcmp(p + 4, &at[i].len, 2) != 0 ||
		    memcmp(p + 6, at[i].data, at[i].len) != 0) {
			return false;
		}
	}
	return pos == v->len;
}

/* Rows from `at` on that make one value. 0: they do not ascend. */
static size_t attrs_run(const struct snap_attr *at, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (!attrs_ascend(&at[i - 1], &at[i])) {
			return 0; /* the caller did not sort them */
		}
		if (at[i].attr != at[0].attr || at[i].guid != at[0].guid) {
			return i;
		}
	}
	return n;
}

/* One row of all blocks from at[0] on that belong to it. \return How many these are; 0: they do not
 * ascend. */
static size_t emit_attr(const struct snap_attr *at, size_t n, struct gather *v,
                        struct diff *d)
{
	uint8_t key[ATTR_KEY];
	size_t run = attrs_run(at, n);
	key_u16(key, at->attr);
	key_u64(key + 2, at->guid);
	if (run == 0) {
		d->ret = -EINVAL;
		return 0;
	}
	if (diff_at(d, key, sizeof(key)) && attrs_same(&d->val, at, run)) {
		diff_keep(d);
		return run;
	}
	v->len = 0;
	for (size_t k = 0; k < run && d->ret == E_OK; k++) {
		d->ret = gather_add(v, &at[k]);
	}
	diff_row(d, key, sizeof(key), v->buf, v->len);
	return run;
}

static void delete_attr(uint16_t attr, uint64_t guid, struct diff *d)
{
	uint8_t key[ATTR_KEY];
	key_u16(key, attr);
	key_u64(key + 2, guid);
	diff_delete(d, key, sizeof(key));
}

/* Attributes of Omni-Path's tables that have no number in InfiniBand. */
enum {
	OPA_SL_TO_SC = 0x17,
	OPA_CABLE_INFO = 0x32,
	OPA_SC_TO_SC = 0x81,
	OPA_SC_TO_SL = 0x82,
	OPA_SC_TO_VL_R = 0x83,
	OPA_SC_TO_VL_T = 0x84,
	OPA_SC_TO_VL_NT = 0x85,
	OPA_PORT_GROUP_FT = 0x88,
	OPA_PORT_GROUPS = 0x89,
	OPA_BUFFER_CONTROL = 0x8A,
	OPA_CONGESTION_INFO = 0x8B,
	OPA_SWITCH_CONGESTION = 0x8D,
	OPA_PORT_CONGESTION = 0x8E,
	OPA_HFI_CONGESTION = 0x90,
	OPA_HFI_CONTROL_TABLE = 0x91
};

/* In the order of their numbers. */
static const struct {
	uint16_t attr;
	bool is_table;
} node_attrs[] = {
	{ UMAD_SM_ATTR_NODE_DESC, false },
	{ UMAD_SM_ATTR_NODE_INFO, false },
	{ UMAD_SM_ATTR_SWITCH_INFO, false },
	{ UMAD_SM_ATTR_GUID_INFO, true },
	{ UMAD_SM_ATTR_PORT_INFO, false },
	{ UMAD_SM_ATTR_PKEY_TABLE, true },
	{ UMAD_SM_ATTR_SLVL_TABLE, true },
	{ UMAD_SM_ATTR_VL_ARB_TABLE, true },
	{ UMAD_SM_ATTR_MCAST_FT, true },
	{ UMAD_SM_ATTR_SM_INFO, false },
	{ SNAP_ATTR_OPA | UMAD_SM_ATTR_SWITCH_INFO, false },
	{ SNAP_ATTR_OPA | UMAD_SM_ATTR_PORT_INFO, false },
	{ SNAP_ATTR_OPA | OPA_SL_TO_SC, true },
	{ SNAP_ATTR_OPA | UMAD_SM_ATTR_VL_ARB_TABLE, true },
	{ SNAP_ATTR_OPA | UMAD_SM_ATTR_MCAST_FT, true },
	{ SNAP_ATTR_OPA | OPA_CABLE_INFO, true },
	{ SNAP_ATTR_OPA | OPA_SC_TO_SC, true },
	{ SNAP_ATTR_OPA | OPA_SC_TO_SL, true },
	{ SNAP_ATTR_OPA | OPA_SC_TO_VL_R, true },
	{ SNAP_ATTR_OPA | OPA_SC_TO_VL_T, true },
	{ SNAP_ATTR_OPA | OPA_SC_TO_VL_NT, true },
	{ SNAP_ATTR_OPA | OPA_PORT_GROUP_FT, true },
	{ SNAP_ATTR_OPA | OPA_PORT_GROUPS, true },
	{ SNAP_ATTR_OPA | OPA_BUFFER_CONTROL, true },
	{ SNAP_ATTR_OPA | OPA_CONGESTION_INFO, true },
	{ SNAP_ATTR_OPA | OPA_SWITCH_CONGESTION, true },
	{ SNAP_ATTR_OPA | OPA_PORT_CONGESTION, true },
	{ SNAP_ATTR_OPA | OPA_HFI_CONGESTION, true },
	{ SNAP_ATTR_OPA | OPA_HFI_CONTROL_TABLE, true },
	{ SNAP_ATTR_DEVICE_GROUPS, true },
};
enum { NODE_ATTRS = sizeof(node_attrs) / sizeof(node_attrs[0]) };

bool snap_attr_of_node(uint16_t attr)
{
	unsigned i = 0;
	while (i < NODE_ATTRS && node_attrs[i].attr != attr) {
		i++;
	}
	return i < NODE_ATTRS && !node_attrs[i].is_table;
}

/* An attribute of changed nodes. Those that have it no more lose it. */
static void emit_node_attr(const struct rows *r, uint16_t attr, struct gather *v,
                           struct diff *d)
{
	const struct snap_content *c = r->c;
	size_t at = LOWER_BOUND(c->n_attrs, i, c->attrs[i].attr < attr);
	for (size_t i = 0; i < c->n_changed && d->ret == E_OK; i++) {
		uint64_t guid = c->g->nodes[c->changed[i]].guid;
		if (at < c->n_attrs && c->attrs[at].attr == attr &&
		    c->attrs[at].guid == guid) {
			at += emit_attr(&c->attrs[at], c->n_attrs - at, v, d);
		} else {
			delete_attr(attr, guid, d);
		}
	}
	for (size_t i = 0; i < c->n_gone; i++) {
		delete_attr(attr, c->gone[i], d);
	}
}

static void emit_attrs(const struct rows *r, struct diff *d)
{
	const struct snap_content *c = r->c;
	struct gather v = { 0 };
	if (c->changed == NULL) {
		for (size_t i = 0; i < c->n_attrs && d->ret == E_OK;) {
			i += emit_attr(&c->attrs[i], c->n_attrs - i, &v, d);
		}
	}
	for (unsigned i = 0; c->changed != NULL && i < NODE_ATTRS; i++) {
		if (!c->only_ports || !node_attrs[i].is_table) {
			emit_node_attr(r, node_attrs[i].attr, &v, d);
		}
	}
	free(v.buf);
}

static void emit_options(const struct rows *r, struct diff *d)
{
	const char *text = r->c->options_text ? r->c->options_text : "";
	diff_row(d, DB_KEY_TEXT, sizeof(DB_KEY_TEXT), text, strlen(text) + 1);
}

/* The rule, and classes of the ports of every switch. */
static void emit_vl_rule(const struct rows *r, struct diff *d, const struct vl_rule *rule)
{
	const struct graph *g = r->c->g;
	struct row_vl_rule row = { .vls = rule->vls,
		                   .levels = rule->levels,
		                   .level_shift = rule->level_shift };
	uint8_t key[10];
	memcpy(row.vl, rule->vl, sizeof(row.vl));
	key_u16(key, VLS_RULE);
	diff_row(d, key, 2, &row, sizeof(row));
	key_u16(key, VLS_PORTS);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];
		key_u64(key + 2, n->guid);
		diff_row(d, key, sizeof(key), rule->port_class + (size_t)s * rule->width,
		         n->n_ports + 1U);
	}
}

/* SLs whose packets take the routes of level 0 are levels of one lane. */
static void emit_free_sls(const struct rows *r, struct diff *d)
{
	unsigned level = 1;
	for (unsigned sl = 1; sl < VL_SLS; sl++) {
		uint8_t key[2], row[LANES_MAX];
		if (r->c->free_sls >> sl & 1) {
			memset(row, 0xff, sizeof(row));
			row[0] = (uint8_t)sl;
			key_u16(key, (uint16_t)level++);
			diff_row(d, key, sizeof(key), row, sizeof(row));
		}
	}
}

/* Without a rule the SL is the lane, and every switch maps an SL to the VL of that number.
 */
static void emit_vls(const struct rows *r, struct diff *d)
{
	const struct lanes *l = &r->c->route->out.lanes;
	unsigned n = l->n ? l->n : 1;
	for (unsigned level = 0; level < (l->rule ? l->rule->levels : 1U); level++) {
		uint8_t key[2], sl[LANES_MAX];
		for (unsigned lane = 0; lane < LANES_MAX; lane++) {
			unsigned own = l->rule ? vl_rule_sl(l->rule, lane, level) : lane;
			sl[lane] = lane < n ? (uint8_t)own : 0xff;
		}
		key_u16(key, (uint16_t)level);
		diff_row(d, key, sizeof(key), sl, sizeof(sl));
	}
	if (l->rule) {
		emit_vl_rule(r, d, l->rule);
	} else if (n == 1) {
		emit_free_sls(r, d);
	}
}

static void emit_p_key_sets(const struct rows *r, struct diff *d)
{
	key_sets_emit(&r->keys, d);
}

static void emit_partitions(const struct rows *r, struct diff *d)
{
	partitions_emit(r->c, d);
}

static bool is_router(const struct graph *g, uint32_t port)
{
	return port != GRAPH_NONE && g->nodes[g->ports[port].node].type == NODE_ROUTER;
}

/* PortGUID of the router that a route names, if it is there; else 0. */
static uint64_t router_of(const struct graph *g, const struct prefix_route *p)
{
	if (!p->any_router) {
		return is_router(g, graph_port_by_guid(g, p->router_port_guid))
		               ? p->router_port_guid
		               : 0;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		if (is_router(g, g->by_guid[i])) {
			return g->ports[g->by_guid[i]].guid;
		}
	}
	return 0;
}

static void emit_prefix_routes(const struct rows *r, struct diff *d)
{
	const struct prefix_routes *list = r->c->prefix_routes;
	for (uint32_t i = 0, n = 0; list && i < list->n && n <= UINT16_MAX; i++) {
		const struct prefix_route *p = &list->route[i];
		struct row_prefix_route row = {
			.prefix = p->prefix,
			.router_port_guid = router_of(r->c->g, p),
			.any = p->any_prefix,
		};
		uint8_t key[2];
		if (row.router_port_guid != 0) {
			key_u16(key, (uint16_t)n++);
			diff_row(d, key, sizeof(key), &row, sizeof(row));
		}
	}
}

static void emit_load(const struct rows *r, struct diff *d)
{
	const struct graph *g = r->c->routed != NULL ? r->c->routed : r->c->g;
	const struct load *load = &r->c->route->load;
	struct row_load row[256];
	for (uint32_t s = 0; load->all && s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];
		uint8_t key[8];
		memset(row, 0xff, (n->n_ports + 1U) * sizeof(row[0]));
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			row[g->adj[i].port] =
				(struct row_load){ load->all[i], load->base[i] };
		}
		key_u64(key, n->guid);
		diff_row(d, key, sizeof(key), row, (n->n_ports + 1U) * sizeof(row[0]));
	}
}

static void emit_port_groups(const struct rows *r, struct diff *d)
{
	const struct graph *g = r->c->g;
	const struct alternates *x = &r->c->route->alternates;
	for (uint32_t s = 0; x->rows && s < g->n_switches; s++) {
		uint8_t key[8];
		if (x->groups[s].n) {
			key_u64(key, r->switch_guid[s]);
			diff_row(d, key, sizeof(key), x->groups[s].set,
			         x->groups[s].n * sizeof(struct port_set));
		}
	}
}

static void emit_part(struct diff *d, enum policy_part part, const void *data, size_t n,
                      size_t unit)
{
	uint8_t key[2];
	if (n) {
		key_u16(key, (uint16_t)part);
		diff_row(d, key, sizeof(key), data, n * unit);
	}
}

static void emit_policy(const struct rows *r, struct diff *d)
{
	const struct policy *p = r->c->policy;
	if (!p) {
		return;
	}
	const struct policy_head *h = &p->head;
	emit_part(d, POLICY_HEAD, h, 1, sizeof(*h));
	emit_part(d, POLICY_LEVELS, p->levels, h->n_levels, sizeof(*p->levels));
	emit_part(d, POLICY_RULES, p->rules, h->n_rules, sizeof(*p->rules));
	emit_part(d, POLICY_RANGES, p->ranges, h->n_ranges, sizeof(*p->ranges));
	emit_part(d, POLICY_FABRICS, p->fabrics, h->n_fabrics, sizeof(*p->fabrics));
	emit_part(d, POLICY_IDS, p->ids, h->n_ids, sizeof(*p->ids));
	emit_part(d, POLICY_PORT_SETS, r->keys.bits, r->keys.n * r->keys.width,
	          sizeof(*r->keys.bits));
}

/* How each table of a sweep is made: by a function or from long rows in memory. */
struct source {
	void (*emit)(const struct rows *r, struct diff *d);
	size_t chunks; /* offset of its struct chunk_rows in struct rows, 0: none */
};

#define NO_SOURCE(id, name)
#define EMITTED(id, name, epoch) [SNAP_##id] = { .emit = emit_##name },
#define CHUNKED(id, name, epoch) [SNAP_##id] = { .chunks = offsetof(struct rows, name) },
static const struct source sources[SNAP_TABLE_COUNT] = {
	SNAP_TABLES(NO_SOURCE, EMITTED, CHUNKED, NO_SOURCE)
};

static const struct chunk_rows *chunks_of(const struct rows *r, unsigned table)
{
	return (const struct chunk_rows *)((const char *)r + sources[table].chunks);
}

/* Is a table compared only where nodes changed? */
static bool is_sparse(const struct rows *r, unsigned table)
{
	switch (table) {
	case SNAP_NODES:
	case SNAP_PORTS:
	case SNAP_LINKS:
	case SNAP_ATTRS: return r->c->changed != NULL;
	case SNAP_LIDS: return r->lid_rows != NULL;
	}
	return false;
}

void rows_diff(const struct rows *r, struct db *db, unsigned table, struct diff *d)
{
	const struct source *source = &sources[table];
	if (!source->emit && !source->chunks) {
		return;
	}
	if (is_sparse(r, table)) {
		diff_begin_sparse(d, db, table);
	} else {
		diff_begin(d, db, table);
	}
	if (d->ret != E_OK) {
		return;
	}
	if (source->chunks) {
		diff_find_chunks(d, chunks_of(r, table));
	} else {
		source->emit(r, d);
		diff_end(d);
	}
}

enum port_part {
	PORT_STATES,
	PORT_LINKS, /* the other end, width, speed, ... */
	PORT_ENDS   /* which end ports there are, and their GUIDs and LIDs */
};

/* The most important part in which the row of the ports of a node differs. */
static enum port_part ports_differ(struct diff *d, const struct change *c)
{
	enum port_part part = PORT_STATES;
	struct db_val was;
	if (!c->val || db_find(&d->t, SNAP_PORTS, c->key, c->key_len, &was) != E_OK ||
	    was.len != c->len) {
		return PORT_ENDS;
	}
	for (size_t i = 0; i + sizeof(struct row_port) <= c->len;
	     i += sizeof(struct row_port)) {
		struct row_port a, b;
		memcpy(&a, was.data + i, sizeof(a));
		memcpy(&b, c->val + i, sizeof(b));
		a.state = b.state;
		if (a.guid != b.guid || a.lid != b.lid || a.lmc != b.lmc ||
		    (a.peer_guid != 0) != (b.peer_guid != 0)) {
			return PORT_ENDS;
		}
		if (memcmp(&a, &b, sizeof(a)) != 0) {
			part = PORT_LINKS;
		}
	}
	return part;
}

static bool any_port_differs(struct diff *d, enum port_part least)
{
	bool any = false;
	for (const struct change *c = d->first; c && !any; c = c->next) {
		any = ports_differ(d, c) >= least;
	}
	return any;
}

static bool any_attr_differs(const struct diff *d, uint16_t attr)
{
	const struct change *c = d->first;
	while (c && key_read_u16(c->key) != attr) {
		c = c->next;
	}
	return c != NULL;
}

bool rows_are_same(const struct rows *r, unsigned table, struct diff *d)
{
	if (!r->c->changed || d[SNAP_NODES].n != 0) {
		return false;
	}
	return table == SNAP_NAMES ||
	       (table == SNAP_GUIDS && !any_port_differs(&d[SNAP_PORTS], PORT_ENDS) &&
	        !any_attr_differs(&d[SNAP_ATTRS], UMAD_SM_ATTR_GUID_INFO));
}

/* Tables and attributes beside those of SNAP_NEW_EPOCH that decide which paths there are.
 */
bool rows_need_epoch(struct diff *d)
{
	static const uint8_t of_epoch[] = { SNAP_OPTIONS, SNAP_PREFIX_ROUTES,
		                            SNAP_PARTITIONS, SNAP_GUIDS,
		                            SNAP_P_KEY_SETS };
	bool need = false;
	for (unsigned i = 0; i < sizeof(of_epoch); i++) {
		need |= d[of_epoch[i]].n != 0;
	}
	return need || any_port_differs(&d[SNAP_PORTS], PORT_LINKS) ||
	       any_attr_differs(&d[SNAP_ATTRS], UMAD_SM_ATTR_PKEY_TABLE) ||
	       any_attr_differs(&d[SNAP_ATTRS], UMAD_SM_ATTR_GUID_INFO);
}

void rows_diff_chunks(const struct rows *r, unsigned table, struct diff *d)
{
	if (sources[table].chunks) {
		diff_chunks(d, chunks_of(r, table));
	}
}
