/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;
struct partitions;

/*!
 * Partitions on a fabric, computed from nothing but the arguments: which P_Keys each end port
 * is to have, and at which index of its P_Key table each of them stands.
 */
struct partition_plan {
	uint32_t n_ports; /*!< of the graph */
	uint32_t *first;  /*!< [n_ports + 1] into keys, by index of graph.ports */
	uint16_t *keys; /*!< P_Keys of each end port: by partition, limited before full */
	uint32_t (*ports)[2]; /*!< of each partition: ports with its limited, its full P_Key */
	uint16_t *
		index0; /*!< [n_ports] partition whose P_Key is to stand at index 0; 0: any */
};

/*!
 * \brief Members of the partitions on a fabric.
 *
 * Of the members of a partition that fit a port the last one counts. The port of the subnet
 * manager is always a full member of the default partition, because limited members could not
 * reach it otherwise. If several partitions with indx0 have a port, the one of the highest P_Key
 * counts.
 *
 * \param allow_both  Membership "both" means two P_Keys; else it means full membership.
 * \param ret_plan         In \a a. PortGUIDs that are not there are passed over.
 * \retval -ENOMEM
 * Cost: O(sum over the partitions of their members on this fabric).
 */
int partition_plan(const struct partitions *p, const struct graph *g, bool allow_both,
                   struct arena *a, struct partition_plan *ret_plan);

/*! \brief P_Keys of a port. \return How many. */
static inline uint32_t partition_plan_keys(const struct partition_plan *p, uint32_t port,
                                           const uint16_t **ret_keys)
{
	*ret_keys = p->keys + p->first[port];
	return p->first[port + 1] - p->first[port];
}

/*!
 * \brief The P_Keys that a switch has to let pass at a port to such an end port: those of
 *        \a keys, of each partition the full one only.
 * \param ret_keys  [n]. \return How many.
 */
uint32_t partition_plan_enforced(const uint16_t *keys, uint32_t n, uint16_t *ret_keys);

/*!
 * \brief Places P_Keys in a table.
 *
 * A P_Key that the table holds keeps its index, and so does a partition whose membership
 * changes, because queue pairs refer to the index. New P_Keys take places that were empty,
 * the lowest first, and places that become free now only when there are no others: a queue
 * pair that still uses such an index must not find itself in another partition.
 *
 * \param want    [n] as of partition_plan_keys().
 * \param index0  Partition whose P_Key is to be at index 0, or 0.
 * \param now     [cap] the table as it is; NULL: unknown, or its places do not count.
 * \param ret_places     [cap] the table as it is to be, 0 where it is empty.
 * \return false: more P_Keys than the table holds; then the first of \a want are placed, those of
 *         the default partition before all others.
 * Cost: O(n * cap).
 */
bool partition_plan_place(const uint16_t *want, uint32_t n, uint16_t index0,
                          const uint16_t *now, unsigned cap, uint16_t *ret_places);
