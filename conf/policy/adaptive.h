/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*! Adaptive routing: which alternate ports are found (routing/proof/alternates.h), and how switches of
 *  Omni-Path choose among them. */
struct adaptive_options {
	bool enable;
	bool fine_grained; /*!< per destination LID, else per destination switch; needs enable */
	uint32_t port_groups; /*!< most on a switch, 1-255 */
	bool lost_route_only; /*!< a route moves when its port is lost, not when it is congested */
	uint32_t algorithm;   /*!< 0 random, 1 greedy, 2 random among those that are not busy */
	uint32_t frequency;   /*!< routes move at most every 2^frequency x 64 ms, 0-7 */
	uint32_t threshold;   /*!< of congestion: 1-7 are 100, 90, 80, 70, 65, 60, 55 %; 0: the firmware's */
};
