/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/table/table.h"

#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

static uint64_t key_of(uint64_t guid, uint32_t unit)
{
	return guid ^ (unit + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

void table_note_change(struct table *t)
{
	struct table_store *s = t->store;

	if (t->noted || t->kind == TABLE_LFT) {
		return;
	}
	if (VECTOR_RESERVE(s->changed, s->cap_changed, s->n_changed + 1) != E_OK) {
		s->any_changed = true;
		return;
	}
	s->changed[s->n_changed++] = t;
	t->noted = true;
}

void tables_changes_published(struct table_store *s)
{
	for (uint32_t i = 0; i < s->n_changed; i++) {
		s->changed[i]->noted = false;
	}
	s->n_changed = 0;
	s->any_changed = false;
}

static void forget_blocks(struct table *t, uint32_t block, uint32_t n)
{
	const struct table_kind *k = &table_kinds[t->kind];

	table_note_change(t);
	if (n != 0) {
		memset(table_block(t, block), k->unknown, (size_t)n * k->bytes);
	}
	for (uint32_t i = block; i < block + n; i++) {
		t->state[i] &= TABLE_LATE_NOTED | TABLE_LATE_DUE;
	}
	t->asked = false;
}

/* Gives a table another shape, with nothing known. \return false: out of memory. */
static bool reshape(struct table *t, unsigned rows, uint32_t cols)
{
	size_t n = (size_t)rows * cols;
	uint8_t *data = n != 0 ? malloc(n * (table_kinds[t->kind].bytes + 1u)) : NULL;

	if (n != 0 && data == NULL) {
		return false;
	}
	t->rows = (uint16_t)rows;
	t->cols = cols;
	t->live = UINT32_MAX;
	t->data = data;
	t->state = data != NULL ? data + n * table_kinds[t->kind].bytes : NULL;
	t->silent = false;
	if (n != 0) {
		memset(t->state, 0, n);
	}
	forget_blocks(t, 0, (uint32_t)n);
	return true;
}

bool table_is_known(const struct table *t)
{
	uint32_t n = table_size(t), i = 0;

	while (i < n && table_knows(t, i)) {
		i++;
	}
	return i == n;
}

struct table *table_find(const struct table_store *s, enum table_kind_id kind,
                         uint64_t guid, uint32_t unit)
{
	const struct table_list *l = &s->of[kind];
	uint32_t i = hash_get(&l->by_key, key_of(guid, unit));

	return i != HASH_NONE && l->items[i]->guid == guid && l->items[i]->unit == unit
	               ? l->items[i]
	               : NULL;
}

static struct table *add(struct table_list *l, const struct table *what)
{
	struct table *t = malloc(sizeof(*t));

	if (t == NULL || VECTOR_RESERVE(l->items, l->cap, l->n + 1) != E_OK ||
	    hash_put(&l->by_key, key_of(what->guid, what->unit), l->n) != E_OK) {
		free(t);
		return NULL;
	}
	*t = *what;
	l->items[l->n++] = t;
	return t;
}

/* Gives each row at least so many columns, and keeps what is known. \return false: out of memory. */
static bool grow(struct table *t, uint32_t cols)
{
	struct table old = *t;
	size_t bytes = table_kinds[t->kind].bytes;

	if (cols <= t->cols) {
		return true;
	}
	if (!reshape(t, t->rows, cols)) {
		return false;
	}
	for (unsigned row = 0; row < t->rows && old.cols != 0; row++) {
		memcpy(table_block(t, table_at(t, row, 0)),
		       table_block(&old, table_at(&old, row, 0)), old.cols * bytes);
		memcpy(t->state + table_at(t, row, 0), old.state + table_at(&old, row, 0),
		       old.cols);
	}
	t->live = old.live;
	free(old.data);
	return true;
}

struct table *table_get(struct table_store *s, enum table_kind_id kind, uint64_t guid,
                        uint32_t unit, unsigned rows, uint32_t cols)
{
	struct table *t = table_find(s, kind, guid, unit);
	uint8_t *old;

	if (t == NULL) {
		t = add(&s->of[kind],
		        &(struct table){
				.store = s, .guid = guid, .unit = unit, .kind = kind });
	}
	if (t == NULL || (t->rows == rows && t->cols == cols)) {
		return t;
	}
	if (t->rows == rows && (table_kinds[kind].flags & TABLE_GROWS)) {
		return grow(t, cols) ? t : NULL;
	}
	old = t->data;
	if (!reshape(t, rows, cols)) {
		return NULL;
	}
	free(old);
	return t;
}

void table_clear(struct table *t)
{
	if (t != NULL) {
		free(t->data);
		(void)reshape(t, 0, 0);
	}
}

void table_put(struct table *t, uint32_t block, const uint8_t *data, size_t len)
{
	uint8_t *to = table_block(t, block);

	table_note_change(t);
	memcpy(to, data, len);
	memset(to + len, 0, table_kinds[t->kind].bytes - len);
	t->state[block] = (uint8_t)((t->state[block] | TABLE_KNOWN) & ~TABLE_DOUBTFUL);
}

void table_drop(struct table *t, uint32_t block)
{
	bool asked = t->asked;

	forget_blocks(t, block, 1);
	t->asked = asked; /* the device had its chance to show it */
}

void table_forget(struct table *t)
{
	if (t != NULL) {
		forget_blocks(t, 0, table_size(t));
	}
}

void table_forget_port(struct table *t, unsigned port)
{
	if (port < t->rows) {
		forget_blocks(t, table_at(t, port, 0), t->cols);
	}
	if ((table_kinds[t->kind].flags & TABLE_COLS_ARE_PORTS) && port < t->cols) {
		for (unsigned row = 0; row < t->rows; row++) {
			forget_blocks(t, table_at(t, row, port), 1);
		}
	}
}

void tables_forget(struct table_store *s, unsigned flag, uint64_t guid, uint32_t unit)
{
	for (unsigned k = 0; k < TABLE_KIND_COUNT; k++) {
		if (table_kinds[k].flags & flag) {
			table_forget(table_find(s, k, guid, unit));
		}
	}
}

void tables_forget_all(struct table_store *s)
{
	for (unsigned k = 0; k < TABLE_KIND_COUNT; k++) {
		for (uint32_t i = 0; i < s->of[k].n; i++) {
			if (table_kinds[k].unit == TABLE_UNIT_EGRESS) {
				table_clear(s->of[k].items[i]);
			} else {
				table_forget(s->of[k].items[i]);
			}
		}
	}
}

void tables_done(struct table_store *s)
{
	for (unsigned k = 0; k < TABLE_KIND_COUNT; k++) {
		for (uint32_t i = 0; i < s->of[k].n; i++) {
			free(s->of[k].items[i]->data);
			free(s->of[k].items[i]);
		}
		free(s->of[k].items);
		hash_done(&s->of[k].by_key);
	}
	free(s->changed);
	*s = (struct table_store){ .n_late = 0 };
}

void table_note_late(struct table_store *s, struct table *t, uint32_t block)
{
	uint8_t *state = &t->state[block];

	s->n_late += (*state & TABLE_LATE_NOTED) == 0;
	*state = (uint8_t)((*state | TABLE_LATE_NOTED) & ~TABLE_LATE_DUE);
}

bool tables_late_due(struct table_store *s)
{
	bool any = s->n_late != 0;

	for (unsigned k = 0; any && k < TABLE_KIND_COUNT; k++) {
		bool may_be = table_kinds[k].flags & TABLE_MAY_BE_LATE;

		for (uint32_t i = 0; may_be && i < s->of[k].n; i++) {
			struct table *t = s->of[k].items[i];

			for (uint32_t b = 0; b < table_size(t); b++) {
				if (t->state[b] & TABLE_LATE_NOTED) {
					t->state[b] ^= TABLE_LATE_NOTED | TABLE_LATE_DUE;
				}
			}
		}
	}
	s->n_late = 0;
	return any;
}
