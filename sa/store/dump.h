/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct diags;
struct sa_store;
struct state;

/*!
 * OpenSM's dump of client records (opensm-sa.dump): multicast groups with their members,
 * services, subscriptions, alias GUIDs. Because we read and write it, hosts need not register
 * again when Saguaro replaces OpenSM or the other way round.
 *
 * Lease times are seconds since 1970 in both.
 */
#define DUMP_FILE_NAME "opensm-sa.dump"

struct dump_counts {
	size_t groups, members, services, subscriptions; /*!< imported or exported */
	size_t kept;      /*!< already in the state: unchanged */
	size_t left_out;  /*!< groups whose MLID another group has, and their members; expired services; what a dump cannot represent */
	size_t guids;     /*!< blocks of alias GUIDs, imported or exported */
};

/*!
 * \brief Reads a dump into a store of its own.
 * \param path  For messages. \param d  Every bad line adds an error; reading continues with the next line.
 * \param st    Empty; its contents are undefined on failure.
 * \retval E_OK \retval E_SYNTAX \retval -ENOMEM
 */
int dump_read(const char *path, const char *text, size_t len, struct diags *d,
              struct sa_store *st, struct dump_counts *ret_counts);

/*!
 * \brief Copies the rows of a store that another store does not have. A group is left out if
 *        its MLID belongs to another group there.
 * \retval -ENOMEM \retval E_FULL
 */
int dump_merge(const struct sa_store *from, struct sa_store *to, struct dump_counts *counts);

/*! \brief Writes all of a store. Rows that the text cannot represent (a name with a line break) are
 * left out. */
void dump_write(FILE *f, const struct sa_store *st, uint64_t subnet_prefix,
                struct dump_counts *ret_counts);

/*!
 * \brief Imports the dump at \a path into the durable state. A bad line refuses the whole dump.
 *        The same content is imported only once, so that deleted records stay deleted.
 * \param ret_counts  All 0 if the content was imported before.
 * \retval -errno E_SYNTAX  The messages are in \a d. \retval others  The state cannot be read or written.
 */
int dump_import(struct state *state, const char *path, int64_t now, struct diags *d,
                struct dump_counts *ret_counts);

/*!
 * \brief Exports the state to \a dir / opensm-sa.dump. The file is replaced as a whole.
 *        dump_import() does not import its content later.
 */
int dump_export(struct state *state, const char *dir, int64_t now, uint64_t subnet_prefix,
                struct dump_counts *ret_counts);
