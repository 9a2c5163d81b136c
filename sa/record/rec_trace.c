/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * TraceRecord (IBA vol. 1, 15.2.5.17). A SubnAdmGetTraceTable request has the components of a
 * PathRecord with one source and one destination. The response has the nodes of the first path
 * between them, from end to end, by the published tables. Clients send the request as either
 * attribute.
 *
 * Node and port identifiers are GUIDs, and the chassis is the SystemImageGUID. They are valid
 * for an epoch, whose low bits are the IDGeneration. The first node has no entry port (0), and
 * the last one no exit port.
 *
 * Omni-Path's layout has no GIDPrefix. The request is nevertheless a PathRecord in InfiniBand's
 * layout, as in opa-fm and opasaquery. Identifiers are GUIDs xor OPA_ID_MASK, which Omni-Path's
 * tools undo.
 */
#include <string.h>

#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/path_request.h"

enum {
	TR_GID_PREFIX,
	TR_ID_GENERATION,
	TR_RESERVED,
	TR_NODE_TYPE,
	TR_NODE_ID,
	TR_CHASSIS_ID,
	TR_ENTRY_PORT_ID,
	TR_EXIT_PORT_ID,
	TR_ENTRY_PORT,
	TR_EXIT_PORT,
	TRACE_RECORD_BYTES = 46,
	OPA_TRACE_RECORD_BYTES = 40
};
#define OPA_ID_MASK UINT64_C(0x55555555)

/* clang-format off */
static const struct sa_field trace_fields[] = {
	{ "GIDPrefix",      0, 64, SA_INPUT },
	{ "IDGeneration",  64, 16, SA_INPUT },
	{ "Reserved",      80,  8, SA_RESERVED },
	{ "NodeType",      88,  8, SA_INPUT },
	{ "NodeID",        96, 64, SA_INPUT },
	{ "ChassisID",    160, 64, SA_INPUT },
	{ "EntryPortID",  224, 64, SA_INPUT },
	{ "ExitPortID",   288, 64, SA_INPUT },
	{ "EntryPort",    352,  8, SA_INPUT },
	{ "ExitPort",     360,  8, SA_INPUT },
};
static const struct sa_field opa_trace_fields[] = {
	[TR_GID_PREFIX] =    { "GIDPrefix",      0,  0, SA_RESERVED }, /* there is none */
	[TR_ID_GENERATION] = { "IDGeneration",   0, 16, SA_INPUT },
	[TR_RESERVED] =      { "Reserved",      16,  8, SA_RESERVED },
	[TR_NODE_TYPE] =     { "NodeType",      24,  8, SA_INPUT },
	[TR_ENTRY_PORT] =    { "EntryPort",     32,  8, SA_INPUT },
	[TR_EXIT_PORT] =     { "ExitPort",      40,  8, SA_INPUT },
	[TR_NODE_ID] =       { "NodeID",        64, 64, SA_INPUT },
	[TR_CHASSIS_ID] =    { "ChassisID",    128, 64, SA_INPUT },
	[TR_ENTRY_PORT_ID] = { "EntryPortID",  192, 64, SA_INPUT },
	[TR_EXIT_PORT_ID] =  { "ExitPortID",   256, 64, SA_INPUT },
};
/* clang-format on */

static const struct sa_attr trace_layout = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_TRACE_REC,
	.name = "TraceRecord",
	.size = TRACE_RECORD_BYTES,
	SA_FIELDS(trace_fields),
};

static const struct sa_attr opa_trace_layout = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_TRACE_REC,
	.name = "TraceRecord",
	.size = OPA_TRACE_RECORD_BYTES,
	SA_FIELDS(opa_trace_fields),
};

/* Offers a node of the path. \a entry and \a exit are its ports, 0: none. */
static int offer_node(struct snap_reader *r, uint64_t guid, uint8_t entry, uint8_t exit,
                      struct sa_out *out)
{
	uint8_t record[TRACE_RECORD_BYTES] = { 0 };
	struct snap_port port = { .guid = 0 };
	const struct sa_attr *a = out->q->attr->reply;
	uint64_t mask = a == &trace_layout ? 0 : OPA_ID_MASK;
	struct snap_node node;

	int ret = snap_node(r, guid, &node);
	if (a == &trace_layout) {
		sa_put(a, record, TR_GID_PREFIX, snap_meta(r)->subnet_prefix);
	}
	sa_put(a, record, TR_ID_GENERATION, snap_meta(r)->epoch & 0xffff);
	sa_put(a, record, TR_ENTRY_PORT_ID, mask);
	sa_put(a, record, TR_EXIT_PORT_ID, mask);
	if (ret == E_OK && entry) {
		ret = snap_port(r, guid, entry, &port);
		sa_put(a, record, TR_ENTRY_PORT_ID, port.guid ^ mask);
	}
	if (ret == E_OK && exit) {
		ret = snap_port(r, guid, exit, &port);
		sa_put(a, record, TR_EXIT_PORT_ID, port.guid ^ mask);
	}
	if (ret != E_OK) {
		return ret;
	}
	sa_put(a, record, TR_NODE_TYPE, node.type);
	sa_put(a, record, TR_NODE_ID, node.guid ^ mask);
	sa_put(a, record, TR_CHASSIS_ID, node.system_image_guid ^ mask);
	sa_put(a, record, TR_ENTRY_PORT, entry);
	sa_put(a, record, TR_EXIT_PORT, exit);
	sa_offer(out, record);
	return E_OK;
}

/* Offers the node at one end, unless it is a switch, which is a hop itself. */
static int offer_end(struct snap_reader *r, const struct snap_end *e, bool is_src,
                     struct sa_out *out)
{
	if (e->type == NODE_SWITCH) {
		return E_OK;
	}
	return offer_node(r, e->node_guid, is_src ? 0 : e->port, is_src ? e->port : 0,
	                  out);
}

static int offer_path(struct snap_reader *r, const struct path_request *a,
                      const struct path_record *p, struct sa_out *out)
{
	struct path_hop hop[PATH_HOPS_MAX];
	unsigned n;

	int ret = path_hops(r, p->slid, p->dlid, hop, &n);
	if (ret == E_OK && a->q.src.base_lid == a->q.dst.base_lid) {
		return offer_node(r, a->q.src.node_guid, 0, 0, out);
	}
	if (ret == E_OK) {
		ret = offer_end(r, &a->q.src, true, out);
	}
	for (unsigned i = 0; ret == E_OK && i < n; i++) {
		ret = offer_node(r, hop[i].node_guid, hop[i].in_port, hop[i].out_port,
		                 out);
	}
	return ret == E_OK ? offer_end(r, &a->q.dst, false, out) : ret;
}

static int trace_walk(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	struct path_request a = { .src.given = false };
	struct path_iter it;
	struct path_record rec;

	int ret = path_request_read(r, q, out, &a);
	if (ret == E_OK && a.to_group) {
		ret = E_NOTFOUND; /* packets of a group take no path */
	}
	if (ret != E_OK) {
		return ret;
	}
	if (!a.src.given || !a.dst.given) {
		return sa_refuse(out, UMAD_SA_STATUS_INSUF_COMPS);
	}
	if (!sa_sees(r, q, &a.q.src) || !sa_sees(r, q, &a.q.dst)) {
		return E_NOTFOUND;
	}
	ret = path_iter_init(&it, r, &a.q);
	if (ret != E_OK) {
		return ret;
	}
	return path_iter_next(&it, &rec) ? offer_path(r, &a, &rec, out) : it.ret;
}

/* requested by its own attribute, or by that whose layout the request has */
#define TRACE(class_version, attr_id, answer)                                            \
	{                                                                                \
		.version = (class_version), .id = (attr_id), .name = "TraceRecord",      \
		.methods = SA_GETTRACETABLE, .size = sizeof(struct wire_path_record),    \
		.fields = path_fields, .n_fields = PATH_FIELDS, .reply = &(answer),      \
		.walk = trace_walk                                                       \
	}

const struct sa_attr rec_trace =
	TRACE(UMAD_SA_CLASS_VERSION, UMAD_SA_ATTR_TRACE_REC, trace_layout);
const struct sa_attr rec_path_trace =
	TRACE(UMAD_SA_CLASS_VERSION, UMAD_SA_ATTR_PATH_REC, trace_layout);
const struct sa_attr opa_trace =
	TRACE(SA_OPA_VERSION, UMAD_SA_ATTR_TRACE_REC, opa_trace_layout);
const struct sa_attr opa_path_trace =
	TRACE(SA_OPA_VERSION, UMAD_SA_ATTR_PATH_REC, opa_trace_layout);
