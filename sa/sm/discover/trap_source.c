/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/discover/trap_source.h"

#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

enum {
	GAP_FIRST_MS = 100,
	GAP_HELD_MS = 800 /* from here on it is worth a line in the log */
};

struct trap_source *trap_source_of(struct trap_sources *t, uint32_t lid)
{
	struct trap_source *s;

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->source[i].lid == lid) {
			return &t->source[i];
		}
	}
	if (VECTOR_RESERVE(t->source, t->cap, t->n + 1) != E_OK) {
		return NULL;
	}
	s = &t->source[t->n++];
	*s = (struct trap_source){ .lid = lid };
	return s;
}

bool trap_source_is_due(const struct trap_source *s, uint64_t now_ms)
{
	return (s->links || s->attributes) && now_ms >= s->next_ms;
}

bool trap_source_any_due(const struct trap_sources *t, uint64_t now_ms)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (trap_source_is_due(&t->source[i], now_ms)) {
			return true;
		}
	}
	return false;
}

bool trap_source_hold(struct trap_source *s, uint64_t now_ms)
{
	bool was_held = s->held;

	if (s->next_ms == 0) {
		s->gap_ms = 0;
	} else {
		s->gap_ms = s->gap_ms == 0                    ? GAP_FIRST_MS
		            : 2 * s->gap_ms < TRAP_GAP_MAX_MS ? 2 * s->gap_ms
		                                              : TRAP_GAP_MAX_MS;
	}
	s->next_ms = now_ms + s->gap_ms;
	s->quiet_ms = s->next_ms + s->gap_ms + TRAP_QUIET_MS;
	s->links = s->attributes = false;
	s->held |= s->gap_ms >= GAP_HELD_MS;
	return s->held && !was_held;
}

void trap_source_forget_quiet(struct trap_sources *t, uint64_t now_ms,
                              void (*quiet)(void *ctx, const struct trap_source *s),
                              void *ctx)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		struct trap_source s = t->source[i];

		if (s.links || s.attributes || now_ms < s.quiet_ms) {
			t->source[n++] = s;
		} else if (s.held) {
			s.held = false;
			quiet(ctx, &s);
		}
	}
	t->n = n;
}

uint64_t trap_source_deadline(const struct trap_sources *t, uint64_t soonest_ms)
{
	uint64_t at = UINT64_MAX;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct trap_source *s = &t->source[i];
		uint64_t own = s->links || s->attributes ? s->next_ms : s->quiet_ms;

		own = own < soonest_ms ? soonest_ms : own;
		at = own < at ? own : at;
	}
	return at;
}

void trap_source_done(struct trap_sources *t)
{
	free(t->source);
	*t = (struct trap_sources){ .n = 0 };
}
