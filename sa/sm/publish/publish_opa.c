/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Attributes of Omni-Path as its devices have them, for records of class version 0x80: PortInfo and SwitchInfo
 * as last read or set, and the known blocks of tables. A new kind of tables is published without a line
 * here, because its place follows from its attribute, rows and columns.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/publish/publish.h"
#include "sa/sm/publish/publish_int.h"
#include "sa/sm/sm.h"

enum { ATTRS = 0x100 /* numbers of attributes are below */ };

/* Kinds that are published in InfiniBand's layout, or as virtual ports. */
static bool has_other_place(enum table_kind_id kind)
{
	return kind == TABLE_LFT || kind == TABLE_MFT || kind == TABLE_P_KEYS ||
	       kind == TABLE_GUIDS || kind == TABLE_VL_ARB || kind == TABLE_SL2VL ||
	       kind == TABLE_VPORT_P_KEYS || kind == TABLE_VPORT_GUIDS;
}

/* The M_Key stays with the subnet manager, as in InfiniBand's layout. */
static void put_port(struct attr_list *l, const struct disc_node *n, unsigned port)
{
	const uint8_t *info = n->ports[port].opa_info;
	uint8_t *shown;

	if (info == NULL || !n->ports[port].has_info) {
		return;
	}
	if (field_get(info, OPA_PI_M_KEY) != 0) {
		shown = arena_alloc(l->a, OPA_BYTES_PORT_INFO);
		if (shown == NULL) {
			l->ret = -ENOMEM;
			return;
		}
		memcpy(shown, info, OPA_BYTES_PORT_INFO);
		field_set(shown, OPA_PI_M_KEY, 0);
		info = shown;
	}
	publish_attr(l, n->guid, SNAP_ATTR_OPA | UMAD_SM_ATTR_PORT_INFO, port, info,
	             OPA_BYTES_PORT_INFO);
}

static void put_node(struct attr_list *l, const struct disc_node *n, unsigned attr)
{
	if (attr == UMAD_SM_ATTR_SWITCH_INFO && n->opa_switch_info != NULL) {
		publish_attr(l, n->guid, SNAP_ATTR_OPA | UMAD_SM_ATTR_SWITCH_INFO, 0,
		             n->opa_switch_info, OPA_BYTES_SWITCH_INFO);
	}
	for (unsigned i = 0; attr == UMAD_SM_ATTR_PORT_INFO && i <= n->n_ports; i++) {
		put_port(l, n, i);
	}
}

static void put_nodes(struct attr_list *l, unsigned attr, const uint32_t *nodes, size_t n)
{
	const struct disc *d = &l->job->disc;

	n = nodes != NULL ? n : d->g->n_nodes;
	for (size_t i = 0; i < n && l->ret == E_OK; i++) {
		put_node(l, d->of[nodes != NULL ? nodes[i] : i], attr);
	}
}

void publish_opa_nodes(struct attr_list *l, const uint32_t *nodes, size_t n)
{
	put_nodes(l, UMAD_SM_ATTR_SWITCH_INFO, nodes, n);
	put_nodes(l, UMAD_SM_ATTR_PORT_INFO, nodes, n);
}

/* --- tables ----------------------------------------------------------------------------- */

static void put_table(struct attr_list *l, const struct disc_node *n,
                      const struct table *t)
{
	const struct table_kind *k = &table_kinds[t->kind];

	for (uint32_t i = 0; i < table_size(t) && l->ret == E_OK; i++) {
		uint32_t row = k->unit == TABLE_UNIT_PORT ? t->unit : i / t->cols;

		if (table_knows(t, i)) {
			publish_attr(l, n->guid, SNAP_ATTR_OPA | k->attr,
			             row << SNAP_OPA_ROW | i % t->cols, table_block(t, i),
			             k->bytes);
		}
	}
}

static void put_tables(struct attr_list *l, enum table_kind_id kind)
{
	const struct disc *d = &l->job->disc;
	const struct table_store *s = &l->p->sm->tables;

	for (uint32_t i = 0; i < d->g->n_nodes && s->of[kind].n != 0; i++) {
		const struct disc_node *n = d->of[i];
		unsigned last =
			table_kinds[kind].unit == TABLE_UNIT_PORT ? n->n_ports : 0;

		for (unsigned unit = 0; unit <= last; unit++) {
			const struct table *t = table_find(s, kind, n->guid, unit);

			if (t != NULL) {
				put_table(l, n, t);
			}
		}
	}
}

void publish_opa_tables(struct attr_list *l, const uint32_t *nodes, size_t n)
{
	for (unsigned attr = 0; attr < ATTRS && l->ret == E_OK; attr++) {
		if (attr == UMAD_SM_ATTR_SWITCH_INFO || attr == UMAD_SM_ATTR_PORT_INFO) {
			put_nodes(l, attr, nodes, n);
		}
		for (unsigned k = 0; k < TABLE_KIND_COUNT; k++) {
			if (table_kinds[k].attr == attr && !has_other_place(k)) {
				put_tables(l, k);
			}
		}
	}
}
