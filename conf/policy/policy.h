/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * Policy files: paragraphs between a keyword and its end, each alone on a line, with lines
 * "name: value" in between; '#' comments and blank lines count for nothing.
 *
 *     port-group
 *     name: leaves
 *     port-guid: 0x10, 0x11
 *     end-port-group
 */
struct policy_field {
	const char *name, *value; /*!< without blanks around them */
	unsigned line;
};

struct policy_block {
	const struct policy_field *fields;
	unsigned n;
	unsigned line; /*!< of the keyword */
};

struct policy {
	const char *path;
	const struct policy_block *blocks;
	unsigned n;
};

/*!
 * \brief Reads a file of paragraphs of one kind.
 *
 * \param keyword  "port-group"; its end is "end-port-group".
 * \param known    Names that may stand in a paragraph, each once; NULL-terminated.
 * \retval E_SYNTAX  Every bad line is in \a d. \retval -errno
 */
int policy_read(const char *path, const char *keyword, const char *const *known,
                struct arena *a, struct diags *d, struct policy *ret_policy);

/*! \brief Value of a name in a paragraph, NULL: it is not there. */
const char *policy_value(const struct policy_block *b, const char *name);

/*! \brief Line of a name, or of the paragraph. */
unsigned policy_line(const struct policy_block *b, const char *name);

/*!
 * \brief The same as a number.
 * \param def  When the name is not there and not \a needed.
 * \retval E_SYNTAX  In \a d: missing, no number, or out of range.
 */
int policy_number(const struct policy *p, const struct policy_block *b, const char *name,
                  bool needed, uint32_t def, uint32_t min, uint32_t max, struct diags *d,
                  uint32_t *ret_number);
