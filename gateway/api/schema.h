/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

/*!
 * JSON Schemas (2020-12, as OpenAPI 3.1 wants them) of the bodies: those of schemas.def, and
 * one for each kind of records, made of the rows of its attribute.
 */

/*! \brief All schemas by name, for components.schemas. \return NULL: out of memory. */
json_t *schema_all(void);

/*!
 * \brief The schema of a type as schemas.def writes one.
 * \return NULL: it is not written like that, or out of memory.
 */
json_t *schema_of_type(const char *type);

/*! \brief What a member of a schema means, by fields.def. \return NULL: nothing is said. */
const char *schema_member_help(const char *schema, const char *member);

/*! \brief Reference to a schema by name. */
json_t *schema_ref(const char *name);
