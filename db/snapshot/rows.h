/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/lmdb/diff.h"
#include "db/lmdb/layout.h"
#include "db/snapshot/key_sets.h"

struct snap_content;

/*!
 * Rows of a sweep as db/lmdb/layout.h describes them, offered to a diff in key order. Private
 * to this room.
 */
struct rows {
	const struct snap_content *c;
	uint32_t *sw_row;      /*!< [n_switches] row in `paths`, UINT32_MAX: none */
	uint64_t *switch_guid; /*!< [n_switches] */
	uint64_t *source_guid; /*!< [n_sources] */
	struct chunk_rows lft, paths, alternates;
	uint8_t *rate; /*!< [graph.n_ports] rate code of the cable, of port 0 its own, 0:
	                  no cable */
	struct key_sets keys;
	const uint64_t *gone; /*!< [n_gone] nodes that are stored and not there any more, ascending; where
	                         c->changed is not NULL, for the tables that it is for */
	size_t n_gone;
	struct arena *a;
};

/*! \brief Index arrays over \a c, which is borrowed. \retval -ENOMEM */
int rows_init(struct rows *r, const struct snap_content *c);
void rows_done(struct rows *r);

/*!
 * \brief Compares a table of the snapshot with the sweep; nothing is done for a table that
 *        a sweep does not write. Of long rows only the index is read here:
 *        rows_diff_chunks() compares them. Failures stick in d->ret.
 */
void rows_diff(const struct rows *r, struct db *db, unsigned table, struct diff *d);

/*! \brief Compares the chunks of a table of long rows, in parallel; no other table has any. */
void rows_diff_chunks(const struct rows *r, unsigned table, struct diff *d);
