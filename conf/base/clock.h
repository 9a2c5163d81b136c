/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>
#include <time.h>

/*! \brief Nanoseconds of CLOCK_MONOTONIC, which no step of the wall clock moves. */
static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*! \brief The same in milliseconds. */
static inline uint64_t monotonic_ms(void)
{
	return monotonic_ns() / 1000000;
}

/*! \brief Milliseconds of CLOCK_BOOTTIME, by which processes of one machine compare times. */
static inline uint64_t boottime_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/*!
 * Seconds since 1970 for leases: the wall clock as it was at the start, moved on by the monotonic
 * clock. When somebody sets the wall clock, leases end neither earlier nor later for it.
 */
struct steady_clock {
	int64_t start_s;   /*!< CLOCK_REALTIME at the start */
	uint64_t start_ms; /*!< monotonic_ms() at the start */
};

static inline int64_t steady_clock_at(const struct steady_clock *c, uint64_t monotonic_ms)
{
	return c->start_s + (int64_t)((monotonic_ms - c->start_ms) / 1000);
}

static inline struct steady_clock steady_clock_start(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (struct steady_clock){ (int64_t)t.tv_sec, monotonic_ms() };
}
