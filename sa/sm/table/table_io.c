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
#include "sa/mad/opa_fields.h"
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
	if (table_kinds[kind].flags & TABLE_COLS_ARE_PORTS) {
		return n->type == NODE_SWITCH ? n->n_ports + 1u : 1;
	}
	return kind == TABLE_VL_ARB       ? VL_ARB_BLOCKS
	       : kind == TABLE_OPA_VL_ARB ? OPA_ARB_BLOCKS
	       : kind == TABLE_OPA_CABLE  ? CABLE_BLOCKS
	                                  : 1;
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
                   struct smp_request *ret_request)
{
	const struct table_kind *k = &table_kinds[t->kind];

	ret_request->attr = k->attr;
	ret_request->native_len = k->flags & TABLE_NATIVE ? k->bytes : 0;
	ret_request->mod = table_mod(n, t, block);
	ret_request->dest = table_agent(t->kind, n, t->unit, row_of(t, block));
}

void table_begin_set(struct table_io *io, struct table *t, uint32_t block)
{
	t->state[block] |= TABLE_DOUBTFUL;
	table_note_change(t);
	io->n_sets[t->kind]++;
}

/* As table_take(). data: of this block; NULL: none. */
static void take(struct table_store *s, const struct disc_node *n, struct table *t,
                 uint32_t block, const struct smp_reply *r, const uint8_t *data)
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
	if (r->ret == E_OK && data != NULL) {
		table_put(t, block, data, table_length(n, t, block));
	} else if (set) {
		table_drop(t, block);
	}
}

void table_take(struct table_store *s, const struct disc_node *n, struct table *t,
                uint32_t block, const struct smp_reply *r)
{
	take(s, n, t, block, r, r->data);
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

static uint32_t blocks_of(const struct table_request *q)
{
	return q->n != 0 ? q->n : 1;
}

unsigned table_run_most(enum table_kind_id kind)
{
	return table_kinds[kind].flags & TABLE_NATIVE &&
	                       table_kinds[kind].unit == TABLE_UNIT_EGRESS
	               ? (unsigned)(OPA_DATA_MAX / table_stride(kind))
	               : 1;
}

const uint8_t *table_reply_block(const struct table_request *q, const struct smp_reply *r,
                                 uint32_t i)
{
	const struct table_kind *k = &table_kinds[q->t->kind];
	size_t at = i * table_stride(q->t->kind);

	if (!(k->flags & TABLE_NATIVE)) {
		return r->data;
	}
	return r->ret == E_OK && r->native != NULL && r->native_len >= at + k->bytes
	               ? r->native + at
	               : NULL;
}

static void on_answer(void *ctx, const struct smp_reply *r)
{
	struct table_request *q = ctx;

	for (uint32_t i = 0; i < blocks_of(q); i++) {
		take(q->io->store, q->node, q->t, q->block + i * q->t->cols, r,
		     table_reply_block(q, r, i));
	}
	q->io->answered(q->io->ctx, q, r);
	if (q->done != NULL) {
		q->done(q->ctx, q, r);
	}
}

int table_submit(struct table_request *q, const uint8_t *set)
{
	uint8_t data[OPA_DATA_MAX];
	size_t bytes = table_kinds[q->t->kind].bytes, stride = table_stride(q->t->kind);
	uint32_t n = blocks_of(q);
	struct smp_request o = { .method =
		                         set != NULL ? UMAD_METHOD_SET : UMAD_METHOD_GET,
		                 .data = set != NULL ? data : NULL,
		                 .retries = q->io->retries,
		                 .done = on_answer,
		                 .ctx = q };

	table_address(q->node, q->t, q->block, &o);
	if (o.native_len != 0) {
		o.mod += (n - 1) << OPA_MOD_COUNT_SHIFT;
		o.native_len += (n - 1) * stride;
	}
	memset(data, 0, n * stride < SMP_DATA_BYTES ? SMP_DATA_BYTES : n * stride);
	for (uint32_t i = 0; set != NULL && i < n; i++) {
		memcpy(data + i * stride, set + i * bytes, bytes);
		table_begin_set(q->io, q->t, q->block + i * q->t->cols);
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

/* The answer has as many blocks as the modifier says. */
static void on_range(void *ctx, const struct smp_reply *r)
{
	enum { COUNT_SHIFT = 24 };
	struct table_request *q = ctx;
	unsigned n = r->mod >> COUNT_SHIFT, bytes = table_kinds[q->t->kind].bytes;
	struct smp_reply reply = *r;

	if (r->ret == E_OK && r->native_len < (size_t)n * bytes) {
		reply.ret = E_MALFORMED;
	}
	for (unsigned i = 0; i < n && reply.ret == E_OK; i++) {
		reply.data = r->native + (size_t)i * bytes;
		table_take(q->io->store, q->node, q->t, q->block + i, &reply);
	}
	q->io->answered(q->io->ctx, q, &reply);
	if (q->done != NULL) {
		q->done(q->ctx, q, &reply);
	}
}

int table_ask_range(const struct table_request *q, unsigned n)
{
	enum { COUNT_SHIFT = 24 };
	struct table_request *kept = arena_alloc(q->io->arena, sizeof(*kept));
	struct smp_request o = { .method = UMAD_METHOD_GET,
		                 .retries = q->io->retries,
		                 .done = on_range,
		                 .ctx = kept };

	if (kept == NULL) {
		return -ENOMEM;
	}
	*kept = *q;
	table_address(q->node, q->t, q->block, &o);
	o.native_len = (size_t)n * table_kinds[q->t->kind].bytes;
	o.mod |= n << COUNT_SHIFT;
	return smp_submit(q->io->smp, &o);
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

static void write_place(struct table_cursor *c, uint32_t place, bool was_read);

static void on_cursor_answer(void *ctx, struct table_request *q,
                             const struct smp_reply *r)
{
	struct table_cursor *c = ctx;
	uint32_t place = q->place;

	c->in_flight--;
	q->next = c->spare;
	c->spare = q;
	if (r->ret == E_TIMEOUT || (r->ret != E_OK && r->method == UMAD_METHOD_SET)) {
		c->next = c->end;
	} else if (c->want != NULL && r->method != UMAD_METHOD_SET && *c->ret == E_OK) {
		write_place(c, place, true);
	}
	table_cursor_run(c);
}

static int cursor_submit(struct table_cursor *c, uint32_t place, uint32_t block,
                         const uint8_t *set)
{
	struct table_request *q =
		c->spare != NULL ? c->spare : arena_alloc(c->q.io->arena, sizeof(*q));

	if (q == NULL) {
		return -ENOMEM;
	}
	c->spare = q == c->spare ? q->next : NULL;
	*q = c->q;
	q->block = block;
	q->place = place;
	q->done = on_cursor_answer;
	q->ctx = c;
	c->in_flight++;
	return table_submit(q, set);
}

/* Sets the block of a place if it differs, or reads it before. */
static void write_place(struct table_cursor *c, uint32_t place, bool was_read)
{
	uint32_t block = place;
	uint8_t image[TABLE_BYTES_MOST];

	if (c->want(c, place, &block, image) && !table_holds(c->q.t, block, image)) {
		bool read = c->reads && !was_read && !table_knows(c->q.t, block);

		*c->ret = cursor_submit(c, place, block, read ? NULL : image);
	}
}

void table_cursor_run(struct table_cursor *c)
{
	while (c->next < c->end && c->in_flight < IN_FLIGHT && *c->ret == E_OK) {
		uint32_t place = c->next++;

		if (c->want != NULL) {
			write_place(c, place, false);
		} else if (!table_knows(c->q.t, place)) {
			*c->ret = cursor_submit(c, place, place, NULL);
		}
	}
}
