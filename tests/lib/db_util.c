/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/db_util.h"

#include "db/lmdb/counters.h"
#include "db/lmdb/txn.h"
#include "db/snapshot/snapshot_int.h"
#include "tests/lib/words.h"

static int remove_entry(const char *path, const struct stat *st, int kind,
                        struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

void remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *make_tmp(char buf[256])
{
	const char *root = getenv("TMPDIR");
	snprintf(buf, 256, "%s/saguaro-db-XXXXXX", root ? root : "/tmp");
	if (!mkdtemp(buf)) {
		perror(buf);
		abort();
	}
	return buf;
}

static void fabric_route(struct fabric *f, uint32_t lmc, const struct lft *prev)
{
	struct lids_in in = { .g = f->g, .lmc = lmc };
	struct why why = { "" };
	const struct adaptive_options adaptive = { .enable = true, .port_groups = 255 };
	struct route_memory memory = { .tables = prev };
	struct route_request rq = {
		.adaptive = &adaptive,
		.g = f->g,
		.lids = &f->lids,
		.memory = &memory,
		/* minhop on a damaged tree may have one: no matter here */
		.credit_loops = CREDIT_PROGRAM,
	};
	int ret = lids_assign(&in, f->a, &f->d, &f->lids, NULL, NULL);
	if (ret == E_OK) {
		ret = route_list_parse("minhop", &rq.list, &why);
	}
	if (ret == E_OK) {
		memset(&f->route, 0, sizeof(f->route));
		ret = route_run(&rq, f->a, &f->route);
	}
	if (ret != E_OK) {
		fprintf(stderr, "fabric: %s %s %s\n", err_text(ret), why.text,
		        diags_first_error(&f->d));
		abort();
	}
}

void fabric_init(struct fabric *f, const char *spec, uint32_t lmc)
{
	char *argv[8];
	struct topogen_opts o = { 0 };
	memset(f, 0, sizeof(*f));
	f->a = arena_new();
	diags_init(&f->d, f->a);
	int argc = words_split(spec, f->a, argv, 8);
	if (topogen(argv[0], argc - 1, argv + 1, &o, f->a, &f->d, &f->g) != E_OK) {
		fprintf(stderr, "%s: %s\n", spec, diags_first_error(&f->d));
		abort();
	}
	fabric_route(f, lmc, NULL);
}

void fabric_cut(struct fabric *f, const struct fabric *from, unsigned cut, uint32_t lmc)
{
	const struct graph *old = from->g;
	memset(f, 0, sizeof(*f));
	f->a = arena_new();
	diags_init(&f->d, f->a);
	f->g = graph_new(f->a);
	for (uint32_t i = 0; i < old->n_nodes; i++) {
		const struct node *n = &old->nodes[i];
		uint32_t at;
		graph_add_node(f->g, n->type, n->guid, n->n_ports, n->description, n->id,
		               &at);
		for (unsigned p = 0; p <= n->n_ports; p++) {
			struct port *to = &f->g->ports[graph_port(f->g, at, p)];
			const struct port *was = &old->ports[n->first_port + p];
			to->guid = was->guid;
			to->width = was->width;
			to->speed = was->speed;
			to->mtu = was->mtu;
			to->vls = was->vls;
		}
	}
	for (uint32_t p = 0; p < old->n_ports; p++) {
		uint32_t q = old->ports[p].peer;
		if (q == GRAPH_NONE || q < p) {
			continue;
		}
		if (cut && old->nodes[old->ports[p].node].type == NODE_SWITCH &&
		    old->nodes[old->ports[q].node].type == NODE_SWITCH) {
			cut--;
			continue;
		}
		graph_connect(f->g,
		              graph_port(f->g, old->ports[p].node, old->ports[p].num),
		              graph_port(f->g, old->ports[q].node, old->ports[q].num));
	}
	if (old->sm_port != GRAPH_NONE) {
		const struct port *sm = &old->ports[old->sm_port];
		f->g->sm_port = graph_port(f->g, sm->node, sm->num);
	}
	if (graph_freeze(f->g, &f->d) != E_OK) {
		abort();
	}
	fabric_route(f, lmc, &from->route.out.lft);
}

struct snap_attr *fabric_attrs(const struct fabric *f, uint8_t stamp, size_t *ret_n)
{
	enum { NODE_DESC = 0x10, NODE_INFO = 0x11, SWITCH_INFO = 0x12, PORT_INFO = 0x15 };
	static const uint16_t attrs[] = { NODE_DESC, NODE_INFO, SWITCH_INFO, PORT_INFO };
	const struct graph *g = f->g;
	struct snap_attr *at =
		arena_array(f->a, 3 * (size_t)g->n_nodes + g->n_ports, sizeof(*at));
	uint8_t *data = arena_alloc(f->a, 256 + 64);
	size_t n = 0;
	memset(data, stamp, 256 + 64);
	for (unsigned k = 0; k < 4; k++) {
		for (uint32_t i = 0; i < g->n_nodes; i++) {
			const struct node *node = &g->nodes[i];
			bool sw = node->type == NODE_SWITCH;
			unsigned first = attrs[k] == PORT_INFO && !sw ? 1 : 0;
			unsigned last = attrs[k] == PORT_INFO ? node->n_ports : 0;
			if (attrs[k] == SWITCH_INFO && !sw) {
				continue;
			}
			for (unsigned b = first; b <= last; b++) {
				at[n++] = (struct snap_attr){ node->guid, attrs[k], b,
					                      data, 64 };
			}
		}
	}
	*ret_n = n;
	return at;
}

struct snap_content fabric_content(const struct fabric *f, uint64_t epoch)
{
	return (struct snap_content){
		.epoch = epoch,
		.computed_at = 1700000000,
		.g = f->g,
		.lids = &f->lids,
		.route = &f->route,
		.options_text = "routing_engine minhop\n",
		.subnet_prefix = UINT64_C(0xfe80000000000000),
		.sm_port_guid = f->g->ports[f->g->end_ports[0]].guid,
		.sm_lid = 1,
		.sm_priority = 5,
		.sm_state = 3,
		.packet_life_time = 18,
		.path_selection = 0,
		.stage = { { "discover", 0.5 }, { "route", 0.25 } },
		.n_stages = 2,
	};
}

void fabric_done(struct fabric *f)
{
	arena_free(f->a);
}

void each_row(struct snap_writer *w, unsigned table,
              void (*take)(void *ctx, const struct db_val *k, const struct db_val *v),
              void *ctx)
{
	struct db_txn txn;
	struct db_val k, v;
	int ret = db_begin(&txn, w->db, false);

	if (ret == E_OK) {
		ret = db_seek(&txn, table, NULL, 0, &k, &v);
		for (; ret == E_OK; ret = db_next(&txn, table, &k, &v)) {
			take(ctx, &k, &v);
		}
		db_abort(&txn);
	}
	if (ret != E_NOTFOUND) {
		fprintf(stderr, "table %u: %s\n", table, err_text(ret));
		abort();
	}
}

int read_port_counters(struct stats_reader *r, uint64_t node_guid, uint8_t port,
                       struct arena *a, struct port_counters *ret_counters)
{
	struct stats_counter_list list;
	int ret = stats_read_counters(r, node_guid, port, 1, true, a, &list);

	if (ret != E_OK || list.n == 0) {
		return ret != E_OK ? ret : E_NOTFOUND;
	}
	*ret_counters = list.ports[0];
	return ret_counters->node_guid == node_guid && ret_counters->port == port
	               ? E_OK
	               : E_NOTFOUND;
}
