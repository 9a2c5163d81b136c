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

/* From one block of a request to the next: a row of egress ports, or a column. */
static uint32_t step_of(const struct table *t)
{
	return table_kinds[t->kind].unit == TABLE_UNIT_EGRESS ? t->cols : 1;
}

/* Does a request carry its blocks as Omni-Path has them? */
static bool is_native(const struct table_request *q)
{
	return blocks_of(q) > 1 || (table_kinds[q->t->kind].flags & TABLE_NATIVE);
}

unsigned table_run_most(enum table_kind_id kind)
{
	return table_kinds[kind].flags & TABLE_NATIVE &&
	                       table_kinds[kind].unit == TABLE_UNIT_EGRESS
	               ? (unsigned)(OPA_DATA_MAX / table_stride(kind))
	               : 1;
}

/* Bytes up to the end of block number i of a request. */
static size_t end_of(const struct table_request *q, uint32_t i)
{
	return i * table_stride(q->t->kind) + table_kinds[q->t->kind].bytes;
}

const uint8_t *table_reply_block(const struct table_request *q, const struct smp_reply *r,
                                 uint32_t i)
{
	if (!is_native(q)) {
		return r->data;
	}
	return r->ret == E_OK && r->native != NULL && r->native_len >= end_of(q, i)
	               ? r->native + i * table_stride(q->t->kind)
	               : NULL;
}

static void on_answer(void *ctx, const struct smp_reply *r)
{
	struct table_request *q = ctx;
	struct smp_reply reply = *r;
	uint32_t n = blocks_of(q);

	if (r->ret == E_OK && table_reply_block(q, r, n - 1) == NULL) {
		reply.ret = E_MALFORMED;
	}
	for (uint32_t i = 0; i < n; i++) {
		take(q->io->store, q->node, q->t, q->block + i * step_of(q->t), &reply,
		     table_reply_block(q, r, i));
	}
	q->io->answered(q->io->ctx, q, &reply);
	if (q->done != NULL) {
		q->done(q->ctx, q, &reply);
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
		                 .shares = q->node->type != NODE_SWITCH,
		                 .done = on_answer,
		                 .ctx = q };

	table_address(q->node, q->t, q->block, &o);
	if (n > 1) {
		o.mod = (o.mod & (OPA_MOD_ONE - 1)) | n << OPA_MOD_COUNT_SHIFT;
		o.native_len = end_of(q, n - 1);
	}
	memset(data, 0, n * stride < SMP_DATA_BYTES ? SMP_DATA_BYTES : n * stride);
	for (uint32_t i = 0; set != NULL && i < n; i++) {
		memcpy(data + i * stride, set + i * bytes, bytes);
		table_begin_set(q->io, q->t, q->block + i * step_of(q->t));
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
