/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A listener is pulled (feed.h) while its socket takes what it has to say. Bytes that the socket
 * did not take are kept (conf/base/conn.h), and the listener is not pulled again before they
 * are gone, so the memory of a slow one is a page of events.
 */
#include "gateway/http/feeds.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/conn.h"
#include "conf/base/err.h"
#include "gateway/api/feed.h"
#include "gateway/view/source.h"

struct listener {
	struct conn conn; /* first; .more: there is more to send at once */
	struct feed feed;
};

struct feeds {
	struct feeds_options o;
	struct conn_set *conns;
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

static void count(const struct feeds *f, int change)
{
	if (f->o.count != NULL) {
		atomic_fetch_add(f->o.count, (uint64_t)(int64_t)change);
	}
}

static void on_closed(struct conn *c, int ret)
{
	(void)ret;
	shutdown(c->watch.fd, SHUT_RDWR);
	count(conn_ctx(c), -1);
}

static void say(struct listener *l, const struct body *text)
{
	if (body_done(text) != E_OK) {
		conn_close(&l->conn, -ENOMEM);
	} else if (text->len > 0) {
		conn_send(&l->conn, text->data, text->len);
	}
}

/* Sends what is new, at most a page, so that all have their turn. */
static void serve(struct listener *l, struct body *text)
{
	struct feeds *f = conn_ctx(&l->conn);

	l->conn.more = feed_pull(&l->feed, &f->page, f->o.source, boottime_ms(), text);
	say(l, text);
	body_clear(text);
	conn_flush(&l->conn);
}

static int on_opened(struct conn *c)
{
	struct listener *l = (struct listener *)c;
	struct body text = { .len = 0 };

	body_write(&text, head, sizeof(head) - 1);
	feed_head(&l->feed, &text);
	serve(l, &text);
	return E_OK;
}

static void on_more(struct conn *c)
{
	serve((struct listener *)c, &(struct body){ .len = 0 });
}

/* A listener has nothing more to say to us. */
static int ignore(struct conn *c, uint8_t *data, size_t len, size_t *ret_bytes)
{
	(void)c;
	(void)data;
	*ret_bytes = len;
	return E_OK;
}

static void beat(struct listener *l)
{
	struct body text = { .len = 0 };

	feed_heartbeat(&l->feed, &text);
	say(l, &text);
	body_clear(&text);
}

/* --- the thread -------------------------------------------------------------------------- */

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

/* New events and heartbeats. */
static void tend(struct feeds *f, uint64_t now_ms)
{
	struct stats_events now;
	struct conn *next;

	look(f, now_ms, &now);
	feed_page_clear(&f->page); /* it may be of a history that was trimmed meanwhile */
	for (struct conn *c = conn_first(f->conns); c != NULL; c = next) {
		struct listener *l = (struct listener *)c;

		next = c->next;
		if (c->out.n > 0) {
			continue;
		}
		if (now.next != 0 && l->feed.at != now.next) {
			on_more(c);
		} else if (monotonic_ms() - c->wrote_ms >= f->o.beat_ms) {
			beat(l);
		}
	}
	feed_page_clear(&f->page);
}

static uint64_t turn(void *ctx)
{
	struct feeds *f = ctx;
	uint64_t now_ms = boottime_ms();

	if (now_ms - f->looked_ms >= FEEDS_LOOK_MS) {
		f->looked_ms = now_ms;
		tend(f, now_ms);
	}
	return conn_first(f->conns) != NULL ? monotonic_ms() + FEEDS_LOOK_MS : UINT64_MAX;
}

/* --- calls from other threads -------------------------------------------------------------- */

int feeds_add(struct feeds *f, int fd, const struct sockaddr *from,
              const struct feed *feed)
{
	struct listener *l = calloc(1, sizeof(*l));
	const int on = 1, off = 0;
	int ret;

	if (l == NULL) {
		return -ENOMEM;
	}
	l->feed = *feed;
	/* The HTTP server may hold small packets back until it has more to send. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	count(f, 1);
	ret = conn_hand_over(f->conns, &l->conn, fd, from);
	if (ret != E_OK) {
		count(f, -1);
		free(l);
	}
	return ret;
}

static const struct conn_type listeners = {
	.bytes = sizeof(struct listener),
	.refusal = refusal,
	.ahead = true,
	.in_bytes = 512,
	.opened = on_opened,
	.message = ignore,
	.more = on_more,
	.closed = on_closed,
	.turn = turn,
};

/* --- begin and end ------------------------------------------------------------------------- */

int feeds_new(const struct feeds_options *o, struct feeds **ret_feeds)
{
	struct feeds *f = calloc(1, sizeof(*f));
	struct conn_type type = listeners;
	int ret;

	if (f == NULL) {
		return -ENOMEM;
	}
	f->o = *o;
	f->o.beat_ms = o->beat_ms ? o->beat_ms : FEEDS_BEAT_MS;
	type.stall_ms = o->stalled_ms ? o->stalled_ms : FEEDS_STALLED_MS;
	type.most = o->most;
	type.of_address = o->per_address;
	f->o.source = source_join(o->source);
	ret = f->o.source == NULL ? -ENOMEM : conn_set_new(&type, f, -1, &f->conns);
	if (ret == E_OK) {
		ret = loop_start(conn_loop(f->conns));
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
	conn_set_free(f->conns);
	feed_page_clear(&f->page);
	source_free(f->o.source);
	free(f);
}
