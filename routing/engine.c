/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/engine.h"

#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/proof/proof_change.h"

#define ENGINE(x) extern const struct engine engine_##x;
#include "routing/engines.def"
#undef ENGINE

const struct engine *const engines[] = {
#define ENGINE(x) &engine_##x,
#include "routing/engines.def"
#undef ENGINE
	NULL
};

const struct engine *engine_find(const char *name)
{
	for (const struct engine *const *e = engines; *e; e++) {
		if (strcmp((*e)->name, name) == 0) {
			return *e;
		}
	}
	return NULL;
}

const struct option_row *engine_row(const struct engine *e, const char *key)
{
	for (const struct option_row *r = e->options; r && r->name; r++) {
		if (!strcmp(r->name, key)) {
			return r;
		}
	}
	return NULL;
}

int engine_set_entry(struct route_repair *r, uint32_t sw, uint32_t lid, uint8_t port)
{
	int ret = VECTOR_RESERVE(r->entry, r->cap, r->n + 1);

	if (ret == E_OK) {
		r->entry[r->n++] = (struct route_entry){ .lid = lid, .sw = sw };
		lft_row(r->lft, sw)[lid] = port;
	}
	return ret;
}
