/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/qos_range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/text.h"

/* "a" or "a-b", which is cut in two. */
static int one_range(char *text, uint64_t max, uint64_t mask, struct qos_range *ret_range)
{
	char *dash = strchr(text, '-');
	char *second = text;
	struct qos_range r;

	if (dash != NULL) {
		*dash = '\0';
		second = dash + 1;
	}
	int ret = text_u64(text_trim(text), max, &r.from);
	if (ret == E_OK) {
		ret = text_u64(text_trim(second), max, &r.to);
	}
	if (ret != E_OK) {
		return ret;
	}
	r.from &= mask;
	r.to &= mask;
	if (r.to < r.from) {
		return E_RANGE;
	}
	*ret_range = r;
	return E_OK;
}

static int by_begin(const void *a, const void *b)
{
	uint64_t x = ((const struct qos_range *)a)->from;
	uint64_t y = ((const struct qos_range *)b)->from;

	return x < y ? -1 : x > y;
}

/* Sorts, and joins what touches. \return How many are left. */
static uint32_t join(struct qos_range *r, uint32_t n)
{
	uint32_t last = 0;

	qsort(r, n, sizeof(*r), by_begin);
	for (uint32_t i = 1; i < n; i++) {
		if (r[i].from <= r[last].to || r[i].from - 1 == r[last].to) {
			r[last].to = r[i].to > r[last].to ? r[i].to : r[last].to;
		} else {
			r[++last] = r[i];
		}
	}
	return n != 0 ? last + 1 : 0;
}

int qos_ranges_add(const char *text, uint64_t max, uint64_t mask, struct arena *a,
                   struct qos_ranges *ret_ranges)
{
	char *copy = arena_strdup(a, text);
	struct qos_range *all = arena_array(
		a, ret_ranges->n + text_count(text, strlen(text), ',') + 1, sizeof(*all));
	uint32_t n = ret_ranges->n;
	int ret = E_OK;

	if (copy == NULL || all == NULL) {
		return -ENOMEM;
	}
	if (n != 0) {
		memcpy(all, ret_ranges->range, n * sizeof(*all));
	}
	for (char *item; ret == E_OK && (item = strsep(&copy, ",")) != NULL; n++) {
		ret = one_range(item, max, mask, &all[n]);
	}
	if (ret == E_OK) {
		*ret_ranges = (struct qos_ranges){ all, join(all, n) };
	}
	return ret;
}

bool qos_ranges_have(const struct qos_ranges *r, uint64_t number)
{
	size_t at = LOWER_BOUND(r->n, i, r->range[i].to < number);

	return at < r->n && r->range[at].from <= number;
}
