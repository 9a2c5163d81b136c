/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/xml.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

static int parse(const char *text, size_t len, struct xml_element **ret_element)
{
	return xml_parse("f.xml", text, len, arena, &diags, ret_element);
}

/* "name@line=text(children)". */
static const char *shown(const struct xml_element *e)
{
	const char *s = arena_printf(arena, "%s@%u", e->name, e->line);
	if (*e->text) {
		s = arena_printf(arena, "%s=%s", s, e->text);
	}
	if (e->child) {
		const char *in = "";
		for (const struct xml_element *c = e->child; c; c = c->next) {
			ck_assert_ptr_eq(c->parent, e);
			in = arena_printf(arena, "%s%s%s", in, *in ? " " : "", shown(c));
		}
		s = arena_printf(arena, "%s(%s)", s, in);
	}
	return s;
}

static const struct {
	const char *what, *text, *tree, *warning;
} good[] = {
	{ "one element", "<a/>", "a@1", NULL },
	{ "text is trimmed, inside it stays", "<a>\n  one  two\n </a>", "a@1=one  two", NULL },
	{ "children in order with lines", "<a>\n<b>1</b>\n<c/><b>2</b></a>",
	  "a@1(b@2=1 c@3 b@3=2)", NULL },
	{ "a comment in the middle of a value", "<a>on<!-- no -->e</a>", "a@1=one", NULL },
	{ "CDATA and the five entities", "<a>&lt;<![CDATA[<&>]]>&#65;</a>", "a@1=<<&>A", NULL },
	{ "declaration and byte order mark", "\xef\xbb\xbf<?xml version='1.0'?><a>\xc3\xa9</a>",
	  "a@1=\xc3\xa9", NULL },
	{ "other encodings come out as UTF-8",
	  "<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>", "a@1=\xc3\xa9", NULL },
	{ "attribute", "<a x='1'>t</a>", "a@1=t", "a: attribute 'x' has no effect" },
	{ "stray text before", "<a>oops<b/></a>", "a@1(b@1)",
	  "text between elements has no effect: 'oops'" },
	{ "stray text behind", "<a><b/>oops</a>", "a@1(b@1)",
	  "text between elements has no effect: 'oops'" },
};

START_TEST(test_good)
{
	struct xml_element *root = NULL;

	ck_assert_int_eq(parse(good[_i].text, strlen(good[_i].text), &root), E_OK);
	ck_assert_str_eq(shown(root), good[_i].tree);
	ck_assert_uint_eq(diags.n, good[_i].warning != NULL);
	if (good[_i].warning) {
		ck_assert_str_eq(diags.items[0].text, good[_i].warning);
	}
}
END_TEST

static const struct {
	const char *what, *text;
	unsigned line;
	const char *error; /* part of it */
} bad[] = {
	{ "nothing", "", 1, "no element found" },
	{ "cut off", "<a>\n<b>1</b>\n<c>", 3, "not well-formed XML: no element found, inside c" },
	{ "cut off in a tag", "<a>\n<b", 2, "inside a" },
	{ "tags that cross", "<a>\n<b></a></b>", 2, "mismatched tag, inside b" },
	{ "two roots", "<a/>\n<b/>", 2, "junk after document element" },
	{ "not UTF-8", "<a>\n\xff\xfe</a>", 2, "inside a" },
	{ "an encoding that nobody has", "<?xml version='1.0' encoding='x-none'?><a/>", 1,
	  "unknown encoding" },
	{ "unknown entity", "<a>&who;</a>", 1, "undefined entity" },
	{ "a document type", "<!DOCTYPE a>\n<a/>", 1, "document type" },
	{ "a bomb of entities",
	  "<!DOCTYPE a [<!ENTITY b 'ha'><!ENTITY c '&b;&b;'><!ENTITY d '&c;&c;'>]>\n<a>&d;</a>",
	  1, "document type" },
	{ "a file from outside", "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
	  1, "document type" },
	{ "a document type from outside", "<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/a.dtd'><a/>", 1,
	  "document type" },
};

START_TEST(test_bad)
{
	struct xml_element *root = NULL;

	ck_assert_int_eq(parse(bad[_i].text, strlen(bad[_i].text), &root), E_SYNTAX);
	ck_assert_ptr_null(root);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_msg(strstr(diags.items[0].text, bad[_i].error) != NULL, "%s: %s",
	              bad[_i].what, diags.items[0].text);
	ck_assert_uint_eq(diags.items[0].line, bad[_i].line);
}
END_TEST

/* n times "<a>", text, n times "</a>". */
static char *nested(unsigned n, size_t *ret_len)
{
	char *text = arena_alloc(arena, 8 * (size_t)n + 1);
	for (unsigned i = 0; i < n; i++) {
		strcat(text, "<a>");
	}
	for (unsigned i = 0; i < n; i++) {
		strcat(text, "</a>");
	}
	*ret_len = strlen(text);
	return text;
}

START_TEST(test_depth)
{
	struct xml_element *root = NULL;
	size_t len;
	const char *text = nested(XML_DEPTH_MAX, &len);

	ck_assert_int_eq(parse(text, len, &root), E_OK);
	text = nested(XML_DEPTH_MAX + 1, &len);
	ck_assert_int_eq(parse(text, len, &root), E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags), "deeper"));
}
END_TEST

START_TEST(test_size)
{
	struct xml_element *root = NULL;
	size_t n = XML_ELEMENTS_MAX, len = 4 * n + 7;
	char *text = malloc(len + 1);

	memcpy(text, "<a>", 3);
	for (size_t i = 0; i < n; i++) {
		memcpy(text + 3 + 4 * i, "<b/>", 4);
	}
	memcpy(text + 3 + 4 * n, "</a>", 5);
	ck_assert_int_eq(parse(text, len, &root), E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags), "more elements"));
	free(text);
	/* too long is told without a look at the bytes */
	ck_assert_int_eq(parse("<a/>", XML_MAX_BYTES + 1, &root), E_SYNTAX);
	ck_assert_ptr_nonnull(strstr(diags.items[1].text, "larger than"));
}
END_TEST

START_TEST(test_looks_like)
{
	static const struct {
		const char *text;
		bool xml;
	} cases[] = { { "<?xml version='1.0'?>", true }, { "\n \t<Config>", true },
		      { "\xef\xbb\xbf<a/>", true },      { "lmc 2\n", false },
		      { "# <Config>\n", false },         { "", false },
		      { "   ", false } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(xml_looks_like(cases[i].text, strlen(cases[i].text)),
		                 cases[i].xml);
	}
}
END_TEST

START_TEST(test_find)
{
	static const char text[] = "<a><b>1</b><c>2</c><b>3</b></a>";
	struct xml_element *root = NULL;

	ck_assert_int_eq(parse(text, strlen(text), &root), E_OK);
	const struct xml_element *b = xml_child(root, "b");
	ck_assert_str_eq(b->text, "1");
	b = xml_again(b);
	ck_assert_str_eq(b->text, "3");
	ck_assert_ptr_null(xml_again(b));
	ck_assert_ptr_null(xml_child(root, "d"));
}
END_TEST

START_TEST(test_no_file)
{
	struct xml_element *root = NULL;
	ck_assert_int_lt(xml_read("/nonexistent/opafm.xml", arena, &diags, &root), 0);
	ck_assert_uint_eq(diags.n_errors, 1);
}
END_TEST

TEST_SUITE(xml)
{
	TCase *t = tcase_create("xml");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_good, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(t, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, test_depth);
	tcase_add_test(t, test_size);
	tcase_add_test(t, test_looks_like);
	tcase_add_test(t, test_find);
	tcase_add_test(t, test_no_file);
	suite_add_tcase(suite, t);
}
