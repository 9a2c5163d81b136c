/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Tables of ports and switches in Omni-Path's layouts. Those of Omni-Path's devices are what these showed or
 * were told. Those of InfiniBand's devices are made of what is programmed or published:
 *
 *   MulticastForwardingTableRecord   a block has 8 multicast LIDs with 64 ports each; a block
 *                                    of InfiniBand has 32 LIDs with 16 ports each
 *   VLArbitrationRecord              block 0 is the low table, block 1 the high one; there
 *                                    are no preemption tables
 *   PortGroupForwardingTableRecord   the group of each LID for adaptive routing
 *   PortGroupTableRecord             the ports of each group; without adaptive routing there
 *                                    are no groups
 *   BufferControlTableRecord         Omni-Path only
 *   CableInfoRecord                  Omni-Path only: 128 bytes from an address on that the request names,
 *                                    or from 128 on, in two records of 64
 *   CongestionInfoRecord, SwitchCongestionSettingRecord, SwitchPortCongestionSettingRecord,
 *   HFICongestionSettingRecord, HFICongestionControlTableRecord
 *                                    Omni-Path only: congestion control, where it is on
 *
 * Layouts and component bits are those of opa-fm and opasaquery.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/wire.h"
#include "sa/record/opa_native.h"
#include "sa/record/rec_int.h"
#include "sa/record/record.h"

enum { BLOCK_BYTES = 64 };
/* of the SMA */
enum {
	SMA_CABLE_INFO = 0x32,
	SMA_PORT_GROUP_FT = 0x88,
	SMA_PORT_GROUP_TABLE,
	SMA_BUFFER_CONTROL
};

/* --- MulticastForwardingTableRecord ----------------------------------------------- */

enum {
	MFT_POSITION = 1,
	MFT_BLOCK = 3,
	MFT_LIDS = 8, /* multicast LIDs of a block */
	MFT_PARTS =
		4, /* blocks per block of InfiniBand, and its positions per position */
	IB_MFT_LIDS = 32,
	IB_POSITION_SHIFT = 28
};

/* clang-format off */
static const struct sa_field mft_fields[] = {
	{ "LID",        0, 32, SA_INPUT },
	{ "Position",  32,  2, SA_EQ },
	{ "Reserved",  34,  9, SA_RESERVED },
	{ "BlockNum",  43, 21, SA_EQ },
	{ "MulticastForwardingTable", RID, 512, SA_EQ | SA_LIST8 },
};
/* clang-format on */

/* Copies the bits of one block of InfiniBand at a position into four blocks. */
static int copy_bits(struct snap_reader *r, const struct snap_end *end, uint32_t block,
                     unsigned ib_position, uint8_t tables[MFT_PARTS][BLOCK_BYTES])
{
	const uint8_t *data;
	uint16_t len;

	int ret = snap_attr(r, UMAD_SM_ATTR_MCAST_FT, end->node_guid,
	                    ib_position << IB_POSITION_SHIFT | block, &data, &len);
	if (ret != E_OK || len < IB_MFT_LIDS * 2) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	/* masks have 64 bits; the last two bytes are the lowest 16 */
	unsigned at = 6 - 2 * (ib_position % MFT_PARTS);
	for (unsigned i = 0; i < IB_MFT_LIDS; i++) {
		memcpy(tables[i / MFT_LIDS] + (size_t)(i % MFT_LIDS) * 8 + at,
		       data + (size_t)i * 2, 2);
	}
	return E_OK;
}

static int offer_mft_block(struct snap_reader *r, const struct sa_query *q,
                           const struct snap_end *end, uint32_t block, unsigned position,
                           struct sa_out *out)
{
	uint8_t tables[MFT_PARTS][BLOCK_BYTES] = { 0 };
	uint8_t record[RID_BYTES + BLOCK_BYTES] = { 0 };
	int ret = E_OK;

	for (unsigned i = 0; i < MFT_PARTS && ret == E_OK; i++) {
		ret = copy_bits(r, end, block, position * MFT_PARTS + i, tables);
	}
	sa_put(q->attr, record, SA_LID, end->base_lid);
	sa_put(q->attr, record, MFT_POSITION, position);
	for (unsigned i = 0; i < MFT_PARTS && ret == E_OK; i++) {
		sa_put(q->attr, record, MFT_BLOCK, (uint64_t)block * MFT_PARTS + i);
		memcpy(record + RID_BYTES, tables[i], BLOCK_BYTES);
		sa_offer(out, record);
	}
	return ret;
}

/* Offers the blocks that exist at the first position; they exist at the others too. */
static int offer_mft(struct snap_reader *r, const struct sa_query *q,
                     const struct snap_end *end, struct sa_out *out)
{
	enum { PORTS = 64 };
	static const struct opa_native_table native = { UMAD_SM_ATTR_MCAST_FT,
		                                        BLOCK_BYTES, MFT_POSITION,
		                                        MFT_BLOCK };
	struct snap_attr_row row;
	struct snap_node node;
	uint32_t next = 0;
	int ret = end->type == NODE_SWITCH ? snap_node(r, end->node_guid, &node)
	                                   : E_NOTFOUND;

	if (ret == E_OK && opa_native_known(r, end->node_guid)) {
		return opa_native_offer(r, q, end, &native, out);
	}
	while (ret == E_OK && !sa_full(out)) {
		ret = snap_attr_from(r, UMAD_SM_ATTR_MCAST_FT, end->node_guid, next,
		                     &row);
		if (ret != E_OK || row.guid != end->node_guid ||
		    row.block >> IB_POSITION_SHIFT != 0) {
			break;
		}
		next = row.block + 1;
		for (unsigned p = 0; p <= node.n_ports / PORTS && ret == E_OK; p++) {
			ret = offer_mft_block(r, q, end, row.block, p, out);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_mcast_ft = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_MCAST_FT_REC,
	.name = "MulticastForwardingTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + BLOCK_BYTES,
	SA_FIELDS(mft_fields),
	.offer_end = offer_mft,
};

/* --- VLArbitrationRecord ---------------------------------------------------------- */

enum {
	ARB_PORT = 1,
	ARB_BLOCK,
	ARB_HALF = 64, /* bytes of a block of InfiniBand; two make a table */
	ARB_TABLES = 2,
	ARB_BYTES = 256
};

/* clang-format off */
static const struct sa_field arb_fields[] = {
	{ "LID",                 0,   32, SA_INPUT },
	{ "OutputPortNum",      32,    8, SA_INPUT },
	{ "BlockNum",           40,    8, SA_EQ },
	{ "Reserved",           48,   16, SA_RESERVED },
	{ "VLArbitrationTable", RID, 2048, SA_EQ | SA_PAIRS },
};
/* clang-format on */

/* Offers both tables of a port. */
static int offer_arb_port(struct snap_reader *r, const struct sa_query *q,
                          const struct snap_end *end, uint32_t port, struct sa_out *out)
{
	for (unsigned table = 0; table < ARB_TABLES; table++) {
		uint8_t record[RID_BYTES + ARB_BYTES] = { 0 };
		bool any = false;

		for (unsigned half = 0; half < 2; half++) {
			const uint8_t *data;
			uint16_t len;
			int ret = snap_attr(r, UMAD_SM_ATTR_VL_ARB_TABLE, end->node_guid,
			                    port << 8 | (2 * table + half + 1), &data,
			                    &len);
			if (ret != E_OK && ret != E_NOTFOUND) {
				return ret;
			}
			if (ret == E_OK && len >= ARB_HALF) {
				any = true;
				memcpy(record + RID_BYTES + (size_t)half * ARB_HALF, data,
				       ARB_HALF);
			}
		}
		sa_put(q->attr, record, SA_LID, end->base_lid);
		sa_put(q->attr, record, ARB_PORT, port);
		sa_put(q->attr, record, ARB_BLOCK, table);
		if (any) {
			sa_offer(out, record);
		}
	}
	return E_OK;
}

static int offer_arb(struct snap_reader *r, const struct sa_query *q,
                     const struct snap_end *end, struct sa_out *out)
{
	struct snap_attr_row row;
	struct sa_row_walk w;
	uint32_t port;
	int ret = E_OK;
	static const struct opa_native_table native = { UMAD_SM_ATTR_VL_ARB_TABLE,
		                                        ARB_BYTES, ARB_PORT, ARB_BLOCK };

	if (opa_native_known(r, end->node_guid)) {
		return opa_native_offer(r, q, end, &native, out);
	}
	sa_rows_begin(q, UMAD_SM_ATTR_VL_ARB_TABLE, 8, ARB_PORT, end, &w);
	while (ret == E_OK && !sa_full(out)) {
		ret = sa_rows_next(r, &w, &row);
		if (ret == E_OK) {
			port = row.block >> 8;
			w.next = (uint64_t)(port + 1) << 8;
			ret = offer_arb_port(r, q, end, port, out);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_vl_arb = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_VL_ARB_REC,
	.name = "VLArbitrationRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + ARB_BYTES,
	.tables_on_request = true,
	SA_FIELDS(arb_fields),
	.offer_end = offer_arb,
};

/* --- port groups ------------------------------------------------------------------ */

enum {
	PGFDB_BLOCK = 1,
	PGT_POSITION = 1,
	PGT_BLOCK,
	PGT_GROUPS = 8 /* groups of a block */
};

/* clang-format off */
static const struct sa_field pgfdb_fields[] = {
	{ "LID",        0, 32, SA_INPUT },
	{ "BlockNum",  46, 18, SA_EQ },
	{ "PortGroupForwardingTable", RID, 512, SA_EQ | SA_LIST8 },
};
static const struct sa_field pgt_fields[] = {
	{ "LID",        0, 32, SA_INPUT },
	{ "Position",  32,  2, SA_EQ },
	{ "BlockNum",  43,  5, SA_EQ },
	{ "PortGroupTable", RID, 512, SA_EQ | SA_LIST8 },
};
/* clang-format on */

static int offer_pgfdb(struct snap_reader *r, const struct sa_query *q,
                       const struct snap_end *end, struct sa_out *out)
{
	struct port_set sets[PORT_GROUPS_MAX];
	uint8_t record[RID_BYTES + BLOCK_BYTES] = { 0 };
	uint32_t block = 0, last = snap_meta(r)->top_lid / BLOCK_BYTES;
	unsigned n;
	static const struct opa_native_table native = { SMA_PORT_GROUP_FT, BLOCK_BYTES,
		                                        SA_NONE, PGFDB_BLOCK };
	bool is_switch = end->type == NODE_SWITCH;
	int ret;

	if (is_switch && opa_native_known(r, end->node_guid)) {
		return opa_native_offer(r, q, end, &native, out);
	}
	ret = is_switch ? snap_port_groups(r, end->node_guid, sets, &n) : E_NOTFOUND;
	if (sa_asked(q, PGFDB_BLOCK)) {
		block = (uint32_t)sa_component(q, PGFDB_BLOCK);
		last = block < last ? block : last;
	}
	sa_put(q->attr, record, SA_LID, end->base_lid);
	for (; ret == E_OK && block <= last && !sa_full(out); block++) {
		for (unsigned i = 0; i < BLOCK_BYTES && ret == E_OK; i++) {
			ret = snap_port_group_of(r, end->node_guid,
			                         block * BLOCK_BYTES + i,
			                         record + RID_BYTES + i);
		}
		sa_put(q->attr, record, PGFDB_BLOCK, block);
		if (ret == E_OK) {
			sa_offer(out, record);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_port_group_ft = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_PORT_GROUP_FT,
	.name = "PortGroupForwardingTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + BLOCK_BYTES,
	SA_FIELDS(pgfdb_fields),
	.offer_end = offer_pgfdb,
};

static int offer_pgt(struct snap_reader *r, const struct sa_query *q,
                     const struct snap_end *end, struct sa_out *out)
{
	struct port_set sets[PORT_GROUPS_MAX];
	struct snap_node node = { .n_ports = 0 };
	unsigned n = 0;
	static const struct opa_native_table native = { SMA_PORT_GROUP_TABLE, BLOCK_BYTES,
		                                        PGT_POSITION, PGT_BLOCK };
	bool is_switch = end->type == NODE_SWITCH;
	int ret;

	if (is_switch && opa_native_known(r, end->node_guid)) {
		return opa_native_offer(r, q, end, &native, out);
	}
	ret = is_switch ? snap_port_groups(r, end->node_guid, sets, &n) : E_NOTFOUND;

	ret = ret == E_OK ? snap_node(r, end->node_guid, &node) : ret;
	for (unsigned g = 0; ret == E_OK && g < n; g += PGT_GROUPS) {
		for (unsigned p = 0; p <= (node.n_ports - 1u) / 64; p++) {
			uint8_t record[RID_BYTES + BLOCK_BYTES] = { 0 };
			sa_put(q->attr, record, SA_LID, end->base_lid);
			sa_put(q->attr, record, PGT_POSITION, p);
			sa_put(q->attr, record, PGT_BLOCK, g / PGT_GROUPS);
			for (unsigned i = g; i < n && i < g + PGT_GROUPS; i++) {
				/* bit 0 is port 64 * position + 1 */
				const uint64_t *word = sets[i].word + p;
				uint64_t next = p + 1 < PORT_SET_WORDS ? word[1] : 0;
				field_set(record, RID + 64 * (i - g), 64,
				          word[0] >> 1 | next << 63);
			}
			sa_offer(out, record);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_port_group_table = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_PORT_GROUP_TABLE,
	.name = "PortGroupTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + BLOCK_BYTES,
	SA_FIELDS(pgt_fields),
	.offer_end = offer_pgt,
};

/* --- buffer control --------------------------------------------------------------- */

enum { BCT_PORT = 1, BCT_BYTES = 132 };

/* clang-format off */
static const struct sa_field buffer_fields[] = {
	{ "LID",        0,   32, SA_INPUT },
	{ "Port",      32,    8, SA_EQ },
	{ "Reserved",  40,   24, SA_RESERVED },
	{ "BufferControlTable", RID, 1056, SA_EQ | SA_LIST16 },
};
/* clang-format on */

static int offer_buffers(struct snap_reader *r, const struct sa_query *q,
                         const struct snap_end *end, struct sa_out *out)
{
	static const struct opa_native_table native = { SMA_BUFFER_CONTROL, BCT_BYTES,
		                                        BCT_PORT, SA_NONE };

	return opa_native_offer(r, q, end, &native, out);
}

const struct sa_attr opa_buffer_control = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_BUFFER_CONTROL,
	.name = "BufferControlTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + BCT_BYTES,
	SA_FIELDS(buffer_fields),
	.offer_end = offer_buffers,
};

/* --- the modules of cables -------------------------------------------------------- */

enum {
	CIR_PORT = 1,
	CIR_LENGTH,
	CIR_ADDRESS = 4,
	CIR_PORT_TYPE,
	PAGE = 128,      /* bytes that are read of a module, from address 128 on */
	PAGE_BLOCKS = 2, /* and blocks: the last two of the table */
	CIR_LENGTH_MAX = BLOCK_BYTES - 1
};

/* clang-format off */
static const struct sa_field cable_fields[] = {
	{ "LID",        0,  32, SA_INPUT },
	{ "Port",      32,   8, SA_EQ },
	{ "Length",    40,   7, SA_INPUT }, /* bytes less 1 */
	{ "Reserved",  47,   1, SA_RESERVED },
	{ "Address",   48,  12, SA_INPUT },
	{ "PortType",  60,   4, SA_RESERVED },
	{ "Data",     RID, 512, SA_EQ | SA_LIST8 },
};
/* clang-format on */

/* The upper page of a port's module. \return false: it is not known. */
static bool read_page(struct snap_reader *r, uint64_t guid, uint32_t port,
                      uint8_t page[PAGE])
{
	for (unsigned i = 0; i < PAGE_BLOCKS; i++) {
		const uint8_t *block = opa_native_block(
			r, SMA_CABLE_INFO, guid, port << SNAP_OPA_ROW | (PAGE_BLOCKS + i),
			BLOCK_BYTES);

		if (block == NULL) {
			return false;
		}
		memcpy(page + (size_t)i * BLOCK_BYTES, block, BLOCK_BYTES);
	}
	return true;
}

static void offer_cable_port(struct snap_reader *r, const struct sa_query *q,
                             const struct snap_end *end, uint32_t port,
                             struct sa_out *out)
{
	unsigned from = 0, last = PAGE - 1;
	const uint8_t *info;
	uint8_t page[PAGE];

	if (sa_asked(q, CIR_ADDRESS)) {
		from = (unsigned)sa_component(q, CIR_ADDRESS) - PAGE;
	}
	if (sa_asked(q, CIR_LENGTH)) {
		last = from + (unsigned)sa_component(q, CIR_LENGTH);
	}
	if (!read_page(r, end->node_guid, port, page)) {
		return;
	}
	info = opa_native_block(r, UMAD_SM_ATTR_PORT_INFO, end->node_guid, port,
	                        OPA_BYTES_PORT_INFO);
	for (; from <= last && last < PAGE && !sa_full(out); from += BLOCK_BYTES) {
		uint8_t record[RID_BYTES + BLOCK_BYTES] = { 0 };
		unsigned length =
			last - from < CIR_LENGTH_MAX ? last - from : CIR_LENGTH_MAX;

		sa_put(q->attr, record, SA_LID, end->base_lid);
		sa_put(q->attr, record, CIR_PORT, port);
		sa_put(q->attr, record, CIR_LENGTH, length);
		sa_put(q->attr, record, CIR_ADDRESS, PAGE + from);
		if (info != NULL) {
			sa_put(q->attr, record, CIR_PORT_TYPE,
			       field_get(info, OPA_PI_PORT_TYPE));
		}
		memcpy(record + RID_BYTES, page + from, length + 1);
		sa_offer(out, record);
	}
}

static int offer_cables(struct snap_reader *r, const struct sa_query *q,
                        const struct snap_end *end, struct sa_out *out)
{
	struct snap_attr_row row;
	struct sa_row_walk w;
	int ret = E_OK;

	sa_rows_begin(q, SNAP_ATTR_OPA | SMA_CABLE_INFO, SNAP_OPA_ROW, CIR_PORT, end, &w);
	while (ret == E_OK && !sa_full(out)) {
		ret = sa_rows_next(r, &w, &row);
		if (ret == E_OK) {
			uint32_t port = row.block >> SNAP_OPA_ROW;

			w.next = (uint64_t)(port + 1) << SNAP_OPA_ROW;
			offer_cable_port(r, q, end, port, out);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_cable_info = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_CABLE_INFO,
	.name = "CableInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + BLOCK_BYTES,
	SA_FIELDS(cable_fields),
	.offer_end = offer_cables,
};

/* --- congestion control ----------------------------------------------------------- */

enum { PCR_PORT = 1, CCT_BLOCK = 1 };

/* clang-format off */
static const struct sa_field opa_congestion_info_fields[] = {
	{ "LID",                  0, 32,                                 SA_INPUT },
	{ "Reserved",            32, 32,                                 SA_RESERVED },
	{ "Flags",               SA_AT(RID, OPA_CI_FLAGS),               SA_EQ },
	{ "ControlTableCap",     SA_AT(RID, OPA_CI_CONTROL_TABLE_CAP),   SA_EQ },
	{ "CongestionLogLength", SA_AT(RID, OPA_CI_LOG_LENGTH),          SA_EQ },
};
static const struct sa_field opa_switch_congestion_fields[] = {
	{ "LID",                  0, 32,                                 SA_INPUT },
	{ "Reserved",            32, 32,                                 SA_RESERVED },
	{ "ControlMap",          SA_AT(RID, OPA_SCS_CONTROL_MAP),        SA_EQ },
	{ "VictimMask",          SA_AT(RID, OPA_SCS_VICTIM_MASK),        SA_EQ | SA_LIST8 },
	{ "CreditMask",          SA_AT(RID, OPA_SCS_CREDIT_MASK),        SA_EQ | SA_LIST8 },
	{ "Threshold",           SA_AT(RID, OPA_SCS_THRESHOLD),          SA_EQ },
	{ "Reserved",            RID + 548, 4,                           SA_RESERVED },
	{ "PacketSize",          SA_AT(RID, OPA_SCS_PACKET_SIZE),        SA_EQ },
	{ "CSThreshold",         SA_AT(RID, OPA_SCS_CS_THRESHOLD),       SA_EQ },
	{ "Reserved",            RID + 564, 12,                          SA_RESERVED },
	{ "CSReturnDelay",       SA_AT(RID, OPA_SCS_CS_RETURN_DELAY),    SA_EQ },
	{ "MarkingRate",         SA_AT(RID, OPA_SCS_MARKING_RATE),       SA_EQ },
};
static const struct sa_field opa_port_congestion_fields[] = {
	{ "LID",                  0, 32,                                 SA_INPUT },
	{ "Port",                32,  8,                                 SA_EQ },
	{ "Reserved",            40, 24,                                 SA_RESERVED },
	{ "Valid",               SA_AT(RID, OPA_PCS_VALID),              SA_EQ },
	{ "ControlType",         SA_AT(RID, OPA_PCS_CONTROL_TYPE),       SA_EQ },
	{ "Reserved",            RID + 2, 2,                             SA_RESERVED },
	{ "Threshold",           SA_AT(RID, OPA_PCS_THRESHOLD),          SA_EQ },
	{ "PacketSize",          SA_AT(RID, OPA_PCS_PACKET_SIZE),        SA_EQ },
	{ "MarkingRate",         SA_AT(RID, OPA_PCS_MARKING_RATE),       SA_EQ },
};
static const struct sa_field opa_hfi_congestion_fields[] = {
	{ "LID",                  0, 32,                                 SA_INPUT },
	{ "Reserved",            32, 32,                                 SA_RESERVED },
	{ "ControlMap",          SA_AT(RID, OPA_HCS_CONTROL_MAP),        SA_EQ },
	{ "PortControl",         SA_AT(RID, OPA_HCS_PORT_CONTROL),       SA_EQ },
	{ "HFICongestionEntryList", RID + 8 * OPA_HCS_ENTRIES_AT, 8 * OPA_HCS_ENTRY_BYTES * OPA_LANES, SA_EQ | SA_LIST8 },
};
static const struct sa_field opa_hfi_control_table_fields[] = {
	{ "LID",                  0, 32,                                 SA_INPUT },
	{ "BlockNum",            32, 16,                                 SA_EQ },
	{ "Reserved",            48, 16,                                 SA_RESERVED },
	{ "CCTILimit",           SA_AT(RID, OPA_CCT_LIMIT),              SA_EQ },
	{ "CCTEntryList",        RID + 8 * OPA_CCT_ENTRIES_AT, 16 * OPA_CCT_ENTRIES, SA_EQ | SA_LIST16 },
};

/* Records that are the blocks of a table. */
#define BLOCKS_OF(table, table_bytes, port_, block_)                                     \
	.methods = SA_GET | SA_GETTABLE, .size = RID_BYTES + (table_bytes),              \
	.rows = { .attr = SNAP_ATTR_OPA | (table), .shift = SNAP_OPA_ROW,                \
		  .port = (port_), .block = (block_),                                    \
		  .at = RID_BYTES, .bytes = (table_bytes) }

const struct sa_attr opa_congestion_info = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_CONGESTION_INFO,
	.name = "CongestionInfoRecord",
	SA_FIELDS(opa_congestion_info_fields),
	BLOCKS_OF(OPA_ATTR_CONGESTION_INFO, OPA_BYTES_CONGESTION_INFO, SA_NONE, SA_NONE),
};

const struct sa_attr opa_switch_congestion = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_SWITCH_CONGESTION,
	.name = "SwitchCongestionSettingRecord",
	SA_FIELDS(opa_switch_congestion_fields),
	BLOCKS_OF(OPA_ATTR_SWITCH_CONGESTION, OPA_BYTES_SWITCH_CONGESTION, SA_NONE, SA_NONE),
};

const struct sa_attr opa_port_congestion = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_PORT_CONGESTION,
	.name = "SwitchPortCongestionSettingRecord",
	SA_FIELDS(opa_port_congestion_fields),
	BLOCKS_OF(OPA_ATTR_PORT_CONGESTION, OPA_BYTES_PORT_CONGESTION, PCR_PORT, SA_NONE),
};

const struct sa_attr opa_hfi_congestion = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_HFI_CONGESTION,
	.name = "HFICongestionSettingRecord",
	SA_FIELDS(opa_hfi_congestion_fields),
	BLOCKS_OF(OPA_ATTR_HFI_CONGESTION, OPA_BYTES_HFI_CONGESTION, SA_NONE, SA_NONE),
};

const struct sa_attr opa_hfi_control_table = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_HFI_CONGESTION_CONTROL,
	.name = "HFICongestionControlTableRecord",
	SA_FIELDS(opa_hfi_control_table_fields),
	BLOCKS_OF(OPA_ATTR_HFI_CONTROL_TABLE, OPA_BYTES_CONTROL_TABLE, SA_NONE, CCT_BLOCK),
};
/* clang-format on */
