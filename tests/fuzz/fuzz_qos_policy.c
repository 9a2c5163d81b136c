/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Any bytes as a qos-policy.conf: refused with a place, or every index in it is one. */
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/qos_policy.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void check_ranges(const struct qos_ranges *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		require(r->range[i].from <= r->range[i].to);
		require(i == 0 || r->range[i].from > r->range[i - 1].to);
		require(qos_ranges_have(r, r->range[i].from));
		require(qos_ranges_have(r, r->range[i].to));
	}
}

static void check_rule(const struct qos_policy *p, const struct qos_match_rule *m)
{
	check_ranges(&m->service_ids);
	check_ranges(&m->qos_classes);
	check_ranges(&m->p_keys);
	require(m->level < p->n_levels);
	for (uint32_t i = 0; i < m->n_sources; i++) {
		require(m->sources[i] < p->n_groups);
	}
	for (uint32_t i = 0; i < m->n_destinations; i++) {
		require(m->destinations[i] < p->n_groups);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct qos_policy *p = NULL;
	struct arena *a = arena_new();
	struct diags d;

	require(a != NULL);
	diags_init(&d, a);
	int ret = qos_policy_parse("fuzz", (const char *)data, size, a, &d, &p);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0) && (ret == E_OK) == (p != NULL));
	for (uint32_t i = 0; p != NULL && i < p->n_rules; i++) {
		check_rule(p, &p->rules[i]);
	}
	for (uint32_t i = 0; p != NULL && i < p->n_levels; i++) {
		require(p->levels[i].sl >= -1 && p->levels[i].sl <= 15);
		check_ranges(&p->levels[i].p_keys);
	}
	require(p == NULL || p->default_level < p->n_levels);
	arena_free(a);
	return 0;
}
