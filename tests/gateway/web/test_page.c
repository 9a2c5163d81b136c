/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Which file of the page answers a request, and how it is sent. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "gateway/web/page.h"
#include "tests/lib/suite.h"

#define BROWSER "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

static const char *const names[] = { "index.html", "index.html.gz", "app.js", "app.js.gz",
	                             "app.css",    "licences.txt",  NULL };
static char folder[64];
static struct arena *arena;
static struct diags diags;
static struct page *page;

static const char *path_of(const char *name)
{
	return arena_printf(arena, "%s/%s", folder, name);
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void setup(void)
{
	snprintf(folder, sizeof(folder), "/tmp/saguaro-page.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	arena = arena_new();
	diags_init(&diags, arena);
	for (unsigned i = 0; names[i] != NULL; i++) {
		put(names[i], names[i]);
	}
}

static void teardown(void)
{
	page_free(page);
	page = NULL;
	for (unsigned i = 0; names[i] != NULL; i++) {
		unlink(path_of(names[i]));
	}
	ck_assert_int_eq(rmdir(folder), 0);
	arena_free(arena);
}

static const struct {
	const char *method, *target, *accept, *encoding;
	const char *name; /* of the file; NULL: none */
} requests[] = {
	{ "GET", "/", BROWSER, NULL, "index.html" },
	{ "GET", "/", BROWSER, "gzip, deflate, br", "index.html.gz" },
	{ "HEAD", "/", BROWSER, "gzip", "index.html.gz" },
	{ "GET", "/?x=1", "TEXT/HTML", NULL, "index.html" },
	{ "GET", "/", BROWSER, "gzip;q=0", "index.html" },
	{ "GET", "/", BROWSER, "gzip;q=0.000, identity", "index.html" },
	{ "GET", "/", BROWSER, "gzip ; q=0.01", "index.html.gz" },
	{ "GET", "/", BROWSER, "gzip;q=0.001", "index.html.gz" }, /* the least there is */
	{ "GET", "/", BROWSER, "x-gzip", "index.html" },
	{ "GET", "/", "*/*", NULL, NULL },
	{ "GET", "/", NULL, NULL, NULL },
	{ "GET", "/", "application/json", NULL, NULL },
	{ "GET", "/", "text/html;q=0, application/json", NULL, NULL },
	{ "GET", "/", "text/html;level=1;q=0", NULL, NULL },
	{ "GET", "/", "text/html;level=1;q=1", NULL, "index.html" },
	{ "GET", "/", "text/htmlx", NULL, NULL },
	{ "GET", "/", "", NULL, NULL },
	{ "GET", "/", ",,;q=0,;", NULL, NULL },
	{ "POST", "/", BROWSER, NULL, NULL },
	{ "OPTIONS", "/", BROWSER, NULL, NULL },
	{ "GET", "/v1", BROWSER, NULL, NULL },
	{ "GET", "/web/app.js", "*/*", "gzip", "app.js.gz" },
	{ "GET", "/web/app.js?v=1", NULL, NULL, "app.js" },
	{ "GET", "/web/app.css", NULL, "gzip", "app.css" }, /* there is no .gz of it */
	{ "GET", "/web/licences.txt", NULL, NULL, "licences.txt" },
	{ "GET", "/web/index.html", BROWSER, NULL, NULL },
	{ "GET", "/web/app.js.gz", NULL, NULL, NULL },
	{ "GET", "/web/../web/app.js", NULL, NULL, NULL },
	{ "GET", "/web/", BROWSER, NULL, NULL },
	{ "GET", "/web/app.jsx", NULL, NULL, NULL },
};

START_TEST(test_find)
{
	const struct page_request rq = { requests[_i].method, requests[_i].target,
		                         requests[_i].accept, requests[_i].encoding };
	const char *name = requests[_i].name;
	struct page_file f;

	ck_assert_int_eq(page_read(folder, &diags, &page), E_OK);
	ck_assert_msg(page_find(page, &rq, &f) == (name != NULL), "%d: %s %s", _i,
	              rq.method, rq.target);
	if (name != NULL) {
		ck_assert_str_eq(f.data, name);
		ck_assert_uint_eq(f.len, strlen(name));
		bool packed = strstr(name, ".gz") != NULL;
		ck_assert(packed == (f.encoding != NULL));
		ck_assert_int_eq(f.etag[0], '"');
		ck_assert_ptr_nonnull(strstr(f.vary, "Accept-Encoding"));
	}
}
END_TEST

START_TEST(test_etags)
{
	const struct page_request plain = { "GET", "/web/app.js", NULL, NULL };
	const struct page_request packed = { "GET", "/web/app.js", NULL, "gzip" };
	struct page_file f, g;
	char before[64];

	ck_assert_int_eq(page_read(folder, &diags, &page), E_OK);
	ck_assert(page_find(page, &plain, &f) && page_find(page, &packed, &g));
	ck_assert_str_ne(f.etag, g.etag);
	snprintf(before, sizeof(before), "%s", f.etag);
	page_free(page);
	put("app.js", "another build");
	ck_assert_int_eq(page_read(folder, &diags, &page), E_OK);
	ck_assert(page_find(page, &plain, &f));
	ck_assert_str_ne(f.etag, before);
}
END_TEST

START_TEST(test_no_page)
{
	struct page_file f;
	const struct page_request rq = { "GET", "/", BROWSER, NULL };

	unlink(path_of("index.html"));
	ck_assert_int_eq(page_read(folder, &diags, &page), E_OK);
	ck_assert_ptr_null(page);
	ck_assert(!page_find(page, &rq, &f));
	ck_assert(!page_shares(page, "/"));
	ck_assert_int_eq(page_read("/nonexistent", &diags, &page), E_OK);
	ck_assert_ptr_null(page);
}
END_TEST

START_TEST(test_half_a_page)
{
	unlink(path_of("app.css"));
	ck_assert_int_eq(page_read(folder, &diags, &page), E_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags), "app.css"));
}
END_TEST

START_TEST(test_shares)
{
	ck_assert_int_eq(page_read(folder, &diags, &page), E_OK);
	ck_assert(page_shares(page, "/"));
	ck_assert(page_shares(page, "/?a"));
	ck_assert(!page_shares(page, "/v1"));
}
END_TEST

TEST_SUITE(page)
{
	TCase *t = tcase_create("page");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_find, 0, sizeof(requests) / sizeof(requests[0]));
	tcase_add_test(t, test_etags);
	tcase_add_test(t, test_no_page);
	tcase_add_test(t, test_half_a_page);
	tcase_add_test(t, test_shares);
	suite_add_tcase(suite, t);
}
