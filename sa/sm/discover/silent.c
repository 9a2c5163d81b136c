/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/discover/silent.h"

enum { GAP_BITS = 4, GAP_MASK = (1 << GAP_BITS) - 1 };

void silent_begin(struct silent *s, bool all)
{
	s->n_light++;
	s->all = all;
	hash_clear(&s->next);
}

bool silent_is_due(struct silent *s, uint64_t port)
{
	uint32_t known = s->all ? HASH_NONE : hash_get(&s->due, port);
	uint32_t gap = known != HASH_NONE ? known & GAP_MASK : 0;
	bool due = known == HASH_NONE || known >> GAP_BITS <= s->n_light;

	if (due) {
		gap = gap == 0 ? 1 : 2 * gap < SILENT_GAP_MAX ? 2 * gap : SILENT_GAP_MAX;
		known = (s->n_light + gap) << GAP_BITS | gap;
	}
	/* without memory it is asked again in the next one */
	(void)hash_put(&s->next, port, known);
	return due;
}

void silent_end(struct silent *s)
{
	struct hash_table asked = s->next;

	s->next = s->due;
	s->due = asked;
}

void silent_done(struct silent *s)
{
	hash_done(&s->due);
	hash_done(&s->next);
}
