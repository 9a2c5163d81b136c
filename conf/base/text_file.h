/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct diags;

/*!
 * Reading a whole file that an operator or another program wrote. The messages about failures, with
 * their remedies, are made here; the caller knows what the bytes mean.
 */
struct text_file_kind {
	const char *what; /*!< "a list of GUIDs", for messages */
	size_t max_bytes; /*!< what is larger is surely something else; SIZE_MAX: no limit
	                   */
	const char
		*usual; /*!< path where there may be none, which under another prefix is
	                   noted; NULL: there is no such place */
	const char *without; /*!< what it means that there is none elsewhere, which is
	                        warned of; NULL: that is an error */
	bool text_only; /*!< a file with a zero byte among its first ones is refused */
};

/*!
 * \brief Reads a file, a pipe or a device to its end.
 *
 * \param ret_text  \a ret_len bytes, zeros among them as they are, and a zero behind
 * them. Caller frees. NULL: there is no such file, and need not be (see above). \param d
 * Gets a sentence for every failure, with \a path as its place. \retval E_SYNTAX  Larger
 * than it may be, or binary data where text is expected. \retval -errno  It cannot be
 * read.
 *
 * Cost: one allocation for a regular file. Nothing is read of a regular file that is too
 * large, no more than the limit of anything else, and only the first 64 KiB of binary
 * data.
 */
int text_file_read(const char *path, const struct text_file_kind *kind, struct diags *d,
                   char **ret_text, size_t *ret_len);

/*!
 * \brief Is \a path the usual place of a file, or that of another installation: the same
 *        folder's name and file name at the end, as in /usr/local/etc/opensm/x?
 */
bool text_file_is_usual(const char *path, const char *usual);

/*! \brief Is there no such file? */
bool text_file_is_missing(const char *path);

/*! \brief Are \a len bytes from elsewhere as many as this kind may have? \retval E_SYNTAX
 * No; in \a d. */
int text_file_fits(const char *path, const struct text_file_kind *kind, size_t len,
                   struct diags *d);

/*!
 * \brief Writes a file so that it is never half written, also after a power cut: a temporary
 *        file beside it, "path.tmp", of mode 0600 gets its name when all is on disk.
 * \retval -errno  The file is as it was.
 */
int text_file_replace(const char *path, const char *text, size_t len);

/*! \brief Likewise, with a mode and a group of its own; (gid_t)-1: the group of the process. */
int text_file_replace_as(const char *path, const char *text, size_t len, mode_t mode,
                         gid_t group);

/*! \brief Says in \a d that a file cannot be read, why, and what helps. \param ret -errno
 */
void text_file_unreadable(const char *path, const char *what, int ret, struct diags *d);

/*! \brief Says in \a d that a file holds no text. */
void text_file_binary(const char *path, const char *what, struct diags *d);
