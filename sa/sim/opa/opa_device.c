/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/opa/opa_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * An Omni-Path device from power-on to link-up: what is there before an SM comes.
 *
 * A link that comes up puts both ports into INIT, tells each who is at the other end (NodeGUID, type
 * and port of the neighbour), and sets the fields that follow from the neighbour: NeighborMTU of
 * VL 15, partition enforcement towards a host, the credit rate of VL 15, and buffer space. All
 * credits that the neighbour offers go to VL 15 (its VL15Init) and VL 0 until the SM divides them.
 *
 * Buffers are those of a first-generation adapter and switch in round numbers: units of 64 bytes
 * (BufferAlloc 3), of which an adapter has 2,176 and a switch port 2,560.
 */

enum {
	BUFFER_ALLOC = 3,
	HFI_BUFFER = 2176,
	SWITCH_BUFFER = 2560,
	VL15_INIT = 136, /* 4 packets of 2048 + 128 bytes */
	REPLAY_BUFFER = 0x80,
	REPLAY_WIRE = 8,
	HFI_CREDIT_RATE = 18,
	DEFAULT_P_KEY = 0x8001,
	STANDARD = 4,    /* PortType: a cable plugs in */
	FORMATS = 2 | 8, /* 9B and 16B */
	HFI_DEVICE = 0x24F0,
	SWITCH_DEVICE = 0xABC0
};

uint16_t opa_vendor_id_device(const struct opa_device *d)
{
	return d->is_switch ? SWITCH_DEVICE : HFI_DEVICE;
}

/* Maps after power-on: identity, with VL 15 for SC 15 only. */
static void reset_maps(struct opa_port *p)
{
	const unsigned vls = (unsigned)field_get(p->info, OPI_VL_CAP);

	for (unsigned i = 0; i < OPA_MAP_BYTES; i++) {
		uint8_t vl = (uint8_t)(i == OPA_VL15 ? OPA_VL15 : i < vls ? i : 0);

		p->sl_to_sc[i] = p->sc_to_sl[i] = (uint8_t)i;
		for (unsigned kind = 0; kind < 3; kind++) {
			p->sc_to_vl[kind][i] = vl;
		}
	}
	memset(p->vl_arb, 0, sizeof(p->vl_arb));
	for (unsigned vl = 0; vl < vls; vl++) { /* low priority: all the same weight */
		p->vl_arb[0][2 * vl] = (uint8_t)vl;
		p->vl_arb[0][2 * vl + 1] = 1;
	}
}

static void reset_p_keys(struct opa_port *p)
{
	static const uint16_t first[] = { DEFAULT_P_KEY, OPA_P_KEY_MEMBER,
		                          OPA_P_KEY_MANAGER };

	memset(p->p_keys, 0, sizeof(p->p_keys));
	for (unsigned i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		field_set(p->p_keys, 16 * i, 16, first[i]);
	}
}

static void reset_port(struct opa_port *p, const struct opa_port_row *row)
{
	struct opa_device *d = p->device;
	const bool linked = p->num != 0;
	const uint16_t widths = row->widths != 0 ? row->widths : OPA_WIDTHS;
	const uint8_t vls = row->vls != 0 ? row->vls : OPA_DATA_VLS;
	uint8_t *i = p->info;

	memset(i, 0, sizeof(p->info));
	p->guid = opa_port_guid(d->guid, p->num);
	p->disabled = false;
	/* of the VLs without flow control, as the tools call it */
	field_set(i, OPI_FLOW_CONTROL_MASK, d->is_switch && linked ? 1u << OPA_VL15 : 0);
	field_set(i, OPI_VL_CAP, vls);
	field_set(i, OPI_OPERATIONAL_VL, vls);
	field_set(i, OPI_ARB_HIGH_CAP, 16);
	field_set(i, OPI_ARB_LOW_CAP, 16);
	field_set(i, OPI_PORT_TYPE, linked ? STANDARD : 0);
	field_set(i, OPI_MULTICAST_MASK, 4);
	field_set(i, OPI_COLLECTIVE_MASK, 1);
	field_set(i, OPI_INIT_REASON, 1);
	field_set(i, OPI_SA_QP, 1);
	field_set(i, OPI_SUBNET_TIMEOUT, 17);
	field_set(i, OPI_MTU_CAP, row->mtu != 0 ? row->mtu : OPA_MTU_10240);
	field_set(i, OPI_RESP_TIME, 16);
	field_set(i, OPI_LOCAL_PORT_NUM, p->num);
	field_set(i, OPI_MAX_LID, opa_is_end_port(p) ? OPA_LFT_CAP - 1 : 0);
	field_set(i, OPI_BUFFER_ALLOC, BUFFER_ALLOC);
	field_set(i, OPI_BUFFER_SPACE, d->is_switch ? SWITCH_BUFFER : HFI_BUFFER);
	field_set(i, OPI_VL15_INIT, VL15_INIT);
	field_set(i, OPI_REPLAY_BUFFER, REPLAY_BUFFER);
	field_set(i, OPI_REPLAY_WIRE, REPLAY_WIRE);
	field_set(i, OPI_PREEMPTION_LIMIT, 255);
	field_set(i, OPI_CAPABILITY_3,
	          OPA_CAP3_SHARED_SPACE | OPA_CAP3_MAX_LID |
	                  (d->is_switch && !linked ? OPA_CAP3_ADDR_RANGE | OPA_CAP3_VL_R
	                                           : 0));
	field_set(i, OPI_CAPABILITY,
	          1u << 22 | (opa_is_end_port(p) && !d->is_switch ? 1u << 5 : 0));
	field_set(i, OPI_SUBNET_PREFIX, 0xFE80000000000000u);
	for (unsigned vl = 0; vl < OPA_VLS; vl++) {
		field_set(i, OPI_NEIGHBOR_MTU(vl),
		          vl < vls || vl == OPA_VL15 ? OPA_MTU_2048 : 0);
		field_set(i, OPI_HOQ_LIFE(vl), 7 << 5 | 0x1F);
	}
	if (linked) {
		const uint16_t speeds =
			(uint16_t)(row->speed == 0 ? OPA_SPEED_25G : row->speed);
		/* the fastest, and the one of an earlier generation */
		const uint16_t all =
			(uint16_t)(speeds > OPA_SPEED_25G ? speeds | OPA_SPEED_25G
		                                          : speeds | OPA_SPEED_12G);

		field_set(i, OPI_SPEED_SUPPORTED, all);
		field_set(i, OPI_SPEED_ENABLED, all);
		field_set(i, OPI_WIDTH_SUPPORTED, widths);
		field_set(i, OPI_WIDTH_ENABLED, widths);
		field_set(i, OPI_DOWNGRADE_SUPPORTED, widths);
		field_set(i, OPI_DOWNGRADE_ENABLED, widths);
		field_set(i, OPI_CRC_SUPPORTED, 7);
		field_set(i, OPI_CRC_ENABLED, 7);
		field_set(i, OPI_PHYSICAL_STATE, OPA_PHYS_POLLING);
		field_set(i, OPI_STATE, OPA_DOWN);
	} else {
		field_set(i, OPI_SPEED_SUPPORTED, OPA_SPEED_25G);
		field_set(i, OPI_SPEED_ENABLED, OPA_SPEED_25G);
		field_set(i, OPI_SPEED_ACTIVE, OPA_SPEED_25G);
		field_set(i, OPI_WIDTH_SUPPORTED, OPA_WIDTH_4X);
		field_set(i, OPI_WIDTH_ENABLED, OPA_WIDTH_4X);
		field_set(i, OPI_WIDTH_ACTIVE, OPA_WIDTH_4X);
		field_set(i, OPI_DOWNGRADE_TX, OPA_WIDTH_4X);
		field_set(i, OPI_DOWNGRADE_RX, OPA_WIDTH_4X);
		field_set(i, OPI_CRC_SUPPORTED, 1);
		field_set(i, OPI_CRC_ENABLED, 1);
		field_set(i, OPI_CRC_ACTIVE, 1);
		field_set(i, OPI_PHYSICAL_STATE, OPA_PHYS_LINK_UP);
		field_set(i, OPI_STATE, OPA_ACTIVE);
		field_set(i, OPI_NEIGHBOR_NORMAL, 1);
	}
	field_set(i, OPI_LINK_MODE_SUPPORTED, 4);
	field_set(i, OPI_LINK_MODE_ENABLED, 4);
	field_set(i, OPI_LINK_MODE_ACTIVE, 4);
	field_set(i, OPI_FORMATS_SUPPORTED, FORMATS);
	field_set(i, OPI_FORMATS_ENABLED, FORMATS);
	field_set(i, OPI_INTERLEAVE, 0x1400);
	field_set(i, OPI_MIN_INITIAL, 10);
	field_set(i, OPI_MIN_TAIL, 1);
	p->quality = 5;
	memset(p->counters, 0, sizeof(p->counters));
	memset(p->error_info, 0, sizeof(p->error_info));
	memset(p->buffers, 0, sizeof(p->buffers));
	memset(p->congestion, 0, sizeof(p->congestion));
	memset(p->hfi_congestion, 0, sizeof(p->hfi_congestion));
	free(p->cct);
	p->cct = NULL;
	opa_cable_reset(p);
	reset_p_keys(p);
	reset_maps(p);
}

static void reset_switch(struct opa_device *d)
{
	uint8_t *s = d->switch_info;

	memset(s, 0, sizeof(d->switch_info));
	if (!d->is_switch) {
		return;
	}
	field_set(s, OSI_LINEAR_FDB_CAP, d->lft_cap);
	field_set(s, OSI_PORT_GROUP_FDB_CAP, OPA_PGFT_CAP);
	field_set(s, OSI_MULTICAST_FDB_CAP, OPA_MFT_CAP);
	field_set(s, OSI_PARTITION_CAP, OPA_PORT_P_KEYS);
	field_set(s, OSI_PORT_GROUP_CAP, OPA_PORT_GROUPS);
	field_set(s, OSI_ROUTING_SUPPORTED, 1);
	field_set(s, OSI_ROUTING_ENABLED, 1);
	field_set(s, OSI_ENHANCED_PORT_0, d->esp0);
	field_set(s, OSI_COLLECTIVE_MASK, 1);
	field_set(s, OSI_MULTICAST_MASK, 4);
	field_set(s, OSI_CAPABILITY, 1 << 0 | 1 << 2 | 1 << 3);
}

static void drop_tables(struct opa_device *d)
{
	free(d->lft);
	free(d->pgft);
	free(d->sc_to_sc[0]);
	free(d->sc_to_sc[1]);
	for (unsigned i = 0; i < OPA_MFT_POSITIONS; i++) {
		free(d->mft[i]);
		d->mft[i] = NULL;
	}
	d->lft = d->pgft = d->sc_to_sc[0] = d->sc_to_sc[1] = NULL;
	d->lft_len = d->pgft_len = 0;
	memset(d->groups, 0, sizeof(d->groups));
}

/* What a port supports, from its PortInfo before a reset. */
static struct opa_port_row row_of(const struct opa_port *p)
{
	const uint16_t speeds = (uint16_t)field_get(p->info, OPI_SPEED_SUPPORTED);
	uint16_t fastest = OPA_SPEED_100G;

	while (fastest > 1 && (fastest & speeds) == 0) {
		fastest >>= 1;
	}
	return (struct opa_port_row){ .speed = fastest,
		                      .widths = (uint16_t)field_get(p->info,
		                                                    OPI_WIDTH_SUPPORTED),
		                      .mtu = (uint8_t)field_get(p->info, OPI_MTU_CAP),
		                      .vls = (uint8_t)field_get(p->info, OPI_VL_CAP) };
}

static unsigned lanes_of(const struct opa_port *p)
{
	unsigned width = (unsigned)field_get(p->info, OPI_WIDTH_ACTIVE), lanes = 0;

	for (; width != 0; width >>= 1) {
		lanes++;
	}
	return lanes;
}

void opa_device_reset(struct opa_device *d)
{
	drop_tables(d);
	reset_switch(d);
	memset(d->congestion_setting, 0, sizeof(d->congestion_setting));
	d->managed = false;
	d->adapted_us = 0;
	for (unsigned n = d->is_switch ? 0 : 1; n <= d->n_ports; n++) {
		struct opa_port *p = &d->ports[n], *peer = p->peer;
		const unsigned lanes = lanes_of(p);
		const struct opa_port_row row = row_of(p);

		reset_port(p, &row);
		if (peer != NULL) {
			p->peer = peer->peer = NULL;
			opa_link_up(p, peer, lanes);
		}
	}
}

int opa_device_new(const struct opa_device_row *row, const struct opa_port_row *rows,
                   struct opa_device **ret_device)
{
	struct opa_device *d = calloc(1, sizeof(*d));

	if (d == NULL) {
		return -ENOMEM;
	}
	d->ports = calloc(row->n_ports + 1u, sizeof(*d->ports));
	if (d->ports == NULL) {
		free(d);
		return -ENOMEM;
	}
	d->guid = row->guid;
	d->system_image_guid =
		row->system_image_guid != 0 ? row->system_image_guid : row->guid;
	d->is_switch = row->is_switch;
	d->esp0 = row->esp0;
	d->n_ports = row->n_ports;
	d->lft_cap = row->lft_cap != 0 && row->lft_cap <= OPA_LIDS_END
	                     ? row->lft_cap
	                     : (uint32_t)OPA_LFT_CAP;
	d->version = row->version;
	d->ops = row->ops;
	d->ctx = row->ctx;
	d->random = row->guid * 0x9E3779B97F4A7C15u | 1;
	/* a description ends with a NUL on Omni-Path */
	strncpy(d->description, row->description, sizeof(d->description) - 1);
	reset_switch(d);
	for (unsigned n = 0; n <= row->n_ports; n++) {
		d->ports[n].device = d;
		d->ports[n].num = (uint8_t)n;
		reset_port(&d->ports[n], &rows[n]);
	}
	*ret_device = d;
	return E_OK;
}

void opa_device_free(struct opa_device *d)
{
	if (d == NULL) {
		return;
	}
	drop_tables(d);
	for (unsigned n = 0; n <= d->n_ports; n++) {
		free(d->ports[n].cct);
	}
	free(d->ports);
	free(d);
}

/* --- links --------------------------------------------------------------------------------------- */

/* The widest of the widths that both have enabled and \a lanes lanes can do. */
static unsigned width_of(unsigned widths, unsigned lanes)
{
	for (unsigned n = lanes < 4 ? lanes : 4; n >= 1; n--) {
		if (widths & 1u << (n - 1)) {
			return 1u << (n - 1);
		}
	}
	return 0;
}

static unsigned highest(uint64_t bits)
{
	return bits == 0 ? 0 : 1u << (31 - __builtin_clz((unsigned)bits));
}

/* Buffer control as the transmitter has it at link-up: VL 15 and VL 0 share the neighbour's space. */
static void reset_buffers(struct opa_port *p)
{
	const unsigned space = (unsigned)field_get(p->peer->info, OPI_BUFFER_SPACE);
	const unsigned vl15 = (unsigned)field_get(p->peer->info, OPI_VL15_INIT);

	memset(p->buffers, 0, sizeof(p->buffers));
	field_set(p->buffers, OB(4 + 4 * OPA_VL15), 16, vl15);
	field_set(p->buffers, OB(4), 16, space - vl15);
}

/* The fields of a port that follow from its neighbour. */
static void meet(struct opa_port *p)
{
	const struct opa_port *peer = p->peer;
	const bool to_host = !peer->device->is_switch;
	uint8_t *i = p->info;

	field_set(i, OPI_NEIGHBOR_GUID, peer->device->guid);
	field_set(i, OPI_NEIGHBOR_PORT, peer->num);
	field_set(i, OPI_NEIGHBOR_TYPE, peer->device->is_switch);
	field_set(i, OPI_MGMT_ALLOWED, 1);
	field_set(i, OPI_NEIGHBOR_MTU(OPA_VL15), OPA_MTU_2048);
	if (p->device->is_switch) {
		field_set(i, OPI_ENFORCE_IN, to_host);
		field_set(i, OPI_ENFORCE_OUT, to_host);
	}
	field_set(i, OPI_VL15_CREDIT_RATE, to_host ? HFI_CREDIT_RATE : 0);
	field_set(i, OPI_STATE, OPA_INIT);
	field_set(i, OPI_PHYSICAL_STATE, OPA_PHYS_LINK_UP);
	field_set(i, OPI_STARTED, 0);
	field_set(i, OPI_NEIGHBOR_NORMAL, 0);
	field_set(i, OPI_OFFLINE_REASON, 0);
	if (field_get(i, OPI_INIT_REASON) == 0) {
		field_set(i, OPI_INIT_REASON, 1);
	}
	reset_buffers(p);
	/* a new link starts without the errors of the last one */
	p->counters[OPA_RCV_ERRORS] = p->counters[OPA_LINK_RECOVERY] = 0;
	p->counters[OPA_LINK_INTEGRITY] = p->counters[OPA_OVERRUNS] = 0;
}

int opa_link_up(struct opa_port *a, struct opa_port *b, unsigned lanes)
{
#define COMMON(field) (field_get(a->info, field) & field_get(b->info, field))
	const unsigned width = width_of((unsigned)COMMON(OPI_WIDTH_ENABLED), lanes);
	const unsigned speed = highest(COMMON(OPI_SPEED_ENABLED));
	const unsigned crc = highest(COMMON(OPI_CRC_ENABLED) & 3);
#undef COMMON
	struct opa_port *ends[2] = { a, b };

	if (width == 0 || speed == 0) {
		return E_UNSUITABLE;
	}
	a->peer = b;
	b->peer = a;
	for (unsigned n = 0; n < 2; n++) {
		uint8_t *i = ends[n]->info;

		meet(ends[n]);
		field_set(i, OPI_WIDTH_ACTIVE, width);
		field_set(i, OPI_DOWNGRADE_TX, width);
		field_set(i, OPI_DOWNGRADE_RX, width);
		field_set(i, OPI_SPEED_ACTIVE, speed);
		field_set(i, OPI_CRC_ACTIVE, crc);
		if (ends[n]->device->is_switch) {
			field_set(ends[n]->device->switch_info, OSI_PORT_STATE_CHANGE, 1);
		}
	}
	return E_OK;
}

void opa_link_down(struct opa_port *p, uint8_t reason)
{
	uint8_t *i = p->info;

	if (p->peer != NULL) {
		p->peer->peer = NULL;
		p->peer = NULL;
		p->counters[OPA_LINK_DOWNED] += p->counters[OPA_LINK_DOWNED] < UINT32_MAX;
	}
	field_set(i, OPI_STATE, OPA_DOWN);
	field_set(i, OPI_PHYSICAL_STATE,
	          p->disabled ? OPA_PHYS_DISABLED : OPA_PHYS_POLLING);
	field_set(i, OPI_OFFLINE_REASON, p->disabled ? OPA_OFFLINE_SM_DISABLED : 0);
	field_set(i, OPI_STARTED, 0);
	field_set(i, OPI_NEIGHBOR_NORMAL, 0);
	field_set(i, OPI_INIT_REASON, 0);
	if (field_get(i, OPI_DOWN_REASON) ==
	    0) { /* the first one stays until it is cleared */
		field_set(i, OPI_DOWN_REASON, reason);
	}
	if (p->device->is_switch) {
		field_set(p->device->switch_info, OSI_PORT_STATE_CHANGE, 1);
	}
}

bool opa_link_lanes(struct opa_port *p, unsigned lanes)
{
	const unsigned width =
		width_of((unsigned)field_get(p->info, OPI_DOWNGRADE_ENABLED), lanes);

	if (p->peer == NULL || width == 0 ||
	    width > field_get(p->info, OPI_WIDTH_ACTIVE) ||
	    width == field_get(p->info, OPI_DOWNGRADE_RX)) {
		return false;
	}
	field_set(p->info, OPI_DOWNGRADE_TX, width);
	field_set(p->info, OPI_DOWNGRADE_RX, width);
	field_set(p->peer->info, OPI_DOWNGRADE_TX, width);
	field_set(p->peer->info, OPI_DOWNGRADE_RX, width);
	return true;
}

void opa_port_state(struct opa_port *p, unsigned state)
{
	field_set(p->info, OPI_STATE, state);
	if (p->peer != NULL) { /* a port that is armed sends idle flits that say so */
		field_set(p->peer->info, OPI_NEIGHBOR_NORMAL, state >= OPA_ARMED);
	}
}
