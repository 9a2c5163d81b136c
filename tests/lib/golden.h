/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*!
 * Files of tests/golden: what the code did when somebody looked at it last. A test that
 * writes the same again notices every change, meant or not. `make golden` writes the
 * files anew, and their difference is to be read as code is: a sum that changed says
 * only where to look, so a change that is meant is known from the other tests of its
 * folder.
 */
struct golden {
	FILE *f;    /*!< the test writes its lines here */
	char *path; /*!< absolute */
	char *text;
	size_t len;
};

/*! \brief Begins a file. \a name is its path below tests/golden. */
void golden_begin(struct golden *g, const char *name);

/*! \brief Fails unless the lines are those of the file; with GOLDEN=write in the
 * environment they become it. */
void golden_end(struct golden *g);

/*! \brief Is GOLDEN=write in the environment? */
bool golden_writes(void);

/*! \brief Path of a file, absolute; malloc. */
char *golden_path(const char *name);

/*! \brief A file as text; malloc. Empty where there is none and golden_writes(). */
char *golden_read(const char *path);

void golden_write(const char *path, const char *text);

/*! \brief The first line that differs, in both texts; of the last call. */
const char *golden_difference(const char *is, const char *want);

#define GOLDEN_SUM UINT64_C(0xcbf29ce484222325) /*!< of nothing */

/*! \brief Sum of some bytes behind others; the same on every machine. */
uint64_t golden_sum(uint64_t sum, const void *data, size_t len);

/*! \brief The same of a number, and of a text; NULL is another text than "". */
uint64_t golden_sum_number(uint64_t sum, uint64_t n);
uint64_t golden_sum_text(uint64_t sum, const char *text);

/*!
 * \brief A text with a few faults, as hands make them: bytes changed, words and lines
 * doubled or left out, the end missing.
 * \return malloc, with a NUL behind it; \a ret_len bytes.
 */
char *golden_damage(const char *text, size_t len, uint64_t *state, size_t *ret_len);
