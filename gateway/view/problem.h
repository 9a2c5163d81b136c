/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct arena;
struct reply;

/*!
 * What went wrong with a request, as an application/problem+json body (RFC 9457):
 * type, title, status, detail, plus members of our own (parameter, candidates, near,
 * ...).
 *
 * An error value of the house decides status, type and title; the few errors that only
 * HTTP knows have values of their own here.
 */
enum http_err {
	E_HTTP_METHOD = -1100, /*!< 405 */
	E_HTTP_LONG,           /*!< 414 */
	E_HTTP_BODY,           /*!< 413 */
	E_HTTP_GONE,           /*!< 410: a cursor of another epoch, an epoch that is not kept */
	E_HTTP_ENDPOINT,       /*!< 404: no such resource at all */
	E_HTTP_PARAMETER,      /*!< 400: a query parameter does not exist, occurs
	                     twice, or is missing */
	E_HTTP_AUTH,           /*!< 401: no user, a wrong secret, expired */
	E_HTTP_ROLE,           /*!< 403: the user's role does not reach */
	E_HTTP_ORIGIN,         /*!< 403: a change that a page of another site asks for */
	E_HTTP_EXISTS,         /*!< 409: it is there already */
	E_HTTP_READ_ONLY, /*!< 409: a file of configuration says so, no request changes it */
	E_HTTP_VERSION, /*!< 412: If-Match names another version */
	E_HTTP_LARGE,   /*!< 413: a longer body than is accepted */
	E_HTTP_TYPE,    /*!< 415: the body is not application/json */
	E_HTTP_HOST,    /*!< 421: Host names another server */
	E_HTTP_REFUSED, /*!< 422: saguarod does not carry it out */
	E_HTTP_RATE,    /*!< 429 */
	E_HTTP_END
};

struct problem {
	int ret;               /*!< enum err, -errno or enum http_err */
	const char *detail;    /*!< sentence with place and remedy; arena or static */
	const char *parameter; /*!< query parameter at fault, or NULL */
	json_t *members;       /*!< further members, owned, or NULL */
};

/*! \brief Status code of an error value. Every enum err has one. */
unsigned gw_status(int ret);

/*! \brief Seconds after which asking again makes sense; 0: no Retry-After. */
unsigned gw_retry_after(int ret);

/*! \brief Fills \a p with a sentence made like printf. \return \a ret, to be returned on.
 */
int problem_set(struct problem *p, struct arena *a, int ret, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*! \brief Likewise, and names the query parameter at fault. */
int problem_param(struct problem *p, struct arena *a, int ret, const char *parameter,
                  const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*! \brief Adds a member; \a value is taken. */
void problem_member(struct problem *p, const char *name, json_t *value);

/*! \brief The body. \param epoch  0: not known, left out. \return NULL: out of memory. */
json_t *problem_json(const struct problem *p, uint64_t epoch);

/*! \brief Makes the answer to a problem of this error; what \a ret_reply had of a body is
 * dropped. \param epoch  As above. */
void problem_reply(struct problem *p, int ret, uint64_t epoch, struct reply *ret_reply);

/*! \brief Drops the members; zeroed afterwards. */
void problem_clear(struct problem *p);
