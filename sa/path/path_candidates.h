/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/path/path_query.h"

/*!
 * The pairs of end ports of a query that leaves one end or both open. An open end stands
 * for every end port, in the order of GUIDs, once more for each of its alias GUIDs. Sources
 * are the outer loop, destinations the inner one. A place in this order is the GUID of each
 * open end, so it has a meaning in another epoch as well: the walk then continues at the
 * next GUID there is.
 */
struct path_candidates {
	const struct snap_ends *all; /*!< of the pinned epoch */
	bool any_src, any_dst;
	bool src_is_read;
	uint32_t src, dst; /*!< next pair, positions in all; 0 where the end is named */
};

/*! GUIDs of the open ends of a pair: of the source if that is open, else of the
 * destination; of the destination if both are. 0: not open. */
struct path_place {
	uint64_t key, sub;
};

/*!
 * \brief Begins at a place, or behind it when no end port has its GUID; {0, 0}: at the start.
 * \retval E_MALFORMED E_STALE -ENOMEM  Cost: once per epoch that of snap_ends().
 */
int path_candidates_begin(struct path_candidates *w, struct snap_reader *r, bool any_src,
                     bool any_dst, const struct path_place *from);

/*!
 * \brief Next pair: writes the open ends into \a q.
 * \retval E_NOTFOUND  No more. \retval E_MALFORMED E_STALE
 * Cost: O(1).
 */
int path_candidates_next(struct path_candidates *w, struct snap_reader *r,
                         struct path_query *q, struct path_place *ret_place);
