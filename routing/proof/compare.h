/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct graph;
struct lids;
struct lft;

/*!
 * What changes for traffic from one set of tables to another, of one fabric or of one that
 * has lost and gained nodes and cables. Nodes and end ports are the same where their GUIDs
 * are. Pairs are those of load_build(): a host and a LID of another host.
 */
struct compared_tables {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;
};

enum { COMPARE_LOST_MAX = 10 };

struct comparison {
	uint64_t pairs; /*!< whose ends are in both fabrics, on the same switches */
	uint64_t moved; /*!< arrive before and after, over other switches or ports */
	uint64_t longer, shorter; /*!< of these, over more or fewer switches */
	uint64_t lost;            /*!< arrived before, do not after */
	uint64_t gained;          /*!< the other way round */
	uint64_t gone;            /*!< arrived before, and an end is not there after */
	uint64_t
		entries; /*!< of the tables of switches in both, for LIDs with the same owner, that differ */
	uint64_t blocks;   /*!< of 64 LIDs with such an entry: what is to be programmed */
	uint32_t switches; /*!< with such an entry */
	uint32_t
		hosts_gone; /*!< hosts before that are none after, or are on another switch */
	uint32_t hosts_new;
	uint32_t lids_moved; /*!< hosts in both whose base LID differs */
	struct compare_lost {
		uint32_t src;          /*!< port index before */
		uint32_t lid;          /*!< before */
	} lost_pair[COMPARE_LOST_MAX]; /*!< the first by LID and source */
	unsigned n_lost;
};

/*!
 * \brief Compares.
 * \param a  Working memory.
 * \retval -ENOMEM
 * Cost: O(S * L), parallel over LIDs; the same result on any number of threads.
 */
int compare_tables(const struct compared_tables *before,
                   const struct compared_tables *after, struct arena *a,
                   struct comparison *ret_comparison);
