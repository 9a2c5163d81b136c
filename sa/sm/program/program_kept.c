/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Which components of PortInfo an audit compares: those that a sweep sets (program.c), and that
 * nobody else has to change. Widths and speeds that are enabled are not among them, because an
 * operator may change them with other tools. A port whose link went down since is left to the light
 * sweep.
 */
#include <infiniband/umad_sm.h>

#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/program/program.h"

struct component {
	const char *name;
	unsigned at, bits;
};

/* Of a port that has a LID; the LIDs are compared by themselves. */
static const struct component of_end_ports[] = {
	{ "M_Key", PI_M_KEY },
	{ "M_KeyProtectBits", PI_M_KEY_PROTECT_BITS },
	{ "M_KeyLeasePeriod", PI_M_KEY_LEASE_PERIOD },
	{ "GidPrefix", PI_GID_PREFIX },
	{ "LMC", PI_LMC },
	{ "MasterSMSL", PI_MASTER_SM_SL },
	{ "SubnetTimeOut", PI_SUBNET_TIMEOUT },
	{ NULL, 0, 0 }
};

/* Of a port with a cable. */
static const struct component of_links[] = { { "NeighborMTU", PI_NEIGHBOR_MTU },
	                                     { "OperationalVLs", PI_OPERATIONAL_VLS },
	                                     { "LinkDownDefaultState",
	                                       PI_LINK_DOWN_DEFAULT_STATE },
	                                     { "LocalPhyErrors", PI_LOCAL_PHY_ERRORS },
	                                     { "OverrunErrors", PI_OVERRUN_ERRORS },
	                                     { NULL, 0, 0 } };

/* Of a port of a switch with a cable. */
static const struct component of_switches[] = { { "VLStallCount", PI_VL_STALL_COUNT },
	                                        { "HOQLife", PI_HOQ_LIFE },
	                                        { NULL, 0, 0 } };

static const struct component of_qos[] = { { "VLHighLimit", PI_VL_HIGH_LIMIT },
	                                   { NULL, 0, 0 } };

static const struct component of_enforcement[] = {
	{ "PartitionEnforcementInbound", PI_PARTITION_ENFORCEMENT_INBOUND },
	{ "PartitionEnforcementOutbound", PI_PARTITION_ENFORCEMENT_OUTBOUND },
	{ NULL, 0, 0 }
};

bool program_port_is_set(const struct disc_node *n, unsigned port)
{
	const struct disc_port *p = &n->ports[port];
	const struct graph *g = n->disc->g;
	uint32_t at = graph_port(g, n->graph_node, port);

	return at != GRAPH_NONE && p->has_info && p->dest != NULL && !p->foreign &&
	       ((port == 0 && n->type == NODE_SWITCH) || at == g->sm_port ||
	        g->ports[at].peer != GRAPH_NONE);
}

static const char *first_that_differs(const struct component *c, const uint8_t *was,
                                      const uint8_t *now)
{
	while (c->name != NULL &&
	       field_get(was, c->at, c->bits) == field_get(now, c->at, c->bits)) {
		c++;
	}
	return c->name;
}

/* LIDs may have more bits than InfiniBand's form of a PortInfo. */
static const char *lid_that_differs(const struct disc_port *was, const uint8_t *now,
                                    const uint8_t *native)
{
	return opa_lid_of_port(now, native) != disc_lid(was)    ? "LID"
	       : opa_lid_of_sm(now, native) != disc_sm_lid(was) ? "MasterSMLID"
	                                                        : NULL;
}

const char *program_port_differs(const struct program *p, const struct disc_node *n,
                                 unsigned port, const uint8_t *now, const uint8_t *native)
{
	const uint8_t *was = n->ports[port].info;
	uint32_t at = graph_port(n->disc->g, n->graph_node, port);
	bool on_switch = n->type == NODE_SWITCH;
	const struct component *compared[] = {
		!on_switch || port == 0 ? of_end_ports : NULL,
		port != 0 ? of_links : NULL,
		on_switch && port != 0 ? of_switches : NULL,
		port != 0 && p->qos ? of_qos : NULL,
		on_switch && p->enforce[at] != ENFORCE_AS_IT_IS ? of_enforcement : NULL,
	};
	const char *name = NULL;

	if (field_get(now, PI_PORT_STATE) < field_get(was, PI_PORT_STATE)) {
		return NULL;
	}
	if (!on_switch || port == 0) {
		name = lid_that_differs(&n->ports[port], now, native);
	}
	for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]) && name == NULL;
	     i++) {
		if (compared[i] != NULL) {
			name = first_that_differs(compared[i], was, now);
		}
	}
	return name;
}
