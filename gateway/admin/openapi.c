/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* The OpenAPI document, made of the table of resources. Source: OpenAPI Specification 3.1.0. */
#include <config.h>
#include <stdio.h>
#include <string.h>

#include "gateway/admin/door_call.h"

static json_t *problem_schema(void)
{
	return json_loads(
		"{\"type\": \"object\", \"required\": [\"type\", \"title\", \"status\"],"
		" \"properties\": {\"type\": {\"type\": \"string\", \"format\": \"uri\"},"
		" \"title\": {\"type\": \"string\"}, \"status\": {\"type\": \"integer\"},"
		" \"detail\": {\"type\": \"string\"}, \"parameter\": {\"type\": "
	        "\"string\"},"
		" \"code\": {\"type\": \"string\"}}}",
		0, NULL);
}

static json_t *security_schemes(void)
{
	return json_loads("{\"basic\": {\"type\": \"http\", \"scheme\": \"basic\"},"
	                  " \"bearer\": {\"type\": \"http\", \"scheme\": \"bearer\","
	                  " \"bearerFormat\": \"NAME.SECRET\"},"
	                  " \"certificate\": {\"type\": \"mutualTLS\"}}",
	                  0, NULL);
}

static json_t *parameter(const char *in, const char *name, size_t len, bool required)
{
	return json_pack("{s:s, s:s%, s:b, s:{s:s}}", "in", in, "name", name, len,
	                 "required", (int)required, "schema", "type", "string");
}

static json_t *parameters(const struct door_row *r)
{
	json_t *list = json_array();

	for (const char *p = strchr(r->path, '{'); p != NULL; p = strchr(p + 1, '{')) {
		json_array_append_new(
			list, parameter("path", p + 1, strcspn(p + 1, "}"), true));
	}
	for (const char *const *p = r->params; p != NULL && *p != NULL; p++) {
		json_array_append_new(list, parameter("query", *p, strlen(*p), false));
	}
	if ((r->flags & DOOR_VERSION) != 0) {
		const char *name =
			(r->flags & DOOR_CHANGE) != 0 ? "If-Match" : "If-None-Match";

		json_array_append_new(list,
		                      parameter("header", name, strlen(name), false));
	}
	return list;
}

static json_t *content(const char *type, json_t *schema)
{
	return json_pack("{s:{s:o}}", type, "schema", schema);
}

static json_t *responses(const struct door_row *r)
{
	json_t *good = json_pack("{s:s, s:o}", "description", "done", "content",
	                         content("application/json", json_object()));
	json_t *bad = json_pack(
		"{s:s, s:o}", "description", "a problem (RFC 9457)", "content",
		content("application/problem+json",
	                json_pack("{s:s}", "$ref", "#/components/schemas/problem")));
	json_t *o = json_pack("{s:o}", "default", bad);
	char status[8];

	if ((r->flags & DOOR_VERSION) != 0) {
		json_object_set_new(good, "headers",
		                    json_pack("{s:{s:s, s:{s:s}}}", "ETag", "description",
		                              "the version of the partitions", "schema",
		                              "type", "string"));
	}
	snprintf(status, sizeof(status), "%u", r->status);
	json_object_set_new(o, status, good);
	return o;
}

static json_t *operation(const struct door_row *r)
{
	json_t *o = json_pack("{s:s, s:o, s:o, s:s}", "summary", r->summary, "parameters",
	                      parameters(r), "responses", responses(r), "x-role",
	                      role_name(r->role));

	if (r->body != NULL) {
		json_t *schema = fields_schema(r->body);
		bool required = json_object_get(schema, "required") != NULL;

		if ((r->flags & DOOR_STRICT) != 0) {
			json_object_set_new(schema, "additionalProperties", json_false());
		}
		json_object_set_new(o, "requestBody",
		                    json_pack("{s:b, s:o}", "required", (int)required,
		                              "content",
		                              content("application/json", schema)));
	}
	if ((r->flags & DOOR_OPEN) != 0) {
		json_object_set_new(o, "security", json_array());
	}
	return o;
}

static const char *method_of(const struct door_row *r)
{
	static const char *const names[][2] = { { "GET", "get" },
		                                { "POST", "post" },
		                                { "PUT", "put" },
		                                { "DELETE", "delete" } };

	for (unsigned i = 0; i < 4; i++) {
		if (strcmp(names[i][0], r->method) == 0) {
			return names[i][1];
		}
	}
	return "trace"; /* no row has another method; a test looks */
}

json_t *openapi_document(const struct door_row *rows)
{
	json_t *paths = json_object();

	for (const struct door_row *r = rows; r->method != NULL; r++) {
		json_t *path = json_object_get(paths, r->path);

		if (path == NULL) {
			path = json_object();
			json_object_set_new(paths, r->path, path);
		}
		json_object_set_new(path, method_of(r), operation(r));
	}
	return json_pack("{s:s, s:{s:s, s:s, s:s}, s:o, s:[{s:[]}, {s:[]}, {s:[]}], "
	                 "s:{s:o, s:{s:o}}}",
	                 "openapi", "3.1.0", "info", "title", "saguaro-admin", "version",
	                 PACKAGE_VERSION, "description",
	                 "The write door of Saguaro. Below /NAME for a further fabric.",
	                 "paths", paths, "security", "basic", "bearer", "certificate",
	                 "components", "securitySchemes", security_schemes(), "schemas",
	                 "problem", problem_schema());
}
