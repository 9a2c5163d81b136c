/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/text.h"
#include "routing/graph/graph.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static json_t *repaired(const char *bytes)
{
	char *text = malloc(strlen(bytes) * (sizeof(replacement) - 1) + 1);
	if (text == NULL) {
		return NULL;
	}
	char *to = text;
	while (*bytes != '\0') {
		unsigned n = text_utf8_length(bytes);
		bool good = n > 0 && *bytes != 0x7f;
		const char *from = good ? bytes : replacement;
		size_t len = good ? n : sizeof(replacement) - 1;
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
	json_t *value = strchr(bytes, 0x7f) == NULL
	                        ? json_string(bytes) /* refuses what is not UTF-8 */
	                        : NULL;
	return value != NULL ? value : repaired(bytes);
}

static void make_string_printable(json_t *v)
{
	char *text = strdup(json_string_value(v));

	if (text != NULL) {
		text_printable(text);
	}
	if (text == NULL || strcmp(text, json_string_value(v)) != 0) {
		json_string_set_nocheck(v, text != NULL ? text : "?");
	}
	free(text);
}

void json_make_printable(json_t *v)
{
	const char *name;
	size_t i;
	json_t *member;

	if (json_is_string(v)) {
		make_string_printable(v);
	}
	json_array_foreach(v, i, member)
	{
		json_make_printable(member);
	}
	json_object_foreach(v, name, member)
	{
		json_make_printable(member);
	}
}

char *json_put_number(char *p, uint64_t v)
{
	char digits[JSON_NUMBER_BYTES], *d = digits + sizeof(digits);

	if (v < 10) { /* as most codes are */
		*p = (char)('0' + v);
		return p + 1;
	}
	do {
		*--d = (char)('0' + v % 10);
		v /= 10;
	} while (v != 0);
	return json_put_bytes(p, d, (size_t)(digits + sizeof(digits) - d));
}

char *json_put_guid(char *p, uint64_t v)
{
	static const char digits[] = "0123456789abcdef";

	p = JSON_PUT(p, "\"0x");
	for (int shift = 60; shift >= 0; shift -= 4) {
		*p++ = digits[v >> shift & 0xf];
	}
	*p++ = '"';
	return p;
}

json_t *guid_json(uint64_t guid)
{
	char text[24];

	int len = snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return json_stringn_nocheck(text, (size_t)len);
}

enum { GID_GROUPS = 8 };

/* First of the longest runs of groups that are 0, if that is longer than one. */
static unsigned zero_run(const unsigned group[GID_GROUPS], unsigned *ret_first)
{
	unsigned best = 1, run = 0;

	*ret_first = GID_GROUPS;
	for (unsigned i = 0; i < GID_GROUPS; i++) {
		run = group[i] == 0 ? run + 1 : 0;
		if (run > best) {
			best = run;
			*ret_first = i + 1 - run;
		}
	}
	return best;
}

static char *put_group(char *p, unsigned group)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned shift = group > 0xfff  ? 12
	                      : group > 0xff ? 8
	                      : group > 0xf  ? 4
	                                     : 0;
	     ; shift -= 4) {
		*p++ = digits[group >> shift & 0xf];
		if (shift == 0) {
			return p;
		}
	}
}

/* By hand: a stream has two GIDs in each of millions of records. */
unsigned gid_text(uint64_t prefix, uint64_t guid, char ret_text[GID_TEXT_BYTES])
{
	unsigned group[GID_GROUPS], first;
	char *p = ret_text;

	for (unsigned i = 0; i < GID_GROUPS; i++) {
		group[i] = (i < 4 ? prefix >> (48 - 16 * i) : guid >> (112 - 16 * i)) &
		           0xffff;
	}
	unsigned run = zero_run(group, &first);
	for (unsigned i = 0; i < GID_GROUPS; i++) {
		if (i == first) {
			*p++ = ':';
			i += run - 1;
			if (i == GID_GROUPS - 1) {
				*p++ = ':';
			}
			continue;
		}
		if (i > 0) {
			*p++ = ':';
		}
		p = put_group(p, group[i]);
	}
	*p = '\0';
	return (unsigned)(p - ret_text);
}

json_t *gid_json(uint64_t prefix, uint64_t guid)
{
	char text[GID_TEXT_BYTES];
	unsigned len = gid_text(prefix, guid, text);

	return json_stringn_nocheck(text, len);
}

char *json_put_gid(char *p, uint64_t prefix, uint64_t guid)
{
	*p++ = '"';
	p += gid_text(prefix, guid, p);
	*p++ = '"';
	return p;
}

char *json_put_rate_gbps(char *p, uint8_t rate)
{
	uint32_t tenths = rate_speed(rate);

	if (tenths == 0) {
		return JSON_PUT(p, "null");
	}
	p = json_put_number(p, tenths / 10);
	if (tenths % 10 != 0) {
		*p++ = '.';
		p = json_put_number(p, tenths % 10);
	}
	return p;
}

json_t *word_json(const char *text)
{
	return text_json(text != NULL && *text != '\0' ? text : NULL);
}

json_t *named_port_json(uint64_t guid, const char *name, uint8_t port)
{
	if (guid == 0) {
		return json_null();
	}
	json_t *o =
		json_pack("{s:o, s:o}", "guid", guid_json(guid), "name", text_json(name));
	if (o != NULL && port != 0) {
		json_object_set_new(o, "port", json_integer(port));
	}
	return o;
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
	enum { MTU_8192 = 6, MTU_10240 = 7 };

	return mtu == MTU_10240 ? 10240 : mtu >= 1 && mtu <= MTU_8192 ? 128 << mtu : 0;
}

const char *time_text(int64_t seconds, char buf[TIME_TEXT_BYTES])
{
	struct tm tm;
	time_t t = (time_t)seconds;

	if (gmtime_r(&t, &tm) == NULL) {
		return strcpy(buf, "an unknown time");
	}
	strftime(buf, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return buf;
}

json_t *time_json(int64_t seconds)
{
	char text[TIME_TEXT_BYTES];

	return json_string_nocheck(time_text(seconds, text));
}
