/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct graph;
struct lids;
struct lft;

/*!
 * Routes between end ports as people count them: from every end port (CA, router, switch
 * port 0) to every LID of every other one, inside one connected part. The faults that the proof
 * counts by switch are listed here by pair.
 */
enum validate_fault {
	VALIDATE_HOLE, /*!< a switch has no entry, or one that leads nowhere */
	VALIDATE_LOOP  /*!< it comes back to a switch */
};

/*! A route that does not arrive. */
struct validate_route {
	uint32_t src; /*!< port index */
	uint32_t lid; /*!< destination */
	uint32_t at;  /*!< switch index where it ends, or one on the loop */
	enum validate_fault fault;
};

struct validation {
	uint64_t analyzed;   /*!< routes walked */
	uint64_t incomplete; /*!< of these */
	uint64_t host_analyzed, host_incomplete; /*!< the same between CA and router ports only */
	uint64_t decisions;  /*!< entries that routes between CAs and routers use: (switch or source port, LID) */
	struct validate_route *list; /*!< by LID, then source; the first of incomplete */
	uint32_t n_list;
};

/*!
 * \brief Walks all routes.
 * \param list_max  How many faults to list at most.
 * \retval -ENOMEM
 * Cost: O(S * L) and the faults listed.
 */
int validate_routes(const struct graph *g, const struct lids *lids, const struct lft *lft,
                    uint32_t list_max, struct arena *a,
                    struct validation *ret_validation);
