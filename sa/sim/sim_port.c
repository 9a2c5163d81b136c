/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_types.h>
#include <string.h>

/*
 * PortInfo of simulated ports (IBA vol. 1, 14.2.5.6): what a port is able to, and which
 * values a Set may bring. A Set is checked as a whole before anything is stored.
 *
 * PortState: 0 keeps; DOWN takes the link down, and it trains anew at once; ARMED only
 * from INIT, ACTIVE only from ARMED. Port 0 of a switch has no link: it is ACTIVE and its
 * state, width and speed fields are not looked at.
 */

/* Fields that a Set copies as they are: of end ports, and of ports with a link. */
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

/* Fields with a value that keeps (0) and perhaps one that means "what is supported". */
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

static uint8_t widths_supported(uint8_t width)
{
	switch (width) {
	case WIDTH_1X: return WIDTH_1X;
	case WIDTH_2X: return WIDTH_1X | WIDTH_2X;
	case WIDTH_8X: return WIDTH_1X | WIDTH_4X | WIDTH_8X;
	case WIDTH_12X: return WIDTH_1X | WIDTH_4X | WIDTH_12X;
	default: return WIDTH_1X | WIDTH_4X;
	}
}

/* Fastest speed of a node: the capability bits are those of the node's end port. */
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
		(speed >= SPEED_XDR ? CAP2_EXTENDED_SPEEDS2 | CAP2_LINK_SPEED_XDR : 0);
	uint32_t mask = CAP_TRAP | CAP_SL_MAPPING | CAP_SYSTEM_IMAGE_GUID |
	                CAP_CAPABILITY_MASK_NOTICE | CAP_CLIENT_REREGISTRATION |
	                CAP_OTHER_LOCAL_CHANGES_NOTICE |
	                (n->type != NODE_SWITCH ? CAP_COMMUNICATION_MANAGEMENT : 0) |
	                (speed >= SPEED_FDR ? CAP_EXTENDED_SPEEDS : 0) |
	                (mask2 != 0 ? CAP_CAPABILITY_MASK2 : 0);
	field_set(info, PI_CAPABILITY_MASK, mask);
	field_set(info, PI_CAPABILITY_MASK2, mask2);
}

static void set_link_abilities(const struct port *p, uint8_t *info)
{
	const uint8_t *speed = speeds[p->speed < SPEED_COUNT ? p->speed : SPEED_SDR];
	const uint8_t supported[N_CHOICES] = { widths_supported(p->width), speed[0],
		                               speed[1], speed[2] };
	for (unsigned i = 0; i < N_CHOICES; i++) {
		PUT(info, choices[i].supported, supported[i]);
		PUT(info, choices[i].enabled, supported[i]);
	}
	field_set(info, PI_LINK_DOWN_DEFAULT_STATE, PHYS_POLLING);
	field_set(info, PI_VL_ARB_HIGH_CAP, 8);
	field_set(info, PI_VL_ARB_LOW_CAP, 8);
}

void sim_port_reset(struct sim *s, uint32_t port)
{
	const struct port *p = &s->g->ports[port];
	const struct node *n = &s->g->nodes[p->node];
	struct sim_port *me = &s->ports[port];
	bool port0 = n->type == NODE_SWITCH && p->num == 0;
	bool end_port = n->type != NODE_SWITCH || port0;

	memset(me->info, 0, sizeof(me->info));
	me->perf = (struct sim_perf){ 0 };
	me->disabled = false;
	field_set(me->info, PI_LOCAL_PORT_NUM, p->num);
	field_set(me->info, PI_MTU_CAP, p->mtu);
	field_set(me->info, PI_NEIGHBOR_MTU, p->mtu < 4 || port0 ? p->mtu : 4);
	field_set(me->info, PI_VL_CAP, p->vls);
	field_set(me->info, PI_OPERATIONAL_VLS, p->vls);
	field_set(me->info, PI_RESP_TIME_VALUE, 16);
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
	set_link_abilities(p, me->info);
	field_set(me->info, PI_PORT_STATE, PORT_DOWN);
	field_set(me->info, PI_PORT_PHYSICAL_STATE, PHYS_POLLING);
}

static bool unicast(uint64_t lid)
{
	return lid > 0 && lid < LID_UNICAST_END;
}

static bool end_port_ok(const struct sim *s, const struct port *p, const uint8_t *in)
{
	const struct node *n = &s->g->nodes[p->node];
	if (!unicast(field_get(in, PI_LID)) ||
	    !unicast(field_get(in, PI_MASTER_SM_LID))) {
		return false;
	}
	/* A base switch port 0 has one LID. */
	return field_get(in, PI_LMC) == 0 || n->type != NODE_SWITCH || n->esp0;
}

static bool choice_ok(const struct choice *c, const uint8_t *info, const uint8_t *in)
{
	uint64_t v = GET(in, c->enabled);
	bool ext_off = c->all == 31 && v == EXT_SPEEDS_OFF;
	return v == 0 || v == c->all || ext_off || (v & ~GET(info, c->supported)) == 0;
}

static bool state_ok(const uint8_t *info, uint64_t wanted)
{
	uint64_t now = field_get(info, PI_PORT_STATE);
	switch (wanted) {
	case 0:
	case PORT_DOWN: return true;
	case PORT_ARMED: return now == PORT_INIT;
	case PORT_ACTIVE: return now == PORT_ARMED;
	default: return false;
	}
}

static bool phys_ok(uint64_t wanted)
{
	return wanted <= PHYS_DISABLED;
}

static bool link_ok(const uint8_t *info, const uint8_t *in)
{
	uint64_t mtu = field_get(in, PI_NEIGHBOR_MTU);
	uint64_t vls = field_get(in, PI_OPERATIONAL_VLS);

	for (unsigned i = 0; i < N_CHOICES; i++) {
		if (!choice_ok(&choices[i], info, in)) {
			return false;
		}
	}
	return mtu >= 1 && mtu <= field_get(info, PI_MTU_CAP) &&
	       vls <= field_get(info, PI_VL_CAP) &&
	       field_get(in, PI_LINK_DOWN_DEFAULT_STATE) <= PHYS_POLLING &&
	       phys_ok(field_get(in, PI_PORT_PHYSICAL_STATE)) &&
	       state_ok(info, field_get(in, PI_PORT_STATE));
}

static void copy(uint8_t *info, const uint8_t *in, const struct span *spans, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		PUT(info, spans[i], GET(in, spans[i]));
	}
}

static void keep_or_set(uint8_t *info, unsigned bit, unsigned width, uint64_t v)
{
	if (v != 0) {
		field_set(info, bit, width, v);
	}
}

static void set_link_fields(uint8_t *info, const uint8_t *in)
{
	copy(info, in, link_fields, sizeof(link_fields) / sizeof(link_fields[0]));
	keep_or_set(info, PI_OPERATIONAL_VLS, field_get(in, PI_OPERATIONAL_VLS));
	keep_or_set(info, PI_LINK_DOWN_DEFAULT_STATE,
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
		keep_or_set(info, c->enabled.bit, c->enabled.width, v);
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
		field_set(me->info, PI_PORT_STATE, state);
	}
}

uint16_t sim_port_set(struct sim *s, uint32_t port, const uint8_t *in)
{
	const struct port *p = &s->g->ports[port];
	uint8_t *info = s->ports[port].info;
	bool on_switch = s->g->nodes[p->node].type == NODE_SWITCH;
	bool end_port = !on_switch || p->num == 0;
	bool has_link = p->num != 0;

	if ((end_port && !end_port_ok(s, p, in)) || (has_link && !link_ok(info, in))) {
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
