/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/opafm_value.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"

const char opafm_life_time_expected[] =
	"a time from 4us to 2h (units ns, us, ms, s, m, h)";

/* The digits at the start as a number. \return what follows, NULL: no digits, or too many
 */
static const char *number(const char *text, uint64_t *ret_number)
{
	size_t n = strspn(text, "0123456789");
	if (n == 0 || n > 12) {
		return NULL;
	}
	*ret_number = strtoull(text, NULL, 10);
	return text + n;
}

const char *opafm_life_time(const char *text, struct arena *a)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "ns", 1 },
		      { "us", 1000 },
		      { "ms", 1000000 },
		      { "s", UINT64_C(1000000000) },
		      { "m", UINT64_C(60000000000) },
		      { "h", UINT64_C(3600000000000) } };
	uint64_t value, code = 0;
	const char *unit = number(text, &value);

	for (size_t i = 0; unit != NULL && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcasecmp(unit, units[i].name) != 0) {
			continue;
		}
		if (value > UINT64_MAX / units[i].ns) {
			return text;
		}
		while (code < 32 && UINT64_C(4096) << code < value * units[i].ns) {
			code++;
		}
		return arena_printf(a, "%" PRIu64, code);
	}
	return text;
}

const char *opafm_attempts(const char *text, struct arena *a)
{
	uint64_t value;
	if (text_u64(text, UINT32_MAX, &value) != E_OK) {
		return text;
	}
	return value > 0 ? arena_printf(a, "%" PRIu64, value - 1) : "no attempt";
}

const char *opafm_percent(const char *text, struct arena *a)
{
	uint64_t value;
	const char *rest = number(text, &value);
	return rest != NULL && strcmp(rest, "%") == 0 ? arena_printf(a, "%" PRIu64, value)
	                                              : text;
}

const char *opafm_rate(const char *text, struct arena *a)
{
	uint64_t value;
	const char *rest = number(text, &value);
	if (strcasecmp(text, "Unlimited") == 0) {
		return "0";
	}
	return rest != NULL && strcasecmp(rest, "g") == 0
	               ? arena_printf(a, "%" PRIu64, value)
	               : text;
}

const char *opafm_pkey(const char *text, struct arena *a)
{
	uint64_t value;
	if (text_u64(text, 0xffff, &value) != E_OK || (value & P_KEY_BASE) == 0) {
		return text;
	}
	return arena_printf(a, "0x%" PRIx64, value & P_KEY_BASE);
}

const char *opafm_lower(const char *text, struct arena *a)
{
	char *copy = arena_strdup(a, text);
	for (char *p = copy; p != NULL && *p != '\0'; p++) {
		*p = (char)tolower((unsigned char)*p);
	}
	return copy;
}

const char *opafm_not(const char *text, struct arena *a)
{
	uint64_t value;
	(void)a;
	if (text_u64(text, 1, &value) != E_OK) {
		return "neither 0 nor 1"; /* words would be taken for our own */
	}
	return value != 0 ? "FALSE" : "TRUE";
}
