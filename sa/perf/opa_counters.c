/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/perf/opa_counters.h"

#include "sa/mad/fields.h"

enum {
	STATUS_BYTES = 216,
	MASKS_BYTES = 40, /* of ports and VLs, and the resolution of the sum */
	DATA_BYTES = 136,
	ERROR_BYTES = 96,
	ERROR_SUM_AT = 128 * 8,
	QUALITY_IN_STATUS = 209 * 8 + 5,
	QUALITY_IN_DATA = 4 * 8 + 29,
	QUALITY_BITS = 3,
	FLIT_BYTES = 8 /* data are counted in flits */
};

/* clang-format off */
/* Byte of each counter in PortStatus and in the records of DataPortCounters and
 * ErrorPortCounters (0: not there), and its bits. LocalLinkIntegrityErrors are replays. */
static const struct {
	uint8_t counter, status, data, error, bits;
} fields[] = {
	{ COUNTER_XMIT_DATA,                         8,   8,  0, 64 },
	{ COUNTER_RCV_DATA,                         16,  16,  0, 64 },
	{ COUNTER_XMIT_PKTS,                        24,  24,  0, 64 },
	{ COUNTER_RCV_PKTS,                         32,  32,  0, 64 },
	{ COUNTER_MULTICAST_XMIT_PKTS,              40,  40,  0, 64 },
	{ COUNTER_MULTICAST_RCV_PKTS,               48,  48,  0, 64 },
	{ COUNTER_XMIT_WAIT,                        56,  56,  0, 64 },
	{ COUNTER_RCV_FECN,                         72,  72,  0, 64 },
	{ COUNTER_RCV_BECN,                         80,  80,  0, 64 },
	{ COUNTER_MARK_FECN,                       120, 120,  0, 64 },
	{ COUNTER_RCV_CONSTRAINT_ERRORS,           128,   0,  8, 64 },
	{ COUNTER_RCV_SWITCH_RELAY_ERRORS,         136,   0, 16, 64 },
	{ COUNTER_XMIT_DISCARDS,                   144,   0, 24, 64 },
	{ COUNTER_XMIT_CONSTRAINT_ERRORS,          152,   0, 32, 64 },
	{ COUNTER_RCV_REMOTE_PHYSICAL_ERRORS,      160,   0, 40, 64 },
	{ COUNTER_LINK_REPLAYS,                    168,   0, 48, 64 },
	{ COUNTER_RCV_ERRORS,                      176,   0, 56, 64 },
	{ COUNTER_EXCESSIVE_BUFFER_OVERRUN_ERRORS, 184,   0, 64, 64 },
	{ COUNTER_FM_CONFIG_ERRORS,                192,   0, 72, 64 },
	{ COUNTER_LINK_ERROR_RECOVERY,             200,   0, 80, 32 },
	{ COUNTER_LINK_DOWNED,                     204,   0, 84, 32 },
	{ COUNTER_UNCORRECTABLE_ERRORS,            208,   0, 88,  8 },
};
/* clang-format on */

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

void opa_counters_select(uint8_t mask[OPA_PORTS_MASK_BYTES], uint8_t port)
{
	mask[OPA_PORTS_MASK_BYTES - 1 - port / 8] |= (uint8_t)(1u << port % 8);
}

static void take(struct counter_reading *r, unsigned counter, uint64_t v, bool full)
{
	uint32_t bit = UINT32_C(1) << counter;
	bool is_data = counter == COUNTER_XMIT_DATA || counter == COUNTER_RCV_DATA;

	r->value[counter] = is_data ? v * FLIT_BYTES : v;
	r->known |= bit;
	r->wide |= bit;
	r->saturated = full ? r->saturated | bit : r->saturated & ~bit;
}

static void take_all(const uint8_t *record, uint16_t attr, struct counter_reading *r)
{
	for (unsigned i = 0; i < FIELDS; i++) {
		unsigned at = attr == OPA_PORT_STATUS          ? fields[i].status
		              : attr == OPA_DATA_PORT_COUNTERS ? fields[i].data
		                                               : fields[i].error;

		if (at != 0) {
			uint64_t v = field_get(record, at * 8, fields[i].bits);

			take(r, fields[i].counter, v,
			     v == UINT64_MAX >> (64 - fields[i].bits));
		}
	}
	if (attr != OPA_ERROR_PORT_COUNTERS) {
		unsigned at =
			attr == OPA_PORT_STATUS ? QUALITY_IN_STATUS : QUALITY_IN_DATA;

		take(r, COUNTER_LINK_QUALITY, field_get(record, at, QUALITY_BITS), false);
	}
}

bool opa_counters_status(const uint8_t *data, size_t len, uint8_t port,
                         struct counter_reading *r)
{
	if (len < STATUS_BYTES || data[0] != port) {
		return false;
	}
	take_all(data, OPA_PORT_STATUS, r);
	return true;
}

bool opa_counters_record(uint16_t attr, const uint8_t *data, size_t len, unsigned n,
                         uint8_t port, struct counter_reading *r, uint64_t *ret_sum)
{
	size_t bytes = attr == OPA_DATA_PORT_COUNTERS ? DATA_BYTES : ERROR_BYTES;
	size_t at = MASKS_BYTES + n * bytes;

	if (len < at + bytes || data[at] != port) {
		return false;
	}
	take_all(data + at, attr, r);
	if (attr == OPA_DATA_PORT_COUNTERS) {
		*ret_sum = field_get(data + at, ERROR_SUM_AT, 64);
	}
	return true;
}
