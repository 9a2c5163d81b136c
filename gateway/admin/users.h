/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct diags;

/*!
 * The file of users: who may use the write door, as what, and until when.
 *
 * A user is one line of four words:
 *
 *   name   role   expires   secret
 *
 * Name: letters, digits and "-_@", so that "NAME.SECRET" can be taken apart. Role: viewer,
 * partition-admin or operator. Expires: never, or a time as 2027-01-31T12:00:00Z, or a date,
 * which means its first moment (UTC). Secret: the hash of crypt(3), or "-" for a user that
 * has only a client certificate. '#' begins a comment line.
 */
enum role { ROLE_NONE, ROLE_VIEWER, ROLE_PARTITION_ADMIN, ROLE_OPERATOR, ROLE_COUNT };

enum { USER_NAME_MAX = 63, USERS_MAX = 4096 };

struct user {
	const char *name;
	enum role role;
	int64_t expires;  /*!< seconds since 1970; 0: never */
	const char *hash; /*!< NULL: only a client certificate */
};

struct users {
	struct user *user;
	unsigned n;
};

/*! \brief "partition-admin"; "none" for ROLE_NONE. */
const char *role_name(enum role role);

/*! \retval E_UNKNOWN */
int role_parse(const char *text, enum role *ret_role);

/*! \brief May this stand as the name of a user? */
bool user_name_is_good(const char *name);

/*!
 * \brief Reads a time of expiry: "never", a date, a time, or a number of days, "90d".
 * \param now  Seconds since 1970, for a number of days. \param ret_expiry  0: never.
 * \retval E_SYNTAX \retval E_RANGE
 */
int user_expiry_parse(const char *text, int64_t now, int64_t *ret_expiry);

/*! \brief "never" or "2027-01-31T12:00:00Z". */
void user_expiry_text(int64_t expires, char ret_text[32]);

/*! \brief Parses a text. Strings are in \a a. \retval E_SYNTAX  All errors are in \a d. */
int users_parse(const char *path, const char *text, size_t len, struct arena *a,
                struct diags *d, struct users *ret_users);

/*!
 * \brief Reads the file, which must belong to root or to this user, and which others must not
 *        be able to read or to change.
 * \retval E_SYNTAX \retval -errno  In \a d.
 */
int users_read(const char *path, struct arena *a, struct diags *d,
               struct users *ret_users);

/*! \return NULL: there is no such user. */
const struct user *users_find(const struct users *u, const char *name);

/*!
 * \brief Adds a line to the file, which is made with mode 0640 if it does not exist. The file
 *        is replaced as a whole, and processes that do this at the same time wait.
 * \retval E_DUPLICATE  The name is there. \retval E_SYNTAX \retval -errno  In \a d.
 */
int users_add(const char *path, const struct user *user, struct diags *d);

/*! \brief Removes a line. \retval E_NOTFOUND \retval E_SYNTAX \retval -errno  In \a d. */
int users_remove(const char *path, const char *name, struct diags *d);
