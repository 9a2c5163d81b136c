/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*!
 * Simulated links whose truth is known, and how they are judged. A run is a link over some days:
 * its errors come from a random process, its counters have the width and the limits of real
 * ones, and it is read, judged and, if it is sick, taken out as saguarod does it. Runs are
 * reproducible by their seed.
 */
struct judged {
	uint32_t runs;
	uint32_t sick;     /*!< runs in which the link was called sick at all */
	uint32_t wrong;    /*!< runs in which it was called sick while it was good */
	uint32_t missed;   /*!< runs in which a bad link was never called sick */
	uint32_t taken;    /*!< runs in which it was taken out of service */
	uint32_t flaps;    /*!< times that a link returned while it was still bad */
	uint32_t stuck;    /*!< runs that ended with a good link out of service */
	double median_min, p95_min; /*!< from when it was bad to when it was called sick, minutes */
	double back_min; /*!< median, from when it was good again to its return, minutes */
};

struct link_process {
	const char *name, *what;
	bool is_bad; /*!< the truth */
};

unsigned link_processes(void); /*!< how many there are */
const struct link_process *link_process(unsigned i);

/*! \brief Runs a process. \param interval_s  Seconds between readings. */
struct judged link_judge(unsigned process, uint32_t runs, uint64_t seed, uint32_t interval_s,
                         uint32_t days);

/*!
 * \brief A switch of which all cables err: \return how many of them were taken out; \a ret_blamed says how
 *        many were left in use because the switch is the cause.
 */
uint32_t link_judge_switch(uint32_t cables, uint64_t seed, uint32_t *ret_blamed);
