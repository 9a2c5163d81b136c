/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/device_pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

/*
 * A pattern is a row of pieces. Matching keeps the set of places in the description that
 * the pieces so far can reach, as bits: no input makes it try a place twice.
 */

enum { DESCRIPTION_MAX = 64, PORT_MAX = 254 };

struct pattern_reader {
	struct device_piece pieces[DEVICE_PATTERN_MAX];
	uint32_t n;
	unsigned n_ranges;
	const char *why;
};

static int refuse_pattern(struct pattern_reader *r, const char *why)
{
	r->why = why;
	return E_SYNTAX;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Up to five digits; moves *p behind them. 0: there are none, or more. */
static unsigned read_digits(const char **p, uint32_t *ret_number)
{
	size_t n = strspn(*p, "0123456789");
	if (n == 0 || n > DEVICE_RANGE_DIGITS) {
		return 0;
	}
	*ret_number = (uint32_t)strtoul(*p, NULL, 10);
	*p += n;
	return (unsigned)n;
}

/* "[n-m]" at *p, which moves behind it. */
static int read_range(struct pattern_reader *r, const char **p,
                      struct device_piece *ret_piece)
{
	const char *at = *p + 1;
	bool zeros = *at == '0' && is_digit(at[1]);
	uint32_t from, to;

	if (strchr(at, ']') == NULL) {
		return refuse_pattern(r, "a range without its end: expected [n-m]");
	}
	unsigned n_from = read_digits(&at, &from);
	if (n_from == 0 || *at++ != '-') {
		return refuse_pattern(r,
		                      "a range must be [n-m], numbers of up to 5 digits");
	}
	zeros |= *at == '0' && is_digit(at[1]);
	unsigned n_to = read_digits(&at, &to);
	if (n_to == 0 || *at++ != ']') {
		return refuse_pattern(r,
		                      "a range must be [n-m], numbers of up to 5 digits");
	}
	if (to < from) {
		return refuse_pattern(r, "a range that ends before it begins");
	}
	if (zeros && n_from != n_to) {
		return refuse_pattern(
			r,
			"with leading zeros both numbers of a range must have equally many digits");
	}
	*p = at;
	*ret_piece =
		(struct device_piece){ .kind = DEVICE_RANGE,
		                       .digits = (uint8_t)(n_from == n_to ? n_from : 0),
		                       .zeros = zeros,
		                       .from = from,
		                       .to = to };
	return E_OK;
}

static int read_pieces(struct pattern_reader *r, const char *p, const char *end)
{
	while (p < end) {
		if (r->n == DEVICE_PATTERN_MAX) {
			return refuse_pattern(r, "a pattern of more than 128 characters");
		}
		struct device_piece *piece = &r->pieces[r->n++];
		if (*p != '[') {
			piece->kind = *p == '*'   ? DEVICE_ANY
			              : *p == '?' ? DEVICE_MAYBE
			                          : DEVICE_CHAR;
			piece->c = piece->kind == DEVICE_CHAR ? *p : '\0';
			p++;
			continue;
		}
		if (r->n > 1 &&
		    (piece[-1].kind == DEVICE_ANY || piece[-1].kind == DEVICE_MAYBE)) {
			return refuse_pattern(
				r,
				"a range right after * or ?: it is not clear where the number begins");
		}
		if (r->n_ranges++ == DEVICE_RANGES_MAX) {
			return refuse_pattern(r, "more than 10 ranges");
		}
		int ret = read_range(r, &p, piece);
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

/* A range takes all the digits there are, unless more must follow. */
static int settle_digits(struct pattern_reader *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct device_piece *p = &r->pieces[i];
		const struct device_piece *next = i + 1 < r->n ? p + 1 : NULL;
		if (p->kind != DEVICE_RANGE) {
			continue;
		}
		bool number = next != NULL &&
		              (next->kind == DEVICE_RANGE ||
		               (next->kind == DEVICE_CHAR && is_digit(next->c)));
		if (number && p->digits == 0) {
			return refuse_pattern(
				r,
				"a digit right after a range whose numbers differ in length: it is not clear where the number ends");
		}
		if (!number && !p->zeros) {
			p->digits = 0;
		}
	}
	return E_OK;
}

/* ":3" or ":[1-4]" at the end; *end moves before it. A colon elsewhere is text. */
static int read_ports(struct pattern_reader *r, const char *text, const char **end,
                      struct device_pattern *ret_pattern)
{
	const char *colon = strrchr(text, ':');
	const char *p = colon != NULL ? colon + 1 : NULL;
	struct device_piece range = { .kind = DEVICE_RANGE };

	if (p == NULL || (*p != '[' && !is_digit(*p)) || strpbrk(p, "*?") != NULL) {
		return E_OK;
	}
	if (*p == '[') {
		int ret = read_range(r, &p, &range);
		if (ret != E_OK) {
			return ret;
		}
	} else if (read_digits(&p, &range.from) == 0) {
		return refuse_pattern(r, "a port has at most 5 digits");
	} else {
		range.to = range.from;
	}
	if (*p != '\0') {
		return E_OK; /* a colon inside of a description */
	}
	if (range.to > PORT_MAX) {
		return refuse_pattern(r, "ports go up to 254");
	}
	ret_pattern->some_ports = true;
	ret_pattern->port_from = (uint16_t)range.from;
	ret_pattern->port_to = (uint16_t)range.to;
	*end = colon;
	return E_OK;
}

int device_pattern_parse(const char *text, struct arena *a,
                         struct device_pattern *ret_pattern, const char **ret_why)
{
	struct pattern_reader r = { .n = 0 };
	struct device_pattern p = { .text = arena_strdup(a, text) };
	const char *end = text + strlen(text);

	int ret = read_ports(&r, text, &end, &p);
	if (ret == E_OK && end == text) {
		ret = refuse_pattern(&r, "no description");
	}
	if (ret == E_OK) {
		ret = read_pieces(&r, text, end);
	}
	if (ret == E_OK) {
		ret = settle_digits(&r);
	}
	if (ret != E_OK) {
		*ret_why = r.why;
		return ret;
	}
	struct device_piece *pieces = arena_array(a, r.n, sizeof(*pieces));
	if (p.text == NULL || pieces == NULL) {
		return -ENOMEM;
	}
	memcpy(pieces, r.pieces, r.n * sizeof(*pieces));
	p.pieces = pieces;
	p.n = r.n;
	*ret_pattern = p;
	return E_OK;
}

/* Length of the number at \a s that fits, 0: none. */
static size_t number_length(const struct device_piece *p, const char *s)
{
	size_t all = strspn(s, "0123456789"), n = p->digits != 0 ? p->digits : all;
	uint32_t value = 0;

	if (n == 0 || n > all || n > DEVICE_RANGE_DIGITS) {
		return 0;
	}
	if (!p->zeros && n > 1 && s[0] == '0') {
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		value = 10 * value + (uint32_t)(s[i] - '0');
	}
	return value >= p->from && value <= p->to ? n : 0;
}

/* Places that one piece leads to from those in \a from. */
static void match_piece(const struct device_piece *p, const char *s, size_t len,
                        const bool *from, bool *to)
{
	bool any = false;

	for (size_t i = 0; i <= len; i++) {
		any |= from[i];
		if (p->kind == DEVICE_ANY) {
			to[i] = any;
			continue;
		}
		if (!from[i]) {
			continue;
		}
		size_t n = p->kind == DEVICE_RANGE ? number_length(p, s + i) : 0;
		to[i] |= p->kind == DEVICE_MAYBE;
		to[i + 1] |= i < len && (p->kind == DEVICE_MAYBE ||
		                         (p->kind == DEVICE_CHAR && s[i] == p->c));
		if (n > 0) {
			to[i + n] = true;
		}
	}
}

bool device_pattern_match(const struct device_pattern *p, const char *description)
{
	bool at[2][DESCRIPTION_MAX + 2] = { { true } };
	size_t len = strnlen(description, DESCRIPTION_MAX);
	char s[DESCRIPTION_MAX + 1] = "";

	memcpy(s, description, len);
	for (uint32_t i = 0; i < p->n; i++) {
		const bool *from = at[i % 2];
		bool *to = at[(i + 1) % 2];
		memset(to, 0, sizeof(at[0]));
		match_piece(&p->pieces[i], s, len, from, to);
		if (i == 0 && p->pieces[0].kind == DEVICE_CHAR && !to[1]) {
			return false; /* most nodes of most patterns */
		}
	}
	return at[p->n % 2][len];
}
