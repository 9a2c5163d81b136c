/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A snapshot as opareport of Omni-Path's FastFabric reads it (-X): nodes with their ports and
 * forwarding tables, the subnet manager, cables. opareport refuses a snapshot without elements
 * that this fabric has nothing to say about; they are 0.
 *
 * Omni-Path has lanes of 12.5 and 25 Gb/s, and links of one to four of them. A faster or wider
 * link of InfiniBand is written as the fastest and widest that there is. There are no tables
 * from SL to lane, so opareport takes all routes for those of one lane.
 *
 * Source: the names of elements in opa-ff (Topology/snapshot.c); messages of opareport 10.10.3
 * about what it misses in a snapshot.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/err.h"
#include "gateway/export/export_int.h"
#include "gateway/view/body.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/graph/tables.h"

enum {
	VLS = 32,    /* of Omni-Path, 0-31 */
	LANES_1 = 1, /* link widths of Omni-Path */
	LANES_2 = 2,
	LANES_4 = 8,
	LANE_12_5 = 1, /* link speeds */
	LANE_25 = 2,
	PHYSICAL_UP = 5, /* LinkUp */
	SM_MASTER = 3,
	LINEAR = 1,        /* routing mode */
	VENDOR_BASE = 0x80 /* BaseVersion and ClassVersion of Omni-Path */
};

/* Head, nodes, what stands between nodes and cables, cables by node, end. */
uint32_t export_opareport_parts(const struct export_fabric *x)
{
	return 2 * x->g->n_nodes + 3;
}

static uint32_t width_of(const struct port *p)
{
	return p->width == WIDTH_1X ? LANES_1 : p->width == WIDTH_2X ? LANES_2 : LANES_4;
}

static uint32_t speed_of(const struct port *p)
{
	return p->speed < SPEED_EDR ? LANE_12_5 : LANE_25;
}

/* The text of an element. What is no printable ASCII becomes '?'. */
static void put_text(struct body *out, const char *s)
{
	for (; *s != '\0'; s++) {
		char ch = *s >= ' ' && *s < 0x7f ? *s : '?';

		if (ch == '&' || ch == '<' || ch == '>') {
			body_printf(out, "&#%d;", ch);
		} else {
			body_write(out, &ch, 1);
		}
	}
}

static void number(struct body *out, const char *name, uint64_t value)
{
	body_printf(out, "<%s>%" PRIu64 "</%s>\n", name, value, name);
}

static void hex(struct body *out, const char *name, unsigned digits, uint64_t value)
{
	body_printf(out, "<%s>0x%0*" PRIx64 "</%s>\n", name, (int)digits, value, name);
}

/* --- nodes ----------------------------------------------------------------------------- */

/* Elements that have to be there, after those that say something. */
static void put_zeros(struct body *out)
{
	static const char *const names[] = {
		"SMSL",
		"VLArbHighLimit",
		"VLArbHighCap",
		"VLArbLowCap",
		"P_KeyEnforcementInbound_Int",
		"P_KeyEnforcementOutbound_Int",
		"ViolationsM_Key",
		"ViolationsP_Key",
		"ViolationsQ_Key",
		"OverallBufferSpace",
		"ReplayDepthBuffer",
		"ReplayDepthWire",
		"RespTimeout_Int",
		"InitReason_Int",
		"Protect_Int",
		"Lease",
		"PortLinkMode_Int",
		"SubnetTimeout_Int",
	};
	static const char *const hexes[] = { "M_Key", "CapabilityMask3", "DiagCode",
		                             "PortType_Int",
		                             "VLFlowControlDisabledMask" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		number(out, names[i], 0);
	}
	for (size_t i = 0; i < sizeof(hexes) / sizeof(hexes[0]); i++) {
		hex(out, hexes[i], 1, 0);
	}
	body_printf(
		out,
		"<VLStalls>\n<VLStallCount VL=\"00\">0</VLStallCount>\n</VLStalls>\n<HoQLifes>\n<HoQLife_Int VL=\"00\">0</HoQLife_Int>\n</HoQLifes>\n");
}

static void put_rate(struct body *out, const struct port *p)
{
	static const char *const widths[] = { "LinkWidthEnabled_Int",
		                              "LinkWidthSupported_Int",
		                              "LinkWidthActive_Int",
		                              "LinkWidthDowngradeEnabled_Int",
		                              "LinkWidthDowngradeSupported_Int",
		                              "LinkWidthDowngradeTxActive_Int",
		                              "LinkWidthDowngradeRxActive_Int" };
	static const char *const speeds[] = { "LinkSpeedEnabled_Int",
		                              "LinkSpeedSupported_Int",
		                              "LinkSpeedActive_Int" };

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		number(out, widths[i], width_of(p));
	}
	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		number(out, speeds[i], speed_of(p));
	}
}

static void put_port(const struct export_fabric *x, const struct node *n, unsigned num,
                     struct body *out)
{
	const struct graph *g = x->g;
	uint32_t index = n->first_port + num;
	uint32_t end = n->type == NODE_SWITCH ? n->first_port : index;
	const struct port *p = &g->ports[index];
	const struct lid_range lids = x->lids->of[end];
	bool owner = end == index;
	unsigned mtu = 128U << (p->mtu >= 1 && p->mtu <= 5 ? p->mtu : 4);
	unsigned vls = p->vls >= 1 && p->vls <= 4 ? 1U << (p->vls - 1) : 15;

	body_printf(out, "<PortInfo id=\"0x%016" PRIx64 ":%u\">\n", n->guid, num);
	number(out, "PortNum", num);
	hex(out, "GUID", 16, owner ? p->guid : 0);
	hex(out, "EndPortLID", 8, lids.base);
	hex(out, "SubnetPrefix", 16, UINT64_C(0xfe80000000000000));
	hex(out, "LID", 8, owner ? lids.base : 0);
	hex(out, "SMLID", 8, g->sm_port != GRAPH_NONE ? x->lids->of[g->sm_port].base : 0);
	hex(out, "CapabilityMask", 8, p->capability_mask);
	number(out, "LMC", owner ? lids.lmc : 0);
	number(out, "PortState_Int", p->state != 0 ? p->state : PORT_ACTIVE);
	number(out, "PhysState_Int", PHYSICAL_UP);
	put_rate(out, p);
	body_printf(out, "<MTUs>\n");
	for (unsigned vl = 0; vl < vls && vl < VLS; vl++) {
		body_printf(out, "<MTUActive VL=\"%02u\">%04u</MTUActive>\n", vl, mtu);
	}
	body_printf(out, "</MTUs>\n");
	number(out, "MTUSupported", mtu);
	number(out, "VLsActive_Int", vls);
	number(out, "VLsSupported_Int", vls);
	put_zeros(out);
	body_printf(out, "</PortInfo>\n");
}

static void put_switch(const struct export_fabric *x, const struct node *n,
                       struct body *out)
{
	static const char *const names[] = {
		"MulticastFDBCap", "MulticastFDBTop",         "LifeTimeValue_Int",
		"PortStateChange", "PartitionEnforcementCap", "PortGroupCap",
		"PortGroupTop"
	};
	static const char *const hexes[] = { "U2", "CapabilityMask" };

	body_printf(out, "<SwitchInfo>\n");
	hex(out, "LID", 8, x->lids->of[n->first_port].base);
	number(out, "LinearFDBCap", (uint64_t)LID_LIMIT_DEFAULT + 1);
	number(out, "LinearFDBTop", x->lids->top);
	number(out, "RoutingModeSupported", LINEAR);
	number(out, "RoutingModeEnabled", LINEAR);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		number(out, names[i], 0);
	}
	for (size_t i = 0; i < sizeof(hexes) / sizeof(hexes[0]); i++) {
		hex(out, hexes[i], 1, 0);
	}
	body_printf(out, "</SwitchInfo>\n");
}

static int put_tables(const struct export_fabric *x, const struct node *n,
                      struct body *out)
{
	uint8_t *row = malloc((size_t)x->lids->top + 1);
	int ret = row != NULL ? x->row(x->arg, n->sw, row) : -ENOMEM;

	if (ret == E_OK) {
		body_printf(out, "<SwitchData>\n");
		number(out, "LinearFDBSize", (uint64_t)x->lids->top + 1);
		number(out, "MulticastFDBSize", 0);
		number(out, "MulticastFDBEntrySize", 0);
		number(out, "PortGroupSize", 0);
		body_printf(out, "<LinearFDB>\n");
		for (uint32_t lid = 1; lid <= x->lids->top; lid++) {
			if (row[lid] != LFT_NO_ROUTE) {
				body_printf(out, "<Value LID=\"0x%08x\">%u</Value>\n",
				            lid, row[lid]);
			}
		}
		body_printf(
			out,
			"</LinearFDB>\n<PortGroupFDB></PortGroupFDB>\n</SwitchData>\n");
	}
	free(row);
	return ret;
}

static int put_node(const struct export_fabric *x, const struct node *n, struct body *out)
{
	const struct graph *g = x->g;
	int ret = E_OK;

	body_printf(out, "<Node id=\"0x%016" PRIx64 "\">\n<NodeDesc>", n->guid);
	put_text(out, node_name(n));
	body_printf(out, "</NodeDesc>\n");
	hex(out, "NodeGUID", 16, n->guid);
	number(out, "NodeType_Int", n->type);
	number(out, "BaseVersion", VENDOR_BASE);
	number(out, "ClassVersion", VENDOR_BASE);
	number(out, "NumPorts", n->n_ports);
	hex(out, "SystemImageGUID", 16,
	    n->system_image_guid != 0 ? n->system_image_guid : n->guid);
	number(out, "PartitionCap", n->partition_cap);
	hex(out, "DeviceID", 4, n->device_id);
	hex(out, "Revision", 8, n->revision);
	hex(out, "VendorID", 6, n->vendor_id);
	for (unsigned num = n->type == NODE_SWITCH ? 0 : 1; num <= n->n_ports; num++) {
		if (num == 0 || g->ports[n->first_port + num].peer != GRAPH_NONE) {
			put_port(x, n, num, out);
		}
	}
	if (n->type == NODE_SWITCH) {
		put_switch(x, n, out);
		ret = put_tables(x, n, out);
	}
	body_printf(out, "</Node>\n");
	return ret;
}

/* --- the rest -------------------------------------------------------------------------- */

static void put_head(const struct export_fabric *x, struct body *out)
{
	char date[32] = "";
	time_t t = (time_t)x->time;
	struct tm tm;

	if (gmtime_r(&t, &tm) != NULL) {
		strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	}
	body_printf(
		out,
		"<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n<Snapshot date=\"%s\" unixtime=\"%" PRId64
		"\" stats=\"0\" routes=\"1\" qosdata=\"0\" bfrctrl=\"0\" downports=\"0\" options=\"\">\n<Nodes>\n",
		date, x->time);
}

static void put_sm(const struct export_fabric *x, struct body *out)
{
	const struct graph *g = x->g;

	body_printf(out, "</Nodes>\n<SMs>\n");
	if (g->sm_port != GRAPH_NONE && x->lids->of[g->sm_port].base != 0) {
		const struct port *p = &g->ports[g->sm_port];

		body_printf(out, "<SM id=\"0x%016" PRIx64 ":%u\">\n",
		            g->nodes[p->node].guid, p->num);
		hex(out, "LID", 8, x->lids->of[g->sm_port].base);
		hex(out, "PortGUID", 16, p->guid);
		number(out, "State_Int", SM_MASTER);
		number(out, "Priority", 0);
		hex(out, "SM_Key", 16, 0);
		hex(out, "ActCount", 1, 0);
		body_printf(out, "</SM>\n");
	}
	body_printf(out, "</SMs>\n<Links>\n");
}

static void put_end(const char *name, const struct graph *g, uint32_t port,
                    struct body *out)
{
	const struct port *p = &g->ports[port];

	body_printf(out, "<%s>\n", name);
	hex(out, "NodeGUID", 16, g->nodes[p->node].guid);
	number(out, "PortNum", p->num);
	body_printf(out, "</%s>\n", name);
}

/* Cables whose other end comes later, so that each is written once. */
static void put_cables(const struct graph *g, const struct node *n, struct body *out)
{
	for (unsigned num = 1; num <= n->n_ports; num++) {
		uint32_t p = n->first_port + num, q = g->ports[p].peer;

		if (q == GRAPH_NONE || q < p) {
			continue;
		}
		body_printf(out, "<Link id=\"0x%016" PRIx64 ":%u\">\n", n->guid, num);
		put_end("From", g, p, out);
		put_end("To", g, q, out);
		body_printf(out, "</Link>\n");
	}
}

int export_opareport(const struct export_fabric *x, uint32_t part, struct body *out)
{
	const struct graph *g = x->g;
	int ret = E_OK;

	if (part == 0) {
		put_head(x, out);
	} else if (part <= g->n_nodes) {
		ret = put_node(x, &g->nodes[part - 1], out);
	} else if (part == g->n_nodes + 1) {
		put_sm(x, out);
	} else if (part < 2 * g->n_nodes + 2) {
		put_cables(g, &g->nodes[part - g->n_nodes - 2], out);
	} else {
		body_printf(out, "</Links>\n<McMembers>\n</McMembers>\n</Snapshot>\n");
	}
	return ret != E_OK ? ret : body_done(out);
}
