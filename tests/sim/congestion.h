/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run;

/*! Congestion control in a run: options and agents by the seed, and what nodes hold in the end. */

/*! \brief Draws options. */
void congestion_options_draw(struct run *r, uint64_t *state);

/*! \brief Takes the agents of some nodes away. */
void congestion_agents_draw(struct run *r, uint64_t *state);

/*! \brief All nodes with an agent hold what the options say; those that are left alone may not. Without the
 *         option nothing was sent. \return false: an invariant is violated. */
bool congestion_check(struct run *r);
