/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*!
 * Adaptive routing as an operator asks for it: which alternates switches get, and what they
 * are told about using them. What alternates are, routing/proof/alternates.h says.
 */
struct adaptive_options {
	bool enable;
	bool fine_grained;    /*!< per destination LID; else per destination switch. Nothing without enable */
	bool lost_route_only; /*!< a switch moves a route only when its port is gone */
	uint32_t algorithm;   /*!< enum adaptive_algorithm */
	uint32_t frequency;   /*!< a switch looks again after 2^n times 64 ms, 0-7 */
	uint32_t threshold;   /*!< 0-7; see adaptive_threshold_percent() */
	uint32_t port_groups; /*!< most that a switch holds, 1-255 */
};

enum adaptive_algorithm { ADAPTIVE_RANDOM, ADAPTIVE_GREEDY, ADAPTIVE_GREEDY_RANDOM };

/*! \brief How much of a VL's buffer must be used before a switch moves a route; 0: as its
 * firmware has it. Source: the Omni-Path manual, "Adaptive Routing", Threshold. */
unsigned adaptive_threshold_percent(uint32_t threshold);

/*! \brief Milliseconds between two looks of a switch. */
unsigned adaptive_interval_ms(uint32_t frequency);

/*! \brief "random", "greedy", "greedy-random". */
const char *adaptive_algorithm_name(uint32_t algorithm);
