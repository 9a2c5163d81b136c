/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * SLtoVLTableRecord (IBA vol. 1, 15.2.5.4) and VLArbitrationRecord (15.2.5.11), as read
 * or programmed: there are none while quality of service is off.
 *
 * Ports of a switch go under the LID of its port 0, with a SL-to-VL table for each port
 * by which packets come in; a CA or router port has one, with InputPortNum 0. The LID
 * component names any LID of the end port. The ports of a CA or router port are not
 * looked at: it has one table, and clients ask for it with any number.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/err.h"
#include "db/reader.h"
#include "routing/graph.h"
#include "sa/record.h"
#include "sa/wire.h"

enum { RID = 64, TABLE_BYTES = 8, ARB_BYTES = 64 };
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

static bool is_known(const uint8_t table[TABLE_BYTES])
{
	return field_get(table, 0, 64) != UINT64_MAX;
}

static void offer_slvl(const struct snap_end *end, const struct snap_attr_row *row,
                       struct sa_out *out)
{
	bool one_in = end->type == NODE_SWITCH && sa_asked(out->q, SLVL_IN);

	for (unsigned in = 0; in < row->len / (unsigned)TABLE_BYTES; in++) {
		if (one_in && in != sa_given(out->q, SLVL_IN)) {
			continue;
		}
		uint8_t record[RID / 8 + TABLE_BYTES] = { 0 };
		const uint8_t *table = row->data + TABLE_BYTES * (size_t)in;

		if (is_known(table)) {
			field_set(record, 0, 16, end->base_lid);
			field_set(record, 16, 8, in);
			field_set(record, 24, 8, row->block);
			memcpy(record + RID / 8, table, TABLE_BYTES);
			sa_offer(out, record);
		}
	}
}

static int offer_end(struct snap_reader *r, const struct sa_query *q,
                     const struct snap_end *end, struct sa_out *out)
{
	struct sa_row_walk w;
	struct snap_attr_row row;

	sa_rows_begin(q, UMAD_SM_ATTR_SLVL_TABLE, 0, SLVL_OUT, end, &w);
	while (!sa_full(out)) {
		int ret = sa_rows_next(r, &w, &row);
		if (ret != E_OK) {
			return ret == E_NOTFOUND ? E_OK : ret;
		}
		offer_slvl(end, &row, out);
	}
	return E_OK;
}

static int slvl_walk(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	return sa_walk_ends(r, q, QOS_LID, offer_end, out);
}

const struct sa_attr rec_slvl_table = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_SLVL_REC,
	.name = "SLtoVLTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID / 8 + TABLE_BYTES,
	SA_FIELDS(slvl_fields),
	.walk = slvl_walk,
};

const struct sa_attr rec_vl_arb = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_VL_ARB_REC,
	.name = "VLArbitrationRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID / 8 + ARB_BYTES,
	SA_FIELDS(arb_fields),
	.rows = { .attr = UMAD_SM_ATTR_VL_ARB_TABLE,
	          .shift = 8,
	          .port = ARB_OUT,
	          .block = ARB_BLOCK,
	          .at = RID / 8,
	          .bytes = ARB_BYTES },
};
