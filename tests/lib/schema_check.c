/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/schema_check.h"

#include <arpa/inet.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every keyword that is checked; another one in a schema fails, lest it be taken for checked. */
static const char *const keywords[] = { "type",
	                                "enum",
	                                "pattern",
	                                "minimum",
	                                "properties",
	                                "required",
	                                "items",
	                                "oneOf",
	                                "anyOf",
	                                "$ref",
	                                "format",
	                                "description",
	                                "additionalProperties" };

struct check {
	const json_t *root;
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static bool misfit(struct check *c, const char *fmt,
                                                         ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->why, c->size, fmt, ap);
	va_end(ap);
	return false;
}

const json_t *schema_target(const json_t *root, const char *ref)
{
	char part[128];

	if (strncmp(ref, "#/", 2) != 0) {
		return NULL;
	}
	for (ref += 2; root != NULL && *ref != '\0';) {
		size_t n = strcspn(ref, "/");

		snprintf(part, sizeof(part), "%.*s", (int)n, ref);
		root = json_object_get(root, part);
		ref += n + (ref[n] == '/');
	}
	return root;
}

static bool has_type(const json_t *value, const char *type)
{
	return strcmp(type, "null") == 0      ? json_is_null(value)
	       : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
	       : strcmp(type, "integer") == 0 ? json_is_integer(value)
	       : strcmp(type, "number") == 0  ? json_is_number(value)
	       : strcmp(type, "string") == 0  ? json_is_string(value)
	       : strcmp(type, "array") == 0   ? json_is_array(value)
	       : strcmp(type, "object") == 0  ? json_is_object(value)
	                                      : false;
}

static bool fits_type(const json_t *type, const json_t *value)
{
	json_t *one;
	size_t i;

	if (json_is_string(type)) {
		return has_type(value, json_string_value(type));
	}
	json_array_foreach((json_t *)type, i, one)
	{
		if (has_type(value, json_string_value(one))) {
			return true;
		}
	}
	return type == NULL;
}

static bool fits_enum(const json_t *list, const json_t *value)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)list, i, one)
	{
		if (json_equal(one, (json_t *)value)) {
			return true;
		}
	}
	return list == NULL;
}

static bool fits_pattern(const char *pattern, const char *text)
{
	regex_t re;

	if (pattern == NULL || text == NULL) {
		return true;
	}
	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
		return false;
	}
	bool fits = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return fits;
}

static bool fits_format(const char *format, const char *text)
{
	struct in6_addr address;

	if (format == NULL || text == NULL) {
		return true;
	}
	if (strcmp(format, "ipv6") == 0) {
		return inet_pton(AF_INET6, text, &address) == 1;
	}
	return strcmp(format, "date-time") == 0 &&
	       fits_pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
	                    text);
}

static bool fits(struct check *c, const json_t *schema, const json_t *value,
                 const char *at);

static bool fits_members(struct check *c, const json_t *schema, const json_t *value,
                         const char *at)
{
	const json_t *properties = json_object_get(schema, "properties");
	const json_t *others = json_object_get(schema, "additionalProperties");
	const char *name;
	json_t *one;
	char path[512];
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, one)
	{
		if (json_object_get(value, json_string_value(one)) == NULL) {
			return misfit(c, "%s has no member '%s'", at,
			              json_string_value(one));
		}
	}
	json_object_foreach((json_t *)value, name, one)
	{
		const json_t *type = json_object_get(properties, name);

		type = type != NULL ? type : others;
		if (type == NULL) {
			return misfit(c, "%s has a member '%s' that the schema has not",
			              at, name);
		}
		snprintf(path, sizeof(path), "%s.%s", at, name);
		if (!fits(c, type, one, path)) {
			return false;
		}
	}
	return true;
}

static bool fits_some(struct check *c, const json_t *list, const json_t *value,
                      const char *at)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)list, i, one)
	{
		if (fits(c, one, value, at)) {
			return true;
		}
	}
	return list == NULL;
}

static bool known_keywords(struct check *c, const json_t *schema, const char *at)
{
	const char *word;
	json_t *value;

	json_object_foreach((json_t *)schema, word, value)
	{
		size_t i = 0;

		while (i < sizeof(keywords) / sizeof(keywords[0]) &&
		       strcmp(word, keywords[i]) != 0) {
			i++;
		}
		if (i == sizeof(keywords) / sizeof(keywords[0])) {
			return misfit(c, "%s: the test does not know the keyword '%s'",
			              at, word);
		}
	}
	return true;
}

static bool fits(struct check *c, const json_t *schema, const json_t *value,
                 const char *at)
{
	const json_t *ref = json_object_get(schema, "$ref");
	const json_t *items = json_object_get(schema, "items"), *one;
	const json_t *minimum = json_object_get(schema, "minimum");
	char path[512];

	if (ref != NULL) {
		schema = schema_target(c->root, json_string_value(ref));
		return schema != NULL ? fits(c, schema, value, at)
		                      : misfit(c, "%s: there is no %s", at,
		                               json_string_value(ref));
	}
	if (!known_keywords(c, schema, at)) {
		return false;
	}
	if (!fits_type(json_object_get(schema, "type"), value) ||
	    !fits_enum(json_object_get(schema, "enum"), value) ||
	    !fits_pattern(json_string_value(json_object_get(schema, "pattern")),
	                  json_string_value(value)) ||
	    !fits_format(json_string_value(json_object_get(schema, "format")),
	                 json_string_value(value)) ||
	    (minimum != NULL && json_is_number(value) &&
	     json_number_value(value) < json_number_value(minimum))) {
		char *text = json_dumps(value, JSON_ENCODE_ANY);
		misfit(c, "%s: %.200s", at, text);
		free(text);
		return false;
	}
	for (size_t i = 0; items != NULL && (one = json_array_get(value, i)) != NULL;
	     i++) {
		snprintf(path, sizeof(path), "%s[%zu]", at, i);
		if (!fits(c, items, one, path)) {
			return false;
		}
	}
	if (!fits_some(c, json_object_get(schema, "anyOf"), value, at) ||
	    !fits_some(c, json_object_get(schema, "oneOf"), value, at)) {
		return false;
	}
	return !json_is_object(value) || json_object_get(schema, "type") == NULL ||
	       fits_members(c, schema, value, at);
}

bool schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                 const char *at, char *why, size_t size)
{
	struct check c = { .root = root, .why = why, .size = size };

	return fits(&c, schema, value, at);
}
