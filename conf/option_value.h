/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "conf/option.h"

/*!
 * What the files of the option table share. Used inside conf/ only.
 */

/*!
 * \brief Stores \a value in the row's member of \a base; nothing for OPT_IGNORED.
 *
 * A file that is named is read, and what is wrong inside goes nowhere: use
 * option_store_file() to see it.
 *
 * \retval E_SYNTAX E_RANGE -ENOMEM -errno  The member is unchanged.
 */
int option_store(const struct option_row *row, void *base, struct arena *a,
                 const char *value);

/*! A file that a set before this one has read, for the sets that share its key. */
struct option_read {
	option_read_f *by; /*!< NULL: none yet */
	const void *file;
};

/*! \brief Does the row name a file that is read when the value is stored? */
bool option_is_file(const struct option_row *row);

/*! \brief Does the reader of such a row put up with a file that is not there? */
bool option_may_lack_file(const struct option_row *row, const char *path, struct arena *a);

/*! \brief Is it the usual place of such a file, where a missing one means nothing special? */
bool option_is_usual_place(const struct option_row *row, const char *path, struct arena *a);

/*! \brief option_store() for such a row, with all problems of the file in \a d. */
int option_store_file(const struct option_row *row, void *base, struct arena *a,
                      const char *value, struct diags *d, struct option_read *done);

/*! \brief Remembers where the value of a row comes from, for problems that show later. */
void option_place(const struct option_row *row, void *base, const char *what,
                  const char *file, unsigned line);

/*! \brief Lines of the \a n names of a list in each set that has the key; no effect where it has others. */
void option_place_names(const struct option_sets *s, const char *key,
                        const unsigned *lines, uint32_t n);

/*! \brief The list of a row of device groups. \return NULL: no such row, or no value */
struct device_list *option_list(const struct option_row *row, void *base);

/*! \brief What option_store() accepts for this row ("a number from 0 to 7"). Arena
 * string. */
const char *option_expected(const struct option_row *row, struct arena *a);

/*! \brief Is it the word that stands for "no value"? */
bool option_is_null(const char *value);

/*! \brief A value of OPT_BOOL. \retval E_SYNTAX */
int option_parse_bool(const char *value, bool *ret_value);

/*! \brief Rows of all sets. */
unsigned option_count(const struct option_sets *s);

/*! \brief Position of a row among the rows of all sets; it must be one of them. */
unsigned option_index(const struct option_sets *s, const struct option_row *row);
