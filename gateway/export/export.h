/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

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
	EXPORT_TABLES = 1 /*!< LIDs and forwarding tables */
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

/*! Ends with a row without name. */
extern const struct export_format export_formats[];

/*! \return NULL: there is no such format. */
const struct export_format *export_find(const char *name);

/*! \brief How many parts a form has. */
uint32_t export_parts(const struct export_format *f, const struct export_fabric *x);
