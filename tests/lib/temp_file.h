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

/*! \brief All problems so far as diags_print() prints them, in the list's arena; then
 * there are none. */
const char *take_problems(struct diags *d);
