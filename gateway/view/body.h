/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*!
 * Body of an answer: text that grows. Errors stick: after one failure every call is a
 * no-op and body_done() returns it.
 *
 * A long list is written element by element, so that an answer needs the memory of its
 * text and of one element, never of a whole tree:
 *
 *   body_list_begin(b, head, "nodes");  {"epoch":7,"nodes":[
 *   body_list_add(b, element); ...      {...},{...}
 *   body_list_end(b, tail);             ],"next_cursor":"..."}
 *
 * All json_t arguments are taken; NULL counts as out of memory, except for a tail.
 */
struct body {
	char *data; /*!< malloc; NUL-terminated as far as it goes; NULL: empty */
	size_t len, cap;
	bool failed;
	bool has_element; /*!< a list has at least one */
};

/*! \brief Frees the text; the body is empty again. */
void body_clear(struct body *b);

void body_write(struct body *b, const char *data, size_t len);
void body_printf(struct body *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*!
 * \brief Reserves bytes behind the text. The caller writes there and adds to len. \return NULL: out of memory.
 */
char *body_room(struct body *b, size_t bytes);

/*! \brief One JSON value. */
void body_value(struct body *b, json_t *value);

/*! \brief One JSON value and a new line. */
void body_json(struct body *b, json_t *value);

void body_list_begin(struct body *b, json_t *head, const char *name);
void body_list_add(struct body *b, json_t *element);
void body_list_next(struct body *b); /*!< before an element that the caller writes */
void body_list_end(struct body *b, json_t *tail);

/*!
 * \brief Lets body_done() notice what jansson could not allocate, so that no member of an answer is lost
 *        where json_object_set_new() is not looked at. Called once, before the process has other threads.
 */
void body_watch_json(void);

/*!
 * \retval E_OK
 * \retval -ENOMEM  For the body, or for JSON of this thread since its last call.
 */
int body_done(const struct body *b);

enum { REPLY_ALLOW_BYTES = 48 /*!< a list of methods */ };

/*! What every HTTP answer has, of the gateway as of the write door. */
struct reply {
	unsigned status;
	struct body body;              /*!< owned by the caller: body_clear() */
	const char *content_type;      /*!< not sent with 304 */
	char etag[56];                 /*!< quoted; "" none */
	char allow[REPLY_ALLOW_BYTES]; /*!< header; "" none */
	unsigned retry_after;          /*!< seconds, 0: none */
};
