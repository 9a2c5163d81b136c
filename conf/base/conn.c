/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Longer than most: limits, input and output all change what one connection waits for.
 */
#include "conf/base/conn.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"

enum {
	READ_BYTES = 32 << 10,
	TURN_BYTES =
		1 << 20, /* written to one connection before the others have a turn */
	KEPT_BYTES = 4 << 10, /* of a buffer that is empty */
	SLOW_MS = 1000,       /* in which a reader displaces nobody */
	PAUSE_MS =
		100 /* until a connection is accepted again when there was no descriptor */
};

struct conn_set {
	struct conn_type t;
	void *ctx;
	struct loop *loop;
	struct loop_watch listener;
	uint64_t paused_ms; /* nothing is accepted until then */
	uint32_t last_number;
	struct conn *gone; /* freed at the begin of the next turn */
	atomic_uint n;     /* with those that were handed over */
	atomic_bool called; /* by another thread: there are new answers, or connections */
	pthread_mutex_t lock;
	/* under the lock; the loop's thread alone changes the list, so it reads it without */
	struct conn *all;
	struct conn *handed;
	uint64_t posted; /* bytes of answers */
	unsigned n_answered;
};

/* --- bytes -------------------------------------------------------------------------------- */

int conn_bytes_add(struct conn_bytes *b, const void *data, size_t len)
{
	if (VECTOR_RESERVE(b->data, b->cap, b->n + len) != E_OK) {
		return -ENOMEM;
	}
	memcpy(b->data + b->n, data, len);
	b->n += len;
	return E_OK;
}

void conn_bytes_done(struct conn_bytes *b)
{
	free(b->data);
	*b = (struct conn_bytes){ 0 };
}

void conn_address(const struct sockaddr *from, struct in6_addr *ret_address)
{
	struct in6_addr a = { 0 };

	if (from != NULL && from->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)from;

		a.s6_addr[10] = a.s6_addr[11] = 0xff;
		memcpy(&a.s6_addr[12], &v4->sin_addr, 4);
	} else if (from != NULL && from->sa_family == AF_INET6) {
		a = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
	}
	*ret_address = a;
}

/* --- limits ------------------------------------------------------------------------------- */

static size_t unwritten(const struct conn *c)
{
	return c->out.n - c->out_at;
}

static bool may_take(const struct conn *c)
{
	return !c->busy && (c->set->t.ahead || unwritten(c) == 0);
}

static bool may_read(const struct conn *c)
{
	return c->set->t.readable != NULL ||
	       (c->in.n < c->set->t.in_bytes && (c->set->t.ahead || may_take(c)));
}

/* When it is closed unless something happens. */
static uint64_t limit_of(const struct conn *c)
{
	const struct conn_type *t = &c->set->t;
	uint64_t moved, whole;

	if (t->limit != NULL) {
		return t->limit(c);
	}
	moved = c->read_ms > c->wrote_ms ? c->read_ms : c->wrote_ms;
	if (c->in_ms == 0 && c->out_ms == 0) {
		return c->busy || t->idle_ms == 0 ? UINT64_MAX : moved + t->idle_ms;
	}
	if (t->stall_ms == 0) {
		return UINT64_MAX;
	}
	whole = c->in_ms != 0 ? c->in_ms + t->stall_ms : UINT64_MAX;
	if (c->out_ms != 0 && t->least_rate != 0) {
		uint64_t end = c->out_ms + t->stall_ms +
		               (c->written + unwritten(c)) * 1000 / t->least_rate;

		whole = end < whole ? end : whole;
	}
	return moved + t->stall_ms < whole ? moved + t->stall_ms : whole;
}

/* Closes the connection if a step failed, else waits for what is due next, until its time is over. */
static void finish(struct conn *c, int ret)
{
	bool takes = c->in.n > 0 && may_take(c), writes = unwritten(c) > 0;
	unsigned events =
		(may_read(c) ? LOOP_READ : 0U) | (writes || c->more ? LOOP_WRITE : 0U);
	uint64_t now, limit;

	c->served = false;
	if (c->closed || ret != E_OK) {
		conn_close(c, ret);
		return;
	}
	if (c->shakes) {
		events = c->set->t.transport->wants_write(c) ? LOOP_WRITE : LOOP_READ;
	}
	loop_events(&c->watch, events);
	now = monotonic_ms();
	c->in_ms = !takes ? 0 : c->in_ms != 0 ? c->in_ms : now;
	c->written = writes ? c->written : 0;
	c->out_ms = !writes ? 0 : c->out_ms != 0 ? c->out_ms : now;
	limit = limit_of(c);
	loop_deadline(&c->watch, limit != UINT64_MAX ? limit : 0);
}

/* How well it can be missed. \return 0: not at all. \param ret_least  Among those of one rank
 * the one with the least goes first. */
static unsigned rank_of(const struct conn *c, uint64_t now, uint64_t *ret_least)
{
	unsigned evicts = c->set->t.evicts;

	if ((evicts & CONN_UNPROVED) != 0 && !c->proved) {
		*ret_least = c->number;
		return CONN_UNPROVED;
	}
	if ((evicts & CONN_IDLE) != 0 && !c->busy && c->out_ms == 0) {
		*ret_least = c->read_ms > c->wrote_ms ? c->read_ms : c->wrote_ms;
		return CONN_IDLE;
	}
	if ((evicts & CONN_SLOW) != 0 && c->out_ms != 0 && now >= c->out_ms + SLOW_MS) {
		*ret_least = c->written * 1000 / (now - c->out_ms);
		return CONN_SLOW;
	}
	return 0;
}

static bool is_of(const struct conn *c, const struct in6_addr *address)
{
	return memcmp(&c->address, address, sizeof(*address)) == 0;
}

/* \param of  Of this address; NULL: of all. \param but  Not this one. */
static struct conn *find_victim(const struct conn_set *s, const struct in6_addr *of,
                                const struct conn *but)
{
	uint64_t now = monotonic_ms(), least = 0, best_least = 0;
	struct conn *best = NULL;
	unsigned best_rank = 0;

	for (struct conn *c = s->all; c != NULL; c = c->next) {
		unsigned rank = c == but || (of != NULL && !is_of(c, of))
		                        ? 0
		                        : rank_of(c, now, &least);

		/* the ranks are in the order in which they go */
		if (rank != 0 && (best == NULL || rank < best_rank ||
		                  (rank == best_rank && least < best_least))) {
			best = c;
			best_rank = rank;
			best_least = least;
		}
	}
	return best;
}

/* Connections of an address. */
static unsigned count_of(const struct conn_set *s, const struct in6_addr *address)
{
	unsigned n = 0;

	for (const struct conn *c = s->all; c != NULL; c = c->next) {
		n += is_of(c, address);
	}
	return n;
}

/* The connection that a new one displaces. */
static struct conn *victim_of(const struct conn_set *s, const struct conn *new_one)
{
	unsigned most = s->t.of_address ? s->t.of_address : UINT32_MAX;
	struct conn *victim;

	if (count_of(s, &new_one->address) > most) {
		return find_victim(s, &new_one->address, new_one);
	}
	for (const struct conn *c = s->all; c != NULL; c = c->next) {
		if (!is_of(c, &new_one->address) && count_of(s, &c->address) >= most) {
			victim = find_victim(s, &c->address, new_one);
			return victim != NULL ? victim : find_victim(s, NULL, new_one);
		}
	}
	return find_victim(s, NULL, new_one);
}

/* Makes room for a connection that has just come, or refuses it. */
static bool finds_place(struct conn_set *s, struct conn *c)
{
	bool full = s->t.most != 0 && s->n > s->t.most;
	struct conn *victim;

	if (s->t.evicts == 0) {
		full = full || (s->t.of_address != 0 &&
		                count_of(s, &c->address) > s->t.of_address);
		if (full && s->t.refusal != NULL) {
			(void)send(c->watch.fd, s->t.refusal, strlen(s->t.refusal),
			           MSG_DONTWAIT | MSG_NOSIGNAL);
		}
		return !full;
	}
	victim = full ? victim_of(s, c) : NULL;
	if (victim != NULL) {
		conn_close(victim, E_FULL);
	}
	return !full || victim != NULL;
}

/* Is there a place for one more, or somebody to give way? */
static bool has_room(const struct conn_set *s)
{
	return s->t.evicts == 0 || s->t.most == 0 || s->n < s->t.most ||
	       find_victim(s, NULL, NULL) != NULL;
}

/* --- input and output ---------------------------------------------------------------------- */

static int take_messages(struct conn *c)
{
	const struct conn_type *t = &c->set->t;
	size_t at = 0;
	int ret = E_OK;

	while (ret == E_OK && at < c->in.n && may_take(c)) {
		size_t bytes = 0;

		c->served = true;
		ret = t->message(c, c->in.data + at, c->in.n - at, &bytes);
		if (c->closed) {
			return E_OK;
		}
		if (ret == E_OK) {
			at += bytes;
			c->in_ms = 0;
		}
	}
	if (at > 0) {
		c->in.n -= at;
		memmove(c->in.data, c->in.data + at, c->in.n);
	}
	return ret != -EAGAIN ? ret : c->in.n < t->in_bytes ? E_OK : E_FULL;
}

static ssize_t read_plain(struct conn *c, void *to, size_t len)
{
	ssize_t n = recv(c->watch.fd, to, len, MSG_DONTWAIT);

	return n >= 0 ? n : -errno;
}

static ssize_t write_plain(struct conn *c, const void *from, size_t len)
{
	ssize_t n = send(c->watch.fd, from, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n >= 0 ? n : -errno;
}

static const struct conn_transport plain = { .read = read_plain, .write = write_plain };

static int error_of(ssize_t n)
{
	return n == -EAGAIN || n == -EINTR ? E_OK : (int)n;
}

static int read_input(struct conn *c)
{
	const struct conn_type *t = &c->set->t;
	ssize_t n;
	int ret;

	do {
		size_t room = t->in_bytes - c->in.n;

		room = room < READ_BYTES ? room : READ_BYTES;
		if (VECTOR_RESERVE(c->in.data, c->in.cap, c->in.n + room) != E_OK) {
			return -ENOMEM;
		}
		n = t->transport->read(c, c->in.data + c->in.n, room);
		if (n <= 0) {
			int last = t->drained != NULL ? t->drained(c) : E_OK;

			ret = n == 0 ? -ECONNRESET : error_of(n);
			return ret == E_OK ? last : ret;
		}
		c->in.n += (size_t)n;
		c->read_ms = monotonic_ms();
		ret = take_messages(c);
	} while (t->transport->handshake != NULL && ret == E_OK && !c->closed &&
	         may_read(c));
	return ret;
}

/* All of the output is written. */
static void end_output(struct conn *c)
{
	c->out.n = c->out_at = 0;
	if (c->held > 0 || c->out.cap > KEPT_BYTES) {
		conn_bytes_done(&c->out);
	}
	if (c->held > 0) {
		pthread_mutex_lock(&c->set->lock);
		c->set->posted -= c->held;
		pthread_mutex_unlock(&c->set->lock);
		c->held = 0;
	}
}

static int write_output(struct conn *c)
{
	size_t len = unwritten(c) < TURN_BYTES ? unwritten(c) : TURN_BYTES;
	ssize_t n;

	if (len == 0 || c->shakes) {
		return E_OK;
	}
	n = c->set->t.transport->write(c, c->out.data + c->out_at, len);
	if (n < 0) {
		return error_of(n);
	}
	c->out_at += (size_t)n;
	c->written += (uint64_t)n;
	c->wrote_ms = monotonic_ms();
	if (unwritten(c) == 0) {
		end_output(c);
	}
	return E_OK;
}

/* Writes what waits; then the next message may be here already. */
static int go_on(struct conn *c)
{
	int ret = write_output(c);

	return ret == E_OK && c->set->t.message != NULL ? take_messages(c) : ret;
}

void conn_flush(struct conn *c)
{
	int ret = c->closed ? E_OK : write_output(c);

	if (ret != E_OK || !c->served) {
		finish(c, ret);
	}
}

static int add_output(struct conn *c, const void *data, size_t len)
{
	size_t most = c->set->t.out_bytes;

	if (c->out_at > c->out.n / 2) {
		c->out.n -= c->out_at;
		memmove(c->out.data, c->out.data + c->out_at, c->out.n);
		c->out_at = 0;
	}
	return most == 0 || unwritten(c) + len <= most
	               ? conn_bytes_add(&c->out, data, len)
	               : E_FULL;
}

/* The same. It may be long, so it is not copied if nothing waits. */
static int add_bytes(struct conn *c, struct conn_bytes *b)
{
	struct conn_bytes had = c->out;
	int ret;

	if (had.n == 0) {
		c->out = *b;
		*b = had;
		return E_OK;
	}
	ret = add_output(c, b->data, b->n);
	b->n = 0;
	return ret;
}

void conn_send(struct conn *c, const void *data, size_t len)
{
	if (!c->closed && add_output(c, data, len) != E_OK) {
		conn_close(c, E_FULL);
	} else {
		conn_flush(c);
	}
}

void conn_send_bytes(struct conn *c, struct conn_bytes *b)
{
	if (!c->closed && add_bytes(c, b) != E_OK) {
		conn_close(c, E_FULL);
	} else {
		conn_flush(c);
	}
}

/* Goes on with what comes before the first byte; then some may be here already. */
static int go_on_handshake(struct conn *c)
{
	int ret = c->set->t.transport->handshake(c);

	if (ret != E_OK || c->closed) {
		return ret == -EAGAIN ? E_OK : ret;
	}
	c->shakes = false;
	ret = write_output(c);
	return ret == E_OK ? read_input(c) : ret;
}

static void on_ready(struct loop_watch *w, unsigned events)
{
	struct conn *c = (struct conn *)w;
	const struct conn_type *t = &c->set->t;
	int ret = E_OK;

	if ((events & LOOP_TIME) != 0) {
		finish(c, monotonic_ms() >= limit_of(c) ? -ETIMEDOUT : E_OK);
		return;
	}
	if (c->shakes) {
		finish(c, go_on_handshake(c));
		return;
	}
	if ((events & (LOOP_READ | LOOP_HANGUP)) != 0) {
		if (t->readable != NULL) {
			t->readable(c);
		} else {
			ret = may_read(c)                   ? read_input(c)
			      : (events & LOOP_HANGUP) != 0 ? -ECONNRESET
			                                    : E_OK;
		}
	}
	if (ret == E_OK && !c->closed && (events & LOOP_WRITE) != 0) {
		bool waited = unwritten(c) > 0;

		ret = waited ? go_on(c) : E_OK;
		if (ret == E_OK && !c->closed && unwritten(c) == 0 && c->more) {
			t->more(c);
		}
	}
	finish(c, ret);
}

/* --- begin and end of a connection ---------------------------------------------------------- */

/* Its place in the list; the caller counts it. */
static int enter(struct conn_set *s, struct conn *c, int fd)
{
	int ret = loop_add(s->loop, &c->watch, fd, LOOP_READ);

	if (ret != E_OK) {
		return ret;
	}
	c->number = ++s->last_number != 0 ? s->last_number : ++s->last_number;
	c->read_ms = c->wrote_ms = monotonic_ms();
	pthread_mutex_lock(&s->lock);
	c->next = s->all;
	if (c->next != NULL) {
		c->next->prev = c;
	}
	s->all = c;
	pthread_mutex_unlock(&s->lock);
	return E_OK;
}

static void init(struct conn_set *s, struct conn *c, const struct sockaddr *from)
{
	c->set = s;
	c->watch.ready = on_ready;
	c->shakes = s->t.transport->handshake != NULL;
	conn_address(from, &c->address);
}

/* Opens one that has its place. */
static void open_conn(struct conn *c)
{
	int ret = c->set->t.opened != NULL ? c->set->t.opened(c) : E_OK;

	finish(c, ret == E_OK && !c->closed && c->shakes ? go_on_handshake(c) : ret);
}

int conn_add(struct conn_set *s, struct conn *c, int fd, const struct sockaddr *from)
{
	int ret;

	init(s, c, from);
	ret = enter(s, c, fd);
	if (ret == E_OK) {
		s->n++;
		open_conn(c);
	}
	return ret;
}

int conn_hand_over(struct conn_set *s, struct conn *c, int fd,
                   const struct sockaddr *from)
{
	int ret = E_OK;

	init(s, c, from);
	c->watch.fd = fd;
	pthread_mutex_lock(&s->lock);
	if (s->t.most != 0 && s->n >= s->t.most) {
		ret = E_FULL;
	} else {
		c->next = s->handed;
		s->handed = c;
		s->n++;
		s->called = true;
	}
	pthread_mutex_unlock(&s->lock);
	if (ret == E_OK) {
		loop_wake(s->loop);
	}
	return ret;
}

static void take_handed(struct conn_set *s, bool ends)
{
	struct conn *c, *next;

	pthread_mutex_lock(&s->lock);
	c = s->handed;
	s->handed = NULL;
	pthread_mutex_unlock(&s->lock);
	for (; c != NULL; c = next) {
		next = c->next;
		c->next = NULL;
		if (ends || enter(s, c, c->watch.fd) != E_OK) {
			conn_close(c, -ECANCELED);
		} else if (finds_place(s, c)) {
			open_conn(c);
		} else {
			conn_close(c, E_FULL);
		}
	}
}

void conn_close(struct conn *c, int ret)
{
	struct conn_set *s = c->set;

	if (c->closed) {
		return;
	}
	c->closed = true;
	pthread_mutex_lock(&s->lock);
	if (c->prev != NULL) {
		c->prev->next = c->next;
	} else if (s->all == c) {
		s->all = c->next;
	}
	if (c->next != NULL) {
		c->next->prev = c->prev;
	}
	s->n--;
	s->n_answered -= c->answered;
	s->posted -= c->held + c->answer.n;
	pthread_mutex_unlock(&s->lock);
	if (s->t.closed != NULL) {
		s->t.closed(c, ret);
	}
	loop_remove(&c->watch);
	close(c->watch.fd);
	c->watch.fd = -1;
	conn_bytes_done(&c->in);
	conn_bytes_done(&c->out);
	conn_bytes_done(&c->answer);
	c->next = s->gone; /* callers may still point to it */
	s->gone = c;
}

static void free_gone(struct conn_set *s)
{
	for (struct conn *c; (c = s->gone) != NULL;) {
		s->gone = c->next;
		free(c);
	}
}

static void accept_conn(struct loop_watch *w, unsigned events)
{
	struct conn_set *s =
		(struct conn_set *)((char *)w - offsetof(struct conn_set, listener));
	struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(from);
	struct conn *c;
	int fd;

	(void)events;
	if (!has_room(s)) { /* the last places were given work in this turn */
		return;
	}
	fd = accept4(w->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	c = fd >= 0 ? calloc(1, s->t.bytes) : NULL;
	if (c != NULL) {
		init(s, c, (struct sockaddr *)&from);
	}
	if (c == NULL || enter(s, c, fd) != E_OK) {
		/* the one that waits would be ready at once, again and again */
		if (fd >= 0 ||
		    (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)) {
			s->paused_ms = monotonic_ms() + PAUSE_MS;
		}
		if (fd >= 0) {
			close(fd);
		}
		free(c);
		return;
	}
	s->n++;
	if (s->t.admit != NULL && !s->t.admit(c)) {
		conn_close(c, -EPERM);
	} else if (!finds_place(s, c)) {
		conn_close(c, E_FULL);
	} else {
		open_conn(c);
	}
}

/* --- answers of other threads ---------------------------------------------------------------- */

void conn_wait(struct conn *c)
{
	pthread_mutex_lock(&c->set->lock);
	c->busy = true;
	pthread_mutex_unlock(&c->set->lock);
}

int conn_post(struct conn_set *s, uint32_t number, void *data, size_t len)
{
	struct conn *c;
	int ret = E_OK;

	pthread_mutex_lock(&s->lock);
	c = s->all;
	while (c != NULL && (c->number != number || !c->busy || c->answered)) {
		c = c->next;
	}
	if (c != NULL && data != NULL && s->t.posted_bytes != 0 &&
	    s->posted + len > s->t.posted_bytes) {
		ret = -ENOBUFS;
	}
	if (c != NULL) {
		c->answered = true;
		c->ends = data == NULL || ret != E_OK;
		s->n_answered++;
		s->called = true;
	}
	if (c != NULL && !c->ends) {
		c->answer = (struct conn_bytes){ data, len, len };
		s->posted += len;
		data = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	free(data);
	loop_wake(s->loop);
	return ret;
}

/* The next connection whose answer has come. \param ret_answer  What it is; no data: it ends.
 * \param ret_more  There are others. */
static struct conn *next_answered(struct conn_set *s, struct conn_bytes *ret_answer,
                                  bool *ret_more)
{
	struct conn *c;

	pthread_mutex_lock(&s->lock);
	c = s->n_answered > 0 ? s->all : NULL;
	while (c != NULL && !c->answered) {
		c = c->next;
	}
	if (c != NULL) {
		*ret_answer = c->answer;
		c->answer = (struct conn_bytes){ 0 };
		c->held += ret_answer->n;
		c->answered = c->busy = false;
		s->n_answered--;
	}
	*ret_more = s->n_answered > 0;
	pthread_mutex_unlock(&s->lock);
	return c;
}

static void deliver(struct conn_set *s)
{
	struct conn_bytes answer = { 0 };
	bool more = true;
	struct conn *c;
	int ret;

	while (more && (c = next_answered(s, &answer, &more)) != NULL) {
		ret = c->ends ? -ECANCELED : add_bytes(c, &answer);
		conn_bytes_done(&answer);
		finish(c, ret == E_OK ? go_on(c) : ret);
	}
}

/* --- the set ---------------------------------------------------------------------------------- */

static uint64_t turn(void *arg)
{
	struct conn_set *s = arg;
	uint64_t until, now;

	free_gone(s);
	if (s->called) {
		s->called = false;
		take_handed(s, false);
		deliver(s);
	}
	until = s->t.turn != NULL ? s->t.turn(s->ctx) : UINT64_MAX;
	if (s->listener.loop != NULL) {
		bool room = has_room(s);

		now = monotonic_ms();
		loop_events(&s->listener, room && now >= s->paused_ms ? LOOP_READ : 0U);
		if (now < s->paused_ms) {
			until = s->paused_ms < until ? s->paused_ms : until;
		} else if (!room && now + SLOW_MS < until) {
			until = now + SLOW_MS; /* by then a slow reader may make room */
		}
	}
	return until;
}

int conn_set_new(const struct conn_type *t, void *ctx, int listener,
                 struct conn_set **ret_set)
{
	struct conn_set *s = calloc(1, sizeof(*s));
	int ret;

	if (s == NULL) {
		if (listener >= 0) {
			close(listener);
		}
		return -ENOMEM;
	}
	s->t = *t;
	s->t.transport = t->transport != NULL ? t->transport : &plain;
	s->ctx = ctx;
	s->listener = (struct loop_watch){ .fd = listener, .ready = accept_conn };
	pthread_mutex_init(&s->lock, NULL);
	ret = loop_new(&(struct loop_options){ .turn = turn, .ctx = s }, &s->loop);
	if (ret == E_OK && listener >= 0) {
		ret = loop_add(s->loop, &s->listener, listener, LOOP_READ);
	}
	if (ret != E_OK) {
		conn_set_free(s);
		return ret;
	}
	*ret_set = s;
	return E_OK;
}

struct loop *conn_loop(const struct conn_set *s)
{
	return s->loop;
}

void *conn_ctx(const struct conn *c)
{
	return c->set->ctx;
}

struct conn *conn_first(const struct conn_set *s)
{
	return s->all;
}

void conn_set_stop(struct conn_set *s)
{
	loop_stop(s != NULL ? s->loop : NULL);
}

void conn_set_free(struct conn_set *s)
{
	if (s == NULL) {
		return;
	}
	loop_stop(s->loop);
	take_handed(s, true);
	while (s->all != NULL) {
		conn_close(s->all, -ECANCELED);
	}
	free_gone(s);
	loop_remove(&s->listener);
	if (s->listener.fd >= 0) {
		close(s->listener.fd);
	}
	loop_free(s->loop);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
