/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/tables.h"

struct arena;
struct graph;
struct lids;

/*!
 * One LID column of the forwarding tables, read as a graph in which every switch points
 * at its next switch. The proof, the path rows and the load all walk columns.
 *
 * struct column_map holds what does not depend on the LID: where each port of each switch
 * leads. struct column is the working set of one thread.
 */
struct column_hop {
	uint32_t next; /*!< switch behind the port, itself for a loopback cable, GRAPH_NONE: none */
	uint32_t channel; /*!< index in graph.adj, GRAPH_NONE: none */
};

struct column_map {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;
	uint32_t n;     /*!< switches */
	uint32_t width; /*!< ports per row below: graph.max_port + 1 */
	struct column_hop *hop; /*!< [n][width] what is behind a port */
	uint32_t *n_hosts; /*!< [n] hosts on the switch */
	uint32_t *part; /*!< [n] connected part; switches only: a CA forwards nothing */
	uint32_t *part_first; /*!< [n_parts + 1] into member */
	uint32_t *member;     /*!< [n] switches by part, ascending */
	uint32_t *visit;      /*!< [n] likewise, in the order in which columns are settled */
	uint32_t *part_hosts; /*!< [n_parts] hosts */
	uint32_t n_parts;
	uint32_t *fill; /*!< [n] working memory */
};

enum column_state {
	COLUMN_UNKNOWN,
	COLUMN_ON_PATH, /*!< only while resolving */
	COLUMN_ARRIVES,
	COLUMN_HOLE,    /*!< its own entry leads nowhere */
	COLUMN_TO_HOLE, /*!< leads to a hole */
	COLUMN_LOOP     /*!< on a forwarding loop or leading into one */
};

enum { COLUMN_BLOCK = 64 }; /*!< LIDs that are transposed together */

struct column {
	uint32_t lid;
	uint32_t owner;      /*!< port index */
	uint32_t home;       /*!< switch on which the owner hangs */
	uint8_t home_port;   /*!< its port that delivers; 0 for the switch's own LID */
	bool to_host;        /*!< the owner is a host: a CA or router port, but no aggregation node */
	const uint8_t *port; /*!< [n] entry per switch */
	uint32_t *
		next; /*!< [n] next switch, GRAPH_NONE; set for switches of home's part */
	uint32_t *channel; /*!< [n] channel to the next switch; likewise */
	uint8_t *state;  /*!< [n] enum column_state; likewise */
	uint32_t *order; /*!< [n_order] switches that arrive, each after its next; home
	                    first */
	uint32_t n_order;
	uint32_t *loop_at; /*!< [n_loops] one switch on each forwarding loop, in order of
	                      finding */
	uint32_t n_loops;
	/* working memory */
	uint32_t *stack;
	uint8_t *block;     /*!< [COLUMN_BLOCK][n] transposed entries */
	uint32_t block_lid; /*!< first LID of the block */
};

/*! \brief Map of the fabric. \retval -ENOMEM */
int column_map_init(struct column_map *m, const struct graph *g, const struct lids *lids,
                    const struct lft *lft, struct arena *a);

/*! \brief Working sets for \a n threads. \return NULL when out of memory. */
struct column *column_new(const struct column_map *m, unsigned n, struct arena *a);

/*! \brief How many threads the next parallel region may have. */
unsigned column_threads(void);

/*! \brief Lets the parallel regions that this thread begins have so many threads, at least 1. */
void column_use_threads(unsigned n);

/*! \brief Number of the calling thread in its parallel region. */
unsigned column_thread(void);

/*! \brief Transposes the block of LIDs that starts at \a lid, a multiple of COLUMN_BLOCK.
 */
void column_load_block(const struct column_map *m, struct column *c, uint32_t lid);

/*!
 * \brief Resolves the column of a LID of the loaded block.
 * \return false when no port owns the LID or its owner hangs on no switch.
 * Cost: O(S).
 */
bool column_resolve(const struct column_map *m, struct column *c, uint32_t lid);

/*!
 * All LIDs of a block resolved together, switch by switch: neighbouring LIDs mostly leave
 * a switch by one port, and their entries are next to each other in the tables. Switches
 * whose ports lead to the same switches, such as the leaf switches of a pod, mostly have
 * the same entries, too, and are done as one. For tables in which everything arrives;
 * where something does not, columns tell what.
 */
struct column_run {
	uint8_t port; /*!< by which LIDs first .. first + n - 1 of the block leave */
	uint8_t first, n;
};

/*! Runs of one switch, in which it may be alone or like an earlier one: the same runs to
 * the same switches. */
struct column_group {
	uint32_t sw;
	uint32_t first, n; /*!< of its runs */
	uint32_t like; /*!< index of the first group with these runs: itself, or before it
	                */
	uint32_t more; /*!< index of the next one of them, 0: none */
};

struct column_block {
	uint32_t lid;     /*!< first of the block */
	uint64_t owned;   /*!< bit per LID: its owner hangs on a switch */
	uint64_t to_host; /*!< likewise: it is a CA or router port */
	uint64_t base;    /*!< likewise: it is the first of its range */
	uint32_t home[COLUMN_BLOCK];
	uint64_t *homes; /*!< [n] LIDs that the switch delivers */
	struct column_run *run;
	struct column_group
		*group; /*!< [n_groups] each after those of its next switches */
	uint32_t n_runs, n_groups;
	unsigned n_left;  /*!< next blocks that are not worth trying */
	uint64_t *passed; /*!< [n] set by column_block_pass() */
	uint8_t *entry;   /*!< [n][COLUMN_BLOCK] rows of the tables */
	/* working memory */
	const uint32_t *alike; /*!< [n] first switch whose ports lead to the same ones */
	uint32_t *group_of;    /*!< [n] group with all LIDs of a switch */
	uint64_t *arrives, *on_path; /*!< [n] */
	uint64_t *at_home;           /*!< [map.n_parts] LIDs with their home there */
};

/*! \brief Working sets for \a n threads, up to 2 KB per switch. \return NULL when out of
 * memory. */
struct column_block *column_blocks_new(const struct column_map *m, unsigned n,
                                       struct arena *a);

/*!
 * \brief Resolves the block that starts at a LID, a multiple of COLUMN_BLOCK.
 * \return false when a switch of a home's part has no route to it, or when columns are
 * faster because earlier blocks had few neighbours alike.
 * Cost: O(S * (ports that the LIDs leave by)), at most O(S * COLUMN_BLOCK).
 */
bool column_block_resolve(const struct column_map *m, struct column_block *b,
                          uint32_t lid);

/*! \brief b->passed: LIDs whose routes from switches with hosts come by each switch.
 * \param lids  These only, as bits. */
void column_block_pass(const struct column_map *m, struct column_block *b, uint64_t lids);

/*! \brief Entries of a switch for the block. */
static inline const uint8_t *column_block_row(const struct column_block *b, uint32_t s)
{
	return b->entry + (size_t)s * COLUMN_BLOCK;
}

/*! \brief Bits of a run. */
static inline uint64_t column_run_lids(const struct column_run *r)
{
	return (UINT64_MAX >> (COLUMN_BLOCK - r->n)) << r->first;
}

/*! \brief Rest of column_run_length(). */
unsigned column_run_rest(const uint8_t *row, unsigned k, uint64_t lids);

/*! \brief How many entries of a row are the same from LID \a k on, of those in \a lids
 * that follow each other. */
static inline unsigned column_run_length(const uint8_t *row, unsigned k, uint64_t lids)
{
	bool alone = !(lids >> k & 2) || row[k + 1] != row[k];

	return alone ? 1 : column_run_rest(row, k, lids);
}
