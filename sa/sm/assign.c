/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/assign.h"

#include <errno.h>
#include <stdio.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/search.h"
#include "conf/config.h"
#include "db/state.h"
#include "routing/graph/graph.h"
#include "sa/sm/sm.h"

enum { MOVED_LINES = 50 };

static const char *const source = "sweep";

int assign_lids(struct sm *sm, const struct graph *g, struct arena *a, bool reassign,
                struct assignment *ret_as)
{
	const struct config *c = sm->d.config;
	struct assignment as = { .n_memory = 0 };
	struct lids_in in = { .g = g,
		              .lmc = c->lmc,
		              .lmc_esp0 =
		                      c->lmc_esp0 == UINT32_MAX ? c->lmc : c->lmc_esp0,
		              .max_lid = c->unicast_lid_limit,
		              .reassign = reassign };
	struct diags *d = arena_alloc(a, sizeof(*d));
	int ret;

	if (d == NULL) {
		return sm_fail(sm, -ENOMEM, true, "%s", err_text(-ENOMEM));
	}
	diags_init(d, a);
	if (in.max_lid > LID_LIMIT_DEFAULT) { /* management packets carry 16 bits */
		in.max_lid = LID_LIMIT_DEFAULT;
	}
	ret = state_lids(sm->d.state, a, &as.memory, &as.n_memory);
	if (ret != E_OK) {
		return sm_fail(sm, ret, false, "remembered LIDs cannot be read: %s",
		               err_text(ret));
	}
	in.memory = as.memory;
	in.n_memory = as.n_memory;
	ret = lids_assign(&in, a, d, &as.lids, &as.moved, &as.n_moved);
	if (ret != E_OK) {
		return sm_fail(sm, ret, false, "LIDs cannot be assigned: %s",
		               d->n_errors ? diags_first_error(d) : err_text(ret));
	}
	for (unsigned i = 0; i < d->n; i++) {
		log_info(source, "%s", d->items[i].text);
	}
	*ret_as = as;
	return E_OK;
}

static const struct lid_memory *remembered(const struct assignment *as, uint64_t guid)
{
	size_t at = LOWER_BOUND(as->n_memory, i, as->memory[i].guid < guid);

	return at < as->n_memory && as->memory[at].guid == guid ? &as->memory[at] : NULL;
}

static void note_moved(struct sm *sm, const struct assignment *as, const struct graph *g)
{
	char detail[40];

	for (size_t i = 0; i < as->n_moved && i < MOVED_LINES; i++) {
		const struct port *p = &g->ports[as->moved[i]];
		const struct lid_memory *m = remembered(as, p->guid);
		struct fabric_event e = { .kind = EVENT_LID_MOVED,
			           .port = p->num,
			           .detail = detail };

		events_set_node(&e, g, p->node);
		snprintf(detail, sizeof(detail), "from %u to %u",
		         m != NULL ? m->range.base : 0, as->lids.of[as->moved[i]].base);
		events_note(sm, &e);
	}
	if (as->n_moved > MOVED_LINES) {
		log_warning(source, "%zu more LIDs move", as->n_moved - MOVED_LINES);
	}
}

int assign_keep(struct sm *sm, const struct graph *g, struct arena *a, bool reassign,
                const struct assignment *as)
{
	struct lid_memory *changed = arena_array(a, g->n_end_ports, sizeof(*changed));
	int ret = changed == NULL ? -ENOMEM : E_OK;
	size_t n = 0;

	for (uint32_t i = 0; i < g->n_end_ports && ret == E_OK; i++) {
		uint32_t port = g->end_ports[i];
		const struct lid_memory *m = remembered(as, g->ports[port].guid);
		struct lid_range r = as->lids.of[port];

		if (reassign || m == NULL || m->range.base != r.base ||
		    m->range.lmc != r.lmc) {
			changed[n++] = (struct lid_memory){ g->ports[port].guid, r };
		}
	}
	if (ret == E_OK && n) {
		ret = state_put_lids(sm->d.state, changed, n, reassign);
	}
	if (ret != E_OK) {
		return sm_fail(sm, ret, false,
		               "LIDs cannot be stored, so none is handed out: %s",
		               err_text(ret));
	}
	note_moved(sm, as, g);
	return E_OK;
}
