/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A turn queues the reads of some nodes, so that traps and light sweeps need not wait long. When the last
 * node was asked, what is new is published in one go.
 *
 * Source: SFF-8636 for the bytes of QSFP modules, CMIS for those of QSFP-DD.
 */
#include "sa/sm/sweep/cables.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_fields.h"
#include "sa/sm/sm.h"

enum {
	SLICE = 512,  /* reads of a turn */
	STANDARD = 4, /* PortType: a port that takes cables */
	IDENTIFIER_DD = 0x18,
	MS = 1000
};

static bool serves(const struct cables *c)
{
	const struct sm *sm = c->sm;

	return sm->d.config->cable_info && smp_is_omni_path(sm->smp) && sm->status.up &&
	       sm->status.master && sm->job != NULL && sm->job->disc.g != NULL &&
	       !sm->want_heavy && !sm->want_local;
}

static struct table *table_of(const struct cables *c, const struct disc_node *n)
{
	return table_get(&c->sm->tables, TABLE_OPA_CABLE, n->guid, 0, n->n_ports + 1U,
	                 CABLE_BLOCKS);
}

void cables_forget(struct sm *sm, const struct job *j)
{
	const struct disc *d = &j->disc;

	for (uint32_t i = 0; i < d->g->n_nodes; i++) {
		const struct disc_node *n = d->of[i];
		struct table *t = table_find(&sm->tables, TABLE_OPA_CABLE, n->guid, 0);

		for (unsigned p = 1; t != NULL && p <= n->n_ports; p++) {
			if (field_get(n->ports[p].info, PI_PORT_STATE) < PORT_ARMED) {
				table_forget_port(t, p);
			}
		}
	}
}

/* --- what is to be read ----------------------------------------------------------------- */

static bool has_module(const struct disc_node *n, unsigned port)
{
	const struct disc_port *p = &n->ports[port];
	uint32_t at = graph_port(n->disc->g, n->graph_node, port);

	return p->has_info && p->opa_info != NULL &&
	       n->disc->g->ports[at].peer != GRAPH_NONE &&
	       field_get(p->opa_info, OPA_PI_PORT_TYPE) == STANDARD &&
	       n->ports[n->type == NODE_SWITCH ? 0 : port].dest != NULL;
}

/* Does a module measure anything? Copper does not. */
static bool is_optical(const struct table *t, unsigned port)
{
	enum {
		TECHNOLOGY = 147 - 128,
		TECHNOLOGY_DD = 212 - 192,
		COPPER = 10,
		OTHER = 8
	};
	uint32_t block = table_at(t, port, CABLE_BLOCKS / 2);
	const uint8_t *upper = table_block(t, block), *end = table_block(t, block + 1);
	unsigned technology;

	if (!table_knows(t, block) || !table_knows(t, block + 1)) {
		return false;
	}
	if (upper[0] == IDENTIFIER_DD) {
		return end[TECHNOLOGY_DD] < COPPER;
	}
	technology = upper[TECHNOLOGY] >> 4;
	return technology < COPPER && technology != OTHER;
}

/* Queues a read. \return 1, 0 if it is not needed, or -ENOMEM. */
static int read_block(struct cables *c, struct disc_node *n, struct table *t,
                      uint32_t block)
{
	struct table_request q = { .io = &c->io, .node = n, .t = t, .block = block };

	if (!c->live && table_knows(t, block)) {
		return 0;
	}
	return table_ask(&q, NULL) == E_OK ? 1 : -ENOMEM;
}

static int read_node(struct cables *c, struct disc_node *n)
{
	struct table *t = table_of(c, n);
	int n_reads = 0, ret = t == NULL ? -ENOMEM : 0;

	for (unsigned p = 1; p <= n->n_ports && ret >= 0; p++) {
		if (!has_module(n, p)) {
			continue;
		}
		if (c->live) {
			ret = is_optical(t, p) ? read_block(c, n, t, table_at(t, p, 0))
			                       : 0;
			n_reads += ret;
			continue;
		}
		for (unsigned b = CABLE_BLOCKS / 2; b < CABLE_BLOCKS && ret >= 0; b++) {
			ret = read_block(c, n, t, table_at(t, p, b));
			n_reads += ret;
		}
	}
	return ret < 0 ? ret : n_reads;
}

static void on_read(void *ctx, const struct table_request *q, const struct smp_reply *r)
{
	struct cables *c = ctx;

	(void)q;
	c->changed |= r->ret == E_OK;
	if (r->ret == E_TIMEOUT) {
		smp_dest_revive(r->dest);
	}
}

/* --- turns ------------------------------------------------------------------------------ */

static uint32_t n_swept(const struct cables *c)
{
	return (uint32_t)(c->sm->status.heavy_sweeps + c->sm->status.local_sweeps);
}

/* A pass over all nodes is not over. */
static bool at_work(const struct cables *c)
{
	return c->swept == n_swept(c) && c->node < c->sm->job->disc.g->n_nodes;
}

uint64_t cables_deadline(const struct cables *c)
{
	const struct config *conf = c->sm->d.config;

	if (!serves(c)) {
		return UINT64_MAX;
	}
	if (c->swept != n_swept(c) || at_work(c) || c->changed) {
		return 0;
	}
	return conf->perfmgr ? c->next_live : UINT64_MAX;
}

static void begin_pass(struct cables *c)
{
	const struct sm *sm = c->sm;

	if (at_work(c)) {
		return;
	}
	c->live = c->swept == n_swept(c) && !c->changed;
	c->swept = n_swept(c);
	c->node = 0;
	if (c->live || c->next_live == 0) {
		c->next_live =
			sm_now(sm) + (uint64_t)sm->d.config->perfmgr_sweep_time_s * MS;
	}
}

bool cables_start(struct cables *c)
{
	int sum = 0, ret = 0;

	begin_pass(c);
	arena_free(c->arena);
	c->arena = arena_new();
	if (c->arena == NULL) {
		return false;
	}
	c->io = (struct table_io){ .smp = c->sm->smp,
		                   .store = &c->sm->tables,
		                   .arena = c->arena,
		                   .retries = c->sm->d.config->transaction_retries,
		                   .answered = on_read,
		                   .ctx = c };
	while (at_work(c) && sum < SLICE && ret >= 0) {
		ret = read_node(c, c->sm->job->disc.of[c->node++]);
		sum += ret;
	}
	if (ret < 0) {
		smp_abort(c->sm->smp);
		c->node = UINT32_MAX;
	}
	return sum > 0 || (c->changed && !at_work(c));
}

bool cables_end(struct cables *c)
{
	bool publish = c->changed && !at_work(c);

	c->changed = c->changed && !publish;
	return publish;
}

void cables_done(struct cables *c)
{
	arena_free(c->arena);
	c->arena = NULL;
}
