/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * One thread polls the listening socket and all connections. It alone opens, reads and
 * closes them. A connection has one request with the server at a time:
 *
 *   reading --frame--> waiting --answer--> writing --written--> reading
 *      |                  |                   |
 *      +--- idle or malformed --> closed <----+---- idle
 *                         +-- no answer --> closed
 *
 * Whatever else a client sends stays in its socket until then, so this process holds at
 * most one answer per connection, and there is a limit for all answers together. The SA
 * answer thread brings answers (take_answer()) and wakes the thread. When a request is
 * dropped its connection is closed, so that the client does not wait in vain.
 */
#include "sa/server/oob.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "conf/base/log.h"
#include "sa/mad/transport.h"
#include "sa/mad/wakeup.h"
#include "sa/mad/wire.h"
#include "sa/server/oob_frame.h"
#include "sa/server/server.h"

enum {
	IDLE_MS = 30000,
	TURN_BYTES =
		1 << 20, /* written to one connection before the others have a turn */
	BAD_LINES = 5,   /* log lines about clients that speak something else */
	BAD_LINES_MS = 60000
};

#define MAX_ANSWER_BYTES (UINT64_C(256) << 20)

/* Numbers of requesters over TCP are no LIDs: those have 24 bits. */
#define REQUESTER_BIT UINT32_C(0x80000000)

static const char *const source = "oob";

enum stage { CLOSED, READING, WAITING, WRITING, CLOSING };

struct connection {
	int fd;
	uint32_t requester;
	uint64_t moved_ms; /* when something was read or written last */
	size_t got;        /* bytes of in */
	uint8_t in[OOB_FRAME_MAX];
	/* under the lock */
	uint32_t id; /* serial number * OOB_CONNECTIONS + slot */
	enum stage stage;
	uint8_t *out;
	size_t out_len, out_at;
};

struct oob {
	struct sa_origin origin; /* first */
	struct sa_server *server;
	struct listening listening;
	uint32_t idle_ms;
	uint64_t max_answer_bytes;
	int wake;
	pthread_t thread;
	atomic_bool stop;
	struct log_limit bad_lines;
	uint32_t serial;
	pthread_mutex_t lock;
	uint64_t answer_bytes; /* of all connections; under the lock */
	struct connection c[OOB_CONNECTIONS];
};

static uint64_t now_ms(void)
{
	return wakeup_now_us() / 1000;
}

static void wake(struct oob *o)
{
	uint64_t one = 1;
	ssize_t n = write(o->wake, &one, sizeof(one));
	(void)n; /* a full counter is readable, too */
}

static enum stage stage_of(struct oob *o, const struct connection *c)
{
	pthread_mutex_lock(&o->lock);
	enum stage s = c->stage;
	pthread_mutex_unlock(&o->lock);
	return s;
}

static void set_stage(struct oob *o, struct connection *c, enum stage stage)
{
	pthread_mutex_lock(&o->lock);
	if (stage != WRITING) {
		o->answer_bytes -= c->out_len;
		free(c->out);
		c->out = NULL;
		c->out_len = c->out_at = 0;
	}
	c->stage = stage;
	pthread_mutex_unlock(&o->lock);
}

static void close_connection(struct oob *o, struct connection *c)
{
	set_stage(o, c, CLOSED);
	close(c->fd);
	c->fd = -1;
	c->got = 0;
}

/* --- answers, on the SA answer thread (or our own, when the queue is full) -------------
 */

static int keep_answer(struct oob *o, struct connection *c, const uint8_t *data,
                       size_t len)
{
	if (o->answer_bytes + len > o->max_answer_bytes) {
		return -ENOBUFS;
	}
	uint8_t *out = malloc(OOB_HEAD_BYTES + len);
	if (out == NULL) {
		return -ENOMEM;
	}
	oob_frame_head(len, out);
	memcpy(out + OOB_HEAD_BYTES, data, len);
	c->out = out;
	c->out_len = OOB_HEAD_BYTES + len;
	o->answer_bytes += c->out_len;
	return E_OK;
}

static int take_answer(struct sa_origin *origin, const struct mad_addr *to, const uint8_t *data,
                   size_t len)
{
	struct oob *o = (struct oob *)origin;
	struct connection *c = &o->c[to->qpn % OOB_CONNECTIONS];
	int ret = E_OK;

	pthread_mutex_lock(&o->lock);
	if (c->id == to->qpn && c->stage == WAITING) {
		ret = data != NULL ? keep_answer(o, c, data, len) : E_OK;
		c->stage = data != NULL && ret == E_OK ? WRITING : CLOSING;
	}
	pthread_mutex_unlock(&o->lock);
	wake(o);
	return ret;
}

/* --- connections -----------------------------------------------------------------------
 */

static void log_bad_client(struct oob *o)
{
	unsigned skipped;

	if (log_allowed(&o->bad_lines, now_ms(), BAD_LINES, BAD_LINES_MS, &skipped)) {
		log_warning(source,
		            "a client of %s sends something else than requests: "
		            "closed%s",
		            o->listening.address,
		            skipped ? " (more such clients not shown)" : "");
	}
}

/* Passes a request to the server, if all of it has come. */
static void pass_request(struct oob *o, struct connection *c)
{
	struct oob_frame f;

	int ret = oob_frame_read(c->in, c->got, &f);
	if (ret == -EAGAIN) {
		return;
	}
	if (ret != E_OK) {
		log_bad_client(o);
		close_connection(o, c);
		return;
	}
	struct mad_msg m = {
		.mgmt_class = UMAD_CLASS_SUBN_ADM,
		.addr = { .lid = c->requester, .qpn = c->id, .origin = &o->origin },
		.len = f.mad_len,
		.data = c->in + OOB_HEAD_BYTES,
	};
	set_stage(o, c, WAITING);
	sa_server_receive(o->server, &m, 1, true);
	c->got -= f.bytes;
	memmove(c->in, c->in + f.bytes, c->got);
}

static void read_more(struct oob *o, struct connection *c)
{
	ssize_t n = recv(c->fd, c->in + c->got, sizeof(c->in) - c->got, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n <= 0) {
		close_connection(o, c);
		return;
	}
	c->got += (size_t)n;
	c->moved_ms = now_ms();
	pass_request(o, c);
}

/* Only this thread changes out while writing. */
static void write_more(struct oob *o, struct connection *c)
{
	size_t left = c->out_len - c->out_at;
	ssize_t n = send(c->fd, c->out + c->out_at, left < TURN_BYTES ? left : TURN_BYTES,
	                 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n < 0) {
		close_connection(o, c);
		return;
	}
	c->out_at += (size_t)n;
	c->moved_ms = now_ms();
	if (c->out_at == c->out_len) {
		set_stage(o, c, READING);
		pass_request(o, c); /* the next one may be here already */
	}
}

static void serve(struct oob *o, struct connection *c, short events)
{
	if (events & (POLLERR | POLLHUP | POLLNVAL)) {
		close_connection(o, c);
		return;
	}
	switch (stage_of(o, c)) {
	case READING:
		if (events & POLLIN) {
			read_more(o, c);
		}
		break;
	case WRITING: write_more(o, c); break;
	case CLOSING: close_connection(o, c); break;
	case WAITING:
	case CLOSED: break;
	}
}

/* --- new connections -------------------------------------------------------------------------
 */

/* All connections of an address, of either family, have one number. */
static uint32_t requester_number(const struct sockaddr_storage *from)
{
	const uint8_t *bytes = (const uint8_t *)from;
	size_t at = offsetof(struct sockaddr_in, sin_addr), n = sizeof(struct in_addr);
	uint32_t h = UINT32_C(2166136261); /* FNV-1a */

	if (from->ss_family == AF_INET6) {
		at = offsetof(struct sockaddr_in6, sin6_addr);
		n = sizeof(struct in6_addr);
	}
	for (size_t i = 0; i < n; i++) {
		h = (h ^ bytes[at + i]) * UINT32_C(16777619);
	}
	return h | REQUESTER_BIT;
}

/* A free slot, or that of the connection idle longest. NULL: all are at work, and new
 * connections wait in the backlog. */
static struct connection *find_slot(struct oob *o)
{
	struct connection *oldest = NULL;

	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		struct connection *c = &o->c[i];
		if (c->fd < 0) {
			return c;
		}
		if (stage_of(o, c) == READING &&
		    (oldest == NULL || c->moved_ms < oldest->moved_ms)) {
			oldest = c;
		}
	}
	return oldest;
}

static void accept_connection(struct oob *o)
{
	struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(from);

	struct connection *c = find_slot(o);
	if (c == NULL) {
		return;
	}
	int fd = accept4(o->listening.fd, (struct sockaddr *)&from, &len,
	                 SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		return;
	}
	if (c->fd >= 0) {
		close_connection(o, c);
	}
	c->fd = fd;
	c->requester = requester_number(&from);
	c->moved_ms = now_ms();
	pthread_mutex_lock(&o->lock);
	c->id = ++o->serial * OOB_CONNECTIONS + (uint32_t)(c - o->c);
	c->stage = READING;
	pthread_mutex_unlock(&o->lock);
}

/* --- the thread ------------------------------------------------------------------------
 */

enum { POLL_WAKE, POLL_LISTEN, POLL_FIRST };

static short wanted(enum stage stage)
{
	return stage == READING ? POLLIN : stage == WRITING ? POLLOUT : 0;
}

/* Closes idle connections. \return Milliseconds until the next one is idle, -1: none. */
static int close_idle(struct oob *o)
{
	uint64_t now = now_ms(), next = UINT64_MAX;

	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		struct connection *c = &o->c[i];
		enum stage stage = stage_of(o, c);
		if (stage != READING && stage != WRITING) {
			continue;
		}
		uint64_t end = c->moved_ms + o->idle_ms;
		if (end <= now) {
			close_connection(o, c);
		} else if (end < next) {
			next = end;
		}
	}
	return next == UINT64_MAX ? -1 : (int)(next - now);
}

static void fill_pollfds(struct oob *o, struct pollfd *fds)
{
	fds[POLL_WAKE] = (struct pollfd){ .fd = o->wake, .events = POLLIN };
	fds[POLL_LISTEN] = (struct pollfd){ .fd = find_slot(o) ? o->listening.fd : -1,
		                            .events = POLLIN };
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		struct connection *c = &o->c[i];
		fds[POLL_FIRST + i] =
			(struct pollfd){ .fd = c->fd, .events = wanted(stage_of(o, c)) };
	}
}

static void *run(void *arg)
{
	struct pollfd fds[POLL_FIRST + OOB_CONNECTIONS];
	struct oob *o = arg;
	uint64_t woken;

	while (!o->stop) {
		int timeout = close_idle(o);
		fill_pollfds(o, fds);
		if (poll(fds, POLL_FIRST + OOB_CONNECTIONS, timeout) < 0) {
			continue;
		}
		if (fds[POLL_WAKE].revents) {
			ssize_t n = read(o->wake, &woken, sizeof(woken));
			(void)n;
		}
		for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
			if (o->c[i].fd >= 0) {
				serve(o, &o->c[i], fds[POLL_FIRST + i].revents);
			}
		}
		if (fds[POLL_LISTEN].revents) {
			accept_connection(o);
		}
	}
	return NULL;
}

static int start(struct oob *o)
{
	o->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (o->wake < 0) {
		return -errno;
	}
	pthread_mutex_init(&o->lock, NULL);
	int ret = -pthread_create(&o->thread, NULL, run, o);
	if (ret != E_OK) {
		pthread_mutex_destroy(&o->lock);
		close(o->wake);
	}
	return ret;
}

static void log_listening(const struct oob *o)
{
	const char *address = o->listening.address;

	if (o->listening.loopback) {
		log_info(source, "requests over TCP on %s", address);
	} else {
		log_warning(source,
		            "requests over TCP on %s: whoever reaches it sees every "
		            "record of the fabric; 127.0.0.1:%u is for this host alone",
		            address, o->listening.port);
	}
}

int oob_new(const struct oob_options *options, struct sa_server *s, struct arena *a,
            const char **ret_why, struct oob **ret)
{
	struct oob *o = calloc(1, sizeof(*o));

	if (o == NULL) {
		return -ENOMEM;
	}
	o->origin.send = take_answer;
	o->server = s;
	o->idle_ms = options->idle_ms ? options->idle_ms : IDLE_MS;
	o->max_answer_bytes =
		options->max_answer_bytes ? options->max_answer_bytes : MAX_ANSWER_BYTES;
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		o->c[i].fd = -1;
	}
	int err = listen_on(options->listen, "oob_listen", a, ret_why, &o->listening);
	if (err == E_OK) {
		err = start(o);
		if (err != E_OK) {
			close(o->listening.fd);
		}
	}
	if (err != E_OK) {
		free(o);
		return err;
	}
	log_listening(o);
	*ret = o;
	return E_OK;
}

void oob_stop(struct oob *o)
{
	if (o == NULL || o->stop) {
		return;
	}
	o->stop = true;
	wake(o);
	pthread_join(o->thread, NULL);
}

void oob_free(struct oob *o)
{
	if (o == NULL) {
		return;
	}
	oob_stop(o);
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		if (o->c[i].fd >= 0) {
			close_connection(o, &o->c[i]);
		}
	}
	close(o->listening.fd);
	close(o->wake);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

unsigned oob_port(const struct oob *o)
{
	return o->listening.port;
}
