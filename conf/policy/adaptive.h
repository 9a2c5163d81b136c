/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*! Adaptive routing: which alternate ports are found (routing/proof/alternates.h). */
struct adaptive_options {
	bool enable;
	bool fine_grained; /*!< per destination LID, else per destination switch; needs enable */
	uint32_t port_groups; /*!< most on a switch, 1-255 */
};
