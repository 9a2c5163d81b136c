/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*!
 * Files that are cut short while they are mapped. The kernel sends SIGBUS to who reads a page
 * behind the end. A reader without LMDB lives on: such a page reads as zeros, which is no page
 * of a tree, and the fault is counted, so that what was read is thrown away. LMDB trusts its
 * pages, so a process that writes ends with a line in the log; its next start finds the damage.
 * Private to this room.
 */
struct cut_watch;

/*!
 * \brief Watches a map for reading from here on. It may be read from several threads.
 * \return NULL: too many are watched, so a fault in this one ends the process.
 */
struct cut_watch *cut_watch(const void *map, size_t bytes);
void cut_unwatch(struct cut_watch *w); /*!< before munmap(); NULL is fine */

/*! \brief Faults in the map so far. A read of memory. \param w  NULL: 0. */
uint64_t cut_count(const struct cut_watch *w);

/*!
 * \brief Maps the file again where pages were replaced by zeros.
 * \param fd  The file, mapped from its beginning.
 * \retval -errno
 */
int cut_mend(struct cut_watch *w, int fd);

/*! \brief From here on a fault in any other file that is mapped ends the process with a line in the log. */
void cut_end_process_on_fault(void);
