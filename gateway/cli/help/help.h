/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdio.h>

struct arena;

/*!
 * Text about each command, from their table (commands.def): for `saguaro --help`, for the --help of a
 * command, and for manual pages.
 */

/*! \brief All commands by topic, a line each. */
void help_commands(FILE *f);

/*!
 * \brief The text of a command's --help: \a doc, and behind the flags its exit status.
 * \param program  "saguaro NAME", also with further words.
 * \return Arena string; \a doc where there is no such command or no memory.
 */
const char *help_doc(struct arena *a, const char *program, const char *doc);

/*!
 * \brief Refuses a command line: prints "PROGRAM: SENTENCE; try 'PROGRAM --help'" on standard error.
 * \return EXIT_USAGE
 */
int help_usage(const char *program, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*!
 * \brief The command that shows a resource of the HTTP API, "partition list" for "partitions" (\a len bytes).
 * \param ret_words  What follows the name, "" if nothing does.
 * \return Its name; NULL: no command shows it.
 */
const char *help_command_for(const char *resource, size_t len, const char **ret_words,
                             size_t *ret_words_len);

/*! \brief Prints what the exit status means, for a usage that no option parser prints. */
void help_print_exits(FILE *f, const char *program);

/*!
 * \brief saguaro manual ...: parts of manual pages, for the build.
 *
 * `commands`: all by topic for saguaro(1); `kinds`: those of saguaro topo; `name NAME`: what stands below NAME on
 * the page; `exit NAME`: below EXIT STATUS.
 */
int help_manual(int argc, char **argv);
