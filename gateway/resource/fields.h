/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct problem;

/*!
 * Members of a request body, as rows. From them follow the checks of a body, the request to
 * saguarod, and the schema in the OpenAPI document.
 */
enum field_type {
	FIELD_BOOL,
	FIELD_TEXT,
	FIELD_P_KEY,      /*!< "0x8001" or a number */
	FIELD_MEMBERSHIP, /*!< full, limited, both */
	FIELD_MEMBERS,    /*!< list of {"guid", "membership"} or of GUIDs */
	FIELD_GUIDS,      /*!< list of GUIDs */
	FIELD_MEMBERSHIPS, /*!< list of memberships, one for each GUID of FIELD_GUIDS */
	FIELD_NAMES        /*!< list of names of hosts */
};

enum field_flag { FIELD_REQUIRED = 1 };

struct field {
	const char *name; /*!< NULL ends a table */
	enum field_type type;
	unsigned flags;
	const char *to;   /*!< member of the request to saguarod; NULL: part of another */
	const char *help; /*!< one line for the document */
};

enum { FIELD_MEMBERS_MAX = 16384, FIELD_TEXT_MAX = 256, FIELD_NAME_MAX = 64 };

/*! \brief P_Key of a text: "0x8001". \retval E_SYNTAX  It is none, or its base is 0. */
int fields_p_key(const char *text, uint16_t *ret_p_key);

/*! \brief "0x8001", as saguarod expects it. */
json_t *fields_p_key_json(uint16_t p_key);

/*!
 * \brief Checks a body and adds its members to a request.
 *
 * \param body     "" counts as {}.
 * \param strict   A member that has no row is an error; else it is ignored.
 * \param request  Object; members are added under the names \a to.
 * \param p        Filled on failure; its parameter is the member at fault.
 * \retval E_SYNTAX \retval E_RANGE \retval -ENOMEM
 */
int fields_read(const struct field *fields, const char *body, size_t len, bool strict,
                struct arena *a, json_t *request, struct problem *p);

/*! \brief A type in words, for manual pages. */
const char *fields_type_text(enum field_type type);

/*! \brief JSON schema of a body. */
json_t *fields_schema(const struct field *fields);
