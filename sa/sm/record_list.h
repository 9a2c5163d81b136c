/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/client_records.h"

struct sm;
struct state_batch;

/*!
 * A table of the state that the fabric thread has in memory, too: whether that copy is current,
 * and changes of it on their way to the disk. The copy itself is of the caller.
 */
struct record_list {
	enum record_table table;
	uint64_t version; /*!< state_version() that the copy stands for */
	bool loaded;
	_Atomic bool failed; /*!< rows were not written: the copy is to be read again */
};

/*! Changes that are written together. Zeroed is none. */
struct record_changes {
	struct state_batch *batch; /*!< NULL: nothing changed yet */
	size_t n;
};

/*! \brief Is the copy current? Waits for own rows that are on their way to the disk, if another daemon may
 *         have changed some. */
bool record_list_is_current(struct sm *sm, struct record_list *l);

/*!
 * \brief Reads all rows into an array, if the copy is to be read again.
 *
 * \param row_bytes  Of an element.
 * \param decode     Makes an element of a row. \retval E_MALFORMED
 * \param ret_list   [n] malloc, by key; NULL if there are none.
 * \return Errors of decode and of the state; then nothing is given. \retval -ENOMEM
 */
int record_list_read(struct sm *sm, struct record_list *l, size_t row_bytes,
                     int (*decode)(const uint8_t *key, size_t key_len, const void *value,
                                   size_t len, void *ret_row),
                     void **ret_list, size_t *ret_n);

/*! \brief Adds a row. \param value  NULL: it is deleted. \retval -ENOMEM */
int record_list_put(const struct record_list *l, struct record_changes *c, const void *key,
                    size_t key_len, const void *value, size_t len);

/*! \brief Hands the changes over; the copy has them already. */
void record_list_commit(struct sm *sm, struct record_list *l, struct record_changes *c);
