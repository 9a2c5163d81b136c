/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/store/store_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/search.h"

int compare_key(const struct store_row *row, const void *key, size_t key_len)
{
	size_t n = row->key_len < key_len ? row->key_len : key_len;
	int c = n ? memcmp(row->bytes, key, n) : 0;

	return c != 0 ? c : (row->key_len > key_len) - (row->key_len < key_len);
}

/* A row with less bytes than it should have has an owner of its own, below the others. */
static bool has_owner(const struct order *o, const struct store_row *row)
{
	return (size_t)row->key_len + row->len >= o->at + o->len;
}

static bool is_before(const struct order *o, const struct store_row *row,
                      const struct point *p)
{
	int c = 0;

	if (o->len && p->owner) {
		c = has_owner(o, row) ? memcmp(row->bytes + o->at, p->owner, o->len) : -1;
	} else if (o->len) {
		c = has_owner(o, row);
	}
	if (c == 0) {
		c = p->behind ? -1 : compare_key(row, p->key, p->key_len);
	}
	return c < 0;
}

const uint8_t *order_owner(const struct order *o, const struct store_row *row)
{
	return has_owner(o, row) ? row->bytes + o->at : NULL;
}

bool order_is_owner(const struct order *o, const struct store_row *row,
                    const uint8_t *owner)
{
	return has_owner(o, row) && memcmp(row->bytes + o->at, owner, o->len) == 0;
}

static struct point point_of(const struct order *o, const struct store_row *row)
{
	return (struct point){ .owner = order_owner(o, row),
		               .key = row->bytes,
		               .key_len = row->key_len };
}

/* The first slot of a leaf that is not before a point; the one in front is. */
static size_t seek_slot(const struct order *o, const struct leaf *leaf,
                        const struct point *p)
{
	return 1 + LOWER_BOUND(leaf->n - 1, i, is_before(o, leaf->row[i + 1], p));
}

/* Leaves are told apart by their first rows, which lie beside their heads in memory. */
struct place order_seek(const struct order *o, const struct point *p)
{
	size_t at = LOWER_BOUND(o->n, i, is_before(o, o->leaf[i]->row[0], p));

	if (at == 0) {
		return (struct place){ 0, 0 };
	}
	const struct leaf *leaf = o->leaf[at - 1];
	size_t slot = seek_slot(o, leaf, p);
	return slot == leaf->n && at < o->n ? (struct place){ at, 0 }
	                                    : (struct place){ at - 1, slot };
}

static bool is_row(const struct order *o, struct place at)
{
	return at.leaf < o->n && at.slot < o->leaf[at.leaf]->n;
}

struct store_row *order_row(const struct order *o, struct place at)
{
	if (!is_row(o, at)) {
		return NULL;
	}
	*o->finger = at;
	return o->leaf[at.leaf]->row[at.slot];
}

static struct place place_of(const struct order *o, const struct store_row *row)
{
	if (is_row(o, *o->finger) &&
	    o->leaf[o->finger->leaf]->row[o->finger->slot] == row) {
		return *o->finger;
	}
	struct point p = point_of(o, row);
	return order_seek(o, &p);
}

struct store_row *order_next(const struct order *o, const struct store_row *row)
{
	struct place at = place_of(o, row);

	at.slot++;
	return order_row(
		o, at.slot < o->leaf[at.leaf]->n ? at : (struct place){ at.leaf + 1, 0 });
}

int order_reserve(struct order *o)
{
	if (o->n + 1 >= o->cap) {
		size_t cap = o->cap ? o->cap * 2 : 16;
		struct leaf **leaf = realloc(o->leaf, cap * sizeof(struct leaf *));
		if (leaf == NULL) {
			return -ENOMEM;
		}
		o->leaf = leaf;
		o->cap = cap;
	}
	if (o->spare == NULL) {
		o->spare = malloc(sizeof(*o->spare));
	}
	return o->spare != NULL ? E_OK : -ENOMEM;
}

/* The spare leaf becomes the one at i; it gets the last n rows of the one before it. */
static void add_leaf(struct order *o, size_t i, size_t n)
{
	struct leaf *leaf = o->spare;

	memmove(o->leaf + i + 1, o->leaf + i, (o->n - i) * sizeof(struct leaf *));
	o->leaf[i] = leaf;
	o->n++;
	o->spare = NULL;
	leaf->n = n;
	if (n) {
		struct leaf *before = o->leaf[i - 1];
		before->n -= n;
		memcpy(leaf->row, before->row + before->n, n * sizeof(leaf->row[0]));
	}
}

/* What comes in the order of its keys, as after a start, fills its leaves. */
void order_insert(struct order *o, struct store_row *row)
{
	struct point p = point_of(o, row);
	struct place at = order_seek(o, &p);

	if (o->n == 0) {
		add_leaf(o, 0, 0);
	} else if (o->leaf[at.leaf]->n == LEAF_ROWS) {
		bool last = at.leaf + 1 == o->n && at.slot == LEAF_ROWS;
		add_leaf(o, at.leaf + 1, last ? 0 : LEAF_ROWS / 2);
		if (at.slot > o->leaf[at.leaf]->n || last) {
			at.slot -= o->leaf[at.leaf]->n;
			at.leaf++;
		}
	}
	struct leaf *leaf = o->leaf[at.leaf];
	memmove(leaf->row + at.slot + 1, leaf->row + at.slot,
	        (leaf->n - at.slot) * sizeof(leaf->row[0]));
	leaf->row[at.slot] = row;
	leaf->n++;
}

static void drop_leaf(struct order *o, size_t i)
{
	free(o->leaf[i]);
	o->n--;
	memmove(o->leaf + i, o->leaf + i + 1, (o->n - i) * sizeof(struct leaf *));
}

/* A leaf that ran low gives its rows to the one before it, if that has room. */
static void settle_leaf(struct order *o, size_t i)
{
	struct leaf *leaf = o->leaf[i];

	if (leaf->n == 0) {
		drop_leaf(o, i);
	} else if (leaf->n < LEAF_ROWS / 4 && i > 0 &&
	           o->leaf[i - 1]->n + leaf->n <= LEAF_ROWS / 2) {
		struct leaf *before = o->leaf[i - 1];
		memcpy(before->row + before->n, leaf->row,
		       leaf->n * sizeof(leaf->row[0]));
		before->n += leaf->n;
		drop_leaf(o, i);
	}
}

void order_remove(struct order *o, const struct store_row *row)
{
	struct place at = place_of(o, row);
	struct leaf *leaf = o->leaf[at.leaf];

	leaf->n--;
	memmove(leaf->row + at.slot, leaf->row + at.slot + 1,
	        (leaf->n - at.slot) * sizeof(leaf->row[0]));
	settle_leaf(o, at.leaf);
}

void order_clear(struct order *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->leaf[i]);
	}
	o->n = 0;
}

void order_done(struct order *o)
{
	order_clear(o);
	free(o->leaf);
	free(o->spare);
}

/* How many rows are between two places. */
static size_t distance(const struct order *o, struct place from, struct place to)
{
	size_t n = 0;

	for (; from.leaf < to.leaf; from = (struct place){ from.leaf + 1, 0 }) {
		n += o->leaf[from.leaf]->n - from.slot;
	}
	return n + to.slot - from.slot;
}

bool order_has(const struct order *o, const uint8_t *owner, size_t n)
{
	struct point point = { .owner = owner };
	struct place first = order_seek(o, &point);
	size_t last = first.leaf + n / LEAF_ROWS;

	/* do so many leaves not end in rows of this owner, they have not so many of them
	 */
	if (owner && n >= LEAF_ROWS &&
	    (last > o->n ||
	     !order_is_owner(o, o->leaf[last - 1]->row[o->leaf[last - 1]->n - 1],
	                     owner))) {
		return false;
	}
	point.behind = true;
	return distance(o, first, order_seek(o, &point)) >= n;
}
