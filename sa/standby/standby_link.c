/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The thread of the loop: connections and what they say. Nothing that a peer sends is looked at
 * before TLS has shown that it knows the secret. Peers that have not said HELLO have few seconds,
 * and give way to new ones when there are many.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "sa/standby/standby_int.h"

enum { LINES = 3, LINES_MS = 60000 };

static const char *const source = "standby";

/* Notes why there is no link, for the status. */
__attribute__((format(printf, 2, 3))) static void note_trouble(struct standby *l,
                                                               const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&l->lock);
	va_start(ap, fmt);
	if (!l->status.paused) { /* whose reason is what the operator has to know */
		vsnprintf(l->status.trouble, sizeof(l->status.trouble), fmt, ap);
	}
	va_end(ap);
	pthread_mutex_unlock(&l->lock);
}

/* Says why a peer is closed, but not again and again. */
static void log_trouble(struct standby *l, const char *name, const char *what,
                        const char *remedy)
{
	char skipped[LOG_SKIPPED_BYTES];

	note_trouble(l, "%s: %s", name, what);
	if (log_allowed(&l->lines, monotonic_ms(), LINES, LINES_MS, skipped)) {
		log_message(MSG_STANDBY_CLOSED, source, "%s: %s%s%s%s", name, what,
		            remedy[0] ? "; " : "", remedy, skipped);
	}
}

static void end_peer(struct conn *c, int ret)
{
	struct peer *p = (struct peer *)c;
	struct standby *l = conn_ctx(c);

	if (p->open) {
		log_info(source, "the link with %s (0x%016" PRIx64 ") is closed", p->name,
		         p->guid);
	}
	if (p->outbound) {
		pthread_mutex_lock(&l->lock);
		bool lost = l->heard_ms != 0;

		l->lost |= lost;
		l->heard_ms = 0;
		pthread_mutex_unlock(&l->lock);
		if (lost && l->o.changed != NULL) {
			l->o.changed(l->o.ctx);
		}
		l->master = NULL;
		if (p->open && p->joins && !lost && ret != -ECANCELED) {
			note_trouble(
				l,
				"%s: it did not store what we were told as master; its log says why",
				p->name);
			l->again_ms = l->again_ms < LINK_PAUSE_MAX_MS / 2
			                      ? 2 * l->again_ms
			                      : LINK_PAUSE_MAX_MS;
		} else {
			l->again_ms = LINK_AGAIN_MS;
		}
		l->try_ms = monotonic_ms() + (l->pause_ms ? l->pause_ms : l->again_ms);
	} else {
		standby_give_end(p, ret);
	}
	tls_free(p->tls);
	conn_bytes_done(&p->joining);
}

/* --- opening ----------------------------------------------------------------------------- */

/* The socket is there, or will be when it is connected. */
static int open_peer(struct conn *c)
{
	struct peer *p = (struct peer *)c;
	struct standby *l = conn_ctx(c);
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	const int one = 1;

	(void)setsockopt(c->watch.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!p->outbound) {
		char host[64] = "?", port[16] = "?";

		if (getpeername(c->watch.fd, (struct sockaddr *)&from, &len) == 0) {
			(void)getnameinfo((struct sockaddr *)&from, len, host,
			                  sizeof(host), port, sizeof(port),
			                  NI_NUMERICHOST | NI_NUMERICSERV);
		}
		snprintf(p->name, sizeof(p->name), "%.60s:%s", host, port);
		p->connected = true;
	}
	return tls_new(l->keys, c->watch.fd, !p->outbound, &p->tls);
}

/* Connects to the next peer. Looking up a name may take a while, in which a standby has nothing
 * else to do. */
static void connect_next(struct standby *l)
{
	struct peer *p = calloc(1, sizeof(*p));
	const char *name = l->peer_names[l->next_peer++ % l->n_peer_names];
	const char *colon = strrchr(name, ':');
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *at = NULL;
	char host[256];
	size_t len = (size_t)(colon - name);
	int ret, fd;

	l->try_ms = monotonic_ms() + LINK_AGAIN_MS;
	if (p == NULL) {
		return;
	}
	p->outbound = p->conn.proved = true;
	if (name[0] == '[' && name[len - 1] == ']') {
		name++;
		len -= 2;
	}
	snprintf(host, sizeof(host), "%.*s", (int)len, name);
	snprintf(p->name, sizeof(p->name), "%.70s:%.8s", host, colon + 1);
	ret = getaddrinfo(host, colon + 1, &hints, &at);
	if (ret != 0) {
		log_trouble(l, p->name, gai_strerror(ret), "see standby_peer");
		free(p);
		return;
	}
	fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	l->master = p;
	if (fd < 0 ||
	    (connect(fd, at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) ||
	    conn_add(l->set, &p->conn, fd, NULL) != E_OK) {
		note_trouble(l, "%s: %s", p->name, strerror(errno));
		if (fd >= 0) {
			close(fd);
		}
		l->master = NULL;
		free(p);
	}
	freeaddrinfo(at);
}

/* --- HELLO ------------------------------------------------------------------------------- */

static int check_hello(struct peer *p, const struct frame *f,
                       struct frame_hello *ret_hello)
{
	struct standby *l = peer_link(p);
	int ret = frame_read_hello(f, ret_hello);

	if (ret == E_LAYOUT) {
		log_trouble(
			l, p->name,
			"it has another version of Saguaro, whose state has another layout",
			"use the same version on both");
	} else if (ret == E_FOREIGN) {
		log_trouble(l, p->name, "its machine has another byte order",
		            "use machines of one kind");
	} else if (ret != E_OK) {
		log_trouble(l, p->name, "it sends something else than HELLO", "");
	} else if (ret_hello->prefix != l->o.prefix) {
		log_trouble(l, p->name, "it manages a subnet with another prefix",
		            "standby_peer has to name a saguarod of the same subnet");
		ret = E_FOREIGN;
	} else if (ret_hello->guid == l->o.guid) {
		note_trouble(l, "%s: that is this saguarod itself", p->name);
		ret = E_FOREIGN;
	}
	return ret;
}

static void say_hello(struct peer *p, const struct frame_hello *hello)
{
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES];

	frame_hello(bytes, hello);
	conn_send(&p->conn, bytes, sizeof(bytes));
}

/* A standby has come. */
static int greet_standby(struct peer *p, const struct frame_hello *hello)
{
	struct standby *l = peer_link(p);
	const bool gives = l->role == STANDBY_GIVES && !hello->master;
	const struct frame_hello own = { l->o.guid, l->o.prefix, gives, gives };

	for (struct conn *c = conn_first(l->set), *next; c != NULL; c = next) {
		const struct peer *other = (struct peer *)c;

		next = c->next;
		if (other != p && other->open && !other->outbound &&
		    other->guid == hello->guid) {
			conn_close(c, -ECANCELED); /* which it has given up */
		}
	}
	if (!gives) {
		say_hello(p, &own); /* the standby closes */
		return E_OK;
	}
	p->joins = hello->joins; /* then it gets its copy after that */
	p->open = p->conn.proved = true;
	log_info(source, "the standby %s (0x%016" PRIx64 ") is connected", p->name,
	         p->guid);
	say_hello(p, &own);
	return E_OK;
}

/* The peer that we connected to has answered. */
static int greet_master(struct peer *p, const struct frame_hello *hello)
{
	struct standby *l = peer_link(p);

	if (!hello->master) {
		note_trouble(l, "%s: it is no master", p->name);
		return E_NOTREADY;
	}
	if (p->joins && !hello->joins) { /* an older version */
		pthread_mutex_lock(&l->lock);
		join_log_drop(
			&l->log,
			": the new master has an older version, which takes no rows of a standby");
		pthread_mutex_unlock(&l->lock);
		p->joins = false;
	}
	pthread_mutex_lock(&l->applying);
	l->current = false; /* it was there when the old link was not */
	taker_begin(&l->taker, l->o.state, hello);
	pthread_mutex_unlock(&l->applying);
	p->open = true;
	note_trouble(l, "%s", "");
	log_info(source, "connected with the master %s (0x%016" PRIx64 ")", p->name,
	         p->guid);
	return p->joins ? standby_join_give(p) : E_OK;
}

/* Under the lock. */
static bool knows(const struct standby *l, uint64_t guid)
{
	for (unsigned i = 0; i < LINK_KNOWN; i++) {
		if (l->known[i] == guid) {
			return true;
		}
	}
	return false;
}

bool standby_knows(struct standby *l, uint64_t guid)
{
	bool known;

	if (l == NULL || guid == 0) {
		return false;
	}
	pthread_mutex_lock(&l->lock);
	known = knows(l, guid);
	pthread_mutex_unlock(&l->lock);
	return known;
}

static int take_hello(struct peer *p, const struct frame *f)
{
	struct standby *l = peer_link(p);
	struct frame_hello hello;
	int ret = check_hello(p, f, &hello);

	if (ret != E_OK) {
		return ret;
	}
	pthread_mutex_lock(&l->lock);
	p->guid = hello.guid;
	if (!knows(l, hello.guid)) {
		l->known[l->n_known++ % LINK_KNOWN] = hello.guid;
	}
	pthread_mutex_unlock(&l->lock);
	return p->outbound ? greet_master(p, &hello) : greet_standby(p, &hello);
}

/* --- frames ------------------------------------------------------------------------------ */

static void log_copy(struct standby *l, const struct peer *p)
{
	const struct taker *t = &l->taker;

	log_info(source,
	         "copied the state of the master 0x%016" PRIx64 ": %" PRIu64
	         " rows, %" PRIu64 " bytes",
	         p->guid, t->copied_rows, t->copied_bytes);
	pthread_mutex_lock(&l->lock);
	l->status.copies++;
	l->status.rows = t->copied_rows;
	l->status.bytes = t->copied_bytes;
	pthread_mutex_unlock(&l->lock);
}

/* A frame of the master, or NULL: no more has come, and what waits is stored. */
static int take_frame(struct peer *p, const struct frame *f)
{
	struct standby *l = peer_link(p);
	uint64_t now_s = (uint64_t)time(NULL);
	bool ack = false, pauses = false, resumed = false, was_complete;
	int ret = -ECANCELED;

	pthread_mutex_lock(&l->applying);
	was_complete = l->taker.complete;
	if (l->role == STANDBY_TAKES) {
		ret = f != NULL ? taker_frame(&l->taker, f, now_s, &ack)
		                : taker_store(&l->taker, now_s, &ack);
	}
	if (ret == E_MALFORMED) {
		l->current = false;
		log_trouble(l, p->name, err_text(ret),
		            "the master sends something else than its state");
	} else if (ret != E_OK && ret != -ECANCELED) {
		l->current = false;
		pauses = true;
	} else if (ack) {
		l->current = p->acks = true;
		if (!was_complete) {
			log_copy(l, p);
		}
		pthread_mutex_lock(&l->lock);
		l->heard_ms = monotonic_ms();
		l->n_heard++;
		join_log_done(&l->log); /* the master took it before the copy */
		l->status.master = p->guid;
		l->sequence = l->taker.sequence;
		resumed = standby_pause_end(l, true);
		pthread_mutex_unlock(&l->lock);
	}
	pthread_mutex_unlock(&l->applying);
	if (pauses) {
		standby_pause_begin(l, ret);
	} else if (resumed && l->o.changed != NULL) {
		l->o.changed(l->o.ctx);
	}
	return ret;
}

/* All is read that there was, also what a master sent before it died. */
static int end_input(struct conn *c)
{
	struct peer *p = (struct peer *)c;
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES];
	int ret = p->outbound && p->open ? take_frame(p, NULL) : E_OK;

	if (ret == E_OK && p->acks) {
		p->acks = false;
		frame_number(bytes, FRAME_ACK, peer_link(p)->taker.sequence);
		conn_send(c, bytes, sizeof(bytes));
	}
	return ret;
}

static int take_message(struct conn *c, uint8_t *data, size_t len, size_t *ret_bytes)
{
	struct peer *p = (struct peer *)c;
	struct frame f;
	int ret = frame_read(data, len, &f);

	if (ret == E_MALFORMED) {
		log_trouble(conn_ctx(c), p->name, "it sends something else than frames",
		            "");
	}
	if (ret != E_OK) {
		return ret;
	}
	*ret_bytes = f.bytes;
	return !p->open      ? take_hello(p, &f)
	       : p->outbound ? take_frame(p, &f)
	       : p->joins    ? standby_join_take(p, &f)
	                     : standby_give_acked(p, &f);
}

/* --- TLS ---------------------------------------------------------------------------------- */

static int go_on_connecting(struct peer *p)
{
	struct sockaddr_storage to;
	int ret = 0, fd = p->conn.watch.fd;
	socklen_t len = sizeof(ret), to_len = sizeof(to);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &ret, &len) != 0 || ret != 0) {
		note_trouble(peer_link(p), "%s: %s", p->name, strerror(ret));
		return -ECONNREFUSED;
	}
	p->connected = getpeername(fd, (struct sockaddr *)&to, &to_len) == 0;
	return p->connected ? E_OK : -EAGAIN;
}

static int go_on_handshake(struct conn *c)
{
	struct peer *p = (struct peer *)c;
	struct standby *l = conn_ctx(c);
	struct frame_hello own = { l->o.guid, l->o.prefix, false, false };
	const char *why = "";
	char skipped[LOG_SKIPPED_BYTES];
	int ret = p->connected ? E_OK : go_on_connecting(p);

	if (ret != E_OK) {
		return ret;
	}
	ret = tls_handshake(p->tls, &why);
	if (ret == E_OK && p->outbound) {
		pthread_mutex_lock(&l->lock);
		own.joins = p->joins = l->log.n > 0;
		pthread_mutex_unlock(&l->lock);
		say_hello(p, &own);
	} else if (ret != E_OK && ret != -EAGAIN) {
		note_trouble(l, "%s: handshake: %s", p->name, why);
		if (log_allowed(&l->handshake_lines, monotonic_ms(), LINES, LINES_MS,
		                skipped)) {
			log_message(
				MSG_STANDBY_NO_HANDSHAKE, source,
				"%s: no TLS handshake: %s; is standby_secret the same on both?%s",
				p->name, why, skipped);
		}
	}
	return ret;
}

static bool wants_write(const struct conn *c)
{
	const struct peer *p = (const struct peer *)c;

	return !p->connected || tls_wants_write(p->tls);
}

static ssize_t read_tls(struct conn *c, void *to, size_t len)
{
	return tls_read(((struct peer *)c)->tls, to, len);
}

static ssize_t write_tls(struct conn *c, const void *from, size_t len)
{
	return tls_write(((struct peer *)c)->tls, from, len);
}

static const struct conn_transport tls_transport = { go_on_handshake, wants_write,
	                                             read_tls, write_tls };

/* --- the turns --------------------------------------------------------------------------- */

static void give_more(struct conn *c)
{
	struct peer *p = (struct peer *)c;
	bool gets = p->open && !p->outbound && !p->joins && !c->busy;
	int ret = gets && !p->attached ? standby_give_begin(p) : E_OK;

	if (ret == E_OK && p->attached) {
		ret = standby_give_more(p, monotonic_ms());
	}
	if (ret != E_OK) {
		conn_close(c, ret);
	}
}

static uint64_t limit_of(const struct conn *c)
{
	const struct peer *p = (const struct peer *)c;
	uint32_t storing_ms = peer_link(p)->o.storing_ms;

	storing_ms = storing_ms ? storing_ms : LINK_STORING_MS;
	if (c->busy) { /* its rows are being stored */
		return UINT64_MAX;
	}
	if (!p->open) {
		return c->wrote_ms + LINK_OPENING_MS;
	}
	if (!p->attached || p->complete) {
		return c->read_ms + LINK_SILENT_MS;
	}
	/* while it takes its copy, bytes have to move: the copy holds old pages of the state */
	return storing_ms + (p->copy != NULL             ? c->wrote_ms
	                     : c->read_ms > p->copied_ms ? c->read_ms
	                                                 : p->copied_ms);
}

/* Connections of a role that has ended are closed. */
static void follow_role(struct standby *l)
{
	enum standby_role role = (enum standby_role)(int)l->role;

	if (role == l->role_of_peers) {
		return;
	}
	l->role_of_peers = role;
	for (struct conn *c = conn_first(l->set), *next; c != NULL; c = next) {
		const struct peer *p = (struct peer *)c;

		next = c->next;
		if (p->open || p->outbound) {
			conn_close(c, -ECANCELED);
		}
	}
	if (role != STANDBY_GIVES) {
		state_flush(l->o.state); /* whose changes have to be in the log */
		state_follow_end(l->o.state);
	} else {
		standby_join_follow(l);
	}
	pthread_mutex_lock(&l->lock);
	(void)standby_pause_end(l, false);
	pthread_mutex_unlock(&l->lock);
	l->try_ms = 0;
}

static uint64_t turn(void *ctx)
{
	struct standby *l = ctx;
	uint64_t until = UINT64_MAX;

	follow_role(l);
	if (l->role_of_peers == STANDBY_TAKES && l->n_peer_names > 0 &&
	    l->master == NULL) {
		if (monotonic_ms() >= l->try_ms && standby_pause_over(l)) {
			connect_next(l);
		}
		until = l->master == NULL ? l->try_ms : UINT64_MAX;
	}
	for (struct conn *c = conn_first(l->set), *next; c != NULL; c = next) {
		const struct peer *p = (struct peer *)c;

		next = c->next;
		give_more(c);
		if (p->complete && c->out.n == 0 && p->pinged_ms + LINK_TICK_MS < until) {
			until = p->pinged_ms + LINK_TICK_MS;
		}
	}
	return until;
}

static const struct conn_type peers = {
	.bytes = sizeof(struct peer),
	.transport = &tls_transport,
	.most = LINK_PEERS,
	.of_address = LINK_OF_ADDRESS,
	.evicts = CONN_UNPROVED,
	.ahead = true,
	.in_bytes = FRAME_HEAD_BYTES + FRAME_PAYLOAD_MAX + 1,
	.limit = limit_of,
	.opened = open_peer,
	.message = take_message,
	.drained = end_input,
	.more = give_more,
	.closed = end_peer,
	.turn = turn,
};

int standby_link_start(struct standby *l)
{
	int ret = conn_set_new(&peers, l, l->listening.fd, &l->set);

	l->listening.fd = -1; /* the set has it */
	l->again_ms = LINK_AGAIN_MS;
	return ret == E_OK ? loop_start(conn_loop(l->set)) : ret;
}
