/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/links and /v1/ports over the small fabric of query_fixture.h, whose ports say what
 * they support. Expectations: IBA vol. 1, 14.2.5.6 (PortInfo), for the bits of widths and
 * speeds; RFC 8288 for the link to the next page.
 */
#include <check.h>

#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

static struct query_fixture *w;
static struct http_stats stats;
static struct api_thread thread;

enum { EXT_FDR = 1, EXT_EDR = 2, EXT_HDR = 4, EXT_NDR = 8 };

/* What a port supports. */
static void support(uint64_t node, unsigned port, unsigned widths, unsigned ext)
{
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		struct snap_attr *at = &w->attrs[i];
		uint8_t *info = (uint8_t *)(uintptr_t)at->data;

		if (at->attr == UMAD_SM_ATTR_PORT_INFO && at->guid == node &&
		    at->block == port) {
			field_set(info, PI_LINK_WIDTH_SUPPORTED, widths);
			field_set(info, PI_LINK_SPEED_SUPPORTED, 7);
			field_set(info, PI_LINK_SPEED_EXT_SUPPORTED, ext);
			field_set(info, PI_PORT_PHYSICAL_STATE, 5);
			return;
		}
	}
	ck_abort_msg("no such port");
}

static void start(void)
{
	const unsigned to_hdr = EXT_FDR | EXT_EDR | EXT_HDR;

	w = query_fixture_small(0, 0, PATH_MINIMAL);
	support(SW_A, 1, WIDTH_1X | WIDTH_4X, to_hdr);
	support(SW_C, 1, WIDTH_1X | WIDTH_4X, to_hdr | EXT_NDR);
	support(SW_C, 2, WIDTH_1X | WIDTH_4X, to_hdr); /* its cable runs at EDR */
	support(SW_B, 1, WIDTH_1X | WIDTH_4X | WIDTH_8X, to_hdr);
	support(SW_A, 4, WIDTH_1X | WIDTH_4X, 0); /* QDR at most: so is its cable */
	support(TWIN_1, 1, WIDTH_1X | WIDTH_4X, to_hdr);
	support(LEFT, 1, WIDTH_1X | WIDTH_4X,
	        EXT_EDR); /* nothing known of the other end */
	query_fixture_publish(w, PATH_MINIMAL);
	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &stats };
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	query_fixture_free(w);
}

static const char *text(const json_t *o, const char *key)
{
	const char *value = json_string_value(json_object_get(o, key));

	return value != NULL ? value : "null";
}

/* Names of the ends and what the cable is and could be, of the first one in the answer. */
static const struct {
	const char *target;
	json_int_t total;
	const char *a, *b, *speed, *best, *degraded;
} link_cases[] = {
	{ "/v1/links", 8, "host", "sw-a", "NDR", "null", "null" },
	{ "/v1/links?node=sw-c", 2, "sw-a", "sw-c", "HDR", "HDR", "false" },
	{ "/v1/links?node=0x3000", 2, "sw-a", "sw-c", "HDR", "HDR", "false" },
	{ "/v1/links?degraded=1", 1, "sw-b", "sw-c", "EDR", "HDR", "true" },
	{ "/v1/links?degraded=0&node=sw-c", 1, "sw-a", "sw-c", "HDR", "HDR", "false" },
	{ "/v1/links?name=twin&node=sw-a", 1, "twin", "sw-a", "QDR", "QDR", "false" },
	{ "/v1/links?name=*-%3F&degraded=1", 1, "sw-b", "sw-c", "EDR", "HDR", "true" },
	{ "/v1/links?name=l*", 1, "left", "right", "EDR", "null", "null" },
	{ "/v1/links?name=0x0000000000000501", 1, "left", "right", "EDR", "null",
	  "null" },
	{ "/v1/links?state=init", 8, "host", "sw-a", "NDR", "null", "null" },
};

START_TEST(test_links)
{
	json_t *o = api_json(&thread, 200, "%s", link_cases[_i].target);
	const json_t *l = json_array_get(json_object_get(o, "links"), 0);
	const json_t *degraded = json_object_get(l, "degraded");
	const char *target = link_cases[_i].target;

	ck_assert_msg(json_integer_value(json_object_get(o, "total")) ==
	                      link_cases[_i].total,
	              "%s: %s", target, json_dumps(o, 0));
	ck_assert_uint_eq(json_array_size(json_object_get(o, "links")),
	                  link_cases[_i].total);
	if (strcmp(text(json_object_get(l, "a"), "name"), link_cases[_i].a) != 0 ||
	    strcmp(text(json_object_get(l, "b"), "name"), link_cases[_i].b) != 0) {
		l = NULL; /* the lower GUID stands first, which the table leaves open */
	}
	ck_assert_msg(l != NULL, "%s: %s", target, json_dumps(o, 0));
	ck_assert_str_eq(text(l, "speed"), link_cases[_i].speed);
	ck_assert_str_eq(text(l, "best_speed"), link_cases[_i].best);
	ck_assert_str_eq(json_is_null(degraded)   ? "null"
	                 : json_is_true(degraded) ? "true"
	                                          : "false",
	                 link_cases[_i].degraded);
	json_decref(o);
}
END_TEST

static const struct {
	const char *target;
	json_int_t total;
} port_cases[] = {
	/* three switches of 9 ports with port 0; 7 ports of CAs, one of them without cable */
	{ "/v1/ports", 27 + 7 },
	{ "/v1/ports?cabled=1", 16 },
	{ "/v1/ports?cabled=0&type=switch", 27 - 9 },
	{ "/v1/ports?type=ca&cabled=1", 7 },
	{ "/v1/ports?node=dual", 2 },
	{ "/v1/ports?node=0x201&name=d*", 2 },
	{ "/v1/ports?name=none", 0 },
	{ "/v1/ports?degraded=1", 2 },
	{ "/v1/ports?state=down&node=sw-a", 4 },
	{ "/v1/ports?type=router", 0 },
};

START_TEST(test_ports)
{
	json_t *o = api_json(&thread, 200, "%s", port_cases[_i].target);

	ck_assert_msg(json_integer_value(json_object_get(o, "total")) ==
	                      port_cases[_i].total,
	              "%s: %s", port_cases[_i].target, json_dumps(o, 0));
	ck_assert_uint_eq(json_array_size(json_object_get(o, "ports")),
	                  port_cases[_i].total);
	json_decref(o);
}
END_TEST

START_TEST(test_one_port)
{
	json_t *o = api_json(&thread, 200, "/v1/ports?node=sw-b&degraded=1");
	const json_t *p = json_array_get(json_object_get(o, "ports"), 0);

	ck_assert_str_eq(text(p, "name"), "sw-b");
	ck_assert_str_eq(text(p, "type"), "switch");
	ck_assert_str_eq(text(p, "node_guid"), "0x0000000000002000");
	ck_assert_int_eq(json_integer_value(json_object_get(p, "port")), 1);
	ck_assert_str_eq(text(p, "physical_state"), "link_up");
	ck_assert_str_eq(text(p, "width"), "4x");
	ck_assert_str_eq(text(p, "best_width"), "4x"); /* C's end has no 8x */
	ck_assert_int_eq(json_integer_value(json_object_get(p, "rate_gbps")), 100);
	ck_assert_int_eq(json_integer_value(json_object_get(p, "best_rate_gbps")), 200);
	ck_assert_str_eq(text(json_object_get(p, "peer"), "name"), "sw-c");
	ck_assert_int_eq(
		json_integer_value(json_object_get(json_object_get(p, "peer"), "port")),
		2);
	ck_assert(json_is_object(json_object_get(p, "routes")));
	json_decref(o);
}
END_TEST

static const struct {
	const char *target;
	unsigned status;
	const char *parameter;
} refusals[] = {
	{ "/v1/links?state=up", 400, "state" },
	{ "/v1/links?degraded=yes", 400, "degraded" },
	{ "/v1/links?type=ca", 400, "type" },
	{ "/v1/ports?type=host", 400, "type" },
	{ "/v1/ports?cabled=2", 400, "cabled" },
	{ "/v1/ports?stream=2", 400, "stream" },
	{ "/v1/ports?node=nobody", 404, "node" },
	{ "/v1/links?node=twin", 409, "node" },
	{ "/v1/nodes/twin", 409, NULL },
	{ "/v1/nodes/nobody", 404, NULL },
	{ "/v1/nodes/0x77", 404, NULL },
	{ "/v1/switches/host/lft", 404, NULL },
	{ "/v1/links?limit=0", 400, "limit" },
};

START_TEST(test_refusals)
{
	json_t *o = api_json(&thread, refusals[_i].status, "%s", refusals[_i].target);

	ck_assert_pstr_eq(json_string_value(json_object_get(o, "parameter")),
	                  refusals[_i].parameter);
	json_decref(o);
}
END_TEST

/* A node by each of its names. */
START_TEST(test_names)
{
	static const char *const names[] = { "sw-a", "0x1000", "0000000000001000" };
	const uint32_t lid = query_fixture_end(w, SW_A).base_lid;

	for (size_t i = 0; i < 3; i++) {
		json_t *o = api_json(&thread, 200, "/v1/nodes/%s", names[i]);
		ck_assert_str_eq(text(o, "guid"), "0x0000000000001000");
		json_decref(o);
		o = api_json(&thread, 200, "/v1/switches/%s/lft", names[i]);
		ck_assert_str_eq(text(o, "name"), "sw-a");
		json_decref(o);
	}
	json_t *o = api_json(&thread, 200, "/v1/nodes/%u", lid);
	ck_assert_str_eq(text(o, "name"), "sw-a");
	json_decref(o);
	o = api_json(&thread, 200, "/v1/nodes/0x202"); /* a PortGUID */
	ck_assert_str_eq(text(o, "name"), "dual");
	json_decref(o);
}
END_TEST

/* Every list says how many elements all its pages have, on each page the same. */
static const struct {
	const char *target, *list;
} lists[] = {
	{ "/v1/links?", "links" },
	{ "/v1/links?node=sw-a&", "links" },
	{ "/v1/ports?cabled=1&", "ports" },
	{ "/v1/nodes?", "nodes" },
	{ "/v1/nodes?type=ca&", "nodes" },
	{ "/v1/nodes?name=*w*&ports=0&", "nodes" },
	{ "/v1/lids?", "lids" },
	{ "/v1/switches/sw-c/lft?", "routes" },
};

START_TEST(test_total)
{
	json_t *whole = api_json(&thread, 200, "%s", lists[_i].target);
	const json_int_t total = json_integer_value(json_object_get(whole, "total"));
	json_t *all = json_array();
	char cursor[API_CURSOR_BYTES] = "";

	ck_assert_int_eq(total, json_array_size(json_object_get(whole, lists[_i].list)));
	do {
		char target[512];
		struct api_request rq = { .method = "GET", .target = target };
		struct api_reply reply = { 0 };

		snprintf(target, sizeof(target), "%slimit=3%s%s", lists[_i].target,
		         cursor[0] ? "&cursor=" : "", cursor);
		api_serve(&thread, &rq, &reply);
		ck_assert_uint_eq(reply.base.status, 200);
		json_t *page =
			json_loadb(reply.base.body.data, reply.base.body.len, 0, NULL);
		ck_assert_int_eq(json_integer_value(json_object_get(page, "total")),
		                 total);
		json_array_extend(all, json_object_get(page, lists[_i].list));
		snprintf(cursor, sizeof(cursor), "%s", reply.next_cursor);
		const char *next =
			json_string_value(json_object_get(page, "next_cursor"));
		ck_assert_str_eq(cursor, next != NULL ? next : "");
		json_decref(page);
		body_clear(&reply.base.body);
	} while (cursor[0] != '\0');
	ck_assert(json_equal(all, json_object_get(whole, lists[_i].list)));
	json_decref(all);
	json_decref(whole);
}
END_TEST

/* A stream has the rows of the list, one per line. */
START_TEST(test_stream)
{
	static const char *const of[] = { "links", "ports" };

	for (size_t k = 0; k < 2; k++) {
		char target[64], text_of[32768];
		struct api_request rq = { .method = "GET", .target = target };
		struct api_reply reply = { 0 };
		json_t *whole = api_json(&thread, 200, "/v1/%s?name=sw*", of[k]), *row;
		size_t len = 0, n, i;

		snprintf(target, sizeof(target), "/v1/%s?stream=1&name=sw*", of[k]);
		api_serve(&thread, &rq, &reply);
		ck_assert_uint_eq(reply.base.status, 200);
		while ((n = stream_read(reply.stream, text_of + len,
		                        sizeof(text_of) - 1 - len)) > 0) {
			len += n;
		}
		text_of[len] = '\0';
		stream_free(reply.stream);
		char *line = strchr(text_of, '\n') + 1; /* behind the first line */
		json_array_foreach(json_object_get(whole, of[k]), i, row)
		{
			json_t *found = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
			ck_assert(json_equal(found, row));
			json_decref(found);
			line = strchr(line, '\n') + 1;
		}
		ck_assert_ptr_nonnull(strstr(line, "\"complete\":true"));
		json_decref(whole);
	}
}
END_TEST

/* The rows follow a change of the fabric within the epoch's tables. */
START_TEST(test_change)
{
	json_t *o = api_json(&thread, 200, "/v1/links?degraded=1");

	ck_assert_int_eq(json_integer_value(json_object_get(o, "total")), 1);
	json_decref(o);
	support(SW_C, 2, WIDTH_4X, EXT_EDR);
	query_fixture_publish(w, PATH_MINIMAL);
	o = api_json(&thread, 200, "/v1/links?degraded=1");
	ck_assert_int_eq(json_integer_value(json_object_get(o, "total")), 0);
	json_decref(o);
}
END_TEST

TEST_SUITE(api_ports)
{
	TCase *t = tcase_create("api_ports");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_loop_test(t, test_links, 0, sizeof(link_cases) / sizeof(link_cases[0]));
	tcase_add_loop_test(t, test_ports, 0, sizeof(port_cases) / sizeof(port_cases[0]));
	tcase_add_test(t, test_one_port);
	tcase_add_loop_test(t, test_refusals, 0, sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(t, test_names);
	tcase_add_loop_test(t, test_total, 0, sizeof(lists) / sizeof(lists[0]));
	tcase_add_test(t, test_stream);
	tcase_add_test(t, test_change);
	suite_add_tcase(suite, t);
}
