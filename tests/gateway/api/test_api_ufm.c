/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /ufmRest/resources over a fabric with a host of two adapters and an aggregation node. The forms of
 * links and of names of ports are those of examples in NVIDIA's UFM Enterprise REST API guide (Links,
 * Virtualization); the others are what saguaro-api(7) says, because no example of them was at hand.
 */
#include <check.h>

#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

enum { RAIL_0 = 0x7770, RAIL_1 = 0x7701, HELPER = 0x8801 };

static struct query_fixture *w;
static struct http_stats stats;
static struct api_thread thread;

static void start(void)
{
	w = query_fixture_new();
	uint32_t leaf = query_fixture_add(w, NODE_SWITCH, SW_A, 5, "leaf a");
	uint32_t spine = query_fixture_add(w, NODE_SWITCH, SW_B, 4, "spine b");
	/* The adapter with the higher GUID comes first by name, and by its port of the leaf. */
	uint32_t rail_0 = query_fixture_add(w, NODE_CA, RAIL_0, 1, "r-ufm77 mlx5_0");
	uint32_t rail_1 = query_fixture_add(w, NODE_CA, RAIL_1, 2, "r-ufm77 mlx5_1");
	uint32_t host = query_fixture_add(w, NODE_CA, HOST, 1, "n1");
	uint32_t helper = query_fixture_add(w, NODE_CA, HELPER, 1,
	                                    "Mellanox Technologies Aggregation Node");

	query_fixture_cable(w, rail_0, 1, leaf, 1, WIDTH_4X, SPEED_HDR, 5);
	query_fixture_cable(w, rail_1, 2, leaf, 2, WIDTH_4X, SPEED_NDR, 5);
	query_fixture_cable(w, host, 1, leaf, 3, WIDTH_2X, SPEED_HDR, 4);
	query_fixture_cable(w, leaf, 4, spine, 1, WIDTH_4X, SPEED_NDR, 5);
	query_fixture_cable(w, helper, 1, spine, 2, WIDTH_4X, SPEED_NDR, 5);
	w->g->nodes[helper].aggregation = true; /* as a sweep marks it */
	query_fixture_start(w, 0, 0, PATH_MINIMAL);
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		const struct snap_attr *at = &w->attrs[i];

		if (at->attr == UMAD_SM_ATTR_PORT_INFO && at->guid == SW_A) {
			/* link up, and 15, which no specification has */
			field_set((uint8_t *)(uintptr_t)at->data, PI_PORT_PHYSICAL_STATE,
			          at->block == 1   ? 5
			          : at->block == 3 ? 15
			                           : 0);
		}
	}
	query_fixture_publish(w, PATH_MINIMAL);
	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &stats };
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	query_fixture_free(w);
}

/* An answer is exactly a list, or has this row where it has it. \param row  NULL: the whole list. */
static void check_row(const char *target, const char *member, const char *value,
                      const char *want)
{
	json_t *all = api_json(&thread, 200, "%s", target), *expected, *row,
	       *found = member == NULL ? json_incref(all) : NULL;
	size_t i;
	json_error_t error;

	expected = json_loads(want, 0, &error);
	ck_assert_msg(expected != NULL, "%s", error.text);
	ck_assert(json_is_array(all));
	json_array_foreach(all, i, row)
	{
		if (member != NULL &&
		    strcmp(json_string_value(json_object_get(row, member)), value) == 0) {
			ck_assert_ptr_null(found);
			found = json_incref(row);
		}
	}
	char *text = json_dumps(found != NULL ? found : all, 0);
	ck_assert_msg(json_equal(found, expected), "%s: %s", target, text);
	free(text);
	json_decref(found);
	json_decref(expected);
	json_decref(all);
}

START_TEST(test_systems)
{
	check_row(
		"/ufmRest/resources/systems", "system_name", "r-ufm77",
		"{\"system_name\": \"r-ufm77\", \"guid\": \"0000000000007701\", \"system_guid\": \"0000000000007701\","
		" \"type\": \"host\", \"role\": \"endpoint\","
		" \"ports\": [\"0000000000007702_1\", \"0000000000007703_2\", \"0000000000007771_1\"]}");
	check_row(
		"/ufmRest/resources/systems?type=switch&role=tor", NULL, NULL,
		"[{\"system_name\": \"leaf a\", \"guid\": \"0000000000001000\", \"system_guid\": \"0000000000001000\","
		" \"type\": \"switch\", \"role\": \"tor\", \"ports\": [\"0000000000001000_1\", \"0000000000001000_2\","
		" \"0000000000001000_3\", \"0000000000001000_4\", \"0000000000001000_5\"]}]");
	check_row("/ufmRest/resources/systems?type=router", NULL, NULL, "[]");
}
END_TEST

static const struct {
	const char *target;
	unsigned rows;
} counts[] = {
	{ "/ufmRest/resources/systems", 4 },
	{ "/ufmRest/resources/systems?type=host", 2 },
	{ "/ufmRest/resources/systems?role=core", 1 },
	{ "/ufmRest/resources/systems?role=endpoint&type=switch", 0 },
	{ "/ufmRest/resources/systems?system=R-UFM77", 1 },
	{ "/ufmRest/resources/systems?system=nobody", 0 },
	{ "/ufmRest/resources/ports", 13 },
	{ "/ufmRest/resources/ports?sys_type=Computer", 4 },
	{ "/ufmRest/resources/ports?sys_type=Switch", 9 },
	{ "/ufmRest/resources/ports?system=r-ufm77", 3 },
	{ "/ufmRest/resources/ports?system=0000000000007701", 3 },
	{ "/ufmRest/resources/ports?system=0000000000007770", 0 },
	{ "/ufmRest/resources/ports?system=r-ufm7", 0 },
	{ "/ufmRest/resources/ports?active=true", 0 },
	{ "/ufmRest/resources/ports?active=false", 13 },
	{ "/ufmRest/resources/links", 4 },
	{ "/ufmRest/resources/links?system=r-ufm77", 2 },
	{ "/ufmRest/resources/links?system=leaf%20a", 4 },
	{ "/ufmRest/resources/links?system=spine+b", 1 },
};

START_TEST(test_counts)
{
	json_t *all = api_json(&thread, 200, "%s", counts[_i].target);

	ck_assert_uint_eq(json_array_size(all), counts[_i].rows);
	json_decref(all);
}
END_TEST

START_TEST(test_ports)
{
	char want[1024];

	snprintf(
		want, sizeof(want),
		"{\"name\": \"0000000000007703_2\", \"guid\": \"0000000000007703\", \"number\": 2, \"dname\": \"mlx5_1/2\","
		" \"lid\": %u, \"mtu\": 4096, \"logical_state\": \"Initialize\", \"physical_state\": null,"
		" \"active_speed\": \"NDR\", \"active_width\": \"4x\", \"systemID\": \"0000000000007701\","
		" \"system_name\": \"r-ufm77\", \"node_description\": \"r-ufm77 mlx5_1\", \"peer\": \"0000000000001000_2\","
		" \"peer_node_name\": \"leaf a\", \"peer_node_description\": \"leaf a\", \"peer_port_dname\": \"2\"}",
		(unsigned)query_fixture_end(w, 0x7703).base_lid);
	check_row("/ufmRest/resources/ports", "name", "0000000000007703_2", want);
}
END_TEST

static const struct {
	const char *name, *state;
} physical[] = {
	{ "0000000000001000_1", "\"Link Up\"" },
	{ "0000000000001000_2", "null" },
	{ "0000000000001000_3", "null" },
};

START_TEST(test_physical_states)
{
	json_t *all = api_json(&thread, 200, "/ufmRest/resources/ports"), *row;
	unsigned n = 0;
	size_t i;

	json_array_foreach(all, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));

		if (strcmp(name, physical[_i].name) == 0) {
			char *text = json_dumps(json_object_get(row, "physical_state"),
			                        JSON_ENCODE_ANY);

			ck_assert_str_eq(text, physical[_i].state);
			free(text);
			n++;
		}
	}
	ck_assert_uint_eq(n, 1);
	json_decref(all);
}
END_TEST

/* A port without a cable, and one that leads to what has no row. */
START_TEST(test_ports_without_peer)
{
	json_t *all = api_json(&thread, 200, "/ufmRest/resources/ports"), *row;
	unsigned n = 0;
	size_t i;

	json_array_foreach(all, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));

		if (strcmp(name, "0000000000001000_5") == 0) {
			ck_assert_str_eq(
				json_string_value(json_object_get(row, "logical_state")),
				"Down");
			ck_assert(json_is_null(json_object_get(row, "active_speed")));
			ck_assert_ptr_null(json_object_get(row, "peer"));
			n++;
		}
		if (strcmp(name, "0000000000002000_2") == 0) {
			ck_assert_str_eq(
				json_string_value(json_object_get(row, "active_speed")),
				"NDR");
			ck_assert_ptr_null(json_object_get(row, "peer"));
			n++;
		}
	}
	ck_assert_uint_eq(n, 2);
	json_decref(all);
}
END_TEST

/* The source is the end with the lower GUID, also where the host has the higher one. */
START_TEST(test_links)
{
	check_row(
		"/ufmRest/resources/links", "name",
		"0000000000001000_2:0000000000007703_2",
		"{\"source_guid\": \"0000000000001000\", \"source_port\": \"2\", \"destination_guid\": \"0000000000007703\","
		" \"destination_port\": \"2\", \"source_port_dname\": \"2\", \"destination_port_dname\": \"mlx5_1/2\","
		" \"width\": \"IB_4x\", \"severity\": \"Warning\", \"capabilities\": [],"
		" \"name\": \"0000000000001000_2:0000000000007703_2\"}");
	check_row(
		"/ufmRest/resources/links", "name",
		"0000000000000102_1:0000000000001000_3",
		"{\"source_guid\": \"0000000000000102\", \"source_port\": \"1\", \"destination_guid\": \"0000000000001000\","
		" \"destination_port\": \"3\", \"source_port_dname\": \"1\", \"destination_port_dname\": \"3\","
		" \"width\": \"IB_2x\", \"severity\": \"Warning\", \"capabilities\": [],"
		" \"name\": \"0000000000000102_1:0000000000001000_3\"}");
}
END_TEST

TEST_SUITE(api_ufm)
{
	TCase *t = tcase_create("api_ufm");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, test_systems);
	tcase_add_loop_test(t, test_counts, 0, sizeof(counts) / sizeof(counts[0]));
	tcase_add_test(t, test_ports);
	tcase_add_test(t, test_ports_without_peer);
	tcase_add_loop_test(t, test_physical_states, 0,
	                    sizeof(physical) / sizeof(physical[0]));
	tcase_add_test(t, test_links);
	suite_add_tcase(suite, t);
}
