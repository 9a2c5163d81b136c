/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

/*!
 * The audit log: one line of JSON for each change before it is asked for, with all of the
 * request, and one with its outcome, both with the same number. If the first one cannot be
 * written, the change is not asked for. Without a file, the log has the outcomes only.
 * Thread-safe.
 */
struct audit;

/*! \param path  NULL: none. \retval -errno */
int audit_new(const char *path, struct audit **ret_audit);
void audit_free(struct audit *a); /*!< NULL is fine */

/*! \brief Opens the file again, after a rotation. \retval -errno */
int audit_reopen(struct audit *a);

/*!
 * \brief Writes a line. \param line  Object; taken. Its time is set here.
 * \retval -errno
 */
int audit_write(struct audit *a, json_t *line);

/*! \brief Number of a new change. */
unsigned long long audit_number(struct audit *a);
