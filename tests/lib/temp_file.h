/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"

/*!
 * What tests of files share: a file with a text, and what its reader said about it.
 */

void temp_file_write(const char *path, const char *text);

/*! \brief A new file. \return Its path, in \a a; the caller unlinks it. */
char *temp_file(const char *text, struct arena *a);

/*! A new folder for files that a test names without a path. */
struct temp_folder {
	char *path;
	char *home; /*!< the working folder before temp_folder_enter() */
};

void temp_folder_new(struct temp_folder *f);

/*! \brief Makes it the working folder, and back. */
void temp_folder_enter(const struct temp_folder *f);
void temp_folder_leave(const struct temp_folder *f);

/*! \brief Removes it with files of these names. \param names  NULL at the end; those that there are not are fine. */
void temp_folder_end(struct temp_folder *f, const char *const *names);

/*! \brief All problems so far as diags_print() prints them, in the list's arena; then
 * there are none. */
const char *take_problems(struct diags *d);
