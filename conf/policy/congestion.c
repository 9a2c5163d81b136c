/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/congestion.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/err.h"
#include "conf/base/text.h"

enum { SHIFT_MOST = 3, MULTIPLIER_BITS = 14, MULTIPLIER_MOST = (1 << MULTIPLIER_BITS) - 1 };

int congestion_mask_parse(const char *text, struct congestion_mask *ret_mask)
{
	const char *digits = strncasecmp(text, "0x", 2) == 0 ? text + 2 : text;
	size_t n = strlen(digits);
	struct congestion_mask m = { .byte = { 0 } };

	if (n == 0 || strspn(digits, "0123456789abcdefABCDEF") != n) {
		return E_SYNTAX;
	}
	if (n > 2 * sizeof(m.byte)) {
		return E_RANGE;
	}
	for (size_t i = 0; i < n; i++) { /* from the lowest digit on */
		int c = tolower((unsigned char)digits[n - 1 - i]);
		unsigned v = (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);

		m.byte[sizeof(m.byte) - 1 - i / 2] |= (uint8_t)(v << 4 * (i % 2));
	}
	*ret_mask = m;
	return E_OK;
}

/* A number and what stands behind it, behind blanks. *at: the beginning, then behind it. */
static int read_number(const char **at, unsigned long most, unsigned long *ret_number)
{
	const char *p = *at + strspn(*at, " \t");
	char *end;

	if (!isdigit((unsigned char)*p)) {
		return E_SYNTAX;
	}
	unsigned long v = strtoul(p, &end, 0);

	*at = end + strspn(end, " \t");
	*ret_number = v;
	return v <= most ? E_OK : E_RANGE;
}

/* \return Is there a further item behind the comma? */
static bool next_item(const char **at)
{
	if (**at != ',') {
		return false;
	}
	(*at)++;
	return true;
}

int congestion_sls_parse(const char *text, uint32_t most, struct congestion_sls *sls)
{
	struct congestion_sls now = *sls;
	unsigned long sl, value;
	const char *p = text;
	int ret;

	do {
		ret = read_number(&p, CONGESTION_SLS - 1, &sl);
		if (ret == E_OK) {
			ret = read_number(&p, most, &value);
		}
		if (ret != E_OK) {
			return ret;
		}
		now.of[sl] = (uint16_t)value;
	} while (next_item(&p));
	if (*p != '\0') {
		return E_SYNTAX;
	}
	*sls = now;
	return E_OK;
}

int congestion_table_parse(const char *text, uint32_t most,
                           struct congestion_table *ret_table)
{
	struct congestion_table t = { .n = 0 };
	unsigned long shift, multiplier;
	const char *p = text;
	int ret;

	do {
		if (t.n == most) {
			return E_RANGE;
		}
		ret = read_number(&p, SHIFT_MOST, &shift);
		if (ret == E_OK && *p++ != ':') {
			ret = E_SYNTAX;
		}
		if (ret == E_OK) {
			ret = read_number(&p, MULTIPLIER_MOST, &multiplier);
		}
		if (ret != E_OK) {
			return ret;
		}
		t.entry[t.n++] = (uint16_t)(shift << MULTIPLIER_BITS | multiplier);
	} while (next_item(&p));
	if (*p != '\0') {
		return E_SYNTAX;
	}
	*ret_table = t;
	return E_OK;
}
