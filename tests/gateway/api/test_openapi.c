/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /openapi.json against the answers themselves: every resource is asked, and every answer,
 * refusals too, has the members that the document says, and no others.
 */
#include <check.h>

#include "db/stats/stats.h"
#include "gateway/api/metrics.h"
#include "gateway/resource/resource.h"
#include "gateway/resource/schema.h"
#include "gateway/view/record_json.h"
#include "gateway/view/source.h"
#include "sa/record/attributes.h"
#include "tests/lib/api_json.h"
#include "tests/lib/client_rows.h"
#include "tests/lib/rich_fixture.h"
#include "tests/lib/schema_check.h"
#include "tests/lib/suite.h"

static struct query_fixture *w;
static struct http_stats http;
static struct stats *stats;
static struct api_thread thread;
static json_t *document;
static bool *reached; /* [api_resources.n] */

static void start(void)
{
	rich_fixture_start(&w, &stats);
	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &http };
	document = api_json(&thread, 200, "/openapi.json");
	reached = calloc(api_resources.n, sizeof(*reached));
}

static void stop(void)
{
	free(reached);
	json_decref(document);
	api_thread_done(&thread);
	source_free(thread.source);
	rich_fixture_stop(w, stats);
}

/* The document's schema of an answer of a row. */
static const json_t *schema_of(const struct resource *row, unsigned status)
{
	const json_t *get = json_object_get(
		json_object_get(json_object_get(document, "paths"), row->path), "get");
	const json_t *of = json_object_get(json_object_get(get, "responses"),
	                                   status == 200 ? "200" : "default");

	return json_object_get(json_object_get(json_object_get(of, "content"),
	                                       status == 200
	                                               ? "application/json"
	                                               : "application/problem+json"),
	                       "schema");
}

/* Asks, and compares the answer with the document. */
static void check_answer(const char *target, unsigned status)
{
	struct api_request rq = { .method = "GET", .target = target };
	struct api_reply reply = { 0 };
	char why[1024] = "";

	api_serve(&thread, &rq, &reply);
	ck_assert_msg(reply.base.status == status, "%s: %u %s", target, reply.base.status,
	              reply.base.body.data);
	ck_assert_uint_lt(reply.route, api_resources.n);
	const struct resource *row = &api_resources.row[reply.route];
	reached[reply.route] |= status == 200;
	if (row->answer != NULL || status != 200) {
		json_t *body =
			json_loadb(reply.base.body.data, reply.base.body.len, 0, NULL);
		const json_t *schema = schema_of(row, status);

		ck_assert_msg(schema != NULL, "%s has no schema", row->path);
		ck_assert_msg(
			schema_fits(document, schema, body, target, why, sizeof(why)),
			"%s", why);
		json_decref(body);
	}
	ck_assert(reply.stream == NULL || row->answer == NULL);
	stream_free(reply.stream);
	body_clear(&reply.base.body);
}

static const char *const targets[] = {
	"/paths?src=host&dst=dual:1",
	"/v1/paths?src=host&dst=dual:2&hops=1&mode=srcdstall",
	"/v1/paths?src=host&dst=dual:2&why=1",
	"/v1/fabric",
	"/v1/nodes",
	"/v1/nodes?ports=0&limit=2",
	"/v1/nodes/sw-a",
	"/v1/nodes/0x201",
	"/v1/known",
	"/v1/known?gone=1&name=*",
	"/v1/known?cables=1&gone=1",
	"/v1/maintenance",
	"/v1/links",
	"/v1/links?limit=1",
	"/v1/links?degraded=1",
	"/v1/links/health",
	"/v1/links/health?sick=1&node=sw-a&limit=1",
	"/v1/ports",
	"/v1/ports?limit=3&type=ca",
	"/v1/counters",
	"/v1/counters?history=1&limit=1",
	"/v1/counters?errors=1&node=sw-a",
	"/v1/load",
	"/v1/load?limit=1",
	"/v1/export",
	"/v1/export/topology",
	"/v1/topology",
	"/v1/topology?hosts=1&switches=1",
	"/v1/diff",
	"/v1/diff?limit=1&kind=route_changed",
	"/v1/alarms",
	"/v1/alarms?limit=1",
	"/v1/alarms?children=1&acknowledged=0",
	"/v1/lids",
	"/v1/lids?limit=1",
	"/v1/switches/sw-a/lft",
	"/v1/switches/sw-b/lft?limit=1",
	"/v1/switches/sw-a/alternates",
	"/v1/groups",
	"/v1/groups?limit=1",
	"/v1/groups/0xc001",
	"/v1/groups/0xc001?limit=1",
	"/v1/partitions",
	"/v1/partitions?limit=1",
	"/v1/jobs",
	"/v1/jobs/7",
	"/v1/jobs/7?limit=1",
	"/ufmRest/resources/systems",
	"/ufmRest/resources/ports",
	"/ufmRest/resources/links",
	"/v1/partitions/Red",
	"/v1/partitions/0x7fff",
	"/v1/partitions/0x7fff?limit=1",
	"/v1/events",
	"/v1/events?last=3",
	"/v1/events?limit=2",
	"/v1/events?since=100000",
	"/v1/sm",
	"/v1/services",
	"/v1/services?limit=1",
	"/v1/sweeps",
	"/v1/sweeps?limit=1",
	"/v1/routing",
	"/v1/records",
	"/healthz",
	"/readyz",
	"/metrics",
	"/metrics/fabric",
	"/openapi.json",
	"/",
	"/v1",
};

START_TEST(test_every_resource)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		check_answer(targets[i], 200);
	}
	check_answer("/v1/records/NodeRecord?limit=1", 200);
	for (unsigned i = 0; i < api_resources.n; i++) {
		ck_assert_msg(reached[i] || strcmp(api_resources.row[i].method, "GET") != 0,
		              "%s was not asked", api_resources.row[i].path);
	}
	/* the same when the daemon is gone */
	ck_assert_int_eq(stats_commit(stats, 1), E_OK);
	check_answer("/v1/sm", 200);
	check_answer("/v1/fabric", 200);
	check_answer("/v1/links", 200);
	check_answer("/readyz", 503);
}
END_TEST

/* A path is no path without its parameters; what stands behind it may be left out. */
START_TEST(test_required_parameters)
{
	json_t *path, *operation, *p;
	const char *name, *method;
	unsigned n[2] = { 0 };
	size_t i;

	json_object_foreach(json_object_get(document, "paths"), name, path)
	{
		json_object_foreach(path, method, operation)
		{
			json_array_foreach(json_object_get(operation, "parameters"), i, p)
			{
				const char *in = json_string_value(json_object_get(p, "in"));
				bool in_path = strcmp(in, "path") == 0;

				n[in_path]++;
				ck_assert_msg(json_is_true(json_object_get(p, "required")) ==
				                      in_path,
				              "%s %s", name, in);
			}
		}
	}
	ck_assert(n[0] > 0 && n[1] > 0);
}
END_TEST

/* All subnet managers by name, all services with their hosts, the newest sweep first. */
START_TEST(test_clients_and_sweeps)
{
	json_t *o = api_json(&thread, 200, "/v1/sm");
	const json_t *sms = json_object_get(o, "sms"), *row = json_array_get(sms, 0);

	ck_assert_uint_eq(json_array_size(sms), 2);
	ck_assert_str_eq(json_string_value(json_object_get(row, "name")), "host");
	ck_assert_str_eq(json_string_value(json_object_get(row, "state")), "master");
	ck_assert_int_eq(json_integer_value(json_object_get(row, "priority")), 14);
	row = json_array_get(sms, 1);
	ck_assert_str_eq(json_string_value(json_object_get(row, "state")), "standby");
	ck_assert(json_is_null(json_object_get(row, "lid"))); /* no port has its GUID */
	json_decref(o);
	o = api_json(&thread, 200, "/v1/services");
	ck_assert_int_eq(json_integer_value(json_object_get(o, "total")),
	                 WRITTEN_SERVICES);
	ck_assert_uint_eq(json_array_size(json_object_get(o, "services")),
	                  WRITTEN_SERVICES);
	json_decref(o);
	o = api_json(&thread, 200, "/v1/sweeps");
	ck_assert_int_eq(json_integer_value(json_object_get(o, "total")), 2);
	row = json_array_get(json_object_get(o, "sweeps"), 0);
	ck_assert(json_is_true(json_object_get(row, "failed")));
	ck_assert_int_gt(
		json_integer_value(json_object_get(row, "event")),
		json_integer_value(json_object_get(
			json_array_get(json_object_get(o, "sweeps"), 1), "event")));
	json_decref(o);
}
END_TEST

/* Every kind of records has the schema of its rows. */
START_TEST(test_records)
{
	json_t *names = api_json(&thread, 200, "/v1/records"), *kind;
	size_t i;

	json_array_foreach(json_object_get(names, "records"), i, kind)
	{
		const char *name = json_string_value(json_object_get(kind, "name"));
		char target[128], why[1024] = "";
		struct api_request rq = { .method = "GET", .target = target };
		struct api_reply reply = { 0 };

		snprintf(target, sizeof(target), "/v1/records/%s?limit=20", name);
		api_serve(&thread, &rq, &reply);
		json_t *body = json_loadb(reply.base.body.data, reply.base.body.len, 0,
		                          NULL),
		       *rec;
		const json_t *schemas = json_object_get(
			json_object_get(document, "components"), "schemas");
		const json_t *schema = json_object_get(
			schemas,
			reply.base.status == 200
				? json_string_value(json_object_get(body, "name"))
				: "Problem");
		size_t k;

		ck_assert_ptr_nonnull(schema);
		if (reply.base.status == 200) {
			json_array_foreach(json_object_get(body, "records"), k, rec)
			{
				ck_assert_msg(schema_fits(document, schema, rec, name,
				                          why, sizeof(why)),
				              "%s", why);
			}
		}
		json_decref(body);
		body_clear(&reply.base.body);
	}
	json_decref(names);
}
END_TEST

static const struct {
	const char *target;
	unsigned status;
} refusals[] = {
	{ "/v1/paths?src=host&dst=left", 422 },
	{ "/v1/paths?src=host&dst=twin", 409 },
	{ "/v1/paths?src=hos&dst=left", 404 },
	{ "/v1/links?state=x", 400 },
	{ "/v1/nodes/twin", 409 },
	{ "/v1/nodes/nobody", 404 },
	{ "/v1/links?nonsense=1", 400 },
	{ "/v1/links/health?sick=2", 400 },
	{ "/v1/links?cursor=ffff-0-0-0", 410 },
	{ "/v1/events?kind=nonsense", 400 },
	{ "/v1/records/nonsense", 404 },
	{ "/v1/topology?group=77", 404 },
	{ "/v1/export/nonsense", 404 },
	{ "/v1/partitions/nobody", 404 },
	{ "/v1/records/NodeRecord?bla=1", 400 },
	{ "/v1/groups/nobody", 400 },
	{ "/ufmRest/resources/systems?type=ca", 400 },
	{ "/ufmRest/resources/systems?role=leaf", 400 },
	{ "/ufmRest/resources/ports?sys_type=host", 400 },
	{ "/ufmRest/resources/links?cable_info=true", 400 },
};

/* Refusals are problems; some have members of their own, which the document leaves open. */
START_TEST(test_refusals)
{
	json_t *o = api_json(&thread, refusals[_i].status, "%s", refusals[_i].target);
	const json_t *problem = schema_target(document, "#/components/schemas/Problem");
	json_t *of = json_object();
	const char *name;
	json_t *type;
	char why[1024] = "";

	json_object_foreach(json_object_get(problem, "properties"), name, type)
	{
		if (json_object_get(o, name) != NULL) {
			json_object_set(of, name, json_object_get(o, name));
		}
	}
	ck_assert_msg(
		schema_fits(document, problem, of, refusals[_i].target, why, sizeof(why)),
		"%s", why);
	ck_assert_int_eq(json_integer_value(json_object_get(o, "status")),
	                 refusals[_i].status);
	json_decref(of);
	json_decref(o);
}
END_TEST

/* All references lead somewhere, every parameter is explained, and operations have names of
 * their own. */
START_TEST(test_document)
{
	const json_t *schemas = schema_target(document, "#/components/schemas");
	char *text = json_dumps(document, 0);
	json_t *ids = json_object(), *path, *operation, *param;
	const char *at, *name, *method;
	size_t i;

	ck_assert_ptr_nonnull(schemas);
	for (at = text; (at = strstr(at, "\"$ref\": \"")) != NULL;) {
		char ref[128];
		at += strlen("\"$ref\": \"");
		snprintf(ref, sizeof(ref), "%.*s", (int)strcspn(at, "\""), at);
		ck_assert_msg(schema_target(document, ref) != NULL, "%s", ref);
	}
	json_object_foreach(json_object_get(document, "paths"), name, path)
	{
		json_object_foreach(path, method, operation)
		{
			const char *id = json_string_value(
				json_object_get(operation, "operationId"));

			ck_assert_msg(json_object_get(ids, id) == NULL, "%s twice", id);
			json_object_set_new(ids, id, json_true());
			json_array_foreach(json_object_get(operation, "parameters"), i,
			                   param)
			{
				const char *help = json_string_value(
					json_object_get(param, "description"));
				ck_assert_msg(help != NULL && help[0] != '\0',
				              "%s: parameter %s", name,
				              json_string_value(
						      json_object_get(param, "name")));
			}
		}
	}
	for (unsigned k = 0; k < api_resources.n; k++) {
		if (api_resources.row[k].answer != NULL) {
			json_t *type = schema_of_type(api_resources.row[k].answer);
			ck_assert_msg(type != NULL, "%s", api_resources.row[k].path);
			json_decref(type);
		}
	}
	json_decref(ids);
	free(text);
}
END_TEST

static const struct {
	const char *name, *members;
} objects[] = {
#define SCHEMA(name, members, help) { #name, members },
#include "gateway/api/resources.def"
};

/* The members "name:type name?:type" as names, those with ? left out when \a required. */
static json_t *names_of(const char *members, bool required)
{
	json_t *names = json_array();

	while (*members != '\0') {
		size_t n = strcspn(members, "?:");

		if (members[n] != '?' || !required) {
			json_array_append_new(names, json_stringn(members, n));
		}
		members += strcspn(members, " ");
		members += strspn(members, " ");
	}
	return names;
}

static json_t *keys_of(const json_t *o)
{
	json_t *names = json_array(), *value;
	const char *name;

	json_object_foreach((json_t *)o, name, value)
	{
		json_array_append_new(names, json_string(name));
	}
	return names;
}

/* A schema has these members, and demands these. */
static void check_members(const char *name, json_t *members, json_t *required)
{
	const json_t *schema =
		json_object_get(schema_target(document, "#/components/schemas"), name);
	json_t *has = keys_of(json_object_get(schema, "properties"));

	ck_assert_msg(json_equal(has, members), "%s", name);
	ck_assert_msg(json_equal(json_object_get(schema, "required"), required), "%s",
	              name);
	json_decref(has);
	json_decref(members);
	json_decref(required);
}

/* Every member is demanded but those that may be missing, and every field of a record is. */
START_TEST(test_required)
{
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		check_members(objects[i].name, names_of(objects[i].members, false),
		              names_of(objects[i].members, true));
	}
	for (unsigned i = 0; i < n_sa_attrs; i++) {
		const struct sa_attr *attr = sa_attrs[i];
		json_t *names = json_array();

		if (record_find(attr->name) != attr) {
			json_decref(names);
			continue;
		}
		attr = sa_reply_attr(attr);
		for (unsigned k = 0; k < attr->n_fields; k++) {
			char key[RECORD_KEY_MAX];

			if ((attr->fields[k].how & SA_HOW) != SA_RESERVED) {
				record_key(attr->fields[k].name, key);
				json_array_append_new(names, json_string(key));
			}
		}
		ck_assert_uint_gt(json_array_size(names), 0);
		check_members(attr->name, json_incref(names), names);
	}
}
END_TEST

static const struct {
	const char *type, *schema;
} types[] = {
	{ "uint", "{\"type\":\"integer\",\"minimum\":0}" },
	{ "text?", "{\"type\":[\"string\",\"null\"]}" },
	{ "[A]", "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/A\"}}" },
	{ "A?",
	  "{\"oneOf\":[{\"$ref\":\"#/components/schemas/A\"},{\"type\":\"null\"}]}" },
	{ "a|b?", "{\"type\":[\"string\",\"null\"],\"enum\":[\"a\",\"b\",null]}" },
	{ "[[bool]]?",
	  "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}}" },
	{ "{int}",
	  "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}" },
	{ "any", "{}" },
	{ "nonsense", NULL },
	{ "[uint", NULL },
	{ "uint]", NULL },
	{ "", NULL },
};

static const struct {
	const char *schema, *member, *help;
} fields[] = {
#define FIELD(schema, member, help) { #schema, #member, help },
#include "gateway/api/resources.def"
};

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

/* Each member of each answer says what it means. Records have no such texts. */
START_TEST(test_members_are_described)
{
	const json_t *all =
		json_object_get(json_object_get(document, "components"), "schemas");
	const char *name, *member;
	json_t *schema, *type;
	unsigned n = 0;

	json_object_foreach((json_t *)all, name, schema)
	{
		json_object_foreach(json_object_get(schema, "properties"), member, type)
		{
			const json_t *text = json_object_get(type, "description");

			if (json_object_get(schema, "description") == NULL) {
				continue;
			}
			ck_assert_msg(text != NULL, "%s.%s", name, member);
			ck_assert_str_eq(json_string_value(text),
			                 schema_member_help(api_resources.answers, name, member));
			n++;
		}
	}
	ck_assert_uint_gt(n, 500);
}
END_TEST

static bool has_own_row(const char *schema, const char *member)
{
	for (unsigned i = 0; i < N_FIELDS; i++) {
		if (strcmp(fields[i].schema, schema) == 0 &&
		    strcmp(fields[i].member, member) == 0) {
			return true;
		}
	}
	return false;
}

/* Each row of fields.def is of a member that there is, and there is no second one for it. */
START_TEST(test_rows_of_members)
{
	const json_t *all =
		json_object_get(json_object_get(document, "components"), "schemas");
	bool any = strcmp(fields[_i].schema, "ANY") == 0;
	unsigned users = 0;
	const char *name;
	json_t *schema;

	for (int i = 0; i < _i; i++) {
		ck_assert_msg(strcmp(fields[i].schema, fields[_i].schema) != 0 ||
		                      strcmp(fields[i].member, fields[_i].member) != 0,
		              "two rows for %s.%s", fields[_i].schema, fields[_i].member);
	}
	json_object_foreach((json_t *)all, name, schema)
	{
		bool here = any ? json_object_get(schema, "description") != NULL &&
		                            !has_own_row(name, fields[_i].member)
		                : strcmp(name, fields[_i].schema) == 0;

		users += here && json_object_get(json_object_get(schema, "properties"),
		                                 fields[_i].member) != NULL;
	}
	ck_assert_msg(users > 0, "no answer has %s.%s", fields[_i].schema,
	              fields[_i].member);
	ck_assert_int_ge((int)strlen(fields[_i].help), 3);
}
END_TEST

START_TEST(test_types)
{
	json_t *found = schema_of_type(types[_i].type);
	json_t *want =
		types[_i].schema != NULL ? json_loads(types[_i].schema, 0, NULL) : NULL;

	ck_assert_int_eq(found == NULL, types[_i].schema == NULL);
	ck_assert(found == NULL || json_equal(found, want));
	json_decref(found);
	json_decref(want);
}
END_TEST

/* What the list of counters says of a port, and which ports a filter leaves. */
START_TEST(test_counters)
{
	json_t *all = api_json(&thread, 200, "/v1/counters");
	json_t *history = api_json(&thread, 200, "/v1/counters?history=1");
	json_t *bad = api_json(&thread, 200, "/v1/counters?errors=1");
	const json_t *list = json_object_get(all, "counters"), *c = json_array_get(list, 0);

	/* the port that left has no name, so no row */
	ck_assert_int_eq(json_integer_value(json_object_get(all, "total")), 2);
	ck_assert_uint_eq(json_array_size(list), 2);
	ck_assert_str_eq(json_string_value(json_object_get(c, "name")), "sw-a");
	ck_assert_int_eq(json_integer_value(json_object_get(c, "port")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(c, "errors")), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(c, "value"),
	                                                    "symbol_errors")),
	                 3);
	ck_assert_uint_eq(json_object_size(json_object_get(c, "value")), PORT_COUNTERS);
	ck_assert_uint_eq(json_object_size(json_object_get(c, "rise")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(c, "saturated")), 2);
	ck_assert_ptr_null(json_object_get(c, "history"));
	c = json_array_get(list, 1);
	ck_assert_uint_eq(json_object_size(json_object_get(c, "value")), 3);
	ck_assert(json_is_null(json_object_get(c, "interval_seconds")));
	c = json_array_get(json_object_get(history, "counters"), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(c, "history")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(bad, "total")), 1);
	json_decref(all);
	json_decref(history);
	json_decref(bad);
	json_decref(api_json(&thread, 400, "/v1/counters?errors=2"));
	json_decref(api_json(&thread, 404, "/v1/counters?node=nobody"));
}
END_TEST

TEST_SUITE(openapi)
{
	TCase *t = tcase_create("openapi");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, test_every_resource);
	tcase_add_test(t, test_required_parameters);
	tcase_add_test(t, test_counters);
	tcase_add_test(t, test_clients_and_sweeps);
	tcase_add_test(t, test_records);
	tcase_add_loop_test(t, test_refusals, 0, sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(t, test_document);
	tcase_add_test(t, test_required);
	tcase_add_test(t, test_members_are_described);
	tcase_add_loop_test(t, test_rows_of_members, 0, N_FIELDS);
	tcase_add_loop_test(t, test_types, 0, sizeof(types) / sizeof(types[0]));
	suite_add_tcase(suite, t);
}
