/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/judge.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/txn.h"
#include "db/snapshot/snapshot_int.h"
#include "routing/graph/graph.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/sweep/sweep_int.h"
#include "tests/sim/disk.h"
#include "tests/sim/simulate.h"

/* --- the graph ------------------------------------------------------------------------ */

static bool same_port(const struct port *a, const struct port *b)
{
	return a->guid == b->guid && a->node == b->node && a->peer == b->peer &&
	       a->num == b->num && a->state == b->state && a->width == b->width &&
	       a->speed == b->speed && a->mtu == b->mtu && a->vls == b->vls;
}

static bool same_node(const struct node *a, const struct node *b)
{
	return a->guid == b->guid && a->type == b->type && a->n_ports == b->n_ports &&
	       a->first_port == b->first_port && a->sw == b->sw &&
	       a->aggregation == b->aggregation &&
	       strcmp(a->description, b->description) == 0;
}

static bool same_list(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b)
{
	return n_a == n_b && memcmp(a, b, n_a * sizeof(*a)) == 0;
}

static bool judge_graph(struct run *r, struct job *j, struct arena *a)
{
	const struct graph *g = j->disc.g;
	struct graph *x;
	bool lied = false; /* what a node that lies answered to a Set is not in the graph so far */

	for (uint32_t i = 0; r->nonsense && i < g->n_nodes; i++) {
		lied |= j->disc.of[i]->changed & DISC_SINCE_GRAPH;
	}
	if (disc_graph_anew(&j->disc, a, &x) != E_OK) {
		return run_fail(r, "no graph");
	}
	if (lied && (x->n_links != g->n_links || x->n_nodes != g->n_nodes)) {
		return true; /* it may refuse its neighbours by what it says now */
	}
	if (g->n_nodes != x->n_nodes || g->n_ports != x->n_ports ||
	    g->sm_port != x->sm_port || g->n_hosts != x->n_hosts ||
	    g->n_links != x->n_links || g->max_port != x->max_port ||
	    !same_list(g->switches, g->n_switches, x->switches, x->n_switches) ||
	    !same_list(g->end_ports, g->n_end_ports, x->end_ports, x->n_end_ports) ||
	    !same_list(g->by_guid, g->n_end_ports, x->by_guid, x->n_end_ports) ||
	    !same_list(g->adj_first, g->n_switches + 1, x->adj_first,
	               x->n_switches + 1) ||
	    !same_list(g->host_first, g->n_switches + 1, x->host_first,
	               x->n_switches + 1)) {
		return run_fail(r, "the graph of a local sweep has another shape");
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (!same_node(&g->nodes[i], &x->nodes[i])) {
			return run_fail(r, "node %s of a local sweep is another one",
			                x->nodes[i].description);
		}
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		bool later = lied &&
		             j->disc.of[g->ports[i].node]->changed & DISC_SINCE_GRAPH;

		if (!later && !same_port(&g->ports[i], &x->ports[i])) {
			return run_fail(r, "port %u of %s differs after a local sweep",
			                x->ports[i].num,
			                x->nodes[x->ports[i].node].description);
		}
	}
	return true;
}

/* --- the tables ----------------------------------------------------------------------- */

static bool was_sent(const struct routes *x, uint32_t block)
{
	uint32_t i = 0;

	while (i < x->n_sent && x->sent[i] / LFT_BLOCK_LIDS != block) {
		i++;
	}
	return i < x->n_sent;
}

/* What the next sweep takes for the tables of the switches, where this one sent nothing.
 */
static bool judge_known(struct run *r, const struct routes *x, uint32_t sw,
                        const struct table *t)
{
	for (uint32_t b = 0; !x->any_sent && b < table_size(t); b++) {
		uint32_t at = b * LFT_BLOCK_LIDS;
		size_t n = x->known.n_lids < at                    ? 0
		           : x->known.n_lids - at < LFT_BLOCK_LIDS ? x->known.n_lids - at
		                                                   : LFT_BLOCK_LIDS;

		if (!was_sent(x, b) &&
		    memcmp(lft_row(&x->known, sw) + at, table_block(t, b), n) != 0) {
			return run_fail(r, "block %u of switch %u is not what is known",
			                b, sw);
		}
	}
	return true;
}

/* All switches hold the tables that were computed, if the sweep says so and none lies. */
static bool judge_tables(struct run *r, const struct sweep *s, const struct job *j)
{
	const struct graph *g = j->disc.g;
	const struct lft *want = &j->route.out.lft;

	for (uint32_t i = 0; s->sm.settled && !r->nonsense && i < g->n_switches; i++) {
		const struct node *n = &g->nodes[g->switches[i]];
		const struct table *t = table_find(&s->sm.tables, TABLE_LFT, n->guid, 0);

		for (uint32_t b = 0; b <= j->lids.lids.top / LFT_BLOCK_LIDS; b++) {
			if (t == NULL || b >= table_size(t) ||
			    !table_holds(t, b,
			                 lft_row(want, i) + (size_t)b * LFT_BLOCK_LIDS)) {
				return run_fail(
					r,
					"block %u of the LFT of %s is not what a local sweep computed",
					b, n->description);
			}
		}
		if (!judge_known(r, &s->routes, i, t)) {
			return false;
		}
	}
	return true;
}

/* --- the snapshot --------------------------------------------------------------------- */

/* Tables of what a sweep publishes. */
#define NO_TABLE(id, name)
#define TABLE_OF(id, name, epoch) { SNAP_##id, #name },
static const struct {
	unsigned id;
	const char *name;
} tables[] = { SNAP_TABLES(NO_TABLE, TABLE_OF, TABLE_OF, NO_TABLE) };

static bool same_row(const struct db_val *a, const struct db_val *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static bool same_table(struct db_txn *a, struct db_txn *b, unsigned id, uint32_t *ret_row)
{
	struct db_val ka, va, kb, vb;
	int x = db_seek(a, id, NULL, 0, &ka, &va), y = db_seek(b, id, NULL, 0, &kb, &vb);

	for (*ret_row = 0; x == E_OK && y == E_OK; (*ret_row)++) {
		if (!same_row(&ka, &kb) || !same_row(&va, &vb)) {
			return false;
		}
		x = db_next(a, id, &ka, &va);
		y = db_next(b, id, &kb, &vb);
	}
	return x == E_NOTFOUND && y == E_NOTFOUND;
}

static bool compare_snapshots(struct run *r, struct snap_writer *now,
                              struct snap_writer *anew)
{
	struct db_txn a, b;
	bool good = db_begin(&a, now->db, false) == E_OK;
	uint32_t row;

	if (!good || db_begin(&b, anew->db, false) != E_OK) {
		return run_fail(r, "a snapshot cannot be read");
	}
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]) && good; i++) {
		good = same_table(&a, &b, tables[i].id, &row) ||
		       run_fail(
			       r,
			       "row %u of %s, as a local sweep published it, is not what all rows published anew would be",
			       row, tables[i].name);
	}
	db_abort(&a);
	db_abort(&b);
	return good;
}

static bool judge_snapshot(struct run *r, struct manager *m, struct arena *a)
{
	enum disk_fault fault = disk_fault();
	struct judge *g = &r->judging;
	struct snap_options o = { .grace_ms = 1 };
	const char *why = "";
	char dir[80];
	bool good;

	disk_set(DISK_GOOD);
	snprintf(dir, sizeof(dir), "%s/judge", r->dir);
	good = (g->snap != NULL ||
	        snap_writer_open(dir, &o, a, &why, &g->snap) == E_OK) &&
	       publish_anew(&m->sweep->publisher, m->sweep->sm.job, g->snap,
	                    ++g->epoch) == E_OK;
	disk_set(fault);
	return good ? compare_snapshots(r, m->snap, g->snap)
	            : run_fail(r, "nothing can be published anew: %s", why);
}

/* --- turns ---------------------------------------------------------------------------- */

/* Has the last publish all that is known? With virtual ports each publish is about all
 * nodes, and their states follow later. */
static bool is_published(const struct sweep *s)
{
	return s->sm.status.up && s->publisher.current &&
	       s->sm.job->disc.n_changed == 0 && s->sm.tables.n_changed == 0 &&
	       s->sm.vports.n_hosts == 0;
}

bool judge_turn(struct run *r, struct manager *m)
{
	struct judge *g = &r->judging;
	struct sweep *s = m->sweep;
	uint32_t n = s != NULL ? s->sm.status.local_sweeps : 0;
	struct arena *a;
	bool good;

	if (g->of != m || n < g->n_seen) {
		g->of = m;
		g->n_seen = n;
	}
	if (n == g->n_seen || s->phase != PHASE_IDLE ||
	    !is_published(s)) {
		return true;
	}
	g->n_seen = n;
	g->n_judged++;
	a = arena_new();
	good = judge_graph(r, s->sm.job, a) && judge_tables(r, s, s->sm.job) &&
	       judge_snapshot(r, m, a);
	arena_free(a);
	return good;
}

void judge_done(struct judge *j)
{
	snap_writer_close(j->snap);
	*j = (struct judge){ .snap = NULL };
}
