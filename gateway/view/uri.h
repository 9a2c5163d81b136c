/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct problem;

/*!
 * Request target: "/v1/nodes/0x1?limit=5" cut into decoded path segments and query
 * parameters. Pure: text in, struct out. Source: RFC 3986; in the query '+' is a blank,
 * as browsers write forms.
 */
enum {
	URI_MAX = 8192,      /*!< longest target */
	URI_VALUE_MAX = 512, /*!< longest decoded name, value or segment */
	URI_PARAMS_MAX = 24,
	URI_SEGMENTS_MAX = 8,
};

struct uri_param {
	const char *name, *value; /*!< decoded; value "" when there is no '=' */
};

struct uri {
	const char *path;                      /*!< as written, without the query */
	const char *segment[URI_SEGMENTS_MAX]; /*!< decoded; "/" has none */
	unsigned n_segments;
	struct uri_param param[URI_PARAMS_MAX];
	unsigned n_params;
};

/*!
 * \brief Parses a target. Strings of \a ret_uri are in \a a.
 *
 * \param p  Filled on failure: what is wrong and where.
 * \retval E_SYNTAX           An escape that is not % and two hex digits, or %00.
 * \retval E_HTTP_LONG        Longer than one of the limits above.
 * \retval E_HTTP_PARAMETER   A parameter given twice, or too many.
 * \retval E_HTTP_ENDPOINT    More path segments than any resource has.
 * \retval -ENOMEM
 */
int uri_parse(const char *target, struct arena *a, struct uri *ret_uri,
              struct problem *p);

/*! \brief Value of a parameter, NULL if it is missing. */
const char *uri_param(const struct uri *u, const char *name);

/*!
 * \brief Does the path fit a template such as "/v1/nodes/{guid}"? A segment in braces takes
 *        any text but "".
 * \param ret_capture  [max] The segments in braces, borrowed; further ones are not told. NULL
 *                     where there is none.
 */
bool uri_fits(const struct uri *u, const char *path, unsigned max, const char **ret_capture);
