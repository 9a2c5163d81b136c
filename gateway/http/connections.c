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
#include "gateway/http/connections.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"

enum { LOOK_MS = 500, RESERVE = 16 /* a place in so many is kept free */ };

struct connections {
	struct connections_options o;
	pthread_mutex_t lock;
	struct connection *place; /* [n]; under the lock, but their state */
	unsigned n;
	pthread_t thread;
	bool started;
	int end; /* eventfd */
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

static void set_address(struct connection *p, const struct sockaddr *from)
{
	memset(&p->address, 0, sizeof(p->address));
	if (from != NULL && from->sa_family == AF_INET) {
		const struct sockaddr_in *v4 =
			(const struct sockaddr_in *)(const void *)from;

		p->address.s6_addr[10] = p->address.s6_addr[11] = 0xff;
		memcpy(&p->address.s6_addr[12], &v4->sin_addr, 4);
	} else if (from != NULL && from->sa_family == AF_INET6) {
		p->address = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
		if (!IN6_IS_ADDR_V4MAPPED(&p->address)) {
			memset(&p->address.s6_addr[8], 0, 8);
		}
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

/* The lock is held. */
static void cut_off(struct connection *p, uint64_t now_ms)
{
	set_state(p, CONNECTION_LEFT, now_ms);
	shutdown(p->fd, SHUT_RDWR);
}

/* Cuts off the connection that can be missed best. \param of  Of the address of this one;
 * NULL: of any. \return false: all are at work. */
static bool cut_one(struct connections *c, const struct connection *of,
                    const struct connection *but, uint64_t now_ms)
{
	struct connection *waits = NULL, *busy = NULL;

	for (unsigned i = 0; i < c->n; i++) {
		struct connection *p = &c->place[i];
		enum connection_step step = step_of(p);
		bool idle = step == CONNECTION_FRESH || step == CONNECTION_IDLE;

		if (p == but || !is_open(p) || (of != NULL && !same_address(of, p))) {
			continue;
		}
		if (idle && (waits == NULL || since_of(p) < since_of(waits))) {
			waits = p;
		}
		if (!idle && age_of(p, now_ms) >= CONNECTIONS_BUSY_MS &&
		    (busy == NULL || since_of(p) < since_of(busy))) {
			busy = p;
		}
	}
	waits = waits != NULL ? waits : busy;
	if (waits != NULL) {
		cut_off(waits, now_ms);
	}
	return waits != NULL;
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
		cut_off(p, now_ms);
	}
	pthread_mutex_unlock(&c->lock);
	return p;
}

void connections_remove(struct connections *c, struct connection *conn)
{
	if (conn != NULL) {
		pthread_mutex_lock(&c->lock);
		conn->fd = -1;
		set_state(conn, CONNECTION_FREE, 0);
		pthread_mutex_unlock(&c->lock);
	}
}

void connections_leave(struct connections *c, struct connection *conn)
{
	if (conn != NULL) {
		pthread_mutex_lock(&c->lock);
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
		cut_off(stalled, now_ms);
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
	case CONNECTION_FREE:
	case CONNECTION_ANSWER:
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
			cut_off(p, now_ms);
		}
	}
	pthread_mutex_unlock(&c->lock);
}

static void *run_thread(void *arg)
{
	struct connections *c = arg;
	struct pollfd p = { .fd = c->end, .events = POLLIN };

	while (poll(&p, 1, LOOK_MS) <= 0) {
		connections_tend(c, monotonic_ms());
	}
	return NULL;
}

int connections_new(const struct connections_options *o, struct connections **ret)
{
	struct connections *c = calloc(1, sizeof(*c));
	int err;

	if (c == NULL) {
		return -ENOMEM;
	}
	c->o = *o;
	c->o.fresh_ms = o->fresh_ms ? o->fresh_ms : CONNECTIONS_FRESH_MS;
	c->o.idle_ms = o->idle_ms ? o->idle_ms : CONNECTIONS_IDLE_MS;
	c->o.body_ms = o->body_ms ? o->body_ms : CONNECTIONS_BODY_MS;
	pthread_mutex_init(&c->lock, NULL);
	c->n = o->most + 1;
	c->place = calloc(c->n, sizeof(*c->place));
	c->end = eventfd(0, EFD_CLOEXEC);
	err = c->place == NULL ? -ENOMEM
	      : c->end < 0     ? -errno
	                       : -pthread_create(&c->thread, NULL, run_thread, c);
	c->started = err == E_OK;
	if (err != E_OK) {
		connections_free(c);
		return err;
	}
	*ret = c;
	return E_OK;
}

void connections_free(struct connections *c)
{
	uint64_t one = 1;

	if (c == NULL) {
		return;
	}
	if (c->started && write(c->end, &one, sizeof(one)) == sizeof(one)) {
		pthread_join(c->thread, NULL);
	}
	if (c->end >= 0) {
		close(c->end);
	}
	pthread_mutex_destroy(&c->lock);
	free(c->place);
	free(c);
}
