/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct body;
struct sa_attr;
struct sa_field;

/*!
 * Records of subnet administration as JSON and their components as query parameters, both
 * out of the rows of the attribute: nothing here knows any one of them.
 */
enum {
	RECORD_KEY_MAX = 64,
	RECORD_FIELDS_MAX = 64,
	RECORD_BYTES_MAX = 256 /*!< no record is longer */
};

/*! \brief Name of a component in snake case: "LinearFDBTop" is "linear_fdb_top". */
void record_key(const char *name, char ret_key[RECORD_KEY_MAX]);

/*! How the records of an attribute are written: components and keys, made once. */
struct record_form {
	unsigned n;
	struct record_member {
		const struct sa_field *field;
		uint8_t len;
		char key[RECORD_KEY_MAX + 8]; /*!< ,"key": */
	} member[RECORD_FIELDS_MAX];
};

void record_form(const struct sa_attr *attr, struct record_form *ret_form);

/*!
 * \brief Writes a record as an object; reserved components are left out. Out of memory:
 *        body_done() says so.
 * Cost: about half a microsecond for a PathRecord.
 */
void record_write(struct body *b, const struct record_form *form, const uint8_t *record);

/*! \brief What there is to know about an attribute: name, number, methods, components. */
json_t *record_schema(const struct sa_attr *attr);

/*! \brief Component by its name in either spelling. \return -1: none that can be asked for. */
int record_component(const struct sa_attr *attr, const char *name);

/*!
 * \brief Writes a component of a request from text: a number, a GUID, a GID, a description.
 * \retval E_SYNTAX E_RANGE  \a ret_expected says what it should have been.
 */
int record_ask(const struct sa_attr *attr, int component, const char *text, uint8_t *record,
               const char **ret_expected);

/*! \brief Attribute by name, in any case, with or without "Record". NULL: none for HTTP. */
const struct sa_attr *record_find(const char *name);
