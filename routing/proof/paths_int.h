/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/graph/column.h"
#include "routing/proof/paths.h"

/*!
 * The two things that one pass over the columns makes: rows of paths (path_rows.c) and
 * sums per channel (load.c). Each keeps one working set per thread; the pass itself is in
 * paths.c.
 */
struct rows;
struct sums;

/*! \brief Rows of all sources, all empty, in \a a. \return NULL when out of memory. */
struct rows *rows_new(const struct column_map *m, const struct lanes *lanes,
                      unsigned threads, struct arena *a, struct arena *tmp);

/*! \brief Empties a thread's block of COLUMN_BLOCK LIDs. */
void rows_clear_block(struct rows *r, unsigned thread);

/*! \brief Adds a resolved column to the block. */
void rows_column(struct rows *r, unsigned thread, const struct column *c);

/*! \brief Rows of all LIDs of a resolved block, in their place. Leaves b->passed changed.
 */
void rows_block(struct rows *r, unsigned thread, struct column_block *b);

/*! \brief Copies the block to its place; \a lid is its first LID. */
void rows_store_block(struct rows *r, unsigned thread, uint32_t lid);

struct paths rows_paths(const struct rows *r);

/*! \brief For rows that are there already, of these sources. \return NULL when out of memory. */
struct rows *rows_of_paths(const struct column_map *m, const struct paths *made,
                           struct arena *tmp);

/*! \brief Writes the row of one path anew; nothing for a switch that is no source. Only
 *  with one lane. Cost: O(hops). */
void rows_path(struct rows *r, uint32_t s, uint32_t lid);

/*! \brief Sums, all 0. \return NULL when out of memory. */
struct sums *sums_new(const struct column_map *m, unsigned threads, struct arena *tmp);

/*! \brief Adds the routes of hosts to a resolved column's owner, if that is a host. */
void sums_column(struct sums *x, unsigned thread, const struct column *c);

/*! \brief The same for all LIDs of a resolved block. Leaves b->passed changed. */
void sums_block(struct sums *x, unsigned thread, struct column_block *b);

/*! \brief Adds up over threads, in \a a. \retval -ENOMEM */
int sums_load(const struct sums *x, struct arena *a, struct arena *tmp,
              struct load *ret_load);

/*! \brief Load from routes by [switch][width] port, in \a a. \retval -ENOMEM */
int load_of_ports(const struct graph *g, const uint32_t *all, const uint32_t *base,
                  uint32_t width, struct arena *a, struct arena *tmp,
                  struct load *ret_load);
