/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * PathRecord (IBA vol. 1, 15.2.5.16): reads the two ends and the selectors out of the
 * request and hands them to the path query. An end that is not named stands for every end
 * port, in the order of port GUIDs; neither named asks for the whole fabric, whose size
 * is known (and refused, if too large) before anything is built. Source and destination
 * share a P_Key, and the requester one with each of them.
 *
 * A GID that is named comes back as it was named: by a port's alias GUID, with the
 * link-local prefix. A DGID of another subnet leads to the router port that the first
 * prefix route names; the packet then needs a global header, HopLimit 255.
 *
 * ServiceID, FlowLabel, TClass and QoSClass do not change the path here: what is asked
 * comes back. HopLimit is a bound; a path inside the subnet needs none (0). Multicast
 * groups have no paths yet: no records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/err.h"
#include "sa/path_query.h"
#include "sa/record.h"
#include "sa/wire.h"

enum path_component {
	PR_SERVICE_ID_MSB,
	PR_SERVICE_ID_LSB,
	PR_DGID,
	PR_SGID,
	PR_DLID,
	PR_SLID,
	PR_RAW_TRAFFIC,
	PR_RESERVED,
	PR_FLOW_LABEL,
	PR_HOP_LIMIT,
	PR_T_CLASS,
	PR_REVERSIBLE,
	PR_NUMB_PATH,
	PR_P_KEY,
	PR_QOS_CLASS,
	PR_SL,
	PR_MTU_SELECTOR,
	PR_MTU,
	PR_RATE_SELECTOR,
	PR_RATE,
	PR_PACKET_LIFE_TIME_SELECTOR,
	PR_PACKET_LIFE_TIME,
	PR_PREFERENCE,
	PR_COUNT
};

/* clang-format off */
static const struct sa_field path_fields[PR_COUNT] = {
	[PR_SERVICE_ID_MSB] =            { "ServiceID8MSB",            0,   8, SA_INPUT },
	[PR_SERVICE_ID_LSB] =            { "ServiceID56LSB",           8,  56, SA_INPUT },
	[PR_DGID] =                      { "DGID",                    64, 128, SA_INPUT },
	[PR_SGID] =                      { "SGID",                   192, 128, SA_INPUT },
	[PR_DLID] =                      { "DLID",                   320,  16, SA_INPUT },
	[PR_SLID] =                      { "SLID",                   336,  16, SA_INPUT },
	[PR_RAW_TRAFFIC] =               { "RawTraffic",             352,   1, SA_EQ },
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
	[PR_PREFERENCE] =                { "Preference",             456,   8, SA_EQ },
};
/* clang-format on */

#define LINK_LOCAL_PREFIX UINT64_C(0xfe80000000000000)
#define MULTICAST_GID_BYTE 0xff

enum { GID_BYTES = 16, HOP_LIMIT_OFF_SUBNET = 255 };

/* One side of it. */
struct ask_end {
	bool given, off_subnet;
	const uint8_t *gid; /* as asked for, NULL: not by GID */
};

/* The request, read. */
struct ask {
	struct path_query q; /* ends, LIDs and selectors; ends only where given */
	struct ask_end src, dst;
	struct path_record echo; /* what is repeated from the request */
};

static struct path_limit read_limit(const struct sa_query *q, unsigned selector)
{
	unsigned value = selector + 1;

	return (struct path_limit){
		.given = sa_asked(q, selector) && sa_asked(q, value),
		.selector = (uint8_t)sa_given(q, selector),
		.value = (uint8_t)sa_given(q, value),
	};
}

/* The end port that a GID component names; \a is_dst: it may lie behind a router. */
static int read_gid(struct snap_reader *r, const uint8_t gid[16], bool is_dst,
                    struct snap_end *ret, bool *ret_off_subnet)
{
	uint64_t prefix = field_get(gid, 0, 64), guid = field_get(gid, 64, 64);
	struct snap_prefix_route route;

	*ret_off_subnet = false;
	if (prefix == LINK_LOCAL_PREFIX || prefix == snap_meta(r)->subnet_prefix) {
		return snap_port_guid(r, guid, ret);
	}
	int err = is_dst ? snap_prefix_route(r, prefix, &route) : E_NOTFOUND;
	if (err == E_OK) {
		*ret_off_subnet = true;
		err = snap_port_guid(r, route.router_port_guid, ret);
	}
	return err;
}

/* One end by GID and LID components. */
static int read_end(struct snap_reader *r, const struct sa_query *q, struct sa_out *out,
                    unsigned gid, unsigned lid, struct ask_end *e,
                    struct snap_end *ret_end, uint32_t *ret_lid)
{
	struct snap_end by_gid = { .base_lid = 0 };

	*e = (struct ask_end){ .given = false };
	*ret_lid = 0;
	if (sa_asked(q, gid)) {
		e->gid = q->record + path_fields[gid].bit / 8;
		int ret = read_gid(r, e->gid, gid == PR_DGID, &by_gid, &e->off_subnet);
		if (ret != E_OK) {
			return ret == E_NOTFOUND
			               ? sa_refuse(out, UMAD_SA_STATUS_INVALID_GID)
			               : ret;
		}
		*ret_end = by_gid;
		e->given = true;
	}
	if (sa_asked(q, lid)) {
		*ret_lid = (uint32_t)sa_given(q, lid);
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

static int read_ends(struct snap_reader *r, const struct sa_query *q, struct sa_out *out,
                     struct ask *a)
{
	const uint8_t *dgid = q->record + path_fields[PR_DGID].bit / 8;

	if (sa_asked(q, PR_DGID) && dgid[0] == MULTICAST_GID_BYTE) {
		return E_NOTFOUND;
	}
	int ret = read_end(r, q, out, PR_SGID, PR_SLID, &a->src, &a->q.src, &a->q.slid);
	if (ret != E_OK) {
		return ret;
	}
	return read_end(r, q, out, PR_DGID, PR_DLID, &a->dst, &a->q.dst, &a->q.dlid);
}

/* A component that was asked for, else 0. */
static uint64_t asked_or_0(const struct sa_query *q, unsigned component)
{
	return sa_asked(q, component) ? sa_given(q, component) : 0;
}

static int read_ask(struct snap_reader *r, const struct sa_query *q, struct sa_out *out,
                    struct ask *a)
{
	if (sa_asked(q, PR_SERVICE_ID_MSB) != sa_asked(q, PR_SERVICE_ID_LSB)) {
		return sa_refuse(out, UMAD_SA_STATUS_INSUF_COMPS);
	}
	if (q->table && sa_asked(q, PR_NUMB_PATH) && sa_given(q, PR_NUMB_PATH) == 0) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
	}
	a->q.mode = snap_meta(r)->path_selection;
	a->q.numb_path = q->table ? (uint32_t)asked_or_0(q, PR_NUMB_PATH) : 1;
	a->q.mtu = read_limit(q, PR_MTU_SELECTOR);
	a->q.rate = read_limit(q, PR_RATE_SELECTOR);
	a->q.packet_life_time = read_limit(q, PR_PACKET_LIFE_TIME_SELECTOR);
	a->q.has_p_key = sa_asked(q, PR_P_KEY);
	a->q.p_key = (uint16_t)asked_or_0(q, PR_P_KEY);
	a->q.has_sl = sa_asked(q, PR_SL);
	a->q.sl = (uint8_t)asked_or_0(q, PR_SL);
	a->q.reversible = asked_or_0(q, PR_REVERSIBLE) != 0;
	a->echo.service_id =
		asked_or_0(q, PR_SERVICE_ID_MSB) << 56 | asked_or_0(q, PR_SERVICE_ID_LSB);
	a->echo.flow_label = (uint32_t)asked_or_0(q, PR_FLOW_LABEL);
	a->echo.t_class = (uint8_t)asked_or_0(q, PR_T_CLASS);
	a->echo.qos_class = (uint16_t)asked_or_0(q, PR_QOS_CLASS);
	return read_ends(r, q, out, a);
}

static uint8_t selected(uint8_t selector, uint8_t value)
{
	return umad_sa_set_rate_mtu_or_life(selector, value);
}

static void encode(const struct path_record *p, const struct ask *a,
                   struct wire_path_record *w)
{
	const struct path_record *echo = &a->echo;
	uint8_t hop_limit = a->dst.off_subnet ? HOP_LIMIT_OFF_SUBNET : p->hop_limit;

	*w = (struct wire_path_record){
		.service_id = htobe64(echo->service_id),
		.dgid_prefix = htobe64(p->dgid_prefix),
		.dgid_guid = htobe64(p->dgid_guid),
		.sgid_prefix = htobe64(p->sgid_prefix),
		.sgid_guid = htobe64(p->sgid_guid),
		.dlid = htobe16((uint16_t)p->dlid),
		.slid = htobe16((uint16_t)p->slid),
		.raw_flow_hop = htobe32(echo->flow_label << 8 | hop_limit),
		.t_class = echo->t_class,
		.reversible_numb_path = (uint8_t)(p->reversible << 7 | p->numb_path),
		.p_key = htobe16(p->p_key),
		.qos_class_sl = htobe16((uint16_t)(echo->qos_class << 4 | p->sl)),
		.mtu = selected(p->mtu_selector, p->mtu),
		.rate = selected(p->rate_selector, p->rate),
		.packet_life_time =
			selected(p->packet_life_time_selector, p->packet_life_time),
		.preference = p->preference,
	};
	if (a->src.gid != NULL) {
		memcpy(&w->sgid_prefix, a->src.gid, GID_BYTES);
	}
	if (a->dst.gid != NULL) {
		memcpy(&w->dgid_prefix, a->dst.gid, GID_BYTES);
	}
}

/* All records of one port pair. A pair without a path adds none. */
static int offer_pair(struct snap_reader *r, const struct ask *a, struct sa_out *out)
{
	struct path_iter it;
	struct path_record rec;

	if (!sa_sees(r, out->q, &a->q.src) || !sa_sees(r, out->q, &a->q.dst)) {
		return E_OK;
	}
	int ret = path_iter_init(&it, r, &a->q);
	if (ret != E_OK) {
		return ret == E_NOPATH || ret == E_PARTITION ? E_OK : ret;
	}
	while (!sa_full(out) && path_iter_next(&it, &rec)) {
		struct wire_path_record wire;
		encode(&rec, a, &wire);
		sa_offer(out, (const uint8_t *)&wire);
	}
	return it.ret;
}

/* End ports of the fabric by port GUID, and how many there are of each LMC. */
struct all_ends {
	struct key {
		uint64_t guid;
		uint32_t lid;
	} * keys;
	uint32_t n;
	uint32_t of_lmc[8];
};

static int by_guid(const void *a, const void *b)
{
	uint64_t x = ((const struct key *)a)->guid, y = ((const struct key *)b)->guid;

	return x < y ? -1 : x > y;
}

static int list_ends(struct snap_reader *r, struct all_ends *ret)
{
	uint32_t cap = snap_meta(r)->n_end_ports;
	struct snap_end end;
	uint32_t lid = 0;

	*ret = (struct all_ends){ .keys = malloc((cap + 1) * sizeof(*ret->keys)) };
	if (ret->keys == NULL) {
		return -ENOMEM;
	}
	while (ret->n < cap) {
		int err = sa_end_from(r, &lid, &end);
		if (err == E_NOTFOUND) {
			break;
		}
		if (err != E_OK) {
			free(ret->keys);
			return err;
		}
		ret->keys[ret->n++] =
			(struct key){ .guid = end.port_guid, .lid = end.base_lid };
		ret->of_lmc[end.lmc & 7]++;
	}
	qsort(ret->keys, ret->n, sizeof(*ret->keys), by_guid);
	return E_OK;
}

/* Most records the answer can have. */
static uint64_t bound(const struct ask *a, const struct all_ends *all)
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

/* One side is every end port. \a keyed: they are the keys of the walk. */
static int offer_row(struct snap_reader *r, struct ask *a, const struct all_ends *all,
                     bool keyed, struct sa_out *out)
{
	uint64_t i = keyed ? out->q->from : 0;
	int ret = E_OK;

	for (; ret == E_OK && i < all->n && !sa_full(out); i++) {
		if (keyed) {
			sa_at(out, i);
		}
		ret = snap_lid(r, all->keys[i].lid, a->src.given ? &a->q.dst : &a->q.src);
		if (ret == E_OK) {
			ret = offer_pair(r, a, out);
		}
	}
	return ret;
}

static int offer_world(struct snap_reader *r, struct ask *a, const struct all_ends *all,
                       struct sa_out *out)
{
	int ret = E_OK;

	a->src.given = true;
	for (uint64_t i = out->q->from; ret == E_OK && i < all->n && !sa_full(out); i++) {
		sa_at(out, i);
		ret = snap_lid(r, all->keys[i].lid, &a->q.src);
		if (ret == E_OK) {
			ret = offer_row(r, a, all, false, out);
		}
	}
	return ret;
}

static int path_walk_all(struct snap_reader *r, struct ask *a, struct sa_out *out)
{
	struct all_ends all;

	int ret = list_ends(r, &all);
	if (ret != E_OK) {
		return ret;
	}
	if (out->max == SIZE_MAX &&
	    bound(a, &all) > (out->max_bytes - out->head) / out->stride) {
		ret = E_FULL;
	} else if (a->src.given || a->dst.given) {
		ret = offer_row(r, a, &all, true, out);
	} else {
		ret = offer_world(r, a, &all, out);
	}
	free(all.keys);
	return ret;
}

static int path_walk_record(struct snap_reader *r, const struct sa_query *q,
                            struct sa_out *out)
{
	struct ask a = { .src.given = false };

	int ret = read_ask(r, q, out, &a);
	if (ret != E_OK) {
		return ret;
	}
	return a.src.given && a.dst.given ? offer_pair(r, &a, out)
	                                  : path_walk_all(r, &a, out);
}

const struct sa_attr rec_path = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_PATH_REC,
	.name = "PathRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = sizeof(struct wire_path_record),
	.get_first = true,
	.fields = path_fields,
	.n_fields = PR_COUNT,
	.walk = path_walk_record,
};
