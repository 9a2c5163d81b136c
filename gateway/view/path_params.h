/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "gateway/view/components.h"
#include "gateway/view/ends.h"
#include "gateway/view/problem.h"
#include "sa/path/path_query.h"

struct arena;
struct body;

/*!
 * The query parameters of /v1/paths, and the answer. No HTTP: the gateway and the command
 * line both translate to these, so they say the same.
 *
 * PATH_PARAMS is the one list of them. A new parameter takes a line here and the code in
 * path_params.c that reads it.
 */
/* clang-format off */
#define PATH_PARAMS(PARAM) \
	PARAM(src)       /* an end port as endpoint_resolve() takes it, or "*"; required */ \
	PARAM(dst)       /* likewise */ \
	PARAM(mode)      /* name of a path selection; the daemon's by default */ \
	PARAM(numb_path) /* most paths wanted; by default all of the mode */ \
	PARAM(hops)      /* "1": with the hops of each path; "0" by default */ \
	PARAM(why)       /* "1": with the hops and why they are these; why there is no path */ \
	/* components of the PathRecord, codes as in the record; not compared by default */ \
	PARAM(mtu) \
	PARAM(mtu_selector) \
	PARAM(rate) \
	PARAM(rate_selector) \
	PARAM(packet_life_time) \
	PARAM(packet_life_time_selector) \
	PARAM(life)      /* the same as packet_life_time */ \
	PARAM(sl) \
	PARAM(p_key) \
	PARAM(pkey)      /* the same as p_key */ \
	PARAM(service_id) \
	PARAM(qos_class) \
	PARAM(from)      /* of a stream: the key at which it begins */
/* clang-format on */

/*! Values as text; NULL: the default. */
struct path_params {
#define PATH_PARAM_MEMBER(name) const char *name;
	PATH_PARAMS(PATH_PARAM_MEMBER)
#undef PATH_PARAM_MEMBER
};

/*! Their names, NULL-terminated. */
extern const char *const path_param_names[];

/*! Most records of one answer: both sides with LMC 7; and most that are explained. */
enum { PATH_RECORDS_MAX = 128 * 128, PATH_WHY_MAX = 128 };

/*! What is told of each path besides its record. */
enum path_detail { PATH_PLAIN, PATH_WITH_HOPS, PATH_WITH_WHY };

struct path_answer {
	struct endpoint src, dst;
	struct path_record *records; /*!< arena */
	size_t n;
	enum path_selection mode;
	enum path_detail detail;
	json_t *excluded; /*!< PATH_WITH_WHY and n 0: path_none_selectors(); else NULL */
};

/*!
 * \brief Answers from a pinned snapshot.
 *
 * \param ends, components  Kept by the caller from request to request; zeroed at first.
 * \param p      Filled on failure: the parameter, what was expected, candidates, or why
 *               there is no path (another component of the fabric, a hole at a switch).
 * \retval E_HTTP_PARAMETER E_SYNTAX E_RANGE E_UNKNOWN E_NOTFOUND E_AMBIGUOUS E_NOPATH
 * E_PARTITION E_POLICY E_LOOP
 */
int path_params_answer(struct snap_reader *r, const struct path_params *params,
                       struct ends *ends, struct components *components, struct arena *a,
                       struct path_answer *ret_answer, struct problem *p);

/*!
 * \brief Writes {"epoch":E,"paths":[...]} and a new line: the body of /paths; with
 *        "excluded_by" when selectors leave nothing over and the reason is wanted.
 * \param answer  Its excluded is taken.
 * \param stale   Adds "stale":true.
 * \param out     On failure it holds a part.
 * \retval E_NOPATH E_LOOP  A hop list does not reach its end; \a p says where. \retval -ENOMEM
 */
int path_answer_write(struct snap_reader *r, struct path_answer *answer, bool stale,
                      struct arena *a, struct body *out, struct problem *p);

/*! A query with "*" for one end or both: all end ports. */
struct path_wildcard {
	struct path_query q; /*!< the end that is named, selectors */
	bool any_src, any_dst;
	enum path_detail detail;
};

bool path_params_have_wildcard(const struct path_params *params);

/*! \brief The query of such parameters; fails as path_params_answer(). */
int path_params_wildcard(struct snap_reader *r, const struct path_params *params,
                         struct ends *ends, struct arena *a,
                         struct path_wildcard *ret_wildcard, struct problem *p);

/*!
 * \brief Writes one element of "paths".
 * \param out  On failure as it was.
 * \retval E_NOPATH E_LOOP -ENOMEM  As path_answer_write().
 */
int path_answer_record(struct snap_reader *r, const struct path_record *rec,
                       enum path_detail detail, struct arena *a, struct body *out,
                       struct problem *p);
