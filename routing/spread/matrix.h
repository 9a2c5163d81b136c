/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/graph/hops.h"
#include "routing/spread/spread.h"

struct arena;
struct graph;
struct lids;
struct matrix_dump;
struct matrix_dump_table;
struct why;

/*!
 * A dumped hop matrix held against a fabric: distances, and which ports lead closer.
 */
struct matrix {
	struct hops hops; /*!< [from][to] least hops as the dump says; shortest paths where it does not fit */
	const struct matrix_dump *dump;
	uint32_t *table; /*!< [n] of each switch in dump->tables, GRAPH_NONE */
	uint32_t *row;   /*!< [from][to] row in the table of from, GRAPH_NONE: shortest paths */
};

/*!
 * \brief Finds out what of a dump can be used.
 *
 * Columns are the switches that the portguid remarks name, and only without a remark those
 * that have the LID now. A row is used when some port that it gives the least hops to is
 * cabled to a switch that is nearer. \a notes names what is not used.
 *
 * \retval E_RANGE  More than 65,535 switches. \retval -ENOMEM
 * Cost: O(S * E) time, 5 S^2 bytes.
 */
int matrix_init(struct matrix *m, const struct matrix_dump *dump, const struct graph *g,
                const struct lids *lids, struct arena *a, struct why *notes);

/*! \brief spread_closer_f for all ports that a dump gives the least hops to; \a ctx is the struct matrix. */
spread_closer_f matrix_closer;
