/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The fabric as a whole in Omni-Path's layouts.
 *
 *   FabricInfoRecord         the numbers of nodes and cables of each kind
 *   DeviceTreeMemberRecord   every node with its ACTIVE ports
 *   QuarantinedNodeRecord    nodes that were refused, and the port behind which each was seen
 *   DeviceGroupNameRecord    the device groups of the configuration's file, in its order
 *   DeviceGroupMemberRecord  their ports: end ports, and those of switches that have a cable
 *
 * Layouts and component bits are those of opa-fm and opasaquery.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"

enum { QN_NODE_INFO = 8 * OPA_QN_NODE_INFO_AT };

/* --- FabricInfo ------------------------------------------------------------------- */

enum { FABRIC_BYTES = 408 };
enum {
	FI_HFIS,
	FI_SWITCHES,
	FI_INTERNAL_HFI_LINKS,
	FI_EXTERNAL_HFI_LINKS,
	FI_INTERNAL_ISLS,
	FI_EXTERNAL_ISLS,
	FI_DEGRADED_HFI_LINKS,
	FI_DEGRADED_ISLS,
	FI_OMITTED_HFI_LINKS,
	FI_OMITTED_ISLS,
	FI_COUNT
};

/* clang-format off */
static const struct sa_field fabric_fields[FI_COUNT] = {
	[FI_HFIS] =               { "NumHFIs",               0, 32, SA_INPUT },
	[FI_SWITCHES] =           { "NumSwitches",          32, 32, SA_INPUT },
	[FI_INTERNAL_HFI_LINKS] = { "NumInternalHFILinks",  64, 32, SA_INPUT },
	[FI_EXTERNAL_HFI_LINKS] = { "NumExternalHFILinks",  96, 32, SA_INPUT },
	[FI_INTERNAL_ISLS] =      { "NumInternalISLs",     128, 32, SA_INPUT },
	[FI_EXTERNAL_ISLS] =      { "NumExternalISLs",     160, 32, SA_INPUT },
	[FI_DEGRADED_HFI_LINKS] = { "NumDegradedHFILinks", 192, 32, SA_INPUT },
	[FI_DEGRADED_ISLS] =      { "NumDegradedISLs",     224, 32, SA_INPUT },
	[FI_OMITTED_HFI_LINKS] =  { "NumOmittedHFILinks",  256, 32, SA_INPUT },
	[FI_OMITTED_ISLS] =       { "NumOmittedISLs",      288, 32, SA_INPUT },
};
/* clang-format on */

/* PortInfo of a port, NULL: not known. */
static const uint8_t *port_info(struct snap_reader *r, uint64_t guid, uint8_t port)
{
	const uint8_t *info;
	uint16_t len;

	return snap_attr(r, UMAD_SM_ATTR_PORT_INFO, guid, port, &info, &len) == E_OK &&
	                       len >= 64
	               ? info
	               : NULL;
}

/* The rank of the widest width: 1 to 5 for 1x, 2x, 4x, 8x, 12x. */
static unsigned width_rank(uint64_t widths)
{
	static const uint8_t by_width[] = { 8, 4, 2, 16, 1 }; /* 12x, 8x, 4x, 2x, 1x */

	for (unsigned i = 0; i < sizeof(by_width); i++) {
		if (widths & by_width[i]) {
			return 5 - i;
		}
	}
	return 0;
}

/* The rank of the fastest speed; extended speeds are above the others. */
static unsigned speed_rank(uint64_t speed, uint64_t ext)
{
	return ext     ? 8 + 64 - (unsigned)__builtin_clzll(ext)
	       : speed ? 64 - (unsigned)__builtin_clzll(speed)
	               : 0;
}

/* Whether both ends have a wider or faster mode enabled than the active one. */
static bool is_degraded(const uint8_t *a, const uint8_t *b)
{
	if (a == NULL || b == NULL) {
		return false;
	}
	unsigned width = width_rank(field_get(a, PI_LINK_WIDTH_ENABLED) &
	                            field_get(b, PI_LINK_WIDTH_ENABLED));
	unsigned speed = speed_rank(field_get(a, PI_LINK_SPEED_ENABLED) &
	                                    field_get(b, PI_LINK_SPEED_ENABLED),
	                            field_get(a, PI_LINK_SPEED_EXT_ENABLED) &
	                                    field_get(b, PI_LINK_SPEED_EXT_ENABLED));
	return width_rank(field_get(a, PI_LINK_WIDTH_ACTIVE)) < width ||
	       speed_rank(field_get(a, PI_LINK_SPEED_ACTIVE),
	                  field_get(a, PI_LINK_SPEED_EXT_ACTIVE)) < speed;
}

static int count_link(struct snap_reader *r, const struct snap_link *l, uint32_t *n)
{
	struct snap_node a, b;
	struct snap_port port;

	int ret = snap_node(r, l->guid_a, &a);
	ret = ret == E_OK ? snap_node(r, l->guid_b, &b) : ret;
	ret = ret == E_OK ? snap_port(r, l->guid_a, l->port_a, &port) : ret;
	if (ret != E_OK) {
		return ret;
	}
	bool isl = a.type == NODE_SWITCH && b.type == NODE_SWITCH;
	/* a SystemImageGUID of 0 is unknown */
	bool internal =
		a.system_image_guid == b.system_image_guid && a.system_image_guid != 0;
	bool omitted = port.state == PORT_INIT;
	n[isl ? (internal ? FI_INTERNAL_ISLS : FI_EXTERNAL_ISLS)
	      : (internal ? FI_INTERNAL_HFI_LINKS : FI_EXTERNAL_HFI_LINKS)]++;
	if (omitted) {
		n[isl ? FI_OMITTED_ISLS : FI_OMITTED_HFI_LINKS]++;
	} else if (is_degraded(port_info(r, l->guid_a, l->port_a),
	                       port_info(r, l->guid_b, l->port_b))) {
		n[isl ? FI_DEGRADED_ISLS : FI_DEGRADED_HFI_LINKS]++;
	}
	return E_OK;
}

static int fabric_walk(struct snap_reader *r, const struct sa_query *q,
                       struct sa_out *out)
{
	uint8_t record[FABRIC_BYTES] = { 0 };
	uint32_t n[FI_COUNT] = { snap_meta(r)->n_nodes - snap_meta(r)->n_switches,
		                 snap_meta(r)->n_switches };
	struct snap_link l = { .guid_a = 0 };

	int ret = snap_link_from(r, 0, 0, &l);
	while (ret == E_OK) {
		ret = count_link(r, &l, n);
		if (ret == E_OK) {
			ret = snap_link_from(r, l.guid_a, (uint8_t)(l.port_a + 1), &l);
		}
	}
	if (ret != E_NOTFOUND) {
		return ret;
	}
	for (unsigned i = 0; i < FI_COUNT; i++) {
		sa_put(q->attr, record, (int)i, n[i]);
	}
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr opa_fabric_info = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_FABRIC_INFO,
	.name = "FabricInfoRecord",
	.methods = SA_GET,
	.size = FABRIC_BYTES,
	SA_FIELDS(fabric_fields),
	.walk = fabric_walk,
};

/* --- DeviceTreeMemberRecord ------------------------------------------------------- */

enum { TREE_BYTES = 216, MASK_WORDS = 4 };
enum {
	DT_LID,
	DT_NUM_PORTS,
	DT_NODE_TYPE,
	DT_ACTIVE = 4,
	DT_GUID = 6,
	DT_SYSTEM_IMAGE_GUID,
	DT_DESCRIPTION
};

/* clang-format off */
static const struct sa_field tree_fields[] = {
	{ "LID",                0,  32, SA_INPUT },
	{ "NumPorts",          32,   8, SA_EQ },
	{ "NodeType",          40,   8, SA_EQ },
	{ "Reserved",          48,  16, SA_RESERVED },
	{ "PortMaskActive",    64, 256, SA_EQ | SA_LIST8 },
	{ "PortMaskReserved", 320, 512, SA_RESERVED }, /* and link modes, which do not exist */
	{ "GUID",             832,  64, SA_EQ },
	{ "SystemImageGUID",  896,  64, SA_EQ },
	{ "NodeDescription",  960, 512, SA_EQ | SA_TEXT },
};
/* clang-format on */

/* Sets the bits of the ACTIVE ports; port 0 is the lowest bit of the last byte. */
static int put_active(struct snap_reader *r, const struct snap_node *node,
                      uint8_t *record)
{
	const struct sa_field *f = &tree_fields[DT_ACTIVE];
	struct snap_port port;

	for (unsigned i = node->type == NODE_SWITCH ? 0 : 1; i <= node->n_ports; i++) {
		int ret = snap_port(r, node->guid, (uint8_t)i, &port);
		if (ret != E_OK) {
			return ret;
		}
		if (port.state == PORT_ACTIVE) {
			field_set(record, f->bit + f->width - 1 - i, 1, 1);
		}
	}
	return E_OK;
}

static int offer_tree(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, struct sa_out *out)
{
	uint8_t record[TREE_BYTES] = { 0 };
	const struct sa_attr *a = q->attr;
	struct snap_node node;

	int ret = snap_node(r, end->node_guid, &node);
	if (ret == E_OK && node.lid != end->base_lid && !sa_asked(q, DT_LID)) {
		return E_OK; /* one record per node, at its first port */
	}
	ret = ret == E_OK ? put_active(r, &node, record) : ret;
	if (ret != E_OK) {
		return ret;
	}
	sa_put(a, record, DT_LID, end->base_lid);
	sa_put(a, record, DT_NUM_PORTS, node.n_ports);
	sa_put(a, record, DT_NODE_TYPE, node.type);
	sa_put(a, record, DT_GUID, end->port_guid);
	sa_put(a, record, DT_SYSTEM_IMAGE_GUID, node.system_image_guid);
	memcpy(record + a->fields[DT_DESCRIPTION].bit / 8, node.description,
	       strnlen(node.description, a->fields[DT_DESCRIPTION].width / 8));
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr opa_device_tree = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_DEVICE_TREE,
	.name = "DeviceTreeMemberRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = TREE_BYTES,
	SA_FIELDS(tree_fields),
	.offer_end = offer_tree,
};

/* --- QuarantinedNodeRecord -------------------------------------------------------- */

/* clang-format off */
static const struct sa_field quarantined_fields[] = {
	{ "TrustedLID",     OPA_QN_LID,                SA_INPUT },
	{ "TrustedPortNum", OPA_QN_PORT_NUM,           SA_EQ },
	{ "Reserved",       40,  24,                   SA_RESERVED },
	{ "TrustedNodeGUID", OPA_QN_NODE_GUID,         SA_EQ },
	{ "TrustedNeighborNodeGUID", OPA_QN_NEIGHBOR_NODE_GUID, SA_EQ },
	{ "NodeDescription", 8 * OPA_QN_DESCRIPTION_AT, 512, SA_EQ | SA_TEXT },
	{ "NodeType",       SA_AT(QN_NODE_INFO, OPA_NI_NODE_TYPE), SA_EQ },
	{ "NumPorts",       SA_AT(QN_NODE_INFO, OPA_NI_NUM_PORTS), SA_EQ },
	{ "SystemImageGUID", SA_AT(QN_NODE_INFO, OPA_NI_SYSTEM_IMAGE_GUID), SA_EQ },
	{ "NodeGUID",       SA_AT(QN_NODE_INFO, OPA_NI_NODE_GUID), SA_EQ },
	{ "PortGUID",       SA_AT(QN_NODE_INFO, OPA_NI_PORT_GUID), SA_EQ },
	{ "PartitionCap",   SA_AT(QN_NODE_INFO, OPA_NI_PARTITION_CAP), SA_EQ },
	{ "LocalPortNum",   SA_AT(QN_NODE_INFO, OPA_NI_LOCAL_PORT_NUM), SA_EQ },
	{ "QuarantineReasons", OPA_QN_REASONS,         SA_EQ },
	{ "ExpectedNodeGUID", OPA_QN_EXPECTED_NODE_GUID, SA_EQ },
};
/* clang-format on */

static int offer_quarantined(struct snap_reader *r, const struct sa_query *q,
                             const struct snap_attr_row *row, struct sa_out *out)
{
	uint8_t record[OPA_BYTES_QUARANTINED];
	struct snap_node by;
	struct snap_end end;
	int ret = snap_node(r, row->guid, &by);

	if (ret == E_OK) {
		ret = snap_lid(r, by.lid, &end);
	}
	if (ret != E_OK || row->len < sizeof(record) || !sa_sees(r, q, &end)) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	memcpy(record, row->data, sizeof(record));
	field_set(record, OPA_QN_LID, by.lid);
	sa_offer(out, record);
	return E_OK;
}

static int quarantined_walk(struct snap_reader *r, const struct sa_query *q,
                            struct sa_out *out)
{
	struct snap_attr_row row;
	int ret = snap_attr_from(r, SNAP_ATTR_QUARANTINED, 0, 0, &row);

	while (ret == E_OK && !sa_full(out)) {
		ret = offer_quarantined(r, q, &row, out);
		if (ret == E_OK) {
			ret = snap_attr_from(r, SNAP_ATTR_QUARANTINED, row.guid,
			                     row.block + 1, &row);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_quarantined_node = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_QUARANTINED_NODE,
	.name = "QuarantinedNodeRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = OPA_BYTES_QUARANTINED,
	SA_FIELDS(quarantined_fields),
	.walk = quarantined_walk,
};

/* --- DeviceGroupNameRecord, DeviceGroupMemberRecord ------------------------------- */

enum { MEMBER_BYTES = 144, GROUP_SHIFT = 32 /* of a place: group, then LID */ };
enum { DG_LID, DG_PORT, DG_NAME = 3, DG_GUID, DG_DESCRIPTION };

/* clang-format off */
static const struct sa_field group_name_fields[] = {
	{ "DeviceGroupName", 0, 512, SA_EQ | SA_TEXT },
};
static const struct sa_field group_member_fields[] = {
	{ "LID",               0,  32, SA_INPUT },
	{ "Port",             32,   8, SA_EQ },
	{ "Reserved",         40,  24, SA_RESERVED },
	{ "DeviceGroupName",  64, 512, SA_EQ | SA_TEXT },
	{ "GUID",            576,  64, SA_EQ },
	{ "NodeDescription", 640, 512, SA_EQ | SA_TEXT },
};
/* clang-format on */

/* The name of group \a i. NULL: there are not so many. */
static const uint8_t *group_name(struct snap_reader *r, uint32_t i)
{
	const uint8_t *name;
	uint16_t len;

	return snap_attr(r, SNAP_ATTR_DEVICE_GROUPS, 0, i, &name, &len) == E_OK &&
	                       len == SNAP_GROUP_NAME_BYTES
	               ? name
	               : NULL;
}

static int group_name_walk(struct snap_reader *r, const struct sa_query *q,
                           struct sa_out *out)
{
	const uint8_t *name;

	for (uint32_t i = (uint32_t)q->from; !sa_full(out); i++) {
		name = group_name(r, i);
		if (name == NULL) {
			break;
		}
		sa_at(out, i, 0);
		sa_offer(out, name);
	}
	return E_OK;
}

const struct sa_attr opa_group_name = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_GROUP_NAME,
	.name = "DeviceGroupNameRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = SNAP_GROUP_NAME_BYTES,
	SA_FIELDS(group_name_fields),
	.walk = group_name_walk,
};

/* Does a port have a record? An end port does, and a port of a switch with a cable. */
static bool is_listed(struct snap_reader *r, const struct snap_end *end, unsigned num)
{
	struct snap_port port;

	return num == end->port ||
	       (end->type == NODE_SWITCH &&
	        snap_port(r, end->node_guid, (uint8_t)num, &port) == E_OK &&
	        port.peer_guid != 0);
}

static int offer_members(struct snap_reader *r, const struct sa_query *q, uint32_t group,
                         const struct snap_end *end, struct sa_out *out)
{
	const struct sa_field *name = &group_member_fields[DG_NAME],
			      *description = &group_member_fields[DG_DESCRIPTION];
	uint8_t record[MEMBER_BYTES] = { 0 };
	struct snap_attr_row row, next;
	struct snap_node node;
	int ret = snap_node(r, end->node_guid, &node);

	if (ret != E_OK) {
		return ret;
	}
	sa_put(q->attr, record, DG_LID, end->base_lid);
	sa_put(q->attr, record, DG_GUID, end->port_guid);
	memcpy(record + name->bit / 8, group_name(r, group), SNAP_GROUP_NAME_BYTES);
	memcpy(record + description->bit / 8, node.description,
	       strnlen(node.description, description->width / 8));
	ret = snap_attr_from(r, SNAP_ATTR_DEVICE_GROUPS, end->node_guid, 0, &row);
	while (ret == E_OK && row.guid == end->node_guid && !sa_full(out)) {
		bool in = group / 8 < row.len && row.data[group / 8] >> group % 8 & 1;
		unsigned behind = node.n_ports + 1U;

		ret = snap_attr_from(r, SNAP_ATTR_DEVICE_GROUPS, end->node_guid,
		                     row.block + 1, &next);
		if (ret == E_OK && next.guid == end->node_guid) {
			behind = next.block;
		}
		for (unsigned num = row.block; in && num < behind; num++) {
			if (is_listed(r, end, num)) {
				sa_put(q->attr, record, DG_PORT, num);
				sa_offer(out, record);
			}
		}
		row = next;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* The members of one group, from a LID on. */
static int group_walk(struct snap_reader *r, const struct sa_query *q, uint32_t group,
                      uint32_t lid, struct sa_out *out)
{
	struct snap_end end;
	int ret = E_OK;

	while (ret == E_OK && !sa_full(out)) {
		if (sa_asked(q, DG_LID)) {
			ret = snap_lid(r, (uint32_t)sa_component(q, DG_LID), &end);
		} else {
			ret = sa_end_from(r, &lid, &end);
		}
		if (ret == E_OK && sa_sees(r, q, &end) && !end.is_vport) {
			sa_at(out, (uint64_t)group << GROUP_SHIFT | end.base_lid, 0);
			ret = offer_members(r, q, group, &end, out);
		}
		if (sa_asked(q, DG_LID)) {
			break;
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int group_member_walk(struct snap_reader *r, const struct sa_query *q,
                             struct sa_out *out)
{
	const uint8_t *wanted = q->record + group_member_fields[DG_NAME].bit / 8, *name;
	uint32_t first = (uint32_t)(q->from >> GROUP_SHIFT), lid = (uint32_t)q->from;
	int ret = E_OK;

	for (uint32_t i = first; ret == E_OK && !sa_full(out); i++, lid = 0) {
		name = group_name(r, i);
		if (name == NULL) {
			break;
		}
		if (!sa_asked(q, DG_NAME) ||
		    strncmp((const char *)wanted, (const char *)name,
		            SNAP_GROUP_NAME_BYTES) == 0) {
			ret = group_walk(r, q, i, lid, out);
		}
	}
	return ret;
}

const struct sa_attr opa_group_member = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_GROUP_MEMBER,
	.name = "DeviceGroupMemberRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = MEMBER_BYTES,
	SA_FIELDS(group_member_fields),
	.walk = group_member_walk,
};
