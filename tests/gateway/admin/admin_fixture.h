/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>

#include "gateway/admin/admin.h"

/*!
 * A write door in front of a saguarod that says what a test wants. Its users are named after
 * their roles, and their secret is SECRET; "expired" has expired.
 */
#define ADMIN_SECRET "correct-horse-battery"
/* bcrypt with the fewest rounds, so that tests are fast: crypt(3) of ADMIN_SECRET */
#define ADMIN_HASH "$2b$04$abcdefghijklmnopqrstuupOWRSKKNe562z1DsLEArFuJDHVyRIMa"

struct admin_fixture {
	char dir[64], users[96], audit[96];
	struct admin admin;
	const char *reply; /*!< what saguarod says next, JSON; NULL: it does not answer */
	int error;         /*!< without a reply: why; 0: -ECONNREFUSED */
	json_t *asked; /*!< what it was asked last; NULL: nothing since admin_fixture_clear() */
	char socket[64]; /*!< where */
	unsigned n_asked;
	int64_t now;
	uint64_t now_ms;
};

void admin_fixture_init(struct admin_fixture *f, unsigned failures_per_minute);
void admin_fixture_done(struct admin_fixture *f);

/*! \brief A request with a body or NULL, as "operator" unless \a rq has its own Authorization.
 *  \return The reply; its body is a JSON document in \a ret_body, the caller's. */
struct reply admin_fixture_send(struct admin_fixture *f, const struct admin_request *rq,
                                const char *body, json_t **ret_body);

/*! \brief The short form: method, target, body. \return The status. */
unsigned admin_fixture_ask(struct admin_fixture *f, const char *method,
                           const char *target, const char *body, json_t **ret_body);

/*! \brief "Basic ..." of a user and a secret, in a static buffer. */
const char *admin_fixture_basic(const char *user, const char *secret);
