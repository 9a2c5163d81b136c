/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/layout.h"
#include "gateway/api/api.h"
#include "gateway/api/stream.h"
#include "gateway/resource/resource.h"
#include "gateway/view/problem.h"
#include "gateway/view/uri.h"

struct alarms;
struct snap_node;
struct snap_reader;

/*! Shared by the handlers of the resources: the request that is being answered, its
 * parameters, pages and cursors. */
enum { API_LIMIT_DEFAULT = 20000, API_LIMIT_MAX = 65536 };

/*!
 * Snapshot tables an answer depends on, TABLE_NODES and so on: a bit for each line of
 * SNAP_TABLES. TABLE_META is the head, which every publish writes.
 */
#define API_TABLE(id, ...) TABLE_##id = 1U << SNAP_##id,
enum api_table {
	SNAP_TABLES(API_TABLE, API_TABLE, API_TABLE, API_TABLE) TABLE_CLIENT_RECORDS =
		TABLE_SERVICES | TABLE_SUBSCRIPTIONS | TABLE_GROUPS | TABLE_MEMBERS,
	/*! Answers without a snapshot, too: api_call.snap is NULL then. */
	TABLE_IF_ANY = 1U << 29,
	TABLE_OF_RECORD =
		1U << 30, /*!< and those of the record's name: api_record_tables() */
	TABLE_MOMENT = 1U << 31 /*!< of records that move: no ETag */
};
#undef API_TABLE
_Static_assert((int)SNAP_TABLE_COUNT <= 29, "bits of enum api_table");

/*! What a row has for the gateway alone: resource.how. */
struct api_how {
	int (*handle)(struct api_call *c);
	unsigned tables; /*!< enum api_table; 0: needs no snapshot */
};

/*! One request being answered, as handlers see it. */
struct api_call {
	struct api_thread *thread;
	const struct api_request *request;
	const struct resource *row; /*!< that was asked for; NULL: none */
	struct arena *arena;        /*!< of this request */
	struct uri uri;
	unsigned tables;          /*!< enum api_table: what the answer is made of */
	const char *capture[RESOURCE_CAPTURES]; /*!< segments that matched {...}, else NULL */
	struct snap_reader *snap; /*!< pinned; NULL: the row needs none */
	uint64_t now_ms;          /*!< CLOCK_BOOTTIME */
	uint64_t epoch;           /*!< of the answer, 0: none is known */
	bool stale;               /*!< the daemon's heartbeat is too old */
	const char *content_type;
	char next_cursor[API_CURSOR_BYTES]; /*!< "": this is the last page */
	struct body body;       /*!< to be filled on success, */
	struct stream *stream;  /*!< or this */
	struct feed *feed;      /*!< or this */
	const char *const *job; /*!< or this: words for a run of `saguaro` */
	const char *job_file;
	struct problem problem; /*!< to be filled on failure */
};

/*! \brief {"epoch":E} and "stale":true when it is. */
json_t *api_head(const struct api_call *c);

/*!
 * \brief The newest epoch, for resources that need no snapshot.
 * \return 0: none, for the reason \a ret_why, which is borrowed until the next request.
 */
uint64_t api_epoch(struct api_call *c, const char **ret_why);

/*! \brief Value of a parameter, or NULL. */
const char *api_param(const struct api_call *c, const char *name);

/*!
 * \brief Finds a node by NodeGUID, PortGUID, LID, name or description.
 * \param parameter  Query parameter that the text is from, for the problem; NULL: none.
 * \retval E_NOTFOUND E_AMBIGUOUS  Problem filled.
 */
int api_find_node(struct api_call *c, const char *text, const char *parameter,
                  uint64_t *ret_guid);

/*! \brief Reads type=: enum node_type, 0: any. \retval E_UNKNOWN  Problem filled. */
int api_node_type(struct api_call *c, uint8_t *ret_type);

/*! \brief Captured segment as a switch, by GUID, LID or name. \retval E_NOTFOUND
 * E_AMBIGUOUS  Problem filled. */
int api_capture_switch(struct api_call *c, struct snap_node *ret_node);

/*! \brief Reads a parameter that is 0 or 1; -1: it is not given. \retval E_UNKNOWN  Problem
 *  filled. */
int api_flag(struct api_call *c, const char *name, int8_t *ret_flag);

/*! A page of a long list: at most \a limit elements, from a key on. */
struct api_page {
	uint32_t limit;
	uint64_t guid; /*!< first key: GUID, or LID */
	uint8_t port;  /*!< second part of the key */
};

/*! \brief Reads limit=. \retval E_SYNTAX E_RANGE  Problem filled. */
int api_limit(struct api_call *c, uint32_t *ret_limit);

/*!
 * \brief Reads limit= and cursor=.
 * \retval E_HTTP_GONE  The cursor is of another epoch. \retval E_SYNTAX E_RANGE
 */
int api_page(struct api_call *c, struct api_page *ret_page);

/*!
 * \brief Decodes a cursor: "epoch-key-sub-skip" in hex, opaque to clients. \retval E_HTTP_GONE  It is of another epoch. \retval E_SYNTAX  Problem filled,
 * too.
 */
int api_cursor(struct api_call *c, const char *text, struct stream_place *ret_place);

/*! \brief {"next_cursor":"..."} of the page that begins at this place. */
json_t *api_next_place(struct api_call *c, const struct stream_place *at);

/*! \brief Adds {"total":N}, how many elements all pages have, to the tail of a list, which
 * is taken. */
json_t *api_total(json_t *tail, uint64_t total);

/*!
 * \brief Answers with a stream of the pinned epoch and of the tables of this resource.
 * \param spec  more, done, state, name and from; the other members are set here. The state is
 *              taken on success.
 * \retval E_FULL  Problem filled. \retval others  Of \a more for the first slice.
 */
int api_stream(struct api_call *c, struct stream_spec *spec);

/*! \brief Reads from=: a key of a stream. 0 when it is not given. \retval E_SYNTAX
 * E_RANGE */
int api_from(struct api_call *c, uint64_t *ret_from);

/*! Element of a list for a LID. \param ret_json  NULL: it is only counted.
 *  \retval E_NOTFOUND  This LID has none. */
typedef int api_lid_f(struct api_call *c, const void *ctx, uint32_t lid,
                      json_t **ret_json);

/*! \brief Adds a page of the elements of all LIDs to the list; the key of a page is a LID.
 *  \param ret_tail  Cursor of the next page, and how many elements there are. */
int api_lid_list(struct api_call *c, const struct api_page *page, api_lid_f *element,
                 const void *ctx, json_t **ret_tail);

/*! \brief {"next_cursor":"..."} of the page that begins with this key. */
json_t *api_next(struct api_call *c, uint64_t guid, uint8_t port);

/*! The elements of a list that are on one page. Zeroed but for the page at the start. */
struct api_rows {
	const struct api_page *page;
	uint64_t total; /*!< elements on all pages */
	uint32_t written;
	json_t *tail; /*!< of api_next(), once the page is full; NULL: it is the last one */
};

/*! \brief Counts an element with this key. \return Is it on the page? */
bool api_rows_take(struct api_call *c, struct api_rows *r, uint64_t key);

/*!
 * \brief Answers with what a run of `saguaro` prints (gateway/http/jobs.h).
 * \param words  NULL-terminated, in the arena of the request. \param file  Likewise, or NULL.
 */
int api_run_job(struct api_call *c, const char *const *words, const char *file);

/*!
 * \brief Adds all that is wrong at this moment; alarms.list is the caller's to free.
 * \retval E_STALE E_MALFORMED -ENOMEM
 */
int api_find_alarms(struct api_call *c, struct alarms *a);

/*! \brief Writes how many alarms there are, and a series for each. Those that another alarm stands for
 *  have none, so a cable that is gone is one series. \retval E_STALE E_MALFORMED -ENOMEM */
int api_alarm_metrics(struct api_call *c);

/* --- handlers --- */
#define RESOURCE(method, path, role, flags, handle, ...) int handle(struct api_call *c);
#include "gateway/api/resources.def"

/*! \brief Tables that records of a name are made of, for their ETag. */
unsigned api_record_tables(const char *name);
