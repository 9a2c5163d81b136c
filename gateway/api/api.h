/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/resource/resource.h"
#include "gateway/view/components.h"
#include "gateway/view/ends.h"
#include "sa/record/record.h"

struct api_call;
struct arena;
struct feed;
struct http_stats;
struct inventory;
struct resource;
struct resources;
struct source;
struct stream;
struct uri;

/*!
 * The resources of the gateway: one row per path (gateway/resource/resource.h). From the row follow besides
 * the handler, which snapshot tables an answer depends on (its ETag), and the
 * route label of the metrics. No HTTP library in here: request in, reply out.
 *
 * An answer is from one epoch, because a handler reads rows of a pinned snapshot. If the
 * epoch was superseded for too long meanwhile, the answer is discarded and built again,
 * API_TRIES times in all.
 */
enum { API_BATCH_PAIRS = 10000, API_BATCH_BYTES = 4 << 20, API_PLAN_BYTES = 32 << 20 };

enum { API_TRIES = 3, API_CURSOR_BYTES = 80 + 2 * SA_ROW_KEY_BYTES };

/*! The resources of the gateway, made of resources.def. */
extern const struct resources api_resources;

/*! \brief JSON Schemas of all answers. \return NULL: out of memory. */
json_t *api_schemas(void);

/*! State that one server thread keeps from request to request. */
struct api_thread {
	struct source *source;
	struct http_stats *stats; /*!< shared by all threads */
	const char *admin_url;    /*!< where browsers reach saguaro-admin; NULL: nowhere */
	struct arena *arena;      /*!< empty, for the next request; NULL: none yet */
	struct ends ends;         /*!< that requests named */
	struct components components; /*!< of the last epoch in which they were needed */
	struct inventory *inventory;  /*!< the same; NULL: not needed yet */
};

/*! \brief Frees what a thread keeps, but not its source. */
void api_thread_done(struct api_thread *t);

struct api_request {
	const char *method;
	const char *target;        /*!< as sent: path and query */
	const char *if_none_match; /*!< header, or NULL; as the next two */
	const char *accept;
	const char *last_event_id;
	const char *content_type;
	const char *
		encoding; /*!< how the answer will be sent, such as "gzip"; NULL: as it is */
	const char *body; /*!< of POST; as long as the call lasts */
	size_t body_len;
};

struct api_reply {
	struct reply base;
	struct stream *stream; /*!< instead of a body, or NULL; owned by the caller:
	                          stream_free() */
	struct feed *feed;     /*!< the same; free() */
	const char *const *job; /*!< the same: words for a run of `saguaro`, */
	const char *job_file; /*!< and a text that it finds as a file, or NULL; both in */
	struct arena *arena;  /*!< this one, which is the caller's; NULL without a job */
	uint64_t epoch;       /*!< 0: none */
	char next_cursor[API_CURSOR_BYTES]; /*!< of the page after this one; "": none */
	unsigned route;       /*!< row index, for metrics; api_resources.n: no row */
};

/*! Where a run of `saguaro` finds api_reply.job_file. */
#define API_JOB_FILE "/proc/self/fd/3"

/*!
 * \brief The reply to a request that a run of `saguaro` answered.
 * \param ret     Why there is no answer; E_OK.
 * \param status  Its exit status; below 0 the signal that ended it, negated.
 * \param out     What it printed; taken. \param said  The same on standard error, or "".
 */
void api_job_reply(struct api_thread *t, unsigned route, int ret, int status,
                   struct body *out, const char *said, struct api_reply *ret_reply);

/*! \brief Answers one request; never fails, at worst with a 5xx. */
void api_serve(struct api_thread *t, const struct api_request *rq,
               struct api_reply *ret_reply);

/*!
 * \brief Before the body of a request is read: may it come?
 * \param ret_max  Its most bytes, 0: there is to be none.
 * \retval E_OK  Else the request gets its answer from api_serve() without the body: 404, 405.
 */
int api_expects_body(const char *method, const char *target, size_t *ret_max);
