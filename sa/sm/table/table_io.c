/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/table/table_io.h"

#include <errno.h>
#include <infiniband/umad_types.h>
#include <stdio.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"

enum { IN_FLIGHT = 4 }; /* of a cursor */

static unsigned row_of(const struct table *t, uint32_t block)
{
	return t->cols != 0 ? block / t->cols : 0;
}

/* Columns of a table of egress ports: ports by which packets come in, or blocks. */
static uint32_t egress_cols(enum table_kind_id kind, const struct disc_node *n)
{
	return kind != TABLE_SL2VL ? VL_ARB_BLOCKS
	                           : (n->type == NODE_SWITCH ? n->n_ports + 1u : 1);
}

struct table *table_find_egress(const struct table_store *s, enum table_kind_id kind,
                                const struct disc_node *n)
{
	struct table *t = table_find(s, kind, n->guid, 0);

	return t != NULL && t->rows == n->n_ports + 1 && t->cols == egress_cols(kind, n)
	               ? t
	               : NULL;
}

struct table *table_get_egress(struct table_store *s, enum table_kind_id kind,
                               const struct disc_node *n)
{
	return table_get(s, kind, n->guid, 0, n->n_ports + 1u, egress_cols(kind, n));
}

size_t table_length(const struct disc_node *n, const struct table *t, uint32_t block)
{
	const struct table_kind *k = &table_kinds[t->kind];

	return k->length != NULL ? k->length(n, row_of(t, block), block % t->cols)
	                         : k->bytes;
}

bool table_holds_at(const struct disc_node *n, const struct table *t, uint32_t block,
                    const uint8_t *want)
{
	return table_is_sure(t, block) &&
	       memcmp(table_block(t, block), want, table_length(n, t, block)) == 0;
}

uint32_t table_mod(const struct disc_node *n, const struct table *t, uint32_t block)
{
	return table_kind_mod(t->kind, n, t->unit, row_of(t, block), block % t->cols);
}

void table_address(struct disc_node *n, const struct table *t, uint32_t block,
                   struct smp_request *ret)
{
	ret->attr = table_kinds[t->kind].attr;
	ret->mod = table_mod(n, t, block);
	ret->dest = table_agent(t->kind, n, t->unit, row_of(t, block));
}

void table_begin_set(struct table_io *io, struct table *t, uint32_t block)
{
	t->state[block] |= TABLE_DOUBTFUL;
	table_note_change(t);
	io->n_sets[t->kind]++;
}

void table_take(struct table_store *s, const struct disc_node *n, struct table *t,
                uint32_t block, const struct smp_reply *r)
{
	bool set = r->method == UMAD_METHOD_SET;

	if (block >= table_size(t)) {
		return; /* the table has become smaller */
	}
	if (set && r->repeated && (table_kinds[t->kind].flags & TABLE_MAY_BE_LATE)) {
		table_note_late(s, t, block);
	}
	if (set && !(t->state[block] & TABLE_DOUBTFUL)) {
		return; /* it was forgotten meanwhile */
	}
	if (r->ret == E_OK) {
		table_put(t, block, r->data, table_length(n, t, block));
	} else if (set) {
		table_drop(t, block);
	}
}

const char *table_request_text(const struct table_request *q, const struct smp_reply *r,
                               char buf[TABLE_TEXT])
{
	snprintf(buf, TABLE_TEXT, "%s(%s)", r->method == UMAD_METHOD_SET ? "Set" : "Get",
	         table_kinds[q->t->kind].name);
	return buf;
}

unsigned table_block_port(const struct table *t, uint32_t block)
{
	return table_port_of(t->kind, t->unit, row_of(t, block));
}

static void on_answer(void *ctx, const struct smp_reply *r)
{
	struct table_request *q = ctx;

	table_take(q->io->store, q->node, q->t, q->block, r);
	q->io->answered(q->io->ctx, q, r);
	if (q->done != NULL) {
		q->done(q->ctx, q, r);
	}
}

int table_submit(struct table_request *q, const uint8_t *set)
{
	uint8_t data[SMP_DATA_BYTES] = { 0 };
	struct smp_request o = { .method =
		                         set != NULL ? UMAD_METHOD_SET : UMAD_METHOD_GET,
		                 .data = set != NULL ? data : NULL,
		                 .retries = q->io->retries,
		                 .done = on_answer,
		                 .ctx = q };

	table_address(q->node, q->t, q->block, &o);
	if (set != NULL) {
		memcpy(data, set, table_kinds[q->t->kind].bytes);
		table_begin_set(q->io, q->t, q->block);
	}
	return smp_submit(q->io->smp, &o);
}

int table_ask(const struct table_request *q, const uint8_t *set)
{
	struct table_request *kept = arena_alloc(q->io->arena, sizeof(*kept));

	if (kept == NULL) {
		return -ENOMEM;
	}
	*kept = *q;
	return table_submit(kept, set);
}

int table_read(const struct table_request *q)
{
	struct table_request one = *q;
	int ret = E_OK;

	for (one.block = 0; one.block < table_size(q->t) && ret == E_OK; one.block++) {
		if (!table_knows(q->t, one.block)) {
			ret = table_ask(&one, NULL);
		}
	}
	return ret;
}

int table_write(const struct table_request *q, const uint8_t *image)
{
	struct table_request one = *q;
	int ret = E_OK;

	for (one.block = 0; one.block < table_size(q->t) && ret == E_OK; one.block++) {
		if (!table_holds(q->t, one.block, image)) {
			ret = table_ask(&one, image);
		}
		image += table_kinds[q->t->kind].bytes;
	}
	return ret;
}

/* --- a cursor --------------------------------------------------------------------------- */

static void on_cursor_answer(void *ctx, struct table_request *q,
                             const struct smp_reply *r)
{
	struct table_cursor *c = ctx;

	c->in_flight--;
	q->next = c->spare;
	c->spare = q;
	if (r->ret == E_TIMEOUT || (r->ret != E_OK && r->method == UMAD_METHOD_SET)) {
		c->next = c->end;
	}
	table_cursor_run(c);
}

static int cursor_submit(struct table_cursor *c, uint32_t block, const uint8_t *set)
{
	struct table_request *q =
		c->spare != NULL ? c->spare : arena_alloc(c->q.io->arena, sizeof(*q));

	if (q == NULL) {
		return -ENOMEM;
	}
	c->spare = q == c->spare ? q->next : NULL;
	*q = c->q;
	q->block = block;
	q->done = on_cursor_answer;
	q->ctx = c;
	c->in_flight++;
	return table_submit(q, set);
}

void table_cursor_run(struct table_cursor *c)
{
	while (c->next < c->end && c->in_flight < IN_FLIGHT && *c->ret == E_OK) {
		uint32_t place = c->next++, block = place;
		uint8_t image[TABLE_BLOCK_BYTES];

		if (c->want == NULL) {
			if (!table_knows(c->q.t, block)) {
				*c->ret = cursor_submit(c, block, NULL);
			}
		} else if (c->want(c, place, &block, image) &&
		           !table_holds(c->q.t, block, image)) {
			*c->ret = cursor_submit(c, block, image);
		}
	}
}
