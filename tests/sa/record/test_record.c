/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "conf/base/err.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "tests/lib/suite.h"

/* libibmad describes the same layouts independently: (attribute, component) -> its field,
 * and where in our record its structure starts. */
struct foreign {
	const struct sa_attr *attr;
	unsigned component;
	const char *name;
	int at; /* bytes */
	enum MAD_FIELDS field;
};

/* clang-format off */
static const struct foreign foreign[] = {
	{ &rec_node,  0, "LID",             0, IB_SA_NR_LID_F },
	{ &rec_node,  2, "BaseVersion",     0, IB_SA_NR_BASEVER_F },
	{ &rec_node,  3, "ClassVersion",    0, IB_SA_NR_CLASSVER_F },
	{ &rec_node,  4, "NodeType",        0, IB_SA_NR_TYPE_F },
	{ &rec_node,  5, "NumPorts",        0, IB_SA_NR_NPORTS_F },
	{ &rec_node,  6, "SystemImageGUID", 0, IB_SA_NR_SYSTEM_GUID_F },
	{ &rec_node,  7, "NodeGUID",        0, IB_SA_NR_GUID_F },
	{ &rec_node,  8, "PortGUID",        0, IB_SA_NR_PORT_GUID_F },
	{ &rec_node,  9, "PartitionCap",    0, IB_SA_NR_PARTITION_CAP_F },
	{ &rec_node, 10, "DeviceID",        0, IB_SA_NR_DEVID_F },
	{ &rec_node, 11, "Revision",        0, IB_SA_NR_REVISION_F },
	{ &rec_node, 12, "LocalPortNum",    0, IB_SA_NR_LOCAL_PORT_F },
	{ &rec_node, 13, "VendorID",        0, IB_SA_NR_VENDORID_F },

	{ &rec_port_info,  3, "M_Key",                4, IB_PORT_MKEY_F },
	{ &rec_port_info,  4, "GidPrefix",            4, IB_PORT_GID_PREFIX_F },
	{ &rec_port_info,  5, "BaseLID",              4, IB_PORT_LID_F },
	{ &rec_port_info,  6, "MasterSMLID",          4, IB_PORT_SMLID_F },
	{ &rec_port_info,  7, "CapabilityMask",       4, IB_PORT_CAPMASK_F },
	{ &rec_port_info,  8, "DiagCode",             4, IB_PORT_DIAG_F },
	{ &rec_port_info,  9, "M_KeyLeasePeriod",     4, IB_PORT_MKEY_LEASE_F },
	{ &rec_port_info, 10, "LocalPortNum",         4, IB_PORT_LOCAL_PORT_F },
	{ &rec_port_info, 11, "LinkWidthEnabled",     4, IB_PORT_LINK_WIDTH_ENABLED_F },
	{ &rec_port_info, 12, "LinkWidthSupported",   4, IB_PORT_LINK_WIDTH_SUPPORTED_F },
	{ &rec_port_info, 13, "LinkWidthActive",      4, IB_PORT_LINK_WIDTH_ACTIVE_F },
	{ &rec_port_info, 14, "LinkSpeedSupported",   4, IB_PORT_LINK_SPEED_SUPPORTED_F },
	{ &rec_port_info, 15, "PortState",            4, IB_PORT_STATE_F },
	{ &rec_port_info, 16, "PortPhysicalState",    4, IB_PORT_PHYS_STATE_F },
	{ &rec_port_info, 17, "LinkDownDefaultState", 4, IB_PORT_LINK_DOWN_DEF_F },
	{ &rec_port_info, 18, "M_KeyProtectBits",     4, IB_PORT_MKEY_PROT_BITS_F },
	{ &rec_port_info, 20, "LMC",                  4, IB_PORT_LMC_F },
	{ &rec_port_info, 21, "LinkSpeedActive",      4, IB_PORT_LINK_SPEED_ACTIVE_F },
	{ &rec_port_info, 22, "LinkSpeedEnabled",     4, IB_PORT_LINK_SPEED_ENABLED_F },
	{ &rec_port_info, 23, "NeighborMTU",          4, IB_PORT_NEIGHBOR_MTU_F },
	{ &rec_port_info, 24, "MasterSMSL",           4, IB_PORT_SMSL_F },
	{ &rec_port_info, 25, "VLCap",                4, IB_PORT_VL_CAP_F },
	{ &rec_port_info, 26, "InitType",             4, IB_PORT_INIT_TYPE_F },
	{ &rec_port_info, 27, "VLHighLimit",          4, IB_PORT_VL_HIGH_LIMIT_F },
	{ &rec_port_info, 28, "VLArbitrationHighCap", 4, IB_PORT_VL_ARBITRATION_HIGH_CAP_F },
	{ &rec_port_info, 29, "VLArbitrationLowCap",  4, IB_PORT_VL_ARBITRATION_LOW_CAP_F },
	{ &rec_port_info, 30, "InitTypeReply",        4, IB_PORT_INIT_TYPE_REPLY_F },
	{ &rec_port_info, 31, "MTUCap",               4, IB_PORT_MTU_CAP_F },
	{ &rec_port_info, 32, "VLStallCount",         4, IB_PORT_VL_STALL_COUNT_F },
	{ &rec_port_info, 33, "HOQLife",              4, IB_PORT_HOQ_LIFE_F },
	{ &rec_port_info, 34, "OperationalVLs",       4, IB_PORT_OPER_VLS_F },
	{ &rec_port_info, 35, "PartitionEnforcementInbound", 4, IB_PORT_PART_EN_INB_F },
	{ &rec_port_info, 36, "PartitionEnforcementOutbound", 4, IB_PORT_PART_EN_OUTB_F },
	{ &rec_port_info, 37, "FilterRawInbound",     4, IB_PORT_FILTER_RAW_INB_F },
	{ &rec_port_info, 38, "FilterRawOutbound",    4, IB_PORT_FILTER_RAW_OUTB_F },
	{ &rec_port_info, 39, "M_KeyViolations",      4, IB_PORT_MKEY_VIOL_F },
	{ &rec_port_info, 40, "P_KeyViolations",      4, IB_PORT_PKEY_VIOL_F },
	{ &rec_port_info, 41, "Q_KeyViolations",      4, IB_PORT_QKEY_VIOL_F },
	{ &rec_port_info, 42, "GUIDCap",              4, IB_PORT_GUID_CAP_F },
	{ &rec_port_info, 43, "ClientReregister",     4, IB_PORT_CLIENT_REREG_F },
	{ &rec_port_info, 45, "SubnetTimeOut",        4, IB_PORT_SUBN_TIMEOUT_F },
	{ &rec_port_info, 47, "RespTimeValue",        4, IB_PORT_RESP_TIME_VAL_F },
	{ &rec_port_info, 48, "LocalPhyErrors",       4, IB_PORT_LOCAL_PHYS_ERR_F },
	{ &rec_port_info, 49, "OverrunErrors",        4, IB_PORT_OVERRUN_ERR_F },
	{ &rec_port_info, 50, "MaxCreditHint",        4, IB_PORT_MAX_CREDIT_HINT_F },
	{ &rec_port_info, 52, "LinkRoundTripLatency", 4, IB_PORT_LINK_ROUND_TRIP_F },
	{ &rec_port_info, 53, "CapabilityMask2",      4, IB_PORT_CAPMASK2_F },
	{ &rec_port_info, 54, "LinkSpeedExtActive",   4, IB_PORT_LINK_SPEED_EXT_ACTIVE_F },
	{ &rec_port_info, 55, "LinkSpeedExtSupported", 4, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F },
	{ &rec_port_info, 57, "LinkSpeedExtEnabled",  4, IB_PORT_LINK_SPEED_EXT_ENABLED_F },

	{ &rec_path,  4, "DLID",     0, IB_SA_PR_DLID_F },
	{ &rec_path,  5, "SLID",     0, IB_SA_PR_SLID_F },
	{ &rec_path, 12, "NumbPath", 0, IB_SA_PR_NPATH_F },
	{ &rec_path, 15, "SL",       0, IB_SA_PR_SL_F },

	{ &rec_switch_info,  2, "LinearFDBCap", 4, IB_SW_LINEAR_FDB_CAP_F },
	{ &rec_switch_info,  3, "RandomFDBCap", 4, IB_SW_RANDOM_FDB_CAP_F },
	{ &rec_switch_info,  4, "MulticastFDBCap", 4, IB_SW_MCAST_FDB_CAP_F },
	{ &rec_switch_info,  5, "LinearFDBTop", 4, IB_SW_LINEAR_FDB_TOP_F },
	{ &rec_switch_info,  6, "DefaultPort", 4, IB_SW_DEF_PORT_F },
	{ &rec_switch_info,  7, "DefaultMulticastPrimaryPort", 4, IB_SW_DEF_MCAST_PRIM_F },
	{ &rec_switch_info,  8, "DefaultMulticastNotPrimaryPort", 4, IB_SW_DEF_MCAST_NOT_PRIM_F },
	{ &rec_switch_info,  9, "LifeTimeValue", 4, IB_SW_LIFE_TIME_F },
	{ &rec_switch_info, 10, "PortStateChange", 4, IB_SW_STATE_CHANGE_F },
	{ &rec_switch_info, 11, "OptimizedSLtoVLMappingProgramming", 4, IB_SW_OPT_SLTOVL_MAPPING_F },
	{ &rec_switch_info, 12, "LIDsPerPort", 4, IB_SW_LIDS_PER_PORT_F },
	{ &rec_switch_info, 13, "PartitionEnforcementCap", 4, IB_SW_PARTITION_ENFORCE_CAP_F },
	{ &rec_switch_info, 14, "InboundEnforcementCap", 4, IB_SW_PARTITION_ENF_INB_F },
	{ &rec_switch_info, 15, "OutboundEnforcementCap", 4, IB_SW_PARTITION_ENF_OUTB_F },
	{ &rec_switch_info, 16, "FilterRawInboundCap", 4, IB_SW_FILTER_RAW_INB_F },
	{ &rec_switch_info, 17, "FilterRawOutboundCap", 4, IB_SW_FILTER_RAW_OUTB_F },
	{ &rec_switch_info, 18, "EnhancedPort0", 4, IB_SW_ENHANCED_PORT0_F },
	{ &rec_switch_info, 20, "MulticastFDBTop", 4, IB_SW_MCAST_FDB_TOP_F },

	{ &rec_sm_info, 2, "GUID", 4, IB_SMINFO_GUID_F },
	{ &rec_sm_info, 3, "SM_Key", 4, IB_SMINFO_KEY_F },
	{ &rec_sm_info, 4, "ActCount", 4, IB_SMINFO_ACT_F },
	{ &rec_sm_info, 5, "Priority", 4, IB_SMINFO_PRIO_F },
	{ &rec_sm_info, 6, "SMState", 4, IB_SMINFO_STATE_F },

	{ &rec_guid_info, 0, "LID",      0, IB_SA_GIR_LID_F },
	{ &rec_guid_info, 1, "BlockNum", 0, IB_SA_GIR_BLOCKNUM_F },
	{ &rec_guid_info, 4, "GUID0",    0, IB_SA_GIR_GUID0_F },
	{ &rec_guid_info, 5, "GUID1",    0, IB_SA_GIR_GUID1_F },
	{ &rec_guid_info, 6, "GUID2",    0, IB_SA_GIR_GUID2_F },
	{ &rec_guid_info, 7, "GUID3",    0, IB_SA_GIR_GUID3_F },
	{ &rec_guid_info, 8, "GUID4",    0, IB_SA_GIR_GUID4_F },
	{ &rec_guid_info, 9, "GUID5",    0, IB_SA_GIR_GUID5_F },
	{ &rec_guid_info, 10, "GUID6",    0, IB_SA_GIR_GUID6_F },
	{ &rec_guid_info, 11, "GUID7",    0, IB_SA_GIR_GUID7_F },

	{ &rec_multi_path,  6, "NumbPath",  0, IB_SA_MP_NPATH_F },
	{ &rec_multi_path, 19, "SGIDCount", 0, IB_SA_MP_NSRC_F },
	{ &rec_multi_path, 20, "DGIDCount", 0, IB_SA_MP_NDEST_F },

	{ &rec_class_port_info,  0, "BaseVersion",     0, IB_CPI_BASEVER_F },
	{ &rec_class_port_info,  1, "ClassVersion",    0, IB_CPI_CLASSVER_F },
	{ &rec_class_port_info,  2, "CapabilityMask",  0, IB_CPI_CAPMASK_F },
	{ &rec_class_port_info,  3, "CapabilityMask2", 0, IB_CPI_CAPMASK2_F },
	{ &rec_class_port_info,  4, "RespTimeValue",   0, IB_CPI_RESP_TIME_VALUE_F },
	{ &rec_class_port_info,  6, "RedirectTC",      0, IB_CPI_REDIRECT_TC_F },
	{ &rec_class_port_info,  7, "RedirectSL",      0, IB_CPI_REDIRECT_SL_F },
	{ &rec_class_port_info,  8, "RedirectFL",      0, IB_CPI_REDIRECT_FL_F },
	{ &rec_class_port_info,  9, "RedirectLID",     0, IB_CPI_REDIRECT_LID_F },
	{ &rec_class_port_info, 10, "RedirectP_Key",   0, IB_CPI_REDIRECT_PKEY_F },
	{ &rec_class_port_info, 12, "RedirectQP",      0, IB_CPI_REDIRECT_QP_F },
	{ &rec_class_port_info, 13, "RedirectQ_Key",   0, IB_CPI_REDIRECT_QKEY_F },
	{ &rec_class_port_info, 18, "TrapLID",         0, IB_CPI_TRAP_LID_F },
	{ &rec_class_port_info, 19, "TrapP_Key",       0, IB_CPI_TRAP_PKEY_F },
	{ &rec_class_port_info, 20, "TrapHL",          0, IB_CPI_TRAP_HL_F },
	{ &rec_class_port_info, 21, "TrapQP",          0, IB_CPI_TRAP_QP_F },
	{ &rec_class_port_info, 22, "TrapQ_Key",       0, IB_CPI_TRAP_QKEY_F },
};
/* clang-format on */

enum { N_FOREIGN = sizeof(foreign) / sizeof(foreign[0]), RECORD_MAX = 1024 };

static void fill(uint8_t *p, uint32_t seed)
{
	for (unsigned i = 0; i < RECORD_MAX; i++) {
		seed = seed * 1664525 + 1013904223;
		p[i] = (uint8_t)(seed >> 24);
	}
}

START_TEST(same_place_as_libibmad)
{
	const struct foreign *f = &foreign[_i];
	const struct sa_field *row = &f->attr->fields[f->component];
	uint8_t record[RECORD_MAX];

	ck_assert_uint_lt(f->component, f->attr->n_fields);
	ck_assert_str_eq(row->name, f->name);
	for (uint32_t seed = 1; seed < 50; seed++) {
		fill(record, seed);
		uint64_t want = row->width > 32 ? mad_get_field64(record, f->at, f->field)
		                                : mad_get_field(record, f->at, f->field);
		ck_assert_msg(field_get(record, row->bit, row->width) == want, "%s.%s",
		              f->attr->name, f->name);
	}
}
END_TEST

START_TEST(gids_and_description)
{
	uint8_t record[RECORD_MAX], part[64];

	fill(record, 3);
	mad_get_array(record, 0, IB_SA_PR_DGID_F, part);
	ck_assert_mem_eq(part, record + rec_path.fields[2].bit / 8, 16);
	mad_get_array(record, 0, IB_SA_PR_SGID_F, part);
	ck_assert_mem_eq(part, record + rec_path.fields[3].bit / 8, 16);
	mad_get_array(record, 0, IB_SA_NR_NODEDESC_F, part);
	ck_assert_mem_eq(part, record + rec_node.fields[14].bit / 8, 64);
}
END_TEST

/* Rows are in order, do not overlap, lie inside the record; wide ones are whole bytes. */
START_TEST(rows_are_sound)
{
	const struct sa_attr *attr = sa_attrs[_i];
	unsigned end = 0;

	ck_assert_uint_le(attr->n_fields, 64);
	for (unsigned i = 0; i < attr->n_fields; i++) {
		const struct sa_field *f = &attr->fields[i];
		bool bits = f->width > 0 || (f->how & SA_HOW) == SA_RESERVED;
		ck_assert_msg(f->bit >= end && bits, "%s.%s", attr->name, f->name);
		end = f->bit + f->width;
		ck_assert_msg(f->width <= 64 || (f->bit % 8 == 0 && f->width % 8 == 0),
		              "%s.%s", attr->name, f->name);
		/* what people see: a number of at most 64 bits, a GID, or a form that says what */
		ck_assert_msg(f->width <= 64 || f->width == 128 || (f->how & SA_FORM) != 0 ||
		                      (f->how & SA_HOW) == SA_RESERVED,
		              "%s.%s", attr->name, f->name);
		ck_assert_uint_lt(f->how & SA_HOW, SA_HOW);
		ck_assert_uint_eq(f->how & ~(SA_HOW | SA_FORM), 0);
	}
	ck_assert_uint_le(end, attr->size * 8u);
	/* what a walk reads of a request is there, however short the request was */
	ck_assert_uint_le(SA_HDR_BYTES + attr->size, SA_REQUEST_BYTES);
	ck_assert_uint_le(attr->size, RECORD_MAX);
	bool reads = attr->methods & ~(unsigned)(SA_SET | SA_DELETE);
	const struct sa_attr *does = attr->converts ? attr->converts->base : attr;
	ck_assert_uint_eq(attr->methods, attr->converts ? does->methods : attr->methods);
	ck_assert_int_eq((does->walk != NULL) + (does->rows.bytes != 0) +
	                         (does->offer_end != NULL),
	                 reads);
	ck_assert((does->set != NULL) == ((attr->methods & SA_SET) != 0));
	ck_assert((does->del != NULL) == ((attr->methods & SA_DELETE) != 0));
	ck_assert(attr == does || does->size <= SA_CONVERTED_BYTES);
	ck_assert_uint_le(attr->rows.at + attr->rows.bytes, attr->size);
	ck_assert(attr->rows.bytes == 0 || attr->size <= SA_ROW_BYTES);
	ck_assert_ptr_eq(sa_attr_find(attr->version, attr->id, attr->methods), attr);
	ck_assert_ptr_null(sa_attr_find(1, attr->id, ~0u));
}
END_TEST

static size_t offered(const struct sa_query *q, const uint8_t *record)
{
	struct sa_out out = {
		.q = q, .stride = (q->attr->size + 7u) & ~7u, .max = 2, .max_bytes = 4096
	};

	sa_offer(&out, record);
	ck_assert_int_eq(out.ret, E_OK);
	if (out.n) {
		ck_assert_mem_eq(out.data, record, q->attr->size);
	}
	free(out.data);
	return out.n;
}

/* A record matches itself under any mask; a flipped bit is seen by exactly its component.
 */
START_TEST(each_bit_counts)
{
	const struct sa_attr *attr = sa_attrs[_i];
	uint8_t record[RECORD_MAX], asked[RECORD_MAX];

	if (attr->reply != NULL) {
		return; /* its records are another's */
	}
	fill(record, 11);
	for (unsigned i = 0; i < attr->n_fields; i++) {
		const struct sa_field *f = &attr->fields[i];
		struct sa_query q = { .attr = attr,
			              .comp_mask = UINT64_C(1) << i,
			              .record = asked };
		struct sa_query others = { .attr = attr,
			                   .comp_mask = ~q.comp_mask,
			                   .record = asked };
		for (unsigned bit = f->bit; bit < f->bit + f->width; bit++) {
			memcpy(asked, record, sizeof(asked));
			ck_assert_uint_eq(offered(&q, record), 1);
			asked[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			ck_assert_msg(offered(&q, record) == ((f->how & SA_HOW) != SA_EQ), "%s.%s",
			              attr->name, f->name);
			ck_assert_uint_eq(offered(&others, record), 1);
		}
	}
}
END_TEST

START_TEST(collector)
{
	uint8_t record[RECORD_MAX] = { 1 };
	struct sa_query q = { .attr = &rec_node, .record = record };
	struct sa_out out = { .q = &q,
		              .head = 56,
		              .stride = 112,
		              .max = SIZE_MAX,
		              .max_bytes = 56 + 112 * 100 };

	for (unsigned i = 0; i < 100; i++) {
		ck_assert(!sa_full(&out));
		sa_offer(&out, record);
	}
	ck_assert_int_eq(out.ret, E_OK);
	ck_assert_uint_eq(out.n, 100);
	sa_offer(&out, record);
	ck_assert_int_eq(out.ret, E_FULL);
	ck_assert(sa_full(&out));
	ck_assert_uint_eq(out.n, 100);
	ck_assert_int_eq(sa_refuse(&out, UMAD_SA_STATUS_INVALID_GID), E_FULL);
	ck_assert_uint_eq(out.status, 0);
	free(out.data);
}
END_TEST

TEST_SUITE(record)
{
	TCase *tc = tcase_create("rows");

	tcase_add_loop_test(tc, same_place_as_libibmad, 0, N_FOREIGN);
	tcase_add_test(tc, gids_and_description);
	tcase_add_loop_test(tc, rows_are_sound, 0, (int)n_sa_attrs);
	tcase_add_loop_test(tc, each_bit_counts, 0, (int)n_sa_attrs);
	tcase_add_test(tc, collector);
	suite_add_tcase(suite, tc);
}
