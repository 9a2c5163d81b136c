/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/perf/counter_fields.h"

#include "conf/base/digest.h"
#include "sa/mad/fields.h"

/* clang-format off */
#define CPI_CAPABILITY_MASK  16, 16
#define CPI_CAPABILITY_MASK2 32, 27

/* Where each counter stands: first bit and width in PortCounters, first bit of its 64 in
 * PortCountersExtended; width 0, bit 0: not there. Data are counted in units of 4 octets. */
static const struct {
	uint16_t bit, width, wide;
} fields[PORT_COUNTERS] = {
	[COUNTER_SYMBOL_ERRORS] =                    {  32, 16,  576 },
	[COUNTER_LINK_ERROR_RECOVERY] =              {  48,  8,  640 },
	[COUNTER_LINK_DOWNED] =                      {  56,  8,  704 },
	[COUNTER_RCV_ERRORS] =                       {  64, 16,  768 },
	[COUNTER_RCV_REMOTE_PHYSICAL_ERRORS] =       {  80, 16,  832 },
	[COUNTER_RCV_SWITCH_RELAY_ERRORS] =          {  96, 16,  896 },
	[COUNTER_XMIT_DISCARDS] =                    { 112, 16,  960 },
	[COUNTER_XMIT_CONSTRAINT_ERRORS] =           { 128,  8, 1024 },
	[COUNTER_RCV_CONSTRAINT_ERRORS] =            { 136,  8, 1088 },
	[COUNTER_LOCAL_LINK_INTEGRITY_ERRORS] =      { 152,  4, 1152 },
	[COUNTER_EXCESSIVE_BUFFER_OVERRUN_ERRORS] =  { 156,  4, 1216 },
	[COUNTER_QP1_DROPPED] =                      { 160, 16, 1408 },
	[COUNTER_VL15_DROPPED] =                     { 176, 16, 1280 },
	[COUNTER_XMIT_DATA] =                        { 192, 32,   64 },
	[COUNTER_RCV_DATA] =                         { 224, 32,  128 },
	[COUNTER_XMIT_PKTS] =                        { 256, 32,  192 },
	[COUNTER_RCV_PKTS] =                         { 288, 32,  256 },
	[COUNTER_XMIT_WAIT] =                        { 320, 32, 1344 },
	[COUNTER_UNICAST_XMIT_PKTS] =                {   0,  0,  320 },
	[COUNTER_UNICAST_RCV_PKTS] =                 {   0,  0,  384 },
	[COUNTER_MULTICAST_XMIT_PKTS] =              {   0,  0,  448 },
	[COUNTER_MULTICAST_RCV_PKTS] =               {   0,  0,  512 },
};
/* clang-format on */

enum {
	CAP_ALL_PORT_SELECT = 1 << 8,
	CAP_EXTENDED_WIDTH = 1 << 9,
	CAP_EXTENDED_WIDTH_NO_IETF = 1 << 10,
	CAP_XMIT_WAIT = 1 << 12,
	CAP_RS_FEC = 1 << 14,
	CAP_QP1_DROPPED = 1 << 15,
	CAP2_ADDITIONAL_EXTENDED = 1 << 1,
	WIDE_ERRORS_AT = 576,
	WIDE_UNICAST_AT = 320,
	/* PortExtendedSpeedsCounters */
	LANES = 12,
	LANE_BITS = 32,
	FEC_CORRECTED_LANES_AT = 352,
	FEC_UNCORRECTED_LANES_AT = 736,
	FEC_CORRECTED_PORT_AT = 1120,
	FEC_UNCORRECTED_PORT_AT = 1152
};

struct perf_caps perf_caps(const uint8_t *data)
{
	unsigned mask = (unsigned)field_get(data, CPI_CAPABILITY_MASK);
	unsigned mask2 = (unsigned)field_get(data, CPI_CAPABILITY_MASK2);
	bool wide = (mask & (CAP_EXTENDED_WIDTH | CAP_EXTENDED_WIDTH_NO_IETF)) != 0;

	return (struct perf_caps){
		.all_ports = (mask & CAP_ALL_PORT_SELECT) != 0,
		.wide = wide,
		.wide_unicast = (mask & CAP_EXTENDED_WIDTH) != 0,
		.wide_errors = wide && (mask2 & CAP2_ADDITIONAL_EXTENDED) != 0,
		.wait = (mask & CAP_XMIT_WAIT) != 0,
		.qp1_dropped = (mask & CAP_QP1_DROPPED) != 0,
		.rs_fec = (mask & CAP_RS_FEC) != 0,
	};
}

static void take(struct counter_reading *r, unsigned i, uint64_t value, bool wide, bool full)
{
	uint32_t bit = UINT32_C(1) << i;

	if (r->wide & bit && !wide) {
		return;
	}
	r->value[i] = i == COUNTER_XMIT_DATA || i == COUNTER_RCV_DATA ? value * 4 : value;
	r->known |= bit;
	r->wide |= wide ? bit : 0;
	r->saturated = full ? r->saturated | bit : r->saturated & ~bit;
}

static bool has(const struct perf_caps *c, unsigned i, bool wide)
{
	if (wide) {
		return fields[i].wide >= WIDE_ERRORS_AT ? c->wide_errors
		       : fields[i].wide >= WIDE_UNICAST_AT ? c->wide_unicast
		                                           : fields[i].wide != 0;
	}
	return fields[i].width != 0 && (i != COUNTER_XMIT_WAIT || c->wait) &&
	       (i != COUNTER_QP1_DROPPED || c->qp1_dropped);
}

static uint64_t sum_of_lanes(const uint8_t *data, unsigned bit)
{
	uint64_t sum = 0;

	for (unsigned lane = 0; lane < LANES; lane++) {
		sum += field_get(data, bit + lane * LANE_BITS, LANE_BITS);
	}
	return sum;
}

void counter_fields_take(const struct perf_caps *caps, uint16_t attr, const uint8_t *data,
                         struct counter_reading *r)
{
	if (attr == PERF_PORT_EXT_SPEEDS) {
		uint64_t repaired = caps->rs_fec ? field_get(data, FEC_CORRECTED_PORT_AT, 32)
		                                 : sum_of_lanes(data, FEC_CORRECTED_LANES_AT);
		uint64_t lost = caps->rs_fec ? field_get(data, FEC_UNCORRECTED_PORT_AT, 32)
		                             : sum_of_lanes(data, FEC_UNCORRECTED_LANES_AT);

		take(r, COUNTER_FEC_CORRECTED, repaired, false, repaired >= UINT32_MAX);
		take(r, COUNTER_FEC_UNCORRECTED, lost, false, lost >= UINT32_MAX);
		return;
	}
	bool wide = attr == PERF_PORT_COUNTERS_EXT;

	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		unsigned width = wide ? 64 : fields[i].width;

		if (has(caps, i, wide)) {
			uint64_t v = field_get(data, wide ? fields[i].wide : fields[i].bit, width);

			take(r, i, v, wide, v == UINT64_MAX >> (64 - width));
		}
	}
}

uint64_t counter_fields_error_digest(const uint8_t *data, bool *ret_full)
{
	uint64_t digest = 0;

	*ret_full = false;
	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		enum counter_kind kind = counter_types[i].kind;

		if (fields[i].width != 0 && kind != COUNTER_IS_DATA) {
			uint64_t v = field_get(data, fields[i].bit, fields[i].width);

			*ret_full |= v == UINT64_MAX >> (64 - fields[i].width);
			digest = digest_add(digest, v);
		}
	}
	return digest;
}
