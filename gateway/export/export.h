/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;
struct body;
struct graph;
struct lids;
struct topology;

/*!
 * The fabric in the forms that other programs read.
 *
 * A form is written part by part, so that a large one needs the memory of one part. What it
 * writes depends on the fabric alone, not on the order in which nodes were found.
 */

/*! The fabric that is written; all borrowed. */
struct export_fabric {
	const struct graph *g;
	const struct lids *lids;      /*!< forms of EXPORT_TABLES, else NULL */
	const struct topology *shape; /*!< tiers and groups of its switches */
	/*! Fills [lids->top + 1] egress ports of a switch by LID, LFT_NO_ROUTE where there is
	 * none; forms of EXPORT_TABLES, else NULL. */
	int (*row)(void *arg, uint32_t sw, uint8_t *ret_row);
	void *arg;
	int64_t time; /*!< when it was computed, seconds since 1970 */
};

enum export_needs {
	EXPORT_TABLES = 1, /*!< LIDs and forwarding tables */
	EXPORT_GONE = 2    /*!< hosts that are gone at the moment, unless the reader wants none */
};

/*! An end port of a host that was up once and is gone. */
struct export_gone {
	uint64_t node_guid, port_guid;
	uint64_t switch_guid; /*!< where it was cabled; 0: not known */
	uint8_t port, switch_port;
	uint8_t type; /*!< enum node_type */
	const char *name; /*!< borrowed */
};

struct export_format {
	const char *name;
	const char *media_type; /*!< static */
	const char *summary;    /*!< what it is, and what reads it */
	unsigned needs;         /*!< enum export_needs */
	uint32_t (*parts)(const struct export_fabric *x); /*!< how many; NULL: one */
	/*! \retval E_OK \retval -ENOMEM \retval others  Of export_fabric.row. */
	int (*write)(const struct export_fabric *x, uint32_t part, struct body *out);
};

/*!
 * \brief Makes a copy of a fabric with hosts where they were cabled.
 *
 * Left out are switches, and hosts whose switch is gone or has another cable there.
 *
 * \param gone       [n] by NodeGUID.
 * \param ret_graph  Frozen, in \a a.
 * \retval -ENOMEM
 * Cost: O(P log P), that of graph_freeze().
 */
int export_with_gone(const struct graph *g, const struct export_gone *gone, size_t n,
                     struct arena *a, struct graph **ret_graph);

/*! Ends with a row without name. */
extern const struct export_format export_formats[];

/*! \return NULL: there is no such format. */
const struct export_format *export_find(const char *name);

/*! \brief How many parts a form has. */
uint32_t export_parts(const struct export_format *f, const struct export_fabric *x);
