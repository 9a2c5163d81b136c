/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/adaptive.h"

#define MEMBER(m) .offset = offsetof(struct adaptive_options, m)

/* clang-format off */
const struct option_row adaptive_rows[] = {
	{ .name = "adaptive_routing", .type = OPT_BOOL, MEMBER(enable), .def = "FALSE",
	  .xml = "Sm/AdaptiveRouting/Enable",
	  .help = "Adaptive routing: find alternates of equal cost for every route" },
	{ .name = "adaptive_fine_grained", .type = OPT_BOOL, MEMBER(fine_grained), .def = "FALSE",
	  .xml = "Sm/AdaptiveRouting/FineGrained",
	  .help = "Alternates per destination LID, not per destination switch; needs adaptive_routing" },
	{ .name = "adaptive_lost_route_only", .type = OPT_BOOL, MEMBER(lost_route_only), .def = "FALSE",
	  .xml = "Sm/AdaptiveRouting/LostRouteOnly",
	  .help = "Switches move a route only when its port is gone, not when it is busy" },
	{ .name = "adaptive_algorithm", .type = OPT_UINT, MEMBER(algorithm), .def = "2", .max = 2, .arg = "0-2",
	  .xml = "Sm/AdaptiveRouting/Algorithm",
	  .help = "How a switch picks an alternate: 0 random, 1 greedy (least busy), 2 random among those not busy" },
	{ .name = "adaptive_frequency", .type = OPT_UINT, MEMBER(frequency), .def = "0", .max = 7, .arg = "0-7",
	  .xml = "Sm/AdaptiveRouting/ARFrequency",
	  .help = "A switch moves routes every 2^n times 64 ms at most" },
	{ .name = "adaptive_threshold", .type = OPT_UINT, MEMBER(threshold), .def = "3", .max = 7, .arg = "0-7",
	  .xml = "Sm/AdaptiveRouting/Threshold",
	  .help = "How busy a VL must be: 7 to 4 are 55, 60, 65 and 70 %, 3 to 1 are 80, 90 and 100 %, 0 is the firmware's own" },
	{ .name = "adaptive_port_groups", .type = OPT_UINT, MEMBER(port_groups), .def = "255", .min = 1, .max = 255, .arg = "N",
	  .help = "Port groups that a switch can hold; of more, those that serve most routes stay" },
	{ NULL }
};
/* clang-format on */

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
