/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/json_text.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "routing/graph.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Bytes of the character at s, 0 when they are not UTF-8 (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). The text ends in a NUL, which is no continuation
 * byte, so this never reads past the end. */
static unsigned utf8_length(const unsigned char *s)
{
	unsigned n = s[0] < 0x80   ? 1
	             : s[0] < 0xc2 ? 0
	             : s[0] < 0xe0 ? 2
	             : s[0] < 0xf0 ? 3
	             : s[0] < 0xf5 ? 4
	                           : 0;

	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	           (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
	return bad ? 0 : n;
}

static json_t *repaired(const char *bytes)
{
	char *text = malloc(strlen(bytes) * (sizeof(replacement) - 1) + 1);
	if (text == NULL) {
		return NULL;
	}
	char *to = text;
	while (*bytes != '\0') {
		unsigned n = utf8_length((const unsigned char *)bytes);
		const char *from = n > 0 ? bytes : replacement;
		size_t len = n > 0 ? n : sizeof(replacement) - 1;
		memcpy(to, from, len);
		to += len;
		bytes += n > 0 ? n : 1;
	}
	json_t *value = json_stringn(text, (size_t)(to - text));
	free(text);
	return value;
}

json_t *text_json(const char *bytes)
{
	if (bytes == NULL) {
		return json_null();
	}
	json_t *value = json_string(bytes); /* refuses what is not UTF-8 */
	return value != NULL ? value : repaired(bytes);
}

json_t *guid_json(uint64_t guid)
{
	char text[24];

	int len = snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return json_stringn_nocheck(text, (size_t)len);
}

json_t *gid_json(uint64_t prefix, uint64_t guid)
{
	struct in6_addr addr;
	char text[INET6_ADDRSTRLEN];

	for (unsigned i = 0; i < 8; i++) {
		addr.s6_addr[i] = (uint8_t)(prefix >> (56 - 8 * i));
		addr.s6_addr[8 + i] = (uint8_t)(guid >> (56 - 8 * i));
	}
	if (inet_ntop(AF_INET6, &addr, text, sizeof(text)) == NULL) {
		return NULL;
	}
	return json_string_nocheck(text);
}

json_t *rate_gbps_json(uint8_t rate)
{
	uint32_t tenths = rate_speed(rate);

	if (tenths == 0) {
		return json_null();
	}
	return tenths % 10 == 0 ? json_integer(tenths / 10) : json_real(tenths / 10.0);
}

json_t *real_json(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

int mtu_bytes(uint8_t mtu)
{
	return mtu >= 1 && mtu <= 5 ? 128 << mtu : 0;
}

json_t *time_json(int64_t seconds)
{
	char text[40];
	struct tm tm;
	time_t t = (time_t)seconds;

	if (gmtime_r(&t, &tm) == NULL) {
		return json_null();
	}
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string_nocheck(text);
}
