/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*!
 * Hash map from a 64-bit key (a GUID, or a GUID mixed with a port) to an index. Zeroed is
 * an empty map. Entries are only added; guid_map_done() frees.
 */
struct guid_map {
	struct guid_map_entry *entries;
	size_t n, cap; /*!< cap is 0 or a power of two */
};

#define GUID_MAP_NONE UINT32_MAX

/*! \brief Value of a key. \return GUID_MAP_NONE if there is none. O(1). */
uint32_t guid_map_get(const struct guid_map *m, uint64_t key);

/*! \brief Adds or replaces. \a value is not GUID_MAP_NONE. \retval -ENOMEM */
int guid_map_put(struct guid_map *m, uint64_t key, uint32_t value);

void guid_map_done(struct guid_map *m);

/*! \brief Key of one port of a node; two ports share a key only by an unlikely accident.
 */
static inline uint64_t guid_port_key(uint64_t guid, uint8_t port)
{
	return guid ^ (port + 1) * UINT64_C(0x9e3779b97f4a7c15);
}
