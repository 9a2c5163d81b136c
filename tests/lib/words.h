/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"

/*!
 * \brief Splits a text at its spaces, as a shell splits a command without quotes.
 * \param ret_text  [room] Words, in \a a. Aborts where there are more.
 * \return How many.
 */
static inline int words_split(const char *text, struct arena *a, char **ret_text,
                              int room)
{
	char *save = NULL, *word = strtok_r(arena_strdup(a, text), " ", &save);
	int n = 0;

	for (; word != NULL; word = strtok_r(NULL, " ", &save)) {
		if (n == room) {
			abort();
		}
		ret_text[n++] = word;
	}
	return n;
}
