/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/text/dumptext.h"

struct arena;
struct diags;

/*!
 * A dump of forwarding tables (or of SLs) as read, before it is held against a fabric:
 * what GUIDs stand for, which ports exist and who has which LID now comes later. The
 * forms are those of lftfile.h.
 */

/*! Entries on lines that follow each other, with LIDs that follow each other. */
struct lft_dump_run {
	uint32_t lid;
	unsigned line;
	uint32_t n;
};

struct lft_dump_table {
	uint64_t guid;        /*!< of the switch */
	unsigned line;        /*!< of the header */
	uint32_t n;           /*!< highest LID + 1 */
	const uint8_t *value; /*!< [n] port or SL by LID; LFT_NO_ROUTE: no entry */
	const struct lft_dump_run *runs; /*!< [n_runs] */
	uint32_t n_runs;
};

struct lft_dump {
	const char *path; /*!< first: it is the object of an option, see conf/option.h */
	struct lft_dump_table *tables; /*!< [n_tables] in the order of the file */
	uint32_t n_tables;
	struct dump_lids lids;
	unsigned errors; /*!< bad lines; they are left out */
};

/*!
 * \brief Reads a dump.
 *
 * Bad lines go to \a d by file and line and are counted in ret->errors; what is good is
 * in \a ret_dump all the same, so that a caller can go on and find what else is wrong.
 *
 * \param is_sl    Values are SLs, 0 to 15.
 * \param max_lid  Highest LID that is no mistake, LID_LIMIT_MAX at most.
 * \retval -errno  The file cannot be read; also in \a d.
 */
int lft_dump_read(const char *path, bool is_sl, uint32_t max_lid, struct arena *a,
                  struct diags *d, struct lft_dump *ret_dump);

/*! \brief Line of a LID's entry in a table; that of the header when there is none. */
unsigned lft_dump_line(const struct lft_dump_table *t, uint32_t lid);
