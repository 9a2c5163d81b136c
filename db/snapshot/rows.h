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
	const uint8_t *lid_rows; /*!< [rows of `lids`] 1: to be compared; NULL: all are */
	struct arena *a;
};

/*! \brief Index arrays over \a c, which is borrowed, and over what is stored. \retval -ENOMEM */
int rows_init(struct rows *r, const struct snap_content *c, struct db *db);
void rows_done(struct rows *r);

/*!
 * \brief Compares a table of the snapshot with the sweep; nothing is done for a table that
 *        a sweep does not write. Of long rows only the index is read here:
 *        rows_diff_chunks() compares them. Failures stick in d->ret.
 */
void rows_diff(const struct rows *r, struct db *db, unsigned table, struct diff *d);

/*!
 * \brief Does what an epoch stands for differ? After all comparisons, before their transactions end.
 *        States of ports are no part of it.
 */
bool rows_need_epoch(struct diff *d);

/*!
 * \brief Is a table known to be as it is stored?
 * \param d  By table; those of nodes, ports and attributes are compared.
 */
bool rows_are_same(const struct rows *r, unsigned table, struct diff *d);

/*! \brief Compares the chunks of a table of long rows, in parallel; no other table has any. */
void rows_diff_chunks(const struct rows *r, unsigned table, struct diff *d);
