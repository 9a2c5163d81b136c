/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A heavy sweep sets alias GUIDs with the multicast tables. An idle fabric thread does so
 * between sweeps, as soon as the state's version says that clients changed something. Places in a
 * GUID table that no client ever asked for stay as they are.
 */
#include "sa/sm/sweep/client_tables.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sm/sm.h"
#include "sa/store/alias.h"

enum { PAUSE_MAX_MS = 1000, KEY_BYTES = 9 };

static const char *const source = "sweep";

/* --- alias GUIDs ----------------------------------------------------------------------- */

static struct table *port_guids(const struct alias_guids *a, uint32_t port,
                                struct disc_node **ret_node)
{
	const struct graph *g = a->job->disc.g;
	uint8_t num = g->ports[port].num;

	*ret_node = a->job->disc.of[g->ports[port].node];
	return (*ret_node)->ports[num].dest != NULL
	               ? table_find(&a->sm->tables, TABLE_GUIDS, (*ret_node)->guid, num)
	               : NULL;
}

static void on_guids(void *ctx, const struct table_request *q, const struct smp_reply *r)
{
	struct alias_guids *a = ctx;

	program_table_answered(&a->job->program, q, r);
}

/* Sends one block of a port's GUIDs if it differs from what the port has. Nothing is done if the port
 * is not there at present, or has fewer GUIDs than it had. */
static int set_block(struct alias_guids *a, uint64_t port_guid, unsigned block,
                     const struct alias_block *b)
{
	uint32_t port = graph_port_by_guid(a->job->disc.g, port_guid);
	uint8_t guids[TABLE_BLOCK_BYTES] = { 0 };
	struct table_request q = { .io = &a->io, .block = block };

	q.t = port != GRAPH_NONE ? port_guids(a, port, &q.node) : NULL;
	if (q.t == NULL || block >= table_size(q.t)) {
		return E_OK;
	}
	if (table_knows(q.t, block)) {
		memcpy(guids, table_block(q.t, block), sizeof(guids));
	} else if (block == 0) {
		field_set(guids, 0, 64, port_guid);
	}
	alias_overlay(b, guids);
	return table_holds(q.t, block, guids) ? E_OK : table_ask(&q, guids);
}

/* A row of the store: the time of expiry stands in front of the value. */
static int set_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                   size_t len)
{
	struct alias_block b;

	if (key_len != KEY_BYTES || len != sizeof(int64_t) + sizeof(b)) {
		return E_MALFORMED;
	}
	memcpy(&b, value + sizeof(int64_t), sizeof(b));
	return set_block(ctx, field_get(key, 0, 64), key[KEY_BYTES - 1], &b);
}

bool alias_guids_changed(const struct alias_guids *a)
{
	return state_version(a->sm->d.state, RECORDS_GUIDS) != a->version;
}

int alias_guids_start(struct alias_guids *a, struct job *j)
{
	alias_guids_end(a); /* of a step that was given up */
	a->job = j;
	a->version = state_version(a->sm->d.state, RECORDS_GUIDS);
	a->arena = arena_new();
	a->io = (struct table_io){ .smp = a->sm->smp,
		                   .store = &a->sm->tables,
		                   .arena = a->arena,
		                   .retries = j->program.tables.retries,
		                   .answered = on_guids,
		                   .ctx = a };
	return a->arena == NULL
	               ? -ENOMEM
	               : state_records(a->sm->d.state, RECORDS_GUIDS, set_row, a);
}

void alias_guids_end(struct alias_guids *a)
{
	arena_free(a->arena);
	a->arena = NULL;
}

/* --- between sweeps ---------------------------------------------------------------------- */

bool client_tables_changed(const struct client_tables *c)
{
	return multicast_changed(&c->multicast) || alias_guids_changed(&c->alias_guids);
}

void client_tables_start(struct client_tables *c)
{
	struct job *j = c->sm->job;
	struct program *p = &j->program;

	c->began = sm_now(c->sm);
	p->n_timeouts = p->n_refused = 0;
	p->tables.n_sets[TABLE_MFT] = p->tables.n_sets[TABLE_OPA_MFT] = 0;
	p->first_trouble = NULL;
	p->ret = multicast_changed(&c->multicast) ? multicast_start(&c->multicast, j)
	                                          : E_OK;
	if (p->ret == E_OK) {
		p->ret = alias_guids_start(&c->alias_guids, j);
	}
}

bool client_tables_end(struct client_tables *c)
{
	struct sm *sm = c->sm;
	const struct program *p = &sm->job->program;
	uint32_t n_guid_sets = alias_guids_sets(&c->alias_guids);
	uint32_t n_mft_sets = program_mft_sets(p);

	client_tables_done(c);
	if (p->ret != E_OK) {
		sm_request_heavy(sm, "multicast tables and alias GUIDs: %s",
		                 err_text(p->ret));
		return false;
	}
	if (p->n_timeouts) {
		sm_request_heavy(sm, "%s", p->first_trouble);
	} else if (p->first_trouble != NULL) {
		log_message(MSG_SM_CLIENTS_REFUSED, source, "%s", p->first_trouble);
	}
	sm->status.mft_sets += n_mft_sets;
	log_debug(source,
	          "clients wrote: sent %u blocks of multicast tables, %u of GUIDs",
	          n_mft_sets, n_guid_sets);
	return n_mft_sets + n_guid_sets != 0;
}

void client_tables_pause(struct client_tables *c)
{
	uint64_t now = sm_now(c->sm), took = now - c->began;

	c->next = now + (took < PAUSE_MAX_MS ? took : PAUSE_MAX_MS);
}

void client_tables_done(struct client_tables *c)
{
	multicast_end(&c->multicast);
	alias_guids_end(&c->alias_guids);
}
