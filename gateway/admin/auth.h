/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "gateway/admin/users.h"

struct arena;
struct problem;

/*!
 * Who sends a request, and as what. A user shows its secret with "Authorization: Basic" or,
 * as NAME.SECRET, with "Authorization: Bearer", or it has a client certificate whose common
 * name is its name.
 *
 * The file of users is read again when it has changed. While it cannot be read or has an
 * error, nobody is let in.
 *
 * The hash of a secret costs some 10 ms, so a secret that was right is recognised by a keyed
 * digest as long as its user's line stays. A wrong secret counts against the rate of its
 * address; above the rate, only secrets that were right before are let in. Thread-safe.
 */
struct auth;

struct auth_options {
	const char *users; /*!< path of the file */
	unsigned failures,
		per_minute; /*!< wrong logins of one address, at once and per minute;
	                                    per_minute 0: no limit */
};

/*! What a request shows. */
struct auth_request {
	const char *authorization; /*!< header, or NULL */
	const char *
		certificate; /*!< common name of a verified client certificate, or NULL */
	const char *address; /*!< where it comes from */
	int64_t now;         /*!< seconds since 1970 */
	uint64_t now_ms;     /*!< monotonic */
};

struct auth_who {
	char name[USER_NAME_MAX + 1];
	enum role role;
	int64_t expires; /*!< 0: never */
};

int auth_new(const struct auth_options *o, struct auth **ret_auth);
void auth_free(struct auth *a); /*!< NULL is fine */

/*!
 * \brief Authenticates a request.
 *
 * \param p           Filled on failure.
 * \param ret_wait_s  With E_HTTP_RATE: after how many seconds to try again.
 * \retval E_HTTP_AUTH  Nothing shown, a wrong name or secret, or expired.
 * \retval E_HTTP_RATE  Too many wrong ones from this address.
 * \retval E_NOTREADY   The file of users cannot be read or has errors.
 */
int auth_check(struct auth *a, const struct auth_request *rq, struct arena *arena,
               struct problem *p, struct auth_who *ret_who, unsigned *ret_wait_s);
