/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * New listeners wait in a list that a lock guards; the thread takes them over. All else
 * belongs to the thread alone.
 *
 * A listener is pulled (feed.h) while its socket takes what it has to say. Bytes that the socket
 * did not take are kept, and the listener is not pulled again before they are gone, so the
 * memory of a slow one is a page of events.
 */
#include "gateway/http/feeds.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/loop.h"
#include "gateway/api/feed.h"
#include "gateway/view/source.h"

struct listener {
	struct loop_watch watch; /* first */
	struct feeds *feeds;
	struct listener *next, *prev;
	struct feed feed;
	struct in6_addr address; /* as IPv6; all zero: not known */
	bool is_new;         /* nothing was sent yet */
	bool behind;         /* there is more to send at once */
	char *unsent;        /* what the socket did not take; NULL: it took all */
	size_t n_unsent, at; /* of it; sent so far */
	uint64_t moved_ms;   /* when something was sent last */
};

struct feeds {
	struct feeds_options o;
	struct loop *loop;
	pthread_mutex_t lock;
	struct listener *joining; /* under the lock, as the next one */
	uint32_t n;
	struct listener *all;
	struct feed_page page;
	uint64_t looked_ms; /* for new events */
};

static const char head[] = "HTTP/1.1 200 OK\r\n"
			   "Content-Type: text/event-stream\r\n"
			   "Cache-Control: no-cache\r\n"
			   "X-Content-Type-Options: nosniff\r\n"
			   "X-Accel-Buffering: no\r\n"
			   "Connection: close\r\n\r\n";

static const char refusal[] =
	"HTTP/1.1 503 Service Unavailable\r\n"
	"Content-Type: application/problem+json\r\n"
	"Retry-After: 30\r\n"
	"Connection: close\r\n\r\n"
	"{\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"there are enough listeners from this address; see --listeners-per-address\"}\n";

/* --- one listener ------------------------------------------------------------------------ */

/* One listener more or less. The lock is held. */
static void count(struct feeds *f, int change)
{
	f->n += (uint32_t)change;
	if (f->o.count != NULL) {
		atomic_store(f->o.count, f->n);
	}
}

static void drop(struct feeds *f, struct listener *l)
{
	if (l->prev != NULL) {
		l->prev->next = l->next;
	} else {
		f->all = l->next;
	}
	if (l->next != NULL) {
		l->next->prev = l->prev;
	}
	loop_remove(&l->watch);
	shutdown(l->watch.fd, SHUT_RDWR);
	close(l->watch.fd);
	free(l->unsent);
	free(l);
	pthread_mutex_lock(&f->lock);
	count(f, -1);
	pthread_mutex_unlock(&f->lock);
}

static void watch(struct listener *l)
{
	loop_events(&l->watch,
	            LOOP_READ | (l->unsent != NULL || l->behind ? LOOP_WRITE : 0U));
}

/* Sends as much as the socket takes. \return How much; -1: the connection is gone. */
static ssize_t send_some(struct listener *l, const char *data, size_t len,
                         uint64_t now_ms)
{
	ssize_t n = send(l->watch.fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0) {
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
	}
	l->moved_ms = n > 0 ? now_ms : l->moved_ms;
	return n;
}

/* Sends a text and keeps what the socket does not take. \return false: drop the listener. */
static bool say(struct listener *l, const struct body *text, uint64_t now_ms)
{
	ssize_t n = body_done(text) == E_OK ? send_some(l, text->data, text->len, now_ms)
	                                    : -1;
	size_t left;

	if (n < 0) {
		return false;
	}
	left = text->len - (size_t)n;
	if (left > 0) {
		l->unsent = malloc(left);
		if (l->unsent == NULL) {
			return false;
		}
		memcpy(l->unsent, text->data + n, left);
		l->n_unsent = left;
		l->at = 0;
		l->moved_ms = now_ms;
		watch(l);
	}
	return true;
}

/* Goes on with what the socket did not take before. */
static bool send_rest(struct listener *l, uint64_t now_ms)
{
	ssize_t n = send_some(l, l->unsent + l->at, l->n_unsent - l->at, now_ms);

	if (n < 0) {
		return false;
	}
	l->at += (size_t)n;
	if (l->at == l->n_unsent) {
		free(l->unsent);
		l->unsent = NULL;
		watch(l);
	}
	return true;
}

/* Sends what is new, at most a page, so that all have their turn. \return false: drop the
 * listener. */
static bool serve(struct feeds *f, struct listener *l, uint64_t now_ms)
{
	struct body text = { .len = 0 };
	bool good = true, was_behind = l->behind;

	if (l->is_new) {
		l->is_new = false;
		body_write(&text, head, sizeof(head) - 1);
		feed_head(&l->feed, &text);
	}
	l->behind = feed_pull(&l->feed, &f->page, f->o.source, now_ms, &text);
	if (l->behind != was_behind) {
		watch(l);
	}
	good = text.len == 0 || say(l, &text, now_ms);
	body_clear(&text);
	return good;
}

static bool beat(struct listener *l, uint64_t now_ms)
{
	struct body text = { .len = 0 };
	bool good;

	feed_heartbeat(&l->feed, &text);
	good = say(l, &text, now_ms);
	body_clear(&text);
	return good;
}

/* --- the thread -------------------------------------------------------------------------- */

/* Are there enough listeners from the address of this one? */
static bool has_enough(const struct feeds *f, const struct listener *l)
{
	uint32_t n = 0;

	if (f->o.per_address == 0) {
		return false;
	}
	for (const struct listener *o = f->all; o != NULL; o = o->next) {
		n += memcmp(&o->address, &l->address, sizeof(l->address)) == 0;
	}
	return n > f->o.per_address;
}

/* A listener has nothing more to say to us; it ends, or its socket takes more. */
static void on_ready(struct loop_watch *w, unsigned events)
{
	struct listener *l = (struct listener *)w;
	struct feeds *f = l->feeds;
	uint64_t now_ms = boottime_ms();
	char ignored[512];
	bool good = (events & LOOP_HANGUP) == 0;

	if (good && (events & LOOP_READ) != 0) {
		ssize_t n = recv(w->fd, ignored, sizeof(ignored), MSG_DONTWAIT);

		good = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
	}
	if (good && (events & LOOP_WRITE) != 0 && l->unsent != NULL) {
		good = send_rest(l, now_ms);
	}
	if (good && (events & LOOP_WRITE) != 0 && l->unsent == NULL && l->behind) {
		good = serve(f, l, now_ms);
	}
	if (!good) {
		drop(f, l);
	}
}

static void take_new(struct feeds *f, uint64_t now_ms)
{
	struct listener *l, *next;

	pthread_mutex_lock(&f->lock);
	l = f->joining;
	f->joining = NULL;
	pthread_mutex_unlock(&f->lock);
	for (; l != NULL; l = next) {
		next = l->next;
		l->prev = NULL;
		l->next = f->all;
		if (f->all != NULL) {
			f->all->prev = l;
		}
		f->all = l;
		l->moved_ms = now_ms;
		if (loop_add(f->loop, &l->watch, l->watch.fd, LOOP_READ) != E_OK) {
			drop(f, l);
		} else if (has_enough(f, l)) {
			(void)send_some(l, refusal, sizeof(refusal) - 1, now_ms);
			drop(f, l);
		} else if (!serve(f, l, now_ms)) {
			drop(f, l);
		}
	}
}

/* The number of the next event, and of the oldest that is kept. */
static void look(struct feeds *f, uint64_t now_ms, struct stats_events *ret_events)
{
	struct arena *a = arena_new();

	*ret_events = (struct stats_events){ .n = 0 };
	if (a != NULL) {
		(void)source_events(f->o.source, now_ms, UINT64_MAX, 0, a, ret_events);
	}
	arena_free(a);
}

/* New events, heartbeats, and listeners that take nothing any more. */
static void tend(struct feeds *f, uint64_t now_ms)
{
	struct stats_events now;
	struct listener *next;

	look(f, now_ms, &now);
	feed_page_clear(&f->page); /* it may be of a history that was trimmed meanwhile */
	for (struct listener *l = f->all; l != NULL; l = next) {
		bool good = true;

		next = l->next;
		if (l->unsent != NULL) {
			good = now_ms - l->moved_ms < f->o.stalled_ms;
		} else if (now.next != 0 && l->feed.at != now.next) {
			good = serve(f, l, now_ms);
		} else if (now_ms - l->moved_ms >= f->o.beat_ms) {
			good = beat(l, now_ms);
		}
		if (!good) {
			drop(f, l);
		}
	}
	feed_page_clear(&f->page);
}

static uint64_t turn(void *ctx)
{
	struct feeds *f = ctx;
	uint64_t now_ms = boottime_ms();

	take_new(f, now_ms);
	if (now_ms - f->looked_ms >= FEEDS_LOOK_MS) {
		f->looked_ms = now_ms;
		tend(f, now_ms);
	}
	return f->all != NULL ? monotonic_ms() + FEEDS_LOOK_MS : UINT64_MAX;
}

/* --- calls from other threads -------------------------------------------------------------- */

static void set_address(struct listener *l, const struct sockaddr *from)
{
	if (from != NULL && from->sa_family == AF_INET) {
		const struct sockaddr_in *v4 =
			(const struct sockaddr_in *)(const void *)from;

		l->address.s6_addr[10] = l->address.s6_addr[11] = 0xff;
		memcpy(&l->address.s6_addr[12], &v4->sin_addr, 4);
	} else if (from != NULL && from->sa_family == AF_INET6) {
		l->address = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
	}
}

int feeds_add(struct feeds *f, int fd, const struct sockaddr *from,
              const struct feed *feed)
{
	struct listener *l = calloc(1, sizeof(*l));
	const int on = 1, off = 0;
	int ret = E_OK;

	if (l == NULL) {
		return -ENOMEM;
	}
	l->watch = (struct loop_watch){ .fd = fd, .ready = on_ready };
	l->feeds = f;
	l->is_new = true;
	l->feed = *feed;
	set_address(l, from);
	/* The HTTP server may hold small packets back until it has more to send. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pthread_mutex_lock(&f->lock);
	if (f->n >= f->o.most) {
		ret = E_FULL;
	} else {
		l->next = f->joining;
		f->joining = l;
		count(f, 1);
	}
	pthread_mutex_unlock(&f->lock);
	if (ret != E_OK) {
		free(l);
		return ret;
	}
	loop_wake(f->loop);
	return E_OK;
}

/* --- begin and end ------------------------------------------------------------------------- */

int feeds_new(const struct feeds_options *o, struct feeds **ret_feeds)
{
	struct feeds *f = calloc(1, sizeof(*f));
	int ret;

	if (f == NULL) {
		return -ENOMEM;
	}
	f->o = *o;
	f->o.beat_ms = o->beat_ms ? o->beat_ms : FEEDS_BEAT_MS;
	f->o.stalled_ms = o->stalled_ms ? o->stalled_ms : FEEDS_STALLED_MS;
	pthread_mutex_init(&f->lock, NULL);
	f->o.source = source_join(o->source);
	ret = f->o.source == NULL
	              ? -ENOMEM
	              : loop_new(&(struct loop_options){ .turn = turn, .ctx = f },
	                         &f->loop);
	if (ret == E_OK) {
		ret = loop_start(f->loop);
	}
	if (ret != E_OK) {
		feeds_free(f);
		return ret;
	}
	*ret_feeds = f;
	return E_OK;
}

void feeds_free(struct feeds *f)
{
	if (f == NULL) {
		return;
	}
	loop_stop(f->loop);
	if (f->loop != NULL) {
		take_new(f, boottime_ms()); /* those that nobody has taken yet */
	}
	while (f->all != NULL) {
		drop(f, f->all);
	}
	loop_free(f->loop);
	feed_page_clear(&f->page);
	source_free(f->o.source);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
