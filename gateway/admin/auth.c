/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/admin/auth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "gateway/admin/limits.h"
#include "gateway/admin/secret.h"
#include "gateway/view/problem.h"

static const char me[] = "auth";

/* The digest of a secret that was right. */
struct proven {
	bool known;
	uint8_t mac[SECRET_MAC_BYTES];
};

/* Marks by which one state of a file differs from another. */
struct stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed, modified;
};

struct auth {
	const char *path;
	struct limits *failures;
	uint8_t key[SECRET_MAC_BYTES]; /* of the digests, made at start */
	pthread_mutex_t hashing;       /* one hash at a time: each takes 16 MiB */
	pthread_mutex_t lock;          /* of what follows */
	struct stamp stamp;
	struct arena *arena; /* of the users; NULL: the file is not usable */
	struct users users;
	struct proven *proven; /* [users.n] */
	bool read_before;      /* else no file was looked at yet */
};

/* Name and secret of a request. */
struct shown {
	char name[USER_NAME_MAX + 1];
	char secret[SECRET_MAX + 1];
};

int auth_new(const struct auth_options *o, struct auth **ret_auth)
{
	struct auth *a = calloc(1, sizeof(*a));

	if (a == NULL) {
		return -ENOMEM;
	}
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->hashing, NULL);
	a->path = strdup(o->users);
	a->failures = limits_new(o->failures, o->per_minute);
	if (a->path == NULL || a->failures == NULL ||
	    gnutls_rnd(GNUTLS_RND_KEY, a->key, sizeof(a->key)) != 0) {
		auth_free(a);
		return -ENOMEM;
	}
	*ret_auth = a;
	return E_OK;
}

void auth_free(struct auth *a)
{
	if (a != NULL) {
		gnutls_memset(a->key, 0, sizeof(a->key));
		limits_free(a->failures);
		arena_free(a->arena);
		pthread_mutex_destroy(&a->lock);
		pthread_mutex_destroy(&a->hashing);
		free((char *)a->path);
		free(a);
	}
}

/* ---- the file ---- */

static void drop_users(struct auth *a)
{
	arena_free(a->arena);
	a->arena = NULL;
	a->users = (struct users){ .n = 0 };
	a->proven = NULL;
}

/* Reads the file again if it has changed. Under the lock. */
static int refresh(struct auth *a)
{
	struct stamp now;
	struct stat st;
	struct arena *arena;
	struct diags *d;
	int ret;

	memset(&now, 0, sizeof(now)); /* also between the members, for memcmp() */
	if (stat(a->path, &st) == 0) {
		now.dev = st.st_dev;
		now.ino = st.st_ino;
		now.size = st.st_size;
		now.changed = st.st_ctim;
		now.modified = st.st_mtim;
	}
	if (a->read_before && memcmp(&now, &a->stamp, sizeof(now)) == 0) {
		return a->arena != NULL ? E_OK : E_NOTREADY;
	}
	drop_users(a);
	arena = arena_new();
	d = arena != NULL ? arena_alloc(arena, sizeof(*d)) : NULL;
	if (d == NULL) {
		arena_free(arena);
		return -ENOMEM;
	}
	diags_init(d, arena);
	ret = users_read(a->path, arena, d, &a->users);
	if (ret == E_OK) {
		a->proven = arena_array(arena, a->users.n, sizeof(*a->proven));
		ret = a->proven != NULL ? E_OK : -ENOMEM;
	}
	if (ret == E_OK) {
		a->arena = arena;
		log_info(me, "%s: %u users", a->path, a->users.n);
	} else {
		char place[DIAG_PLACE_MAX];

		for (unsigned i = 0; i < d->n; i++) {
			log_message(MSG_ADMIN_USERS, me,
			            "%s%s; nobody is let in until it is mended",
			            diag_place(&d->items[i], place, sizeof(place)),
			            d->items[i].text);
		}
		arena_free(arena);
		a->users = (struct users){ .n = 0 };
	}
	if (ret != -ENOMEM) {
		a->stamp = now;
		a->read_before = true;
	}
	return ret == E_OK ? E_OK : ret == -ENOMEM ? ret : E_NOTREADY;
}

/* ---- what a request shows ---- */

/* Cuts text at a character. \return false: too long, or a character that cannot be there. */
static bool split(const char *text, size_t len, char at, struct shown *ret_shown)
{
	const char *cut = memchr(text, at, len);
	size_t name = cut != NULL ? (size_t)(cut - text) : 0;
	size_t secret = cut != NULL ? len - name - 1 : 0;

	if (name == 0 || name > USER_NAME_MAX || secret == 0 || secret > SECRET_MAX ||
	    memchr(text, '\0', len) != NULL) {
		return false;
	}
	memcpy(ret_shown->name, text, name);
	ret_shown->name[name] = '\0';
	memcpy(ret_shown->secret, cut + 1, secret);
	ret_shown->secret[secret] = '\0';
	return user_name_is_good(ret_shown->name);
}

/* "Basic" with base64 of NAME:SECRET, or "Bearer" with NAME.SECRET. */
static bool read_header(const char *header, struct shown *ret_shown)
{
	size_t word = strcspn(header, " ");
	const char *value = header + word + strspn(header + word, " ");
	size_t len = strcspn(value, " ");
	bool good = false;

	if (value[len] != '\0' || len == 0 || len > 1024) {
		return false;
	}
	if (word == 6 && strncasecmp(header, "Bearer", word) == 0) {
		return split(value, len, '.', ret_shown);
	}
	if (word == 5 && strncasecmp(header, "Basic", word) == 0) {
		gnutls_datum_t in = { (unsigned char *)value, (unsigned)len }, out;

		if (gnutls_base64_decode2(&in, &out) == 0) {
			good = split((const char *)out.data, out.size, ':', ret_shown);
			gnutls_memset(out.data, 0, out.size);
			gnutls_free(out.data);
		}
	}
	return good;
}

/* ---- checks ---- */

static void tell(const struct user *u, struct auth_who *ret_who)
{
	strcpy(ret_who->name, u->name);
	ret_who->role = u->role;
	ret_who->expires = u->expires;
}

static bool has_expired(const struct user *u, int64_t now)
{
	return u->expires != 0 && now >= u->expires;
}

/* Copy of the hash of a user under the lock; "" there is none. */
static const struct user *look_up(struct auth *a, const struct shown *shown, int64_t now,
                                  const uint8_t mac[SECRET_MAC_BYTES],
                                  char ret_hash[SECRET_HASH_BYTES], bool *ret_proven)
{
	const struct user *u = users_find(&a->users, shown->name);

	ret_hash[0] = '\0';
	*ret_proven = false;
	if (u == NULL || u->hash == NULL || has_expired(u, now)) {
		return NULL;
	}
	const struct proven *p = &a->proven[u - a->users.user];
	*ret_proven = p->known && secret_same(p->mac, mac, SECRET_MAC_BYTES);
	strcpy(ret_hash, u->hash);
	return u;
}

/* Remembers a secret that was right, if its user's line is still the same. */
static bool keep_proven(struct auth *a, const char *name, const char *hash,
                        const uint8_t mac[SECRET_MAC_BYTES], int64_t now,
                        struct auth_who *ret_who)
{
	bool kept = false;

	pthread_mutex_lock(&a->lock);
	const struct user *u = users_find(&a->users, name);
	if (u != NULL && u->hash != NULL && strcmp(u->hash, hash) == 0 &&
	    !has_expired(u, now)) {
		struct proven *p = &a->proven[u - a->users.user];

		p->known = true;
		memcpy(p->mac, mac, SECRET_MAC_BYTES);
		tell(u, ret_who);
		kept = true;
	}
	pthread_mutex_unlock(&a->lock);
	return kept;
}

static int refuse_login(struct arena *arena, struct problem *p, int ret)
{
	/* One sentence for all, so that it does not tell which names exist. */
	return problem_set(
		p, arena, ret,
		ret == E_HTTP_RATE
			? "too many wrong logins from this address; wait"
			: "a user is needed: name and secret with Basic, or NAME.SECRET with Bearer; the ones shown are wrong, have expired, or are missing");
}

/* Whose failures these are: an address; of an IPv6 address the network, because whoever has one
 * address of it has all of them. */
static const char *limit_key(const char *address, char ret_key[LIMITS_KEY_MAX])
{
	struct in6_addr v6;

	if (inet_pton(AF_INET6, address, &v6) != 1) {
		return address;
	}
	memset(v6.s6_addr + 8, 0, 8);
	return inet_ntop(AF_INET6, &v6, ret_key, LIMITS_KEY_MAX);
}

static int check_secret(struct auth *a, const struct auth_request *rq,
                        const struct shown *shown, const char *from,
                        struct auth_who *ret_who, unsigned *ret_wait_s)
{
	uint8_t mac[SECRET_MAC_BYTES];
	char hash[SECRET_HASH_BYTES];
	bool proven, good;

	if (secret_mac(a->key, shown->secret, mac) != E_OK) {
		return -ENOMEM;
	}
	pthread_mutex_lock(&a->lock);
	const struct user *u = look_up(a, shown, rq->now, mac, hash, &proven);
	if (proven) {
		tell(u, ret_who);
	}
	pthread_mutex_unlock(&a->lock);
	if (proven) {
		return E_OK;
	}
	/* Taken first and given back, so that many at a time are no more than so many. */
	if (!limits_take(a->failures, from, rq->now_ms, ret_wait_s)) {
		return E_HTTP_RATE;
	}
	pthread_mutex_lock(&a->hashing);
	good = hash[0] != '\0' ? secret_matches(shown->secret, hash)
	                       : secret_mismatch(shown->secret);
	pthread_mutex_unlock(&a->hashing);
	good = good && keep_proven(a, shown->name, hash, mac, rq->now, ret_who);
	if (good) {
		limits_give(a->failures, from, rq->now_ms);
	}
	return good ? E_OK : E_HTTP_AUTH;
}

static int check_certificate(struct auth *a, const struct auth_request *rq,
                             struct auth_who *ret_who)
{
	int ret = E_HTTP_AUTH;

	pthread_mutex_lock(&a->lock);
	const struct user *u = users_find(&a->users, rq->certificate);
	if (u != NULL && !has_expired(u, rq->now)) {
		tell(u, ret_who);
		ret = E_OK;
	}
	pthread_mutex_unlock(&a->lock);
	return ret;
}

int auth_check(struct auth *a, const struct auth_request *rq, struct arena *arena,
               struct problem *p, struct auth_who *ret_who, unsigned *ret_wait_s)
{
	char room[LIMITS_KEY_MAX];
	const char *from = limit_key(rq->address, room);
	struct shown shown;
	int ret;

	*ret_wait_s = 0;
	pthread_mutex_lock(&a->lock);
	ret = refresh(a);
	pthread_mutex_unlock(&a->lock);
	if (ret != E_OK) {
		return problem_set(
			p, arena, ret,
			"the file of users cannot be used; the log of saguaro-admin says why");
	}
	if (rq->authorization == NULL) {
		ret = rq->certificate != NULL ? check_certificate(a, rq, ret_who)
		                              : E_HTTP_AUTH;
		return ret == E_OK ? E_OK : refuse_login(arena, p, ret);
	}
	if (read_header(rq->authorization, &shown)) {
		ret = check_secret(a, rq, &shown, from, ret_who, ret_wait_s);
	} else if (limits_take(a->failures, from, rq->now_ms, ret_wait_s)) {
		ret = E_HTTP_AUTH;
	} else {
		ret = E_HTTP_RATE;
	}
	gnutls_memset(&shown, 0, sizeof(shown));
	return ret == E_OK || ret == -ENOMEM ? ret : refuse_login(arena, p, ret);
}
