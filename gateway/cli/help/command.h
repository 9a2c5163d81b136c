/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * Commands of the `saguaro` program: one row of help/commands.def per command, each in a cmd_*.c file.
 *
 * Exit status of every command: EXIT_GOOD, EXIT_BAD when the answer is "no" (the proof
 * fails, no path, not ready), EXIT_USAGE for wrong usage or bad input, or when there is
 * nobody to ask; EXIT_STALE when the answer is good but stale, because the daemon is gone.
 */
enum command_exit { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_USAGE = 2, EXIT_STALE = 3 };

/*! \brief Calls \a use with the name of each command that begins so. */
void command_each(const char *prefix, int (*use)(const char *name));

/* argv[0] is "saguaro NAME" */
#define TOPIC(text)
#define COMMAND(name, ...) int cmd_##name(int argc, char **argv);
#include "gateway/cli/help/commands.def"
#undef TOPIC
#undef COMMAND
int cmd_complete(int argc, char **argv);
