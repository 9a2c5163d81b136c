/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/record/opa_native.h"
#include "sa/record/rec_int.h"

bool opa_native_known(struct snap_reader *r, uint64_t node_guid)
{
	struct snap_attr_row row;

	return snap_attr_from(r, SNAP_ATTR_OPA | UMAD_SM_ATTR_PORT_INFO, node_guid, 0,
	                      &row) == E_OK &&
	       row.guid == node_guid;
}

const uint8_t *opa_native_block(struct snap_reader *r, uint16_t attr, uint64_t node_guid,
                                uint32_t block, uint16_t bytes)
{
	const uint8_t *data;
	uint16_t len;

	return snap_attr(r, SNAP_ATTR_OPA | attr, node_guid, block, &data, &len) ==
	                               E_OK &&
	                       len >= bytes
	               ? data
	               : NULL;
}

static void offer_block(const struct sa_query *q, const struct snap_end *end,
                        const struct opa_native_table *t, const struct snap_attr_row *row,
                        uint32_t number, struct sa_out *out)
{
	uint8_t record[RID_BYTES + OPA_NATIVE_BYTES] = { 0 };

	if (row->len < t->bytes) {
		return;
	}
	sa_put(q->attr, record, SA_LID, end->base_lid);
	if (t->row != SA_NONE) {
		sa_put(q->attr, record, t->row, number >> SNAP_OPA_ROW);
	}
	if (t->block != SA_NONE) {
		sa_put(q->attr, record, t->block, number & ((1u << SNAP_OPA_ROW) - 1));
	}
	memcpy(record + RID_BYTES, row->data, t->bytes);
	sa_offer(out, record);
}

/* A table of the node, not of a port, is in row 0. */
static int offer_of_node(struct snap_reader *r, const struct sa_query *q,
                         const struct snap_end *end, const struct opa_native_table *t,
                         struct sa_out *out)
{
	struct snap_attr_row row = { .guid = end->node_guid, .len = t->bytes };

	row.data = opa_native_block(r, t->attr, end->node_guid, 0, t->bytes);
	if (row.data != NULL) {
		offer_block(q, end, t, &row, (uint32_t)end->port << SNAP_OPA_ROW, out);
	}
	return E_OK;
}

int opa_native_offer(struct snap_reader *r, const struct sa_query *q,
                     const struct snap_end *end, const struct opa_native_table *t,
                     struct sa_out *out)
{
	struct sa_row_walk w;
	struct snap_attr_row row;
	bool any = false;
	int ret = E_OK;

	sa_rows_begin(q, SNAP_ATTR_OPA | t->attr, SNAP_OPA_ROW, t->row, end, &w);
	while (ret == E_OK && !sa_full(out)) {
		ret = sa_rows_next(r, &w, &row);
		if (ret == E_OK) {
			any = true;
			offer_block(q, end, t, &row, row.block, out);
		}
	}
	if (ret == E_NOTFOUND && !any && end->type != NODE_SWITCH) {
		return offer_of_node(r, q, end, t, out);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}
