/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/guid_switches.h"

#include <errno.h>
#include <inttypes.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/why.h"
#include "conf/policy/guidfile.h"
#include "routing/graph/graph.h"
#include "routing/graph/port_policy_set.h"

enum { NAMED_MAX = 3 };

struct search {
	const struct graph *g;
	const struct guid_file *f;
	guid_switch_f *found;
	void *ctx;
	struct why *why;
	uint32_t n_found, n_unknown;
};

static void note_unknown(struct search *s, const struct guid_record *r)
{
	if (s->n_unknown++ >= NAMED_MAX) {
		return;
	}
	if (r->group) {
		why_add(s->why, "%s:%u: port group %.64s has no port in the fabric",
		        s->f->path, r->line, r->group);
	} else {
		why_add(s->why, "%s:%u: 0x%016" PRIx64 " is on no switch of the fabric",
		        s->f->path, r->line, r->guid);
	}
}

/* Switches of the group, and those that its hosts hang on. \a n: grows by each. */
static int find_group(struct search *s, const struct guid_record *r, uint32_t *n)
{
	const struct graph *g = s->g;
	uint32_t group = s->f->groups ? port_policy_find(s->f->groups, r->group)
	                              : PORT_POLICY_NONE;
	struct arena *tmp = arena_new();
	struct device_set set;
	int ret = tmp ? E_OK : -ENOMEM;

	if (ret == E_OK && group != PORT_POLICY_NONE) {
		ret = port_policy_set(g, s->f->groups, group, tmp, &set);
		for (uint32_t i = 0; ret == E_OK && i < g->n_end_ports; i++) {
			uint32_t port = g->end_ports[i], sw = graph_switch_of(g, port);

			if (sw != GRAPH_NONE && device_set_has(&set, port)) {
				s->found(s->ctx, sw, r);
				++*n;
			}
		}
	}
	arena_free(tmp);
	return ret;
}

int guid_switches(const struct graph *g, const struct guid_file *f, guid_switch_f *found,
                  void *ctx, struct why *why, uint32_t *ret_n)
{
	struct search s = { .g = g, .f = f, .found = found, .ctx = ctx, .why = why };
	uint32_t sw[GRAPH_NODE_PORTS];

	for (uint32_t i = 0; i < f->n; i++) {
		const struct guid_record *r = &f->records[i];
		uint32_t n = 0;
		int ret = E_OK;

		if (r->group) {
			ret = find_group(&s, r, &n);
		} else {
			n = graph_switches_by_guid(g, r->guid, sw);
		}
		for (uint32_t k = 0; !r->group && k < n; k++) {
			found(ctx, sw[k], r);
		}
		if (ret != E_OK) {
			return ret;
		}
		s.n_found += n != 0;
		if (n == 0) {
			note_unknown(&s, r);
		}
	}
	if (s.n_unknown > NAMED_MAX) {
		why_add(why, "%s: %" PRIu32 " more lines are on no switch of the fabric",
		        f->path, s.n_unknown - NAMED_MAX);
	}
	*ret_n = s.n_found;
	return E_OK;
}
