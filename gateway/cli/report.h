/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/proof/proof.h"

struct arena;
struct graph;
struct lids;
struct lft;
struct lanes;

/*!
 * Reports on forwarding tables, whichever program made them. One row per report. build()
 * computes a JSON object, which --json prints; print() writes the same object as text, in
 * the layout that users of opareport know.
 */
struct report_in {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;
	const struct lanes *lanes;
	struct arena *arena;
	uint32_t limit;       /*!< how many faults are listed at most */
	const char *src, *dst; /*!< end ports of `route`: LID, GUID, description or name:port */
	bool strict;          /*!< management pairs count, too */
};

struct report {
	const char *name, *alias; /*!< alias: another spelling, or NULL */
	const char *help;
	/*!
	 * \param ret_good  False: the report shows a fault; sets the exit status.
	 * \retval E_NOTFOUND  src or dst names nothing; a sentence was printed.
	 */
	int (*build)(const struct report_in *in, json_t **ret_json, bool *ret_good);
	void (*print)(const json_t *report);
};

extern const struct report report_credit_loops, report_routes, report_path_usage,
	report_tree_path_usage, report_port_usage, report_route;

/*! \brief A node as the reports name it: guid, type ("FI", "SW", "RT"), name,
 * description. */
json_t *report_node(const struct graph *g, uint32_t node);

