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
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/api/feed.h"
#include "gateway/view/source.h"

enum { READY = 128 };

struct listener {
	struct listener *next, *prev;
	struct feed feed;
	struct in6_addr address; /* as IPv6; all zero: not known */
	int fd;
	bool is_new;         /* nothing was sent yet */
	bool behind;         /* there is more to send at once */
	char *unsent;        /* what the socket did not take; NULL: it took all */
	size_t n_unsent, at; /* of it; sent so far */
	uint64_t moved_ms;   /* when something was sent last */
};

struct feeds {
	struct feeds_options o;
	pthread_t thread;
	pthread_mutex_t lock;
	struct listener *joining; /* under the lock, as the next two */
	uint32_t n;
	bool stop, started;
	struct listener *all;
	struct feed_page page;
	int epoll, wake;
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
	"{\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"there are enough "
	"listeners from this address; see --listeners-per-address\"}\n";

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
	epoll_ctl(f->epoll, EPOLL_CTL_DEL, l->fd, NULL);
	shutdown(l->fd, SHUT_RDWR);
	close(l->fd);
	free(l->unsent);
	free(l);
	pthread_mutex_lock(&f->lock);
	count(f, -1);
	pthread_mutex_unlock(&f->lock);
}

static void watch(struct feeds *f, struct listener *l, int how)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = l };

	if (l->unsent != NULL || l->behind) {
		e.events |= EPOLLOUT;
	}
	(void)epoll_ctl(f->epoll, how, l->fd, &e);
}

/* Sends as much as the socket takes. \return How much; -1: the connection is gone. */
static ssize_t send_some(struct listener *l, const char *data, size_t len,
                         uint64_t now_ms)
{
	ssize_t n = send(l->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0) {
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
	}
	l->moved_ms = n > 0 ? now_ms : l->moved_ms;
	return n;
}

/* Sends a text and keeps what the socket does not take. \return false: drop the listener. */
static bool say(struct feeds *f, struct listener *l, const struct body *text,
                uint64_t now_ms)
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
		watch(f, l, EPOLL_CTL_MOD);
	}
	return true;
}

/* Goes on with what the socket did not take before. */
static bool send_rest(struct feeds *f, struct listener *l, uint64_t now_ms)
{
	ssize_t n = send_some(l, l->unsent + l->at, l->n_unsent - l->at, now_ms);

	if (n < 0) {
		return false;
	}
	l->at += (size_t)n;
	if (l->at == l->n_unsent) {
		free(l->unsent);
		l->unsent = NULL;
		watch(f, l, EPOLL_CTL_MOD);
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
		watch(f, l, EPOLL_CTL_MOD);
	}
	good = text.len == 0 || say(f, l, &text, now_ms);
	body_clear(&text);
	return good;
}

static bool beat(struct feeds *f, struct listener *l, uint64_t now_ms)
{
	struct body text = { .len = 0 };
	bool good;

	feed_heartbeat(&l->feed, &text);
	good = say(f, l, &text, now_ms);
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

static bool take_new(struct feeds *f, uint64_t now_ms)
{
	struct listener *l, *next;
	bool stop;

	pthread_mutex_lock(&f->lock);
	l = f->joining;
	f->joining = NULL;
	stop = f->stop;
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
		watch(f, l, EPOLL_CTL_ADD);
		if (has_enough(f, l)) {
			(void)send_some(l, refusal, sizeof(refusal) - 1, now_ms);
			drop(f, l);
		} else if (!serve(f, l, now_ms)) {
			drop(f, l);
		}
	}
	return !stop;
}

/* A listener has nothing more to say to us; it ends, or its socket takes more. */
static void on_ready(struct feeds *f, struct listener *l, uint32_t events,
                     uint64_t now_ms)
{
	char ignored[512];
	bool good = (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) == 0;

	if (good && (events & EPOLLIN)) {
		ssize_t n = recv(l->fd, ignored, sizeof(ignored), MSG_DONTWAIT);

		good = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
	}
	if (good && (events & EPOLLOUT) && l->unsent != NULL) {
		good = send_rest(f, l, now_ms);
	}
	if (good && (events & EPOLLOUT) && l->unsent == NULL && l->behind) {
		good = serve(f, l, now_ms);
	}
	if (!good) {
		drop(f, l);
	}
}

/* The number of the next event, and of the oldest that is kept. */
static void look(struct feeds *f, uint64_t now_ms, struct stats_events *ret)
{
	struct arena *a = arena_new();

	*ret = (struct stats_events){ .n = 0 };
	if (a != NULL) {
		(void)source_events(f->o.source, now_ms, UINT64_MAX, 0, a, ret);
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
			good = beat(f, l, now_ms);
		}
		if (!good) {
			drop(f, l);
		}
	}
	feed_page_clear(&f->page);
}

static void *run_thread(void *arg)
{
	struct feeds *f = arg;
	struct epoll_event ready[READY];
	uint64_t count;

	for (;;) {
		int n = epoll_wait(f->epoll, ready, READY,
		                   f->all != NULL ? FEEDS_LOOK_MS : -1);
		uint64_t now_ms = source_now_ms();
		bool woken = false;

		for (int i = 0; i < n; i++) {
			if (ready[i].data.ptr == NULL) {
				woken = read(f->wake, &count, sizeof(count)) > 0;
			} else {
				on_ready(f, ready[i].data.ptr, ready[i].events, now_ms);
			}
		}
		if (woken && !take_new(f, now_ms)) {
			return NULL;
		}
		if (now_ms - f->looked_ms >= FEEDS_LOOK_MS) {
			f->looked_ms = now_ms;
			tend(f, now_ms);
		}
	}
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
	uint64_t one = 1;
	int err = E_OK;

	if (l == NULL) {
		return -ENOMEM;
	}
	l->fd = fd;
	l->is_new = true;
	l->feed = *feed;
	set_address(l, from);
	/* The HTTP server may hold small packets back until it has more to send. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pthread_mutex_lock(&f->lock);
	if (f->n >= f->o.most) {
		err = E_FULL;
	} else {
		l->next = f->joining;
		f->joining = l;
		count(f, 1);
	}
	pthread_mutex_unlock(&f->lock);
	if (err != E_OK) {
		free(l);
		return err;
	}
	if (write(f->wake, &one, sizeof(one)) < 0) {
		return E_OK; /* the thread is being woken already */
	}
	return E_OK;
}

uint32_t feeds_count(struct feeds *f)
{
	pthread_mutex_lock(&f->lock);
	uint32_t n = f->n;
	pthread_mutex_unlock(&f->lock);
	return n;
}

/* --- begin and end ------------------------------------------------------------------------- */

int feeds_new(const struct feeds_options *o, struct feeds **ret)
{
	struct feeds *f = calloc(1, sizeof(*f));
	struct epoll_event e = { .events = EPOLLIN };
	int err;

	if (f == NULL) {
		return -ENOMEM;
	}
	f->o = *o;
	f->o.beat_ms = o->beat_ms ? o->beat_ms : FEEDS_BEAT_MS;
	f->o.stalled_ms = o->stalled_ms ? o->stalled_ms : FEEDS_STALLED_MS;
	pthread_mutex_init(&f->lock, NULL);
	f->o.source = source_join(o->source);
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = f->o.source == NULL ? -ENOMEM
	      : f->wake < 0 || f->epoll < 0 ||
	                      epoll_ctl(f->epoll, EPOLL_CTL_ADD, f->wake, &e) != 0
	              ? -errno
	              : -pthread_create(&f->thread, NULL, run_thread, f);
	f->started = err == E_OK;
	if (err != E_OK) {
		feeds_free(f);
		return err;
	}
	*ret = f;
	return E_OK;
}

void feeds_free(struct feeds *f)
{
	uint64_t one = 1;

	if (f == NULL) {
		return;
	}
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_mutex_unlock(&f->lock);
	if (f->started && write(f->wake, &one, sizeof(one)) == sizeof(one)) {
		pthread_join(f->thread, NULL);
	}
	while (f->all != NULL) {
		drop(f, f->all);
	}
	if (f->wake >= 0) {
		close(f->wake);
	}
	if (f->epoll >= 0) {
		close(f->epoll);
	}
	feed_page_clear(&f->page);
	source_free(f->o.source);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
