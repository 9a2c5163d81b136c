/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct snap_reader;

/*!
 * Connected components of the fabric in a snapshot, to say why there is no path. They are
 * found when first needed and kept for the epoch, so that not every answer without a path
 * costs a walk.
 */
struct components {
	uint64_t epoch;   /*!< 0: not built */
	uint64_t version; /*!< the newer one of nodes and links */
	uint64_t *guids;  /*!< [n] NodeGUIDs, ascending */
	uint32_t *parent; /*!< [n] union-find forest over positions in guids */
	uint32_t n;
};

/*!
 * \brief Builds them for the pinned epoch, or keeps those that are there for it.
 * \retval -ENOMEM \retval E_MALFORMED. On failure \a p is empty.
 * Cost: one walk over nodes and links.
 */
int components_build(struct components *p, struct snap_reader *r);

/*! \brief Are two nodes in the same component? An unknown node is in none. */
bool components_connected(const struct components *p, uint64_t guid_a, uint64_t guid_b);

void components_done(struct components *p);
