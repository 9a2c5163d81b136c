/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Longer than most: writer, readers and second processes share one set of
 * fixtures. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "db/lmdb/layout.h"
#include "db/lmdb/txn.h"
#include "db/snapshot/history.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot_int.h"
#include "routing/graph/node_text.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static struct snap_writer *w;
static struct fabric fabric;

static int open_writer(const struct snap_options *o, const char **ret_why)
{
	*ret_why = "";
	return snap_writer_open(dir, o, arena, ret_why, &w);
}

static void setup(void)
{
	const char *why;
	struct snap_options o = { .grace_ms = 10000 };
	make_tmp(dir);
	arena = arena_new();
	w = NULL;
	int ret = open_writer(&o, &why);
	ck_assert_msg(ret == E_OK, "%s", why);
	memset(&fabric, 0, sizeof(fabric));
}

static void teardown(void)
{
	snap_writer_close(w);
	fabric_done(&fabric);
	arena_free(arena);
	remove_tree(dir);
}

static struct snap_published publish(const struct snap_content *c, uint64_t now_ms)
{
	struct snap_published p;
	ck_assert_int_eq(snap_publish(w, c, now_ms, &p), E_OK);
	return p;
}

static struct snap_reader *local(void)
{
	struct snap_reader *r;
	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	return r;
}

static struct snap_reader *foreign(void)
{
	struct snap_reader *r = NULL;
	const char *why = "";
	int ret = snap_reader_open(dir, arena, &why, &r);
	ck_assert_msg(ret == E_OK, "%s", why);
	return r;
}

/* --- what is read is what was published ------------------------------------------- */

static void check_nodes(struct snap_reader *r, const struct fabric *f)
{
	struct snap_node n, m;
	uint64_t from = 0;
	for (uint32_t i = 0; i < f->g->n_nodes; i++) {
		const struct node *node = &f->g->nodes[i];
		ck_assert_int_eq(snap_node_from(r, from, &n), E_OK);
		ck_assert_uint_eq(n.guid, node->guid);
		ck_assert_str_eq(n.description, node->description);
		ck_assert_str_eq(n.name, node_name(node));
		ck_assert(n.type == node->type && n.n_ports == node->n_ports &&
		          n.esp0 == node->esp0 &&
		          n.system_image_guid == node->system_image_guid);
		ck_assert_int_eq(snap_node(r, node->guid, &m), E_OK);
		ck_assert_int_eq(memcmp(&m, &n, sizeof(n)), 0);
		from = n.guid + 1;
	}
	ck_assert_int_eq(snap_node_from(r, from, &n), E_NOTFOUND);
	ck_assert_int_eq(snap_node(r, from, &n), E_NOTFOUND);
}

static void check_names(struct snap_reader *r, const struct fabric *f)
{
	const struct graph *g = f->g;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		uint64_t guids[8];
		unsigned n = 0, same = 0;
		bool found = false;
		ck_assert_int_eq(snap_name(r, g->nodes[i].description, guids, 8, &n),
		                 E_OK);
		for (uint32_t k = 0; k < g->n_nodes; k++) {
			same += strcmp(g->nodes[k].description,
			               g->nodes[i].description) == 0;
		}
		ck_assert_uint_eq(n, same);
		for (unsigned k = 0; k < n && k < 8; k++) {
			ck_assert(k == 0 || guids[k - 1] < guids[k]);
			found = found || guids[k] == g->nodes[i].guid;
		}
		ck_assert(found || n > 8);
	}
}

static void check_port(const struct snap_port *p, const struct fabric *f, uint32_t index)
{
	const struct graph *g = f->g;
	const struct port *port = &g->ports[index];
	ck_assert_uint_eq(p->node_guid, g->nodes[port->node].guid);
	ck_assert(p->num == port->num && p->guid == port->guid &&
	          p->state == port->state && p->width == port->width &&
	          p->speed == port->speed && p->mtu == port->mtu && p->vls == port->vls &&
	          p->lid == f->lids.of[index].base);
	if (port->peer == GRAPH_NONE) {
		ck_assert_uint_eq(p->peer_guid, 0);
	} else {
		const struct port *peer = &g->ports[port->peer];
		ck_assert_uint_eq(p->peer_guid, g->nodes[peer->node].guid);
		ck_assert_uint_eq(p->peer_port, peer->num);
		ck_assert_uint_eq(p->rate, link_rate(port->width, port->speed));
	}
}

static void check_ports(struct snap_reader *r, const struct fabric *f)
{
	const struct graph *g = f->g;
	struct snap_port p = { 0 }, q;
	uint64_t guid = 0;
	unsigned num = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		for (unsigned k = n->type == NODE_SWITCH ? 0 : 1; k <= n->n_ports; k++) {
			ck_assert_int_eq(snap_port_from(r, guid, (uint8_t)num, &p), E_OK);
			check_port(&p, f, n->first_port + k);
			ck_assert_int_eq(snap_port(r, n->guid, (uint8_t)k, &q), E_OK);
			check_port(&q, f, n->first_port + k);
			guid = p.num == 255 ? p.node_guid + 1 : p.node_guid;
			num = (p.num + 1U) & 255;
		}
		ck_assert_int_eq(snap_port(r, n->guid, (uint8_t)(n->n_ports + 1), &q),
		                 E_NOTFOUND);
		if (n->type != NODE_SWITCH) {
			ck_assert_int_eq(snap_port(r, n->guid, 0, &q), E_NOTFOUND);
		}
	}
	ck_assert_int_eq(snap_port_from(r, guid, (uint8_t)num, &p), E_NOTFOUND);
}

static void check_links(struct snap_reader *r, const struct fabric *f)
{
	const struct graph *g = f->g;
	struct snap_link l;
	uint64_t guid = 0;
	unsigned port = 0, n = 0;
	while (snap_link_from(r, guid, (uint8_t)port, &l) == E_OK) {
		uint32_t a = graph_port(g, graph_node_by_guid(g, l.guid_a), l.port_a);
		uint32_t b = graph_port(g, graph_node_by_guid(g, l.guid_b), l.port_b);
		ck_assert(a != GRAPH_NONE && b != GRAPH_NONE && a < b);
		ck_assert_uint_eq(g->ports[a].peer, b);
		ck_assert(l.width == g->ports[a].width && l.speed == g->ports[a].speed);
		guid = l.guid_a;
		port = l.port_a + 1U;
		n++;
	}
	ck_assert_uint_eq(n, g->n_links);
}

static void check_end(const struct snap_end *e, const struct fabric *f, uint32_t index)
{
	const struct graph *g = f->g;
	const struct port *p = &g->ports[index];
	uint32_t sw = graph_switch_of(g, index);
	ck_assert(e->port_guid == p->guid && e->node_guid == g->nodes[p->node].guid &&
	          e->port == p->num && e->type == g->nodes[p->node].type);
	ck_assert(e->base_lid == f->lids.of[index].base &&
	          e->lmc == f->lids.of[index].lmc);
	ck_assert_uint_ne(sw, GRAPH_NONE);
	ck_assert_uint_eq(e->sw_guid, g->nodes[g->switches[sw]].guid);
	ck_assert_uint_eq(e->sw_port, p->num ? g->ports[p->peer].num : 0);
}

static void check_lids(struct snap_reader *r, const struct fabric *f)
{
	struct snap_end e, by_guid;
	for (uint32_t lid = 0; lid <= f->lids.top + 200; lid++) {
		uint32_t owner = lid <= f->lids.top ? f->lids.owner[lid] : GRAPH_NONE;
		int ret = snap_lid(r, lid, &e);
		if (owner == GRAPH_NONE) {
			ck_assert_int_eq(ret, E_NOTFOUND);
			continue;
		}
		ck_assert_int_eq(ret, E_OK);
		check_end(&e, f, owner);
		ck_assert_int_eq(snap_port_guid(r, f->g->ports[owner].guid, &by_guid),
		                 E_OK);
		ck_assert_uint_eq(by_guid.base_lid, e.base_lid);
	}
	ck_assert_int_eq(snap_lid(r, UINT32_MAX, &e), E_NOTFOUND);
	ck_assert_int_eq(snap_port_guid(r, UINT64_MAX, &e), E_NOTFOUND);
}

static void check_tables(struct snap_reader *r, const struct fabric *f)
{
	const struct graph *g = f->g;
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 0; lid <= f->lids.top + 100; lid++) {
			uint8_t port = 1,
				want = lid <= f->lids.top
			                       ? lft_row(&f->route.out.lft, s)[lid]
			                       : LFT_NO_ROUTE;
			ck_assert_int_eq(
				snap_lft(r, g->nodes[g->switches[s]].guid, lid, &port),
				E_OK);
			ck_assert_uint_eq(port, want);
		}
	}
}

static void check_paths(struct snap_reader *r, const struct fabric *f)
{
	const struct paths *p = &f->route.paths;
	for (uint32_t slid = 1; slid <= f->lids.top; slid++) {
		struct snap_end src;
		struct snap_path got;
		if (snap_lid(r, slid, &src) != E_OK) {
			continue;
		}
		uint32_t sw = graph_switch_of(f->g, f->lids.owner[slid]);
		uint32_t row = 0;
		while (row < p->n_sources && p->source[row] != sw) {
			row++;
		}
		ck_assert_uint_eq(src.sw_row, row < p->n_sources ? row : UINT32_MAX);
		for (uint32_t lid = 0; lid <= f->lids.top; lid++) {
			int ret = snap_path(r, &src, lid, &got);
			if (row == p->n_sources) {
				ck_assert_int_eq(ret, E_NOTFOUND);
				continue;
			}
			const struct path_row *want =
				&p->rows[(size_t)row * p->n_lids + lid];
			ck_assert_int_eq(ret, E_OK);
			ck_assert(got.mtu == want->mtu && got.rate == want->rate &&
			          got.hops == want->hops && got.lane == want->lane);
		}
	}
}

static void check_load(struct snap_reader *r, const struct fabric *f)
{
	const struct graph *g = f->g;
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];
		uint32_t all, base, i = g->adj_first[s];
		for (unsigned p = 0; p <= n->n_ports + 1U; p++) {
			int ret = snap_load(r, n->guid, (uint8_t)p, &all, &base);
			if (i == g->adj_first[s + 1] || g->adj[i].port != p) {
				ck_assert_int_eq(ret, E_NOTFOUND);
				continue;
			}
			ck_assert_int_eq(ret, E_OK);
			ck_assert_uint_eq(all, f->route.load.all[i]);
			ck_assert_uint_eq(base, f->route.load.base[i]);
			i++;
		}
	}
}

static void check_alternates(struct snap_reader *r, const struct fabric *f)
{
	const struct alternates *x = &f->route.alternates;
	for (uint32_t s = 0; s < f->g->n_switches; s++) {
		uint64_t guid = f->g->nodes[f->g->switches[s]].guid;
		struct port_set set[PORT_GROUPS_MAX];
		unsigned n = 0;
		ck_assert_int_eq(snap_port_groups(r, guid, set, &n),
		                 x->groups[s].n ? E_OK : E_NOTFOUND);
		ck_assert_uint_eq(n, x->groups[s].n);
		ck_assert_mem_eq(set, x->groups[s].set, n * sizeof(*set));
		for (uint32_t lid = 0; lid <= f->lids.top + 100; lid++) {
			uint8_t group = 1;
			ck_assert_int_eq(snap_port_group_of(r, guid, lid, &group), E_OK);
			ck_assert_uint_eq(group, lid <= f->lids.top
			                                 ? x->rows[s * x->stride + lid]
			                                 : PORT_GROUP_NONE);
		}
	}
}

static void check_meta(struct snap_reader *r, const struct snap_content *c)
{
	const struct snap_meta *m = snap_meta(r);
	ck_assert_uint_eq(m->epoch, c->epoch);
	ck_assert_int_eq(m->computed_at, c->computed_at);
	ck_assert_str_eq(m->engine_asked, "minhop");
	ck_assert_str_eq(m->engine_used, "minhop");
	ck_assert_str_eq(m->fallback_reason, c->route->fallback_reason.text);
	ck_assert_str_eq(m->warning, c->route->warning.text);
	ck_assert_uint_eq(m->n_nodes, c->g->n_nodes);
	ck_assert_uint_eq(m->n_hosts, c->g->n_hosts);
	ck_assert_uint_eq(m->n_lids, c->lids->count);
	ck_assert_uint_eq(m->top_lid, c->lids->top);
	ck_assert_uint_eq(m->pairs, c->route->proof.pairs);
	ck_assert_uint_eq(m->load_max, c->route->load.max);
	ck_assert_uint_eq(m->subnet_prefix, c->subnet_prefix);
	ck_assert_uint_eq(m->sm_lid, c->sm_lid);
	ck_assert_uint_eq(m->packet_life_time, c->packet_life_time);
	ck_assert_uint_eq(m->n_stages, c->n_stages);
	for (unsigned i = 0; i < c->n_stages; i++) {
		ck_assert_str_eq(m->stage[i].name, c->stage[i].name);
		ck_assert(m->stage[i].seconds == c->stage[i].seconds);
	}
}

static void check_attrs(struct snap_reader *r, const struct snap_content *c)
{
	struct snap_attr_row row;
	const uint8_t *data;
	uint16_t len;
	for (size_t i = 0; i < c->n_attrs; i++) {
		const struct snap_attr *at = &c->attrs[i];
		ck_assert_int_eq(snap_attr(r, at->attr, at->guid, at->block, &data, &len),
		                 E_OK);
		ck_assert_uint_eq(len, at->len);
		ck_assert_int_eq(memcmp(data, at->data, len), 0);
		ck_assert_int_eq(snap_attr(r, at->attr, at->guid, 9999, &data, &len),
		                 E_NOTFOUND);
		int ret = snap_attr_from(r, at->attr, at->guid, at->block + 1, &row);
		if (i + 1 < c->n_attrs && c->attrs[i + 1].attr == at->attr) {
			ck_assert_int_eq(ret, E_OK);
			ck_assert_uint_eq(row.guid, c->attrs[i + 1].guid);
			ck_assert_uint_eq(row.block, c->attrs[i + 1].block);
		} else {
			ck_assert_int_eq(ret, E_NOTFOUND);
		}
	}
}

static void check_rest(struct snap_reader *r, const struct snap_content *c)
{
	uint8_t sl = 99;
	uint64_t guid;
	unsigned n = 77;
	ck_assert_int_eq(snap_sl(r, 0, 0, &sl), E_OK);
	ck_assert_uint_eq(sl, 0);
	ck_assert_int_eq(snap_sl(r, 0, 14, &sl), E_NOTFOUND);
	ck_assert_int_eq(snap_sl(r, 0, 255, &sl), E_NOTFOUND);
	ck_assert_str_eq(snap_options(r), c->options_text);
	ck_assert_int_eq(snap_name(r, "no such node", &guid, 1, &n), E_NOTFOUND);
	ck_assert_int_eq(snap_name(r, "", &guid, 1, &n), E_NOTFOUND);
	ck_assert_uint_eq(n, 77);
}

static void check_all(struct snap_reader *r, const struct fabric *f,
                      const struct snap_content *c)
{
	check_meta(r, c);
	check_nodes(r, f);
	check_names(r, f);
	check_ports(r, f);
	check_links(r, f);
	check_lids(r, f);
	check_tables(r, f);
	check_paths(r, f);
	check_load(r, f);
	check_attrs(r, c);
	check_alternates(r, f);
	check_rest(r, c);
	ck_assert_int_eq(snap_check(r), E_OK);
}

static const struct {
	const char *spec;
	uint32_t lmc;
} fabrics[] = { { "ft2 4 4 2", 0 },     { "ft2 3 2 2 2", 3 }, { "ft3 4", 1 },
	        { "torus 3x3x2 2", 0 }, { "mesh 4x2 1", 4 },  { "ft3 6", 0 } };

START_TEST(test_reads_what_was_published)
{
	fabric_init(&fabric, fabrics[_i].spec, fabrics[_i].lmc);
	struct snap_content c = fabric_content(&fabric, 7);
	c.attrs = fabric_attrs(&fabric, 3, &c.n_attrs);
	struct snap_published p = publish(&c, 0);
	ck_assert(p.routing_changed && p.rows > 0 && p.bytes > 0);
	ck_assert_uint_eq(snap_epoch(w), 7);
	struct snap_reader *r = local(), *far = foreign();
	check_all(r, &fabric, &c);
	ck_assert_int_eq(snap_pin(far), E_OK);
	check_all(far, &fabric, &c);
	ck_assert_uint_eq(snap_meta(far)->version[SNAP_LFT], p.txn);
	snap_reader_close(r);
	snap_reader_close(far);
}
END_TEST

START_TEST(test_change_equals_fresh)
{
	struct fabric cut;
	fabric_init(&fabric, fabrics[_i].spec, fabrics[_i].lmc);
	fabric_cut(&cut, &fabric, 1, fabrics[_i].lmc);
	struct snap_content c = fabric_content(&fabric, 1);
	c.attrs = fabric_attrs(&fabric, 3, &c.n_attrs);
	struct snap_published p = publish(&c, 0);
	struct snap_reader *r = local(), *far = foreign();
	ck_assert_int_eq(snap_pin(far), E_OK);
	/* the same again: nothing but the head */
	struct snap_meta before = *snap_meta(r);
	c.epoch = 2;
	struct snap_published same = publish(&c, 1);
	ck_assert(same.rows == 0 && same.bytes == 0 && !same.routing_changed);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_uint_eq(snap_meta(r)->epoch, 2);
	ck_assert_uint_eq(snap_meta(r)->version[SNAP_LFT], before.version[SNAP_LFT]);
	ck_assert_uint_eq(snap_meta(r)->version[SNAP_PORTS], p.txn);
	/* one cable gone, and back */
	struct snap_content d = fabric_content(&cut, 3);
	d.attrs = fabric_attrs(&cut, 4, &d.n_attrs);
	struct snap_published small = publish(&d, 2);
	ck_assert(small.routing_changed && small.rows < p.rows);
	for (unsigned i = 0; i < 2; i++) {
		struct snap_reader *both[] = { r, far };
		ck_assert_int_eq(snap_pin(both[i]), E_OK);
		check_all(both[i], &cut, &d);
		ck_assert_uint_eq(snap_meta(both[i])->version[SNAP_LINKS], small.txn);
		ck_assert_uint_eq(snap_meta(both[i])->version[SNAP_OPTIONS], p.txn);
	}
	c.epoch = 4;
	publish(&c, 3);
	ck_assert_int_eq(snap_pin(r), E_OK);
	check_all(r, &fabric, &c);
	snap_reader_close(r);
	snap_reader_close(far);
	fabric_done(&cut);
}
END_TEST

/* By which node a name is found, 0: by none. */
static uint64_t found(struct snap_reader *r, const char *name, unsigned want_n)
{
	uint64_t guids[8] = { 0 };
	unsigned n = 0;
	int ret = snap_name(r, name, guids, 8, &n);

	ck_assert_int_eq(ret, want_n ? E_OK : E_NOTFOUND);
	ck_assert_uint_eq(n, want_n);
	return guids[0];
}

/* A node is found by what the operator calls it and by its description; a name that is
 * another node's description finds both. */
START_TEST(test_operator_names)
{
	fabric_init(&fabric, "ft2 4 4 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	struct node *a = &fabric.g->nodes[0], *b = &fabric.g->nodes[1];
	char longest[65] = "";

	publish(&c, 0);
	struct snap_reader *r = local();
	a->name = "rack 7";
	b->name = memset(longest, 'x', 64);
	fabric.g->nodes[2].name = a->description;
	fabric.g->nodes[3].name = fabric.g->nodes[3].description;
	c.epoch = 2;
	publish(&c, 1);
	ck_assert_int_eq(snap_pin(r), E_OK);
	check_nodes(r, &fabric);
	ck_assert_uint_eq(found(r, "rack 7", 1), a->guid);
	ck_assert_uint_eq(found(r, longest, 1), b->guid);
	ck_assert_uint_eq(found(r, b->description, 1), b->guid);
	ck_assert_uint_eq(found(r, a->description, 2), a->guid);
	ck_assert_uint_eq(found(r, fabric.g->nodes[3].description, 1),
	                  fabric.g->nodes[3].guid);
	a->name = NULL;
	c.epoch = 3;
	publish(&c, 2);
	ck_assert_int_eq(snap_pin(r), E_OK);
	check_nodes(r, &fabric);
	found(r, "rack 7", 0);
	snap_reader_close(r);
}
END_TEST

/* Hosts that are gone leave no row behind, in no table. */
START_TEST(test_shrinks)
{
	struct fabric big;
	fabric_init(&big, "ft2 8 8 4", 2);
	fabric_init(&fabric, "ft2 2 2 1", 0);
	struct snap_content b = fabric_content(&big, 1), c = fabric_content(&fabric, 2);
	b.attrs = fabric_attrs(&big, 3, &b.n_attrs);
	publish(&b, 0);
	publish(&c, 1);
	struct snap_reader *r = local();
	struct snap_attr_row row;
	check_all(r, &fabric, &c);
	ck_assert_int_eq(snap_attr_from(r, 0x10, 0, 0, &row), E_NOTFOUND);
	snap_reader_close(r);
	fabric_done(&big);
}
END_TEST

/* The highest LIDs go: the chunks that held them go with them, and the others stay right. */
START_TEST(test_fewer_chunks)
{
	struct fabric high;

	fabric_init(&high, "ft2 8 64 4", 3);
	fabric_init(&fabric, "ft2 8 64 4", 0);
	ck_assert_uint_gt(high.lids.top, 4096);
	struct snap_content b = fabric_content(&high, 1), c = fabric_content(&fabric, 2);
	publish(&b, 0);
	publish(&c, 1);
	struct snap_reader *r = local();
	check_all(r, &fabric, &c);
	for (uint32_t s = 0; s < fabric.g->n_switches; s++) {
		uint8_t port = 0;
		int ret = snap_lft(r, fabric.g->nodes[fabric.g->switches[s]].guid,
		                   high.lids.top, &port);

		ck_assert(ret == E_NOTFOUND || port == LFT_NO_ROUTE);
	}
	snap_reader_close(r);
	fabric_done(&high);
}
END_TEST

START_TEST(test_port_states_keep_epoch)
{
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 5);
	struct snap_published p = publish(&c, 0), q;
	uint64_t first = p.txn;
	for (uint32_t i = 0; i < fabric.g->n_ports; i++) {
		if (fabric.g->ports[i].peer != GRAPH_NONE) {
			fabric.g->ports[i].state = PORT_ACTIVE;
		}
	}
	p = publish(&c, 1);
	ck_assert(!p.routing_changed && p.rows == fabric.g->n_nodes);
	struct snap_reader *r = local();
	ck_assert_uint_eq(snap_meta(r)->epoch, 5);
	ck_assert_uint_eq(snap_meta(r)->version[SNAP_PORTS], p.txn);
	ck_assert_uint_eq(snap_meta(r)->version[SNAP_NODES], first);
	check_all(r, &fabric, &c);
	/* another routing under the same epoch is refused as a whole */
	lft_row(&fabric.route.out.lft, 0)[1] ^= 1;
	q.txn = 99;
	ck_assert_int_eq(snap_publish(w, &c, 2, &q), -EINVAL);
	ck_assert_uint_eq(q.txn, 99);
	c.epoch = 0;
	ck_assert_int_eq(snap_publish(w, &c, 2, &q), -EINVAL);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_uint_eq(snap_meta(r)->txn, p.txn);
	snap_reader_close(r);
}
END_TEST

START_TEST(test_unsorted_attrs)
{
	uint8_t x[64] = { 0 };
	struct snap_attr at[] = { { 2, 0x11, 0, x, 64 }, { 1, 0x11, 0, x, 64 } };
	struct snap_published p;
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	c.attrs = at;
	c.n_attrs = 2;
	ck_assert_int_eq(snap_publish(w, &c, 0, &p), -EINVAL);
	ck_assert_uint_eq(snap_epoch(w), 0);
}
END_TEST

START_TEST(test_not_ready)
{
	struct snap_reader *r = foreign(), *near;
	struct snap_end e;
	ck_assert_int_eq(snap_pin(r), E_NOTREADY);
	ck_assert_int_eq(snap_lid(r, 1, &e), E_NOTREADY);
	ck_assert_int_eq(snap_reader_local(w, &near), E_OK);
	ck_assert_int_eq(snap_pin(near), E_NOTREADY);
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	publish(&c, 0);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_int_eq(snap_pin(near), E_OK);
	check_all(r, &fabric, &c);
	snap_unpin(near);
	ck_assert_int_eq(snap_lid(near, 1, &e), E_NOTREADY);
	ck_assert_int_eq(snap_pin(near), E_OK);
	check_all(near, &fabric, &c);
	snap_reader_close(r);
	snap_reader_close(near);
}
END_TEST

START_TEST(test_reader_without_folder)
{
	struct snap_reader *r = NULL;
	const char *why = "";
	ck_assert_int_eq(snap_reader_open("/nonexistent/saguaro", arena, &why, &r),
	                 E_NOTREADY);
	ck_assert_ptr_nonnull(strstr(why, "/nonexistent/saguaro"));
	ck_assert_ptr_null(r);
}
END_TEST

/* --- folders ---------------------------------------------------------------------- */

START_TEST(test_modes)
{
	struct stat st;
	static const struct {
		const char *name;
		mode_t mode;
	} files[] = { { "snapshot", 02750 },
		      { "snapshot/data.mdb", 0640 },
		      { "snapshot/lock.mdb", 0600 },
		      { "snapshot/lock", 0600 },
		      { "snapshot/writer", 0640 } };
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		ck_assert_int_eq(
			stat(arena_printf(arena, "%s/%s", dir, files[i].name), &st), 0);
		ck_assert_uint_eq(st.st_mode & 07777, files[i].mode);
	}
}
END_TEST

/* Readers pass through the folders above that of the instance, whatever the umask is. */
START_TEST(test_modes_above)
{
	const char *far = arena_printf(arena, "%s/a/b/instance", dir);
	struct snap_writer *other = NULL;
	const char *why = "";
	struct stat st;
	static const struct {
		const char *name;
		mode_t mode;
	} folders[] = {
		{ "a", 0755 }, { "a/b", 0755 }, { "a/b/instance", 02750 }
	};
	const mode_t old = umask(0077);
	int ret = snap_writer_open(far, &(struct snap_options){ .grace_ms = 10 }, arena,
	                           &why, &other);

	umask(old);
	ck_assert_msg(ret == E_OK, "%s", why);
	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		ck_assert_int_eq(
			stat(arena_printf(arena, "%s/%s", dir, folders[i].name), &st),
			0);
		ck_assert_uint_eq(st.st_mode & 07777, folders[i].mode);
	}
	snap_writer_close(other);
}
END_TEST

START_TEST(test_too_small)
{
	const char *why;
	struct snap_options o = { .need_bytes = UINT64_C(1) << 55 };
	snap_writer_close(w);
	w = NULL;
	ck_assert_int_eq(open_writer(&o, &why), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(why, dir));
	ck_assert_ptr_nonnull(strstr(why, "too small"));
	ck_assert_ptr_nonnull(strstr(why, "--snapshot-dir"));
}
END_TEST

/* Limits address space to 8 GiB, which is less than a map. */
static bool limit_address_space(struct rlimit *ret_was)
{
	const rlim_t bytes = (rlim_t)(UINT64_C(8) << 30);
	struct rlimit r;

#if defined(__SANITIZE_ADDRESS__)
	fprintf(stderr, "skipped: AddressSanitizer needs terabytes of addresses\n");
	return false;
#endif
	if (sizeof(size_t) < 8) {
		fprintf(stderr,
		        "skipped: no map is larger than 8 GiB with 32-bit words\n");
		return false;
	}
	ck_assert_int_eq(getrlimit(RLIMIT_AS, ret_was), 0);
	r = *ret_was;
	r.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &r), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &r), 0);
	if (r.rlim_cur != bytes) {
		fprintf(stderr, "skipped: limits of address space are ignored here\n");
		return false;
	}
	return true;
}

/* A process with little address space (ulimit -v) has a smaller map: a writer of a new file (0), a
 * writer of the file of a process that had more (1), and a reader of that (2). */
START_TEST(test_address_space)
{
	const char *why = "";
	struct snap_options o = { .grace_ms = 10000 };
	struct snap_content c;
	struct rlimit was;
	struct snap_reader *far = NULL;
	fabric_init(&fabric, "ft2 4 4 2", 0);
	c = fabric_content(&fabric, 1);
	publish(&c, 0);
	snap_writer_close(w);
	w = NULL;
	if (_i == 0) {
		remove_tree(dir);
	}
	if (!limit_address_space(&was)) {
		return;
	}
	int ret = _i < 2 ? open_writer(&o, &why)
	                 : snap_reader_open(dir, arena, &why, &far);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &was), 0);
	ck_assert_msg(ret == E_OK, "%s", why);
	ck_assert_msg(!why || !*why, "%s", why); /* it is not taken for damaged */
	if (far) {
		ck_assert_int_eq(snap_pin(far), E_OK);
		check_all(far, &fabric, &c);
		snap_reader_close(far);
	}
}
END_TEST

START_TEST(test_second_writer)
{
	const char *why = "";
	struct snap_options o = { 0 };
	struct snap_writer *second = NULL;
	ck_assert_int_eq(snap_writer_open(dir, &o, arena, &why, &second), E_LOCKED);
	ck_assert_ptr_nonnull(strstr(why, "in use"));
	ck_assert_ptr_null(second);
}
END_TEST

/* No space: first the map, then the file system (a limit on file size acts the same). */
START_TEST(test_full)
{
	const char *why;
	struct snap_published p;
	struct snap_options o = { .map_bytes = 1 << 20 };
	struct rlimit limit = { 1 << 20, RLIM_INFINITY };
	struct fabric big;
	snap_writer_close(w);
	w = NULL;
	if (_i == 1) {
		o.map_bytes = 0;
		signal(SIGXFSZ, SIG_IGN);
	}
	ck_assert_int_eq(open_writer(&o, &why), E_OK);
	fabric_init(&fabric, "ft2 4 4 2", 0);
	fabric_init(&big, "ft3 16", 0);
	struct snap_content c = fabric_content(&fabric, 1), d = fabric_content(&big, 2);
	publish(&c, 0);
	struct snap_reader *far = foreign();
	if (_i == 1) {
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(snap_publish(w, &d, 1 + i, &p), E_FULL);
		ck_assert_int_eq(snap_pin(far), E_OK);
		check_all(far, &fabric, &c);
	}
	ck_assert_uint_eq(snap_epoch(w), 1);
	if (_i == 1) {
		limit.rlim_cur = RLIM_INFINITY;
		ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		publish(&d, 10);
		ck_assert_int_eq(snap_pin(far), E_OK);
		ck_assert_uint_eq(snap_meta(far)->epoch, 2);
		check_lids(far, &big);
	}
	snap_reader_close(far);
	fabric_done(&big);
}
END_TEST

/* --- damaged values --------------------------------------------------------------- */

/* Gives every row of a table the same value, in a transaction with a head of its own. */
static uint64_t host_node(void)
{
	return fabric.g->nodes[fabric.g->ports[fabric.g->hosts[0]].node].guid;
}

static void overwrite(unsigned table, const void *val, size_t len)
{
	struct db *db;
	struct db_txn t;
	struct db_val k, v;
	uint8_t head[sizeof(struct row_meta) + 1024];
	const char *why = "";
	char path[300];
	snprintf(path, sizeof(path), "%s/snapshot", dir);
	int ret = db_open_writer(&kind_snapshot, path, 0, 0, arena, &why, &db);
	ck_assert_msg(ret == E_OK, "%s", why);
	ck_assert_int_eq(db_begin(&t, db, true), E_OK);
	ck_assert_int_eq(db_get(&t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v),
	                 E_OK);
	ck_assert_uint_le(v.len, sizeof(head));
	memcpy(head, v.data, v.len);
	uint64_t id = mdb_txn_id(t.txn);
	memcpy(head, &id, sizeof(id));
	db_put(&t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), head, v.len);
	ret = db_seek(&t, table, NULL, 0, &k, &v);
	while (ret == E_OK && table != SNAP_META) {
		uint8_t key[64];
		size_t key_len = k.len;
		memcpy(key, k.data, key_len);
		db_put(&t, table, key, key_len, val, len);
		ret = db_next(&t, table, &k, &v);
	}
	if (table == SNAP_PREFIX_ROUTES || table == SNAP_POLICY || table == SNAP_PARTITIONS) { /* there is none */
		db_put(&t, table, "\0", 2, val, len);
	}
	if (table == SNAP_META) {
		memcpy(head + sizeof(struct row_head), (const uint8_t *)val, len);
		db_put(&t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), head,
		       sizeof(struct row_head) + len);
	}
	ck_assert_int_eq(db_commit(&t), E_OK);
	db_unref(db);
}

static int read_table(struct snap_reader *r, unsigned table)
{
	struct snap_node node;
	struct snap_port port;
	struct snap_link link;
	struct snap_end end;
	struct snap_path path;
	struct snap_attr_row row;
	uint64_t guid, host = fabric.g->ports[fabric.g->hosts[0]].guid;
	uint32_t all, base;
	unsigned n;
	uint8_t byte;
	switch (table) {
	case SNAP_NODES: return snap_node_from(r, 0, &node);
	case SNAP_PORTS: return snap_port_from(r, 0, 0, &port);
	case SNAP_LINKS: return snap_link_from(r, 0, 0, &link);
	case SNAP_NAMES:
		return snap_name(r, fabric.g->nodes[0].description, &guid, 1, &n);
	case SNAP_GUIDS: return snap_port_guid(r, host, &end);
	case SNAP_VPORTS:
		return snap_vport(r, host_node(), 0, &(struct snap_vport){ 0 });
	case SNAP_LIDS: return snap_lid(r, 1, &end);
	case SNAP_ATTRS: return snap_attr_from(r, 0x11, 0, 0, &row);
	case SNAP_LFT:
		return snap_lft(r, fabric.g->nodes[fabric.g->switches[0]].guid, 1, &byte);
	case SNAP_PATHS:
		ck_assert_int_eq(snap_port_guid(r, host, &end), E_OK);
		return snap_path(r, &end, 1, &path);
	case SNAP_P_KEY_SETS: {
		struct snap_end peer;
		uint16_t key;
		ck_assert_int_eq(snap_port_guid(r, host, &end), E_OK);
		ck_assert_int_eq(snap_lid(r, end.base_lid == 1 ? 2 : 1, &peer), E_OK);
		return snap_common_p_key(r, &end, &peer, 0, &key);
	}
	case SNAP_CHANGES: {
		uint64_t oldest;
		return snap_changes_oldest(r, &oldest);
	}
	case SNAP_PREFIX_ROUTES:
		return snap_prefix_route(r, 0, &(struct snap_prefix_route){ 0 });
	case SNAP_PARTITIONS:
		return snap_partition_from(r, 0, &(struct snap_partition){ 0 });
	case SNAP_ALTERNATES:
		return snap_port_group_of(
			r, fabric.g->nodes[fabric.g->switches[0]].guid, 1, &byte);
	case SNAP_PORT_GROUPS: {
		struct port_set set[PORT_GROUPS_MAX];
		return snap_port_groups(r, fabric.g->nodes[fabric.g->switches[0]].guid, set,
		                        &n);
	}
	case SNAP_POLICY: {
		const struct policy *policy;
		return snap_policy(r, &policy);
	}
	case SNAP_VLS: return snap_sl(r, 0, 0, &byte);
	case SNAP_OPTIONS: return snap_options(r) ? E_OK : E_MALFORMED;
	case SNAP_LOAD:
		return snap_load(r, fabric.g->nodes[fabric.g->switches[0]].guid, 1, &all,
		                 &base);
	default: return E_OK;
	}
}

/* A snapshot is made anew from the fabric, so an update of the program need not stop at
 * the file of the version before. */
START_TEST(test_older_layout_is_rebuilt)
{
	struct row_layout old = { .kind = "snapshot", .layout = kind_snapshot.layout - 1 };
	struct snap_options o = { .grace_ms = 10000 };
	struct snap_reader *r;
	struct db *db;
	struct db_txn t;
	const char *why;
	char path[300];

	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 5);
	publish(&c, 0);
	snap_writer_close(w);
	w = NULL;
	snprintf(path, sizeof(path), "%s/snapshot", dir);
	ck_assert_int_eq(db_open_writer(&kind_snapshot, path, 0, 0, arena, NULL, &db), E_OK);
	ck_assert_int_eq(db_begin(&t, db, true), E_OK);
	db_put(&t, SNAP_LAYOUT, DB_KEY_LAYOUT, sizeof(DB_KEY_LAYOUT), &old, sizeof(old));
	ck_assert_int_eq(db_commit(&t), E_OK);
	db_unref(db);
	/* a reader does not touch it */
	ck_assert_int_eq(snap_reader_open(dir, arena, NULL, &r), E_LAYOUT);
	ck_assert_int_eq(open_writer(&o, &why), E_OK);
	ck_assert_uint_eq(snap_epoch(w), 0);
	r = foreign();
	ck_assert_int_eq(snap_pin(r), E_NOTREADY);
	c.epoch = 6;
	publish(&c, 0);
	ck_assert_int_eq(snap_pin(r), E_OK);
	check_all(r, &fabric, &c);
	snap_reader_close(r);
}
END_TEST

START_TEST(test_wrong_length)
{
	static uint8_t big[5000];
	static const size_t lengths[] = { 3, 4999 };
	unsigned table = (unsigned)_i;
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	struct snap_vport_row vport = { .v = { .guid = 0xabc, .lid = 1, .port = 1 },
		                        .port = fabric.g->hosts[0] };
	vport.v.host_guid = host_node();
	c.attrs = fabric_attrs(&fabric, 3, &c.n_attrs);
	c.vports = &vport;
	c.n_vports = 1;
	history_limit(&w->history, 1 << 20);
	publish(&c, 0);
	snap_writer_close(w);
	w = NULL;
	memset(big, 0xff, sizeof(big));
	for (unsigned i = 0; i < 2; i++) {
		/* one byte per LID has no wrong length but a too large one */
		if ((table == SNAP_LFT || table == SNAP_ALTERNATES) && i == 0) {
			continue;
		}
		overwrite(table, big, lengths[i]);
		struct snap_reader *r = foreign();
		ck_assert_int_eq(snap_pin(r), E_OK);
		ck_assert_int_eq(read_table(r, table), E_MALFORMED);
		ck_assert_int_eq(snap_check(r), E_OK);
		snap_reader_close(r);
	}
}
END_TEST

/* A row of an attribute that is whole, and one behind it of which only a few bytes are
 * there. */
START_TEST(test_cut_attribute)
{
	enum { HEAD = 6, DATA = 4 };
	static const uint16_t len = DATA;
	uint8_t rows[2 * HEAD + DATA] = { 0 };
	unsigned cut = (unsigned)_i;
	struct snap_attr_row row;

	memcpy(rows + sizeof(uint32_t), &len, sizeof(len));
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	c.attrs = fabric_attrs(&fabric, 3, &c.n_attrs);
	publish(&c, 0);
	snap_writer_close(w);
	w = NULL;
	overwrite(SNAP_ATTRS, rows, HEAD + DATA + cut);
	struct snap_reader *r = foreign();
	ck_assert_int_eq(snap_pin(r), E_OK);
	uint64_t guid = fabric.g->nodes[fabric.g->switches[0]].guid;
	ck_assert_int_eq(snap_attr_from(r, 0x11, guid, 0, &row), E_OK);
	ck_assert_uint_eq(row.len, DATA);
	ck_assert_int_eq(snap_attr_from(r, 0x11, guid, 1, &row), E_MALFORMED);
	snap_reader_close(r);
}
END_TEST

/* A head that is cut, or holds nonsense counts. */
START_TEST(test_wrong_head)
{
	static uint8_t big[sizeof(struct row_meta) - sizeof(struct row_head)];
	const char *why;
	struct snap_options o = { 0 };
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	publish(&c, 0);
	snap_writer_close(w);
	w = NULL;
	memset(big, 0xff, sizeof(big));
	overwrite(SNAP_META, big, _i ? sizeof(big) : 3);
	struct snap_reader *r = foreign();
	ck_assert_int_eq(snap_pin(r), E_MALFORMED);
	snap_reader_close(r);
	if (_i == 0) {
		ck_assert_int_eq(open_writer(&o, &why), E_OK);
		ck_assert_ptr_nonnull(strstr(why, "data.mdb.damaged"));
		ck_assert_uint_eq(snap_epoch(w), 0);
	}
}
END_TEST

/* One kind of damage to data.mdb by the number of the test. */
static void damage_file(const char *file, uint64_t seed)
{
	uint8_t noise[4096];
	struct stat st;
	int fd = open(file, O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	uint64_t pages = (uint64_t)st.st_size / sizeof(noise);
	srandom((unsigned)seed + 1);
	for (size_t i = 0; i < sizeof(noise); i++) {
		noise[i] = (uint8_t)random();
	}
	if (seed % 5 == 0) { /* cut */
		ck_assert_int_eq(ftruncate(fd, random() % (st.st_size / 2) + 1), 0);
	} else if (seed % 5 == 1) { /* wrong magic in both metas */
		ck_assert_int_eq(pwrite(fd, noise, 64, 0), 64);
		ck_assert_int_eq(pwrite(fd, noise, 64, 4096), 64);
	} else { /* random bytes in one page of four, whole or in part */
		for (uint64_t i = 2; i < pages; i++) {
			size_t len = seed % 5 == 2 ? sizeof(noise) : 16;
			off_t at = (off_t)(i * sizeof(noise)) +
			           (seed % 5 == 4 ? random() % 4000 : 0);
			if (random() % 4 == 0) {
				ck_assert_int_eq(pwrite(fd, noise, len, at),
				                 (ssize_t)len);
			}
		}
	}
	close(fd);
}

/* Whatever the damage, the writer opens and publishes; an older reader goes on with the new
 * epoch, and if the file was emptied there is a copy of it. */
START_TEST(test_damaged_file)
{
	char file[300], copy[320];
	const char *why;
	struct snap_options o = { 0 };
	fabric_init(&fabric, "ft2 6 6 3", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	publish(&c, 0);
	c.epoch = 2;
	publish(&c, 100);
	struct snap_reader *old = _i % 5 != 0 ? foreign() : NULL;
	snap_writer_close(w);
	w = NULL;
	snprintf(file, sizeof(file), "%s/snapshot/data.mdb", dir);
	snprintf(copy, sizeof(copy), "%s.damaged", file);
	damage_file(file, (uint64_t)_i);
	ck_assert_int_eq(open_writer(&o, &why), E_OK);
	if (snap_epoch(w) == 0) {
		ck_assert_ptr_nonnull(strstr(why, copy));
	}
	ck_assert_int_eq(access(copy, F_OK) == 0, why[0] != '\0');
	c.epoch = 3;
	publish(&c, 200);
	struct snap_reader *r = foreign();
	ck_assert_int_eq(snap_pin(r), E_OK);
	check_all(r, &fabric, &c);
	snap_reader_close(r);
	if (old) {
		ck_assert_int_eq(snap_pin(old), E_OK);
		ck_assert_uint_eq(snap_meta(old)->epoch, 3);
		snap_reader_close(old);
	}
}
END_TEST

/* --- epochs, pins, foreign readers ----------------------------------------------------
 */

static uint64_t clock_now;

static uint64_t test_clock(void *arg)
{
	return arg ? *(const uint64_t *)arg : clock_now;
}

static off_t file_size(void)
{
	struct stat st;
	ck_assert_int_eq(stat(arena_printf(arena, "%s/snapshot/data.mdb", dir), &st), 0);
	return st.st_size;
}

START_TEST(test_age)
{
	struct snap_end e;
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	publish(&c, 0);
	struct snap_reader *r = foreign();
	clock_now = 100000;
	snap_reader_clock(r, test_clock, NULL);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_int_eq(snap_lid(r, 1, &e), E_OK);
	/* the newest epoch never ages */
	clock_now += 1000000;
	ck_assert_int_eq(snap_check(r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	/* a superseded one does */
	c.epoch = 2;
	publish(&c, 1);
	clock_now += 4999;
	ck_assert_int_eq(snap_check(r), E_OK);
	ck_assert_uint_eq(snap_meta(r)->epoch, 1);
	clock_now += 1;
	ck_assert_int_eq(snap_check(r), E_STALE);
	struct snap_node n;
	ck_assert_int_eq(snap_node_from(r, 0, &n), E_STALE);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_uint_eq(snap_meta(r)->epoch, 2);
	ck_assert_int_eq(snap_check(r), E_OK);
	snap_reader_close(r);
}
END_TEST

/* The pins of a writer die with it: what it superseded can not be trusted any more. */
START_TEST(test_writer_restart)
{
	const char *why;
	struct snap_options o = { .grace_ms = 10000 };
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	publish(&c, 0);
	struct snap_reader *r = foreign(), *newest = foreign();
	ck_assert_int_eq(snap_pin(r), E_OK);
	c.epoch = 2;
	publish(&c, 1);
	ck_assert_int_eq(snap_pin(newest), E_OK);
	ck_assert_int_eq(snap_check(r), E_OK);
	snap_writer_close(w);
	ck_assert_int_eq(open_writer(&o, &why), E_OK);
	ck_assert_uint_eq(snap_epoch(w), 2);
	ck_assert_int_eq(snap_check(r), E_STALE);
	ck_assert_int_eq(snap_check(newest), E_OK);
	c.epoch = 3;
	publish(&c, 2);
	ck_assert_int_eq(snap_check(newest), E_STALE);
	ck_assert_int_eq(snap_pin(newest), E_OK);
	ck_assert_uint_eq(snap_meta(newest)->epoch, 3);
	snap_reader_close(r);
	snap_reader_close(newest);
}
END_TEST

/* Every row that can carry a number carries the epoch's: a mixture of two would show. */
static void stamp(struct fabric *f, uint8_t number)
{
	struct lft *t = &f->route.out.lft;
	struct paths *p = &f->route.paths;
	memset(t->rows, number, (size_t)t->n_switches * t->stride);
	memset(p->rows, number, (size_t)p->n_sources * p->n_lids * sizeof(*p->rows));
	for (uint32_t i = 0; i < f->g->n_nodes; i++) {
		f->g->nodes[i].revision = number;
	}
	for (uint32_t i = 0; i < f->g->n_ports; i++) {
		f->g->ports[i].vls = number;
	}
}

/* Reads half of an answer, calls `pause`, reads the rest. \return stamps seen that differ
 */
static int stamped_answer(struct snap_reader *r, const struct fabric *f,
                          void (*pause)(void))
{
	int ret = E_OK, bad = 0;
	uint8_t want = (uint8_t)snap_meta(r)->epoch;
	struct snap_end src;
	memset(&src, 0, sizeof(src));
	for (uint32_t i = 0; i < f->g->n_nodes && ret == E_OK; i++) {
		struct snap_node n = { 0 };
		struct snap_port p = { 0 };
		uint8_t port = want;
		struct snap_path path = { want, want, want, want };
		if (i == f->g->n_nodes / 2 && pause) {
			pause();
		}
		ret = snap_node(r, f->g->nodes[i].guid, &n);
		bad += ret == E_OK && n.revision != want;
		ret = ret == E_OK ? snap_port(r, f->g->nodes[i].guid, 1, &p) : ret;
		bad += ret == E_OK && p.vls != want;
		ret = ret == E_OK ? snap_lid(r, n.lid, &src) : ret;
		for (uint32_t lid = 1; lid <= f->lids.top && ret == E_OK; lid++) {
			if (src.sw_row != UINT32_MAX) {
				ret = snap_path(r, &src, lid, &path);
			}
			ret = ret == E_OK ? snap_lft(r, src.sw_guid, lid, &port) : ret;
			bad += path.mtu != want || path.lane != want || port != want;
		}
	}
	int stands = snap_check(r);
	if (stands != E_OK) {
		return stands; /* whatever was seen is thrown away */
	}
	return ret != E_OK ? ret : bad;
}

static void stop_myself(void)
{
	raise(SIGSTOP);
}

/* The clock of writer and reader: shared memory would do, a file is enough. */
static uint64_t file_clock(void *arg)
{
	uint64_t now = 0;
	FILE *f = fopen(arg, "rb");
	if (f) {
		if (fread(&now, sizeof(now), 1, f) != 1) {
			now = 0;
		}
		fclose(f);
	}
	return now;
}

static void set_clock(const char *path, uint64_t now)
{
	FILE *f = fopen(path, "r+b");
	if (!f) {
		f = fopen(path, "wb");
	}
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(&now, sizeof(now), 1, f), 1);
	ck_assert_int_eq(fclose(f), 0);
}

static const char stamped_spec[] = "ft2 6 6 3", running_spec[] = "ft2 3 3 2";
enum { RUNNING_EPOCHS = 1000 };

/*
 * The other process: `test_snapshot reader DIR CLOCK`. Answers once, stopping itself in
 * the middle; after it is continued it answers again without stopping. Exit status 0: the
 * first answer was refused as stale and the second was whole.
 */
static int reader_main(char **argv)
{
	struct fabric f;
	struct snap_reader *r;
	const char *why = "";
	struct arena *a = arena_new();
	fabric_init(&f, stamped_spec, 0);
	if (snap_reader_open(argv[0], a, &why, &r) != E_OK) {
		return 2;
	}
	snap_reader_clock(r, file_clock, argv[1]);
	if (snap_pin(r) != E_OK || stamped_answer(r, &f, NULL) != 0) {
		return 3;
	}
	if (snap_pin(r) != E_OK) {
		return 4;
	}
	int ret = stamped_answer(r, &f, stop_myself);
	if (ret != E_STALE) {
		fprintf(stderr, "after the stop: %d\n", ret);
		return 5;
	}
	if (snap_pin(r) != E_OK || stamped_answer(r, &f, NULL) != 0) {
		return 6;
	}
	snap_reader_close(r);
	arena_free(a);
	fabric_done(&f);
	return 0;
}

static pid_t start_reader(const char *clock_path)
{
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		execl(test_program, test_program, "reader", dir, clock_path, (char *)NULL);
		_exit(127);
	}
	return pid;
}

START_TEST(test_stopped_reader)
{
	const char *clock_path = arena_printf(arena, "%s/clock", dir);
	uint64_t now = 1000000;
	int status;
	fabric_init(&fabric, stamped_spec, 0);
	struct snap_content c = fabric_content(&fabric, 1);
	off_t settled = 0;
	/* let the file reach its size first: one pinned epoch at a time */
	for (c.epoch = 1; c.epoch <= 8; c.epoch++) {
		now += 20000;
		stamp(&fabric, (uint8_t)c.epoch);
		publish(&c, now);
		settled = file_size();
	}
	set_clock(clock_path, now);
	pid_t pid = start_reader(clock_path);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert_msg(WIFSTOPPED(status), "the reader ended with %d",
	              WEXITSTATUS(status));
	/* 100 epochs of which each replaces every page, while the reader is stopped */
	for (unsigned i = 0; i < 100; i++, c.epoch++) {
		now += 20000;
		set_clock(clock_path, now);
		stamp(&fabric, (uint8_t)c.epoch);
		publish(&c, now);
	}
	ck_assert_int_le(file_size(), settled + settled / 4);
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the reader: %x",
	              status);
}
END_TEST

/* Within half the grace a stopped reader's answer is still whole: the pin keeps its
 * pages. */
START_TEST(test_pin_keeps_pages)
{
	uint64_t now = 1000000;
	fabric_init(&fabric, stamped_spec, 0);
	struct snap_content c = fabric_content(&fabric, 1);
	for (c.epoch = 1; c.epoch <= 8; c.epoch++) {
		now += 20000;
		stamp(&fabric, (uint8_t)c.epoch);
		publish(&c, now);
	}
	struct snap_reader *r = foreign();
	clock_now = now;
	snap_reader_clock(r, test_clock, NULL);
	ck_assert_int_eq(snap_pin(r), E_OK);
	uint64_t epoch = snap_meta(r)->epoch;
	/* 100 epochs in 4.9 s: more than there are pins */
	for (unsigned i = 0; i < 100; i++, c.epoch++) {
		now += 49;
		stamp(&fabric, (uint8_t)c.epoch);
		publish(&c, now);
		snap_release_old(w, now);
	}
	clock_now = now;
	ck_assert_int_eq(stamped_answer(r, &fabric, NULL), 0);
	ck_assert_uint_eq(snap_meta(r)->epoch, epoch);
	off_t grown = file_size();
	/* once the grace is over, the room is used again */
	for (unsigned i = 0; i < 100; i++, c.epoch++) {
		now += 20000;
		stamp(&fabric, (uint8_t)c.epoch);
		publish(&c, now);
	}
	ck_assert_int_eq(file_size(), grown);
	clock_now = now;
	ck_assert_int_eq(stamped_answer(r, &fabric, NULL), E_STALE);
	snap_reader_close(r);
}
END_TEST

/*
 * Another process: `test_snapshot writer DIR FD`. Publishes as fast as it can on an
 * honest clock and says through FD when the first epoch is out.
 */
static int writer_main(char **argv)
{
	struct fabric f;
	const char *why = "";
	struct snap_options o = { .grace_ms = 60000 };
	struct snap_published p;
	arena = arena_new();
	snprintf(dir, sizeof(dir), "%s", argv[0]);
	fabric_init(&f, running_spec, 0);
	if (open_writer(&o, &why) != E_OK) {
		fprintf(stderr, "%s\n", why);
		return 2;
	}
	struct snap_content c = fabric_content(&f, 1);
	for (c.epoch = 1; c.epoch <= RUNNING_EPOCHS; c.epoch++) {
		struct timespec ts;
		clock_gettime(CLOCK_MONOTONIC, &ts);
		stamp(&f, (uint8_t)c.epoch);
		if (snap_publish(w, &c, (uint64_t)ts.tv_sec * 1000, &p) != E_OK) {
			return 3;
		}
		if (c.epoch == 1 && write(atoi(argv[1]), "x", 1) != 1) {
			return 4;
		}
	}
	snap_writer_close(w);
	fabric_done(&f);
	arena_free(arena);
	return 0;
}

/* A foreign reader sees only whole epochs, and never an older one than before. */
START_TEST(test_running_writer)
{
	int fds[2], status = 0;
	char byte;
	unsigned whole = 0;
	uint64_t last = 0;
	fabric_init(&fabric, running_spec, 0);
	snap_writer_close(w);
	w = NULL;
	ck_assert_int_eq(pipe(fds), 0);
	const char *fd = arena_printf(arena, "%d", fds[1]);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		execl(test_program, test_program, "writer", dir, fd, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	struct snap_reader *r = foreign();
	while (waitpid(pid, &status, WNOHANG) == 0) {
		ck_assert_int_eq(snap_pin(r), E_OK);
		ck_assert_uint_ge(snap_meta(r)->epoch, last);
		last = snap_meta(r)->epoch;
		ck_assert_uint_eq(snap_meta(r)->version[SNAP_LFT], snap_meta(r)->txn);
		int ret = stamped_answer(r, &fabric, NULL);
		ck_assert_msg(ret == 0 || ret == E_STALE, "torn: %d", ret);
		whole += ret == 0;
	}
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_uint_eq(snap_meta(r)->epoch, RUNNING_EPOCHS);
	ck_assert_int_eq(stamped_answer(r, &fabric, NULL), 0);
	ck_assert_uint_gt(whole, 0);
	snap_reader_close(r);
	close(fds[0]);
}
END_TEST

START_TEST(test_clone)
{
	fabric_init(&fabric, "ft2 2 2 2", 0);
	struct snap_content c = fabric_content(&fabric, 1);
	publish(&c, 0);
	struct snap_reader *r = foreign(), *copy;
	ck_assert_int_eq(snap_reader_clone(r, &copy), E_OK);
	snap_reader_close(r);
	ck_assert_int_eq(snap_pin(copy), E_OK);
	check_all(copy, &fabric, &c);
	snap_reader_close(copy);
}
END_TEST

TEST_SUITE(snapshot)
{
	TCase *t = tcase_create("snapshot");
	int n = sizeof(fabrics) / sizeof(fabrics[0]);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, test_reads_what_was_published, 0, n);
	tcase_add_loop_test(t, test_change_equals_fresh, 0, n);
	tcase_add_test(t, test_operator_names);
	tcase_add_test(t, test_shrinks);
	tcase_add_test(t, test_fewer_chunks);
	tcase_add_test(t, test_port_states_keep_epoch);
	tcase_add_test(t, test_unsorted_attrs);
	tcase_add_test(t, test_not_ready);
	tcase_add_test(t, test_reader_without_folder);
	tcase_add_test(t, test_modes);
	tcase_add_test(t, test_modes_above);
	tcase_add_test(t, test_too_small);
	tcase_add_loop_test(t, test_address_space, 0, 3);
	tcase_add_test(t, test_second_writer);
	tcase_add_loop_test(t, test_full, 0, 2);
	tcase_add_loop_test(t, test_wrong_length, SNAP_META + 1, SNAP_SERVICES);
	tcase_add_test(t, test_older_layout_is_rebuilt);
	tcase_add_loop_test(t, test_cut_attribute, 1, 6);
	tcase_add_loop_test(t, test_wrong_head, 0, 2);
	tcase_add_loop_test(t, test_damaged_file, 0, 30);
	tcase_add_test(t, test_age);
	tcase_add_test(t, test_writer_restart);
	tcase_add_test(t, test_stopped_reader);
	tcase_add_test(t, test_pin_keeps_pages);
	tcase_add_test(t, test_running_writer);
	tcase_add_test(t, test_clone);
	suite_add_tcase(suite, t);
}

TEST_ROLE(reader, reader_main)
TEST_ROLE(writer, writer_main)
