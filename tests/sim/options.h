/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run;

/*!
 * \brief Gives the subnet managers of a run a configuration by the seed: quality of service, partitions, keys, what
 *        ports are told, how sweeps are made. No option lets a host go without its routes, so all invariants
 *        hold as they do without.
 */
bool options_draw(struct run *r, uint32_t seed);
