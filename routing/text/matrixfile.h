/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "routing/text/dumptext.h"

struct arena;
struct diags;
struct graph;
struct hops;
struct lids;

/*!
 * Hop matrices ("lid matrices") as text, in the form that OpenSM dumps and its -M reads:
 * per switch a header "Switch: guid 0x<guid>", then per LID of a switch a line
 * "0x<lid>: <hops> <hops>... # portguid 0x<guid>": the least hops to that switch, then
 * the hops through port 1, 2, ... as two hex digits each, ff for none.
 */
#define MATRIX_NONE 0xff

struct matrix_dump_table {
	uint64_t guid;  /*!< of the switch */
	unsigned line;  /*!< of the header */
	uint32_t n;     /*!< rows */
	unsigned width; /*!< values per row; those that a line lacks are MATRIX_NONE */
	const uint32_t *lid;      /*!< [n] */
	const unsigned *row_line; /*!< [n] */
	const uint8_t *hops;      /*!< [n][width] */
};

/*! A dump as read, before it is held against a fabric. */
struct matrix_dump {
	const char *path; /*!< first: it is the object of an option, see conf/option.h */
	struct matrix_dump_table *tables; /*!< [n_tables] in the order of the file */
	uint32_t n_tables;
	struct dump_lids lids;
	unsigned errors; /*!< bad lines; they are left out */
};

/*!
 * \brief Reads a dump; see lft_dump_read() for how bad lines are treated.
 * \retval -errno  The file cannot be read; also in \a d.
 */
int matrix_dump_read(const char *path, struct arena *a, struct diags *d,
                     struct matrix_dump *ret_dump);

/*! \brief Writes the hops between all switches over all ports. \retval -EIO */
int matrixfile_write(const struct graph *g, const struct lids *lids,
                     const struct hops *hops, FILE *f);
