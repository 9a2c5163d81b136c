/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/record/path_request.h"

#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/wire.h"
#include "sa/store/alias.h"

enum { GID_BYTES = 16, HOP_LIMIT_OFF_SUBNET = 255, HOP_LIMIT_HIGH_LID = 1 };
enum { OPA_OUI = 0x00066a, OUI_SHIFT = 40 };

#define LINK_LOCAL_PREFIX UINT64_C(0xfe80000000000000)

static struct path_limit read_limit(const struct sa_query *q, unsigned selector)
{
	unsigned value = selector + 1;

	if (!sa_asked(q, selector) || !sa_asked(q, value)) {
		return (struct path_limit){ .given = false };
	}
	return (struct path_limit){
		.given = true,
		.selector = (uint8_t)sa_component(q, selector),
		.value = (uint8_t)sa_component(q, value),
	};
}

/* A component that was asked for, else 0. */
static uint64_t asked_or_0(const struct sa_query *q, unsigned component)
{
	return sa_asked(q, component) ? sa_component(q, component) : 0;
}

int path_request_common(struct snap_reader *r, const struct sa_query *q,
                        const struct path_components *c, struct sa_out *out,
                        struct path_request *a)
{
	if (sa_asked(q, c->service_id_msb) != sa_asked(q, c->service_id_lsb)) {
		return sa_refuse(out, UMAD_SA_STATUS_INSUF_COMPS);
	}
	if (q->table && sa_asked(q, c->numb_path) && sa_component(q, c->numb_path) == 0) {
		return sa_refuse(out, UMAD_SA_STATUS_REQ_INVALID);
	}
	a->q.mode = snap_meta(r)->path_selection;
	a->q.numb_path = q->table ? (uint32_t)asked_or_0(q, c->numb_path) : 1;
	a->q.mtu = read_limit(q, c->mtu_selector);
	a->q.rate = read_limit(q, c->rate_selector);
	a->q.packet_life_time = read_limit(q, c->packet_life_time_selector);
	a->raw_traffic = asked_or_0(q, c->raw_traffic) != 0;
	a->q.raw_traffic = a->raw_traffic;
	a->q.has_p_key = sa_asked(q, c->p_key);
	a->q.p_key = (uint16_t)asked_or_0(q, c->p_key);
	a->q.has_sl = sa_asked(q, c->sl);
	a->q.sl = (uint8_t)asked_or_0(q, c->sl);
	a->q.reversible = asked_or_0(q, c->reversible) != 0;
	a->q.has_service_id = sa_asked(q, c->service_id_msb);
	a->q.service_id =
		asked_or_0(q, c->service_id_msb) << 56 | asked_or_0(q, c->service_id_lsb);
	a->echo.service_id = a->q.service_id;
	a->echo.flow_label = (uint32_t)asked_or_0(q, c->flow_label);
	a->echo.t_class = (uint8_t)asked_or_0(q, c->t_class);
	a->q.has_qos_class = sa_asked(q, c->qos_class);
	a->q.qos_class = (uint16_t)asked_or_0(q, c->qos_class);
	a->echo.qos_class = a->q.qos_class;
	return E_OK;
}

/* Omni-Path's GIDs of LIDs; GUIDs of real ports may begin with the same OUI. */
static int by_guid_or_lid(struct snap_reader *r, const struct sa_store *st, uint64_t guid,
                          struct snap_end *ret_end, uint32_t *ret_lid)
{
	uint64_t lid = guid & ((UINT64_C(1) << OUI_SHIFT) - 1);

	int ret = alias_port(r, st, guid, ret_end);
	if (ret == E_NOTFOUND && guid >> OUI_SHIFT == OPA_OUI && lid <= UINT32_MAX) {
		ret = snap_lid(r, (uint32_t)lid, ret_end);
		*ret_lid = ret == E_OK ? (uint32_t)lid : 0;
	}
	return ret;
}

int path_request_gid(struct snap_reader *r, const struct sa_store *st,
                     const uint8_t gid[16], bool is_dst, struct snap_end *ret_end,
                     bool *ret_off_subnet, uint32_t *ret_lid)
{
	uint64_t prefix = field_get(gid, 0, 64), guid = field_get(gid, 64, 64);
	struct snap_prefix_route route;

	*ret_off_subnet = false;
	*ret_lid = 0;
	if (prefix == LINK_LOCAL_PREFIX || prefix == snap_meta(r)->subnet_prefix) {
		return by_guid_or_lid(r, st, guid, ret_end, ret_lid);
	}
	int ret = is_dst ? snap_prefix_route(r, prefix, &route) : E_NOTFOUND;
	if (ret == E_OK) {
		*ret_off_subnet = true;
		ret = snap_port_guid(r, route.router_port_guid, ret_end);
	}
	return ret;
}

void path_request_encode(const struct path_record *p, const struct path_request *a,
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
		.raw_flow_hop = htobe32((uint32_t)a->raw_traffic << 31 |
		                        echo->flow_label << 8 | hop_limit),
		.t_class = echo->t_class,
		.reversible_numb_path = (uint8_t)(p->reversible << 7 | p->numb_path),
		.p_key = htobe16(a->raw_traffic ? 0 : p->p_key),
		.qos_class_sl = htobe16((uint16_t)(echo->qos_class << 4 | p->sl)),
		.mtu = umad_sa_set_rate_mtu_or_life(p->mtu_selector, p->mtu),
		.rate = umad_sa_set_rate_mtu_or_life(p->rate_selector, p->rate),
		.packet_life_time =
			umad_sa_set_rate_mtu_or_life(p->packet_life_time_selector,
			                             p->packet_life_time),
		.preference = p->preference,
	};
	if (a->src.gid != NULL) {
		memcpy(&w->sgid_prefix, a->src.gid, GID_BYTES);
	}
	if (a->dst.gid != NULL) {
		memcpy(&w->dgid_prefix, a->dst.gid, GID_BYTES);
	}
}

static uint16_t low_bits(uint32_t lid)
{
	return (uint16_t)(lid > LID_LOW_MAX ? lid & LID_LOW_BITS : lid);
}

void path_request_high_lids(const struct path_record *p, struct snap_reader *r,
                            struct wire_path_record *w)
{
	uint64_t prefix = snap_meta(r)->subnet_prefix,
		 oui = (uint64_t)OPA_OUI << OUI_SHIFT;

	if (p->dlid <= LID_LOW_MAX && p->slid <= LID_LOW_MAX) {
		return;
	}
	w->dgid_prefix = w->sgid_prefix = htobe64(prefix);
	w->dgid_guid = htobe64(oui | p->dlid);
	w->sgid_guid = htobe64(oui | p->slid);
	w->dlid = htobe16(low_bits(p->dlid));
	w->slid = htobe16(low_bits(p->slid));
	w->raw_flow_hop = (w->raw_flow_hop & htobe32(~UINT32_C(0xff))) |
	                  htobe32(HOP_LIMIT_HIGH_LID);
}
