/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <string.h>

#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * The subnet management agent of an Omni-Path device: who may ask, which attribute it is, and Aggregate.
 *
 *   1. The P_Key. A request over a cable needs 0xFFFF, one of the device's own programs 0xFFFF or 0x7FFF in its
 *      table. Anything else is dropped and counted.
 *   2. The M_Key, by the table of IBA vol. 1, 14.2.4.1. Lease periods are stored but do not expire.
 *   3. Versions (0x04), method (0x08), attribute (0x0C), length and modifier (0x1C).
 *
 * A Get may be sent without data; an answer has the header and the value, rounded up to 8 bytes.
 *
 * An Aggregate is a list of segments, each with an attribute, a modifier and room for the value. The agent
 * works on them in order and stops at the first that fails. As in the hfi1 driver, a segment with an unknown
 * attribute gets its Error bit, but one with an invalid field does not: only the MAD's status tells.
 */

size_t opa_data_at(const uint8_t *mad)
{
	return mad[1] == 0x81 ? OPA_DR_DATA_AT : OPA_LR_DATA_AT;
}

static uint16_t node_description(struct opa_access *a)
{
	if (a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (a->mod != 0 || a->room < sizeof(a->d->description)) {
		return OPA_BAD_FIELD;
	}
	memcpy(a->data, a->d->description, sizeof(a->d->description));
	a->len = sizeof(a->d->description);
	return OPA_GOOD;
}

static uint16_t node_info(struct opa_access *a)
{
	enum { SWITCH = 2, HFI = 1, VENDOR = 0x001175 };
	uint8_t *d = a->data;

	if (a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (a->mod != 0 || a->room < OPA_NODE_INFO_BYTES) {
		return OPA_BAD_FIELD;
	}
	memset(d, 0, OPA_NODE_INFO_BYTES);
	field_set(d, ONI_BASE_VERSION, OPA_VERSION);
	field_set(d, ONI_CLASS_VERSION, OPA_VERSION);
	field_set(d, ONI_NODE_TYPE, a->d->is_switch ? SWITCH : HFI);
	field_set(d, ONI_NUM_PORTS, a->d->n_ports);
	field_set(d, ONI_SYSTEM_IMAGE_GUID, a->d->system_image_guid);
	field_set(d, ONI_NODE_GUID, a->d->guid);
	field_set(d, ONI_PORT_GUID, opa_end_port(a)->guid);
	field_set(d, ONI_PARTITION_CAP, opa_p_key_cap(opa_end_port(a)));
	field_set(d, ONI_DEVICE_ID, opa_vendor_id_device(a->d));
	field_set(d, ONI_REVISION, 2);
	field_set(d, ONI_LOCAL_PORT_NUM, a->in_port);
	field_set(d, ONI_VENDOR_ID, VENDOR);
	a->len = OPA_NODE_INFO_BYTES;
	return OPA_GOOD;
}

static bool set_switch_info(struct opa_device *d, const uint8_t *in)
{
	uint8_t *s = d->switch_info;
	const uint64_t top = field_get(in, OSI_LINEAR_FDB_TOP),
		       mcast = field_get(in, OSI_MULTICAST_FDB_TOP);
	const uint64_t groups = field_get(in, OSI_PORT_GROUP_TOP);

	if (top >= d->lft_cap || groups > OPA_PORT_GROUPS ||
	    field_get(in, OSI_ROUTING_ENABLED) > 1) {
		return false;
	}
	field_set(s, OSI_LINEAR_FDB_TOP, top);
	field_set(s, OSI_MULTICAST_FDB_TOP, mcast);
	field_set(s, OSI_COLLECTIVE_TOP, field_get(in, OSI_COLLECTIVE_TOP));
	field_set(s, OSI_LIFE_TIME, field_get(in, OSI_LIFE_TIME));
	field_set(s, OSI_PORT_GROUP_TOP, groups);
	field_set(s, OSI_COLLECTIVE_MASK, field_get(in, OSI_COLLECTIVE_MASK));
	field_set(s, OSI_MULTICAST_MASK, field_get(in, OSI_MULTICAST_MASK));
	field_set(s, OSI_AR, field_get(in, OSI_AR));
	if (field_get(in, OSI_ROUTING_ENABLED) != 0) {
		field_set(s, OSI_ROUTING_ENABLED, 1);
	}
	if (field_get(in, OSI_PORT_STATE_CHANGE)) { /* writing 1 clears it */
		field_set(s, OSI_PORT_STATE_CHANGE, 0);
	}
	return true;
}

static uint16_t switch_info(struct opa_access *a)
{
	if (!a->d->is_switch) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (a->mod != 0 || a->room < OPA_SWITCH_INFO_BYTES ||
	    (a->set && !set_switch_info(a->d, a->data))) {
		return OPA_BAD_FIELD;
	}
	memcpy(a->data, a->d->switch_info, OPA_SWITCH_INFO_BYTES);
	a->len = OPA_SWITCH_INFO_BYTES;
	return OPA_GOOD;
}

static uint16_t attribute(struct opa_access *a, uint16_t attr)
{
	switch (attr) {
	case OPA_NODE_DESCRIPTION: return node_description(a);
	case OPA_NODE_INFO: return node_info(a);
	case OPA_SWITCH_INFO: return switch_info(a);
	case OPA_PORT_INFO: return opa_sma_port_info(a);
	case OPA_P_KEY_TABLE: return opa_sma_p_key_table(a);
	case OPA_SL_TO_SC: return opa_sma_end_map(a, true);
	case OPA_SC_TO_SL: return opa_sma_end_map(a, false);
	case OPA_VL_ARB: return opa_sma_vl_arb(a);
	case OPA_LFT: return opa_sma_linear_ft(a);
	case OPA_MFT: return opa_sma_multicast_ft(a);
	case OPA_LED_INFO: return opa_sma_led_info(a);
	case OPA_CABLE_INFO: return opa_sma_cable_info(a);
	case OPA_SC_TO_SC: return opa_sma_sc_to_sc(a);
	case OPA_SC_TO_VL_R: return opa_sma_sc_to_vl(a, 0);
	case OPA_SC_TO_VL_T: return opa_sma_sc_to_vl(a, 1);
	case OPA_SC_TO_VL_NT: return opa_sma_sc_to_vl(a, 2);
	case OPA_PORT_STATE_INFO: return opa_sma_port_state_info(a);
	case OPA_PORT_GROUP_FT: return opa_sma_port_group_ft(a);
	case OPA_PORT_GROUP_TABLE: return opa_sma_port_group_table(a);
	case OPA_BUFFER_CONTROL: return opa_sma_buffer_control(a);
	case OPA_SC_TO_SC_SET: return opa_sma_sc_to_sc_set(a);
	default:
		return attr >= OPA_CONGESTION_INFO && attr <= OPA_HFI_CONGESTION_CONTROL
		               ? opa_sma_congestion(a, attr)
		               : OPA_BAD_ATTRIBUTE;
	}
}

/* Bytes of a value that a Set must have at least; what is longer is checked by its count. */
static size_t least_bytes(uint16_t attr, uint32_t mod)
{
	const size_t n = mod >> 24;

	switch (attr) {
	case OPA_PORT_INFO:
		return n > 0 ? (n - 1) * OPA_PORT_INFO_STRIDE + OPA_PORT_INFO_BYTES : 0;
	case OPA_SWITCH_INFO: return OPA_SWITCH_INFO_BYTES;
	case OPA_SL_TO_SC:
	case OPA_SC_TO_SL: return OPA_MAP_BYTES;
	case OPA_SC_TO_SC:
	case OPA_SC_TO_VL_R:
	case OPA_SC_TO_VL_T:
	case OPA_SC_TO_VL_NT: return n * OPA_MAP_BYTES;
	case OPA_P_KEY_TABLE:
	case OPA_LFT:
	case OPA_MFT:
	case OPA_PORT_GROUP_FT:
	case OPA_PORT_GROUP_TABLE: return n * OPA_BLOCK_BYTES;
	case OPA_VL_ARB: return n * OPA_VL_ARB_BYTES;
	case OPA_PORT_STATE_INFO:
	case OPA_LED_INFO: return n * 8;
	case OPA_BUFFER_CONTROL:
		return n > 0 ? (n - 1) * OPA_BUFFER_STRIDE + OPA_BUFFER_BYTES : 0;
	case OPA_SC_TO_SC_SET: return n * 96;
	default: return 0;
	}
}

static uint16_t aggregate(struct opa_access *a, size_t given)
{
	enum { HEADER = 8, MOST = 117 };
	const unsigned n = a->mod & 0xFF;
	size_t at = 0;

	if (n < 1 || n > MOST) {
		return OPA_BAD_FIELD;
	}
	for (unsigned i = 0; i < n; i++) {
		uint8_t *seg = a->data + at;

		if (at + HEADER > a->room || (a->set && at + HEADER > given)) {
			return OPA_BAD_FIELD;
		}
		const size_t len = 8 * (size_t)field_get(seg, OAG_LENGTH);
		const uint16_t attr = (uint16_t)field_get(seg, OAG_ATTRIBUTE);
		struct opa_access one = *a;

		if (at + HEADER + len > a->room ||
		    (a->set && at + HEADER + len > given)) {
			return OPA_BAD_FIELD;
		}
		one.mod = (uint32_t)field_get(seg, OAG_MODIFIER);
		one.data = seg + HEADER;
		one.room = len;
		one.len = 0;
		at += HEADER + len;
		a->len = at;
		field_set(seg, OAG_ERROR, 0);
		uint16_t status = attr == OPA_AGGREGATE ? (uint16_t)OPA_BAD_ATTRIBUTE
		                  : a->set && least_bytes(attr, one.mod) > len
		                          ? (uint16_t)OPA_BAD_FIELD
		                          : attribute(&one, attr);
		if (status != OPA_GOOD) {
			field_set(seg, OAG_ERROR, status != OPA_BAD_FIELD);
			return status;
		}
	}
	return OPA_GOOD;
}

/* M_Key check. \a hide: the answer must not show the key. */
static bool m_key_allows(struct opa_device *d, struct opa_port *p, const uint8_t *mad,
                         bool *ret_hide)
{
	uint8_t *info = p->info;
	const uint64_t key = field_get(info, OPI_M_KEY),
		       protect = field_get(info, OPI_M_KEY_PROTECT);

	*ret_hide = false;
	if (key == 0 || key == field_get(mad, OPA_SMP_M_KEY)) {
		return true;
	}
	if (mad[3] == OPA_GET && protect < 2) {
		*ret_hide = protect == 1;
		return true;
	}
	const uint64_t n = field_get(info, OPI_M_KEY_VIOLATIONS);
	field_set(info, OPI_M_KEY_VIOLATIONS, n < 0xFFFF ? n + 1 : n);
	d->ops->m_key(d->ctx, mad);
	return false;
}

static bool p_key_allows(struct opa_port *p, const struct opa_from *from)
{
	if (from->local) {
		return opa_has_p_key(p, OPA_P_KEY_MANAGER) ||
		       opa_has_p_key(p, OPA_P_KEY_MEMBER);
	}
	if (from->p_key == OPA_P_KEY_MANAGER) {
		return true;
	}
	const uint64_t n = field_get(p->info, OPI_P_KEY_VIOLATIONS);
	field_set(p->info, OPI_P_KEY_VIOLATIONS, n < 0xFFFF ? n + 1 : n);
	p->counters[OPA_RCV_CONSTRAINT]++;
	return false;
}

static uint16_t answer(struct opa_device *d, const struct opa_from *from, uint8_t *mad,
                       size_t len, size_t *ret_len)
{
	const size_t data_at = opa_data_at(mad);
	const uint16_t attr = (uint16_t)field_get(mad, MAD_ATTR_ID);
	const uint32_t mod = (uint32_t)field_get(mad, MAD_ATTR_MOD);
	const bool set = mad[3] == OPA_SET;
	struct opa_access a = { .d = d,
		                .in_port = from->port,
		                .set = set,
		                .mod = mod,
		                .data = mad + data_at,
		                .room = OPA_MAD_BYTES - data_at };

	*ret_len = 0;
	if (mad[2] != OPA_VERSION) {
		return OPA_BAD_VERSION;
	}
	if (!set && mad[3] != OPA_GET) {
		return OPA_BAD_METHOD;
	}
	if (len < data_at || (set && len - data_at < least_bytes(attr, mod))) {
		return OPA_BAD_FIELD;
	}
	const uint16_t status = attr == OPA_AGGREGATE ? aggregate(&a, len - data_at)
	                                              : attribute(&a, attr);
	*ret_len = a.len;
	d->managed |= set && status == OPA_GOOD;
	return status;
}

size_t opa_agent(struct opa_device *d, const struct opa_from *from, uint8_t *mad,
                 size_t len)
{
	const size_t data_at = opa_data_at(mad);
	struct opa_port *p = &d->ports[d->is_switch ? 0 : from->port];
	const uint8_t method = mad[3];
	size_t value;
	bool hide;

	if ((method & 0x80) != 0 || method == OPA_TRAP || len < 24 ||
	    !p_key_allows(p, from) || !m_key_allows(d, p, mad, &hide)) {
		return 0;
	}
	memset(mad + len, 0, OPA_MAD_BYTES - len);
	if (method == OPA_TRAP_REPRESS) {
		d->ops->repress(d->ctx, field_get(mad, MAD_TID));
		return 0;
	}
	const uint16_t status = answer(d, from, mad, len, &value);
	if (hide && field_get(mad, MAD_ATTR_ID) == OPA_PORT_INFO &&
	    value >= OPA_PORT_INFO_BYTES) {
		field_set(mad + data_at, OPI_M_KEY, 0);
	}
	mad[0] = OPA_VERSION;
	mad[3] = OPA_GET_RESP;
	field_set(mad, MAD_STATUS, status | (mad[1] == 0x81 ? OPA_DIRECTION : 0));
	/* an answer without a value is as long as the request */
	const size_t end = value != 0 ? data_at + value : len > data_at ? len : data_at;
	const size_t bytes = (end + 7) / 8 * 8;
	return bytes < OPA_MAD_BYTES ? bytes : OPA_MAD_BYTES;
}
