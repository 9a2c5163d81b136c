/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/view/body.h"

struct audit;
struct auth;
struct limits;

/*!
 * The write door: from a request to a request on saguarod's control socket, and back. One row
 * per resource (admin_call.h); from it follow the match, the role that is needed, the checks of
 * the body, the entry in the audit log and the OpenAPI document. No HTTP library and no socket
 * in here.
 *
 * A request is looked at twice: once its head is there, admin_begin() says whether its body is
 * wanted at all, which it is only from a user whose role reaches; then admin_answer().
 */
enum { ADMIN_BODY_MAX = 1 << 20 };

/*! \brief Asks the saguarod at a control socket, as control_ask(). */
typedef int admin_ask_f(void *ctx, const char *socket, const json_t *request,
                        json_t **ret_reply);

/*! A fabric, served below "/NAME"; the first one of the list also at the top. */
struct admin_fabric {
	const char *name, *socket;
};

struct admin {
	struct auth *auth;
	struct limits *rate;  /*!< requests of a user */
	struct limits *lines; /*!< lines in the log about wrong logins of an address */
	struct audit *audit;
	const struct admin_fabric *fabric; /*!< [n_fabrics] */
	unsigned n_fabrics;
	const char *hosts; /*!< as in struct origin_rules; NULL: any Host header */
	const char *origins; /*!< whose pages may use it, as in struct origin_rules; NULL: none */
	admin_ask_f *ask;
	void *ctx; /*!< for ask */
};

struct admin_request {
	const char *method, *target;
	const char *authorization, *host, *origin, *content_type, *if_match,
		*if_none_match; /*!< headers, or NULL */
	const char *
		certificate; /*!< common name of a verified client certificate, or NULL */
	const char *address; /*!< of the client */
	const char *fault;   /*!< why the head is refused, a sentence; NULL: it is not */
	bool has_body;
	uint64_t body_bytes; /*!< as announced, 0: not */
	int64_t now;         /*!< seconds since 1970 */
	uint64_t now_ms;     /*!< monotonic */
};

struct admin_call;

/*!
 * \brief Looks at the head of a request.
 * \param rq  Borrowed until admin_free().
 * \return NULL: out of memory.
 */
struct admin_call *admin_begin(struct admin *d, const struct admin_request *rq);

/*! \brief Was the request refused by its head? */
bool admin_is_refused(const struct admin_call *c);

/*! \brief Has a user authenticated it, whether it is refused or not? */
bool admin_has_user(const struct admin_call *c);

/*! \brief Carries it out; never fails, at worst with a 5xx. Once per call. */
void admin_answer(struct admin_call *c, const char *body, size_t len,
                  struct reply *ret_reply);

/*! \brief Refuses a body that became too long, or for which there is no memory. Once per call, instead of
 *  admin_answer(). */
void admin_refuse_body(struct admin_call *c, int ret, struct reply *ret_reply);

void admin_free(struct admin_call *c); /*!< NULL is fine */
