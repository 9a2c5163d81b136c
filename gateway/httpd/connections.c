/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Places are taken, freed and cut off under a lock, so a socket that is shut down is the one
 * that was meant. The library tells of the end of a connection before it closes its socket.
 *
 * The step of a connection changes several times per request and is one atomic word. A step
 * that changes while a connection is being cut off loses its request, as if the connection had
 * been cut off a moment later.
 */
#include "gateway/httpd/connections.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "conf/base/clock.h"
#include "conf/base/conn.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"

enum {
	LOOK_MS = 500,
	RESERVE = 16, /* a place in so many is kept free */
	CROWDS = 1024
};

struct connections {
	struct connections_options o;
	pthread_mutex_t lock;
	struct connection *place; /* [n]; under the lock, but their state */
	unsigned n;
	/* Connections of each address. Those that share a number count together, which only
	 * changes who is cut off first. */
	unsigned crowd[CROWDS];
	uint64_t added;
	struct loop *loop; /* looks at the time */
};

static enum connection_step step_of(const struct connection *p)
{
	return (enum connection_step)(atomic_load(&p->state) & 0xff);
}

static uint64_t since_of(const struct connection *p)
{
	return atomic_load(&p->state) >> 8;
}

static void set_state(struct connection *p, enum connection_step step, uint64_t now_ms)
{
	atomic_store(&p->state, now_ms << 8 | (uint64_t)step);
}

/* How long it has been in its step. */
static uint64_t age_of(const struct connection *p, uint64_t now_ms)
{
	uint64_t since = since_of(p);

	return now_ms > since ? now_ms - since : 0;
}

void connections_enter(struct connection *conn, enum connection_step step,
                       uint64_t now_ms)
{
	if (conn != NULL && step_of(conn) != CONNECTION_LEFT) {
		set_state(conn, step, now_ms);
	}
}

void connections_trust(struct connection *conn)
{
	if (conn != NULL) {
		atomic_store(&conn->trusted, true);
	}
}

static void set_address(struct connection *p, const struct sockaddr *from)
{
	socklen_t len = sizeof(struct ucred);
	struct ucred peer;

	conn_address(from, &p->address);
	if (from != NULL && from->sa_family == AF_INET6 &&
	    !IN6_IS_ADDR_V4MAPPED(&p->address)) {
		memset(&p->address.s6_addr[8], 0, 8);
	} else if ((from == NULL || from->sa_family == AF_UNIX) &&
	           getsockopt(p->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0) {
		memcpy(&p->address.s6_addr[12], &peer.uid, sizeof(peer.uid));
	}
}

static bool same_address(const struct connection *a, const struct connection *b)
{
	return memcmp(&a->address, &b->address, sizeof(a->address)) == 0;
}

static bool is_open(const struct connection *p)
{
	return step_of(p) != CONNECTION_FREE && step_of(p) != CONNECTION_LEFT;
}

static unsigned *crowd_of(struct connections *c, const struct connection *p)
{
	return &c->crowd[digest_bytes(0, &p->address, sizeof(p->address)) % CROWDS];
}

/* Its place does not count any more. The lock is held. */
static void uncount(struct connections *c, struct connection *p)
{
	*crowd_of(c, p) -= p->counted;
	p->counted = false;
}

/* The lock is held. */
static void cut_off(struct connections *c, struct connection *p, uint64_t now_ms)
{
	uncount(c, p);
	set_state(p, CONNECTION_LEFT, now_ms);
	shutdown(p->fd, SHUT_RDWR);
}

/* How well a connection can be missed; 0: not at all. */
static unsigned rank_of(const struct connections *c, const struct connection *p,
                        uint64_t now_ms)
{
	enum connection_step step = step_of(p);

	if (c->o.has_users && !atomic_load(&p->trusted)) {
		return 3;
	}
	if (step == CONNECTION_FRESH || step == CONNECTION_IDLE) {
		return 2;
	}
	return age_of(p, now_ms) >= CONNECTIONS_BUSY_MS ? 1 : 0;
}

/* Can p be missed better than another of the same rank? */
static bool yields(struct connections *c, const struct connection *p,
                   const struct connection *other)
{
	unsigned crowd = *crowd_of(c, p), others = *crowd_of(c, other);

	return crowd != others                  ? crowd > others
	       : since_of(p) != since_of(other) ? since_of(p) < since_of(other)
	                                        : p->number < other->number;
}

/* Cuts off the connection that can be missed best. \param of  Of the address of this one;
 * NULL: of any. \return false: all are at work. */
static bool cut_one(struct connections *c, const struct connection *of,
                    const struct connection *but, uint64_t now_ms)
{
	struct connection *best = NULL;
	unsigned best_rank = 0;

	for (unsigned i = 0; i < c->n; i++) {
		struct connection *p = &c->place[i];

		if (p == but || !is_open(p) || (of != NULL && !same_address(of, p))) {
			continue;
		}
		unsigned rank = rank_of(c, p, now_ms);

		if (rank > best_rank ||
		    (rank != 0 && rank == best_rank && yields(c, p, best))) {
			best = p;
			best_rank = rank;
		}
	}
	if (best != NULL) {
		cut_off(c, best, now_ms);
	}
	return best != NULL;
}

struct connection *connections_add(struct connections *c, int fd,
                                   const struct sockaddr *from, uint64_t now_ms)
{
	struct connection *p = NULL;
	unsigned open = 0, near = 0;
	bool good = true;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < c->n && p == NULL; i++) {
		p = step_of(&c->place[i]) == CONNECTION_FREE ? &c->place[i] : NULL;
	}
	if (p == NULL) {
		pthread_mutex_unlock(&c->lock);
		shutdown(fd, SHUT_RDWR);
		return NULL;
	}
	p->fd = fd;
	p->request = NULL;
	set_address(p, from);
	atomic_store(&p->trusted, false);
	p->number = c->added++;
	p->counted = true;
	++*crowd_of(c, p);
	set_state(p, CONNECTION_FRESH, now_ms);
	for (unsigned i = 0; i < c->n; i++) {
		open += is_open(&c->place[i]);
		near += is_open(&c->place[i]) && same_address(&c->place[i], p);
	}
	if (c->o.per_address != 0 && near > c->o.per_address) {
		good = cut_one(c, p, p, now_ms);
	} else if (open > c->o.most - (c->o.most + RESERVE - 1) / RESERVE) {
		(void)cut_one(c, NULL, p, now_ms);
	}
	if (!good) {
		cut_off(c, p, now_ms);
	}
	pthread_mutex_unlock(&c->lock);
	return p;
}

void connections_pace(struct connections *c)
{
	unsigned left = 0;

	if (!c->o.paced) {
		return;
	}
	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < c->n; i++) {
		left += step_of(&c->place[i]) == CONNECTION_LEFT;
	}
	pthread_mutex_unlock(&c->lock);
	if (left > c->o.spare / 2) {
		unsigned ms = left - c->o.spare / 2; /* the fuller, the longer */

		nanosleep(&(struct timespec){ .tv_nsec = (long)ms * 1000000 }, NULL);
	}
}

void connections_remove(struct connections *c, struct connection *conn)
{
	if (conn != NULL) {
		pthread_mutex_lock(&c->lock);
		uncount(c, conn);
		conn->fd = -1;
		set_state(conn, CONNECTION_FREE, 0);
		pthread_mutex_unlock(&c->lock);
	}
}

void connections_leave(struct connections *c, struct connection *conn)
{
	if (conn != NULL) {
		pthread_mutex_lock(&c->lock);
		uncount(c, conn);
		set_state(conn, CONNECTION_LEFT, 0);
		pthread_mutex_unlock(&c->lock);
	}
}

unsigned connections_streams(struct connections *c, const struct connection *conn)
{
	unsigned n = 0;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; conn != NULL && i < c->n; i++) {
		n += step_of(&c->place[i]) == CONNECTION_STREAM &&
		     same_address(&c->place[i], conn);
	}
	pthread_mutex_unlock(&c->lock);
	return n;
}

void connections_cut_stalled(struct connections *c, uint64_t now_ms)
{
	struct connection *stalled = NULL;

	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < c->n; i++) {
		struct connection *p = &c->place[i];

		if (step_of(p) == CONNECTION_STREAM &&
		    age_of(p, now_ms) >= CONNECTIONS_STALLED_MS &&
		    (stalled == NULL || since_of(p) < since_of(stalled))) {
			stalled = p;
		}
	}
	if (stalled != NULL) {
		cut_off(c, stalled, now_ms);
	}
	pthread_mutex_unlock(&c->lock);
}

/* Most time of a step. 0: any. */
static uint64_t time_of(const struct connections *c, enum connection_step step)
{
	switch (step) {
	case CONNECTION_FRESH: return c->o.fresh_ms;
	case CONNECTION_IDLE: return c->o.idle_ms;
	case CONNECTION_BODY: return c->o.body_ms;
	case CONNECTION_ANSWER: return c->o.answer_ms;
	case CONNECTION_FREE:
	case CONNECTION_STREAM:
	case CONNECTION_LEFT: break;
	}
	return 0;
}

void connections_tend(struct connections *c, uint64_t now_ms)
{
	pthread_mutex_lock(&c->lock);
	for (unsigned i = 0; i < c->n; i++) {
		struct connection *p = &c->place[i];
		uint64_t most = time_of(c, step_of(p));

		if (most != 0 && age_of(p, now_ms) >= most) {
			cut_off(c, p, now_ms);
		}
	}
	pthread_mutex_unlock(&c->lock);
}

static uint64_t turn(void *ctx)
{
	uint64_t now = monotonic_ms();

	connections_tend(ctx, now);
	return now + LOOK_MS;
}

int connections_new(const struct connections_options *o,
                    struct connections **ret_connections)
{
	struct connections *c = calloc(1, sizeof(*c));
	int ret;

	if (c == NULL) {
		return -ENOMEM;
	}
	c->o = *o;
	c->o.fresh_ms = o->fresh_ms ? o->fresh_ms : CONNECTIONS_FRESH_MS;
	c->o.idle_ms = o->idle_ms ? o->idle_ms : CONNECTIONS_IDLE_MS;
	c->o.body_ms = o->body_ms ? o->body_ms : CONNECTIONS_BODY_MS;
	pthread_mutex_init(&c->lock, NULL);
	c->n = o->most + o->spare + 1;
	c->place = calloc(c->n, sizeof(*c->place));
	ret = c->place == NULL
	              ? -ENOMEM
	              : loop_new(&(struct loop_options){ .turn = turn, .ctx = c }, &c->loop);
	if (ret == E_OK) {
		ret = loop_start(c->loop);
	}
	if (ret != E_OK) {
		connections_free(c);
		return ret;
	}
	*ret_connections = c;
	return E_OK;
}

void connections_free(struct connections *c)
{
	if (c == NULL) {
		return;
	}
	loop_stop(c->loop);
	loop_free(c->loop);
	pthread_mutex_destroy(&c->lock);
	free(c->place);
	free(c);
}
