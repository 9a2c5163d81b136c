/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* /v1/diff: what changed between two epochs of a fabric that is known. */
#include <check.h>
#include <string.h>

#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "routing/graph/alter.h"
#include "routing/graph/node_text.h"
#include "tests/lib/api_json.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/schema_check.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct http_stats http;
static struct api_thread thread;
static json_t *document;
static struct graph *whole;
static uint32_t cable; /* its end at a leaf */

/* Publishes a copy of the fabric after some changes. */
static void publish(uint64_t epoch, const struct alteration *change, uint32_t n)
{
	ck_assert_int_eq(graph_altered(whole, change, n, fixture.arena, &fixture.diags,
	                               &fixture.g),
	                 E_OK);
	gateway_fixture_route(&fixture, 0);
	gateway_fixture_publish(&fixture, epoch);
}

/* Epoch 1: all is there; 2: a cable is out, 3: a host as well; 5: all is back. */
static void setup(void)
{
	char *tree[] = { (char *)"2", (char *)"2", (char *)"2" };
	struct alteration change[2] = { { .kind = ALTER_PORT_DOWN },
		                        { .kind = ALTER_NODE_DOWN } };

	gateway_fixture_init(&fixture, "ft2", 3, tree);
	gateway_fixture_open(&fixture);
	gateway_fixture_route(&fixture, 0);
	whole = fixture.g;
	for (cable = 0; cable < whole->n_ports; cable++) {
		uint32_t peer = whole->ports[cable].peer;

		if (peer != GRAPH_NONE &&
		    whole->nodes[whole->ports[cable].node].type == NODE_SWITCH &&
		    whole->nodes[whole->ports[peer].node].type == NODE_SWITCH) {
			break;
		}
	}
	change[0].a.port = cable;
	change[1].node = whole->ports[whole->hosts[whole->n_hosts - 1]].node;
	gateway_fixture_publish(&fixture, 1);
	publish(2, change, 1);
	publish(3, change, 2);
	publish(5, change, 0);
	gateway_fixture_heartbeat(&fixture, 0, true);
	thread = (struct api_thread){ .source = source_new(fixture.dir), .stats = &http };
	document = api_json(&thread, 200, "/openapi.json");
}

static void teardown(void)
{
	json_decref(document);
	api_thread_done(&thread);
	source_free(thread.source);
	gateway_fixture_done(&fixture);
}

/* The answer, which fits its schema. */
static json_t *ask(const char *target)
{
	json_t *body = api_json(&thread, 200, "%s", target);
	json_t *schema = json_pack("{s:s}", "$ref", "#/components/schemas/DiffList");
	char why[512];

	ck_assert_msg(schema_fits(document, schema, body, target, why, sizeof(why)), "%s",
	              why);
	json_decref(schema);
	return body;
}

static json_int_t number(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

/* \return How many changes of a kind there are; the first one in \a ret. */
static unsigned find(const json_t *body, const char *kind, json_t **ret)
{
	unsigned n = 0;
	size_t i;
	json_t *c;

	json_array_foreach(json_object_get(body, "changes"), i, c)
	{
		if (strcmp(json_string_value(json_object_get(c, "kind")), kind) == 0 &&
		    n++ == 0 && ret != NULL) {
			*ret = c;
		}
	}
	return n;
}

START_TEST(a_cable_lost)
{
	json_t *body = ask("/v1/diff?from=1&to=2"), *c = NULL;
	const struct port *p = &whole->ports[cable];

	ck_assert_int_eq(number(body, "from"), 1);
	ck_assert_int_eq(number(body, "to"), 2);
	ck_assert_int_eq(number(body, "oldest"), 1);
	ck_assert_uint_eq(find(body, "link_lost", &c), 1);
	ck_assert_uint_eq(find(body, "link_new", NULL) + find(body, "node_gone", NULL),
	                  0);
	ck_assert_str_eq(
		json_string_value(json_object_get(json_object_get(c, "node"), "name")),
		node_name(&whole->nodes[p->node]));
	ck_assert_int_eq(number(json_object_get(c, "node"), "port"), p->num);
	ck_assert_int_eq(number(json_object_get(c, "peer"), "port"),
	                 whole->ports[p->peer].num);
	json_decref(body);
}
END_TEST

/* The sum of the entries of the switches is the number of entries listed one by one. */
START_TEST(entries_are_counted)
{
	json_t *body = ask("/v1/diff?from=1&to=3&kind=lft_changed"), *c;
	json_int_t sum = 0;
	size_t i;

	ck_assert_uint_gt(find(body, "lft_changed", NULL), 0);
	json_array_foreach(json_object_get(body, "changes"), i, c)
	{
		sum += number(c, "entries");
		ck_assert(json_is_false(json_object_get(c, "at_most")));
	}
	json_decref(body);
	body = ask("/v1/diff?from=1&to=3&kind=route_changed&limit=2");
	ck_assert_int_eq(number(body, "total"), sum);
	ck_assert_uint_eq(find(body, "route_changed", &c), 2);
	ck_assert_uint_eq(json_array_size(json_object_get(c, "fields")), 1);
	for (json_int_t n = 2; json_object_get(body, "next_cursor") != NULL; n += 2) {
		char target[256];

		snprintf(target, sizeof(target),
		         "/v1/diff?from=1&to=3&kind=route_changed&limit=2&cursor=%s",
		         json_string_value(json_object_get(body, "next_cursor")));
		json_decref(body);
		body = ask(target);
		ck_assert_uint_eq(json_array_size(json_object_get(body, "changes")),
		                  sum - n < 2 ? sum - n : 2);
	}
	json_decref(body);
}
END_TEST

/* The default is the last change; a range that ends as it began has nothing. */
START_TEST(there_and_back)
{
	json_t *body = ask("/v1/diff"), *c = NULL;

	ck_assert_int_eq(number(body, "from"), 3);
	ck_assert_int_eq(number(body, "to"), 5);
	ck_assert_uint_eq(find(body, "node_new", &c), 1);
	ck_assert_int_gt(number(c, "lid"), 0);
	ck_assert_uint_eq(find(body, "link_new", NULL), 2);
	json_decref(body);
	body = ask("/v1/diff?from=1");
	ck_assert_int_eq(number(body, "to"), 5);
	ck_assert_int_eq(number(body, "total"), 0);
	json_decref(body);
	body = ask("/v1/diff?from=2&to=4"); /* 4 was never published: as 3 */
	ck_assert_uint_eq(find(body, "node_gone", NULL), 1);
	ck_assert_uint_eq(find(body, "link_lost", NULL), 1);
	json_decref(body);
	body = ask("/v1/diff?from=1&to=5&kind=routing_changed,node_new&node=*");
	ck_assert_int_eq(number(body, "total"), 0);
	json_decref(body);
}
END_TEST

START_TEST(only_of_a_node)
{
	const struct node *host =
		&whole->nodes[whole->ports[whole->hosts[whole->n_hosts - 1]].node];
	char target[128];

	snprintf(target, sizeof(target), "/v1/diff?from=2&to=3&node=%s", node_name(host));
	json_t *body = ask(target);
	ck_assert_uint_eq(find(body, "node_gone", NULL), 1);
	ck_assert_uint_eq(find(body, "link_lost", NULL), 1);
	ck_assert_int_eq(number(body, "total"), 2);
	json_decref(body);
	snprintf(target, sizeof(target),
	         "/v1/diff?from=2&to=3&kind=node_gone&node=0x%016llx",
	         (unsigned long long)host->guid);
	body = ask(target);
	ck_assert_int_eq(number(body, "total"), 1);
	json_decref(body);
}
END_TEST

static void refused(unsigned status, const char *target, const char *says)
{
	json_t *body = api_json(&thread, status, "%s", target);
	const char *detail = json_string_value(json_object_get(body, "detail"));

	ck_assert_msg(strstr(detail, says) != NULL, "%s: %s", target, detail);
	json_decref(body);
}

START_TEST(what_is_refused)
{
	refused(404, "/v1/diff?to=6", "the newest is 5");
	refused(404, "/v1/diff?from=99", "the newest is 5");
	refused(400, "/v1/diff?from=3&to=2", "after to=2");
	refused(400, "/v1/diff?from=first", "number of an epoch");
	refused(400, "/v1/diff?kind=cable", "no changes of this kind");
	refused(410, "/v1/diff?from=0", "oldest epoch to compare with is 1");
	json_t *body = api_json(&thread, 410, "/v1/diff?from=0&to=1");
	ck_assert_int_eq(number(body, "oldest"), 1);
	json_decref(body);
}
END_TEST

TEST_SUITE(api_diff)
{
	TCase *t = tcase_create("api_diff");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_cable_lost);
	tcase_add_test(t, entries_are_counted);
	tcase_add_test(t, there_and_back);
	tcase_add_test(t, only_of_a_node);
	tcase_add_test(t, what_is_refused);
	suite_add_tcase(suite, t);
}
