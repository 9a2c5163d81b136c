/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* ClassPortInfo of the SA (IBA vol. 1, 13.4.8.1 and 15.2.1.1): what this SA supports. */
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"

enum {
	CPI_BASE_VERSION,
	CPI_CLASS_VERSION,
	CPI_CAPABILITY_MASK,
	CPI_CAPABILITY_MASK2,
	CPI_RESP_TIME_VALUE,
	CPI_REDIRECT_QP = 12,
	CPI_REDIRECT_Q_KEY,
	RESP_TIME = 16 /* 4.096 us * 2^16 = 0.27 s, for the longest tables */
};

/* clang-format off */
static const struct sa_field class_fields[] = {
	{ "BaseVersion",       0,   8, SA_INPUT },
	{ "ClassVersion",      8,   8, SA_INPUT },
	{ "CapabilityMask",   16,  16, SA_INPUT },
	{ "CapabilityMask2",  32,  27, SA_INPUT },
	{ "RespTimeValue",    59,   5, SA_INPUT },
	{ "RedirectGID",      64, 128, SA_INPUT },
	{ "RedirectTC",      192,   8, SA_INPUT },
	{ "RedirectSL",      200,   4, SA_INPUT },
	{ "RedirectFL",      204,  20, SA_INPUT },
	{ "RedirectLID",     224,  16, SA_INPUT },
	{ "RedirectP_Key",   240,  16, SA_INPUT },
	{ "Reserved",        256,   8, SA_RESERVED },
	{ "RedirectQP",      264,  24, SA_INPUT },
	{ "RedirectQ_Key",   288,  32, SA_INPUT },
	{ "TrapGID",         320, 128, SA_INPUT },
	{ "TrapTC",          448,   8, SA_INPUT },
	{ "TrapSL",          456,   4, SA_INPUT },
	{ "TrapFL",          460,  20, SA_INPUT },
	{ "TrapLID",         480,  16, SA_INPUT },
	{ "TrapP_Key",       496,  16, SA_INPUT },
	{ "TrapHL",          512,   8, SA_INPUT },
	{ "TrapQP",          520,  24, SA_INPUT },
	{ "TrapQ_Key",       544,  32, SA_INPUT },
};
/* clang-format on */

static void put(uint8_t *record, unsigned component, uint64_t value)
{
	sa_put(&rec_class_port_info, record, (int)component, value);
}

static int class_walk(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	uint8_t record[sizeof(struct umad_class_port_info)] = { 0 };

	(void)q;
	put(record, CPI_BASE_VERSION, UMAD_BASE_VERSION);
	put(record, CPI_CLASS_VERSION, UMAD_SA_CLASS_VERSION);
	put(record, CPI_CAPABILITY_MASK,
	    UMAD_SA_CAP_MASK_IS_PORTINFO_CAP_MASK_MATCH_SUP |
	            UMAD_SA_CAP_MASK_IS_MULTIPATH_SUP | UMAD_SA_CAP_MASK_IS_UD_MCAST_SUP);
	put(record, CPI_CAPABILITY_MASK2,
	    UMAD_SA_CAP_MASK2_IS_MCAST_TOP_SUP |
	            UMAD_SA_CAP_MASK2_IS_ADDITIONAL_GUID_SUP |
	            UMAD_SA_CAP_MASK2_IS_FULL_PORTINFO_REC_SUP |
	            UMAD_SA_CAP_MASK2_IS_EXT_SPEEDS_SUP |
	            UMAD_SA_CAP_MASK2_IS_PORT_INFO_CAPMASK2_MATCH_SUP |
	            UMAD_SA_CAP_MASK2_IS_SEND_ONLY_FULL_MEMBER_SUP |
	            UMAD_SA_CAP_MASK2_IS_LINK_WIDTH_2X_SUP |
	            UMAD_SA_CAP_MASK2_IS_LINK_SPEED_HDR_SUP |
	            UMAD_SA_CAP_MASK2_IS_LINK_SPEED_NDR_SUP |
	            UMAD_SA_CAP_MASK2_IS_LINK_SPEED_XDR_SUP |
	            (snap_meta(r)->qos ? UMAD_SA_CAP_MASK2_IS_QOS_SUP : 0));
	put(record, CPI_RESP_TIME_VALUE, RESP_TIME);
	put(record, CPI_REDIRECT_QP, 1);
	put(record, CPI_REDIRECT_Q_KEY, UMAD_QKEY);
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr rec_class_port_info = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_ATTR_CLASS_PORT_INFO,
	.name = "ClassPortInfo",
	.methods = SA_GET,
	.size = sizeof(struct umad_class_port_info),
	SA_FIELDS(class_fields),
	.walk = class_walk,
};
