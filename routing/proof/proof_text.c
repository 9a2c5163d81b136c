/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <inttypes.h>

#include "conf/base/arena.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/proof/proof.h"

enum { SHOWN_MAX = 12 }; /* switches or channels named in one sentence */

/* Appends to a text; stays NULL once memory is out. */
static char *join(const char *head, const char *tail, struct arena *a)
{
	return head && tail ? arena_printf(a, "%s%s", head, tail) : NULL;
}

static char *loop_text(const struct proof *p, const struct proof_fault *f,
                       const struct graph *g, struct arena *a)
{
	char *t = arena_printf(a, "forwarding loop for LID %" PRIu32 ": ", f->lid);

	for (uint32_t i = 0; i < f->n_loop && i < SHOWN_MAX; i++) {
		t = join(t,
		         arena_printf(a, "%s -> ",
		                      switch_text(g, &p->lids, f->loop[i]).text),
		         a);
	}
	if (f->n_loop > SHOWN_MAX) {
		t = join(t,
		         arena_printf(a, "... %" PRIu32 " switches ... -> ", f->n_loop),
		         a);
	}
	return join(t, switch_text(g, &p->lids, f->loop[0]).text, a);
}

static char *hole_text(const struct proof *p, const struct proof_fault *f,
                       const struct graph *g, struct arena *a)
{
	if (f->port == LFT_NO_ROUTE) {
		return arena_printf(a, "switch %s has no route to LID %" PRIu32,
		                    switch_text(g, &p->lids, f->sw).text, f->lid);
	}
	return arena_printf(
		a,
		"switch %s sends LID %" PRIu32
		" to port %u, which leads neither to another switch nor to the "
		"owner of the LID",
		switch_text(g, &p->lids, f->sw).text, f->lid, f->port);
}

static bool mixes_vls(const struct proof_cycle *c)
{
	for (uint32_t i = 1; i < c->n; i++) {
		if (c->channels[i].vl != c->channels[0].vl) {
			return true;
		}
	}
	return false;
}

static char *cycle_text(const struct proof *p, const struct proof_cycle *c,
                        const struct graph *g, struct arena *a)
{
	const char *kind = c->management ? "management credit loop" : "credit loop";
	bool mixed = mixes_vls(c);
	char *t = mixed ? arena_printf(a, "%s of %" PRIu32 " channels: ", kind, c->n)
	                : arena_printf(a, "%s of %" PRIu32 " channels on VL %u: ", kind,
	                               c->n, c->vl);

	for (uint32_t i = 0; i < c->n && i < SHOWN_MAX; i++) {
		const struct proof_channel *ch = &c->channels[i];

		t = join(t,
		         arena_printf(
				 a, "%s%s port %u%s (route from %s to LID %" PRIu32 ")",
				 i ? ", " : "", switch_text(g, &p->lids, ch->sw).text,
				 ch->port, mixed ? arena_printf(a, " VL %u", ch->vl) : "",
				 switch_text(g, &p->lids, ch->src_sw).text, ch->lid),
		         a);
	}
	return c->n > SHOWN_MAX ? join(t, ", ...", a) : t;
}

/* Each component of the dependency graph that has a cycle is one loop. */
static char *cycles_text(const struct proof *p, uint64_t n, const struct graph *g,
                         struct arena *a)
{
	char *t = cycle_text(p, &p->cycle[0], g, a);

	return n > 1 ? join(t, arena_printf(a, "; %" PRIu64 " more apart from it", n - 1),
	                    a)
	             : t;
}

static char *management_text(const struct proof *p, const struct graph *g,
                             struct arena *a)
{
	const struct proof_fault *f = &p->management_hole;

	return arena_printf(a,
	                    "management pairs without a route: %" PRIu64
	                    "; the first is switch %s to LID %" PRIu32,
	                    p->management_unreachable,
	                    switch_text(g, &p->lids, f->sw).text, f->lid);
}

const char *proof_missed_text(const struct proof *p, const struct graph *g,
                              const struct lids *lids, struct arena *a)
{
	char *t = arena_printf(
		a, "%" PRIu64 " pairs of hosts have no route: ", p->missed_pairs);

	for (unsigned i = 0; i < p->n_missed; i++) {
		t = join(t,
		         arena_printf(
				 a, "%s%s to %s", i ? ", " : "",
				 node_text(g, lids, g->ports[p->missed[i].src].node).text,
				 node_text(g, lids,
		                           g->ports[lids->owner[p->missed[i].lid]].node)
					 .text),
		         a);
	}
	if (p->missed_pairs > p->n_missed) {
		t = join(t, ", ...", a);
	}
	return p->missed_pairs && t ? t : "";
}

const char *proof_text(const struct proof *p, const struct graph *g, struct arena *a)
{
	const char *text = "";

	if (p->n_loop) {
		text = loop_text(p, &p->loop[0], g, a);
	} else if (p->n_hole) {
		text = hole_text(p, &p->hole[0], g, a);
	} else if (p->credit_loops) {
		text = cycles_text(p, p->credit_loops, g, a);
	} else if (p->management_unreachable) {
		text = management_text(p, g, a);
	} else if (p->management_credit_loops) {
		text = cycles_text(p, p->management_credit_loops, g, a);
	}
	return text ? text : "";
}
