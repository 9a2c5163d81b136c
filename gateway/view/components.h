/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct snap_reader;

/*!
 * Connected parts of the fabric in a snapshot, to say why there is no path. Built when
 * first needed, kept for the epoch: an answer without a path must not cost a walk each
 * time.
 */
struct parts {
	uint64_t epoch;   /*!< 0: not built */
	uint64_t version; /*!< newer one of nodes and links */
	uint64_t *guids;  /*!< [n] NodeGUIDs, ascending */
	uint32_t *parent; /*!< [n] union-find forest over positions in guids */
	uint32_t n;
};

/*!
 * \brief Builds for the pinned epoch, or keeps what is there for it.
 * \retval -ENOMEM \retval E_MALFORMED. On failure \a p is empty.
 * Cost: one walk over nodes and links.
 */
int parts_build(struct parts *p, struct snap_reader *r);

/*! \brief Are two nodes in the same part? An unknown node is in none. */
bool parts_same(const struct parts *p, uint64_t guid_a, uint64_t guid_b);

void parts_done(struct parts *p);
