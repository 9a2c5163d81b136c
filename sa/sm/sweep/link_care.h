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
enum { LINK_REFUSALS = 32 };

/*! A cable that is not tried for a while: the oldest of them is forgotten. */
struct link_refusal {
	uint64_t guid, until_ms;
	uint8_t port;
};

struct link_care {
	struct sm *sm;
	uint64_t sweeps; /*!< of the performance manager when it was last looked at */
	struct link_refusal refused[LINK_REFUSALS];
	uint32_t n_refused;
};

/*!
 * \brief Decides anew if the performance manager has read all ports since the last call.
 * \param perf  NULL: links are not judged.
 * Cost: O(ports) for each of its sweeps, and O(n^2) for n cables that are not well.
 */
void link_care_run(struct link_care *c, struct perf *perf);
