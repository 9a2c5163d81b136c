/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Attributes of Omni-Path as its devices have them, for records of class version 0x80: PortInfo and SwitchInfo
 * as last read or set, and the known blocks of tables, but for maps that change nothing, which records are made of
 * where there is no other. A new kind of tables is published without a line
 * here, because its place follows from its attribute, rows and columns.
 */
#include <errno.h>
#include <infiniband/umad_sm.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "conf/device_group.h"
#include "routing/graph/device_set.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/opa_smp.h"
#include "sa/mad/wire.h"
#include "sa/sm/discover/admit.h"
#include "sa/sm/publish/publish.h"
#include "sa/sm/publish/publish_int.h"
#include "sa/sm/sm.h"

enum { ATTRS = 0x100 /* numbers of attributes are below */ };

/* Kinds that are published in InfiniBand's layout, or not at all: numbers of attributes of another class may
 * be those of SMPs. */
static bool has_other_place(enum table_kind_id kind)
{
	return table_kinds[kind].flags & TABLE_OTHER_CLASS || kind == TABLE_LFT || kind == TABLE_MFT || kind == TABLE_P_KEYS ||
	       kind == TABLE_GUIDS || kind == TABLE_VL_ARB || kind == TABLE_SL2VL;
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

/* A map of SCs that changes none, as switches have them after power-on. There is one for each pair of ports. */
static bool is_plain_map(const struct table_kind *k, const uint8_t *map)
{
	unsigned sc = 0;

	while (sc < OPA_BYTES_MAP && k == &table_kinds[TABLE_OPA_SC2SC] &&
	       map[sc] == sc) {
		sc++;
	}
	return sc == OPA_BYTES_MAP;
}

static void put_table(struct attr_list *l, const struct disc_node *n,
                      const struct table *t)
{
	const struct table_kind *k = &table_kinds[t->kind];

	for (uint32_t i = 0; i < table_size(t) && l->ret == E_OK; i++) {
		uint32_t row = k->unit == TABLE_UNIT_PORT ? t->unit : i / t->cols;

		if (table_knows(t, i) && !is_plain_map(k, table_block(t, i))) {
			publish_attr(l, n->guid, SNAP_ATTR_OPA | k->attr,
			             row << SNAP_OPA_ROW | i % t->cols, table_block(t, i),
			             k->bytes);
		}
	}
}

static void put_tables(struct attr_list *l, enum table_kind_id kind,
                       const uint32_t *nodes, size_t n_nodes)
{
	const struct disc *d = &l->job->disc;
	const struct table_store *s = &l->p->sm->tables;

	n_nodes = nodes != NULL ? n_nodes : d->g->n_nodes;
	for (size_t i = 0; i < n_nodes && s->of[kind].n != 0; i++) {
		const struct disc_node *n = d->of[nodes != NULL ? nodes[i] : i];
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
				put_tables(l, k, nodes, n);
			}
		}
	}
}

/* --- quarantine ------------------------------------------------------------------------- */

static int compare_places(const void *x, const void *y)
{
	const struct disc_refused *a = *(const struct disc_refused *const *)x;
	const struct disc_refused *b = *(const struct disc_refused *const *)y;

	return a->by->guid != b->by->guid ? (a->by->guid > b->by->guid ? 1 : -1)
	                                  : (int)a->by_port - (int)b->by_port;
}

static uint64_t reasons_of(const struct disc_refused *r)
{
	enum {
		SPOOFING = ADMIT_NODE_GUID | ADMIT_PORT_NUM | ADMIT_NODE_TYPE |
		           ADMIT_FIRMWARE
	};

	return (r->reasons & SPOOFING ? OPA_QN_SPOOFING : 0) |
	       (r->reasons & ADMIT_VLS ? OPA_QN_VLS : 0) |
	       (r->reasons & ADMIT_MTU ? OPA_QN_MTU : 0) |
	       (r->reasons & ADMIT_FORMATS ? OPA_QN_FORMATS : 0) |
	       (r->reasons & ADMIT_LIDS ? OPA_QN_LIDS : 0);
}

static void encode_refused(const struct disc_refused *r, uint8_t *ret_data)
{
	uint8_t *info = ret_data + OPA_QN_NODE_INFO_AT;

	memset(ret_data, 0, OPA_BYTES_QUARANTINED);
	field_set(ret_data, OPA_QN_PORT_NUM, r->by_port);
	field_set(ret_data, OPA_QN_NODE_GUID, r->by->guid);
	field_set(ret_data, OPA_QN_NEIGHBOR_NODE_GUID, r->expected_guid);
	memcpy(ret_data + OPA_QN_DESCRIPTION_AT, r->description, OPA_BYTES_BLOCK);
	opa_node_info_encode(r->node_info, info);
	field_set(ret_data, OPA_QN_REASONS, reasons_of(r));
	field_set(ret_data, OPA_QN_EXPECTED_NODE_GUID, r->expected_guid);
}

uint64_t publish_opa_refused_digest(const struct disc *d)
{
	uint64_t sum = 1; /* in any order: a local sweep lists again at the end what it asked again */

	for (size_t i = 0; i < d->n_refused; i++) {
		const struct disc_refused *r = &d->refused[i];
		uint64_t h = digest_add(1, r->by->guid ^ r->by_port);

		h = digest_add(h, r->expected_guid ^ r->reasons);
		h = digest_bytes(h, r->node_info, SMP_DATA_BYTES);
		sum += digest_bytes(h, r->description, OPA_BYTES_BLOCK);
	}
	return sum;
}

void publish_opa_refused(struct attr_list *l)
{
	const struct disc *d = &l->job->disc;
	const struct disc_refused **by_place =
		arena_array(l->a, d->n_refused + 1, sizeof(*by_place));

	if (by_place == NULL) {
		l->ret = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < d->n_refused; i++) {
		by_place[i] = &d->refused[i];
	}
	qsort(by_place, d->n_refused, sizeof(*by_place), compare_places);
	for (size_t i = 0; i < d->n_refused; i++) {
		uint8_t *record = arena_alloc(l->a, OPA_BYTES_QUARANTINED);

		if (record == NULL) {
			l->ret = -ENOMEM;
			return;
		}
		if (i != 0 && compare_places(&by_place[i - 1], &by_place[i]) == 0) {
			continue; /* refused before and after the search */
		}
		encode_refused(by_place[i], record);
		publish_attr(l, by_place[i]->by->guid, SNAP_ATTR_QUARANTINED,
		             by_place[i]->by_port, record, OPA_BYTES_QUARANTINED);
	}
}

/* --- device groups ---------------------------------------------------------------------- */

/* Those that a file defines, in its order. Those that always exist are not listed unless the file has them. */
enum { NAME_BYTES = SNAP_GROUP_NAME_BYTES };

struct listed_group {
	const struct device_group *group;
	struct device_set members;
};

static int compare_lines(const void *x, const void *y)
{
	unsigned a = ((const struct listed_group *)x)->group->line,
		 b = ((const struct listed_group *)y)->group->line;

	return a < b ? -1 : a > b;
}

/* The groups that the file defines, by line. */
static int list_groups(const struct device_groups *groups, const struct graph *g,
                       struct arena *a, struct listed_group **ret_list, uint32_t *ret_n)
{
	struct listed_group *list = arena_array(a, groups->n + 1, sizeof(*list));
	uint32_t n = 0;
	int ret = list == NULL ? -ENOMEM : E_OK;

	for (uint32_t i = 0; ret == E_OK && i < groups->n; i++) {
		if (groups->groups[i].line != 0) {
			list[n].group = &groups->groups[i];
			ret = device_set_group(g, groups, i, a, &list[n++].members);
		}
	}
	if (ret == E_OK) {
		qsort(list, n, sizeof(*list), compare_lines);
		*ret_list = list;
		*ret_n = n;
	}
	return ret;
}

/* A row for each port that is in other groups than the one before it. */
static void put_members(struct attr_list *l, const struct node *n,
                        const struct listed_group *list, uint32_t n_groups)
{
	size_t bytes = (n_groups + 7) / 8;
	const uint8_t *before = NULL;

	for (unsigned num = 0; num <= n->n_ports && l->ret == E_OK; num++) {
		uint8_t *bits = arena_array(l->a, bytes, 1);

		if (bits == NULL) {
			l->ret = -ENOMEM;
			return;
		}
		for (uint32_t i = 0; i < n_groups; i++) {
			bits[i / 8] |= (uint8_t)(device_set_has(&list[i].members,
			                                        n->first_port + num)
			                         << i % 8);
		}
		if (before == NULL || memcmp(before, bits, bytes) != 0) {
			publish_attr(l, n->guid, SNAP_ATTR_DEVICE_GROUPS, num, bits,
			             bytes);
			before = bits;
		}
	}
}

static void put_names(struct attr_list *l, const struct listed_group *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *name = arena_array(l->a, NAME_BYTES, 1);

		if (name == NULL) {
			l->ret = -ENOMEM;
			return;
		}
		memcpy(name, list[i].group->name,
		       strnlen(list[i].group->name, NAME_BYTES - 1));
		publish_attr(l, 0, SNAP_ATTR_DEVICE_GROUPS, i, name, NAME_BYTES);
	}
}

void publish_opa_groups(struct attr_list *l, const uint32_t *nodes, size_t n_nodes)
{
	const struct device_groups *groups = l->p->sm->d.config->device_groups;
	const struct graph *g = l->job->disc.g;
	struct listed_group *list;
	uint32_t n;

	if (groups == NULL || l->ret != E_OK) {
		return;
	}
	l->ret = list_groups(groups, g, l->a, &list, &n);
	if (l->ret != E_OK || n == 0) {
		return;
	}
	if (nodes == NULL) {
		put_names(l, list, n);
	}
	n_nodes = nodes != NULL ? n_nodes : g->n_nodes;
	for (size_t i = 0; i < n_nodes && l->ret == E_OK; i++) {
		put_members(l, &g->nodes[nodes != NULL ? nodes[i] : i], list, n);
	}
}
