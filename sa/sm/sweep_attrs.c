/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Attribute payloads for the snapshot, as last read or programmed: by attribute, then
 * GUID (the order of the graph), then port and block, as a publish wants them.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/sm/sweep_int.h"

struct attr_list {
	struct sweep *s;
	struct arena *a;
	struct snap_attr *items;
	size_t n, cap;
	int ret;
};

static void add(struct attr_list *l, uint64_t guid, uint16_t attr, uint32_t block,
                const uint8_t *data, size_t len)
{
	if (l->ret != E_OK) {
		return;
	}
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 1024;
		struct snap_attr *more =
			arena_array(l->a, cap, sizeof(*more));

		if (more == NULL) {
			l->ret = -ENOMEM;
			return;
		}
		if (l->n) {
			memcpy(more, l->items, l->n * sizeof(*more));
		}
		l->items = more;
		l->cap = cap;
	}
	l->items[l->n++] = (struct snap_attr){ guid, attr, block, data, (uint16_t)len };
}

static void put_description(struct attr_list *l, const struct disc_node *n)
{
	add(l, n->guid, UMAD_SM_ATTR_NODE_DESC, 0, n->description, 64);
}

static void put_node_info(struct attr_list *l, const struct disc_node *n)
{
	add(l, n->guid, UMAD_SM_ATTR_NODE_INFO, 0, n->node_info, 64);
}

static void put_switch_info(struct attr_list *l, const struct disc_node *n)
{
	if (n->type == NODE_SWITCH) {
		add(l, n->guid, UMAD_SM_ATTR_SWITCH_INFO, 0, n->switch_info, 64);
	}
}

static void put_port_info(struct attr_list *l, const struct disc_node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		if (n->ports[i].has_info) {
			add(l, n->guid, UMAD_SM_ATTR_PORT_INFO, i, n->ports[i].info, 64);
		}
	}
}

static void put_blocks(struct attr_list *l, const struct disc_node *n,
                       enum port_table_kind kind, uint16_t attr, unsigned shift)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		const struct port_tables *t =
			port_tables_find(&l->s->port_copies, n->guid, (uint8_t)i);

		for (unsigned b = 0; t != NULL && b < t->table[kind].n; b++) {
			if (t->table[kind].block[b].known) {
				add(l, n->guid, attr, i << shift | b,
				    t->table[kind].block[b].data, PORT_BLOCK_BYTES);
			}
		}
	}
}

static void put_guids(struct attr_list *l, const struct disc_node *n)
{
	put_blocks(l, n, PORT_GUIDS, UMAD_SM_ATTR_GUID_INFO, 8);
}

static void put_p_keys(struct attr_list *l, const struct disc_node *n)
{
	put_blocks(l, n, PORT_P_KEYS, UMAD_SM_ATTR_PKEY_TABLE, 16);
}

/* What was programmed or read of the node's tables, NULL: nothing. */
static const struct qos_copy *qos_of(struct attr_list *l, const struct disc_node *n)
{
	const struct qos_copy *c = qos_copy_find(&l->s->qos_copies, n->guid);

	return c != NULL && qos_copy_fits(c, n->n_ports, n->type == NODE_SWITCH) ? c
	                                                                         : NULL;
}

/* One row per egress port: the tables of all ports in one behind the other, or where they
 * are all the same, the one. */
static void put_sl2vl(struct attr_list *l, const struct disc_node *n)
{
	const struct qos_copy *c = qos_of(l, n);

	for (unsigned out = 0; c != NULL && out < c->n_out; out++) {
		const uint8_t *first = qos_copy_sl2vl(c, out, 0);
		bool known = false, same = true;

		for (unsigned in = 0; in < c->n_in; in++) {
			const uint8_t *table = qos_copy_sl2vl(c, out, in);

			known |= qos_copy_knows(table);
			same &= memcmp(table, first, SL2VL_BYTES) == 0;
		}
		if (known) {
			add(l, c->guid, UMAD_SM_ATTR_SLVL_TABLE, out, first,
			    (same ? 1 : c->n_in) * (size_t)SL2VL_BYTES);
		}
	}
}

/* All four blocks of every port: clients ask for each, and what a port has not got, or
 * was never told, is empty. */
static void put_arb(struct attr_list *l, const struct disc_node *n)
{
	static const uint8_t empty[VL_ARB_BYTES];
	const struct qos_copy *c = qos_of(l, n);
	unsigned first = n->type == NODE_SWITCH ? 0 : 1;

	for (unsigned out = first; c != NULL && out < c->n_out; out++) {
		const struct arb_copy *arb = &c->arb[out];

		for (unsigned b = 0; b < VL_ARB_BLOCKS; b++) {
			add(l, c->guid, UMAD_SM_ATTR_VL_ARB_TABLE, out << 8 | (b + 1),
			    arb->known[b] ? arb->block[b] : empty, VL_ARB_BYTES);
		}
	}
}

static void put_mft(struct attr_list *l, const struct disc_node *n)
{
	const struct lft_copy *c;

	if (n->type != NODE_SWITCH) {
		return;
	}
	c = lft_copy_get(&l->s->copies, n->guid);
	for (uint32_t i = 0; c != NULL && i < c->n_mft; i++) {
		add(l, n->guid, UMAD_SM_ATTR_MCAST_FT, c->mft[i].mod, c->mft[i].data,
		    MFT_BLOCK_BYTES);
	}
	l->ret = c == NULL ? -ENOMEM : l->ret;
}

/* SMInfo of this subnet manager and of the others; the keys are nobody's business. */
static void put_sm_info(struct attr_list *l, const struct disc_node *n)
{
	const struct graph *g = l->s->job->disc.g;
	const struct port *own = &g->ports[g->sm_port];

	for (unsigned i = 0; i <= n->n_ports; i++) {
		uint8_t *info = n->ports[i].sm_info;

		if (g->nodes[own->node].guid == n->guid && own->num == i) {
			info = arena_alloc(l->a, SMP_DATA_BYTES);
			if (info == NULL) {
				l->ret = -ENOMEM;
				return;
			}
			agent_sm_info(l->s, info);
			field_set(info, SMI_ACT_COUNT, 0);
		}
		if (info != NULL) {
			field_set(info, SMI_SM_KEY, 0);
			add(l, n->guid, UMAD_SM_ATTR_SM_INFO, i, info, SMP_DATA_BYTES);
		}
	}
}

/* In the order of their numbers. */
static void (*const emit[])(struct attr_list *l, const struct disc_node *n) = {
	put_description, put_node_info, put_switch_info, put_guids,  put_port_info,
	put_p_keys,      put_sl2vl,     put_arb,         put_mft,
	put_sm_info
};

int job_attrs(struct sweep *s, struct arena *a, struct snap_content *c)
{
	const struct graph *g = s->job->disc.g;
	struct attr_list l = { .s = s, .a = a };

	for (size_t k = 0; k < sizeof(emit) / sizeof(emit[0]); k++) {
		for (uint32_t i = 0; i < g->n_nodes; i++) {
			emit[k](&l, s->job->disc.of[i]);
		}
	}
	c->attrs = l.items;
	c->n_attrs = l.n;
	return l.ret;
}
