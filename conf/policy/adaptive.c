/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/adaptive.h"

#include <stddef.h>

unsigned adaptive_threshold_percent(uint32_t threshold)
{
	static const unsigned percent[] = { 0, 100, 90, 80, 70, 65, 60, 55 };

	return threshold < sizeof(percent) / sizeof(percent[0]) ? percent[threshold] : 0;
}

unsigned adaptive_interval_ms(uint32_t frequency)
{
	return 64U << (frequency & 7);
}

const char *adaptive_algorithm_name(uint32_t algorithm)
{
	static const char *const names[] = { "random", "greedy", "greedy-random" };

	return algorithm < sizeof(names) / sizeof(names[0]) ? names[algorithm] : "?";
}
