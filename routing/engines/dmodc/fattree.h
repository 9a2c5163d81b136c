/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/engine.h"
#include "routing/engines/dmodc/dmodc_job.h"

struct device_list;

/*!
 * Options of the engine fattree. Private to fattree.c and to tests.
 */
struct fattree_options {
	const struct device_list *core, *last;
	uint32_t tier_count; /*!< 0: found */
	bool same_tier, pass_through, converge;
	bool adaptive, fine_grained; /*!< both: one route per port (static dispersion) */
};

struct fattree {
	const struct route_in *in;
	const struct fattree_options *opt;
	struct dmodc_rule rule;
	uint32_t n_last; /*!< hosts that come last */
};
