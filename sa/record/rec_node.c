/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* NodeRecord (IBA vol. 1, 15.2.5.2): one per end port of a node, in the order of LIDs.
 * The LID component names any LID of the port. */
#include <string.h>

#include "conf/base/err.h"
#include "db/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/record.h"

enum {
	RID = 32,
	NODE_DESCRIPTION = RID + 320,
	NODE_DESCRIPTION_BYTES = 64,
	NODE_RECORD_BYTES = 108
};
enum { NR_LID };
enum { SM_CLASS_VERSION = 1 };

/* clang-format off */
static const struct sa_field node_fields[] = {
	{ "LID",              0,  16, SA_INPUT },
	{ "Reserved",        16,  16, SA_RESERVED },
	{ "BaseVersion",     SA_AT(RID, NI_BASE_VERSION), SA_EQ },
	{ "ClassVersion",    SA_AT(RID, NI_CLASS_VERSION), SA_EQ },
	{ "NodeType",        SA_AT(RID, NI_NODE_TYPE), SA_EQ },
	{ "NumPorts",        SA_AT(RID, NI_NUM_PORTS), SA_EQ },
	{ "SystemImageGUID", SA_AT(RID, NI_SYSTEM_IMAGE_GUID), SA_EQ },
	{ "NodeGUID",        SA_AT(RID, NI_NODE_GUID), SA_EQ },
	{ "PortGUID",        SA_AT(RID, NI_PORT_GUID), SA_EQ },
	{ "PartitionCap",    SA_AT(RID, NI_PARTITION_CAP), SA_EQ },
	{ "DeviceID",        SA_AT(RID, NI_DEVICE_ID), SA_EQ },
	{ "Revision",        SA_AT(RID, NI_REVISION), SA_EQ },
	{ "LocalPortNum",    SA_AT(RID, NI_LOCAL_PORT_NUM), SA_EQ },
	{ "VendorID",        SA_AT(RID, NI_VENDOR_ID), SA_EQ },
	{ "NodeDescription", NODE_DESCRIPTION, 8 * NODE_DESCRIPTION_BYTES, SA_EQ | SA_TEXT },
};
/* clang-format on */

static void encode(const struct snap_node *node, const struct snap_end *end,
                   uint8_t *record)
{
	uint8_t *info = record + RID / 8;

	memset(record, 0, NODE_RECORD_BYTES);
	field_set(record, 0, 16, end->base_lid);
	field_set(info, NI_BASE_VERSION, UMAD_BASE_VERSION);
	field_set(info, NI_CLASS_VERSION, SM_CLASS_VERSION);
	field_set(info, NI_NODE_TYPE, node->type);
	field_set(info, NI_NUM_PORTS, node->n_ports);
	field_set(info, NI_SYSTEM_IMAGE_GUID, node->system_image_guid);
	field_set(info, NI_NODE_GUID, node->guid);
	field_set(info, NI_PORT_GUID, end->port_guid);
	field_set(info, NI_PARTITION_CAP, node->partition_cap);
	field_set(info, NI_DEVICE_ID, node->device_id);
	field_set(info, NI_REVISION, node->revision);
	field_set(info, NI_LOCAL_PORT_NUM, end->port);
	field_set(info, NI_VENDOR_ID, node->vendor_id);
	memcpy(record + NODE_DESCRIPTION / 8, node->description,
	       strnlen(node->description, NODE_DESCRIPTION_BYTES));
}

static int offer(struct snap_reader *r, const struct sa_query *q,
                 const struct snap_end *end, struct sa_out *out)
{
	struct snap_node node;
	uint8_t record[NODE_RECORD_BYTES];

	(void)q;
	int ret = snap_node(r, end->node_guid, &node);
	if (ret != E_OK) {
		return ret;
	}
	encode(&node, end, record);
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr rec_node = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_NODE_REC,
	.name = "NodeRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = NODE_RECORD_BYTES,
	SA_FIELDS(node_fields),
	.offer_end = offer,
};
