/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

struct option_row;
struct option_sets;

/*!
 * Options as the source of a manual page, on standard output. Programs of the build use it, so that
 * manual, --help and parser cannot disagree.
 */

/*! The only argument of a program of ours that prints its manual's part: SYNOPSIS and OPTIONS. */
#define OPTION_MAN_FLAG "--manual-source"

/*!
 * \brief An option with its help, values and default.
 * \param key_first  As a key of the file, not as a flag.
 */
void option_man_row(const struct option_row *row, bool key_first);

/*!
 * \brief Sections SYNOPSIS and OPTIONS of a program, by the options that have no heading. OPT_TASK
 * has a usage of its own.
 * \param program  A path, or "saguaro NAME"; the page has its last part.
 * \param args  Usage of the positional arguments, NULL: none.
 */
void option_man_page(const struct option_sets *s, const char *program, const char *args);
