/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <string.h>

#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * PortInfo, PortStateInfo and LedInfo.
 *
 * A Set of PortInfo applies what is valid and is answered with the state after it and, if anything was
 * not valid, with "invalid field". Logical states go INIT > ARMED > ACTIVE; a repeat does nothing.
 *
 *   INIT > ARMED    needs IsSMConfigurationStarted: the SM has sent a Get or Set with bit S since the
 *                   link came up. A link that bounced in between is noticed by that.
 *   ARMED > ACTIVE  needs NeighborNormal: the port at the other end is ARMED or ACTIVE.
 *   DOWN            with PortPhysicalState Polling takes the link down and up again (LinkDownReason
 *                   39), with Disabled it stays down until the SM polls it again.
 */

/* --- what a Set copies --------------------------------------------------------------------------- */

struct span {
	uint16_t bit, width;
};

/* clang-format off */
/* of end ports */
static const struct span end_port_fields[] = {
	{ OPI_M_KEY }, { OPI_SUBNET_PREFIX }, { OPI_M_KEY_LEASE }, { OPI_M_KEY_PROTECT }, { OPI_MASTER_SM_SL },
	{ OPI_SM_TRAP_QP }, { OPI_SA_QP }, { OPI_MC_PKEY_SUPPRESS }, { OPI_SUBNET_TIMEOUT },
	{ OPI_P_KEY_8B }, { OPI_P_KEY_10B }, { OPI_M_KEY_VIOLATIONS }, { OPI_P_KEY_VIOLATIONS },
	{ OPI_Q_KEY_VIOLATIONS }, { OPI_COLLECTIVE_MASK }, { OPI_MULTICAST_MASK },
};
/* of ports with a cable */
static const struct span link_fields[] = {
	{ OPI_FLOW_CONTROL_MASK }, { OPI_VL_HIGH_LIMIT }, { OPI_PREEMPT_LIMIT }, { OPI_ENFORCE_IN },
	{ OPI_ENFORCE_OUT }, { OPI_DOWNGRADE_ENABLED }, { OPI_PORT_MODE }, { OPI_INTERLEAVE_ENABLED },
	{ OPI_MIN_INITIAL }, { OPI_MIN_TAIL }, { OPI_LARGE_PKT_LIMIT }, { OPI_SMALL_PKT_LIMIT },
	{ OPI_PREEMPTION_LIMIT }, { OPI_ERROR_ACTION }, { OPI_EGRESS_PORT }, { OPI_DR_CONTROL },
	{ OPI_VL15_CREDIT_RATE }, { OPI_DOWN_REASON }, { OPI_NEIGHBOR_DOWN_REASON },
};
/* 0: no change; else a subset of what is supported */
static const struct choice {
	struct span enabled, supported;
	uint16_t all, all_too; /* values that mean all, 0: none */
} choices[] = {
	{ { OPI_SPEED_ENABLED },     { OPI_SPEED_SUPPORTED },     0xFFFF, 0 },
	{ { OPI_WIDTH_ENABLED },     { OPI_WIDTH_SUPPORTED },     0xFFFF, 0x0FFF },
	{ { OPI_LINK_MODE_ENABLED }, { OPI_LINK_MODE_SUPPORTED }, 0, 0 },
	{ { OPI_CRC_ENABLED },       { OPI_CRC_SUPPORTED },       0, 0 },
	{ { OPI_FORMATS_ENABLED },   { OPI_FORMATS_SUPPORTED },   0, 0 },
};
/* clang-format on */

#define GET(info, span) field_get((info), (span).bit, (span).width)
#define PUT(info, span, v) field_set((info), (span).bit, (span).width, (v))

static void copy(uint8_t *info, const uint8_t *in, const struct span *spans, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		PUT(info, spans[i], GET(in, spans[i]));
	}
}

/* A unicast LID of 24 bits: multicast is the upper 1/16, and of the first 64 Ki above 0xBFFF. */
static bool is_unicast(uint64_t lid)
{
	return lid > 0 && lid < OPA_MLIDS;
}

static bool set_end_port(struct opa_port *p, const uint8_t *in)
{
	uint8_t *info = p->info;
	const uint64_t lid = field_get(in, OPI_LID),
		       sm = field_get(in, OPI_MASTER_SM_LID);
	const bool configured = field_get(info, OPI_STATE) > OPA_INIT && p->num != 0;
	bool good = true;

	/* 0 is the value after power-on, which a port above INIT must not return to */
	if (is_unicast(lid) || (lid == 0 && !configured)) {
		field_set(info, OPI_LID, lid);
	} else {
		good = false;
	}
	if (is_unicast(sm) || (sm == 0 && !configured)) {
		field_set(info, OPI_MASTER_SM_LID, sm);
	} else {
		good = false;
	}
	/* a base switch port 0 has one LID */
	if (!p->device->is_switch || p->device->esp0) {
		field_set(info, OPI_LMC, field_get(in, OPI_LMC));
	} else if (field_get(in, OPI_LMC) != 0) {
		good = false;
	}
	copy(info, in, end_port_fields,
	     sizeof(end_port_fields) / sizeof(end_port_fields[0]));
	if (field_get(info, OPI_CAPABILITY_3) & OPA_CAP3_MAX_LID &&
	    field_get(in, OPI_MAX_LID) != 0) {
		field_set(info, OPI_MAX_LID, field_get(in, OPI_MAX_LID));
	}
	return good;
}

static bool set_mtus(struct opa_port *p, const uint8_t *in)
{
	const uint64_t cap = field_get(p->info, OPI_MTU_CAP);
	bool good = true;

	for (unsigned vl = 0; vl < OPA_VLS; vl++) {
		const uint64_t mtu = field_get(in, OPI_NEIGHBOR_MTU(vl));

		if (mtu > cap || (vl == OPA_VL15 && mtu != 0 && mtu < OPA_MTU_2048)) {
			good = false;
			continue;
		}
		field_set(p->info, OPI_NEIGHBOR_MTU(vl), mtu);
	}
	return good;
}

static bool set_link_fields(struct opa_port *p, const uint8_t *in)
{
	uint8_t *info = p->info;
	const uint64_t vls = field_get(in, OPI_OPERATIONAL_VL),
		       reason = field_get(in, OPI_INIT_REASON);
	bool good = set_mtus(p, in);

	if ((field_get(in, OPI_DOWNGRADE_ENABLED) &
	     ~field_get(info, OPI_DOWNGRADE_SUPPORTED)) != 0) {
		good = false;
	}
	copy(info, in, link_fields, sizeof(link_fields) / sizeof(link_fields[0]));
	field_set(info, OPI_DOWNGRADE_ENABLED,
	          field_get(info, OPI_DOWNGRADE_ENABLED) &
	                  field_get(info, OPI_DOWNGRADE_SUPPORTED));
	if (p->device->is_switch) { /* for the source-LID check: the neighbour's */
		field_set(info, OPI_LID, field_get(in, OPI_LID));
		field_set(info, OPI_LMC, field_get(in, OPI_LMC));
	}
	if (reason != 0) {
		field_set(info, OPI_INIT_REASON, reason);
	}
	if (vls > field_get(info, OPI_VL_CAP)) {
		good = false;
	} else if (vls != 0) {
		field_set(info, OPI_OPERATIONAL_VL, vls);
	}
	for (unsigned vl = 0; vl < OPA_VLS; vl++) {
		field_set(info, OPI_HOQ_LIFE(vl), field_get(in, OPI_HOQ_LIFE(vl)));
	}
	for (size_t n = 0; n < sizeof(choices) / sizeof(choices[0]); n++) {
		const struct choice *c = &choices[n];
		const uint64_t v = GET(in, c->enabled),
			       supported = GET(info, c->supported);

		if (v == 0) {
			continue;
		}
		if (v == c->all || v == c->all_too) {
			PUT(info, c->enabled, supported);
		} else if ((v & ~supported) != 0) {
			good = false;
		} else {
			PUT(info, c->enabled, v);
		}
	}
	return good;
}

/* --- states --------------------------------------------------------------------------------------- */

static void order_link(struct opa_port *p, unsigned phys)
{
	struct opa_device *d = p->device;
	const bool disable = phys == OPA_PHYS_DISABLED;

	if (disable) {
		p->disabled = true;
		if (p->peer ==
		    NULL) { /* no link goes down, so nothing else would say it */
			field_set(p->info, OPI_PHYSICAL_STATE, OPA_PHYS_DISABLED);
			field_set(p->info, OPI_OFFLINE_REASON, OPA_OFFLINE_SM_DISABLED);
		}
		d->ops->link(d->ctx, p->num, OPA_LINK_DISABLE);
		return;
	}
	bool was_disabled = p->disabled;
	p->disabled = false;
	if (p->peer == NULL) {
		field_set(p->info, OPI_PHYSICAL_STATE, OPA_PHYS_POLLING);
		field_set(p->info, OPI_OFFLINE_REASON, 0);
	}
	d->ops->link(d->ctx, p->num, was_disabled ? OPA_LINK_ENABLE : OPA_LINK_BOUNCE);
}

/* \a phys, \a state: 0 is no change. */
static bool set_states(struct opa_port *p, unsigned phys, unsigned state)
{
	uint8_t *info = p->info;
	const unsigned now = (unsigned)field_get(info, OPI_STATE);

	if (p->num == 0) { /* a switch's own port has no link */
		return state == 0 || state == OPA_ACTIVE || state == now;
	}
	if (phys != 0 && phys != OPA_PHYS_POLLING && phys != OPA_PHYS_DISABLED &&
	    phys != OPA_PHYS_LINK_UP) {
		return false;
	}
	if (phys == OPA_PHYS_POLLING || phys == OPA_PHYS_DISABLED) {
		if (state > OPA_DOWN) { /* only with DOWN or no change */
			return false;
		}
		order_link(p, phys);
		return true;
	}
	switch (state) {
	case 0: return true;
	case OPA_DOWN: order_link(p, OPA_PHYS_POLLING); return true;
	case OPA_ARMED:
		if (now == OPA_INIT && field_get(info, OPI_STARTED)) {
			opa_port_state(p, OPA_ARMED);
			return true;
		}
		return now == OPA_ARMED;
	case OPA_ACTIVE:
		if (now == OPA_ARMED && field_get(info, OPI_NEIGHBOR_NORMAL)) {
			opa_port_state(p, OPA_ACTIVE);
			return true;
		}
		return now == OPA_ACTIVE;
	default: return state == now;
	}
}

/* Bit S, in INIT. */
static void start(struct opa_port *p, uint32_t mod)
{
	if ((mod & OPA_MOD_START) && field_get(p->info, OPI_STATE) == OPA_INIT) {
		field_set(p->info, OPI_STARTED, 1);
	}
}

/* --- the attributes ------------------------------------------------------------------------------- */

static bool set_port_info(struct opa_port *p, const uint8_t *in, uint32_t mod)
{
	const bool end_port = opa_is_end_port(p);
	bool good = true;

	start(p, mod);
	if (end_port) {
		good = set_end_port(p, in);
	}
	if (p->num != 0) {
		good = set_link_fields(p, in) && good;
		field_set(p->info, OPI_LED, field_get(in, OPI_LED));
	}
	p->device->ops->port(p->device->ctx, p->num);
	good = set_states(p, (unsigned)field_get(in, OPI_PHYSICAL_STATE),
	                  (unsigned)field_get(in, OPI_STATE)) &&
	       good;
	p->device->ops->port(p->device->ctx, p->num);
	return good;
}

uint16_t opa_sma_port_info(struct opa_access *a)
{
	struct opa_ports ports;
	uint16_t status = OPA_GOOD;

	if (!opa_named_ports(a, (unsigned)((a->room + 6) / OPA_PORT_INFO_STRIDE),
	                     &ports)) {
		return OPA_BAD_FIELD;
	}
	for (unsigned n = ports.first; a->set && n < ports.end; n++) {
		/* with A all other ports get what the last one got */
		const unsigned i =
			n - ports.first < ports.n ? n - ports.first : ports.n - 1;
		uint8_t in[OPA_PORT_INFO_BYTES]; /* the answer goes to the same place */

		memcpy(in, a->data + i * OPA_PORT_INFO_STRIDE, sizeof(in));
		if (!set_port_info(&a->d->ports[n], in, a->mod)) {
			status = OPA_BAD_FIELD;
		}
	}
	a->len = 0;
	for (unsigned i = 0; i < ports.n; i++) {
		struct opa_port *p = &a->d->ports[ports.first + i];

		if (!a->set) {
			start(p, a->mod);
		}
		a->len = i * OPA_PORT_INFO_STRIDE + OPA_PORT_INFO_BYTES;
		memcpy(a->data + i * OPA_PORT_INFO_STRIDE, p->info,
		       a->room - i * OPA_PORT_INFO_STRIDE < OPA_PORT_INFO_STRIDE
		               ? OPA_PORT_INFO_BYTES
		               : OPA_PORT_INFO_STRIDE);
	}
	return status;
}

uint16_t opa_sma_port_state_info(struct opa_access *a)
{
	enum { STRIDE = 8 };
	struct opa_ports ports;
	uint16_t status = OPA_GOOD;

	if (!opa_named_ports(a, (unsigned)(a->room / STRIDE), &ports)) {
		return OPA_BAD_FIELD;
	}
	for (unsigned i = 0; i < ports.n; i++) {
		struct opa_port *p = &a->d->ports[ports.first + i];
		uint8_t *d = a->data + i * STRIDE;

		start(p, a->mod);
		if (a->set) {
			uint64_t states = field_get(d, OPS_STATES);

			if (!set_states(p, (unsigned)(states >> 4 & 15),
			                (unsigned)(states & 15))) {
				status = OPA_BAD_FIELD;
			}
			a->d->ops->port(a->d->ctx, p->num);
		}
		field_set(d, OPS_STATES, field_get(p->info, OPI_PORT_STATES));
		field_set(d, OPS_DOWNGRADE_TX, field_get(p->info, OPI_DOWNGRADE_TX));
		field_set(d, OPS_DOWNGRADE_RX, field_get(p->info, OPI_DOWNGRADE_RX));
	}
	a->len = ports.n * STRIDE;
	return status;
}

uint16_t opa_sma_led_info(struct opa_access *a)
{
	enum { STRIDE = 8 };
	struct opa_ports ports;

	if (!opa_named_ports(a, (unsigned)(a->room / STRIDE), &ports)) {
		return OPA_BAD_FIELD;
	}
	for (unsigned i = 0; i < ports.n; i++) {
		struct opa_port *p = &a->d->ports[ports.first + i];

		if (a->set) {
			field_set(p->info, OPI_LED,
			          field_get(a->data + i * STRIDE, 0, 1));
		}
		field_set(a->data + i * STRIDE, 0, 64, 0);
		field_set(a->data + i * STRIDE, 0, 1, field_get(p->info, OPI_LED));
	}
	a->len = ports.n * STRIDE;
	return OPA_GOOD;
}
