/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "sa/mad/transport.h"
#include "sa/mad/umad.h"
#include "tests/lib/suite.h"

/*
 * What can be said without a device: asking for one that is not here is refused with a
 * sentence, on hosts with and without an adapter. The rest runs over ibsim (tests/e2e).
 */
static const struct {
	const char *ca;
	unsigned port;
	uint64_t guid;
} missing[] = {
	{ "no-such-adapter", 0, 0 },
	{ "no-such-adapter", 3, 0 },
	{ "a-name-longer-than-any-adapter-name-may-be", 0, 0 },
	{ NULL, 200, 0 },
	{ "", 200, 0 },
	{ NULL, 0, 0xDEADBEEF00000001 },
};

START_TEST(refused_with_a_sentence)
{
	struct arena *a = arena_new();
	struct transport *t = (struct transport *)a; /* must stay as it is */
	const char *why = NULL;
	int ret = umad_transport_open(missing[_i].ca, missing[_i].port, missing[_i].guid,
	                              a, &why, &t);
	ck_assert_int_eq(ret, E_NOTFOUND);
	ck_assert_ptr_eq(t, a);
	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, "--fabric sim:FILE") != NULL, "%s", why);
	arena_free(a);
}
END_TEST

TEST_SUITE(umad)
{
	TCase *tc = tcase_create("open");
	tcase_add_loop_test(tc, refused_with_a_sentence, 0,
	                    sizeof(missing) / sizeof(missing[0]));
	suite_add_tcase(suite, tc);
}
