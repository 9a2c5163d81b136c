/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * LinkRecord (IBA vol. 1, 15.2.5.13), and Omni-Path's with wider LIDs: every cable twice, once
 * from each end, in the order of FromLID and FromPort. Ports of a switch have the LID of its
 * port 0. Both LID components may be any LID of their end port.
 */
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/record/record.h"

enum { LINK_RECORD_BYTES = 6, OPA_LINK_RECORD_BYTES = 12 };
enum { LR_FROM_LID, LR_FROM_PORT, LR_TO_PORT };

/* clang-format off */
static const struct sa_field link_fields[] = {
	{ "FromLID",   0, 16, SA_INPUT },
	{ "FromPort", 16,  8, SA_EQ },
	{ "ToPort",   24,  8, SA_EQ },
	{ "ToLID",    32, 16, SA_INPUT },
};

static const struct sa_field opa_link_fields[] = {
	{ "FromLID",   0, 32, SA_INPUT },
	{ "FromPort", 32,  8, SA_EQ },
	{ "ToPort",   40,  8, SA_EQ },
	{ "Reserved", 48, 16, SA_RESERVED },
	{ "ToLID",    64, 32, SA_INPUT },
};
/* clang-format on */

static int offer_port(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, const struct snap_port *port,
                      struct sa_out *out)
{
	uint8_t record[OPA_LINK_RECORD_BYTES] = { 0 };
	const unsigned to_lid = q->attr->n_fields - 1;
	struct snap_end far, wanted;

	if (port->peer_guid == 0) {
		return E_OK;
	}
	struct snap_node node;
	int ret = snap_node(r, port->peer_guid, &node);
	if (ret == E_OK) { /* the end port whose LID the far end has */
		uint8_t num = node.type == NODE_SWITCH ? 0 : port->peer_port;
		struct snap_port peer;
		ret = snap_port(r, node.guid, num, &peer);
		ret = ret == E_OK ? snap_lid(r, peer.lid, &far) : ret;
	}
	if (ret == E_OK && sa_asked(q, to_lid)) {
		ret = snap_lid(r, (uint32_t)sa_component(q, to_lid), &wanted);
	}
	if (ret != E_OK) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	if ((sa_asked(q, to_lid) && wanted.base_lid != far.base_lid) ||
	    !sa_sees(r, q, &far)) {
		return E_OK;
	}
	sa_put(q->attr, record, LR_FROM_LID, end->base_lid);
	sa_put(q->attr, record, LR_FROM_PORT, port->num);
	sa_put(q->attr, record, LR_TO_PORT, port->peer_port);
	sa_put(q->attr, record, (int)to_lid, far.base_lid);
	sa_offer(out, record);
	return E_OK;
}

static int offer_links(struct snap_reader *r, const struct sa_query *q,
                       const struct snap_end *end, struct sa_out *out)
{
	bool is_switch = end->type == NODE_SWITCH;
	unsigned num = is_switch ? 1 : end->port, last = is_switch ? UINT8_MAX : num;
	struct snap_port port;
	int ret = E_OK;

	for (; ret == E_OK && num <= last && !sa_full(out); num++) {
		ret = snap_port(r, end->node_guid, (uint8_t)num, &port);
		if (ret == E_OK) {
			ret = offer_port(r, q, end, &port, out);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr rec_link = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_LINK_REC,
	.name = "LinkRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = LINK_RECORD_BYTES,
	SA_FIELDS(link_fields),
	.offer_end = offer_links,
};

const struct sa_attr opa_link = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_LINK_REC,
	.name = "LinkRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = OPA_LINK_RECORD_BYTES,
	SA_FIELDS(opa_link_fields),
	.offer_end = offer_links,
};
