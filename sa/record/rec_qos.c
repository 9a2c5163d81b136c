/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * SLtoVLTableRecord (IBA vol. 1, 15.2.5.4) and VLArbitrationRecord (15.2.5.11), as read or
 * programmed. While quality of service is off, the daemon reads them at the first request
 * (sa/sm/sweep_qos.c); before that there are none. A table that a port does not have is shown
 * as zeros, because clients ask for every port.
 *
 * Ports of a switch belong to the LID of its port 0 and have a SL-to-VL table for each input
 * port. A CA or router port has one table, with InputPortNum 0; its port components are
 * ignored, because clients send any number there. The LID component may be any LID of the end
 * port.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/record/rec_int.h"
#include "sa/record/record.h"

enum { TABLE_BYTES = 8, ARB_BYTES = 64 };
enum { QOS_LID, ARB_OUT = 1, ARB_BLOCK, SLVL_IN = 1, SLVL_OUT };

/* clang-format off */
static const struct sa_field slvl_fields[] = {
	{ "LID",                   0,  16, SA_INPUT },
	{ "InputPortNum",         16,   8, SA_INPUT },
	{ "OutputPortNum",        24,   8, SA_INPUT },
	{ "Reserved",             32,  32, SA_RESERVED },
	{ "SLtoVLMappingTable",  RID,  64, SA_EQ | SA_LIST4 },
};

static const struct sa_field arb_fields[] = {
	{ "LID",                   0,  16, SA_INPUT },
	{ "OutputPortNum",        16,   8, SA_INPUT },
	{ "BlockNum",             24,   8, SA_EQ },
	{ "Reserved",             32,  32, SA_RESERVED },
	{ "VLArbitrationTable",  RID, 512, SA_EQ | SA_PAIRS },
};
/* clang-format on */

/* Offers the tables of one output port for all input ports. */
static int offer_out(struct snap_reader *r, const struct sa_query *q,
                     const struct snap_end *end, unsigned out_port, unsigned n_in,
                     struct sa_out *out)
{
	unsigned in = 0;
	const uint8_t *tables = NULL;
	uint16_t len = 0;

	int ret = snap_attr(r, UMAD_SM_ATTR_SLVL_TABLE, end->node_guid, out_port, &tables,
	                    &len);
	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	if (end->type == NODE_SWITCH && sa_asked(q, SLVL_IN)) {
		in = (unsigned)sa_component(q, SLVL_IN);
		n_in = in < n_in ? in + 1 : 0;
	}
	for (; in < n_in && !sa_full(out); in++) {
		uint8_t record[RID_BYTES + TABLE_BYTES] = { 0 };

		sa_put(q->attr, record, SA_LID, end->base_lid);
		field_set(record, 16, 8, in);
		field_set(record, 24, 8, out_port);
		/* a row with one table has it for every input port; an unknown table is all
		 * ones */
		size_t at = len == TABLE_BYTES ? 0 : TABLE_BYTES * (size_t)in;
		if (at + TABLE_BYTES <= len &&
		    field_get(tables + at, 0, 64) != UINT64_MAX) {
			memcpy(record + RID_BYTES, tables + at, TABLE_BYTES);
		}
		sa_offer(out, record);
	}
	return E_OK;
}

static int offer_switch(struct snap_reader *r, const struct sa_query *q,
                        const struct snap_end *end, struct sa_out *out)
{
	struct snap_node node;
	unsigned port = 0, last;

	int ret = snap_node(r, end->node_guid, &node);
	if (ret != E_OK) {
		return ret;
	}
	last = node.n_ports;
	if (sa_asked(q, SLVL_OUT)) {
		port = (unsigned)sa_component(q, SLVL_OUT);
		last = port < last ? port : last;
	}
	for (; ret == E_OK && port <= last && !sa_full(out); port++) {
		ret = offer_out(r, q, end, port, node.n_ports + 1u, out);
	}
	return ret;
}

static int offer_end(struct snap_reader *r, const struct sa_query *q,
                     const struct snap_end *end, struct sa_out *out)
{
	struct snap_attr_row row;

	int ret = snap_attr_from(r, UMAD_SM_ATTR_SLVL_TABLE, end->node_guid, 0, &row);
	if (ret != E_OK || row.guid != end->node_guid) {
		return ret == E_NOTFOUND ? E_OK : ret; /* quality of service is off */
	}
	return end->type == NODE_SWITCH ? offer_switch(r, q, end, out)
	                                : offer_out(r, q, end, end->port, 1, out);
}

const struct sa_attr rec_slvl_table = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_SLVL_REC,
	.name = "SLtoVLTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + TABLE_BYTES,
	.tables_on_request = true,
	SA_FIELDS(slvl_fields),
	.offer_end = offer_end,
};

const struct sa_attr rec_vl_arb = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_VL_ARB_REC,
	.name = "VLArbitrationRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + ARB_BYTES,
	.tables_on_request = true,
	SA_FIELDS(arb_fields),
	.rows = { .attr = UMAD_SM_ATTR_VL_ARB_TABLE,
	          .shift = 8,
	          .port = ARB_OUT,
	          .block = ARB_BLOCK,
	          .at = RID_BYTES,
	          .bytes = ARB_BYTES },
};
