/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/api/schema.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gateway/view/record_json.h"
#include "sa/record/attributes.h"

static const struct {
	const char *name, *members, *help;
} schemas[] = {
#define SCHEMA(name, members, help) { #name, members, help },
#include "gateway/api/schemas.def"
#undef SCHEMA
};

/* Meanings of members; the schema "ANY" stands for those without a row of their own. */
static const struct {
	const char *schema, *member, *help;
} fields[] = {
#define FIELD(schema, member, help) { #schema, #member, help },
#include "gateway/api/fields.def"
#undef FIELD
};

enum { N_SCHEMAS = sizeof(schemas) / sizeof(schemas[0]), WORD_MAX = 64 };

const char *schema_member_help(const char *schema, const char *member)
{
	const char *any = NULL;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(fields[i].member, member) != 0) {
			continue;
		}
		if (strcmp(fields[i].schema, schema) == 0) {
			return fields[i].help;
		}
		if (strcmp(fields[i].schema, "ANY") == 0) {
			any = fields[i].help;
		}
	}
	return any;
}

json_t *schema_ref(const char *name)
{
	return json_pack("{s:s+}", "$ref", "#/components/schemas/", name);
}

/* A word that names a type of its own. NULL: it does not. */
static json_t *simple_type(const char *word)
{
	static const struct {
		const char *word, *json;
	} types[] = {
		{ "uint", "{\"type\":\"integer\",\"minimum\":0}" },
		{ "int", "{\"type\":\"integer\"}" },
		{ "number", "{\"type\":\"number\"}" },
		{ "bool", "{\"type\":\"boolean\"}" },
		{ "text", "{\"type\":\"string\"}" },
		{ "guid", "{\"type\":\"string\",\"pattern\":\"^0x[0-9a-f]{16}$\"}" },
		{ "gid", "{\"type\":\"string\",\"format\":\"ipv6\"}" },
		{ "time", "{\"type\":\"string\",\"format\":\"date-time\"}" },
		{ "any", "{}" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(word, types[i].word) == 0) {
			return json_loads(types[i].json, 0, NULL);
		}
	}
	return NULL;
}

/* "a|b|c" */
static json_t *one_of_words(const char *words)
{
	json_t *list = json_array();

	while (*words != '\0') {
		size_t n = strcspn(words, "|");

		json_array_append_new(list, json_stringn(words, n));
		words += n + (words[n] == '|');
	}
	return json_pack("{s:s, s:o}", "type", "string", "enum", list);
}

static json_t *or_null(json_t *type)
{
	json_t *word = json_object_get(type, "type"),
	       *words = json_object_get(type, "enum");

	if (type == NULL || json_object_size(type) == 0) {
		return type; /* any */
	}
	if (word == NULL) {
		return json_pack("{s:[o,{s:s}]}", "oneOf", type, "type", "null");
	}
	json_object_set_new(type, "type", json_pack("[O,s]", word, "null"));
	if (words != NULL) {
		json_array_append_new(words, json_null());
	}
	return type;
}

static json_t *parse_type(const char **at);

/* The type between brackets. */
static json_t *parse_inner(const char **at, char close)
{
	json_t *inner;

	++*at;
	inner = parse_type(at);
	if (inner == NULL || **at != close) {
		json_decref(inner);
		return NULL;
	}
	++*at;
	return inner;
}

static json_t *parse_word(const char **at)
{
	size_t n = strcspn(*at, " ?]}");
	char word[WORD_MAX * 2];

	if (n == 0 || n >= sizeof(word)) {
		return NULL;
	}
	memcpy(word, *at, n);
	word[n] = '\0';
	*at += n;
	if (isupper((unsigned char)word[0])) {
		return schema_ref(word);
	}
	return strchr(word, '|') != NULL ? one_of_words(word) : simple_type(word);
}

static json_t *parse_type(const char **at)
{
	json_t *type;

	if (**at == '[') {
		type = json_pack("{s:s, s:o}", "type", "array", "items",
		                 parse_inner(at, ']'));
	} else if (**at == '{') {
		type = json_pack("{s:s, s:o}", "type", "object", "additionalProperties",
		                 parse_inner(at, '}'));
	} else {
		type = parse_word(at);
	}
	if (type != NULL && **at == '?') {
		++*at;
		type = or_null(type);
	}
	return type;
}

json_t *schema_of_type(const char *type)
{
	json_t *o = parse_type(&type);

	if (o != NULL && *type != '\0') {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* "member:type member?:type" */
static json_t *object_schema(const char *schema, const char *members, const char *help)
{
	json_t *properties = json_object(), *required = json_array();

	while (*members != '\0') {
		size_t n = strcspn(members, ":");
		bool optional = n > 0 && members[n - 1] == '?';
		char name[WORD_MAX];

		snprintf(name, sizeof(name), "%.*s", (int)(n - optional), members);
		members += n + (members[n] == ':');
		json_t *type = parse_type(&members);
		if (type == NULL) {
			json_decref(properties);
			json_decref(required);
			return NULL;
		}
		const char *text = schema_member_help(schema, name);
		if (text != NULL) {
			json_object_set_new(type, "description", json_string(text));
		}
		json_object_set_new(properties, name, type);
		if (!optional) {
			json_array_append_new(required, json_string(name));
		}
		members += strspn(members, " ");
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "type", "object", "description", help,
	                 "properties", properties, "required", required);
}

/* --- records --------------------------------------------------------------------------- */

static json_t *component_schema(const struct sa_field *f)
{
	enum { GID_BITS = 128, GUID_BITS_MIN = 54 };

	switch (f->how & SA_FORM) {
	case SA_TEXT: return schema_of_type("text");
	case SA_LIST4:
	case SA_LIST8:
	case SA_LIST16: return schema_of_type("[uint]");
	case SA_PAIRS: return schema_of_type("[[uint]]");
	default: break;
	}
	return schema_of_type(f->width == GID_BITS        ? "gid"
	                      : f->width >= GUID_BITS_MIN ? "guid"
	                                                  : "uint");
}

static json_t *record_schema_of(const struct sa_attr *attr)
{
	json_t *properties = json_object(), *required = json_array();
	char key[RECORD_KEY_MAX];

	for (unsigned i = 0; i < attr->n_fields; i++) {
		if ((attr->fields[i].how & SA_HOW) != SA_RESERVED) {
			record_key(attr->fields[i].name, key);
			json_object_set_new(properties, key,
			                    component_schema(&attr->fields[i]));
			json_array_append_new(required, json_string(key));
		}
	}
	return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties,
	                 "required", required);
}

/* The answer to /v1/records/{name}, and a schema for each kind of records. */
static void add_records(json_t *all)
{
	json_t *list = object_schema("RecordList",
	                             "epoch:uint stale?:bool name:text warning?:text "
	                             "records:[any] next_cursor?:text",
	                             "records of subnet administration");
	json_t *kinds = json_array();

	for (unsigned i = 0; i < n_sa_attrs; i++) {
		const struct sa_attr *attr = sa_attrs[i];

		if (record_find(attr->name) != attr) {
			continue;
		}
		attr = sa_reply_attr(attr);
		if (json_object_get(all, attr->name) == NULL) {
			json_object_set_new(all, attr->name, record_schema_of(attr));
			json_array_append_new(kinds, schema_ref(attr->name));
		}
	}
	json_t *records = json_object_get(json_object_get(list, "properties"), "records");
	json_object_set_new(records, "items", json_pack("{s:o}", "anyOf", kinds));
	json_object_set_new(all, "RecordList", list);
}

json_t *schema_all(void)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < N_SCHEMAS; i++) {
		if (json_object_set_new(all, schemas[i].name,
		                        object_schema(schemas[i].name, schemas[i].members,
		                                      schemas[i].help)) != 0) {
			json_decref(all);
			return NULL;
		}
	}
	add_records(all);
	return all;
}
