/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/guid_switches.h"

#include <inttypes.h>

#include "conf/guidfile.h"
#include "routing/engine.h"
#include "routing/graph.h"

enum { NAMED_MAX = 3 };

uint32_t guid_switches(const struct graph *g, const struct guid_file *f,
                       guid_switch_f *found, void *ctx, struct why *why)
{
	uint32_t n_found = 0, n_unknown = 0, sw[GRAPH_NODE_PORTS];

	for (uint32_t i = 0; i < f->n; i++) {
		const struct guid_record *r = &f->records[i];
		unsigned n = graph_switches_by_guid(g, r->guid, sw);

		for (unsigned k = 0; k < n; k++) {
			found(ctx, sw[k], r);
		}
		n_found += n != 0;
		if (n == 0 && n_unknown++ < NAMED_MAX) {
			why_add(why,
			        "%s:%u: 0x%016" PRIx64 " is on no switch of the fabric",
			        f->path, r->line, r->guid);
		}
	}
	if (n_unknown > NAMED_MAX) {
		why_add(why, "%s: %" PRIu32 " more GUIDs are on no switch of the fabric",
		        f->path, n_unknown - NAMED_MAX);
	}
	return n_found;
}
