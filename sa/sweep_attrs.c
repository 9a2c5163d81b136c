/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Attribute payloads for the snapshot, as last read or programmed.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "sa/sweep_int.h"

static struct snap_attr *put_node_attr(struct snap_attr *to, const struct disc_node *n,
                                       uint16_t attr)
{
	const uint8_t *data = attr == UMAD_SM_ATTR_NODE_DESC   ? n->description
	                      : attr == UMAD_SM_ATTR_NODE_INFO ? n->node_info
	                                                       : n->switch_info;

	if (attr == UMAD_SM_ATTR_SWITCH_INFO && n->type != NODE_SWITCH) {
		return to;
	}
	*to = (struct snap_attr){ n->guid, attr, 0, data, 64 };
	return to + 1;
}

static struct snap_attr *put_port_attrs(struct snap_attr *to, const struct disc_node *n)
{
	for (unsigned i = 0; i <= n->n_ports; i++) {
		if (n->ports[i].has_info) {
			*to++ = (struct snap_attr){ n->guid, UMAD_SM_ATTR_PORT_INFO, i,
				                    n->ports[i].info, 64 };
		}
	}
	return to;
}

/* SL-to-VL tables: one row per egress port, all ports in of a switch one behind the
 * other. */
static struct snap_attr *put_sl2vl(struct snap_attr *to, const struct qos_copy *c)
{
	for (unsigned out = 0; out < c->n_out; out++) {
		bool known = false;

		for (unsigned in = 0; in < c->n_in; in++) {
			known |= qos_copy_knows(qos_copy_sl2vl(c, out, in));
		}
		if (known) {
			*to++ = (struct snap_attr){ c->guid, UMAD_SM_ATTR_SLVL_TABLE, out,
				                    qos_copy_sl2vl(c, out, 0),
				                    (uint16_t)(c->n_in * SL2VL_BYTES) };
		}
	}
	return to;
}

static struct snap_attr *put_arb(struct snap_attr *to, const struct qos_copy *c)
{
	for (unsigned out = 0; out < c->n_out; out++) {
		for (unsigned b = 0; b < VL_ARB_BLOCKS; b++) {
			if (c->arb[out].known[b]) {
				*to++ = (struct snap_attr){ c->guid,
					                    UMAD_SM_ATTR_VL_ARB_TABLE,
					                    out << 8 | (b + 1),
					                    c->arb[out].block[b],
					                    VL_ARB_BYTES };
			}
		}
	}
	return to;
}

static int collect_qos(struct sweep *s, struct snap_content *c)
{
	struct job *j = s->job;
	const struct graph *g = j->disc.g;
	struct snap_attr *list = arena_array(
		j->arena, c->n_attrs + g->n_ports * (size_t)(1 + VL_ARB_BLOCKS),
		sizeof(struct snap_attr));
	struct snap_attr *to = list;

	if (list == NULL) {
		return -ENOMEM;
	}
	memcpy(to, c->attrs, c->n_attrs * sizeof(*to));
	to += c->n_attrs;
	for (unsigned arb = 0; arb < 2; arb++) {
		for (uint32_t i = 0; i < g->n_nodes; i++) {
			const struct disc_node *n = j->disc.of[i];
			const struct qos_copy *copy =
				qos_copy_get(&s->qos_copies, n->guid, n->n_ports,
			                     n->type == NODE_SWITCH);

			if (copy == NULL) {
				return -ENOMEM;
			}
			to = arb ? put_arb(to, copy) : put_sl2vl(to, copy);
		}
	}
	c->attrs = list;
	c->n_attrs = (size_t)(to - list);
	return E_OK;
}

/* All payloads, by attribute, then GUID (the order of the graph), then port. */
static int collect_attrs(struct job *j, struct snap_content *c)
{
	static const uint16_t of_node[] = { UMAD_SM_ATTR_NODE_DESC,
		                            UMAD_SM_ATTR_NODE_INFO,
		                            UMAD_SM_ATTR_SWITCH_INFO };
	const struct graph *g = j->disc.g;
	struct snap_attr *list = arena_array(
		j->arena, 3 * (size_t)g->n_nodes + g->n_ports, sizeof(struct snap_attr));
	struct snap_attr *to = list;

	if (list == NULL) {
		return -ENOMEM;
	}
	for (unsigned k = 0; k < sizeof(of_node) / sizeof(of_node[0]); k++) {
		for (uint32_t i = 0; i < g->n_nodes; i++) {
			to = put_node_attr(to, j->disc.of[i], of_node[k]);
		}
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		to = put_port_attrs(to, j->disc.of[i]);
	}
	c->attrs = list;
	c->n_attrs = (size_t)(to - list);
	return E_OK;
}

int job_attrs(struct sweep *s, struct snap_content *c)
{
	int ret = collect_attrs(s->job, c);

	return ret == E_OK && s->job->program.qos ? collect_qos(s, c) : ret;
}
