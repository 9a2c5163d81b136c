/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/topology and /v1/load over generated fabrics, counted again from the graph. */
#include <check.h>
#include <math.h>

#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct http_stats stats;
static struct api_thread thread;

static const struct {
	const char *kind;
	char *args[5];
	int n;
	const char *drawn;
	bool folded;
	size_t groups;
} fabrics[] = {
	{ "ft2", { "6", "4", "3", "2" }, 4, "tree", false, 0 },
	{ "ft3", { "4" }, 1, "tree", false, 4 },
	{ "ft3", { "10" }, 1, "tree", true, 10 }, /* 125 switches */
	{ "torus", { "3x4", "1" }, 2, "matrix", false, 0 },
	{ "dragonfly", { "2", "4", "2" }, 3, "matrix", false, 9 },
};
enum { FABRICS = sizeof(fabrics) / sizeof(fabrics[0]) };

static void start(int i)
{
	gateway_fixture_init(&fixture, fabrics[i].kind, fabrics[i].n,
	                     (char **)(uintptr_t)fabrics[i].args);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, 7);
	thread =
		(struct api_thread){ .source = source_new(fixture.dir), .stats = &stats };
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	gateway_fixture_done(&fixture);
}

static json_int_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static json_int_t column(const json_t *row, size_t i)
{
	return json_integer_value(json_array_get(row, i));
}

/* Cables between switches that the map has: in bundles and inside of groups. */
static json_int_t cables_of(const json_t *map, bool inside)
{
	json_int_t n = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(map, "bundles"), i, row)
	{
		ck_assert_int_lt(column(row, 0), column(row, 1));
		ck_assert_int_lt(column(row, 1),
		                 json_array_size(json_object_get(map, "vertices")));
		ck_assert_int_gt(column(row, 2), 0);
		n += column(row, 2);
	}
	json_array_foreach(json_object_get(map, "groups"), i, row)
	{
		n += inside ? number(row, "links") : 0;
	}
	return n;
}

static void check_hosts(const json_t *map, json_int_t want)
{
	const json_t *vertices = json_object_get(map, "vertices");
	json_int_t hosts = 0;
	json_t *x;
	size_t i;

	json_array_foreach((json_t *)vertices, i, x)
	{
		hosts += number(x, "hosts");
	}
	ck_assert_int_eq(hosts, want);
	json_array_foreach(json_object_get(map, "hosts"), i, x)
	{
		const json_t *at = json_array_get(vertices, (size_t)number(x, "vertex"));
		ck_assert_str_eq(json_string_value(json_object_get(at, "type")),
		                 "switch");
		ck_assert_int_gt(number(at, "hosts"), 0);
	}
}

/* Every cable and every host is on the map, once. */
START_TEST(test_whole)
{
	start(_i);
	const struct graph *g = fixture.g;
	const json_int_t between = g->n_adj / 2;
	json_t *map = api_json(&thread, 200, "/v1/topology");

	ck_assert_str_eq(json_string_value(json_object_get(map, "kind")),
	                 fabrics[_i].drawn);
	ck_assert_int_eq(json_is_true(json_object_get(map, "folded")),
	                 fabrics[_i].folded);
	ck_assert_uint_eq(json_array_size(json_object_get(map, "groups")),
	                  fabrics[_i].groups);
	ck_assert_int_eq(cables_of(map, fabrics[_i].folded), between);
	check_hosts(map, g->n_hosts);
	json_decref(map);
	map = api_json(&thread, 200, "/v1/topology?switches=1&hosts=1");
	ck_assert_uint_eq(json_array_size(json_object_get(map, "vertices")),
	                  g->n_switches);
	ck_assert_uint_eq(json_array_size(json_object_get(map, "hosts")), g->n_hosts);
	ck_assert_int_eq(cables_of(map, false), between);
	check_hosts(map, g->n_hosts);
	json_decref(map);
	stop();
}
END_TEST

/* The view of a group has its switches, its hosts and its cables. */
START_TEST(test_group)
{
	start(_i);
	for (size_t k = 0; k < fabrics[_i].groups; k++) {
		json_t *map = api_json(&thread, 200, "/v1/topology?hosts=1&group=%zu", k);
		const json_t *group = json_array_get(json_object_get(map, "groups"), k);
		json_t *x;
		size_t i, mine = 0, hosts = 0;

		json_array_foreach(json_object_get(map, "vertices"), i, x)
		{
			const json_t *of = json_object_get(x, "group");
			mine += strcmp(json_string_value(json_object_get(x, "type")),
			               "switch") == 0 &&
			        json_is_integer(of) &&
			        json_integer_value(of) == (json_int_t)k;
		}
		ck_assert_int_eq(mine, number(group, "switches"));
		json_array_foreach(json_object_get(map, "hosts"), i, x)
		{
			const json_t *at =
				json_array_get(json_object_get(map, "vertices"),
			                       (size_t)number(x, "vertex"));
			hosts += number(at, "group") == (json_int_t)k;
		}
		ck_assert_int_eq(hosts, number(group, "hosts"));
		json_decref(map);
	}
	json_t *o = api_json(&thread, 404, "/v1/topology?group=%zu", fabrics[_i].groups);
	json_decref(o);
	o = api_json(&thread, 400, "/v1/topology?group=x");
	json_decref(o);
	stop();
}
END_TEST

/* The load is sorted, and its sum per pair of tiers is that of the rows. */
START_TEST(test_load)
{
	start(_i);
	json_t *o = api_json(&thread, 200, "/v1/load"), *row, *tier;
	const json_t *rows = json_object_get(o, "links");
	json_int_t last = INT64_MAX;
	double sum = 0, want = 0, links = 0;
	size_t i;

	ck_assert_uint_eq(json_array_size(rows), fixture.g->n_adj);
	ck_assert_int_eq(number(o, "total"), fixture.g->n_adj);
	json_array_foreach((json_t *)rows, i, row)
	{
		ck_assert_int_le(number(row, "routes"), last);
		last = number(row, "routes");
		sum += (double)last;
		ck_assert(json_is_number(json_object_get(row, "relative")));
	}
	json_array_foreach(json_object_get(o, "tiers"), i, tier)
	{
		want += json_number_value(json_object_get(tier, "mean_routes")) *
		        (double)number(tier, "links");
		links += (double)number(tier, "links");
	}
	ck_assert(fabs(sum - want) < 1e-6 * (sum + 1));
	ck_assert(links == (double)fixture.g->n_adj);
	json_decref(o);
	stop();
}
END_TEST

TEST_SUITE(api_topology)
{
	TCase *t = tcase_create("api_topology");

	tcase_add_loop_test(t, test_whole, 0, FABRICS);
	tcase_add_loop_test(t, test_group, 0, FABRICS);
	tcase_add_loop_test(t, test_load, 0, FABRICS);
	suite_add_tcase(suite, t);
}
