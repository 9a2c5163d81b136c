/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/name_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"

enum { DIGITS_MAX = 9 };

static int add_name(struct name_list *l, char *name, struct arena *a)
{
	if (l->n >= NAME_LIST_MAX) {
		return E_RANGE;
	}
	if (name == NULL ||
	    ARENA_RESERVE(a, l->names, l->n, l->room, l->n + 1U) != E_OK) {
		return -ENOMEM;
	}
	l->names[l->n++] = name;
	return E_OK;
}

/* A number; \a p goes behind it. \param ret_digits  How many it has; 0: there is no number. */
static unsigned take_number(const char **p, unsigned *ret_digits)
{
	unsigned number = 0, n = 0;

	for (; isdigit((unsigned char)**p) && n <= DIGITS_MAX; n++) {
		number = number * 10 + (unsigned)(*(*p)++ - '0');
	}
	*ret_digits = n <= DIGITS_MAX ? n : 0;
	return number;
}

/* One range of a bracket, "011-020" or "7", between \a head and \a tail. The tail may have brackets, too. */
static int add_range(struct name_list *l, const char *head, int head_len, const char **p,
                     const char *tail, struct arena *a)
{
	unsigned width, digits, first = take_number(p, &width), last = first;
	int ret = E_OK;

	if (width != 0 && **p == '-') {
		(*p)++;
		last = take_number(p, &digits);
		if (digits == 0) {
			return E_SYNTAX;
		}
	}
	if (width == 0 || (**p != ',' && **p != ']')) {
		return E_SYNTAX;
	}
	if (last < first || last - first >= NAME_LIST_MAX) {
		return E_RANGE;
	}
	for (unsigned i = first; ret == E_OK && i <= last; i++) {
		char *text = arena_printf(a, "%.*s%0*u%s", head_len, head, (int)width, i, tail);

		ret = text != NULL ? name_list_add(l, text, a) : -ENOMEM;
	}
	return ret;
}

int name_list_add(struct name_list *l, const char *text, struct arena *a)
{
	const char *open = strchr(text, '['), *close, *p;
	int ret = E_OK;

	if (*text == '\0') {
		return E_SYNTAX;
	}
	if (open == NULL) {
		return add_name(l, arena_strdup(a, text), a);
	}
	close = strchr(open, ']');
	if (close == NULL) {
		return E_SYNTAX;
	}
	for (p = open; ret == E_OK && (*p == '[' || *p == ',');) {
		p++;
		ret = add_range(l, text, (int)(open - text), &p, close + 1, a);
	}
	return ret;
}
