/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/view/body.h"

struct answers;
struct arena;
struct field;
struct problem;
struct uri;

/*!
 * What an HTTP server of ours answers: one row per resource. From the rows follow the match of method
 * and path, which parameters and which body a request may have, the list at "/", the OpenAPI
 * document (openapi.h) and the manual pages (manual.h).
 *
 * There are two sets of rows, each in a resources.def (tables.h): that of the gateway (gateway/api), which reads,
 * and that of saguaro-admin (gateway/admin), which writes.
 */
enum {
	RESOURCE_CAPTURES = 2 /*!< segments {...} of a path at most */
};

enum resource_flag {
	RESOURCE_CHANGE = 1,  /*!< changes something: audited; may carry If-Match */
	RESOURCE_OPEN = 2,    /*!< without a user, and of no fabric */
	RESOURCE_VERSION = 4, /*!< has a version, as ETag and for If-Match */
	RESOURCE_ETAG = 8     /*!< its answers have an ETag */
};

/*! The body of a request. */
struct resource_body {
	const char *type;           /*!< media type; NULL: there is none */
	size_t max_bytes;
	const struct field *fields; /*!< its members; NULL: the handler reads them */
	bool strict;                /*!< a member that has no row is refused */
};

/*! A resource. */
struct resource {
	const char *method;
	const char *path; /*!< "/v1/nodes/{node}" */
	const char *params; /*!< known query parameters, blanks between; NULL: the handler knows */
	struct resource_body body;
	const char *answer; /*!< type as schema.h describes it; NULL: text */
	const char *also;   /*!< further media type of the answer, or NULL */
	unsigned role;      /*!< the least that may; 0: everybody */
	unsigned flags;     /*!< enum resource_flag */
	unsigned status;    /*!< of success */
	const char *summary; /*!< one line for the lists */
	const void *how;     /*!< struct api_how or struct admin_how: of its server */
};

/*! A parameter in a path or a query. */
struct resource_param {
	const char *name, *type, *help;
};

struct resources {
	const struct resource *row;
	unsigned n;
	const struct resource_param *param;
	unsigned n_params;
	const struct answers *answers; /*!< what the types of the answers are */
	const char *title, *description; /*!< of the OpenAPI document */
	const char *etag;     /*!< what the ETag of an answer is, in a sentence */
	bool has_epoch;       /*!< answers have the header Fabric-Epoch */
	const char *(*role_name)(unsigned role); /*!< NULL: there are no users */
	bool answers_options; /*!< the method OPTIONS */
};

/*!
 * \brief The row of a method and path. HEAD is taken for GET.
 * \param ret_capture  [RESOURCE_CAPTURES] Borrowed from \a u; NULL where the row has no {...}.
 * \retval E_HTTP_ENDPOINT
 * \retval E_HTTP_METHOD  The path exists, but with another method; ret_row is set.
 */
int resource_match(const struct resources *set, const char *method, const struct uri *u,
                   const struct resource **ret_row, const char **ret_capture);

/*! \brief Methods that a path has, as an Allow header lists them. */
void resource_methods(const struct resources *set, const struct uri *u,
                      char ret_text[REPLY_ALLOW_BYTES]);

/*! \brief Fills the problem of a path that no row has: what is near, and all there are.
 *  \return E_HTTP_ENDPOINT */
int resource_unknown(const struct resources *set, const struct uri *u, struct arena *a,
                     struct problem *p);

/*! \brief problem_reply(), and what methods the path has where it is E_HTTP_METHOD. */
void resource_refuse(const struct resources *set, const struct uri *u, struct problem *p,
                     int ret, uint64_t epoch, struct reply *ret_reply);

/*! \brief Has the request parameters that the row does not know? \retval E_HTTP_PARAMETER
 *  Problem filled. */
int resource_check_params(const struct resource *row, const struct uri *u, struct arena *a,
                          struct problem *p);

/*!
 * \brief Is a body of this media type what the row takes? A page of a foreign site can send bodies
 *        of some types without asking first, but not of these.
 * \param type  Content-Type, or NULL.
 * \retval E_HTTP_TYPE  Problem filled.
 */
int resource_check_type(const struct resource *row, const char *type, struct arena *a,
                        struct problem *p);

/*! \brief Is a word in a list with blanks between? \param list  NULL: no. */
bool resource_lists(const char *list, const char *word, size_t len);

/*! \brief The words of a list with blanks between. \param list  NULL: none. */
json_t *resource_words(const char *list);
