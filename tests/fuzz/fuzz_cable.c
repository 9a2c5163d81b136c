/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as the memory of a cable's module: texts end, numbers are finite, and the JSON can be written.
 *
 * Input: bytes 0 to 63 of the memory, then bytes 128 to 255; without the first when it is shorter.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/inventory/cable.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool whole = size >= CABLE_LOW_BYTES + CABLE_UPPER_BYTES;
	struct cable c;
	json_t *json;
	char *text;

	if (size < CABLE_UPPER_BYTES ||
	    !cable_decode(whole ? data : NULL, whole ? data + CABLE_LOW_BYTES : data,
	                  &c)) {
		return 0;
	}
	json = cable_json(&c);
	text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	if (text == NULL || memchr(c.vendor, 0, sizeof(c.vendor)) == NULL ||
	    memchr(c.part, 0, sizeof(c.part)) == NULL ||
	    memchr(c.serial, 0, sizeof(c.serial)) == NULL ||
	    memchr(c.date, 0, sizeof(c.date)) == NULL || !isfinite(c.temperature_c) ||
	    !isfinite(c.length_m) || c.length_m < 0 || c.power_w < 0 || c.supply_v < 0) {
		abort();
	}
	free(text);
	json_decref(json);
	return 0;
}
