/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

/*!
 * JSON Schemas (2020-12, as OpenAPI 3.1 wants them) of what answers hold, made of rows of text.
 *
 * A type is uint, int, number, bool, text, guid, gid, time or any; a|b|c is one of these words; [T]
 * is a list of T, {T} an object whose members are all T; a name with a capital is the schema of that name.
 * T? may be null. The members of a schema are "member:type member?:type", where the one with ? may be
 * missing.
 */
struct answers {
	const struct answer_schema {
		const char *name, *members, *help;
	} * schema;
	unsigned n_schemas;
	/*! Meanings of members; the schema "ANY" stands for those without a row of their own. */
	const struct answer_member {
		const char *schema, *member, *help;
	} * member;
	unsigned n_members;
	/*! Adds schemas that come from other tables; NULL: there are none. */
	void (*add)(const struct answers *answers, json_t *all);
};

/*! \brief All schemas by name, for components.schemas. \return NULL: out of memory. */
json_t *schema_all(const struct answers *answers);

/*! \brief The schema of a type. \return NULL: it is not written like that, or out of memory. */
json_t *schema_of_type(const char *type);

/*! \brief What a member of a schema means. \return NULL: nothing is said. */
const char *schema_member_help(const struct answers *answers, const char *schema,
                               const char *member);

/*! \brief Reference to a schema by name. */
json_t *schema_ref(const char *name);
