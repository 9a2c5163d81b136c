/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/hash.h"

/*!
 * What is remembered of nodes from sweep to sweep beside their tables (sa/sm/table/table.h).
 */
/*! Copies of one kind, each allocated by itself. */
struct shadow_list {
	void **items;
	uint32_t n;
	size_t cap;
	struct hash_table by_key; /*!< index in items */
};

/*! A way for SMPs that may not carry any: how often it failed, and for how many sweeps it is not tried. */
struct shadow_way {
	uint8_t failures, wait;
};

struct shadow {
	struct shadow_list switches;  /*!< struct shadow_switch by NodeGUID */
	struct hash_table port_infos; /*!< see shadow_port_info_note() */
	struct shadow_way hosts_by_lid;
	uint8_t n_lanes; /*!< lanes of the routing that was programmed last; 0: not known */
};

/*! \brief Frees all copies and leaves it empty. */
void shadow_done(struct shadow *s);

/*! \brief Key of one port of a node. Two ports share a key only by an unlikely accident. */
static inline uint64_t guid_port_key(uint64_t guid, uint8_t port)
{
	return guid ^ (port + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* --- forwarding tables of a switch ------------------------------------------------- */

struct shadow_switch {
	uint64_t guid;              /*!< NodeGUID */
	uint32_t top;               /*!< LinearFDBTop as acknowledged or read */
	struct shadow_way by_lid;   /*!< to the switch */
	struct shadow_way mixed; /*!< by LID to the switch, and on by one directed hop */
	uint8_t *lanes; /*!< [n_lanes] by LID, as computed with the tables; NULL: not known */
	uint32_t n_lanes;
	bool found;     /*!< it had forwarding tables when its copy began */
	bool plain_scs; /*!< Omni-Path: it passes SCs on as they are, because that was set */
};

/*! \brief SMPs got no answer: the way is not tried for 1, 3, 7 ... 63 sweeps. */
void shadow_way_failed(struct shadow_way *w);

/*! \brief Copy of a switch; a new one is empty. NULL: out of memory. */
struct shadow_switch *shadow_switch_get(struct shadow *s, uint64_t guid);

/*! \brief Forgets what is known of a switch, because it was restarted. */
void shadow_switch_forget(struct shadow_switch *c);

/*! \brief Forgets the tables of all switches, ports and nodes that another SM may have set. */
void shadow_forget_programmed(struct shadow *s);

/*! \brief Keeps the lane of each LID; NULL: forgets them. \retval -ENOMEM  Nothing is known then. */
int shadow_lanes_put(struct shadow_switch *c, const uint8_t *lanes, uint32_t n_lids);

/* --- PortInfo that was set -----------------------------------------------------------
 *
 * Some ports keep other values than a Set brings, and would be sent the Set again in each
 * sweep. A hash remembers what a port showed after which Set. While the port still shows
 * the same, the same Set is not repeated. States, ClientReregister, violation counters and
 * the port by which the SMP came in do not count.
 */

/*! \brief Hash of a PortInfo that is to be set, or was read. \param native  The same as Omni-Path has
 *         it; NULL on InfiniBand. */
uint64_t shadow_port_info_hash(const uint8_t info[64], const uint8_t *native);

/*! \brief Remembers what a port showed after a Set: the hash of it. \retval -ENOMEM */
int shadow_port_info_note(struct shadow *s, uint64_t node_guid, uint8_t port,
                          uint64_t set_hash, uint64_t shown);

/*! \brief Was this Set sent before, and does the port still show what it showed then? */
bool shadow_port_info_is_same(const struct shadow *s, uint64_t node_guid, uint8_t port,
                              uint64_t set_hash, uint64_t shown);
