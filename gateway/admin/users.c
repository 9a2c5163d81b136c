/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/admin/users.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "gateway/admin/secret.h"

static const char *const roles[ROLE_COUNT] = { "none", "viewer", "partition-admin",
	                                       "operator" };

static const struct text_file_kind kind = {
	.what = "a file of users",
	.max_bytes = 4 << 20,
	.text_only = true,
};

const char *role_name(enum role role)
{
	return roles[role];
}

int role_parse(const char *text, enum role *ret_role)
{
	for (enum role r = ROLE_VIEWER; r < ROLE_COUNT; r++) {
		if (strcmp(text, roles[r]) == 0) {
			*ret_role = r;
			return E_OK;
		}
	}
	return E_UNKNOWN;
}

bool user_name_is_good(const char *name)
{
	size_t len = strspn(
		name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_@");

	return len > 0 && len <= USER_NAME_MAX && name[len] == '\0';
}

int user_expiry_parse(const char *text, int64_t now, int64_t *ret_expiry)
{
	unsigned days;
	int end = -1;

	if (strcmp(text, "never") == 0) {
		*ret_expiry = 0;
		return E_OK;
	}
	if (sscanf(text, "%5u%n", &days, &end) == 1 && end > 0 &&
	    strcmp(text + end, "d") == 0) {
		if (days == 0 || days > 36500) {
			return E_RANGE;
		}
		*ret_expiry = now + (int64_t)days * 86400;
		return E_OK;
	}
	return text_time(text, ret_expiry);
}

void user_expiry_text(int64_t expires, char ret_text[32])
{
	time_t at = (time_t)expires;
	struct tm t;

	if (expires == 0 || gmtime_r(&at, &t) == NULL) {
		strcpy(ret_text, "never");
		return;
	}
	strftime(ret_text, 32, "%Y-%m-%dT%H:%M:%SZ", &t);
}

const struct user *users_find(const struct users *u, const char *name)
{
	for (unsigned i = 0; i < u->n; i++) {
		if (strcmp(u->user[i].name, name) == 0) {
			return &u->user[i];
		}
	}
	return NULL;
}

/* One line with at least one word, in place. */
static void parse_line(const char *path, unsigned line, char *text, struct diags *d,
                       struct users *u)
{
	char *rest = NULL, *word[5] = { NULL };
	unsigned n = 0;
	struct user user;

	for (char *w = strtok_r(text, " \t\r", &rest); w != NULL && n < 5;
	     w = strtok_r(NULL, " \t\r", &rest)) {
		word[n++] = w;
	}
	if (n != 4) {
		diag_add(d, DIAG_ERROR, path, line,
		         "a user has four words: name, role, expires, secret");
	} else if (!user_name_is_good(word[0])) {
		diag_add(d, DIAG_ERROR, path, line,
		         "a name has 1-%d letters, digits and -_@", USER_NAME_MAX);
	} else if (users_find(u, word[0]) != NULL) {
		diag_add(d, DIAG_ERROR, path, line, "the user %s is there twice",
		         word[0]);
	} else if (role_parse(word[1], &user.role) != E_OK) {
		diag_add(d, DIAG_ERROR, path, line,
		         "'%.40s' is no role: viewer, partition-admin or operator",
		         word[1]);
	} else if (strchr(word[2], 'd') != NULL ||
	           user_expiry_parse(word[2], 0, &user.expires) != E_OK) {
		diag_add(
			d, DIAG_ERROR, path, line,
			"'%.40s' is no time of expiry: never, 2027-01-31 or 2027-01-31T12:00:00Z",
			word[2]);
	} else if (strcmp(word[3], "-") != 0 && !secret_is_hash(word[3])) {
		/* The word is not shown: it may be a password. */
		diag_add(
			d, DIAG_ERROR, path, line,
			"the secret is no hash of yescrypt, scrypt, bcrypt or SHA-512, and not '-'; saguaro-admin --add-token and --add-password make one");
	} else if (u->n == USERS_MAX) {
		diag_add(d, DIAG_ERROR, path, line, "more than %d users", USERS_MAX);
	} else {
		user.name = word[0];
		user.hash = strcmp(word[3], "-") != 0 ? word[3] : NULL;
		u->user[u->n++] = user;
	}
}

int users_parse(const char *path, const char *text, size_t len, struct arena *a,
                struct diags *d, struct users *ret_users)
{
	size_t lines = text_count(text, len, '\n') + 1, at = 0;
	struct users u = { .n = 0 };
	unsigned line = 0, before = d->n_errors;

	u.user = arena_array(a, lines < USERS_MAX ? lines : USERS_MAX, sizeof(*u.user));
	if (u.user == NULL) {
		return -ENOMEM;
	}
	while (at < len) {
		const char *begin = text + at;
		size_t n = text_line(text, len, &at);
		char *copy = arena_printf(a, "%.*s", (int)n, begin);

		if (copy == NULL) {
			return -ENOMEM;
		}
		line++;
		copy += strspn(copy, " \t\r");
		if (*copy != '\0' && *copy != '#') {
			parse_line(path, line, copy, d, &u);
		}
	}
	if (d->n_errors != before) {
		return E_SYNTAX;
	}
	*ret_users = u;
	return E_OK;
}

/* Who else could read or change the file? */
static int check_mode(const char *path, struct diags *d)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		int ret = -errno;

		text_file_unreadable(path, kind.what, ret, d);
		return ret;
	}
	if ((st.st_mode & 027) != 0 || (st.st_uid != 0 && st.st_uid != geteuid())) {
		diag_add(
			d, DIAG_ERROR, path, 0,
			"mode %04o of user %u: a file of users belongs to root or to the user of the program and has mode 0640 or less; chmod 0640 it",
			(unsigned)st.st_mode & 07777, (unsigned)st.st_uid);
		return E_SYNTAX;
	}
	return E_OK;
}

int users_read(const char *path, struct arena *a, struct diags *d,
               struct users *ret_users)
{
	char *text = NULL;
	size_t len;
	int ret = check_mode(path, d);

	if (ret == E_OK) {
		ret = text_file_read(path, &kind, d, &text, &len);
	}
	if (ret == E_OK && text == NULL) {
		ret = -ENOENT;
	}
	if (ret == E_OK) {
		ret = users_parse(path, text, len, a, d, ret_users);
	}
	free(text);
	return ret;
}

/* ---- changes ---- */

/* The file while it is changed. */
struct edit {
	struct arena *arena;
	const char *path;
	struct diags *d;
	int lock;
	char *text; /* "" for a file that does not exist */
	size_t len;
	struct users users;
	gid_t group;
};

/* Locks a file beside it, because the file itself is replaced. */
static int lock_file(struct edit *e)
{
	const char *path = arena_printf(e->arena, "%s.lock", e->path);

	e->lock = path != NULL
	                  ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)
	                  : -1;
	if (e->lock < 0 || flock(e->lock, LOCK_EX) != 0) {
		int ret = path == NULL ? -ENOMEM : -errno;

		diag_add(e->d, DIAG_ERROR, path != NULL ? path : e->path, 0,
		         "cannot lock the file of users: %s", err_text(ret));
		return ret;
	}
	return E_OK;
}

static int edit_begin(struct edit *e)
{
	char *copy = arena_strdup(e->arena, e->path);
	struct stat st;
	int ret = lock_file(e);

	if (ret != E_OK) {
		return ret;
	}
	e->group = (gid_t)-1;
	if (access(e->path, F_OK) != 0 && errno == ENOENT) {
		/* A new file is for the group of its folder, whose members shall read it. */
		if (copy != NULL && stat(dirname(copy), &st) == 0 &&
		    (geteuid() == 0 || st.st_gid == getegid())) {
			e->group = st.st_gid;
		}
		e->text = calloc(1, 1);
		return e->text != NULL ? E_OK : -ENOMEM;
	}
	ret = check_mode(e->path, e->d);
	if (ret == E_OK) {
		ret = text_file_read(e->path, &kind, e->d, &e->text, &e->len);
	}
	if (ret == E_OK) {
		ret = users_parse(e->path, e->text, e->len, e->arena, e->d, &e->users);
	}
	if (ret == E_OK && stat(e->path, &st) == 0) {
		e->group = st.st_gid;
	}
	return ret;
}

static int edit_write(struct edit *e, const char *text)
{
	int ret = text != NULL ? text_file_replace_as(e->path, text, strlen(text), 0640,
	                                              e->group)
	                       : -ENOMEM;

	if (ret != E_OK) {
		diag_add(e->d, DIAG_ERROR, e->path, 0,
		         "cannot write the file of users: %s", err_text(ret));
	}
	return ret;
}

static int edit_end(struct edit *e, int ret)
{
	if (e->lock >= 0) {
		close(e->lock);
	}
	free(e->text);
	arena_free(e->arena);
	return ret;
}

int users_add(const char *path, const struct user *user, struct diags *d)
{
	struct edit e = { .arena = arena_new(), .path = path, .d = d, .lock = -1 };
	char expires[32];
	int ret = e.arena != NULL ? edit_begin(&e) : -ENOMEM;

	if (ret == E_OK && users_find(&e.users, user->name) != NULL) {
		diag_add(d, DIAG_ERROR, path, 0,
		         "the user %s is there; remove it first with --remove",
		         user->name);
		ret = E_DUPLICATE;
	}
	if (ret == E_OK) {
		user_expiry_text(user->expires, expires);
		ret = edit_write(
			&e,
			arena_printf(e.arena, "%s%s%s %s %s %s\n", e.text,
		                     e.len > 0 && e.text[e.len - 1] != '\n' ? "\n" : "",
		                     user->name, role_name(user->role), expires,
		                     user->hash != NULL ? user->hash : "-"));
	}
	return edit_end(&e, ret);
}

/* The text without the line of a user. */
static char *without(struct edit *e, const char *name)
{
	char *text = arena_array(e->arena, e->len + 1, 1), *to = text;
	size_t at = 0, name_len = strlen(name);

	while (text != NULL && at < e->len) {
		const char *begin = e->text + at, *word = begin + strspn(begin, " \t\r");

		(void)text_line(e->text, e->len, &at);
		if (strncmp(word, name, name_len) == 0 &&
		    strchr(" \t", word[name_len]) != NULL) {
			continue;
		}
		memcpy(to, begin, (size_t)(e->text + at - begin));
		to += e->text + at - begin;
	}
	return text;
}

int users_remove(const char *path, const char *name, struct diags *d)
{
	struct edit e = { .arena = arena_new(), .path = path, .d = d, .lock = -1 };
	int ret = e.arena != NULL ? edit_begin(&e) : -ENOMEM;

	if (ret == E_OK && users_find(&e.users, name) == NULL) {
		diag_add(d, DIAG_ERROR, path, 0, "there is no user '%.63s'", name);
		ret = E_NOTFOUND;
	}
	if (ret == E_OK) {
		ret = edit_write(&e, without(&e, name));
	}
	return edit_end(&e, ret);
}
