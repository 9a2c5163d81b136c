/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "gateway/view/components.h"
#include "gateway/view/problem.h"
#include "sa/path/path_query.h"

struct arena;

/*!
 * A path question in words, as a URL or a command line gives it, and its answer. No HTTP:
 * the gateway and the saguaro command translate, so they say the same.
 */
enum {
	PATH_ASK_MAX = 128 * 128
}; /*!< most records of one answer: both sides with LMC 7 */

struct path_ask {
	const char *src,
		*dst; /*!< selectors of endpoint_resolve(), or "*"; NULL: missing */
	const char *mode;      /*!< name of a path selection; NULL: the daemon's */
	const char *numb_path; /*!< most paths wanted; NULL: all of the mode */
	const char *hops;      /*!< "0" or "1"; NULL: "0" */
	/* components of the record; NULL: not asked for. Codes as in the PathRecord */
	const char *mtu, *mtu_selector, *rate, *rate_selector, *packet_life_time,
		*packet_life_time_selector, *sl, *p_key, *service_id, *qos_class;
};

struct path_answer {
	struct endpoint src, dst;
	struct path_record *records; /*!< arena */
	size_t n;
	enum path_selection mode;
	bool hops; /*!< asked for */
};

/*!
 * \brief Answers from a pinned snapshot.
 *
 * \param parts  Kept by the caller from question to question; zeroed at first.
 * \param p      Filled on failure: the parameter, what was expected, candidates, or why
 *               there is no path (other part of the fabric, hole at a switch).
 * \retval E_HTTP_PARAMETER E_SYNTAX E_RANGE E_UNKNOWN E_NOTFOUND E_AMBIGUOUS E_NOPATH
 * E_PARTITION E_POLICY E_LOOP
 */
int path_ask_run(struct snap_reader *r, const struct path_ask *ask, struct parts *parts,
                 struct arena *a, struct path_answer *ret, struct problem *p);

/*!
 * \brief {"epoch":E,"paths":[...]}: the body of /paths.
 * \param stale  Adds "stale":true.
 * \retval E_NOPATH E_LOOP  A hop list does not reach its end; \a p says where.
 */
int path_answer_json(struct snap_reader *r, const struct path_answer *answer, bool stale,
                     struct arena *a, json_t **ret, struct problem *p);

/*! A question with "*" for an end, which is every end port then, or for both. */
struct path_open {
	struct path_query q; /*!< ends that are not open, selectors */
	bool any_src, any_dst, hops;
};

bool path_ask_is_open(const struct path_ask *ask);

/*! \brief As path_ask_run() up to the query. */
int path_ask_open(struct snap_reader *r, const struct path_ask *ask, struct arena *a,
                  struct path_open *ret, struct problem *p);

/*! \brief One element of "paths". \retval E_NOPATH E_LOOP -ENOMEM  As path_answer_json().
 */
int path_answer_record(struct snap_reader *r, const struct path_record *rec, bool hops,
                       struct arena *a, json_t **ret, struct problem *p);
