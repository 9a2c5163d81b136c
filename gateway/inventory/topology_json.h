/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct body;
struct inventory;

/*! What is to be shown of the map. */
struct topology_view {
	uint32_t group; /*!< this one and what is cabled to it; GRAPH_NONE: everything */
	bool switches;  /*!< each switch for itself, also where groups would be folded */
	bool hosts;     /*!< also the hosts of the switches that stand for themselves */
};

/*!
 * \brief Writes the map as one JSON object: tiers, groups, vertices, the bundles of cables
 *        between them. The schema Topology (gateway/api/schema.c) describes it.
 *
 * In a large fabric a vertex is a whole group, otherwise a switch. Bundles and hosts are
 * rows of numbers, because there are many.
 *
 * \param v     With its shape.
 * \param head  First members; taken.
 * \retval -ENOMEM
 * Cost: O(E log E).
 */
int topology_write(struct body *b, const struct inventory *v,
                   const struct topology_view *view, json_t *head, struct arena *tmp);
