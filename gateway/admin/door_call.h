/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "gateway/admin/auth.h"
#include "gateway/admin/door.h"
#include "gateway/admin/fields.h"
#include "gateway/view/problem.h"
#include "gateway/view/uri.h"

/*! Shared by the handlers: the table of resources and the request that is being answered. */

enum door_flag {
	DOOR_CHANGE = 1, /*!< changes something: audited; may carry If-Match */
	DOOR_OPEN = 2,   /*!< without a user, and of no fabric */
	DOOR_STRICT = 4, /*!< a member of the body that has no row is refused */
	DOOR_VERSION = 8 /*!< partitions: has a version, as ETag and for If-Match */
};

struct door_row {
	const char *method, *path; /*!< "/v1/partitions/{p_key}" */
	enum role role;            /*!< the least that may */
	/*! Completes the request to saguarod, c->ask, before it is audited; NULL: nothing to do */
	int (*prepare)(struct door_call *c);
	int (*handle)(struct door_call *c); /*!< asks saguarod, and fills c->out */
	const char *verb, *action;          /*!< of the request to saguarod; NULL: none */
	const struct field *body;           /*!< NULL: no body */
	const char *const *params; /*!< known query parameters, NULL-terminated */
	unsigned flags;            /*!< enum door_flag */
	unsigned status;           /*!< of success */
	const char *summary;       /*!< one line for the lists */
};

/*! The table; a row without a method ends it. */
extern const struct door_row door_rows[];

enum { DOOR_CAPTURES = 2 };

/*! One request being answered. */
struct door_call {
	struct door *door;
	const struct door_request *request;
	struct arena *arena;
	struct uri uri;             /*!< without the segment of the fabric */
	const struct door_row *row; /*!< NULL: none fits */
	const struct door_fabric *fabric;
	const char *capture[DOOR_CAPTURES]; /*!< segments that matched {...} */
	struct auth_who who;
	int err;                /*!< of the head */
	unsigned wait_s;        /*!< Retry-After of E_HTTP_RATE */
	json_t *ask;            /*!< the request to saguarod; owned */
	json_t *heard;          /*!< its reply, without "ok"; owned */
	json_t *out;            /*!< body of the answer, to be filled on success; owned */
	bool not_modified;      /*!< answer 304 */
	char etag[32];          /*!< "" none */
	struct problem problem; /*!< to be filled on failure */
};

/*!
 * \brief Sends c->ask to saguarod.
 * \param ret  Its reply, when it is good; the caller's.
 * \retval E_OK \retval others  Problem filled: not reachable, or refused.
 */
int door_ask(struct door_call *c, const json_t *ask, json_t **ret);

/*!
 * \brief Puts what the path names into c->ask: the P_Key, the GUID, the action.
 * \retval E_SYNTAX \retval E_HTTP_ENDPOINT  Problem filled.
 */
int door_take_captures(struct door_call *c);

/*! \brief The answer's ETag is the version of a reply; fills not_modified. */
void door_set_version(struct door_call *c, const json_t *reply);

/*! \brief The OpenAPI document of a table. \return NULL: out of memory. */
json_t *openapi_document(const struct door_row *rows);

/* --- handlers --- */
int door_index(struct door_call *c);
int door_healthz(struct door_call *c);
int door_openapi(struct door_call *c);
int door_who(struct door_call *c);
int door_forward(struct door_call *c); /*!< the request as it is, the reply as it is */
int ufm_prepare(struct door_call *c);  /*!< the defaults of that interface */
int ufm_version(struct door_call *c);
int ufm_list(struct door_call *c);
int ufm_show(struct door_call *c);
int ufm_updated(struct door_call *c);
int ufm_change(struct door_call *c);
