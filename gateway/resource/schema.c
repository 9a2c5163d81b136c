/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/resource/schema.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 64 };

const char *schema_member_help(const struct answers *answers, const char *schema,
                               const char *member)
{
	const char *any = NULL;

	for (unsigned i = 0; i < answers->n_members; i++) {
		const struct answer_member *m = &answers->member[i];

		if (strcmp(m->member, member) != 0) {
			continue;
		}
		if (strcmp(m->schema, schema) == 0) {
			return m->help;
		}
		if (strcmp(m->schema, "ANY") == 0) {
			any = m->help;
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

static json_t *schema_object(const struct answers *answers, const char *name,
                             const char *members, const char *help)
{
	json_t *properties = json_object(), *required = json_array();

	while (*members != '\0') {
		size_t n = strcspn(members, ":");
		bool optional = n > 0 && members[n - 1] == '?';
		char member[WORD_MAX];

		snprintf(member, sizeof(member), "%.*s", (int)(n - optional), members);
		members += n + (members[n] == ':');
		json_t *type = parse_type(&members);
		if (type == NULL) {
			json_decref(properties);
			json_decref(required);
			return NULL;
		}
		const char *text = schema_member_help(answers, name, member);
		if (text != NULL) {
			json_object_set_new(type, "description", json_string(text));
		}
		json_object_set_new(properties, member, type);
		if (!optional) {
			json_array_append_new(required, json_string(member));
		}
		members += strspn(members, " ");
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "type", "object", "description", help,
	                 "properties", properties, "required", required);
}

json_t *schema_all(const struct answers *answers)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < answers->n_schemas; i++) {
		const struct answer_schema *row = &answers->schema[i];

		if (json_object_set_new(all, row->name,
		                        schema_object(answers, row->name, row->members,
		                                      row->help)) != 0) {
			json_decref(all);
			return NULL;
		}
	}
	if (answers->add != NULL) {
		answers->add(answers, all);
	}
	return all;
}
