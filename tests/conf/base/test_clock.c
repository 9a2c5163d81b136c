/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdint.h>

#include "conf/base/clock.h"
#include "tests/lib/suite.h"

/* Seconds of the monotonic clock count, whatever the wall clock shows by now. */
START_TEST(test_steady)
{
	static const int64_t starts[] = { 0, 1800000000, -5 };

	for (unsigned i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		const struct steady_clock c = { starts[i], 123456 };

		ck_assert_int_eq(steady_clock_at(&c, 123456), starts[i]);
		ck_assert_int_eq(steady_clock_at(&c, 123456 + 999), starts[i]);
		ck_assert_int_eq(steady_clock_at(&c, 123456 + 1000), starts[i] + 1);
		ck_assert_int_eq(steady_clock_at(&c, 123456 + UINT64_C(31536000000)),
		                 starts[i] + 31536000);
	}
}
END_TEST

/* It starts with the wall clock. */
START_TEST(test_start)
{
	time_t before = time(NULL);
	struct steady_clock c = steady_clock_start();
	time_t after = time(NULL);

	ck_assert_int_le(before, c.start_s + 1); /* time() may lag a tick behind */
	ck_assert_int_le(c.start_s, after + 1);
	ck_assert_int_ge(steady_clock_at(&c, monotonic_ms()), c.start_s);
}
END_TEST

TEST_SUITE(clock)
{
	TCase *tc = tcase_create("clock");

	tcase_add_test(tc, test_steady);
	tcase_add_test(tc, test_start);
	suite_add_tcase(suite, tc);
}
