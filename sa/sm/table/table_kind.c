/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/table/table_kind.h"

#include <infiniband/umad_sm.h>

#include "conf/policy/qos.h"
#include "routing/graph/graph.h"
#include "sa/mad/cc_fields.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/discover/discover.h"

enum { CAP_SL_MAPPING = 1 << 6 /* CapabilityMask */, PAIRS_OF_A_BLOCK = 32 };

static bool is_switch(const struct disc_node *n)
{
	return n->type == NODE_SWITCH;
}

bool table_maps_sls(const struct disc_node *n, unsigned port)
{
	const uint8_t *info = n->ports[is_switch(n) ? 0 : port].info;

	return field_get(info, PI_CAPABILITY_MASK) & CAP_SL_MAPPING;
}

static size_t length_sl2vl(const struct disc_node *n, unsigned row, uint32_t col)
{
	(void)col;
	return table_maps_sls(n, row) ? SL2VL_BYTES : 0;
}

unsigned table_arb_cap(const struct disc_port *p, unsigned block)
{
	unsigned cap = (unsigned)(block < 2 ? field_get(p->info, PI_VL_ARB_LOW_CAP)
	                                    : field_get(p->info, PI_VL_ARB_HIGH_CAP));

	return cap < QOS_WEIGHTS_MAX ? cap : QOS_WEIGHTS_MAX;
}

static size_t length_arb(const struct disc_node *n, unsigned row, uint32_t col)
{
	const struct disc_port *p = &n->ports[row];
	unsigned first = col % 2 * PAIRS_OF_A_BLOCK, cap = table_arb_cap(p, col);

	if (cap <= first || field_get(p->info, PI_VL_CAP) <= 1) {
		return 0;
	}
	cap -= first;
	return 2 * (size_t)(cap < PAIRS_OF_A_BLOCK ? cap : PAIRS_OF_A_BLOCK);
}

/* The whole table is there, unless the port schedules its VLs in another way. */
static size_t length_opa_arb(const struct disc_node *n, unsigned row, uint32_t col)
{
	const uint8_t *info = n->ports[row].opa_info;

	(void)col;
	return info != NULL && field_get(info, OPA_PI_VL_SCHEDULING) == 0
	               ? OPA_BYTES_VL_ARB
	               : 0;
}

enum { NOT = 32 }; /* shifted out: not in the modifier */

const struct table_kind table_kinds[TABLE_KIND_COUNT] = {
/* clang-format off */
#define TABLE_KIND(id, title, attribute, size, of, unit_, row_, col_, first_, has, bits, none, repair) \
	[TABLE_##id] = { .name = (title), .attr = (attribute), .bytes = (size),                    \
	                 .unit = TABLE_UNIT_##of,                                                 \
	                 .mod = { .unit = (unit_), .row = (row_), .col = (col_), .first = (first_) }, \
	                 .length = (has), .flags = (bits), .unknown = (none), .then = (repair) },
#include "sa/sm/table/table_kinds.def"
#undef TABLE_KIND
	/* clang-format on */
};

uint32_t table_kind_mod(enum table_kind_id kind, const struct disc_node *n, uint32_t unit,
                        unsigned row, uint32_t col)
{
	const struct table_kind *k = &table_kinds[kind];
	uint64_t mod = is_switch(n) /* others have one port */
	                       ? (uint64_t)unit << k->mod.unit |
	                                 (uint64_t)row << k->mod.row
	                       : 0;

	if ((k->flags & TABLE_NATIVE) && k->unit == TABLE_UNIT_EGRESS) {
		mod = (uint64_t)row << k->mod.row | OPA_MOD_ONE;
	}
	if (k->flags & TABLE_COUNTED) {
		mod = OPA_MOD_ONE;
	}
	return (uint32_t)mod | (col + k->mod.first) << k->mod.col;
}

/* --- units -------------------------------------------------------------------------------- */

unsigned table_port_of(enum table_kind_id kind, uint32_t unit, unsigned row)
{
	enum table_unit of = table_kinds[kind].unit;

	return of == TABLE_UNIT_EGRESS ? row : unit;
}

struct smp_dest *table_agent(enum table_kind_id kind, struct disc_node *n, uint32_t unit,
                             unsigned row)
{
	unsigned port = table_port_of(kind, unit, row);

	if (table_kinds[kind].unit == TABLE_UNIT_NODE) {
		return &n->dest;
	}
	if (table_kinds[kind].unit == TABLE_UNIT_EGRESS && is_switch(n)) {
		port = 0;
	}
	return n->ports[port].dest;
}
