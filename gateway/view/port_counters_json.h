/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct body;
struct inventory;
struct port_counters;

/*!
 * \brief Writes the counters of a port as one JSON object, the schema PortCounters.
 * \param port  Of the inventory.
 * \param c     With its samples for the history; n_samples 0: without the member.
 */
void port_counters_json_write(struct body *b, const struct inventory *v, uint32_t port,
                              const struct port_counters *c);
