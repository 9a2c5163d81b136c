/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/engine.h"
#include "routing/engines/dmodc/dmodc_job.h"

struct device_list;

/*!
 * Inside of the engine fattree: its options, and what it tells. Private to
 * routing/fattree*.c, and to tests.
 */
struct fattree_options {
	const struct device_list *core, *last;
	uint32_t tier_count; /*!< 0: found */
	bool same_tier, pass_through, converge;
	bool adaptive, fine_grained; /*!< both: one route per port, see static_dispersion() */
};

struct fattree {
	const struct route_in *in;
	const struct fattree_options *opt;
	struct dmodc_rule rule;
	uint32_t n_last; /*!< hosts that come last */
};

/*! \brief Says what is not as it should be: options without effect, what is missing, what
 * has no tier, and pairs that no route which climbs, then descends, joins. */
void fattree_note(const struct fattree *f, const struct dmodc_job *j, struct why *notes);
