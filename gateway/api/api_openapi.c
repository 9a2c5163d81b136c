/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /openapi.json: the table of resources, the parameters and the schemas as OpenAPI 3.1. */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "gateway/api/api_call.h"
#include "gateway/api/schema.h"

static const struct {
	const char *name, *type, *help;
} params[] = {
#define PARAM(name, type, help) { #name, type, help },
#include "gateway/api/params.def"
#undef PARAM
};

static json_t *param_json(const char *name, size_t len, const char *in)
{
	const char *type = "text", *help = "";

	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		if (strlen(params[i].name) == len &&
		    memcmp(params[i].name, name, len) == 0) {
			type = params[i].type;
			help = params[i].help;
		}
	}
	return json_pack("{s:s%, s:s, s:b, s:s, s:o}", "name", name, len, "in", in,
	                 "required", strcmp(in, "path") == 0, "description", help,
	                 "schema", schema_of_type(type));
}

static json_t *params_json(const struct api_row *row)
{
	static const char *const of_records[] = { "limit", "cursor", "stream", "from",
		                                  NULL };
	const char *const *p = row->params != NULL ? row->params : of_records;
	json_t *list = json_array();

	for (const char *at = strchr(row->path, '{'); at != NULL;
	     at = strchr(at + 1, '{')) {
		json_array_append_new(list,
		                      param_json(at + 1, strcspn(at + 1, "}"), "path"));
	}
	for (; *p != NULL; p++) {
		json_array_append_new(list, param_json(*p, strlen(*p), "query"));
	}
	return list;
}

static bool has_param(const struct api_row *row, const char *name)
{
	const char *const *p = row->params;

	while (p != NULL && *p != NULL && strcmp(*p, name) != 0) {
		p++;
	}
	return p == NULL || *p != NULL;
}

static json_t *text_json_schema(void)
{
	return json_pack("{s:o}", "schema", schema_of_type("text"));
}

/* What an answer may be, by its media type. */
static json_t *content_json(const struct api_row *row)
{
	json_t *content = json_object();

	if (row->answer == NULL) {
		json_object_set_new(content, "text/plain", text_json_schema());
		return content;
	}
	json_object_set_new(content, "application/json",
	                    json_pack("{s:o}", "schema", schema_of_type(row->answer)));
	if (has_param(row, "stream") || has_param(row, "src")) {
		json_object_set_new(content, "application/x-ndjson", text_json_schema());
	}
	if (strcmp(row->path, "/") == 0) { /* the page: gateway/web */
		json_object_set_new(content, "text/html", text_json_schema());
	}
	if (row->handle == api_events) {
		json_object_set_new(content, "text/event-stream", text_json_schema());
	}
	return content;
}

static json_t *header_json(const char *help)
{
	return json_pack("{s:s, s:o}", "description", help, "schema",
	                 schema_of_type("text"));
}

static json_t *responses_json(const struct api_row *row)
{
	json_t *headers =
		json_pack("{s:o}", "Fabric-Epoch", header_json("epoch of the answer"));
	json_t *o = json_object();

	if (row->tables != 0 && api_body_type(row) == NULL) {
		json_object_set_new(
			headers, "ETag",
			header_json("changes with what the answer is made of"));
		json_object_set_new(
			o, "304",
			json_pack("{s:s}", "description", "it is as If-None-Match says"));
	}
	if (has_param(row, "cursor")) {
		json_object_set_new(headers, "Link",
		                    header_json("the next page, rel=next"));
	}
	json_object_set_new(o, "200",
	                    json_pack("{s:s, s:o, s:o}", "description", row->summary,
	                              "headers", headers, "content", content_json(row)));
	json_object_set_new(
		o, "default",
		json_pack("{s:s, s:{s:{s:o}}}", "description", "what is wrong", "content",
	                  "application/problem+json", "schema", schema_ref("Problem")));
	return o;
}

/* "/v1/nodes/{node}" as a name: v1_nodes_node. */
static const char *operation_id(const struct api_row *row, char *buf, size_t size)
{
	size_t n = 0;

	for (const char *p = row->path; *p != '\0' && n + 1 < size; p++) {
		if (isalnum((unsigned char)*p) || *p == '_') {
			buf[n++] = *p;
		} else if (n > 0 && buf[n - 1] != '_') {
			buf[n++] = '_';
		}
	}
	while (n > 0 && buf[n - 1] == '_') {
		n--;
	}
	buf[n] = '\0';
	return n > 0 ? buf : "index";
}

static json_t *paths_json(const struct api_rows *rows)
{
	json_t *paths = json_object();
	char id[128], method[16];

	for (unsigned i = 0; i < rows->n; i++) {
		const struct api_row *row = &rows->row[i];
		json_t *path = json_object_get(paths, row->path);
		size_t n = 0;

		for (; row->method[n] != '\0' && n + 1 < sizeof(method); n++) {
			method[n] = (char)tolower((unsigned char)row->method[n]);
		}
		method[n] = '\0';
		if (path == NULL) {
			path = json_object();
			json_object_set_new(paths, row->path, path);
		}
		json_t *o = json_pack("{s:s, s:s++, s:o, s:o}", "summary", row->summary,
		                      "operationId", method, "_",
		                      operation_id(row, id, sizeof(id)), "parameters",
		                      params_json(row), "responses", responses_json(row));
		if (api_body_type(row) != NULL) {
			json_object_set_new(o, "requestBody",
			                    json_pack("{s:b, s:{s:{}}}", "required", 1,
			                              "content", api_body_type(row)));
		}
		json_object_set_new(path, method, o);
	}
	return paths;
}

int api_openapi(struct api_call *c)
{
	json_t *schemas = schema_all();

	if (schemas == NULL) {
		return -ENOMEM;
	}
	body_json(&c->body,
	          json_pack("{s:s, s:{s:s, s:s, s:s, s:{s:s, s:s}}, s:o, s:{s:o}}",
	                    "openapi", "3.1.0", "info", "title", "Saguaro", "version",
	                    PACKAGE_VERSION, "description",
	                    "An InfiniBand or Omni-Path fabric as its subnet manager "
	                    "sees it. Every answer is of one epoch of the routing.",
	                    "license", "name", "BSD-2-Clause", "identifier",
	                    "BSD-2-Clause", "paths", paths_json(c->rows), "components",
	                    "schemas", schemas));
	return E_OK;
}
