/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * One thread (conf/base/loop.h) serves the listening socket and all connections. It alone opens, reads and
 * closes them. A connection has one request with the server at a time:
 *
 *   reading --frame--> waiting --answer--> writing --written--> reading
 *      |                  |                   |
 *      +--- idle or malformed --> closed <----+---- idle, or slower than the least rate
 *                         +-- no answer --> closed
 *
 * Nobody can hold all places. A frame has to come within the idle time, and an answer to be
 * taken within that and what its length needs at the least rate. When all places are taken
 * a new connection displaces the one that is idle longest, or else the slowest reader of an
 * answer: one of the address that has three places of four, if there is such an address,
 * and that address displaces only its own.
 *
 * Whatever else a client sends stays in its socket until then, so this process holds at
 * most one answer per connection, and there is a limit for all answers together. The SA
 * answer thread brings answers (take_answer()) and wakes the thread. When a request is
 * dropped its connection is closed, so that the client does not wait in vain.
 */
#include "sa/server/oob.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "conf/base/log.h"
#include "conf/base/loop.h"
#include "sa/mad/transport.h"
#include "sa/mad/wire.h"
#include "sa/server/oob_frame.h"
#include "sa/server/server.h"

enum {
	IDLE_MS = 30000,
	LEAST_RATE = 64 << 10, /* bytes a second */
	SEND_BYTES =
		64 << 10, /* that the kernel holds of an answer, so that the rate shows */
	WRITING_MS = 1000, /* in which an answer displaces nobody */
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
	struct loop_watch watch; /* first */
	struct oob *oob;
	bool open;
	uint32_t requester;
	uint64_t moved_ms; /* when something was read or written last */
	uint64_t begun_ms; /* when the frame or the answer at work began; 0: none */
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
	uint32_t idle_ms, least_rate;
	uint64_t max_answer_bytes;
	struct loop *loop;
	struct loop_watch listener;
	struct log_limit bad_lines;
	uint32_t serial;
	pthread_mutex_t lock;
	uint64_t answer_bytes; /* of all connections; under the lock */
	struct connection c[OOB_CONNECTIONS];
};

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
	loop_remove(&c->watch);
	close(c->watch.fd);
	c->open = false;
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
	loop_wake(o->loop);
	return ret;
}

/* --- connections -----------------------------------------------------------------------
 */

static void log_bad_client(struct oob *o)
{
	char skipped[LOG_SKIPPED_BYTES];

	if (log_allowed(&o->bad_lines, monotonic_ms(), BAD_LINES, BAD_LINES_MS,
	                skipped)) {
		log_message(MSG_SA_TCP_NO_REQUEST, source,
		            "a client of %s sends something else than requests: closed%s",
		            o->listening.address, skipped);
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
	c->begun_ms = 0;
	sa_server_receive(o->server, &m, 1, true);
	c->got -= f.bytes;
	memmove(c->in, c->in + f.bytes, c->got);
}

static void read_more(struct oob *o, struct connection *c)
{
	ssize_t n = recv(c->watch.fd, c->in + c->got, sizeof(c->in) - c->got, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n <= 0) {
		close_connection(o, c);
		return;
	}
	c->moved_ms = monotonic_ms();
	if (c->got == 0) {
		c->begun_ms = c->moved_ms;
	}
	c->got += (size_t)n;
	pass_request(o, c);
}

/* Only this thread changes out while writing. */
static void write_more(struct oob *o, struct connection *c)
{
	size_t left = c->out_len - c->out_at;

	if (c->begun_ms == 0) {
		c->begun_ms = monotonic_ms();
	}

	ssize_t n = send(c->watch.fd, c->out + c->out_at, left < TURN_BYTES ? left : TURN_BYTES,
	                 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n < 0) {
		close_connection(o, c); /* at once; the hang-up comes with the next turn */
		return;
	}
	c->out_at += (size_t)n;
	c->moved_ms = monotonic_ms();
	if (c->out_at == c->out_len) {
		set_stage(o, c, READING);
		c->begun_ms = c->got != 0 ? c->moved_ms : 0;
		pass_request(o, c); /* the next one may be here already */
	}
}

static void on_ready(struct loop_watch *w, unsigned events)
{
	struct connection *c = (struct connection *)w;
	struct oob *o = c->oob;

	if ((events & (LOOP_HANGUP | LOOP_TIME)) != 0) {
		close_connection(o, c);
		return;
	}
	switch (stage_of(o, c)) {
	case READING:
		if ((events & LOOP_READ) != 0) {
			read_more(o, c);
		}
		break;
	case WRITING: write_more(o, c); break;
	case WAITING:
	case CLOSING:
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

/* Bytes a second that a client takes of its answer; UINT64_MAX: it has only begun. */
static uint64_t rate_of(const struct connection *c, uint64_t now)
{
	if (c->begun_ms == 0 || now < c->begun_ms + WRITING_MS) {
		return UINT64_MAX;
	}
	return (uint64_t)c->out_at * 1000 / (now - c->begun_ms);
}

/* The connection that makes room for a new one: idle longest, else the slowest reader. NULL: all
 * are at work. \param requester  Only its own; 0: of all. */
static struct connection *find_victim(struct oob *o, uint32_t requester)
{
	struct connection *idle = NULL, *slowest = NULL;
	uint64_t now = monotonic_ms(), least = UINT64_MAX;

	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		struct connection *c = &o->c[i];
		enum stage stage = stage_of(o, c);

		if (!c->open || (requester != 0 && c->requester != requester)) {
			continue;
		}
		if (stage == READING && (idle == NULL || c->moved_ms < idle->moved_ms)) {
			idle = c;
		} else if (stage == WRITING && rate_of(c, now) < least) {
			slowest = c;
			least = rate_of(c, now);
		}
	}
	return idle != NULL ? idle : slowest;
}

/* Whether an address has all places that one may keep when there are no others. */
static bool has_its_places(const struct oob *o, uint32_t requester)
{
	unsigned n = 0;

	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		n += o->c[i].open && o->c[i].requester == requester;
	}
	return n >= OOB_OF_ADDRESS;
}

/* A place for a connection of this address, which may have to be emptied first. NULL: there is
 * none. \param requester  0: of any address. */
static struct connection *find_slot(struct oob *o, uint32_t requester)
{
	struct connection *victim;

	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		if (!o->c[i].open) {
			return &o->c[i];
		}
	}
	if (has_its_places(o, requester)) {
		return find_victim(o, requester);
	}
	for (unsigned i = 0; i < OOB_CONNECTIONS;
	     i++) { /* there is one such address at most */
		if (has_its_places(o, o->c[i].requester)) {
			victim = find_victim(o, o->c[i].requester);
			return victim != NULL ? victim : find_victim(o, 0);
		}
	}
	return find_victim(o, 0);
}

static void accept_connection(struct loop_watch *w, unsigned events)
{
	struct oob *o = (struct oob *)((char *)w - offsetof(struct oob, listener));
	struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(from);
	struct connection *c;

	(void)events;
	if (find_slot(o, 0) == NULL) { /* the last places were given work in this turn */
		return;
	}
	int fd = accept4(w->fd, (struct sockaddr *)&from, &len,
	                 SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		return;
	}
	c = find_slot(o, requester_number(&from));
	if (c == NULL) { /* its address has its places, and all of them are at work */
		close(fd);
		return;
	}
	if (c->open) {
		close_connection(o, c);
	}
	if (loop_add(o->loop, &c->watch, fd, LOOP_READ) != E_OK) {
		close(fd);
		return;
	}
	c->open = true;
	c->requester = requester_number(&from);
	c->moved_ms = monotonic_ms();
	c->begun_ms = 0;
	pthread_mutex_lock(&o->lock);
	c->id = ++o->serial * OOB_CONNECTIONS + (uint32_t)(c - o->c);
	c->stage = READING;
	pthread_mutex_unlock(&o->lock);
}

/* --- the thread ------------------------------------------------------------------------
 */

/* When a connection that reads or writes has had its time. */
static uint64_t deadline_of(const struct oob *o, const struct connection *c,
                            enum stage stage)
{
	uint64_t idle = c->moved_ms + o->idle_ms, whole = c->begun_ms + o->idle_ms;

	if (c->begun_ms == 0) {
		return idle;
	}
	if (stage == WRITING) {
		whole += (uint64_t)c->out_len * 1000 / o->least_rate;
	}
	return idle < whole ? idle : whole;
}

/* Answers may have come to connections, and all of them have other deadlines now. */
static uint64_t turn(void *ctx)
{
	struct oob *o = ctx;
	bool room;

	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		struct connection *c = &o->c[i];
		enum stage stage = c->open ? stage_of(o, c) : CLOSED;
		bool moves = stage == READING || stage == WRITING;

		if (stage == CLOSING) {
			close_connection(o, c);
			continue;
		}
		if (c->open) {
			loop_events(&c->watch, stage == READING   ? LOOP_READ
			                       : stage == WRITING ? LOOP_WRITE
			                                          : 0U);
			loop_deadline(&c->watch, moves ? deadline_of(o, c, stage) : 0);
		}
	}
	room = find_slot(o, 0) != NULL;
	loop_events(&o->listener, room ? LOOP_READ : 0U);
	/* by then a slow reader may make room */
	return room ? UINT64_MAX : monotonic_ms() + WRITING_MS;
}

static void log_listening(const struct oob *o)
{
	const char *address = o->listening.address;

	if (o->listening.loopback) {
		log_info(source, "requests over TCP on %s", address);
	} else {
		log_message(
			MSG_SA_TCP_PUBLIC, source,
			"requests over TCP on %s: whoever reaches it sees every record of the fabric; 127.0.0.1:%u is for this host alone",
			address, o->listening.port);
	}
}

int oob_new(const struct oob_options *options, struct sa_server *s, struct arena *a,
            const char **ret_why, struct oob **ret_oob)
{
	struct oob *o = calloc(1, sizeof(*o));

	if (o == NULL) {
		return -ENOMEM;
	}
	o->origin.send = take_answer;
	o->server = s;
	o->idle_ms = options->idle_ms ? options->idle_ms : IDLE_MS;
	o->least_rate = options->least_rate ? options->least_rate : LEAST_RATE;
	o->max_answer_bytes =
		options->max_answer_bytes ? options->max_answer_bytes : MAX_ANSWER_BYTES;
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		o->c[i] = (struct connection){ .watch.ready = on_ready, .oob = o };
	}
	o->listener.ready = accept_connection;
	pthread_mutex_init(&o->lock, NULL);
	o->listening.fd = -1;
	int ret = listen_on(options->listen, "oob_listen", a, ret_why, &o->listening);
	if (ret == E_OK) {
		/* connections have it from the socket that accepts them */
		(void)setsockopt(o->listening.fd, SOL_SOCKET, SO_SNDBUF,
		                 &(int){ SEND_BYTES }, sizeof(int));
		ret = loop_new(&(struct loop_options){ .turn = turn, .ctx = o }, &o->loop);
	}
	if (ret == E_OK) {
		ret = loop_add(o->loop, &o->listener, o->listening.fd, LOOP_READ);
	}
	if (ret == E_OK) {
		ret = loop_start(o->loop);
	}
	if (ret != E_OK) {
		oob_free(o);
		return ret;
	}
	log_listening(o);
	*ret_oob = o;
	return E_OK;
}

void oob_stop(struct oob *o)
{
	loop_stop(o != NULL ? o->loop : NULL);
}

void oob_free(struct oob *o)
{
	if (o == NULL) {
		return;
	}
	oob_stop(o);
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		if (o->c[i].open) {
			close_connection(o, &o->c[i]);
		}
	}
	if (o->listening.fd >= 0) {
		close(o->listening.fd);
	}
	loop_free(o->loop);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

unsigned oob_port(const struct oob *o)
{
	return o->listening.port;
}
