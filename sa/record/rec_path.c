/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * PathRecord (IBA vol. 1, 15.2.5.16): reads the two ends and the selectors out of the
 * request and hands them to the path query. An end that is not named stands for every end
 * port, in the order of GUIDs, by its alias GUIDs too. A request that names neither end
 * asks for the whole fabric; if that is too large it is refused before anything is built.
 * Source and destination must share a P_Key, and the requester one with each of them.
 *
 * A GID that is named comes back as it was named: by a port's alias GUID, with the
 * link-local prefix. A DGID of another subnet leads to the router port that the first
 * prefix route names; the packet then needs a global header, HopLimit 255.
 *
 * ServiceID and QoSClass change the path where a policy says so (path_policy.c),
 * FlowLabel and TClass do not; what is asked comes back. Raw packets have no P_Key: with
 * RawTraffic it is 0. Preference is for responses, all paths are alike in it. HopLimit is
 * a bound; a path inside the subnet needs none (0). A multicast DGID is answered with the
 * values of its group (mcast_path.c).
 *
 * The layout of InfiniBand has no room for LIDs of more than 16 bits; GIDs carry them
 * instead (path_request_high_lids()), also in requests.
 */
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/wire.h"
#include "sa/path/path_candidates.h"
#include "sa/record/path_request.h"
#include "sa/record/attributes.h"

/* clang-format off */
const struct sa_field path_fields[PATH_FIELDS] = {
	[PR_SERVICE_ID_MSB] =            { "ServiceID8MSB",            0,   8, SA_INPUT },
	[PR_SERVICE_ID_LSB] =            { "ServiceID56LSB",           8,  56, SA_INPUT },
	[PR_DGID] =                      { "DGID",                    64, 128, SA_INPUT },
	[PR_SGID] =                      { "SGID",                   192, 128, SA_INPUT },
	[PR_DLID] =                      { "DLID",                   320,  16, SA_INPUT },
	[PR_SLID] =                      { "SLID",                   336,  16, SA_INPUT },
	[PR_RAW_TRAFFIC] =               { "RawTraffic",             352,   1, SA_INPUT },
	[PR_RESERVED] =                  { "Reserved",               353,   3, SA_RESERVED },
	[PR_FLOW_LABEL] =                { "FlowLabel",              356,  20, SA_INPUT },
	[PR_HOP_LIMIT] =                 { "HopLimit",               376,   8, SA_INPUT },
	[PR_T_CLASS] =                   { "TClass",                 384,   8, SA_INPUT },
	[PR_REVERSIBLE] =                { "Reversible",             392,   1, SA_INPUT },
	[PR_NUMB_PATH] =                 { "NumbPath",               393,   7, SA_INPUT },
	[PR_P_KEY] =                     { "P_Key",                  400,  16, SA_INPUT },
	[PR_QOS_CLASS] =                 { "QoSClass",               416,  12, SA_INPUT },
	[PR_SL] =                        { "SL",                     428,   4, SA_INPUT },
	[PR_MTU_SELECTOR] =              { "MtuSelector",            432,   2, SA_INPUT },
	[PR_MTU] =                       { "Mtu",                    434,   6, SA_INPUT },
	[PR_RATE_SELECTOR] =             { "RateSelector",           440,   2, SA_INPUT },
	[PR_RATE] =                      { "Rate",                   442,   6, SA_INPUT },
	[PR_PACKET_LIFE_TIME_SELECTOR] = { "PacketLifeTimeSelector", 448,   2, SA_INPUT },
	[PR_PACKET_LIFE_TIME] =          { "PacketLifeTime",         450,   6, SA_INPUT },
	[PR_PREFERENCE] =                { "Preference",             456,   8, SA_INPUT },
};
/* clang-format on */

enum { MULTICAST_GID_BYTE = 0xff };
enum { PATH_SRC = 1 << PR_SGID | 1 << PR_SLID, PATH_DST = 1 << PR_DGID | 1 << PR_DLID };

/* clang-format off */
/* As Linux' struct opa_path_rec has it: the same components at wider places. */
static const struct sa_field opa_path_fields[] = {
	[PR_SERVICE_ID_MSB] =            { "ServiceID8MSB",            0,   8, SA_INPUT },
	[PR_SERVICE_ID_LSB] =            { "ServiceID56LSB",           8,  56, SA_INPUT },
	[PR_DGID] =                      { "DGID",                    64, 128, SA_INPUT },
	[PR_SGID] =                      { "SGID",                   192, 128, SA_INPUT },
	[PR_DLID] =                      { "DLID",                   320,  32, SA_INPUT },
	[PR_SLID] =                      { "SLID",                   352,  32, SA_INPUT },
	[PR_RAW_TRAFFIC] =               { "RawTraffic",             384,   1, SA_EQ },
	[PR_RESERVED] =                  { "Reserved",               385,   3, SA_RESERVED },
	[PR_FLOW_LABEL] =                { "FlowLabel",              388,  20, SA_INPUT },
	[PR_HOP_LIMIT] =                 { "HopLimit",               408,   8, SA_INPUT },
	[PR_T_CLASS] =                   { "TClass",                 416,   8, SA_INPUT },
	[PR_REVERSIBLE] =                { "Reversible",             424,   1, SA_INPUT },
	[PR_NUMB_PATH] =                 { "NumbPath",               425,   7, SA_INPUT },
	[PR_P_KEY] =                     { "P_Key",                  432,  16, SA_INPUT },
	[PR_QOS_CLASS] =                 { "QoSClass",               454,  10, SA_INPUT },
	[PR_SL] =                        { "SL",                     467,   5, SA_INPUT },
	[PR_MTU_SELECTOR] =              { "MtuSelector",            480,   2, SA_INPUT },
	[PR_MTU] =                       { "Mtu",                    482,   6, SA_INPUT },
	[PR_RATE_SELECTOR] =             { "RateSelector",           488,   2, SA_INPUT },
	[PR_RATE] =                      { "Rate",                   490,   6, SA_INPUT },
	[PR_PACKET_LIFE_TIME_SELECTOR] = { "PacketLifeTimeSelector", 496,   2, SA_INPUT },
	[PR_PACKET_LIFE_TIME] =          { "PacketLifeTime",         498,   6, SA_INPUT },
	[PR_PREFERENCE] =                { "Preference",             504,   8, SA_EQ },
};
#define OPA_PR_L2_9B  450, 1 /* packets of the InfiniBand form, */
#define OPA_PR_L2_16B 451, 1 /* and of the one that has room for LIDs above 0xbfff */
enum { OPA_PR_LIMITS = 4 }; /* bytes: MTU, rate, life time, preference */
/* clang-format on */

static const struct path_components path_components = {
	.raw_traffic = PR_RAW_TRAFFIC,
	.service_id_msb = PR_SERVICE_ID_MSB,
	.service_id_lsb = PR_SERVICE_ID_LSB,
	.flow_label = PR_FLOW_LABEL,
	.t_class = PR_T_CLASS,
	.reversible = PR_REVERSIBLE,
	.numb_path = PR_NUMB_PATH,
	.p_key = PR_P_KEY,
	.qos_class = PR_QOS_CLASS,
	.sl = PR_SL,
	.mtu_selector = PR_MTU_SELECTOR,
	.rate_selector = PR_RATE_SELECTOR,
	.packet_life_time_selector = PR_PACKET_LIFE_TIME_SELECTOR,
};

/* One end by GID and LID components. */
static int read_end(struct snap_reader *r, const struct sa_query *q, struct sa_out *out,
                    unsigned gid, unsigned lid, struct path_request_end *e,
                    struct snap_end *ret_end, uint32_t *ret_lid)
{
	struct snap_end by_gid = { .base_lid = 0 };

	*e = (struct path_request_end){ .given = false };
	*ret_lid = 0;
	if (sa_asked(q, gid)) {
		e->gid = q->record + path_fields[gid].bit / 8;
		int ret = path_request_gid(r, q->store, e->gid, gid == PR_DGID, &by_gid,
		                           &e->off_subnet, ret_lid);
		if (ret != E_OK) {
			return ret == E_NOTFOUND
			               ? sa_refuse(out, UMAD_SA_STATUS_INVALID_GID)
			               : ret;
		}
		*ret_end = by_gid;
		e->given = true;
	}
	if (sa_asked(q, lid) && *ret_lid > LID_LOW_MAX &&
	    sa_component(q, lid) == (*ret_lid & LID_LOW_BITS)) {
		return E_OK; /* both as an answer said them */
	}
	if (sa_asked(q, lid)) {
		*ret_lid = (uint32_t)sa_component(q, lid);
		int ret = snap_lid(r, *ret_lid, ret_end);
		if (ret != E_OK) {
			return ret;
		}
		if (e->given && by_gid.base_lid != ret_end->base_lid) {
			return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
		}
		e->given = true;
	}
	return E_OK;
}

int path_request_read(struct snap_reader *r, const struct sa_query *q, struct sa_out *out,
                      struct path_request *a)
{
	a->to_group = sa_asked(q, PR_DGID) &&
	              q->record[path_fields[PR_DGID].bit / 8] == MULTICAST_GID_BYTE;
	if (a->to_group) {
		return E_OK;
	}
	int ret = path_request_common(r, q, &path_components, out, a);
	if (ret == E_OK) {
		ret = read_end(r, q, out, PR_SGID, PR_SLID, &a->src, &a->q.src,
		               &a->q.slid);
	}
	return ret != E_OK ? ret
	                   : read_end(r, q, out, PR_DGID, PR_DLID, &a->dst, &a->q.dst,
	                              &a->q.dlid);
}

/* The same in Omni-Path's layout: LIDs of 32 bits, SL of 5, QoSClass is type and priority. */
static void encode_opa(const struct path_record *p, const struct wire_path_record *ib,
                       uint8_t *record)
{
	const struct sa_attr *a = &opa_path;
	bool high = p->dlid > LID_LOW_MAX || p->slid > LID_LOW_MAX;

	memset(record, 0, sizeof(*ib));
	memcpy(record, ib, offsetof(struct wire_path_record, dlid));
	sa_put(a, record, PR_DLID, p->dlid);
	sa_put(a, record, PR_SLID, p->slid);
	memcpy(record + a->fields[PR_RAW_TRAFFIC].bit / 8, &ib->raw_flow_hop,
	       sizeof(ib->raw_flow_hop));
	sa_put(a, record, PR_T_CLASS, ib->t_class);
	sa_put(a, record, PR_REVERSIBLE, p->reversible);
	sa_put(a, record, PR_NUMB_PATH, p->numb_path);
	sa_put(a, record, PR_P_KEY, p->p_key);
	field_set(record, OPA_PR_L2_9B, !high);
	field_set(record, OPA_PR_L2_16B, high);
	sa_put(a, record, PR_QOS_CLASS, be16toh(ib->qos_class_sl) >> 4);
	sa_put(a, record, PR_SL, p->sl);
	memcpy(record + a->fields[PR_MTU_SELECTOR].bit / 8, &ib->mtu, OPA_PR_LIMITS);
}

/* All records of one port pair. A pair without a path adds none. */
static int offer_pair(struct snap_reader *r, const struct path_request *a,
                      struct sa_out *out)
{
	bool is_opa = out->q->attr == &opa_path;
	struct wire_path_record wire;
	uint8_t opa[sizeof(wire)];
	struct path_record rec;
	struct path_iter it;

	if (!sa_sees(r, out->q, &a->q.src) || !sa_sees(r, out->q, &a->q.dst)) {
		return E_OK;
	}
	int ret = path_iter_init(&it, r, &a->q);
	if (ret != E_OK) {
		return path_none(ret) ? E_OK : ret;
	}
	while (!sa_full(out) && path_iter_next(&it, &rec)) {
		path_request_encode(&rec, a, &wire);
		if (is_opa) {
			encode_opa(&rec, &wire, opa);
		} else if (!a->dst.off_subnet && (rec.dlid > LID_LOW_MAX || rec.slid > LID_LOW_MAX)) {
			path_request_high_lids(&rec, r, &wire);
		}
		sa_offer(out, is_opa ? opa : (const uint8_t *)&wire);
	}
	return it.ret;
}

/* Most records the answer can have. */
static uint64_t bound(const struct path_request *a, const struct snap_ends *all)
{
	uint64_t n = 0;

	for (unsigned s = 0; s < 8; s++) {
		uint64_t sources = a->src.given ? a->q.src.lmc == s : all->of_lmc[s];
		for (unsigned d = 0; sources != 0 && d < 8; d++) {
			uint64_t destinations =
				a->dst.given ? a->q.dst.lmc == d : all->of_lmc[d];
			uint64_t each =
				path_order_count(a->q.mode, a->q.slid ? 1 : 1u << s,
			                         a->q.dlid ? 1 : 1u << d);
			if (a->q.numb_path != 0 && each > a->q.numb_path) {
				each = a->q.numb_path;
			}
			n += sources * destinations * each;
		}
	}
	return n;
}

/* Every end port takes the place of an end that is not named. */
static int path_walk_all(struct snap_reader *r, struct path_request *a,
                         struct sa_out *out)
{
	const struct path_place from = { out->q->from, out->q->from_sub };
	struct path_place at;
	struct path_candidates w;

	int ret = path_candidates_begin(&w, r, !a->src.given, !a->dst.given, &from);
	if (ret == E_OK && out->max == SIZE_MAX &&
	    bound(a, w.all) > (out->max_bytes - out->head) / out->stride) {
		return E_FULL;
	}
	while (ret == E_OK && !sa_full(out)) {
		ret = path_candidates_next(&w, r, &a->q, &at);
		if (ret == E_NOTFOUND) {
			return E_OK;
		}
		if (ret == E_OK) {
			sa_at(out, at.key, at.sub);
			ret = offer_pair(r, a, out);
		}
	}
	return ret;
}

static int path_walk_record(struct snap_reader *r, const struct sa_query *q,
                            struct sa_out *out)
{
	struct path_request a = { .src.given = false };
	int ret = path_request_read(r, q, out, &a);

	if (ret != E_OK) {
		return ret;
	}
	if (a.to_group) {
		return mcast_path(r, q, out);
	}
	return a.src.given && a.dst.given ? offer_pair(r, &a, out)
	                                  : path_walk_all(r, &a, out);
}

/* The lower half of a GID; GIDs are at the same place in both layouts. */
static uint64_t guid_at(const uint8_t *record, unsigned gid)
{
	return field_get(record + path_fields[gid].bit / 8, 64, 64);
}

/* LID of an end of a request, as far as the cache holds it; 0: not known yet. */
static uint32_t likely_lid(struct snap_reader *r, const struct sa_attr *a,
                           const uint8_t *record, uint64_t mask, unsigned gid,
                           unsigned lid)
{
	const struct sa_field *f = &a->fields[lid];

	return mask >> lid & 1 ? (uint32_t)field_get(record, f->bit, f->width)
	                       : snap_guid_known(r, guid_at(record, gid));
}

static void prefetch_rows(struct snap_reader *r, uint32_t slid, uint32_t dlid)
{
	struct snap_end src, dst;

	if (snap_lid(r, slid, &src) == E_OK && snap_lid(r, dlid, &dst) == E_OK) {
		snap_prefetch_path(r, &src, dlid);
		snap_prefetch_path(r, &dst, slid);
	}
}

/* First the places of GUIDs, then the end ports, then the rows of paths between them. */
static void path_prefetch(struct snap_reader *r, const struct sa_attr *a,
                      const uint8_t *record, uint64_t mask, unsigned step)
{
	if (step == 0) {
		if (mask >> PR_SGID & 1) {
			snap_prefetch_guid(r, guid_at(record, PR_SGID));
		}
		if (mask >> PR_DGID & 1) {
			snap_prefetch_guid(r, guid_at(record, PR_DGID));
		}
		return;
	}
	uint32_t slid = likely_lid(r, a, record, mask, PR_SGID, PR_SLID);
	uint32_t dlid = likely_lid(r, a, record, mask, PR_DGID, PR_DLID);
	if (step == 1) {
		snap_prefetch_lid(r, slid);
		snap_prefetch_lid(r, dlid);
	} else {
		prefetch_rows(r, slid, dlid);
	}
}

const struct sa_attr rec_path = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_PATH_REC,
	.name = "PathRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = sizeof(struct wire_path_record),
	.get_first = true,
	.inline_answer = { PATH_SRC, PATH_DST },
	.prefetch = path_prefetch,
	.fields = path_fields,
	.n_fields = PATH_FIELDS,
	.walk = path_walk_record,
};

const struct sa_attr opa_path = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_PATH_REC,
	.name = "PathRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = sizeof(struct wire_path_record),
	.get_first = true,
	.inline_answer = { PATH_SRC, PATH_DST },
	.prefetch = path_prefetch,
	SA_FIELDS(opa_path_fields),
	.walk = path_walk_record,
};
