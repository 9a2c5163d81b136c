/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;
struct graph;

/*! A base LID and its LMC: LIDs base .. base + 2^lmc - 1, aligned to 2^lmc. base 0: none. */
struct lid_range {
	uint32_t base;
	uint8_t lmc;
};

/*! Highest unicast LIDs: where LIDs have 16 bits, and where they have 24 (Omni-Path). */
enum { LID_LIMIT_DEFAULT = 0xbfff, LID_LIMIT_MAX = 0xffffff };

/*! The persistent LID assignment of a port. */
struct lid_memory {
	uint64_t guid; /*!< port GUID */
	struct lid_range range;
	uint64_t gone_epoch; /*!< last epoch that had the port; 0: it is not gone */
	int64_t gone_time; /*!< when it was missed first, seconds since 1970; for people */
};

/*! Which port owns each LID. */
struct lids {
	struct lid_range *of; /*!< [graph.n_ports], by port index */
	uint32_t *owner; /*!< [top + 1] port index, GRAPH_NONE: none. owner[0] is none. */
	uint32_t top;         /*!< highest LID in use */
	uint32_t count;       /*!< LIDs in use */
	/*! [n_recycled] of absent ports whose LIDs others got */
	const struct lid_memory *recycled;
	uint32_t n_recycled;
};

struct lids_in {
	const struct graph *g;
	const struct lid_memory *memory; /*!< sorted by guid; may name ports that are away */
	size_t n_memory;
	uint32_t lmc;       /*!< of CA and router ports, 0-7 */
	uint32_t lmc_esp0;  /*!< of enhanced switch ports 0, 0-7 */
	uint32_t max_lid;   /*!< highest unicast LID, LID_LIMIT_MAX at most; 0: LID_LIMIT_DEFAULT */
	/*! [graph.n_ports] highest LID of each port where it is lower; 0: that of all. NULL: no port has one */
	const uint32_t *limit_of;
	bool reassign;      /*!< forget memory and fabric, number from 1 */
	bool nearest_first; /*!< ports without a LID are served by their distance from the SM */
	bool keep_found; /*!< what ports have now comes before memory, because another SM assigned it */
};

/*!
 * \brief Assigns base LID and LMC to every end port.
 *
 * Order of preference per port: what memory says; what the port has now (graph.port.lid),
 * when aligned and free; else the first free aligned range, ascending. The SM's port is
 * served first, then port GUID order, or with nearest_first breadth first from its node over ports by
 * number, as Omni-Path's fabric manager does. When the LMC changes, base LIDs that are aligned and
 * whose range is free stay, the others move; so do memory entries that overlap or exceed
 * max_lid (the lower GUID keeps). The LID limit is the smallest linear_fdb_cap of the
 * switches, too.
 *
 * Ranges remembered for absent ports stay reserved, unless they overlap what a present port
 * keeps. When no range is free, the one is taken whose owners have been gone longest
 * (gone_epoch; among equals the lowest). All such owners are in lids.recycled. Ports with a limit of their own are
 * served before the others.
 *
 * \param ret_lids        Table in \a a.
 * \param ret_moved  Port indices whose base LID differs from memory, or NULL.
 * An LMC other than 0 that does not suit the size of the fabric is a DIAG_NOTE (Cornelis
 * CN5000, LMC Best Practices: 3 below 4,000 hosts, 2 from there on).
 *
 * \retval E_FULL    Out of LIDs, those of absent ports included; \a d names the port.
 *
 * Cost: O(limit + memory); once per LMC O(limit * log limit) when no range is free.
 */
int lids_assign(const struct lids_in *in, struct arena *a, struct diags *d,
                struct lids *ret_lids, uint32_t **ret_moved, size_t *ret_n_moved);

/*!
 * \brief LIDs as found in the graph (topology file with lids, or a discovered fabric).
 * \param max_lid  As in struct lids_in. Memory follows the highest LID that is there.
 * \retval E_NOTFOUND  Some end port has none. \retval E_DUPLICATE  Two ports share one; in \a d.
 */
int lids_as_found(const struct graph *g, uint32_t max_lid, struct arena *a,
                  struct diags *d, struct lids *ret_lids);

/*! \brief Highest LID that may be assigned: \a max_lid as in struct lids_in, or less where a switch
 *  has a smaller forwarding table. */
uint32_t lids_limit(const struct graph *g, uint32_t max_lid);

/*! \brief Who has which LIDs in 64 bits (conf/base/digest.h). */
uint64_t lids_digest(const struct lids *l, const struct graph *g);

/*! \brief Has any end port an LMC above 0? Some engines cannot do with that. */
bool lids_have_lmc(const struct lids *l, const struct graph *g);
