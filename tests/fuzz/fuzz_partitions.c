/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Any bytes as a partitions.conf: refused with a place, or read as what may be programmed. */
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/partitions.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void check_partition(const struct partition *t)
{
	require(t->p_key >= 1 && t->p_key <= 0x7fff && t->name != NULL && t->sl <= 15);
	for (uint32_t i = 0; i < t->n_members; i++) {
		const struct partition_member *m = &t->members[i];

		require(m->membership >= 1 && m->membership <= PARTITION_BOTH);
		require(m->who <= PARTITION_SELF && m->first <= m->last);
		require(m->who != PARTITION_GUIDS || m->first != 0);
	}
	for (uint32_t i = 0; i < t->n_groups; i++) {
		const struct partition_group *g = &t->groups[i];

		require(g->prefix >> 56 == 0xff && g->mtu >= 1 && g->mtu <= 5);
		require(g->sl <= 15 && g->rate >= 2 && g->flow_label <= 0xfffff);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct partitions *p = NULL;
	struct arena *a = arena_new();
	struct diags d;

	require(a != NULL);
	diags_init(&d, a);
	int ret = partitions_parse("fuzz", (const char *)data, size, a, &d, &p);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0) && (ret == E_OK) == (p != NULL));
	for (uint32_t i = 0; p != NULL && i < p->n; i++) {
		require(i == 0 || p->all[i - 1].p_key < p->all[i].p_key);
		check_partition(&p->all[i]);
	}
	require(p == NULL || partitions_find(p, PARTITION_DEFAULT) != NULL);
	arena_free(a);
	return 0;
}
