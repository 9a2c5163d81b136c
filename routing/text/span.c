/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/span.h"

#include <string.h>
#include <strings.h>

struct shown span_shown(struct span s)
{
	struct shown r;
	size_t room = sizeof(r.text) - 4, n = s.n < room ? s.n : room;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		r.text[i] = c < ' ' || c == 0x7f ? '?' : (char)c;
	}
	strcpy(r.text + n, s.n > n ? "..." : "");
	return r;
}

void span_skip_blank(struct span *s)
{
	while (s->n && (*s->p == ' ' || *s->p == '\t')) {
		s->p++;
		s->n--;
	}
}

bool span_take_char(struct span *s, char c)
{
	span_skip_blank(s);
	if (!s->n || *s->p != c) {
		return false;
	}
	s->p++;
	s->n--;
	return true;
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9') {
		return (unsigned)(c - '0');
	}
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

bool span_take_number(struct span *s, unsigned base, uint64_t max, uint64_t *ret_number)
{
	struct span t = *s;
	uint64_t v = 0;
	bool any = false;

	span_skip_blank(&t);
	if (base == 16 && t.n > 2 && t.p[0] == '0' && (t.p[1] | 0x20) == 'x') {
		t.p += 2;
		t.n -= 2;
	}
	for (; t.n && digit_of(*t.p) < base; t.p++, t.n--) {
		uint64_t d = digit_of(*t.p);
		if (d > max || v > (max - d) / base) {
			return false;
		}
		v = v * base + d;
		any = true;
	}
	if (any) {
		*s = t;
		*ret_number = v;
	}
	return any;
}

bool span_take_word(struct span *s, const char *word)
{
	size_t n = strlen(word);

	span_skip_blank(s);
	if (s->n < n || strncasecmp(s->p, word, n)) {
		return false;
	}
	if (s->n > n && (s->p[n] | 0x20) >= 'a' && (s->p[n] | 0x20) <= 'z') {
		return false;
	}
	s->p += n;
	s->n -= n;
	return true;
}

bool span_take_quoted(struct span *s, struct span *ret_span)
{
	struct span t = *s;
	if (!span_take_char(&t, '"')) {
		return false;
	}
	const char *close = t.n ? memchr(t.p, '"', t.n) : NULL;
	if (!close) {
		return false;
	}
	ret_span->p = t.p;
	ret_span->n = (size_t)(close - t.p);
	s->n = t.n - ret_span->n - 1;
	s->p = close + 1;
	return true;
}
