/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

#include "conf/option.h"

#include "gateway/cli/client.h"

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
	const char *
		schema; /*!< of a row: "Link"; NULL: its fields are named to list_open() */
	const struct list_column *columns; /*!< NULL: \a print or \a below prints text */
	void (*below)(
		const json_t *
			row); /*!< prints lines below a row of the table, or the row; or NULL */
	client_print_f *print; /*!< prints a page as text, or NULL */
	void (*above)(
		const json_t *body); /*!< prints a line above the table, or NULL */
};

/* clang-format off */
/*! Rows of --csv and --field, over any struct of flags with these two members. */
#define LIST_ROWS(type_) \
	{ "csv", OPT_BOOL, offsetof(type_, csv), "FALSE", .flags_long = "csv", \
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "comma-separated values, with the names of the fields first" }, \
	{ "field", OPT_STRING, offsetof(type_, field), NULL, .flags_long = "field", \
	  .flags = OPT_CLI_ONLY, .arg = "NAME[,NAME...]", .help = "only these members of each element, with tabs between, for scripts; 'list' lists them" }
/* clang-format on */

/*! Rows over struct client_flags: --csv and --field. */
extern const struct option_row list_rows[];

/*!
 * \brief Reads what --json, --csv and --field ask for. Then rows may be printed, and
 * list_close() has to be called, which list_print() does.
 *
 * \param names  Fields of a row, where the list has no schema; the last is NULL. Borrowed.
 * \param ret_done  The names of the fields were asked for and printed.
 * \return EXIT_GOOD; EXIT_USAGE: there is no such field, with those that there are printed.
 */
int list_open(struct client *s, const struct list *l, const char *const *names,
              bool *ret_done);
void list_close(struct client *s);

/*! \brief Are rows to be printed as CSV or fields? */
bool list_of_fields(const struct client *s);

/*! \brief The names of the fields, if they are to be printed. */
void list_head(const struct client *s);
/*! \brief A row of fields. */
void list_row(const struct client *s, const json_t *row);

/*!
 * \brief Prints a list such as "/v1/links?node=x", all its pages.
 * \param target  NULL: out of memory.
 * \return As list_open() and client_print_list().
 */
int list_print(struct client *s, const struct list *l, const char *target);

/*! \brief The same for a list without a schema; \a names are its fields, as in list_open(). */
int list_print_named(struct client *s, const struct list *l, const char *const *names,
                     const char *target);

/*!
 * \brief The same for a list that is made here, without a fabric: its flags are read, and no origin is chosen.
 * \param body  Borrowed.
 */
int list_print_body(struct client *s, const struct list *l, const char *const *names,
                    const json_t *body);
