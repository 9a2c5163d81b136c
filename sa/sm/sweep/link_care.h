/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct perf;
struct sm;

/*!
 * What follows from the health of links (sa/perf/link_health.h): events, the decision that their
 * rows show, and, if link_health is isolate, links that are taken out of service and returned.
 * sa/perf/link_verdict.h decides; here is what it is asked about, and what is done.
 */
struct link_care {
	struct sm *sm;
	uint64_t sweeps; /*!< of the performance manager when it was last looked at */
};

/*!
 * \brief Decides anew if the performance manager has read all ports since the last call.
 * \param perf  NULL: links are not judged.
 * Cost: O(ports) for each of its sweeps, and O(n^2) for n cables that are not well.
 */
void link_care_run(struct link_care *c, struct perf *perf);
