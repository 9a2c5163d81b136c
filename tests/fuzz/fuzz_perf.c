/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as answers of performance agents, of InfiniBand and of Omni-Path: no read behind their end;
 * what is known and at its limit is a counter, the latter one that is known; quality has 3 bits.
 *
 * Input: the attribute (bits 2:0), the port, the number of the record, and the data of the attribute.
 */
#include <stdlib.h>
#include <string.h>

#include "sa/perf/counter_fields.h"
#include "sa/perf/opa_counters.h"
#include "tests/fuzz/fuzz.h"

enum { HEAD = 3 };

static void infiniband(uint16_t attr, const uint8_t *data, size_t len,
                       struct counter_reading *r)
{
	uint8_t whole[PERF_DATA_BYTES] = { 0 };

	/* a MAD that is shorter is dropped before */
	memcpy(whole, data, len < sizeof(whole) ? len : sizeof(whole));
	const struct perf_caps caps = perf_caps(whole);
	counter_fields_take(&caps, attr, whole, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t attrs[] = { OPA_PORT_STATUS,         OPA_DATA_PORT_COUNTERS,
		                          OPA_ERROR_PORT_COUNTERS, PERF_PORT_COUNTERS,
		                          PERF_PORT_COUNTERS_EXT,  PERF_PORT_EXT_SPEEDS };
	struct counter_reading r = { .known = 0 };
	uint64_t sum = 0;
	bool taken = true;

	if (size < HEAD) {
		return 0;
	}
	const uint16_t attr = attrs[data[0] % (sizeof(attrs) / sizeof(attrs[0]))];
	const uint8_t *from = data + HEAD;
	const size_t len = size - HEAD;

	if (attr == OPA_PORT_STATUS) {
		taken = opa_counters_status(from, len, data[1], &r);
	} else if (attr == OPA_DATA_PORT_COUNTERS || attr == OPA_ERROR_PORT_COUNTERS) {
		taken = opa_counters_record(attr, from, len, data[2], data[1], &r, &sum);
	} else {
		infiniband(attr, from, len, &r);
	}
	if ((r.known == 0) != !taken || (r.saturated & ~r.known) != 0 ||
	    r.known >> PORT_COUNTERS != 0 || r.value[COUNTER_LINK_QUALITY] > 7) {
		abort();
	}
	return 0;
}
