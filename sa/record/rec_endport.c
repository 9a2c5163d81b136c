/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records of end ports that are read from the fabric: SMInfoRecord (IBA vol. 1,
 * 15.2.5.10), this subnet manager and the others that answered the last sweep, never with
 * an SM_Key; P_KeyTableRecord (15.2.5.9), for trusted requesters only, also of external
 * switch ports; the port component counts for switches only.
 *
 * The own ActCount is that of the moment of the answer, which who asks the walk brings;
 * the snapshot has none.
 */
#include <infiniband/umad_sm.h>

#include "db/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"

enum { SM_RID = 32, RID = 64, SM_INFO_BYTES = 21, TABLE_BYTES = 64 };
enum { SMIR_GUID = 2, SMIR_SM_KEY = 3, SMIR_ACT_COUNT };
enum { PKTR_BLOCK = 1, PKTR_PORT };

/* clang-format off */
static const struct sa_field sm_fields[] = {
	{ "LID",           0, 16, SA_INPUT },
	{ "Reserved",     16, 16, SA_RESERVED },
	{ "GUID",         SA_AT(SM_RID, SMI_GUID), SA_EQ },
	{ "SM_Key",       SA_AT(SM_RID, SMI_SM_KEY), SA_EQ },
	{ "ActCount",     SA_AT(SM_RID, SMI_ACT_COUNT), SA_EQ },
	{ "Priority",     SA_AT(SM_RID, SMI_PRIORITY), SA_EQ },
	{ "SMState",      SA_AT(SM_RID, SMI_SM_STATE), SA_EQ },
};

static const struct sa_field p_key_fields[] = {
	{ "LID",           0,  16, SA_INPUT },
	{ "BlockNum",     16,  16, SA_EQ },
	{ "PortNum",      32,   8, SA_INPUT },
	{ "Reserved",     40,  24, SA_RESERVED },
	{ "P_KeyTable",  RID, 512, SA_EQ | SA_LIST16 },
};
/* clang-format on */

uint32_t sa_act_count(struct snap_reader *r, const struct sa_query *q, uint64_t guid,
                      uint32_t read)
{
	return guid == snap_meta(r)->sm_port_guid ? q->act_count : read;
}

static uint64_t value(const uint8_t *record, unsigned component)
{
	const struct sa_field *f = &sm_fields[component];

	return field_get(record, f->bit, f->width);
}

static bool without_key(struct snap_reader *r, const struct sa_query *q, uint8_t *record)
{
	sa_put(&rec_sm_info, record, SMIR_SM_KEY, 0);
	sa_put(&rec_sm_info, record, SMIR_ACT_COUNT,
	       sa_act_count(r, q, value(record, SMIR_GUID),
	                    (uint32_t)value(record, SMIR_ACT_COUNT)));
	return true;
}

const struct sa_attr rec_sm_info = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_SM_INFO_REC,
	.name = "SMInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = SM_RID / 8 + SM_INFO_BYTES,
	.moves = true,
	SA_FIELDS(sm_fields),
	.rows = { .attr = UMAD_SM_ATTR_SM_INFO,
	          .port = SA_NONE,
	          .block = SA_NONE,
	          .at = SM_RID / 8,
	          .bytes = SM_INFO_BYTES,
	          .fit = without_key },
};

const struct sa_attr rec_p_key_table = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_PKEY_TABLE_REC,
	.name = "P_KeyTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID / 8 + TABLE_BYTES,
	.trusted = true,
	SA_FIELDS(p_key_fields),
	.rows = { .attr = UMAD_SM_ATTR_PKEY_TABLE,
	          .shift = 16,
	          .port = PKTR_PORT,
	          .block = PKTR_BLOCK,
	          .at = RID / 8,
	          .bytes = TABLE_BYTES },
};
