/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/store/row_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"

/* --- one row ---------------------------------------------------------------------- */

int row_compare_key(const struct store_row *row, const void *key, size_t key_len)
{
	size_t n = row->key_len < key_len ? row->key_len : key_len;
	int c = n ? memcmp(row->bytes, key, n) : 0;

	return c != 0 ? c : (row->key_len > key_len) - (row->key_len < key_len);
}

const uint8_t *row_owner(const struct row_index *ix, const struct store_row *row)
{
	return (size_t)row->key_len + row->len >= ix->at + ix->len ? row->bytes + ix->at
	                                                           : NULL;
}

bool row_has_owner(const struct row_index *ix, const struct store_row *row,
                   const uint8_t *owner)
{
	const uint8_t *own = row_owner(ix, row);

	return own != NULL && memcmp(own, owner, ix->len) == 0;
}

static bool is_below(const struct row_index *ix, const struct store_row *row,
                     const struct row_bound *b)
{
	int c = 0;

	if (ix->len) {
		const uint8_t *owner = row_owner(ix, row);
		if (owner == NULL || b->owner == NULL) {
			c = (owner != NULL) - (b->owner != NULL);
		} else {
			c = memcmp(owner, b->owner, ix->len);
		}
	}
	if (c == 0) {
		c = b->after ? -1 : row_compare_key(row, b->key, b->key_len);
	}
	return c < 0;
}

/* --- positions -------------------------------------------------------------------- */

struct row_pos row_index_seek(const struct row_index *ix, const struct row_bound *b)
{
	/* the first leaf whose first row is not below the bound */
	size_t next = LOWER_BOUND(ix->n, i, is_below(ix, ix->leaf[i]->row[0], b));

	if (next == 0) {
		return (struct row_pos){ 0, 0 };
	}
	/* the row is that one, or in the leaf before it, but not the first one there */
	const struct leaf *leaf = ix->leaf[next - 1];
	size_t slot = 1 + LOWER_BOUND(leaf->n - 1, i, is_below(ix, leaf->row[i + 1], b));
	return slot == leaf->n && next < ix->n ? (struct row_pos){ next, 0 }
	                                       : (struct row_pos){ next - 1, slot };
}

static struct store_row *row_at(const struct row_index *ix, struct row_pos pos)
{
	return pos.leaf < ix->n && pos.slot < ix->leaf[pos.leaf]->n
	               ? ix->leaf[pos.leaf]->row[pos.slot]
	               : NULL;
}

struct store_row *row_index_get(const struct row_index *ix, struct row_pos pos)
{
	struct store_row *row = row_at(ix, pos);

	if (row != NULL) {
		*ix->last = pos;
	}
	return row;
}

static struct row_bound bound_at(const struct row_index *ix, const struct store_row *row)
{
	return (struct row_bound){ .owner = row_owner(ix, row),
		                   .key = row->bytes,
		                   .key_len = row->key_len };
}

static struct row_pos position_of(const struct row_index *ix, const struct store_row *row)
{
	if (row_at(ix, *ix->last) == row) {
		return *ix->last;
	}
	struct row_bound b = bound_at(ix, row);
	return row_index_seek(ix, &b);
}

struct store_row *row_index_next(const struct row_index *ix, const struct store_row *row)
{
	struct row_pos pos = position_of(ix, row);

	pos.slot++;
	if (pos.slot >= ix->leaf[pos.leaf]->n) {
		pos = (struct row_pos){ pos.leaf + 1, 0 };
	}
	return row_index_get(ix, pos);
}

bool row_index_has(const struct row_index *ix, const uint8_t *owner, size_t n)
{
	struct row_bound b = { .owner = owner };
	struct row_pos first = row_index_seek(ix, &b);
	size_t last = first.leaf + n / LEAF_ROWS;

	/* n rows of the owner would fill the leaves before `last`; if the row at the end
	 * of these leaves has another owner, there are fewer */
	if (owner && n >= LEAF_ROWS &&
	    (last > ix->n ||
	     !row_has_owner(ix, ix->leaf[last - 1]->row[ix->leaf[last - 1]->n - 1],
	                    owner))) {
		return false;
	}
	b.after = true;
	struct row_pos end = row_index_seek(ix, &b);
	size_t rows = 0;
	for (; first.leaf < end.leaf; first = (struct row_pos){ first.leaf + 1, 0 }) {
		rows += ix->leaf[first.leaf]->n - first.slot;
	}
	return rows + end.slot - first.slot >= n;
}

/* --- changes ---------------------------------------------------------------------- */

int row_index_reserve(struct row_index *ix)
{
	if (VECTOR_RESERVE(ix->leaf, ix->cap, ix->n + 2) != E_OK) {
		return -ENOMEM;
	}
	if (ix->spare == NULL) {
		ix->spare = malloc(sizeof(*ix->spare));
	}
	return ix->spare != NULL ? E_OK : -ENOMEM;
}

/* Makes the spare leaf leaf i and moves the last n rows of the leaf before it there. */
static void add_leaf(struct row_index *ix, size_t i, size_t n)
{
	struct leaf *leaf = ix->spare;

	memmove(ix->leaf + i + 1, ix->leaf + i, (ix->n - i) * sizeof(struct leaf *));
	ix->leaf[i] = leaf;
	ix->n++;
	ix->spare = NULL;
	leaf->n = n;
	if (n) {
		struct leaf *before = ix->leaf[i - 1];
		before->n -= n;
		memcpy(leaf->row, before->row + before->n, n * sizeof(leaf->row[0]));
	}
}

void row_index_insert(struct row_index *ix, struct store_row *row)
{
	struct row_bound b = bound_at(ix, row);
	struct row_pos pos = row_index_seek(ix, &b);

	if (ix->n == 0) {
		add_leaf(ix, 0, 0);
	} else if (ix->leaf[pos.leaf]->n == LEAF_ROWS) {
		/* a full leaf is cut in half. Rows that are appended in order, as after a
		 * start, begin a new leaf instead, so that leaves are full */
		bool append = pos.leaf + 1 == ix->n && pos.slot == LEAF_ROWS;
		add_leaf(ix, pos.leaf + 1, append ? 0 : LEAF_ROWS / 2);
		if (pos.slot > ix->leaf[pos.leaf]->n || append) {
			pos.slot -= ix->leaf[pos.leaf]->n;
			pos.leaf++;
		}
	}
	struct leaf *leaf = ix->leaf[pos.leaf];
	memmove(leaf->row + pos.slot + 1, leaf->row + pos.slot,
	        (leaf->n - pos.slot) * sizeof(leaf->row[0]));
	leaf->row[pos.slot] = row;
	leaf->n++;
}

/* Removes a row; a leaf that becomes less than a quarter full is merged into the one
 * before it, if both together fill at most half a leaf. */
void row_index_remove(struct row_index *ix, const struct store_row *row)
{
	struct row_pos pos = position_of(ix, row);
	struct leaf *leaf = ix->leaf[pos.leaf];
	struct leaf *before = pos.leaf > 0 ? ix->leaf[pos.leaf - 1] : NULL;

	leaf->n--;
	memmove(leaf->row + pos.slot, leaf->row + pos.slot + 1,
	        (leaf->n - pos.slot) * sizeof(leaf->row[0]));
	if (leaf->n > 0 && (before == NULL || leaf->n >= LEAF_ROWS / 4 ||
	                    before->n + leaf->n > LEAF_ROWS / 2)) {
		return;
	}
	if (leaf->n > 0) {
		memcpy(before->row + before->n, leaf->row,
		       leaf->n * sizeof(leaf->row[0]));
		before->n += leaf->n;
	}
	free(leaf);
	ix->n--;
	memmove(ix->leaf + pos.leaf, ix->leaf + pos.leaf + 1,
	        (ix->n - pos.leaf) * sizeof(struct leaf *));
}

void row_index_clear(struct row_index *ix)
{
	for (size_t i = 0; i < ix->n; i++) {
		free(ix->leaf[i]);
	}
	ix->n = 0;
}

void row_index_done(struct row_index *ix)
{
	row_index_clear(ix);
	free(ix->leaf);
	free(ix->spare);
}
