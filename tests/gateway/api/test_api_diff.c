/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* /v1/diff: what changed between two epochs of a fabric that is known. */
#include <check.h>
#include <string.h>

#include "conf/policy/partitions.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "routing/engine.h"
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

/* \return How many changes of a kind there are; the first one in \a ret_json. */
static unsigned find(const json_t *body, const char *kind, json_t **ret_json)
{
	unsigned n = 0;
	size_t i;
	json_t *c;

	json_array_foreach(json_object_get(body, "changes"), i, c)
	{
		if (strcmp(json_string_value(json_object_get(c, "kind")), kind) == 0 &&
		    n++ == 0 && ret_json != NULL) {
			*ret_json = c;
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

/* Publishes with these partitions. */
static void publish_again(uint64_t epoch, const char *partitions, uint64_t sm_guid)
{
	const uint32_t ports[3][2] = { { 1, (uint32_t)epoch }, { 2, 3 }, { 4, 5 } };
	struct snap_published done;
	struct snap_content c = { .epoch = epoch,
		                  .computed_at = 1767225600,
		                  .g = fixture.g,
		                  .lids = &fixture.lids,
		                  .route = &fixture.route,
		                  .options_text = "",
		                  .sm_port_guid = sm_guid,
		                  .sm_lid = (uint32_t)epoch,
		                  .partition_ports = ports };

	ck_assert_int_eq(partitions_parse("p", partitions, strlen(partitions),
	                                  fixture.arena, NULL, &c.partitions),
	                 E_OK);
	ck_assert_int_eq(snap_publish(fixture.writer, &c, boottime_ms(), &done), E_OK);
}

/* Everything that a row of nodes, ports, routing and partitions says is another. */
static void change_everything(void)
{
	struct node *n = &fixture.g->nodes[fixture.g->ports[fixture.g->hosts[0]].node];
	struct port *p = &fixture.g->ports[fixture.g->hosts[0]];

	n->description = "described";
	n->name = "named";
	n->system_image_guid = 0x51;
	n->vendor_id = 0x52;
	n->device_id = 0x53;
	n->revision = 0x54;
	p->guid = 0x55;
	p->state = PORT_ARMED;
	p->width = WIDTH_1X;
	p->speed = SPEED_FDR;
	p->mtu = 2;
	p->vls = 1;
	gateway_fixture_route(&fixture, 1);
	fixture.route.used = engine_find("updn");
	fixture.route.proof.pairs = 1;
	fixture.route.proof.unreachable_pairs = 2;
	fixture.route.proof.forwarding_loops = 3;
	fixture.route.proof.credit_loops = 4;
	fixture.route.proof.vls_used = 5;
}

/* Kind, sentence, GUID and port of the node in the order of the list. */
static const struct {
	const char *kind, *text;
	uint64_t guid;
	unsigned port;
	unsigned p_key;
} every_field_rows[] = {
	{ "routing_changed",
	  "engine minhop -> updn, pairs 12 -> 1, unreachable_pairs 0 -> 2, forwarding_loops 0 -> 3, credit_loops 0 -> 4, vls_used 1 -> 5, lmc 0 -> 1, sm_port_guid 0x0000000000000099 -> 0x000000000000009a, sm_lid 7 -> 8",
	  0, 0, 0 },
	{ "node_changed",
	  "ca 'named': name node1 -> named, description node1 -> described, system_image_guid 0x0000000000000000 -> 0x0000000000000051, vendor_id 0 -> 82, device_id 0 -> 83, revision 0 -> 84",
	  0x0002c90400000000, 0, 0 },
	{ "port_changed", "'leaf-0000' port 0: lid 2 -> 1", 0x0002c90300000000, 0, 0 },
	{ "port_changed", "'leaf-0001' port 0: lid 3 -> 4", 0x0002c90300001000, 0, 0 },
	{ "port_changed", "'spine-0000' port 0: lid 4 -> 5", 0x0002c90300002000, 0, 0 },
	{ "port_changed", "'spine-0001' port 0: lid 5 -> 6", 0x0002c90300003000, 0, 0 },
	{ "port_changed",
	  "'named' port 1: state init -> armed, width 4x -> 1x, speed EDR -> FDR, mtu 5 -> 2, vls 4 -> 1, lid 1 -> 2, lmc 0 -> 1, port_guid 0x0002c90400000001 -> 0x0000000000000055",
	  0x0002c90400000000, 1, 0 },
	{ "port_changed", "'node2' port 1: lid 6 -> 8, lmc 0 -> 1", 0x0002c90400001000, 1,
	  0 },
	{ "port_changed", "'node3' port 1: lid 7 -> 10, lmc 0 -> 1", 0x0002c90400002000,
	  1, 0 },
	{ "port_changed", "'node4' port 1: lid 8 -> 12, lmc 0 -> 1", 0x0002c90400003000,
	  1, 0 },
	{ "partition_changed",
	  "partition 0x0010 'Red': full_members 7 -> 8, group_count 1 -> 0, sl 0 -> 3, indx0 0 -> 1",
	  0, 0, 0x10 },
	{ "partition_gone", "partition 0x0020 'Blue' is gone", 0, 0, 0x20 },
	{ "partition_new", "partition 0x0030 'Green' is new", 0, 0, 0x30 },
};

static const char *text_at(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text != NULL ? text : "";
}

/* The fields, written as a sentence has them. */
static const char *fields_text(const json_t *one)
{
	const char *text = "";
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(one, "fields"), i, f)
	{
		text = arena_printf(fixture.arena, "%s%s%s %s -> %s", text, i ? ", " : "",
		                    text_at(f, "name"), text_at(f, "was"),
		                    text_at(f, "is"));
	}
	return text;
}

/* Each element of the list as a whole, in the order of the list. */
START_TEST(every_field)
{
	json_t *body, *one;
	size_t i;

	publish(6, NULL, 0);
	publish_again(7, "Red=0x10,ipoib:ALL_CAS=full;Blue=0x20:ALL=limited;", 0x99);
	change_everything();
	publish_again(8, "Red=0x10,sl=3,indx0:SELF=full,ALL=limited;Green=0x30:ALL=full;",
	              0x9a);
	body = ask(
		"/v1/diff?from=7&to=8&kind=node_changed,port_changed,routing_changed,partition_new,partition_gone,partition_changed");
	ck_assert_uint_eq(json_array_size(json_object_get(body, "changes")),
	                  sizeof(every_field_rows) / sizeof(every_field_rows[0]));
	json_array_foreach(json_object_get(body, "changes"), i, one)
	{
		const json_t *node = json_object_get(one, "node");
		const char *text = text_at(one, "text"), *at = strstr(text, ": ");

		ck_assert_str_eq(text_at(one, "kind"), every_field_rows[i].kind);
		ck_assert_str_eq(text, every_field_rows[i].text);
		ck_assert_str_eq(fields_text(one), i == 0                         ? text
		                                   : strstr(text, " -> ") != NULL ? at + 2
		                                                                  : "");
		ck_assert_uint_eq(strtoull(text_at(node, "guid"), NULL, 16),
		                  every_field_rows[i].guid);
		if (json_is_object(node)) {
			ck_assert_ptr_nonnull(
				strstr(text, arena_printf(fixture.arena, "'%s'",
			                                  text_at(node, "name"))));
		}
		ck_assert_int_eq(number(node, "port"), every_field_rows[i].port);
		ck_assert_int_eq(number(one, "p_key"), every_field_rows[i].p_key);
		ck_assert(json_is_null(json_object_get(one, "peer")));
	}
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
	tcase_add_test(t, every_field);
	tcase_add_test(t, what_is_refused);
	suite_add_tcase(suite, t);
}
