/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

#include "gateway/view/components.h"
#include "gateway/view/problem.h"
#include "sa/path/path_query.h"

struct arena;
struct known_node;

/*! Why a query for paths has no record, or an end port cannot be asked about. */

/*!
 * \brief Says why path_query_run() failed, in \a p, with a member "reason":
 *
 *   E_NOPATH     "different-part", "loop", "hole" (with "switch"), "no-route"
 *   E_PARTITION  "limited-members", "source-not-member", "destination-not-member",
 *                "not-members", "no-common-partition", "policy" (they share one, but the
 *                policy gives this query none)
 *   E_POLICY     "policy"
 *
 * \param ret  Its result, not E_OK.
 * \return \a ret, or E_LOOP for a loop; E_MALFORMED E_STALE -ENOMEM
 * Cost: of E_NOPATH that of components_build() and of a walk; else a few look-ups.
 */
int path_none_explain(struct snap_reader *r, const struct path_query *q, int ret,
                      struct components *components, struct arena *a, struct problem *p);

/*!
 * \brief Says which selectors leave out all records of a query that has routes:
 *        [{"component":"mtu", "why":"..."}]. A component is in the list when it alone leaves
 *        out all of them; "all" when only several together do.
 * \retval E_MALFORMED E_STALE -ENOMEM  Cost: that of the query, once per component.
 */
int path_none_selectors(struct snap_reader *r, const struct path_query *q,
                        json_t **ret_json);

/*!
 * \brief Says of a text that names no end port whether it names a port without a LID, and
 *        in which state that is.
 * \return The sentence, in \a a; NULL: it names none, or out of memory.
 */
const char *path_none_port(struct snap_reader *r, const char *text, struct arena *a);

/*! \brief "'node010' is gone since 2026-01-31T12:00:00Z, it was on leaf-0000 port 10: its link is
 *         down", or that it has just left; in \a a. NULL: out of memory. */
const char *path_none_gone(const struct known_node *n, struct arena *a);
