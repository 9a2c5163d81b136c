/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/snapshot/reader.h"

/* Wider components start and end on bytes (a test sees to that). */
static bool component_equal(const struct sa_field *f, const uint8_t *a, const uint8_t *b)
{
	if (f->width > 64) {
		return memcmp(a + f->bit / 8, b + f->bit / 8, f->width / 8) == 0;
	}
	return field_get(a, f->bit, f->width) == field_get(b, f->bit, f->width);
}

static bool matches(const struct sa_query *q, const uint8_t *record)
{
	if (q->attr->reply != NULL || (q->method & (SA_SET | SA_DELETE))) {
		return true;
	}
	for (uint64_t left = q->comp_mask; left != 0; left &= left - 1) {
		unsigned component = (unsigned)__builtin_ctzll(left);
		if (component >= q->attr->n_fields) {
			break;
		}
		const struct sa_field *f = &q->attr->fields[component];
		if ((f->how & SA_HOW) == SA_EQ &&
		    !component_equal(f, q->record, record)) {
			return false;
		}
	}
	return true;
}

void sa_offer(struct sa_out *out, const uint8_t *record)
{
	if (sa_full(out) || !matches(out->q, record)) {
		return;
	}
	out->in_key++;
	if (out->skip > 0) {
		out->skip--;
		return;
	}
	size_t need = out->head + (out->n + 1) * out->stride;
	if (need > out->max_bytes) {
		out->ret = E_FULL;
	} else if (VECTOR_RESERVE(out->data, out->cap, need) != E_OK) {
		out->ret = -ENOMEM;
	}
	if (out->ret != E_OK) {
		return;
	}
	const struct sa_attr *shown = out->q->shown;
	size_t size = sa_reply_attr(shown ? shown : out->q->attr)->size;
	uint8_t *at = out->data + out->head + out->n * out->stride;

	if (shown) { /* in the layout that was asked for */
		sa_convert_record(out->r, shown, record, at);
	} else {
		memcpy(at, record, size);
	}
	memset(at + size, 0, out->stride - size);
	out->n++;
}

void sa_offer_without(struct sa_out *out, const uint8_t *record, int hide)
{
	const struct sa_attr *attr = out->q->attr, *shown = out->q->shown;
	size_t n = out->n;

	sa_offer(out, record);
	if (hide != SA_NONE && shown) {
		hide = sa_convert_component(attr, (unsigned)hide, shown);
		attr = shown;
	}
	if (hide == SA_NONE || out->n == n) {
		return;
	}
	const struct sa_field *f = &attr->fields[hide];
	memset(out->data + out->head + n * out->stride + f->bit / 8, 0, f->width / 8);
}

/* Is the row behind the one that the walk began with? */
static bool is_behind(const struct sa_query *q, const uint8_t *key, size_t len)
{
	size_t shorter = len < q->from_key_len ? len : q->from_key_len;
	int c = q->from_key != NULL ? memcmp(key, q->from_key, shorter) : 0;

	return c > 0 || (c == 0 && len > q->from_key_len);
}

void sa_at_row(struct sa_out *out, const uint8_t *key, size_t len)
{
	if (sa_full(out) || len > sizeof(out->row_key)) {
		return;
	}
	if (is_behind(out->q, key, len)) {
		out->skip = 0; /* the row that was to be left out is gone */
	}
	sa_at(out, len >= 8 ? field_get(key, 0, 64) : 0, 0);
	memcpy(out->row_key, key, len);
	out->row_key_len = len;
}

bool sa_sees(struct snap_reader *r, const struct sa_query *q, const struct snap_end *end)
{
	uint16_t p_key;

	return q->requester == NULL ||
	       snap_common_p_key(r, q->requester, end, 0, &p_key) == E_OK;
}

int sa_refuse(struct sa_out *out, uint16_t status)
{
	if (out->ret == E_OK) {
		out->status = status;
		out->ret = E_RANGE;
	}
	return out->ret;
}

int sa_collect(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	bool changes = (q->method & (SA_SET | SA_DELETE)) != 0;
	const struct sa_query *base = q;
	uint8_t record[SA_CONVERTED_BYTES];
	struct sa_query converted;
	int ret = E_OK;

	out->r = r;
	out->stride = ((size_t)sa_reply_attr(q->attr)->size + 7) & ~(size_t)7;
	if (q->attr->converts != NULL) {
		ret = sa_convert_request(r, q, record, &converted);
		base = &converted;
	}
	if (ret == E_OK) {
		sa_walk_f *walk = q->method == SA_SET      ? base->attr->set
		                  : q->method == SA_DELETE ? base->attr->del
		                  : base->attr->walk != NULL ? base->attr->walk
		                                             : sa_walk_ends;
		out->q = base;
		ret = walk == NULL || (changes && q->store == NULL) ? E_UNKNOWN
		                                                    : walk(r, base, out);
		out->q = q;
	}
	if (out->ret == E_OK) {
		out->ret = ret;
	}
	return out->ret;
}
