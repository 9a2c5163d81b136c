/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_types.h>
#include <string.h>

/*
 * PortInfo of simulated ports (IBA vol. 1, 14.2.5.6): what a port supports, and which values a
 * Set may have. A Set is checked as a whole before anything is stored.
 *
 * PortState: 0 means no change; DOWN takes the link down, and it trains again; ARMED is
 * allowed only from INIT, ACTIVE only from ARMED. Port 0 of a switch has no link: it is ACTIVE,
 * and its state, width and speed fields are ignored.
 */

/* fields that a Set copies unchanged: of end ports, and of ports with a link */
struct span {
	uint16_t bit, width;
};

/* clang-format off */
static const struct span end_port_fields[] = {
	{ PI_M_KEY }, { PI_GID_PREFIX }, { PI_LID }, { PI_MASTER_SM_LID },
	{ PI_M_KEY_LEASE_PERIOD }, { PI_M_KEY_PROTECT_BITS }, { PI_LMC }, { PI_MASTER_SM_SL },
	{ PI_INIT_TYPE }, { PI_M_KEY_VIOLATIONS }, { PI_P_KEY_VIOLATIONS },
	{ PI_Q_KEY_VIOLATIONS }, { PI_MCAST_PKEY_TRAP_SUPPRESSION }, { PI_SUBNET_TIMEOUT },
};

static const struct span link_fields[] = {
	{ PI_NEIGHBOR_MTU }, { PI_VL_HIGH_LIMIT }, { PI_VL_STALL_COUNT }, { PI_HOQ_LIFE },
	{ PI_PARTITION_ENFORCEMENT_INBOUND }, { PI_PARTITION_ENFORCEMENT_OUTBOUND },
	{ PI_FILTER_RAW_INBOUND }, { PI_FILTER_RAW_OUTBOUND }, { PI_LOCAL_PHY_ERRORS },
	{ PI_OVERRUN_ERRORS },
};

/* fields where 0 means no change, and perhaps one value means "as supported" */
static const struct choice {
	struct span enabled, supported;
	uint8_t all; /* 0: there is no such value */
} choices[] = {
	{ { PI_LINK_WIDTH_ENABLED },       { PI_LINK_WIDTH_SUPPORTED },       255 },
	{ { PI_LINK_SPEED_ENABLED },       { PI_LINK_SPEED_SUPPORTED },        15 },
	{ { PI_LINK_SPEED_EXT_ENABLED },   { PI_LINK_SPEED_EXT_SUPPORTED },    31 },
	{ { PI_LINK_SPEED_EXT_ENABLED_2 }, { PI_LINK_SPEED_EXT_SUPPORTED_2 },   7 },
};

/* Supported speeds by enum link_speed: LinkSpeedSupported, ...ExtSupported, ...ExtSupported2. */
static const uint8_t speeds[SPEED_COUNT][3] = {
	[SPEED_SDR]   = { 1,  0, 0 },
	[SPEED_DDR]   = { 3,  0, 0 },
	[SPEED_QDR]   = { 7,  0, 0 },
	[SPEED_FDR10] = { 7,  0, 0 },
	[SPEED_FDR]   = { 7,  1, 0 },
	[SPEED_EDR]   = { 7,  3, 0 },
	[SPEED_HDR]   = { 7,  7, 0 },
	[SPEED_NDR]   = { 7, 15, 0 },
	[SPEED_XDR]   = { 7, 15, 1 },
};
/* clang-format on */

enum { EXT_SPEEDS_OFF = 30, N_CHOICES = sizeof(choices) / sizeof(choices[0]) };

#define GET(info, span) field_get((info), (span).bit, (span).width)
#define PUT(info, span, v) field_set((info), (span).bit, (span).width, (v))

/* The fastest speed of a node, because the capability bits of its end port cover all ports. */
static uint8_t fastest(const struct sim *s, const struct node *n, const struct port *p)
{
	uint8_t best = p->speed;
	for (unsigned num = 1; n->type == NODE_SWITCH && num <= n->n_ports; num++) {
		uint8_t speed = s->g->ports[n->first_port + num].speed;
		best = speed > best ? speed : best;
	}
	return best;
}

static void set_capabilities(const struct sim *s, const struct node *n,
                             const struct port *p, uint8_t *info)
{
	uint8_t speed = fastest(s, n, p);
	uint32_t mask2 =
		(p->width == WIDTH_2X ? CAP2_LINK_WIDTH_2X : 0) |
		(speed >= SPEED_HDR ? CAP2_LINK_SPEED_HDR : 0) |
		(speed >= SPEED_NDR ? CAP2_LINK_SPEED_NDR : 0) |
		(speed >= SPEED_XDR ? CAP2_EXTENDED_SPEEDS2 | CAP2_LINK_SPEED_XDR : 0) |
		(s->ports[p - s->g->ports].virtual_ports != NULL ? CAP2_VIRTUALIZATION
	                                                         : 0);
	uint32_t mask = CAP_TRAP | CAP_SL_MAPPING | CAP_SYSTEM_IMAGE_GUID |
	                CAP_CAPABILITY_MASK_NOTICE | CAP_CLIENT_REREGISTRATION |
	                CAP_OTHER_LOCAL_CHANGES_NOTICE |
	                (n->type != NODE_SWITCH ? CAP_COMMUNICATION_MANAGEMENT : 0) |
	                (speed >= SPEED_FDR ? CAP_EXTENDED_SPEEDS : 0) |
	                (mask2 != 0 ? CAP_CAPABILITY_MASK2 : 0);
	field_set(info, PI_CAPABILITY_MASK, mask);
	field_set(info, PI_CAPABILITY_MASK2, mask2);
}

void sim_port_reset(struct sim *s, uint32_t port)
{
	const struct port *p = &s->g->ports[port];
	const struct node *n = &s->g->nodes[p->node];
	struct sim_port *me = &s->ports[port];
	bool port0 = n->type == NODE_SWITCH && p->num == 0;
	bool end_port = n->type != NODE_SWITCH || port0;

	memset(me->info, 0, sizeof(me->info));
	me->perf = (struct sim_perf){ .rate = me->perf.rate,
		                      .sent_us = sim_now_us(s),
		                      .received_us = sim_now_us(s) };
	me->disabled = false;
	field_set(me->info, PI_LOCAL_PORT_NUM, p->num);
	field_set(me->info, PI_MTU_CAP, p->mtu);
	field_set(me->info, PI_NEIGHBOR_MTU, p->mtu < 4 || port0 ? p->mtu : 4);
	field_set(me->info, PI_VL_CAP, p->vls);
	field_set(me->info, PI_OPERATIONAL_VLS, p->vls);
	field_set(me->info, PI_RESP_TIME_VALUE, 16);
	sim_vport_reset(s, port);
	sim_congestion_reset(s, port);
	if (end_port) {
		field_set(me->info, PI_GUID_CAP, sim_guid_cap(s));
		set_capabilities(s, n, p, me->info);
	}
	if (port0) {
		field_set(me->info, PI_PORT_STATE, PORT_ACTIVE);
		field_set(me->info, PI_PORT_PHYSICAL_STATE, PHYS_LINK_UP);
		field_set(me->info, PI_LINK_WIDTH_SUPPORTED, WIDTH_1X | WIDTH_4X);
		field_set(me->info, PI_LINK_WIDTH_ENABLED, WIDTH_1X | WIDTH_4X);
		field_set(me->info, PI_LINK_WIDTH_ACTIVE, WIDTH_4X);
		field_set(me->info, PI_LINK_SPEED_SUPPORTED, 1);
		field_set(me->info, PI_LINK_SPEED_ENABLED, 1);
		field_set(me->info, PI_LINK_SPEED_ACTIVE, 1);
		return;
	}
	const uint8_t *speed = speeds[p->speed < SPEED_COUNT ? p->speed : SPEED_SDR];
	/* a port also supports the narrower widths */
	uint8_t widths = p->width == WIDTH_1X   ? WIDTH_1X
	                 : p->width == WIDTH_2X ? WIDTH_1X | WIDTH_2X
	                 : p->width == WIDTH_8X || p->width == WIDTH_12X
	                         ? WIDTH_1X | WIDTH_4X | p->width
	                         : WIDTH_1X | WIDTH_4X;
	const uint8_t supported[N_CHOICES] = { widths, speed[0], speed[1], speed[2] };
	for (unsigned i = 0; i < N_CHOICES; i++) {
		PUT(me->info, choices[i].supported, supported[i]);
		PUT(me->info, choices[i].enabled, supported[i]);
	}
	field_set(me->info, PI_LINK_DOWN_DEFAULT_STATE, PHYS_POLLING);
	field_set(me->info, PI_VL_ARB_HIGH_CAP, 8);
	field_set(me->info, PI_VL_ARB_LOW_CAP, 8);
	field_set(me->info, PI_PORT_STATE, PORT_DOWN);
	field_set(me->info, PI_PORT_PHYSICAL_STATE, PHYS_POLLING);
}

static bool unicast(uint64_t lid)
{
	return lid > 0 && lid < LID_UNICAST_END;
}

static bool check_end_port(const struct sim *s, const struct port *p, const uint8_t *in)
{
	const struct node *n = &s->g->nodes[p->node];
	if (!unicast(field_get(in, PI_LID)) ||
	    !unicast(field_get(in, PI_MASTER_SM_LID))) {
		return false;
	}
	/* a base switch port 0 has one LID */
	return field_get(in, PI_LMC) == 0 || n->type != NODE_SWITCH || n->esp0;
}

static bool check_link(const uint8_t *info, const uint8_t *in)
{
	uint64_t mtu = field_get(in, PI_NEIGHBOR_MTU);
	uint64_t vls = field_get(in, PI_OPERATIONAL_VLS);
	uint64_t state = field_get(info, PI_PORT_STATE),
		 wanted = field_get(in, PI_PORT_STATE);

	for (unsigned i = 0; i < N_CHOICES; i++) {
		const struct choice *c = &choices[i];
		uint64_t v = GET(in, c->enabled);
		bool ext_off = c->all == 31 && v == EXT_SPEEDS_OFF;
		if (v != 0 && v != c->all && !ext_off && v & ~GET(info, c->supported)) {
			return false;
		}
	}
	return mtu >= 1 && mtu <= field_get(info, PI_MTU_CAP) &&
	       vls <= field_get(info, PI_VL_CAP) &&
	       field_get(in, PI_LINK_DOWN_DEFAULT_STATE) <= PHYS_POLLING &&
	       field_get(in, PI_PORT_PHYSICAL_STATE) <= PHYS_DISABLED &&
	       (wanted == 0 || wanted == PORT_DOWN ||
	        (wanted == PORT_ARMED && state == PORT_INIT) ||
	        (wanted == PORT_ACTIVE && state == PORT_ARMED));
}

static void copy(uint8_t *info, const uint8_t *in, const struct span *spans, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		PUT(info, spans[i], GET(in, spans[i]));
	}
}

static void set_unless_0(uint8_t *info, unsigned bit, unsigned width, uint64_t v)
{
	if (v != 0) {
		field_set(info, bit, width, v);
	}
}

static void set_link_fields(uint8_t *info, const uint8_t *in)
{
	copy(info, in, link_fields, sizeof(link_fields) / sizeof(link_fields[0]));
	set_unless_0(info, PI_OPERATIONAL_VLS, field_get(in, PI_OPERATIONAL_VLS));
	set_unless_0(info, PI_LINK_DOWN_DEFAULT_STATE,
	             field_get(in, PI_LINK_DOWN_DEFAULT_STATE));
	for (unsigned i = 0; i < N_CHOICES; i++) {
		const struct choice *c = &choices[i];
		uint64_t v = GET(in, c->enabled);
		uint64_t supported = GET(info, c->supported);
		if (v == c->all) {
			v = supported;
		} else if (c->all == 31 && v == EXT_SPEEDS_OFF) {
			PUT(info, c->enabled, 0);
			continue;
		}
		set_unless_0(info, c->enabled.bit, c->enabled.width, v);
	}
}

static void set_states(struct sim *s, uint32_t port, uint64_t phys, uint64_t state)
{
	struct sim_port *me = &s->ports[port];
	bool disable = phys == PHYS_DISABLED || phys == PHYS_SLEEP;

	if (phys != 0 && disable != me->disabled) {
		me->disabled = disable;
		sim_link_update(s, port);
		return;
	}
	if (state == PORT_DOWN || phys == PHYS_POLLING) {
		sim_link_bounce(s, port);
	} else if (state != 0) {
		sim_port_state(s, port, (unsigned)state);
	}
}

uint16_t sim_port_set(struct sim *s, uint32_t port, const uint8_t *in)
{
	const struct port *p = &s->g->ports[port];
	uint8_t *info = s->ports[port].info;
	bool on_switch = s->g->nodes[p->node].type == NODE_SWITCH;
	bool end_port = !on_switch || p->num == 0;
	bool has_link = p->num != 0;

	if ((end_port && !check_end_port(s, p, in)) ||
	    (has_link && !check_link(info, in))) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	if (end_port) {
		copy(info, in, end_port_fields,
		     sizeof(end_port_fields) / sizeof(end_port_fields[0]));
	}
	if (has_link) {
		set_link_fields(info, in);
		set_states(s, port, field_get(in, PI_PORT_PHYSICAL_STATE),
		           field_get(in, PI_PORT_STATE));
	}
	return UMAD_STATUS_SUCCESS;
}
