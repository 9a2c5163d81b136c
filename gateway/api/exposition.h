/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct body;

/*!
 * Prometheus' text format 0.0.4. A family is its two lines of head and, without anything of
 * another family between them, its samples: name{label="value",...} number.
 */
#define EXPOSITION_TYPE "text/plain; version=0.0.4; charset=utf-8"

/*! \brief Head of a family. The name is \a prefix and \a name. */
void exposition_family(struct body *b, const char *prefix, const char *name,
                       const char *type, const char *help);

/*! \brief The number of a sample and the end of its line. */
void exposition_number(struct body *b, double v);

/*! \brief name="value", escaped and as UTF-8, because a host chooses its name; then \a after. \param value  NULL: empty. */
void exposition_label(struct body *b, const char *name, const char *value,
                      const char *after);
