/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What must hold while a simulation runs, and when it has settled. All is read from the
 * simulated devices, not from the subnet manager.
 */
#include "tests/sim/invariants.h"

#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof.h"
#include "routing/route.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/sm.h"
#include "tests/sim/disk.h"
#include "tests/sim/simulate.h"

enum {
	LFT_ENTRIES = 64,
	TWO_MASTERS_MS = 8000 /* a light sweep, every 5 s, sees what no trap tells */
};

/* The LID of an end port as the port knows it. */
static uint32_t lid_in(const struct run *r, uint32_t port)
{
	return sim_peek_lid(r->sim, port);
}

static unsigned state_in(const struct run *r, uint32_t port)
{
	const struct port *p = &r->g->ports[port];
	uint8_t info[SMP_DATA_BYTES];

	if (sim_peek(r->sim, r->g->nodes[p->node].guid, UMAD_SM_ATTR_PORT_INFO, p->num,
	             info) != E_OK) {
		return 0;
	}
	return (unsigned)field_get(info, PI_PORT_STATE);
}

/* over_refused: nodes that are refused count as any others, since they pass SMPs on. */
static bool *find_over(const struct run *r, struct arena *a, bool over_refused)
{
	const struct graph *g = r->g;
	bool *reached = arena_array(a, g->n_nodes, sizeof(*reached));
	uint32_t *queue = arena_array(a, g->n_nodes, sizeof(*queue)), n = 0;

	queue[n++] = g->ports[r->judge->port].node;
	reached[queue[0]] = true;
	for (uint32_t i = 0; i < n; i++) {
		const struct node *node = &g->nodes[queue[i]];

		if (i > 0 && node->type != NODE_SWITCH) {
			continue;
		}
		for (unsigned k = 0; k <= node->n_ports; k++) {
			uint32_t port = node->first_port + k, peer = g->ports[port].peer,
				 far;

			if (peer == GRAPH_NONE || r->cut[port]) {
				continue;
			}
			far = g->ports[peer].node;
			if (!r->down[far] && !r->down[queue[i]] &&
			    (over_refused || !r->refused[far]) && !reached[far]) {
				reached[far] = true;
				queue[n++] = far;
			}
		}
	}
	return reached;
}

bool *find_reached(const struct run *r, struct arena *a)
{
	return find_over(r, a, false);
}

bool find_is_parted(const struct run *r)
{
	struct arena *a = arena_new();
	const bool *part = find_over(r, a, false), *all = find_over(r, a, true);
	bool parted = false;

	for (unsigned i = 0; i < r->n_managers; i++) {
		uint32_t node = r->g->ports[r->m[i].port].node;

		parted |= r->m[i].sweep != NULL && all[node] && !part[node];
	}
	arena_free(a);
	return parted;
}

bool find_is_reached(const struct run *r, const struct manager *m)
{
	struct arena *a = arena_new();
	bool is = find_reached(r, a)[r->g->ports[m->port].node];

	arena_free(a);
	return is;
}

static bool is_master(const struct manager *m)
{
	return m->sweep != NULL && m->frozen_until == 0 && sweep_status(m->sweep)->master;
}

/* Two masters that reach each other over nodes that answer. */
static bool two_meet(struct run *r)
{
	struct manager *judge = r->judge;
	bool meet = false;

	for (unsigned i = 0; i < r->n_managers; i++) {
		for (unsigned k = i + 1; k < r->n_managers && !meet; k++) {
			if (is_master(&r->m[i]) && is_master(&r->m[k])) {
				r->judge = &r->m[i];
				meet = find_is_reached(r, &r->m[k]);
			}
		}
	}
	r->judge = judge;
	return meet;
}

bool check_masters(struct run *r)
{
	uint64_t now = managers_now(r);
	unsigned n = 0;
	bool quiet = !r->lossy && !r->misled && disk_fault() == DISK_GOOD;

	for (unsigned i = 0; i < r->n_managers; i++) {
		n += is_master(&r->m[i]);
	}
	for (uint32_t i = 0; quiet && n > 1 && i < r->g->n_nodes; i++) {
		quiet = !r->deaf[i];
	}
	if (n < 2 || !quiet || !two_meet(r)) {
		r->two_since = 0;
		return true;
	}
	r->two_since = r->two_since != 0 ? r->two_since : now + 1;
	if (now + 1 - r->two_since > r->longest_ms) {
		r->longest_ms = now + 1 - r->two_since;
	}
	return now + 1 - r->two_since <= TWO_MASTERS_MS ||
	       run_fail(r, "two masters for more than %u ms", TWO_MASTERS_MS);
}

/* Tables that two masters wrote prove nothing until one of them has swept. A new master knows
 * only the LIDs that it finds: one that a port lost, or has while it is away, may go to another
 * port. */
static void note_contest(struct run *r, const bool *reached)
{
	const struct manager *master = NULL;
	unsigned n_masters = 0;
	bool split = false;

	if (r->n_managers == 1) {
		return;
	}
	for (unsigned i = 0; i < r->n_managers; i++) {
		const struct manager *m = &r->m[i];

		if (m->sweep != NULL && sweep_status(m->sweep)->master) {
			master = m;
			n_masters++;
		}
		split |= !reached[r->g->ports[m->port].node];
	}
	if (master != NULL && master != r->master) {
		r->new_master = r->master != NULL;
		r->master = master;
	}
	if (n_masters > 1 || split) {
		r->contested = true;
	}
	if (r->contested || r->new_master) {
		memset(r->lid, 0, r->g->n_ports * sizeof(*r->lid));
		vports_forget_lids(r);
	}
}

/* The fabric as it is now, LIDs as they stand in the ports; links of this state and above. */
static struct graph *live_fabric(const struct run *r, const bool *reached,
                                 unsigned state, struct arena *a)
{
	const struct graph *g = r->g;
	uint32_t *at = arena_array(a, g->n_nodes, sizeof(*at));
	struct diags *d = arena_alloc(a, sizeof(*d));
	struct graph *x = graph_new(a);

	diags_init(d, a);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];

		if (!reached[i]) {
			continue;
		}
		if (graph_add_node(x, n->type, n->guid, n->n_ports, n->description, n->id,
		                   &at[i]) != E_OK) {
			return NULL;
		}
		for (unsigned k = 0; k <= n->n_ports; k++) {
			struct port *p = &x->ports[graph_port(x, at[i], k)];

			p->guid = g->ports[n->first_port + k].guid;
			if (k == 0 || n->type != NODE_SWITCH) {
				p->lid = lid_in(r, n->first_port + k);
			}
		}
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		if (p->peer == GRAPH_NONE || p->peer < i || r->cut[i] ||
		    r->cut[p->peer] || !reached[p->node] ||
		    !reached[g->ports[p->peer].node] || state_in(r, i) < state ||
		    state_in(r, p->peer) < state) {
			continue;
		}
		if (graph_connect(x, graph_port(x, at[p->node], p->num),
		                  graph_port(x, at[g->ports[p->peer].node],
		                             g->ports[p->peer].num)) != E_OK) {
			return NULL;
		}
	}
	return graph_freeze(x, d) == E_OK ? x : NULL;
}

/* The forwarding tables as the switches use them. One that restarted and got blocks before it
 * was looked at has entries above LinearFDBTop, which is 0: no packet follows them. */
static int tables_in(const struct run *r, const struct graph *x, const struct lids *lids,
                     struct arena *a, struct lft *ret_lft)
{
	int ret = lft_init(ret_lft, x->n_switches, lids->top, a);

	for (uint32_t s = 0; ret == E_OK && s < x->n_switches; s++) {
		uint64_t guid = x->nodes[x->switches[s]].guid;
		uint32_t top = sim_peek_lft_top(r->sim, graph_node_by_guid(r->g, guid));

		for (uint32_t lid = 0; ret == E_OK && lid <= lids->top && lid <= top;
		     lid += LFT_ENTRIES) {
			uint8_t block[SMP_DATA_BYTES];

			ret = sim_peek(r->sim, guid, UMAD_SM_ATTR_LINEAR_FT,
			               lid / LFT_ENTRIES, block);
			if (ret == E_OK) {
				memcpy(lft_row(ret_lft, s) + lid, block,
				       top - lid < LFT_ENTRIES - 1 ? top - lid + 1
				                                   : LFT_ENTRIES);
			} else if (ret == E_NOTFOUND) { /* beyond its LinearFDBTop */
				ret = E_OK;
			}
		}
	}
	return ret;
}

/* LIDs of end ports that the subnet manager reaches: unique, and the same for life. */
static bool check_lids(struct run *r, const bool *reached)
{
	const struct graph *g = r->g;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i], lid = lid_in(r, port);
		bool up = state_in(r, port) >= PORT_ARMED || g->ports[port].num == 0;

		if (!reached[g->ports[port].node] || lid == 0 || !up) {
			continue;
		}
		if (r->lid[port] != 0 && r->lid[port] != lid) {
			return run_fail(r, "%s had LID %u and has LID %u",
			            g->nodes[g->ports[port].node].description,
			            r->lid[port], lid);
		}
		r->lid[port] = lid;
		for (uint32_t k = 0; k < i; k++) {
			if (r->lid[g->end_ports[k]] == lid) {
				return run_fail(r, "%s and %s both have LID %u",
				            g->nodes[g->ports[port].node].description,
				            g->nodes[g->ports[g->end_ports[k]].node]
				                    .description,
				            lid);
			}
		}
	}
	return true;
}

/* Have routes had one lane so far, and did the present transition find a safe order? A deaf switch
 * keeps its old routes, which nobody can change. */
bool check_promises_no_credit_loop(struct run *r, bool settled)
{
	bool promises = true;

	for (unsigned i = 0; i < r->n_managers; i++) {
		const struct job *j =
			r->m[i].sweep != NULL ? sweep_job(r->m[i].sweep) : NULL;

		if (j != NULL && j->route.used != NULL &&
		    (j->route.out.lanes.n > 1 || j->route.out.lanes.rule != NULL)) {
			r->several_lanes = true;
		}
		promises &= j == NULL || !j->unsafe;
	}
	for (uint32_t i = 0; i < r->g->n_nodes; i++) {
		promises &= !r->deaf[i];
	}
	if (!settled && r->judge->sweep != NULL &&
	    sweep_status(r->judge->sweep)->heavy_sweeps < r->stale_until) {
		promises = false;
	}
	return promises && !r->several_lanes && (settled || (!r->contested && !r->misled));
}

/* Packets travel over active links alone. */
static bool check_credit_loops(struct run *r, const bool *reached, struct arena *a)
{
	struct graph *x = live_fabric(r, reached, PORT_ARMED, a);
	struct diags *d = arena_alloc(a, sizeof(*d));
	struct lids lids;
	struct lft lft;
	struct proof p;

	diags_init(d, a);
	if (x == NULL ||
	    lids_as_found(x, r->config.unicast_lid_limit, a, d, &lids) != E_OK) {
		return true;
	}
	if (tables_in(r, x, &lids, a, &lft) != E_OK ||
	    proof_run(x, &lids, &lft, NULL, a, &p) != E_OK) {
		return run_fail(r, "the tables cannot be read");
	}
	return p.credit_loops == 0 || run_fail(r, "a credit loop: %s", proof_text(&p, x, a));
}

bool check_vports_are_up(struct run *r)
{
	struct arena *a = arena_new();
	bool are = vports_are_up(r, find_reached(r, a));

	arena_free(a);
	return are;
}

bool check_tables(struct run *r, bool settled)
{
	struct arena *a = arena_new();
	const bool *reached = find_reached(r, a);

	note_contest(r, reached);
	if ((r->contested || r->misled || r->packets != NULL) && !settled) {
		arena_free(a);
		return true;
	}

	struct graph *x = live_fabric(r, reached, PORT_DOWN, a);
	struct diags *d = arena_alloc(a, sizeof(*d));
	struct lids lids;
	struct lft lft;
	struct proof p;
	bool good = (r->new_master && !settled) ||
	            (check_lids(r, reached) && vports_check(r, reached, settled));
	int ret;

	diags_init(d, a);
	if (!good || x == NULL) {
		goto out;
	}
	ret = lids_as_found(x, r->config.unicast_lid_limit, a, d, &lids);
	if (ret != E_OK) {
		good = !settled || run_fail(r, "LIDs are missing: %s", diags_first_error(d));
		goto out;
	}
	if (tables_in(r, x, &lids, a, &lft) != E_OK ||
	    proof_run(x, &lids, &lft, NULL, a, &p) != E_OK) {
		good = run_fail(r, "the tables cannot be read");
		goto out;
	}
	if (p.forwarding_loops) {
		good = run_fail(r, "a forwarding loop: %s", proof_text(&p, x, a));
	} else if (settled && !proof_reaches(&p)) {
		good = run_fail(r, "%s", proof_text(&p, x, a));
	}
	good = good && (r->config.transition != TRANSITION_SAFE ||
	                !check_promises_no_credit_loop(r, settled) ||
	                check_credit_loops(r, reached, a));
	good = good && (!settled || (clients_check_paths(r, r->judge, x, &lids, &lft) &&
	                             clients_check_records(r, r->judge)));
	for (uint32_t i = 0; settled && good && i < r->g->n_end_ports; i++) {
		uint32_t port = r->g->end_ports[i];

		if (r->g->ports[port].num != 0 && reached[r->g->ports[port].node] &&
		    r->g->ports[port].peer != GRAPH_NONE &&
		    state_in(r, port) != PORT_ACTIVE) {
			good = run_fail(r, "port %u of %s is not ACTIVE",
			            r->g->ports[port].num,
			            r->g->nodes[r->g->ports[port].node].description);
		}
	}
out:
	arena_free(a);
	return good;
}

/* ---- against a fresh start ---- */

/* The engine is the one that a fresh start takes, and so are its tables, unless the engine keeps what
 * it can of earlier ones. */
bool check_fresh_routes(struct run *r)
{
	const struct job *j = sweep_job(r->judge->sweep);
	struct route_request fresh = j->request;
	struct route_result f;
	struct arena *a = arena_new();
	bool good = true;
	int ret;

	fresh.memory = NULL;
	ret = route_run(&fresh, a, &f);
	if (ret == E_OK) { /* the sweep's have the LIDs of virtual ports, too */
		ret = vports_extend_routes(&j->vport_lids, a, &f);
	}
	if (ret != E_OK) {
		good = run_fail(r, "a fresh start finds no routes: %s", err_text(ret));
	} else if (f.used != j->route.used) {
		good = run_fail(r, "engine %s serves, a fresh start takes %s",
		                j->route.used->name, f.used->name);
	} else if (f.used->flags & ENGINE_IGNORES_PREV) {
		size_t bytes = f.out.lft.n_switches * f.out.lft.stride;

		good = memcmp(f.out.lft.rows, j->route.out.lft.rows, bytes) == 0 ||
		       run_fail(r, "the tables of %s differ from those of a fresh start",
		                f.used->name);
	}
	arena_free(a);
	return good;
}
