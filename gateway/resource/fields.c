/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/resource/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "gateway/view/json_text.h"
#include "gateway/view/problem.h"

/* A body being read. */
struct reading {
	struct arena *arena;
	struct problem *p;
	json_t *request;
	const char *membership; /* of members that have none of their own; NULL: none */
	const json_t *memberships; /* one for each GUID, or NULL */
};

static int complain(struct reading *r, int ret, const struct field *f, const char *what)
{
	return problem_param(r->p, r->arena, ret, f->name, "'%s' must be %s", f->name,
	                     what);
}

int fields_p_key(const char *text, uint16_t *ret_p_key)
{
	uint64_t number;

	if (text_u64(text, UINT16_MAX, &number) != E_OK || (number & P_KEY_BASE) == 0) {
		return E_SYNTAX;
	}
	*ret_p_key = (uint16_t)number;
	return E_OK;
}

json_t *fields_p_key_json(uint16_t p_key)
{
	return json_sprintf("0x%x", p_key);
}

static const char *membership_of(const json_t *value)
{
	static const char *const words[] = { "full", "limited", "both" };
	const char *text = json_string_value(value);

	for (unsigned i = 0; text != NULL && i < 3; i++) {
		if (strcmp(text, words[i]) == 0) {
			return words[i];
		}
	}
	return NULL;
}

static int read_p_key(struct reading *r, const struct field *f, const json_t *value)
{
	char number[24];
	uint16_t p_key;
	const char *text = json_string_value(value);

	if (json_is_integer(value)) {
		snprintf(number, sizeof(number), "%lld",
		         (long long)json_integer_value(value));
		text = number;
	}
	if (text == NULL || fields_p_key(text, &p_key) != E_OK) {
		return complain(
			r, E_SYNTAX, f,
			"a P_Key: a number or \"0x...\" of 16 bits, not 0 or 0x8000");
	}
	json_object_set_new(r->request, f->to, fields_p_key_json(p_key));
	return E_OK;
}

/* One member of a list: a GUID, or an object with one. */
static json_t *member_of(struct reading *r, const json_t *value, size_t i,
                         bool guids_only)
{
	const char *guid_text = json_string_value(value), *membership = r->membership;
	uint64_t guid;
	json_t *own = NULL;

	if (!guids_only && json_is_object(value)) {
		guid_text = json_string_value(json_object_get(value, "guid"));
		own = json_object_get(value, "membership");
		if (json_object_size(value) > (own != NULL ? 2U : 1U)) {
			return NULL;
		}
	} else if (r->memberships != NULL) {
		own = json_array_get(r->memberships, i);
	}
	if (own != NULL) {
		membership = membership_of(own);
	}
	if (guid_text == NULL || text_guid(guid_text, &guid) != E_OK || guid == 0 ||
	    (own != NULL && membership == NULL)) {
		return NULL;
	}
	json_t *o = json_pack("{s:o}", "guid", guid_json(guid));
	if (membership != NULL) {
		json_object_set_new(o, "membership", json_string(membership));
	}
	return o;
}

static int read_members(struct reading *r, const struct field *f, const json_t *value)
{
	size_t n = json_array_size(value);
	json_t *list;

	if (!json_is_array(value)) {
		return complain(r, E_SYNTAX, f, "a list of GUIDs");
	}
	if (n > FIELD_MEMBERS_MAX) {
		return problem_param(
			r->p, r->arena, E_RANGE, f->name,
			"'%s' has %zu elements; at most %d are accepted, send several requests",
			f->name, n, FIELD_MEMBERS_MAX);
	}
	if (r->memberships != NULL && json_array_size(r->memberships) != n) {
		return complain(r, E_SYNTAX, f, "as long as the list of memberships");
	}
	list = json_array();
	for (size_t i = 0; i < n; i++) {
		json_t *o =
			member_of(r, json_array_get(value, i), i, f->type == FIELD_GUIDS);

		if (o == NULL || json_array_append_new(list, o) != 0) {
			json_decref(list);
			return problem_param(
				r->p, r->arena, E_SYNTAX, f->name,
				"element %zu of '%s' must be a GUID of 16 hex digits%s",
				i, f->name,
				f->type == FIELD_GUIDS
					? ""
					: ", or an object with 'guid' and, if it is to differ, 'membership': full, limited or both");
		}
	}
	json_object_set_new(r->request, f->to, list);
	return E_OK;
}

static bool text_is_good(const json_t *value, size_t max)
{
	const char *text = json_string_value(value);

	return text != NULL && text[0] != '\0' && strlen(text) <= max &&
	       strlen(text) == json_string_length(value) &&
	       !text_has_control(text, strlen(text));
}

static int read_names(struct reading *r, const struct field *f, const json_t *value)
{
	size_t n = json_array_size(value);
	bool good = json_is_array(value) && n <= FIELD_MEMBERS_MAX;

	for (size_t i = 0; good && i < n; i++) {
		good = text_is_good(json_array_get(value, i), FIELD_NAME_MAX);
	}
	if (!good) {
		return complain(
			r, E_SYNTAX, f,
			"a list of at most 16384 names of 1-64 bytes without control characters");
	}
	return E_OK;
}

static int read_value(struct reading *r, const struct field *f, json_t *value)
{
	switch (f->type) {
	case FIELD_BOOL:
		if (!json_is_boolean(value)) {
			return complain(r, E_SYNTAX, f, "true or false");
		}
		break;
	case FIELD_TEXT:
		if (!text_is_good(value, FIELD_TEXT_MAX)) {
			return complain(
				r, E_SYNTAX, f,
				"a text of 1-256 bytes without control characters");
		}
		break;
	case FIELD_MEMBERSHIP:
		if (membership_of(value) == NULL) {
			return complain(r, E_SYNTAX, f, "full, limited or both");
		}
		break;
	case FIELD_P_KEY: return read_p_key(r, f, value);
	case FIELD_MEMBERS:
	case FIELD_GUIDS: return read_members(r, f, value);
	case FIELD_MEMBERSHIPS: return E_OK; /* with the list of GUIDs */
	case FIELD_NAMES: {
		int ret = read_names(r, f, value);

		if (ret != E_OK) {
			return ret;
		}
		break;
	}
	}
	if (f->to != NULL) {
		json_object_set(r->request, f->to, value);
	}
	return E_OK;
}

static const struct field *find_field(const struct field *fields, const char *name)
{
	for (const struct field *f = fields; f->name != NULL; f++) {
		if (strcmp(f->name, name) == 0) {
			return f;
		}
	}
	return NULL;
}

static int check_names(struct reading *r, const struct field *fields, json_t *body)
{
	const char *name;
	json_t *value;

	json_object_foreach(body, name, value)
	{
		if (find_field(fields, name) == NULL) {
			json_t *known = json_array();

			for (const struct field *f = fields; f->name != NULL; f++) {
				json_array_append_new(known, json_string(f->name));
			}
			problem_member(r->p, "known", known);
			return problem_set(
				r->p, r->arena, E_SYNTAX,
				"the body has a member '%.60s' that does not exist here; see 'known'",
				name);
		}
	}
	return E_OK;
}

/* Reads the members that apply to a whole list, before the list. */
static int read_defaults(struct reading *r, const struct field *fields, json_t *body)
{
	for (const struct field *f = fields; f->name != NULL; f++) {
		json_t *value = json_object_get(body, f->name);

		if (f->type == FIELD_MEMBERSHIP && value != NULL) {
			r->membership = membership_of(value);
		}
		if (f->type == FIELD_MEMBERSHIPS && value != NULL) {
			if (!json_is_array(value)) {
				return complain(r, E_SYNTAX, f,
				                "a list of full, limited or both");
			}
			r->memberships = value;
		}
	}
	return E_OK;
}

static int read_object(struct reading *r, const struct field *fields, json_t *body,
                       bool strict)
{
	int ret = strict ? check_names(r, fields, body) : E_OK;

	if (ret == E_OK) {
		ret = read_defaults(r, fields, body);
	}
	for (const struct field *f = fields; ret == E_OK && f->name != NULL; f++) {
		json_t *value = json_object_get(body, f->name);

		if (value != NULL && !(json_is_null(value) && !strict)) {
			ret = read_value(r, f, value);
		} else if ((f->flags & FIELD_REQUIRED) != 0) {
			ret = problem_param(r->p, r->arena, E_SYNTAX, f->name,
			                    "the body needs a member '%s': %s", f->name,
			                    f->help);
		}
	}
	return ret;
}

int fields_read(const struct field *fields, const char *body, size_t len, bool strict,
                struct arena *a, json_t *request, struct problem *p)
{
	struct reading r = { .arena = a, .p = p, .request = request };
	json_error_t error;
	json_t *o = len == 0 ? json_object()
	                     : json_loadb(body, len, JSON_REJECT_DUPLICATES, &error);
	int ret;

	if (o == NULL) {
		return len == 0 ? -ENOMEM
		                : problem_set(
					  p, a, E_SYNTAX,
					  "the body is not JSON: %s (line %d, column %d)",
					  error.text, error.line, error.column);
	}
	ret = json_is_object(o)
	              ? read_object(&r, fields, o, strict)
	              : problem_set(p, a, E_SYNTAX, "the body must be a JSON object");
	json_decref(o);
	return ret;
}

/* ---- schema ---- */

const char *fields_type_text(enum field_type type)
{
	switch (type) {
	case FIELD_BOOL: return "true or false";
	case FIELD_TEXT: return "text";
	case FIELD_P_KEY: return "P_Key as text or number";
	case FIELD_MEMBERSHIP: return "full, limited or both";
	case FIELD_MEMBERS:
		return "list of GUIDs, or of objects with guid and membership";
	case FIELD_GUIDS: return "list of GUIDs";
	case FIELD_MEMBERSHIPS: return "list of memberships";
	case FIELD_NAMES: return "list of names";
	}
	return "";
}

static json_t *membership_schema(void)
{
	return json_pack("{s:s, s:[s, s, s]}", "type", "string", "enum", "full",
	                 "limited", "both");
}

static json_t *guid_schema(void)
{
	return json_pack("{s:s, s:s}", "type", "string", "pattern",
	                 "^(0x)?[0-9a-fA-F]{1,16}$");
}

static json_t *list_schema(json_t *items)
{
	return json_pack("{s:s, s:i, s:o}", "type", "array", "maxItems",
	                 FIELD_MEMBERS_MAX, "items", items);
}

static json_t *field_schema(const struct field *f)
{
	json_t *o = NULL;

	switch (f->type) {
	case FIELD_BOOL: o = json_pack("{s:s}", "type", "boolean"); break;
	case FIELD_TEXT:
		o = json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1,
		              "maxLength", FIELD_TEXT_MAX);
		break;
	case FIELD_P_KEY:
		o = json_pack("{s:[{s:s, s:s}, {s:s, s:i, s:i}]}", "oneOf", "type",
		              "string", "pattern", "^0x[0-9a-fA-F]{1,4}$", "type",
		              "integer", "minimum", 1, "maximum", 65535);
		break;
	case FIELD_MEMBERSHIP: o = membership_schema(); break;
	case FIELD_MEMBERS:
		o = list_schema(json_pack("{s:[o, {s:s, s:[s], s:{s:o, s:o}}]}", "oneOf",
		                          guid_schema(), "type", "object", "required",
		                          "guid", "properties", "guid", guid_schema(),
		                          "membership", membership_schema()));
		break;
	case FIELD_GUIDS: o = list_schema(guid_schema()); break;
	case FIELD_MEMBERSHIPS: o = list_schema(membership_schema()); break;
	case FIELD_NAMES:
		o = list_schema(json_pack("{s:s, s:i, s:i}", "type", "string",
		                          "minLength", 1, "maxLength", FIELD_NAME_MAX));
		break;
	}
	json_object_set_new(o, "description", json_string(f->help));
	return o;
}

json_t *fields_schema(const struct field *fields)
{
	json_t *properties = json_object(), *required = json_array();

	for (const struct field *f = fields; f->name != NULL; f++) {
		json_object_set_new(properties, f->name, field_schema(f));
		if ((f->flags & FIELD_REQUIRED) != 0) {
			json_array_append_new(required, json_string(f->name));
		}
	}
	json_t *o = json_pack("{s:s, s:o}", "type", "object", "properties", properties);
	if (json_array_size(required) > 0) {
		json_object_set(o, "required", required);
	}
	json_decref(required);
	return o;
}
