/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The proof: outcome, credit loops and the sentences about them.
 *
 * One pass over the LID columns (proof_walk.c) counts the routes that do not arrive and
 * collects, per lane, which channel goes on to which. Culprits are found afterwards, one
 * column after the other, and only where a count says that there are any (proof_list.c).
 *
 * Only routes that arrive make dependencies. A route that ends in a hole or
 * circles is counted as such. Adding its dependencies would report every forwarding loop
 * a second time as a credit loop.
 *
 * There are two tables of dependencies per lane: one of the pairs that decide, and one of
 * management pairs. Cycles in the first are credit loops. Where management has
 * dependencies that the first lacks, the union is searched once more for components that
 * hold none of these cycles.
 *
 * With an SL-to-VL rule packets change VLs on their way, and there is one table for all
 * VLs (proof_rule.c).
 *
 * Sources: W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987; R. Tarjan, "Depth-first search and linear graph
 * algorithms", 1972.
 */
#include "routing/proof/proof.h"

#include <errno.h>
#include <inttypes.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/proof/proof_int.h"

/*
 * Components of one VL that appear only when management pairs are counted in. Adds the
 * dependencies of the pairs that decide to those of management.
 */
static int prove_management(const struct prover *pv, struct column *col, unsigned vl,
                            const struct components *base, struct arena *a,
                            struct arena *tmp, struct proof *p)
{
	const struct deps *d = &pv->management[vl];
	size_t n = (size_t)deps_channels(d) * d->words;
	struct components all;
	struct proof_cycle like = { .vl = (uint8_t)vl, .management = true };
	uint64_t more = 0;
	uint8_t *known;
	int ret;

	for (size_t i = 0; i < n; i++) {
		more |= d->bits[i] & ~pv->base[vl].bits[i];
		d->bits[i] |= pv->base[vl].bits[i];
	}
	if (!more) {
		return E_OK;
	}
	ret = deps_components(d, tmp, &all);
	if (ret != E_OK) {
		return ret;
	}
	known = arena_array(tmp, all.n, sizeof(*known));
	if (!known) {
		return -ENOMEM;
	}
	for (uint32_t c = 0; c < deps_channels(&pv->base[vl]); c++) {
		if (base->of[c] != GRAPH_NONE) {
			known[all.of[c]] = 1;
		}
	}
	for (uint32_t i = 0; i < all.n; i++) {
		p->management_credit_loops += !known[i];
	}
	return proof_list_cycles(pv, col, d, &all, known, like, a, p);
}

static int prove_lanes(struct prover *pv, struct column *col, struct arena *a,
                       struct arena *tmp, struct proof *p)
{
	struct components base[VLS_MAX];
	int ret;

	for (unsigned vl = 0; vl < pv->n_graphs; vl++) {
		struct proof_cycle like = { .vl = (uint8_t)vl };

		ret = deps_components(&pv->base[vl], tmp, &base[vl]);
		if (ret != E_OK) {
			return ret;
		}
		p->credit_loops += base[vl].n;
		ret = proof_list_cycles(pv, col, &pv->base[vl], &base[vl], NULL, like, a,
		                        p);
		if (ret != E_OK) {
			return ret;
		}
	}
	for (unsigned vl = 0; vl < pv->n_graphs; vl++) {
		ret = prove_management(pv, col, vl, &base[vl], a, tmp, p);
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

int proof_run_keeping(const struct graph *g, const struct lids *lids,
                      const struct lft *lft, const struct lanes *lanes,
                      const uint8_t *may_miss, struct arena *a, struct proof *ret_proof,
                      struct proof_deps *ret_deps)
{
	unsigned threads = column_threads(), vls = 0, managed = 0;
	struct arena *tmp = arena_new();
	struct prover *pv = tmp ? arena_alloc(tmp, sizeof(*pv)) : NULL;
	struct proof p = { .lids = *lids, .management_hole.lid = UINT32_MAX };
	struct workspace *work;
	int ret = -ENOMEM;

	if (!pv) {
		goto out;
	}
	pv->may_miss = may_miss;
	ret = proof_prover_init(pv, g, lids, lft, lanes, tmp);
	if (ret == E_OK) {
		ret = proof_walk_columns(pv, threads, tmp, &work);
	}
	if (ret != E_OK) {
		goto out;
	}
	for (unsigned i = 0; i < threads; i++) {
		const struct tally *t = &work[i].tally;

		p.pairs += t->pairs;
		p.unreachable_pairs += t->unreachable;
		p.missed_pairs += t->missed;
		p.holes += t->holes;
		p.forwarding_loops += t->loops;
		p.management_unreachable += t->management_unreachable;
		if (t->management_lid < p.management_hole.lid) {
			p.management_hole.lid = t->management_lid;
		}
		vls |= t->vls;
		managed |= t->management_vls;
	}
	if (pv->rule) {
		vls = proof_rule_vls(pv, vls);
		managed = proof_rule_vls(pv, managed);
	}
	p.vls_used = 1;
	if (pv->lanes || pv->rule) {
		p.vls_used = (uint32_t)__builtin_popcount(vls);
		p.management_vls = (uint32_t)__builtin_popcount(managed & ~vls);
	}
	column_load_block(&pv->map, work[0].col, 0);
	ret = proof_list_faults(pv, &work[0], a, &p);
	if (ret == E_OK) {
		ret = prove_lanes(pv, work[0].col, a, tmp, &p);
	}
	if (ret == E_OK) {
		*ret_proof = p;
	}
	if (ret == E_OK && ret_deps) {
		bool one = !pv->lanes && !pv->rule;

		*ret_deps = (struct proof_deps){ .base = one ? &pv->base[0] : NULL,
			                         .management = &pv->management[0],
			                         .n_parts = pv->map.n_parts };
		arena_join(a, tmp);
		tmp = NULL;
	}
out:
	arena_free(tmp);
	return ret;
}

int proof_run_missing(const struct graph *g, const struct lids *lids,
                      const struct lft *lft, const struct lanes *lanes,
                      const uint8_t *may_miss, struct arena *a, struct proof *ret_proof)
{
	return proof_run_keeping(g, lids, lft, lanes, may_miss, a, ret_proof, NULL);
}

int proof_run(const struct graph *g, const struct lids *lids, const struct lft *lft,
              const struct lanes *lanes, struct arena *a, struct proof *ret_proof)
{
	return proof_run_missing(g, lids, lft, lanes, NULL, a, ret_proof);
}

bool proof_passed(const struct proof *p, bool strict)
{
	if (!proof_reaches(p) || p->forwarding_loops || p->credit_loops) {
		return false;
	}
	return !strict || (!p->management_unreachable && !p->management_credit_loops);
}

/* ---- sentences ---- */

enum { SHOWN_MAX = 12 }; /* switches or channels named in one sentence */

/* Appends to a text. NULL if memory is or was out. */
static char *append(const char *head, const char *tail, struct arena *a)
{
	return head && tail ? arena_printf(a, "%s%s", head, tail) : NULL;
}

static char *loop_text(const struct proof *p, const struct proof_fault *f,
                       const struct graph *g, struct arena *a)
{
	char *t = arena_printf(a, "forwarding loop for LID %" PRIu32 ": ", f->lid);

	for (uint32_t i = 0; i < f->n_loop && i < SHOWN_MAX; i++) {
		t = append(t,
		           arena_printf(a, "%s -> ",
		                        switch_text(g, &p->lids, f->loop[i]).text),
		           a);
	}
	if (f->n_loop > SHOWN_MAX) {
		t = append(t,
		           arena_printf(a, "... %" PRIu32 " switches ... -> ", f->n_loop),
		           a);
	}
	return append(t, switch_text(g, &p->lids, f->loop[0]).text, a);
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
		" to port %u, which leads neither to another switch nor to the owner of the LID",
		switch_text(g, &p->lids, f->sw).text, f->lid, f->port);
}

static char *cycle_text(const struct proof *p, const struct proof_cycle *c,
                        const struct graph *g, struct arena *a)
{
	const char *kind = c->management ? "management credit loop" : "credit loop";
	bool mixed = false;
	char *t;

	for (uint32_t i = 1; i < c->n; i++) {
		mixed |= c->channels[i].vl != c->channels[0].vl;
	}
	t = mixed ? arena_printf(a, "%s of %" PRIu32 " channels: ", kind, c->n)
	          : arena_printf(a, "%s of %" PRIu32 " channels on VL %u: ", kind, c->n,
	                         c->vl);

	for (uint32_t i = 0; i < c->n && i < SHOWN_MAX; i++) {
		const struct proof_channel *ch = &c->channels[i];

		t = append(t,
		           arena_printf(
				   a, "%s%s port %u%s (route from %s to LID %" PRIu32 ")",
				   i ? ", " : "", switch_text(g, &p->lids, ch->sw).text,
				   ch->port,
				   mixed ? arena_printf(a, " VL %u", ch->vl) : "",
				   switch_text(g, &p->lids, ch->src_sw).text, ch->lid),
		           a);
	}
	return c->n > SHOWN_MAX ? append(t, ", ...", a) : t;
}

/* Each component of the dependency graph that has a cycle is one loop. */
static char *cycles_text(const struct proof *p, uint64_t n, const struct graph *g,
                         struct arena *a)
{
	char *t = cycle_text(p, &p->cycle[0], g, a);

	return n > 1 ? append(t,
	                      arena_printf(a, "; %" PRIu64 " more apart from it", n - 1),
	                      a)
	             : t;
}

const char *proof_missed_text(const struct proof *p, const struct graph *g,
                              const struct lids *lids, struct arena *a)
{
	char *t = arena_printf(
		a, "%" PRIu64 " pairs of hosts have no route: ", p->missed_pairs);

	for (unsigned i = 0; i < p->n_missed; i++) {
		t = append(
			t,
			arena_printf(
				a, "%s%s to %s", i ? ", " : "",
				node_text(g, lids, g->ports[p->missed[i].src].node).text,
				node_text(g, lids,
		                          g->ports[lids->owner[p->missed[i].lid]].node)
					.text),
			a);
	}
	if (p->missed_pairs > p->n_missed) {
		t = append(t, ", ...", a);
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
		text = arena_printf(a,
		                    "management pairs without a route: %" PRIu64
		                    "; the first is switch %s to LID %" PRIu32,
		                    p->management_unreachable,
		                    switch_text(g, &p->lids, p->management_hole.sw).text,
		                    p->management_hole.lid);
	} else if (p->management_credit_loops) {
		text = cycles_text(p, p->management_credit_loops, g, a);
	}
	return text ? text : "";
}
