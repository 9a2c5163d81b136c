/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/resource/openapi.h"

#include <config.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gateway/resource/fields.h"
#include "gateway/resource/resource.h"
#include "gateway/resource/schema.h"

static json_t *param_json(const struct resources *set, const char *in, const char *name,
                          size_t len)
{
	const struct resource_param unknown = { .type = "text", .help = "" }, *p = &unknown;

	for (unsigned i = 0; i < set->n_params; i++) {
		if (strlen(set->param[i].name) == len &&
		    memcmp(set->param[i].name, name, len) == 0) {
			p = &set->param[i];
		}
	}
	return json_pack("{s:s%, s:s, s:b, s:s, s:o}", "name", name, len, "in", in,
	                 "required", strcmp(in, "path") == 0, "description", p->help,
	                 "schema", schema_of_type(p->type));
}

static json_t *header_param(const char *name, const char *help)
{
	return json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", name, "in", "header",
	                 "required", 0, "description", help, "schema",
	                 schema_of_type("text"));
}

static json_t *params_json(const struct resources *set, const struct resource *row)
{
	/* of a row whose handler knows the others, which are components of records */
	const char *names = row->params != NULL ? row->params : "limit cursor stream from";
	json_t *list = json_array();

	for (const char *at = strchr(row->path, '{'); at != NULL;
	     at = strchr(at + 1, '{')) {
		json_array_append_new(
			list, param_json(set, "path", at + 1, strcspn(at + 1, "}")));
	}
	for (const char *at = names; *at != '\0';) {
		size_t n = strcspn(at, " ");

		json_array_append_new(list, param_json(set, "query", at, n));
		at += n + (at[n] == ' ');
	}
	if ((row->flags & RESOURCE_VERSION) != 0) {
		json_array_append_new(
			list,
			(row->flags & RESOURCE_CHANGE) != 0
				? header_param(
					  "If-Match",
					  "ETag of an earlier answer: refuse the change with 412 if it is another one now")
				: header_param(
					  "If-None-Match",
					  "ETag of an earlier answer: answer 304 if it is the same still"));
	}
	return list;
}

static json_t *text_content(void)
{
	return json_pack("{s:o}", "schema", schema_of_type("text"));
}

/* What an answer may be, by its media type. */
static json_t *content_json(const struct resource *row)
{
	json_t *content = json_object();

	if (row->answer != NULL) {
		json_object_set_new(content, "application/json",
		                    json_pack("{s:o}", "schema",
		                              schema_of_type(row->answer)));
	} else if (row->also == NULL) {
		json_object_set_new(content, "text/plain", text_content());
	}
	if (row->also != NULL) {
		json_object_set_new(content, row->also, text_content());
	}
	return content;
}

static void add_header(json_t *headers, const char *name, const char *help)
{
	json_object_set_new(headers, name,
	                    json_pack("{s:s, s:o}", "description", help, "schema",
	                              schema_of_type("text")));
}

static json_t *responses_json(const struct resources *set, const struct resource *row)
{
	bool change = (row->flags & RESOURCE_CHANGE) != 0;
	bool tagged = (row->flags & (RESOURCE_ETAG | RESOURCE_VERSION)) != 0;
	json_t *headers = json_object(), *o = json_object();
	char status[8];

	if (set->has_epoch) {
		add_header(headers, "Fabric-Epoch", "epoch of the answer");
	}
	if (tagged) {
		add_header(headers, "ETag", set->etag);
	}
	if (tagged && !change) {
		json_object_set_new(
			o, "304",
			json_pack("{s:s}", "description", "it is as If-None-Match says"));
	}
	if (resource_lists(row->params, "cursor", 6) || row->params == NULL) {
		add_header(headers, "Link", "the next page, rel=next");
	}
	json_t *good = json_pack("{s:s, s:o}", "description", row->summary, "content",
	                         content_json(row));
	if (json_object_size(headers) > 0) {
		json_object_set(good, "headers", headers);
	}
	json_decref(headers);
	snprintf(status, sizeof(status), "%u", row->status);
	json_object_set_new(o, status, good);
	json_object_set_new(
		o, "default",
		json_pack("{s:s, s:{s:{s:o}}}", "description", "what is wrong", "content",
	                  "application/problem+json", "schema", schema_ref("Problem")));
	return o;
}

static json_t *body_json_schema(const struct resource_body *body)
{
	json_t *media = json_object(), *schema;
	bool required = true;

	if (body->fields != NULL) {
		schema = fields_schema(body->fields);
		required = json_object_get(schema, "required") != NULL;
		if (body->strict) {
			json_object_set_new(schema, "additionalProperties", json_false());
		}
		json_object_set_new(media, "schema", schema);
	}
	return json_pack("{s:b, s:{s:o}}", "required", (int)required, "content",
	                 body->type, media);
}

/* "/v1/nodes/{node}" as a name: v1_nodes_node. */
static const char *path_name(const char *path, char *buf, size_t size)
{
	size_t n = 0;

	for (; *path != '\0' && n + 1 < size; path++) {
		if (isalnum((unsigned char)*path) || *path == '_') {
			buf[n++] = *path;
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

static json_t *operation_json(const struct resources *set, const struct resource *row,
                              const char *method)
{
	char name[128];
	json_t *o = json_pack("{s:s, s:s++, s:o, s:o}", "summary", row->summary,
	                      "operationId", method, "_",
	                      path_name(row->path, name, sizeof(name)), "parameters",
	                      params_json(set, row), "responses",
	                      responses_json(set, row));

	if (row->body.type != NULL) {
		json_object_set_new(o, "requestBody", body_json_schema(&row->body));
	}
	if (set->role_name != NULL && (row->flags & RESOURCE_OPEN) != 0) {
		json_object_set_new(o, "security", json_array());
	} else if (set->role_name != NULL) {
		json_object_set_new(o, "x-role", json_string(set->role_name(row->role)));
	}
	return o;
}

static json_t *paths_json(const struct resources *set)
{
	json_t *paths = json_object();
	char method[16];

	for (unsigned i = 0; i < set->n; i++) {
		const struct resource *row = &set->row[i];
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
		json_object_set_new(path, method, operation_json(set, row, method));
	}
	return paths;
}

static json_t *security_schemes(void)
{
	return json_pack("{s:{s:s, s:s}, s:{s:s, s:s, s:s}, s:{s:s}}", "basic", "type",
	                 "http", "scheme", "basic", "bearer", "type", "http", "scheme",
	                 "bearer", "bearerFormat", "NAME.SECRET", "certificate", "type",
	                 "mutualTLS");
}

json_t *openapi_document(const struct resources *set)
{
	json_t *schemas = schema_all(set->answers);
	json_t *document;

	if (schemas == NULL) {
		return NULL;
	}
	document = json_pack("{s:s, s:{s:s, s:s, s:s, s:{s:s, s:s}}, s:o, s:{s:o}}",
	                     "openapi", "3.1.0", "info", "title", set->title, "version",
	                     PACKAGE_VERSION, "description", set->description, "license",
	                     "name", "BSD-2-Clause", "identifier", "BSD-2-Clause",
	                     "paths", paths_json(set), "components", "schemas", schemas);
	if (document != NULL && set->role_name != NULL) {
		json_object_set_new(document, "security",
		                    json_pack("[{s:[]}, {s:[]}, {s:[]}]", "basic",
		                              "bearer", "certificate"));
		json_object_set_new(json_object_get(document, "components"),
		                    "securitySchemes", security_schemes());
	}
	return document;
}
