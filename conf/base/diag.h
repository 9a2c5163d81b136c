/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct arena;

/*!
 * Diagnostics: every problem of an input (configuration, topology, table dump), not only
 * the first, each with file, line, offending text and what was expected.
 *
 * A reader adds to a list and goes on; its caller prints the list and decides.
 * Kept in an arena; at most DIAG_MAX are kept, the rest are counted.
 */
enum diag_level { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

enum { DIAG_MAX = 200 };

struct diag {
	enum diag_level level;
	const char *file; /*!< NULL: the command line or nothing */
	unsigned line;    /*!< 1-based, 0: no line */
	const char *text; /*!< one sentence, no full stop, no new line */
};

struct diags {
	struct arena *arena; /*!< borrowed; holds the texts */
	struct diag items[DIAG_MAX];
	unsigned n;          /*!< entries of items */
	unsigned n_errors;   /*!< all errors, also those not kept */
	unsigned n_warnings; /*!< likewise */
	const char *codes[DIAG_ERROR + 1]; /*!< of messages.def by level, NULL: none */
};

/*! \brief Empty list whose texts live in \a a. */
void diags_init(struct diags *d, struct arena *a);

/*! \brief Adds one problem. \a file is copied. A NULL \a d is allowed: nothing is kept. */
void diag_add(struct diags *d, enum diag_level level, const char *file, unsigned line,
              const char *fmt, ...) __attribute__((format(printf, 5, 6)));

enum { DIAG_PLACE_MAX = 512 };

/*! \brief Where it is: "file:line: ", "file: " or "", cut to \a size. \return \a buf. */
const char *diag_place(const struct diag *item, char *buf, size_t size);

/*! \brief Prints "file:line: error: text [code]" lines, most severe kinds only from \a least up. */
void diags_print(const struct diags *d, FILE *f, enum diag_level least);

/*! \brief Text of the first error, or "" when there is none. */
const char *diags_first_error(const struct diags *d);
