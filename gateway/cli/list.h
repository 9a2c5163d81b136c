/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

#include "conf/option.h"

struct client;

/*!
 * Lists of the running fabric as a table, as JSON, as CSV or as single fields. The fields of a row
 * are read from the schema of the answer (gateway/api/schemas.def), so a field that there
 * is not is refused, also where the list is empty.
 */
struct list_column {
	const char *title; /*!< NULL: the end */
	const char *path;  /*!< "a.name"; "a.name:a.port": both, with a colon between */
	int width;         /*!< below 0: flush left; the last column has none */
};

struct list {
	const char *member; /*!< of the answer: "links" */
	const char *schema; /*!< of a row: "Link" */
	const struct list_column *columns;
	void (*below)(
		const json_t *row); /*!< prints lines below a row of the table, or NULL */
};

/*! Rows over struct client_flags: --csv and --field. */
extern const struct option_row list_rows[];

/*!
 * \brief Prints a list such as "/v1/links?node=x", all its pages.
 * \param target  NULL: out of memory.
 * \return EXIT_GOOD; EXIT_USAGE: there is no such field, with those that there are printed;
 *         else as client_print_list().
 */
int list_print(struct client *s, const struct list *l, const char *target);
