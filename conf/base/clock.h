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
