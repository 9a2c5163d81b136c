/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Dragonfly after Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable
 * Dragonfly Topology" (2008): groups of fully connected switches, every pair of groups
 * joined by as many cables as the global ports allow, in consecutive arrangement: global
 * port x of group g leads to the x-th of the other groups.
 */
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/topogen/topogen_maker.h"

/* As in the paper: p hosts and h global ports per switch, a switches per group, g groups.
 */
struct dragonfly {
	uint32_t p, a, h, g;
};

int make_dragonfly(struct maker *m)
{
	struct dragonfly t = { 0 };
	int ret = maker_number(m, 0, 0, MAKER_MAX_RADIX, &t.p);

	if (ret == E_OK) {
		ret = maker_number(m, 1, 1, MAKER_MAX_RADIX, &t.a);
	}
	if (ret == E_OK) {
		ret = maker_number(m, 2, 1, MAKER_MAX_RADIX, &t.h);
	}
	t.g = t.a * t.h + 1;
	if (ret == E_OK) {
		ret = maker_number(m, 3, 2, t.g, &t.g);
	}
	if (ret != E_OK) {
		return ret;
	}

	uint32_t n = t.g * t.a;
	ret = maker_size(m, t.p + t.a - 1 + t.h, n, (uint64_t)n * t.p);
	for (uint32_t i = 0; i < n && ret == E_OK; i++) {
		ret = maker_switch(m, "df-%04u-%03u", i / t.a, i % t.a);
	}
	if (ret == E_OK) {
		ret = maker_hosts(m, n, t.p, 1);
	}
	for (uint32_t group = 0; group < t.g && ret == E_OK; group++) {
		for (uint32_t i = 0; i < t.a; i++) {
			uint32_t first = group * t.a;

			for (uint32_t j = i + 1; j < t.a && ret == E_OK; j++) {
				ret = maker_link(m, first + i, t.p + j, first + j,
				                 t.p + i + 1);
			}
		}
	}
	for (uint32_t group = 0; group < t.g && ret == E_OK; group++) {
		uint32_t each = t.a * t.h / (t.g - 1);

		for (uint32_t other = group + 1; other < t.g; other++) {
			for (uint32_t i = 0; i < each && ret == E_OK; i++) {
				uint32_t x = (other - 1) * each + i, y = group * each + i;

				ret = maker_link(
					m, group * t.a + x / t.h, t.p + t.a + x % t.h,
					other * t.a + y / t.h, t.p + t.a + y % t.h);
			}
		}
	}
	return ret;
}
