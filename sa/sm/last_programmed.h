/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/guid_map.h"

/*!
 * Some ports keep other values than a Set brings, and would be sent it again in each
 * sweep. What a port showed after which Set is remembered as a hash: the same demand to a
 * port that still shows the same is not repeated. States, ClientReregister, violation
 * counters and the port by which the SMP came in do not count.
 */

/*! \brief Hash of a PortInfo that is to be set. */
uint64_t told_demand(const uint8_t info[64]);

/*! \brief Remembers what the port showed after this demand. \retval -ENOMEM */
int told_note(struct guid_map *m, uint64_t node_guid, uint8_t port, uint64_t demand,
              const uint8_t shown[64]);

/*! \brief Was the port sent this demand, and does it show what it showed then? */
bool told_before(const struct guid_map *m, uint64_t node_guid, uint8_t port,
                 uint64_t demand, const uint8_t shown[64]);
