/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <string.h>
#include <strings.h>

#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * The performance management agent: PortStatus, ClearPortStatus, DataPortCounters, ErrorPortCounters and
 * ErrorInfo of class version 0x80.
 *
 * Counters are kept per port. Of the counters per VL, those of VL 0 are the port's, and those of other VLs are 0:
 * the fabric does not say on which VL a packet was. Records of VLs are compact: one for each bit of VLSelectMask.
 * An adapter has one port at a time, whose number must be in the mask; a switch answers for every port in the
 * mask, port 0 too. An answer that would be too long is refused with 0x0100, and an N that is not the
 * number of ports in the mask with 0x1C (adapter) or 0x0200 (switch). A refusal is the header only.
 *
 * Data are in flits of 8 bytes.
 */

enum {
	VL_MASK = 0x80FF,
	WORDS = 4, /* of a port mask, the most significant first */
	STATUS_BYTES = 216,
	STATUS_VL_BYTES = 112,
	DATA_BYTES = 136,
	DATA_VL_BYTES = 104,
	ERROR_BYTES = 96,
	ERROR_VL_BYTES = 8,
	INFO_BYTES = 72,
	MASK_BYTES = 32,
	HEADER_BYTES = 40, /* masks and resolution */
	CPI_BYTES = 80
};

/* Where a counter is: in PortStatus, in DataPortCounters, in ErrorPortCounters, in a VL's record; its width and clear bit. */
/* clang-format off */
static const struct {
	const char *name;
	uint8_t status, data, error, vl, width, bit;
} rows[OPA_COUNTERS] = {
	[OPA_XMIT_DATA] =          { "XmitData",                  8,   8,  0,   0, 64, 31 },
	[OPA_RCV_DATA] =           { "RcvData",                  16,  16,  0,   8, 64, 30 },
	[OPA_XMIT_PKTS] =          { "XmitPkts",                 24,  24,  0,  16, 64, 29 },
	[OPA_RCV_PKTS] =           { "RcvPkts",                  32,  32,  0,  24, 64, 28 },
	[OPA_MC_XMIT_PKTS] =       { "MulticastXmitPkts",        40,  40,  0, 255, 64, 27 },
	[OPA_MC_RCV_PKTS] =        { "MulticastRcvPkts",         48,  48,  0, 255, 64, 26 },
	[OPA_XMIT_WAIT] =          { "XmitWait",                 56,  56,  0,  32, 64, 25 },
	[OPA_CONGESTION_DISCARDS] ={ "CongDiscards",             64,  64,  0,  40, 64, 24 },
	[OPA_RCV_FECN] =           { "RcvFECN",                  72,  72,  0,  48, 64, 23 },
	[OPA_RCV_BECN] =           { "RcvBECN",                  80,  80,  0,  56, 64, 22 },
	[OPA_XMIT_TIME_CONG] =     { "XmitTimeCong",             88,  88,  0,  64, 64, 21 },
	[OPA_XMIT_WASTED] =        { "XmitWastedBW",             96,  96,  0,  72, 64, 20 },
	[OPA_XMIT_WAIT_DATA] =     { "XmitWaitData",            104, 104,  0,  80, 64, 19 },
	[OPA_RCV_BUBBLE] =         { "RcvBubble",               112, 112,  0,  88, 64, 18 },
	[OPA_MARK_FECN] =          { "MarkFECN",                120, 120,  0,  96, 64, 17 },
	[OPA_RCV_CONSTRAINT] =     { "RcvConstraintErrors",     128,   0,  8, 255, 64, 16 },
	[OPA_RCV_RELAY] =          { "RcvSwitchRelayErrors",    136,   0, 16, 255, 64, 15 },
	[OPA_XMIT_DISCARDS] =      { "XmitDiscards",            144,   0, 24, 104, 64, 14 },
	[OPA_XMIT_CONSTRAINT] =    { "XmitConstraintErrors",    152,   0, 32, 255, 64, 13 },
	[OPA_RCV_REMOTE] =         { "RcvRemotePhysicalErrors", 160,   0, 40, 255, 64, 12 },
	[OPA_LINK_INTEGRITY] =     { "LocalLinkIntegrityErrors",168,   0, 48, 255, 64, 11 },
	[OPA_RCV_ERRORS] =         { "RcvErrors",               176,   0, 56, 255, 64, 10 },
	[OPA_OVERRUNS] =           { "ExcessiveBufferOverruns", 184,   0, 64, 255, 64,  9 },
	[OPA_CONFIG_ERRORS] =      { "FMConfigErrors",          192,   0, 72, 255, 64,  8 },
	[OPA_LINK_RECOVERY] =      { "LinkErrorRecovery",       200,   0, 80, 255, 32,  7 },
	[OPA_LINK_DOWNED] =        { "LinkDowned",              204,   0, 84, 255, 32,  6 },
	[OPA_UNCORRECTABLE] =      { "UncorrectableErrors",     208,   0, 88, 255,  8,  5 },
};
/* clang-format on */

enum counter_place { IN_STATUS, IN_DATA, IN_ERROR };

enum opa_counter opa_counter_find(const char *name)
{
	unsigned i = 0;

	while (i < OPA_COUNTERS && strcasecmp(rows[i].name, name) != 0) {
		i++;
	}
	return (enum opa_counter)i;
}

static void put_counter(uint8_t *record, unsigned at, unsigned width, uint64_t v)
{
	const uint64_t most =
		UINT64_MAX >> (64 - width); /* narrow ones stay at their highest value */

	field_set(record, OB(at), width, v < most ? v : most);
}

static void put_counters(const struct opa_port *p, enum counter_place place,
                         uint8_t *record)
{
	for (unsigned i = 0; i < OPA_COUNTERS; i++) {
		const unsigned at = place == IN_STATUS ? rows[i].status
		                    : place == IN_DATA ? rows[i].data
		                                       : rows[i].error;

		if (at != 0) {
			put_counter(record, at, rows[i].width, p->counters[i]);
		}
	}
}

/* The records of the VLs in a mask. */
static void put_vls(const struct opa_port *p, uint32_t mask, size_t stride, uint8_t *at)
{
	for (unsigned vl = 0; vl < 32; vl++) {
		if ((mask >> vl & 1) == 0) {
			continue;
		}
		for (unsigned i = 0; vl == 0 && i < OPA_COUNTERS; i++) {
			if (rows[i].vl != 255 && rows[i].vl + 8u <= stride) {
				field_set(at, OB(rows[i].vl), 64, p->counters[i]);
			}
		}
		if (vl == 0 && stride == ERROR_VL_BYTES) {
			field_set(at, OB(0), 64, p->counters[OPA_XMIT_DISCARDS]);
		}
		at += stride;
	}
}

static unsigned quality(const struct opa_port *p)
{
	return p->num == 0 ? 5 : p->peer != NULL ? p->quality : 0;
}

/* Sum of all error counters, the two of link quality shifted by the resolution. */
static uint64_t summary(const struct opa_port *p, uint32_t resolution)
{
	const unsigned lli = resolution >> 4 & 15, ler = resolution & 15;
	uint64_t sum = p->counters[OPA_CONGESTION_DISCARDS];

	for (unsigned i = OPA_RCV_CONSTRAINT; i < OPA_COUNTERS; i++) {
		const unsigned shift = i == OPA_LINK_INTEGRITY && lli != 0  ? lli + 8
		                       : i == OPA_LINK_RECOVERY && ler != 0 ? ler + 2
		                                                            : 0;

		sum += p->counters[i] >> shift;
	}
	return sum;
}

static bool port_in(const uint8_t *mask, unsigned port)
{
	return field_get(mask, 64 * (WORDS - 1 - port / 64) + 63 - port % 64, 1);
}

static unsigned bits_of(const uint8_t *mask)
{
	unsigned n = 0;

	for (unsigned w = 0; w < WORDS; w++) {
		n += (unsigned)__builtin_popcountll(field_get(mask, 64 * w, 64));
	}
	return n;
}

/* Checks the mask of ports. \return MAD status. */
static uint16_t check_ports(const struct opa_device *d, unsigned own, unsigned n,
                            const uint8_t *mask)
{
	const uint64_t low = field_get(mask, 64 * (WORDS - 1), 64);

	if (!d->is_switch) {
		return n == 1 && low == UINT64_C(1) << own ? OPA_GOOD : OPA_BAD_FIELD;
	}
	for (unsigned port = d->n_ports + 1u; port < 256; port++) {
		if (port_in(mask, port)) {
			return OPA_BAD_FIELD;
		}
	}
	return n == bits_of(mask) && n > 0 ? OPA_GOOD : OPA_BAD_NUMBER;
}

/* One access of the agent. */
struct perf {
	struct opa_device *d;
	unsigned own; /* port of an adapter */
	bool set;
	uint32_t mod;
	uint8_t *data;
	size_t room, len;
};

static uint16_t class_port_info(struct perf *a)
{
	if (a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	memset(a->data, 0, CPI_BYTES);
	a->data[0] = a->data[1] = OPA_VERSION;
	field_set(a->data, 59, 5, 18); /* RespTimeValue */
	a->len = CPI_BYTES;
	return a->mod == 0 ? OPA_GOOD
	                   : OPA_BAD_FIELD; /* with the data, as the driver does */
}

static uint16_t port_status(struct perf *a)
{
	const uint32_t vls = (uint32_t)field_get(a->data, OB(4), 32);
	const size_t bytes = STATUS_BYTES +
	                     (size_t)STATUS_VL_BYTES * (unsigned)__builtin_popcount(vls);
	unsigned port = a->data[0];
	struct opa_port sum;

	if (a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (bytes > a->room) {
		return OPA_TOO_LARGE;
	}
	if (a->mod >> 24 != 1 || (vls & ~(uint32_t)VL_MASK) != 0) {
		return OPA_BAD_FIELD;
	}
	if (a->d->is_switch ? port > a->d->n_ports && port != 255
	                    : port != 0 && port != a->own) {
		return OPA_BAD_FIELD;
	}
	if (!a->d->is_switch) {
		port = a->own;
	}
	if (port == 255) { /* the sum of all ports */
		sum = a->d->ports[1];
		for (unsigned n = 2; n <= a->d->n_ports; n++) {
			for (unsigned i = 0; i < OPA_COUNTERS; i++) {
				sum.counters[i] += a->d->ports[n].counters[i];
			}
		}
	} else {
		sum = a->d->ports[port];
	}
	memset(a->data, 0, bytes);
	a->data[0] = (uint8_t)port;
	field_set(a->data, OB(4), 32, vls);
	put_counters(&sum, IN_STATUS, a->data);
	field_set(a->data, OB(209) + 5, 3, quality(&sum));
	put_vls(&sum, vls, STATUS_VL_BYTES, a->data + STATUS_BYTES);
	a->len = bytes;
	return OPA_GOOD;
}

static uint16_t clear_port_status(struct perf *a)
{
	const uint32_t select = (uint32_t)field_get(a->data, OB(32), 32);

	if (!a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	/* N is 1 whatever the mask says */
	if (a->mod >> 24 != 1 ||
	    (!a->d->is_switch && check_ports(a->d, a->own, 1, a->data) != OPA_GOOD)) {
		return OPA_BAD_FIELD;
	}
	for (unsigned port = a->d->is_switch ? 0 : 1; port <= a->d->n_ports; port++) {
		for (unsigned i = 0; port_in(a->data, port) && i < OPA_COUNTERS; i++) {
			if (select >> rows[i].bit & 1) {
				a->d->ports[port].counters[i] = 0;
			}
		}
	}
	a->len = 36;
	return OPA_GOOD;
}

/* DataPortCounters and ErrorPortCounters. */
static uint16_t counters(struct perf *a, bool errors)
{
	const unsigned n = a->mod >> 24;
	const uint32_t vls = (uint32_t)field_get(a->data, OB(MASK_BYTES), 32);
	const uint32_t resolution = (uint32_t)field_get(a->data, OB(36), 32);
	const size_t vl_bytes = errors ? ERROR_VL_BYTES : DATA_VL_BYTES;
	const size_t stride = (errors ? ERROR_BYTES : DATA_BYTES) +
	                      vl_bytes * (unsigned)__builtin_popcount(vls);

	if (a->set) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (HEADER_BYTES + n * stride > a->room) {
		return OPA_TOO_LARGE;
	}
	if ((vls & ~(uint32_t)VL_MASK) != 0) {
		return OPA_BAD_FIELD;
	}
	const uint16_t status = check_ports(a->d, a->own, n, a->data);
	if (status != OPA_GOOD) {
		return status;
	}
	uint8_t *at = a->data + HEADER_BYTES;
	memset(at, 0, n * stride);
	for (unsigned port = a->d->is_switch ? 0 : 1; port <= a->d->n_ports; port++) {
		const struct opa_port *p = &a->d->ports[port];

		if (!port_in(a->data, port)) {
			continue;
		}
		at[0] = (uint8_t)port;
		put_counters(p, errors ? IN_ERROR : IN_DATA, at);
		if (!errors) {
			field_set(at, OB(4) + 29, 3, quality(p));
			field_set(at, OB(128), 64, summary(p, resolution));
		}
		put_vls(p, vls, vl_bytes, at + (errors ? ERROR_BYTES : DATA_BYTES));
		at += stride;
	}
	a->len = HEADER_BYTES + n * stride;
	return OPA_GOOD;
}

/* A status bit of each part says that the first event since the last clear is stored there. */
static uint16_t error_info(struct perf *a)
{
	static const uint8_t parts[] = {
		8, 32, 40, 48, 56, 64, 66
	}; /* select bits 31 to 25 */
	const unsigned n = a->mod >> 24;
	const uint32_t select = (uint32_t)field_get(a->data, OB(MASK_BYTES), 32);

	if (HEADER_BYTES + (size_t)n * INFO_BYTES > a->room) {
		return OPA_TOO_LARGE;
	}
	const uint16_t status = check_ports(a->d, a->own, n, a->data);
	if (status != OPA_GOOD) {
		return status;
	}
	uint8_t *at = a->data + HEADER_BYTES;
	for (unsigned port = a->d->is_switch ? 0 : 1; port <= a->d->n_ports; port++) {
		uint8_t *own = a->d->ports[port].error_info;

		if (!port_in(a->data, port)) {
			continue;
		}
		for (unsigned i = 0; a->set && i < sizeof(parts); i++) {
			if (select >> (31 - i) & 1) {
				own[parts[i]] &= 0x7F;
			}
		}
		memcpy(at, own, INFO_BYTES);
		at[0] = (uint8_t)port;
		at += INFO_BYTES;
	}
	a->len = HEADER_BYTES + (size_t)n * INFO_BYTES;
	return OPA_GOOD;
}

static uint16_t answer(struct perf *a, const uint8_t *mad, size_t len)
{
	const uint16_t attr = (uint16_t)field_get(mad, MAD_ATTR_ID);
	const size_t least = attr == OPA_CLASS_PORT_INFO     ? 0
	                     : attr == OPA_PORT_STATUS       ? 8
	                     : attr == OPA_CLEAR_PORT_STATUS ? 36
	                                                     : 40;

	if (mad[2] != OPA_VERSION) {
		return OPA_BAD_VERSION;
	}
	if (mad[3] != OPA_GET && mad[3] != OPA_SET) {
		return OPA_BAD_METHOD;
	}
	if (attr != OPA_CLASS_PORT_INFO &&
	    (attr < OPA_PORT_STATUS || attr > OPA_ERROR_INFO)) {
		return OPA_BAD_ATTRIBUTE;
	}
	if (len < OPA_PM_DATA_AT + least) {
		return OPA_BAD_FIELD;
	}
	switch (attr) {
	case OPA_CLASS_PORT_INFO: return class_port_info(a);
	case OPA_PORT_STATUS: return port_status(a);
	case OPA_CLEAR_PORT_STATUS: return clear_port_status(a);
	case OPA_DATA_COUNTERS: return counters(a, false);
	case OPA_ERROR_COUNTERS: return counters(a, true);
	default: return error_info(a);
	}
}

/* From another node only the two management keys count; a port that is a manager does not answer a member. */
static bool allows(const struct opa_port *p, const struct opa_from *from)
{
	return from->local || from->p_key == OPA_P_KEY_MANAGER ||
	       (from->p_key == OPA_P_KEY_MEMBER && !opa_has_p_key(p, OPA_P_KEY_MANAGER));
}

size_t opa_perf_agent(struct opa_device *d, const struct opa_from *from, uint8_t *mad,
                      size_t len)
{
	struct perf a = { .d = d,
		          .own = d->is_switch ? 0 : from->port,
		          .set = mad[3] == OPA_SET,
		          .mod = (uint32_t)field_get(mad, MAD_ATTR_MOD),
		          .data = mad + OPA_PM_DATA_AT,
		          .room = OPA_MAD_BYTES - OPA_PM_DATA_AT };

	if ((mad[3] & 0x80) != 0 || len < OPA_PM_DATA_AT ||
	    !allows(&d->ports[a.own], from)) {
		return 0;
	}
	memset(mad + len, 0, OPA_MAD_BYTES - len);
	const uint16_t status = answer(&a, mad, len);
	mad[3] = OPA_GET_RESP;
	field_set(mad, MAD_STATUS, status);
	return (OPA_PM_DATA_AT + a.len + 7) / 8 * 8;
}
