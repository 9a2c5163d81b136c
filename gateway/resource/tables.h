/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The row of a resource, the same for both servers, and the tables that come from the rows:
 *
 *	RESOURCE(method, path, least role, flags, handler, how, parameters, body, answer, summary)
 *	PARAM(name, type, help)                                   in a path or in a query
 *	SCHEMA(Name, "member:type member:type ...", "what it is") an answer, with types as in schema.h
 *	FIELD(Schema, member, "what it means")                    the schema ANY: of all that have no row for the member
 *
 * The flags are those of enum resource_flag by the names below. The parameters are names of PARAM rows with
 * blanks between them; NULL: the handler knows them. "how" is what the row has for its server alone. Bodies and
 * answers are the words below, or those of the server.
 *
 * This is included in the one file of a server that defines its struct resources. Before, it defines RESOURCES_DEF,
 * the path of its rows in quotes, RESOURCE_HOW, the struct of "how", whose first member is the handler, and the
 * words that its rows use. It gets RESOURCE_ROWS for a struct resources, and RESOURCE_ANSWERS for a struct answers.
 */
#include "gateway/resource/fields.h"
#include "gateway/resource/resource.h"
#include "gateway/resource/schema.h"

/* clang-format off */
enum {
	ALL = 0, /* a role: everybody */
	CHANGE = RESOURCE_CHANGE, OPEN = RESOURCE_OPEN, VERSIONED = RESOURCE_VERSION, ETAG = RESOURCE_ETAG
};
#define NO_BODY { NULL }
#define BODY(type_, max_) { .type = type_, .max_bytes = max_ }
#define JSON(type_) .answer = type_, .status = 200
#define JSON_OR(type_, also_) .answer = type_, .also = also_, .status = 200
#define TEXT .status = 200
#define LINES .also = "application/x-ndjson", .status = 200

static const struct resource rows[] = {
#define RESOURCE(method_, path_, role_, flags_, handle_, how_, params_, body_, answer_, summary_) \
	{ .method = #method_, .path = path_, .role = role_, .flags = flags_, .params = params_, .body = body_, \
	  answer_, .summary = summary_, .how = &(const RESOURCE_HOW){ handle_, how_ } },
#include RESOURCES_DEF
};

static const struct resource_param params[] = {
#define PARAM(name, type, help) { #name, type, help },
#include RESOURCES_DEF
};

static const struct answer_schema schemas[] = {
#define SCHEMA(name, members, help) { #name, members, help },
#include RESOURCES_DEF
};

static const struct answer_member members[] = {
#define FIELD(schema, member, help) { #schema, #member, help },
#include RESOURCES_DEF
};

#define RESOURCE_ROWS \
	.row = rows, .n = sizeof(rows) / sizeof(rows[0]), .param = params, .n_params = sizeof(params) / sizeof(params[0])
#define RESOURCE_ANSWERS \
	.schema = schemas, .n_schemas = sizeof(schemas) / sizeof(schemas[0]), .member = members, \
	.n_members = sizeof(members) / sizeof(members[0])
/* clang-format on */
