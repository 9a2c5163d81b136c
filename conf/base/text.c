/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "conf/base/err.h"

/* Value of a digit up to base 16, or 16 when it is none. */
static unsigned digit(char c)
{
	if (c >= '0' && c <= '9') {
		return (unsigned)(c - '0');
	}
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Digits of a base up to \a len characters or the end; E_SYNTAX when there are none or
 * others among them. */
static int digits(const char *s, size_t len, unsigned base, uint64_t *ret_number)
{
	uint64_t v = 0;
	bool overflow = false;

	if (len == 0) {
		return E_SYNTAX;
	}
	for (size_t i = 0; i < len; i++) {
		unsigned d = digit(s[i]);
		if (d >= base) {
			return E_SYNTAX;
		}
		overflow |= __builtin_mul_overflow(v, base, &v);
		overflow |= __builtin_add_overflow(v, d, &v);
	}
	if (overflow) {
		return E_RANGE;
	}
	*ret_number = v;
	return E_OK;
}

static bool has_0x(const char *s)
{
	return s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

int text_u64(const char *s, uint64_t max, uint64_t *ret_number)
{
	uint64_t v;
	bool hex = has_0x(s);
	const char *start = hex ? s + 2 : s;
	int ret = digits(start, strlen(start), hex ? 16 : 10, &v);
	if (ret != E_OK) {
		return ret;
	}
	if (v > max) {
		return E_RANGE;
	}
	*ret_number = v;
	return E_OK;
}

/* "aaaa:bbbb:cccc:dddd" */
static int guid_groups(const char *s, uint64_t *ret_guid)
{
	uint64_t guid = 0;
	for (unsigned i = 0; i < 4; i++) {
		const char *group = s + 5 * i;
		uint64_t part;
		if (digits(group, 4, 16, &part) != E_OK || (i < 3 && group[4] != ':')) {
			return E_SYNTAX;
		}
		guid = guid << 16 | part;
	}
	*ret_guid = guid;
	return E_OK;
}

int text_guid(const char *s, uint64_t *ret_guid)
{
	size_t len = strlen(s);
	if (len == 19) {
		return guid_groups(s, ret_guid);
	}
	if (has_0x(s) && len <= 18) {
		return digits(s + 2, len - 2, 16, ret_guid);
	}
	return len == 16 ? digits(s, len, 16, ret_guid) : E_SYNTAX;
}

int text_number(const char *s, uint64_t *ret_number)
{
	int ret = text_guid(s, ret_number);
	if (ret == E_OK || has_0x(s)) {
		return ret;
	}
	bool octal = s[0] == '0' && s[1] != '\0';
	return digits(s, strlen(s), octal ? 8 : 10, ret_number);
}

int text_gid(const char *s, uint64_t *ret_prefix, uint64_t *ret_guid)
{
	struct in6_addr addr;
	uint64_t half[2] = { 0, 0 };

	if (inet_pton(AF_INET6, s, &addr) != 1) {
		return E_SYNTAX;
	}
	for (unsigned i = 0; i < 16; i++) {
		half[i / 8] = half[i / 8] << 8 | addr.s6_addr[i];
	}
	*ret_prefix = half[0];
	*ret_guid = half[1];
	return E_OK;
}

unsigned text_distance(const char *a, const char *b, unsigned limit)
{
	enum {
		LEN_MAX = 127
	}; /* longer than any key; longer text is not a typing slip */
	size_t n = strlen(a), m = strlen(b);
	unsigned prev[LEN_MAX + 1], row[LEN_MAX + 1];

	if (n > LEN_MAX || m > LEN_MAX) {
		return strcmp(a, b) == 0 ? 0 : limit + 1;
	}
	for (unsigned j = 0; j <= m; j++) {
		prev[j] = j;
	}
	for (unsigned i = 1; i <= n; i++) {
		row[0] = i;
		for (unsigned j = 1; j <= m; j++) {
			unsigned least = prev[j] < row[j - 1] ? prev[j] : row[j - 1];
			unsigned same = prev[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = least + 1 < same ? least + 1 : same;
		}
		memcpy(prev, row, sizeof(prev));
	}
	return prev[m] <= limit ? prev[m] : limit + 1;
}

void text_one_line(char *s)
{
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f) {
			*s = '?';
		}
	}
}

unsigned text_printable_length(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned n = text_utf8_length(s);
	unsigned c = n == 1   ? p[0]
	             : n == 2 ? (p[0] & 0x1fU) << 6 | (p[1] & 0x3fU)
	             : n == 3 ? (p[0] & 0xfU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU)
	                      : 0xffff;
	bool bad = n == 0 || c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c ||
	           c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	           (c >= 0x2066 && c <= 0x2069);

	return bad ? 0 : n;
}

static void make_printable(char *s, const char *keep)
{
	char *to = s;

	while (*s != '\0') {
		unsigned n = text_utf8_length(s);
		unsigned kept = strchr(keep, *s) != NULL ? 1 : text_printable_length(s);

		if (kept > 0) {
			memmove(to, s, kept);
			to += kept;
		} else {
			*to++ = '?';
		}
		s += n > 0 ? n : 1;
	}
	*to = '\0';
}

void text_printable(char *s)
{
	make_printable(s, "");
}

void text_printable_lines(char *s)
{
	make_printable(s, "\n\t");
}

void text_print_roff(const char *s, FILE *f)
{
	for (; *s != '\0'; s++) {
		if (*s == '-') {
			fputs("\\-", f);
		} else if (*s == '\\') {
			fputs("\\e", f);
		} else if (*s == '\'') {
			fputs("\\(aq", f);
		} else {
			putc(*s, f);
		}
	}
}

void text_print_roff_sentence(const char *s, FILE *f)
{
	bool name = strncmp(s, "saguarod", 8) == 0;

	putc(name ? s[0] : toupper((unsigned char)s[0]), f);
	text_print_roff(s + 1, f);
	fputs(s[strlen(s) - 1] == '.' ? "\n" : ".\n", f);
}

/* The text ends in a NUL, which is no continuation byte, so this never reads past the end. */
unsigned text_utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
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

char *text_skip_blanks(char *p)
{
	while (text_is_blank(*p)) {
		p++;
	}
	return p;
}

bool text_has_control(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (((unsigned char)p[i] < 0x20 && !text_is_blank(p[i])) ||
		    p[i] == 0x7f) {
			return true;
		}
	}
	return false;
}

/* After a mismatch only the last * takes one more character, so the cost is bounded. */
bool text_glob(const char *glob, const char *text)
{
	const char *star = NULL, *resume = NULL;

	while (*text != '\0') {
		if (*glob == '*') {
			star = glob++;
			resume = text;
		} else if (*glob == '?' || *glob == *text) {
			glob++;
			text++;
		} else if (star != NULL) {
			glob = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	return glob[strspn(glob, "*")] == '\0';
}

char *text_trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s)) {
		s++;
	}
	n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1])) {
		s[--n] = '\0';
	}
	return s;
}

char *text_cut_comment(char *s)
{
	char *end = s;

	for (char *p = s; *p != '\0' && (*p != '#' || (p != s && !text_is_blank(p[-1])));
	     p++) {
		if (!text_is_blank(*p)) {
			end = p + 1;
		}
	}
	*end = '\0';
	return s;
}

size_t text_line(const char *text, size_t len, size_t *at)
{
	const char *line = text + *at, *newline = memchr(line, '\n', len - *at);
	size_t n = newline != NULL ? (size_t)(newline - line) : len - *at;

	*at += n + 1;
	return n;
}

char *text_cut_line(char *text, size_t len, size_t *at, size_t *ret_len)
{
	char *line = text + *at;

	if (*at >= len) {
		return NULL;
	}
	*ret_len = text_line(text, len, at);
	line[*ret_len] = '\0';
	return line;
}

size_t text_count(const char *text, size_t len, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		n += text[i] == c;
	}
	return n;
}

int text_time(const char *text, int64_t *ret_s)
{
	struct tm t = { .tm_year = 0 }, back;
	int end = -1;

	if (sscanf(text, "%4d-%2d-%2d%n", &t.tm_year, &t.tm_mon, &t.tm_mday, &end) != 3 ||
	    end != 10) {
		return E_SYNTAX;
	}
	text += end;
	if (*text != '\0') {
		end = -1;
		if (sscanf(text, "T%2d:%2d:%2dZ%n", &t.tm_hour, &t.tm_min, &t.tm_sec,
		           &end) != 3 ||
		    end != 10 || text[end] != '\0') {
			return E_SYNTAX;
		}
	}
	t.tm_year -= 1900;
	t.tm_mon -= 1;
	struct tm asked = t;
	time_t at = timegm(&t);
	/* timegm() takes a 31st of February for a day in March */
	if (at <= 0 || gmtime_r(&at, &back) == NULL || back.tm_mday != asked.tm_mday ||
	    back.tm_mon != asked.tm_mon || back.tm_hour != asked.tm_hour ||
	    back.tm_min != asked.tm_min || back.tm_sec != asked.tm_sec) {
		return E_RANGE;
	}
	*ret_s = at;
	return E_OK;
}

int text_until(const char *text, int64_t now_s, int64_t *ret_s)
{
	static const struct {
		char letter;
		uint32_t seconds;
	} units[] = { { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	unsigned n;
	int end = -1;

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (sscanf(text, "%7u%n", &n, &end) == 1 && end > 0 && isdigit((unsigned char)text[0]) &&
		    text[end] == units[i].letter && text[end + 1] == '\0') {
			*ret_s = now_s + (int64_t)n * units[i].seconds;
			return n > 0 ? E_OK : E_RANGE;
		}
	}
	return text_time(text, ret_s);
}
