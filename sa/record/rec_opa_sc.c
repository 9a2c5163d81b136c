/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Service channels (SC), which Omni-Path has between SL and VL. Records of Omni-Path's devices are the tables
 * that these hold, as far as they were read or programmed. InfiniBand has only SLs, and there
 * the SC of a packet is its SL on the whole route:
 *
 *   SLtoSC, SCtoSL, SCtoSC  map 0 to 15 to themselves
 *   SCtoVLt                 the SL-to-VL table of the port
 *   SCtoVLnt                that table of the neighbor of the port
 *   SCtoVLr                 no records, because there is no such table
 *
 * A switch of Omni-Path passes SCs on unchanged from one port to another unless it is told otherwise. The snapshot
 * has only maps that change SCs (sa/sm/publish/publish_opa.c), so a pair of ports without one has the plain map.
 *
 * In InfiniBand's fabrics a port has records if its SL-to-VL tables are known because they were programmed or read at
 * a request (sa/sm/sweep_qos.c). It has SCtoVL records only if the VL does not depend on the
 * input port, because Omni-Path's table has no input port. SLs and SCs above 15 do not occur
 * in packets and map to 15.
 *
 * Layouts and component bits are those of opa-fm and opasaquery.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/opa_native.h"
#include "sa/record/rec_int.h"

enum {
	MAP_BYTES = 32,
	RECORD_BYTES = RID_BYTES + MAP_BYTES,
	SLS = 16,
	BEYOND = 15,    /* what SLs and SCs above 15 map to */
	SL2VL_BYTES = 8 /* bytes of an SL-to-VL table */
};

/* clang-format off */
static const struct sa_field sl_fields[] = {
	{ "LID",        0,  32, SA_INPUT },
	{ "Map",      RID, 256, SA_EQ | SA_LIST8 },
};
enum { SCSC_IN = 1, SCSC_OUT };
static const struct sa_field scsc_fields[] = {
	{ "LID",          0,  32, SA_INPUT },
	{ "InputPort",   32,   8, SA_EQ },
	{ "OutputPort",  40,   8, SA_EQ },
	{ "Map",        RID, 256, SA_EQ | SA_LIST8 },
};
enum { SCVL_PORT = 1 };
/* of the SMA */
enum { SMA_SL_TO_SC = 0x17, SMA_SC_TO_SC = 0x81, SMA_SC_TO_SL, SMA_SC_TO_VL_R,
       SMA_SC_TO_VL_T, SMA_SC_TO_VL_NT };
static const struct sa_field scvl_fields[] = {
	{ "LID",          0,  32, SA_INPUT },
	{ "Port",        32,   8, SA_EQ },
	{ "Map",        RID, 256, SA_EQ | SA_LIST8 },
};
/* clang-format on */

/* Of InfiniBand, which has 16 SLs. */
static void put_identity(uint8_t *record)
{
	for (unsigned i = 0; i < MAP_BYTES; i++) {
		record[RID_BYTES + i] = (uint8_t)(i < SLS ? i : BEYOND);
	}
}

/*
 * The VLs of an output port for all input ports.
 * E_NOTFOUND: not known, or different for some input port.
 */
static int vls_of(struct snap_reader *r, uint64_t guid, uint8_t port, uint8_t *map)
{
	const uint8_t *tables, *first = NULL;
	uint16_t len;

	int ret = snap_attr(r, UMAD_SM_ATTR_SLVL_TABLE, guid, port, &tables, &len);
	if (ret != E_OK) {
		return ret;
	}
	for (; len >= SL2VL_BYTES; tables += SL2VL_BYTES, len -= SL2VL_BYTES) {
		if (field_get(tables, 0, 64) == UINT64_MAX) {
			continue; /* not programmed */
		}
		first = first ? first : tables;
		if (memcmp(first, tables, SL2VL_BYTES) != 0) {
			return E_NOTFOUND;
		}
	}
	for (unsigned i = 0; first && i < MAP_BYTES; i++) {
		map[i] = (uint8_t)(i < SLS ? field_get(first, 4 * i, 4) : BEYOND);
	}
	return first ? E_OK : E_NOTFOUND;
}

/* --- SLtoSC, SCtoSL --------------------------------------------------------------- */

static int offer_sl(struct snap_reader *r, const struct sa_query *q,
                    const struct snap_end *end, struct sa_out *out)
{
	uint8_t record[RECORD_BYTES] = { 0 };
	struct snap_attr_row row;
	const struct opa_native_table native = {
		.attr = q->attr->id == SA_OPA_ATTR_SL_TO_SC ? SMA_SL_TO_SC : SMA_SC_TO_SL,
		.bytes = MAP_BYTES,
		.row = SA_NONE,
		.block = SA_NONE
	};

	if (opa_native_known(r, end->node_guid)) {
		return opa_native_offer(r, q, end, &native, out);
	}
	int ret = snap_attr_from(r, UMAD_SM_ATTR_SLVL_TABLE, end->node_guid, 0, &row);
	if (ret != E_OK || row.guid != end->node_guid) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	sa_put(q->attr, record, SA_LID, end->base_lid);
	put_identity(record);
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr opa_sl_to_sc = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_SL_TO_SC,
	.name = "SLtoSCMappingTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RECORD_BYTES,
	.tables_on_request = true,
	SA_FIELDS(sl_fields),
	.offer_end = offer_sl,
};

const struct sa_attr opa_sc_to_sl = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_SC_TO_SL,
	.name = "SCtoSLMappingTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RECORD_BYTES,
	.tables_on_request = true,
	SA_FIELDS(sl_fields),
	.offer_end = offer_sl,
};

/* --- SCtoSC ----------------------------------------------------------------------- */

/* Offers the records of one output port of a switch, with all input ports. */
static void offer_scsc_port(const struct sa_query *q, const struct snap_end *end,
                            const struct snap_attr_row *row, unsigned n_ports,
                            struct sa_out *out)
{
	bool one = row->len == SL2VL_BYTES; /* one table for all input ports */
	uint8_t record[RECORD_BYTES] = { 0 };

	sa_put(q->attr, record, SA_LID, end->base_lid);
	sa_put(q->attr, record, SCSC_OUT, row->block);
	put_identity(record);
	for (unsigned in = 1; in <= n_ports && !sa_full(out); in++) {
		size_t at = one ? 0 : (size_t)in * SL2VL_BYTES;
		if (at + SL2VL_BYTES <= row->len &&
		    field_get(row->data + at, 0, 64) != UINT64_MAX) {
			sa_put(q->attr, record, SCSC_IN, in);
			sa_offer(out, record);
		}
	}
}

/* The ports of a switch with a cable. \return how many */
static unsigned list_cables(struct snap_reader *r, const struct snap_node *node,
                            uint8_t ret_ports[UINT8_MAX])
{
	struct snap_port port;
	unsigned n = 0;

	for (unsigned num = 1; num <= node->n_ports; num++) {
		if (snap_port(r, node->guid, (uint8_t)num, &port) == E_OK &&
		    port.peer_guid != 0) {
			ret_ports[n++] = (uint8_t)num;
		}
	}
	return n;
}

/* The map of each pair of ports with a cable, in the order of opa-fm. */
static void offer_native_scsc(struct snap_reader *r, const struct sa_query *q,
                              const struct snap_end *end, const struct snap_node *node,
                              struct sa_out *out)
{
	uint8_t record[RECORD_BYTES] = { 0 }, ports[UINT8_MAX];
	const unsigned n = list_cables(r, node, ports);
	struct snap_attr_row row;
	const bool plain = snap_attr_from(r, SNAP_ATTR_OPA | SMA_SC_TO_SC, node->guid, 0,
	                                  &row) != E_OK ||
	                   row.guid != node->guid;

	sa_put(q->attr, record, SA_LID, end->base_lid);
	for (unsigned i = 0; i < n * n && !sa_full(out); i++) {
		const uint8_t in = ports[i / n], to = ports[i % n];
		const uint8_t *map =
			plain ? NULL
			      : opa_native_block(r, SMA_SC_TO_SC, node->guid,
		                                 (uint32_t)to << SNAP_OPA_ROW | in,
		                                 MAP_BYTES);

		for (unsigned sc = 0; sc < MAP_BYTES; sc++) {
			record[RID_BYTES + sc] = map != NULL ? map[sc] : (uint8_t)sc;
		}
		sa_put(q->attr, record, SCSC_IN, in);
		sa_put(q->attr, record, SCSC_OUT, to);
		sa_offer(out, record);
	}
}

static int offer_scsc(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, struct sa_out *out)
{
	struct snap_attr_row row = { .block = 0 };
	struct snap_node node = { .n_ports = 0 };
	int ret = end->type == NODE_SWITCH ? snap_node(r, end->node_guid, &node)
	                                   : E_NOTFOUND;

	if (ret == E_OK && opa_native_known(r, end->node_guid)) {
		offer_native_scsc(r, q, end, &node, out);
		return E_OK;
	}
	while (ret == E_OK && !sa_full(out)) {
		ret = snap_attr_from(r, UMAD_SM_ATTR_SLVL_TABLE, end->node_guid,
		                     row.block + 1, &row);
		if (ret == E_OK && row.guid != end->node_guid) {
			break;
		}
		if (ret == E_OK) {
			offer_scsc_port(q, end, &row, node.n_ports, out);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_sc_to_sc = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_SC_TO_SC,
	.name = "SCtoSCMappingTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RECORD_BYTES,
	.tables_on_request = true,
	SA_FIELDS(scsc_fields),
	.offer_end = offer_scsc,
};

/* --- SCtoVL ----------------------------------------------------------------------- */

/* Offers the record of one port: its own table, or that of its neighbor. */
static int offer_scvl_port(struct snap_reader *r, const struct sa_query *q,
                           const struct snap_end *end, uint8_t num, struct sa_out *out)
{
	uint8_t record[RECORD_BYTES] = { 0 };
	bool neighbor = q->attr == &opa_sc_to_vl_nt;
	struct snap_port port;

	int ret = snap_port(r, end->node_guid, num, &port);
	if (ret == E_OK && neighbor && port.peer_guid == 0) {
		return E_OK;
	}
	if (ret == E_OK) {
		ret = neighbor ? vls_of(r, port.peer_guid, port.peer_port,
		                        record + RID_BYTES)
		               : vls_of(r, end->node_guid, num, record + RID_BYTES);
	}
	if (ret != E_OK) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	sa_put(q->attr, record, SA_LID, end->base_lid);
	sa_put(q->attr, record, SCVL_PORT, num);
	sa_offer(out, record);
	return E_OK;
}

static int offer_scvl(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, struct sa_out *out)
{
	struct snap_node node;
	const struct opa_native_table native = {
		.attr = q->attr->id == SA_OPA_ATTR_SC_TO_VL_T    ? SMA_SC_TO_VL_T
		        : q->attr->id == SA_OPA_ATTR_SC_TO_VL_NT ? SMA_SC_TO_VL_NT
		                                                 : SMA_SC_TO_VL_R,
		.bytes = MAP_BYTES,
		.row = SCVL_PORT,
		.block = SA_NONE
	};

	if (opa_native_known(r, end->node_guid)) {
		return opa_native_offer(r, q, end, &native, out);
	}
	if (q->attr == &opa_sc_to_vl_r) {
		return E_OK;
	}
	if (end->type != NODE_SWITCH) {
		return offer_scvl_port(r, q, end, end->port, out);
	}
	int ret = snap_node(r, end->node_guid, &node);
	for (unsigned p = 0; ret == E_OK && p <= node.n_ports && !sa_full(out); p++) {
		ret = offer_scvl_port(r, q, end, (uint8_t)p, out);
	}
	return ret;
}

#define SC_TO_VL(attr_id, text)                                                          \
	.version = SA_OPA_VERSION, .id = (attr_id), .name = (text),                      \
	.methods = SA_GET | SA_GETTABLE, .size = RECORD_BYTES, SA_FIELDS(scvl_fields)

const struct sa_attr opa_sc_to_vl_t = {
	SC_TO_VL(SA_OPA_ATTR_SC_TO_VL_T, "SCtoVLtMappingTableRecord"),
	.tables_on_request = true,
	.offer_end = offer_scvl,
};

const struct sa_attr opa_sc_to_vl_nt = {
	SC_TO_VL(SA_OPA_ATTR_SC_TO_VL_NT, "SCtoVLntMappingTableRecord"),
	.tables_on_request = true,
	.offer_end = offer_scvl,
};

const struct sa_attr opa_sc_to_vl_r = {
	SC_TO_VL(SA_OPA_ATTR_SC_TO_VL_R, "SCtoVLrMappingTableRecord"),
	.offer_end = offer_scvl,
};
