/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What clients write, in Omni-Path's layouts: MCMemberRecord, ServiceRecord, InformInfo
 * and InformInfoRecord. They are the InfiniBand records of the same store: what was
 * written in one layout is read in both. Names below that end in 32 stand for components
 * whose values differ, not only their widths:
 *
 *   multicast LIDs   0xc000 and on there, 0xf0000000 and on here
 *   all LIDs         0xffff there, 0xffffffff here
 *   services and subscribers are named by GID there, here (also) by LID
 *
 * Subscriptions that were asked for in this layout get their reports in it (report.c).
 * Layouts and component bits as opa-fm and opasaquery have them.
 */
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/multicast.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/rec_int.h"
#include "sa/store/mcast.h"
#include "sa/store/subscription.h"

enum { GID_BITS = 128, GUID_BITS = 64 };

/* --- MCMemberRecord ------------------------------------------------------------------
 */

enum { MCAST_LIDS = 0x3fff, OPA_MC_MLID = 19, OPA_MC_BYTES = 56 };

/* clang-format off */
static const struct sa_field mcmember_fields[] = {
	{ "MGID",                     0, 128, SA_EQ },
	{ "PortGID",                128, 128, SA_INPUT },
	{ "Q_Key",                  256,  32, SA_EQ },
	{ "Reserved",               288,  16, SA_RESERVED },
	{ "MTUSelector",            304,   2, SA_INPUT },
	{ "MTU",                    306,   6, SA_INPUT },
	{ "TClass",                 312,   8, SA_EQ },
	{ "P_Key",                  320,  16, SA_INPUT },
	{ "RateSelector",           336,   2, SA_INPUT },
	{ "Rate",                   338,   6, SA_INPUT },
	{ "PacketLifeTimeSelector", 344,   2, SA_INPUT },
	{ "PacketLifeTime",         346,   6, SA_INPUT },
	{ "SL",                     352,   5, SA_EQ },
	{ "Reserved",               357,  19, SA_RESERVED },
	{ "HopLimit",               376,   8, SA_EQ },
	{ "Scope",                  384,   4, SA_EQ },
	{ "Reserved",               388,   0, SA_RESERVED }, /* a bit of the mask alone */
	{ "JoinState",              388,   4, SA_INPUT },
	{ "ProxyJoin",              392,   1, SA_INPUT },
	{ "MLID32",                 416,  32, SA_EQ },
};
/* clang-format on */

/* There is no FlowLabel here, and a group needs one: that which it has, or 0. */
static void ask_flow_label(const struct sa_query *q, uint8_t *record, uint64_t *mask)
{
	static const uint64_t creates =
		1 << MC_Q_KEY | 1 << MC_P_KEY | 1 << MC_SL | 1 << MC_T_CLASS;
	struct mcast_group_row g;

	if ((q->method & SA_SET) == 0 || (*mask & creates) != creates) {
		return;
	}
	if (q->store != NULL && mcast_group_find(q->store, record, &g)) {
		mcast_put(record, MC_FLOW_LABEL, mcast_get(g.record, MC_FLOW_LABEL));
	}
	*mask |= 1 << MC_FLOW_LABEL;
}

static int mcmember_ask(struct snap_reader *r, const struct sa_query *q, uint8_t *record,
                        uint64_t *mask)
{
	uint32_t mlid = (uint32_t)sa_component(q, OPA_MC_MLID);

	(void)r;
	ask_flow_label(q, record, mask);
	if (!sa_asked(q, OPA_MC_MLID)) {
		return E_OK;
	}
	if (mlid < MLID32_FIRST || mlid - MLID32_FIRST > MCAST_LIDS) {
		return E_NOTFOUND;
	}
	mcast_put(record, MC_MLID, mlid - MLID32_FIRST + MLID_FIRST);
	*mask |= UINT64_C(1) << MC_MLID;
	return E_OK;
}

static void mcmember_show(struct snap_reader *r, const uint8_t *record, uint8_t *shown)
{
	uint64_t mlid = mcast_get(record, MC_MLID);

	(void)r;
	if (mlid >= MLID_FIRST) {
		sa_put(&opa_mcmember, shown, OPA_MC_MLID,
		       mlid - MLID_FIRST + MLID32_FIRST);
	}
}

static const struct sa_conversion mcmember_conversion = { &rec_mcmember, mcmember_ask,
	                                      mcmember_show };

const struct sa_attr opa_mcmember = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_MCMEMBER_REC,
	.name = "MCMemberRecord",
	.methods = SA_GET | SA_GETTABLE | SA_SET | SA_DELETE,
	.size = OPA_MC_BYTES,
	SA_FIELDS(mcmember_fields),
	.client_records = true,
	.converts = &mcmember_conversion,
};

/* --- GIDs by LID ---------------------------------------------------------------------
 */

/* The owner of a LID, as component \a gid of the base. */
static int ask_by_lid(struct snap_reader *r, const struct sa_query *q, unsigned lid,
                      unsigned gid, uint8_t *record, uint64_t *mask)
{
	const struct sa_field *f = &q->attr->converts->base->fields[gid];
	struct snap_end end;

	if (!sa_asked(q, lid)) {
		return E_OK;
	}
	int ret = snap_lid(r, (uint32_t)sa_component(q, lid), &end);
	if (ret != E_OK) {
		return ret;
	}
	bool other = (*mask >> gid & 1) &&
	             field_get(record, f->bit + GUID_BITS, GUID_BITS) != end.port_guid;
	field_set(record, f->bit, GUID_BITS, snap_meta(r)->subnet_prefix);
	field_set(record, f->bit + GUID_BITS, GUID_BITS, end.port_guid);
	*mask |= UINT64_C(1) << gid;
	return other ? E_NOTFOUND : E_OK;
}

static void show_lid(struct snap_reader *r, const struct sa_attr *shown, unsigned lid,
                     unsigned gid, const uint8_t *record, uint8_t *ret_record)
{
	const struct sa_field *f = &shown->converts->base->fields[gid];
	struct snap_end end;

	if (snap_port_guid(r, field_get(record, f->bit + GUID_BITS, GUID_BITS), &end) ==
	    E_OK) {
		sa_put(shown, ret_record, (int)lid, end.base_lid);
	}
}

/* --- ServiceRecord -------------------------------------------------------------------
 */

enum { SR_GID = 1, OPA_SR_LID = 1, OPA_SR_BYTES = 184 };

/* clang-format off */
static const struct sa_field service_fields[] = {
	{ "ServiceID",          0,  64, SA_EQ },
	{ "ServiceLID",        64,  32, SA_INPUT },
	{ "ServiceP_Key",      96,  16, SA_EQ },
	{ "Reserved",         112,  16, SA_RESERVED },
	{ "ServiceGID",       128, 128, SA_EQ },
	{ "ServiceLease",     256,  32, SA_EQ },
	{ "Reserved",         288,  32, SA_RESERVED },
	SERVICE_FIELDS(320),
};
/* clang-format on */

static int service_ask(struct snap_reader *r, const struct sa_query *q, uint8_t *record,
                       uint64_t *mask)
{
	return ask_by_lid(r, q, OPA_SR_LID, SR_GID, record, mask);
}

static void service_show(struct snap_reader *r, const uint8_t *record, uint8_t *shown)
{
	show_lid(r, &opa_service, OPA_SR_LID, SR_GID, record, shown);
}

static const struct sa_conversion service_conversion = { &rec_service, service_ask, service_show };

const struct sa_attr opa_service = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_SERVICE_REC,
	.name = "ServiceRecord",
	.methods = SA_GET | SA_GETTABLE | SA_SET | SA_DELETE,
	.size = OPA_SR_BYTES,
	SA_FIELDS(service_fields),
	.client_records = true,
	.converts = &service_conversion,
};

/* --- InformInfo ----------------------------------------------------------------------
 */

enum { INFORM_BEGIN = 1, INFORM_END, OPA_INFORM_BYTES = 40 };
enum { IIR_FIRST = 3, IIR_GID = 0, OPA_IIR_LID = 0, OPA_IIR_BYTES = 48 };
enum { IB_IIR_INFORM_AT = 24 }; /* bytes: SubscriberGID, Enum, reserved */

/* clang-format off */
#define INFORM_FIELDS(base, how) \
	{ "GID",             (base),       128, how }, \
	{ "LIDRangeBegin32", (base) + 128,  32, how }, \
	{ "LIDRangeEnd32",   (base) + 160,  32, how }, \
	{ "IsGeneric",       (base) + 192,   8, how }, \
	{ "Subscribe",       (base) + 200,   8, how }, \
	{ "Type",            (base) + 208,  16, how }, \
	{ "Reserved",        (base) + 224,  16, SA_RESERVED }, \
	{ "TrapNumber",      (base) + 240,  16, how }, \
	{ "QPN",             (base) + 256,  24, how }, \
	{ "Reserved",        (base) + 280,   3, SA_RESERVED }, \
	{ "RespTimeValue",   (base) + 283,   5, how }, \
	{ "Reserved",        (base) + 288,   8, SA_RESERVED }, \
	{ "ProducerType",    (base) + 296,  24, how }

static const struct sa_field inform_fields[] = {
	INFORM_FIELDS(0, SA_INPUT),
};
static const struct sa_field inform_record_fields[] = {
	{ "SubscriberLID",   0,  32, SA_INPUT },
	{ "Enum",           32,  16, SA_EQ },
	{ "Reserved",       48,  16, SA_RESERVED },
	INFORM_FIELDS(RID, SA_EQ),
};
/* clang-format on */

/*
 * LIDs of a range in a request: 32 bits of all ones are all of them, or the highest one. Nobody has LID 0xffff,
 * which means all in InfiniBand's layout.
 */
static int ask_lids(const struct sa_query *q, unsigned first, bool counts_begin,
                    bool counts_end, uint8_t *inform)
{
	uint32_t begin = (uint32_t)sa_component(q, first + INFORM_BEGIN),
		 end = (uint32_t)sa_component(q, first + INFORM_END);
	bool all = begin == UINT32_MAX;

	if ((counts_begin && !all &&
	     (begin == INFORM_ALL_LIDS || begin > INFORM_LAST_LID)) ||
	    (counts_end && end != UINT32_MAX && end >= INFORM_LAST_LID)) {
		return E_NOTFOUND;
	}
	inform_put_lids(inform, all ? INFORM_ALL_LIDS : begin,
	                end != UINT32_MAX ? end
	                : all             ? INFORM_ALL_LIDS
	                                  : INFORM_LAST_LID);
	return E_OK;
}

static void show_lids(const uint8_t *inform, const struct sa_attr *shown, unsigned first,
                      uint8_t *ret_record)
{
	uint32_t begin = inform_lid_begin(inform), end = inform_lid_end(inform);
	bool all = begin == INFORM_ALL_LIDS;

	sa_put(shown, ret_record, (int)(first + INFORM_BEGIN), all ? UINT32_MAX : begin);
	sa_put(shown, ret_record, (int)(first + INFORM_END),
	       end == INFORM_LAST_LID || (all && end == INFORM_ALL_LIDS) ? UINT32_MAX
	                                                                 : end);
}

static int inform_ask(struct snap_reader *r, const struct sa_query *q, uint8_t *record,
                      uint64_t *mask)
{
	(void)r;
	for (unsigned i = INFORM_BEGIN; i <= INFORM_END; i++) {
		*mask |= (uint64_t)sa_asked(q, i) << i;
	}
	return ask_lids(q, 0, true, true, record);
}

static void inform_show(struct snap_reader *r, const uint8_t *record, uint8_t *shown)
{
	(void)r;
	show_lids(record, &opa_inform_info, 0, shown);
}

static int inform_record_ask(struct snap_reader *r, const struct sa_query *q,
                             uint8_t *record, uint64_t *mask)
{
	int ret =
		ask_lids(q, IIR_FIRST, sa_asked(q, IIR_FIRST + INFORM_BEGIN),
	                 sa_asked(q, IIR_FIRST + INFORM_END), record + IB_IIR_INFORM_AT);

	for (unsigned i = IIR_FIRST + INFORM_BEGIN; i <= IIR_FIRST + INFORM_END; i++) {
		*mask |= (uint64_t)sa_asked(q, i) << i;
	}
	return ret == E_OK ? ask_by_lid(r, q, OPA_IIR_LID, IIR_GID, record, mask) : ret;
}

static void inform_record_show(struct snap_reader *r, const uint8_t *record,
                               uint8_t *shown)
{
	show_lids(record + IB_IIR_INFORM_AT, &opa_inform_info_record, IIR_FIRST, shown);
	show_lid(r, &opa_inform_info_record, OPA_IIR_LID, IIR_GID, record, shown);
}

static const struct sa_conversion inform_conversion = { &rec_inform_info, inform_ask, inform_show };

const struct sa_attr opa_inform_info = {
	.version = SA_OPA_VERSION,
	.id = UMAD_ATTR_INFORM_INFO,
	.name = "InformInfo",
	.methods = SA_SET,
	.size = OPA_INFORM_BYTES,
	SA_FIELDS(inform_fields),
	.client_records = true,
	.converts = &inform_conversion,
};

static const struct sa_conversion inform_record_conversion = { &rec_inform_info_record,
	                                           inform_record_ask,
	                                           inform_record_show };

const struct sa_attr opa_inform_info_record = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_INFORM_INFO_REC,
	.name = "InformInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = OPA_IIR_BYTES,
	SA_FIELDS(inform_record_fields),
	.client_records = true,
	.converts = &inform_record_conversion,
};
