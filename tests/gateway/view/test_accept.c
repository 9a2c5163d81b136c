/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Qualities in Accept headers, by the examples of RFC 9110 and their like. */
#include <check.h>
#include <stddef.h>

#include "gateway/view/accept.h"
#include "tests/lib/suite.h"

static const struct {
	const char *header, *word;
	int quality;
} cases[] = {
	{ NULL, "gzip", ACCEPT_UNNAMED },
	{ "", "gzip", ACCEPT_UNNAMED },
	{ "gzip", "gzip", 1000 },
	{ "GZip", "gzip", 1000 },
	{ "deflate, gzip;q=0.5", "gzip", 500 },
	{ "compress;q=0.5, gzip;q=1.0", "gzip", 1000 },
	{ "gzip;q=1.0, identity; q=0.5, *;q=0", "identity", 500 },
	{ "gzip;q=1.0, identity; q=0.5, *;q=0", "*", 0 },
	{ "gzip;q=0", "gzip", 0 },
	{ "gzip;q=0.000", "gzip", 0 },
	{ "gzip ; q=0.001", "gzip", 1 },
	{ "gzip;q=9", "gzip", 1000 },
	{ "x-gzip", "gzip", ACCEPT_UNNAMED },
	{ "gzipp, zstd", "gzip", ACCEPT_UNNAMED },
	{ ",,,gzip", "gzip", 1000 },
	{ "text/html;level=1;q=0.25,*/*", "text/html", 250 },
	{ "text/html; q", "text/html", 1000 },
	{ ";;;", "gzip", ACCEPT_UNNAMED },
};

START_TEST(quality)
{
	ck_assert_int_eq(accept_quality(cases[_i].header, cases[_i].word),
	                 cases[_i].quality);
}
END_TEST

static const struct {
	const char *header;
	bool same;
} etags[] = {
	{ "\"5-9\"", true },
	{ "W/\"5-9\"", true },
	{ "*", true },
	{ "\"1-1\", \"5-9\"", true },
	{ "\"1,1\",W/\"5-9\"", true },
	{ "  \"5-9\"  ", true },
	{ "", false },
	{ "5-9", false },
	{ "\"5-99\"", false },
	{ "\"5-9", false },
	{ "\"5-9-stale\"", false },
	{ "W/", false },
	{ ",,,", false },
	{ "\"x", false },
	{ NULL, false },
};

START_TEST(known)
{
	ck_assert_int_eq(accept_knows(etags[_i].header, "\"5-9\""), etags[_i].same);
	ck_assert(!accept_knows(etags[_i].header, ""));
}
END_TEST

TEST_SUITE(accept)
{
	TCase *t = tcase_create("accept");

	tcase_add_loop_test(t, quality, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(t, known, 0, sizeof(etags) / sizeof(etags[0]));
	suite_add_tcase(suite, t);
}
