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
 * OpenSM's dump of what clients wrote (opensm-sa.dump): multicast groups with their
 * members, services, subscriptions, alias GUIDs. Read, so that hosts need not register
 * again when OpenSM gave way to us; written, so that they need not the other way round.
 *
 * Times of a lease are seconds since 1970 on both sides.
 */
#define DUMP_FILE_NAME "opensm-sa.dump"

struct dump_counts {
	size_t groups, members, services, subscriptions; /*!< taken, or written */
	size_t kept;      /*!< there already: left as they are */
	size_t left_out;  /*!< groups whose MLID another group has, and their members; services that ran out; what a dump cannot hold */
	size_t guids;     /*!< blocks of alias GUIDs taken, or written */
};

/*!
 * \brief Reads a dump into a store of its own.
 * \param path  For messages. \param d  Every bad line is an error; the rest of the file is read on.
 * \param st    Empty; holds nothing of worth on failure.
 * \retval E_OK \retval E_SYNTAX \retval -ENOMEM
 */
int dump_read(const char *path, const char *text, size_t len, struct diags *d,
              struct sa_store *st, struct dump_counts *ret);

/*!
 * \brief Adds what a store has to another one, row by row, unless there already; a group
 *        whose MLID is another's there is left out.
 * \retval -ENOMEM \retval E_FULL
 */
int dump_merge(const struct sa_store *from, struct sa_store *to, struct dump_counts *counts);

/*! \brief Writes all of a store. What the form cannot hold (a name with a line break) is left out. */
void dump_write(FILE *f, const struct sa_store *st, uint64_t subnet_prefix,
                struct dump_counts *ret);

/*!
 * \brief Takes the dump at \a path into the durable state: all of it, or with a bad line
 *        nothing. The same content is taken once only: what was deleted since stays deleted.
 * \param ret  All 0 when it was taken before.
 * \retval -errno E_SYNTAX  Sentences are in \a d. \retval others  The state cannot be read or written.
 */
int dump_import(struct state *state, const char *path, int64_t now, struct diags *d,
                struct dump_counts *ret);

/*!
 * \brief Writes what the state has to \a dir / opensm-sa.dump, whole or not at all; that file is
 *        not taken by dump_import() then.
 */
int dump_export(struct state *state, const char *dir, int64_t now, uint64_t subnet_prefix,
                struct dump_counts *ret);
