/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "gateway/admin/admin.h"
#include "gateway/admin/auth.h"
#include "gateway/resource/fields.h"
#include "gateway/resource/resource.h"
#include "gateway/view/problem.h"
#include "gateway/view/uri.h"

/*! Shared by the handlers: the table of resources and the request that is being answered. */

/*! The resources of the write door, made of resources.def. */
extern const struct resources admin_resources;

/*! What a row has for the write door alone: resource.how. */
struct admin_how {
	int (*handle)(struct admin_call *c); /*!< asks saguarod, and fills c->out */
	/*! Completes the request to saguarod, c->ask, before it is audited; NULL: nothing to do */
	int (*prepare)(struct admin_call *c);
	const char *verb, *action;          /*!< of the request to saguarod; NULL: none */
};

/*! One request being answered. */
struct admin_call {
	struct admin *admin;
	const struct admin_request *request;
	struct arena *arena;
	struct uri uri;             /*!< without the segment of the fabric */
	const struct resource *row; /*!< NULL: none fits */
	const struct admin_fabric *fabric;
	const char *capture[RESOURCE_CAPTURES]; /*!< segments that matched {...} */
	struct auth_who who;
	int ret;                /*!< of the head */
	unsigned wait_s;        /*!< Retry-After of E_HTTP_RATE */
	json_t *ask;            /*!< the request to saguarod; owned */
	json_t *heard;          /*!< its reply, without "ok"; owned */
	json_t *out;            /*!< body of the answer, to be filled on success; owned */
	bool not_modified;      /*!< answer 304 */
	bool preflight;         /*!< a browser asks whether a page may send a request; answer 204 */
	char etag[32];          /*!< "" none */
	struct problem problem; /*!< to be filled on failure */
};

/*!
 * \brief Sends c->ask to saguarod.
 * \param ret_json  Its reply, when it is good; the caller's.
 * \retval E_OK \retval others  Problem filled: not reachable, or refused.
 */
int admin_ask(struct admin_call *c, const json_t *ask, json_t **ret_json);

/*!
 * \brief Puts what the path names into c->ask: the P_Key, the GUID, the action.
 * \retval E_SYNTAX \retval E_HTTP_ENDPOINT  Problem filled.
 */
int admin_take_captures(struct admin_call *c);

/*! \brief The answer's ETag is the version of a reply; fills not_modified. */
void admin_set_version(struct admin_call *c, const json_t *reply);

/*! \brief Reads timeout_ms=, milliseconds; 5000 without it. \retval E_HTTP_PARAMETER  Problem filled. */
int admin_timeout(struct admin_call *c, uint64_t *ret_ms);

/* --- handlers --- */
#define RESOURCE(method, path, role, flags, handle, ...) int handle(struct admin_call *c);
#include "gateway/admin/resources.def"
int ufm_prepare(struct admin_call *c); /*!< the defaults of that interface */
int jobs_begin(struct admin_call *c);  /*!< only partitions of jobs */
int jobs_make(struct admin_call *c);   /*!< checks what may be asked, and that it is made */
