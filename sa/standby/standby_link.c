/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The thread of the loop: it alone opens, reads, writes and closes connections. Nothing that a peer
 * sends is looked at before TLS has shown that it knows the secret. Peers that have not shown it
 * have few seconds, and give way to new ones when there are many.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/standby/standby_int.h"

enum { READ_BYTES = 32 << 10, LINES = 3, LINES_MS = 60000 };

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
static void log_trouble(struct peer *p, const char *what, const char *remedy)
{
	struct standby *l = p->link;
	char skipped[LOG_SKIPPED_BYTES];

	note_trouble(l, "%s: %s", p->name, what);
	if (log_allowed(&l->lines, monotonic_ms(), LINES, LINES_MS, skipped)) {
		log_message(MSG_STANDBY_CLOSED, source, "%s: %s%s%s%s", p->name, what,
		            remedy[0] ? "; " : "", remedy, skipped);
	}
}

static void on_ready(struct loop_watch *w, unsigned events);

static void free_place(struct standby *l, unsigned i)
{
	l->peer[i] =
		(struct peer){ .watch.ready = on_ready, .link = l, .outbound = i == 0 };
}

static void close_peer(struct peer *p)
{
	struct standby *l = p->link;

	if (p->stage == PEER_OPEN) {
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
		l->try_ms = monotonic_ms() + (l->pause_ms ? l->pause_ms : LINK_AGAIN_MS);
	} else {
		standby_give_end(p);
	}
	tls_free(p->tls);
	loop_remove(&p->watch);
	close(p->watch.fd);
	standby_bytes_done(&p->in);
	standby_bytes_done(&p->out);
	standby_bytes_done(&p->joining);
	pthread_mutex_lock(&l->lock); /* others look at peers that are attached */
	free_place(l, (unsigned)(p - l->peer));
	pthread_mutex_unlock(&l->lock);
}

/* --- opening ----------------------------------------------------------------------------- */

/* The socket is there; TLS begins. */
static int begin_handshake(struct peer *p)
{
	const int one = 1;
	struct frame_hello hello = { .guid = p->link->o.guid,
		                     .prefix = p->link->o.prefix };
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES];

	pthread_mutex_lock(&p->link->lock);
	p->joins = p->outbound && p->link->log.n > 0;
	pthread_mutex_unlock(&p->link->lock);
	hello.joins = p->joins;
	(void)setsockopt(p->watch.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	p->stage = PEER_HANDSHAKE;
	if (p->outbound) { /* it waits until the handshake is over */
		frame_hello(bytes, &hello);
		if (standby_bytes_add(&p->out, bytes, sizeof(bytes)) != E_OK) {
			return -ENOMEM;
		}
	}
	return tls_new(p->link->keys, p->watch.fd, !p->outbound, &p->tls);
}

/* Connects to the next peer. Looking up a name may take a while, in which a standby has nothing
 * else to do. */
static void connect_next(struct standby *l)
{
	struct peer *p = &l->peer[0];
	const char *name = l->peer_names[l->next_peer++ % l->n_peer_names];
	const char *colon = strrchr(name, ':');
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *at = NULL;
	char host[256];
	size_t len = (size_t)(colon - name);
	int ret, fd;

	l->try_ms = monotonic_ms() + LINK_AGAIN_MS;
	if (name[0] == '[' && name[len - 1] == ']') {
		name++;
		len -= 2;
	}
	snprintf(host, sizeof(host), "%.*s", (int)len, name);
	snprintf(p->name, sizeof(p->name), "%.70s:%.8s", host, colon + 1);
	ret = getaddrinfo(host, colon + 1, &hints, &at);
	if (ret != 0) {
		log_trouble(p, gai_strerror(ret), "see standby_peer");
		return;
	}
	fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 ||
	    (connect(fd, at->ai_addr, at->ai_addrlen) != 0 && errno != EINPROGRESS) ||
	    loop_add(l->loop, &p->watch, fd, LOOP_WRITE) != E_OK) {
		note_trouble(l, "%s: %s", p->name, strerror(errno));
		if (fd >= 0) {
			close(fd);
		}
	} else {
		p->stage = PEER_CONNECTING;
		p->opened_ms = p->heard_ms = monotonic_ms();
	}
	freeaddrinfo(at);
}

/* A free place, or that of the peer that has tried longest to get in. */
static struct peer *find_place(struct standby *l)
{
	struct peer *oldest = NULL;

	for (unsigned i = 1; i < LINK_PEERS; i++) {
		struct peer *p = &l->peer[i];

		if (p->stage == PEER_FREE) {
			return p;
		}
		if (p->stage != PEER_OPEN &&
		    (oldest == NULL || p->opened_ms < oldest->opened_ms)) {
			oldest = p;
		}
	}
	if (oldest != NULL) {
		close_peer(oldest);
	}
	return oldest;
}

static void accept_peer(struct loop_watch *w, unsigned events)
{
	struct standby *l =
		(struct standby *)((char *)w - offsetof(struct standby, listener));
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char host[64] = "?", port[16] = "?";
	struct peer *p = find_place(l);
	int fd;

	(void)events;
	fd = accept4(w->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		return;
	}
	if (p == NULL || loop_add(l->loop, &p->watch, fd, LOOP_READ) != E_OK) {
		close(fd);
		return;
	}
	(void)getnameinfo((struct sockaddr *)&from, len, host, sizeof(host), port,
	                  sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(p->name, sizeof(p->name), "%.60s:%s", host, port);
	p->opened_ms = p->heard_ms = monotonic_ms();
	p->stage = PEER_HANDSHAKE;
	if (begin_handshake(p) != E_OK) {
		close_peer(p);
	}
}

/* --- HELLO ------------------------------------------------------------------------------- */

static int check_hello(struct peer *p, const struct frame *f,
                       struct frame_hello *ret_hello)
{
	int ret = frame_read_hello(f, ret_hello);

	if (ret == E_LAYOUT) {
		log_trouble(
			p,
			"it has another version of Saguaro, whose state has another layout",
			"use the same version on both");
	} else if (ret == E_FOREIGN) {
		log_trouble(p, "its machine has another byte order",
		            "use machines of one kind");
	} else if (ret != E_OK) {
		log_trouble(p, "it sends something else than HELLO", "");
	} else if (ret_hello->prefix != p->link->o.prefix) {
		log_trouble(p, "it manages a subnet with another prefix",
		            "standby_peer has to name a saguarod of the same subnet");
		ret = E_FOREIGN;
	} else if (ret_hello->guid == p->link->o.guid) {
		note_trouble(p->link, "%s: that is this saguarod itself", p->name);
		ret = E_FOREIGN;
	}
	return ret;
}

/* A standby has come. */
static int greet_standby(struct peer *p, const struct frame_hello *hello)
{
	struct standby *l = p->link;
	const bool gives = l->role == STANDBY_GIVES && !hello->master;
	const struct frame_hello own = { l->o.guid, l->o.prefix, gives, gives };
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES];
	int ret;

	for (unsigned i = 1; i < LINK_PEERS;
	     i++) { /* its older connection, which it has given up */
		struct peer *other = &l->peer[i];

		if (other != p && other->stage == PEER_OPEN &&
		    other->guid == hello->guid) {
			close_peer(other);
		}
	}
	frame_hello(bytes, &own);
	ret = standby_bytes_add(&p->out, bytes, sizeof(bytes));
	if (ret != E_OK || !gives) {
		return ret; /* the standby closes */
	}
	p->joins = hello->joins; /* then it gets its copy after that */
	ret = p->joins ? E_OK : standby_give_begin(p);
	if (ret == E_OK) {
		p->stage = PEER_OPEN;
		log_info(source, "the standby %s (0x%016" PRIx64 ") is connected",
		         p->name, p->guid);
	}
	return ret;
}

/* The peer that we connected to has answered. */
static int greet_master(struct peer *p, const struct frame_hello *hello)
{
	struct standby *l = p->link;

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
	p->stage = PEER_OPEN;
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
	struct frame_hello hello;
	int ret = check_hello(p, f, &hello);

	if (ret != E_OK) {
		return ret;
	}
	pthread_mutex_lock(&p->link->lock);
	p->guid = hello.guid;
	if (!knows(p->link, hello.guid)) {
		p->link->known[p->link->n_known++ % LINK_KNOWN] = hello.guid;
	}
	pthread_mutex_unlock(&p->link->lock);
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
	struct standby *l = p->link;
	uint64_t now_s = (uint64_t)time(NULL);
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES];
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
		log_trouble(p, err_text(ret),
		            "the master sends something else than its state");
	} else if (ret != E_OK && ret != -ECANCELED) {
		l->current = false;
		pauses = true;
	} else if (ack) {
		l->current = true;
		frame_number(bytes, FRAME_ACK, l->taker.sequence);
		ret = standby_bytes_add(&p->out, bytes, sizeof(bytes));
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

static int take_frames(struct peer *p)
{
	struct frame f;
	size_t at = 0;
	int ret;

	while ((ret = frame_read(p->in.data + at, p->in.n - at, &f)) == E_OK) {
		ret = p->stage == PEER_HELLO ? take_hello(p, &f)
		      : p->outbound          ? take_frame(p, &f)
		      : p->joins             ? standby_join_take(p, &f)
		                             : standby_give_acked(p, &f);
		if (ret != E_OK) {
			return ret;
		}
		at += f.bytes;
	}
	if (ret == E_MALFORMED) {
		log_trouble(p, "it sends something else than frames", "");
		return ret;
	}
	p->in.n -= at;
	memmove(p->in.data, p->in.data + at, p->in.n);
	return E_OK;
}

/* --- bytes ------------------------------------------------------------------------------- */

static int go_on_handshake(struct peer *p)
{
	struct standby *l = p->link;
	const char *why = "";
	char skipped[LOG_SKIPPED_BYTES];
	int ret = tls_handshake(p->tls, &why);

	if (ret == E_OK) {
		p->stage = PEER_HELLO;
	} else if (ret != -EAGAIN) {
		note_trouble(l, "%s: handshake: %s", p->name, why);
		if (log_allowed(&l->handshake_lines, monotonic_ms(), LINES, LINES_MS,
		                skipped)) {
			log_message(
				MSG_STANDBY_NO_HANDSHAKE, source,
				"%s: no TLS handshake: %s; is standby_secret the same on both?%s",
				p->name, why, skipped);
		}
	}
	return ret == -EAGAIN ? E_OK : ret;
}

/* Reads all there is, also what a master sent before it died. */
static int read_peer(struct peer *p)
{
	ssize_t n;
	int ret = E_OK;

	do {
		if (VECTOR_RESERVE(p->in.data, p->in.cap, p->in.n + READ_BYTES) != E_OK) {
			return -ENOMEM;
		}
		n = tls_read(p->tls, p->in.data + p->in.n, READ_BYTES);
		if (n > 0) {
			p->in.n += (size_t)n;
			p->heard_ms = monotonic_ms();
			ret = take_frames(p);
		}
	} while (n > 0 && ret == E_OK);
	if (ret == E_OK && p->outbound && p->stage == PEER_OPEN) {
		ret = take_frame(p, NULL);
	}
	return ret != E_OK ? ret : n == -EAGAIN ? E_OK : -ECONNRESET;
}

static int write_peer(struct peer *p)
{
	ssize_t n = 1;

	while (n > 0 && p->out_at < p->out.n) {
		size_t len = p->again ? p->again : p->out.n - p->out_at;

		n = tls_write(p->tls, p->out.data + p->out_at, len);
		p->again = n == -EAGAIN ? len : 0;
		p->out_at += n > 0 ? (size_t)n : 0;
	}
	if (p->out_at == p->out.n) {
		p->out_at = 0;
		if (p->out.cap > 4 * LINK_OUT_BYTES) {
			standby_bytes_done(&p->out);
		}
		p->out.n = 0;
	}
	return n >= 0 || n == -EAGAIN ? E_OK : -ECONNRESET;
}

static int check_connected(struct peer *p)
{
	int ret = 0;
	socklen_t len = sizeof(ret);

	if (getsockopt(p->watch.fd, SOL_SOCKET, SO_ERROR, &ret, &len) != 0 || ret != 0) {
		note_trouble(p->link, "%s: %s", p->name, strerror(ret));
		return -ECONNREFUSED;
	}
	return begin_handshake(p);
}

static void on_ready(struct loop_watch *w, unsigned events)
{
	struct peer *p = (struct peer *)w;
	int ret = E_OK;

	if (events == LOOP_TIME) {
		return; /* the turn looks at the time */
	}
	if (p->stage == PEER_CONNECTING) {
		ret = check_connected(p);
	}
	if (ret == E_OK && p->stage == PEER_HANDSHAKE) {
		ret = go_on_handshake(p);
	}
	if (ret == E_OK && p->stage >= PEER_HELLO) {
		ret = read_peer(p);
	}
	if (ret != E_OK) {
		close_peer(p);
	}
}

/* --- the turns --------------------------------------------------------------------------- */

/* Makes bytes for a peer and sends them, as long as its socket takes them. */
static int send_to(struct peer *p, uint64_t now)
{
	int ret = E_OK;

	for (bool more = true; ret == E_OK && more && p->stage >= PEER_HELLO;) {
		if (p->stage == PEER_OPEN && !p->outbound) {
			ret = standby_give_more(p, now);
		}
		more = p->out.n > 0;
		if (ret == E_OK && more) {
			size_t sent = p->out_at;

			ret = write_peer(p);
			if (p->out.n == 0 || p->out_at != sent) {
				p->opened_ms = now; /* it moves */
			}
			more = p->out.n == 0;
		}
	}
	return ret;
}

/* When it is closed unless something happens. */
static uint64_t end_of(const struct peer *p)
{
	uint32_t storing_ms = p->link->o.storing_ms;

	if (p->stage != PEER_OPEN) {
		return p->opened_ms + LINK_OPENING_MS;
	}
	if (!p->attached || p->complete) {
		return p->heard_ms + LINK_SILENT_MS;
	}
	/* while it takes its copy, bytes have to move: the copy holds old pages of the state */
	return (p->copy != NULL ? p->opened_ms : p->heard_ms) +
	       (storing_ms ? storing_ms : LINK_STORING_MS);
}

static unsigned wanted(const struct peer *p)
{
	switch (p->stage) {
	case PEER_FREE: break;
	case PEER_CONNECTING: return LOOP_WRITE;
	case PEER_HANDSHAKE: return tls_wants_write(p->tls) ? LOOP_WRITE : LOOP_READ;
	case PEER_HELLO:
	case PEER_OPEN: return LOOP_READ | (p->out_at < p->out.n ? LOOP_WRITE : 0U);
	}
	return 0;
}

/* Sends what there is to send, and sets what is waited for next. */
static void serve_peer(struct peer *p, uint64_t now)
{
	int ret = send_to(p, now);
	uint64_t end = end_of(p);

	if (ret == E_OK && now >= end) {
		ret = -ETIMEDOUT;
		pthread_mutex_lock(&p->link->lock);
		p->link->status.dropped += p->attached;
		pthread_mutex_unlock(&p->link->lock);
	}
	if (ret != E_OK) {
		close_peer(p);
		return;
	}
	if (p->complete && p->out.n == 0 && p->pinged_ms + LINK_TICK_MS < end) {
		end = p->pinged_ms + LINK_TICK_MS;
	}
	loop_events(&p->watch, wanted(p));
	loop_deadline(&p->watch, end);
}

/* Connections of a role that has ended are closed. */
static void follow_role(struct standby *l)
{
	enum standby_role role = (enum standby_role)(int)l->role;

	if (role == l->role_of_peers) {
		return;
	}
	l->role_of_peers = role;
	for (unsigned i = 0; i < LINK_PEERS; i++) {
		struct peer *p = &l->peer[i];

		if (p->stage == PEER_OPEN || (p->outbound && p->stage != PEER_FREE)) {
			close_peer(p);
		}
	}
	if (role != STANDBY_GIVES) {
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
	bool connects;

	follow_role(l);
	connects = l->role_of_peers == STANDBY_TAKES && l->n_peer_names > 0;
	if (connects && l->peer[0].stage == PEER_FREE && monotonic_ms() >= l->try_ms &&
	    standby_pause_over(l)) {
		connect_next(l);
	}
	for (unsigned i = 0; i < LINK_PEERS; i++) {
		if (l->peer[i].stage != PEER_FREE) {
			serve_peer(&l->peer[i], monotonic_ms());
		}
	}
	return connects && l->peer[0].stage == PEER_FREE ? l->try_ms : UINT64_MAX;
}

int standby_link_start(struct standby *l)
{
	int ret = loop_new(&(struct loop_options){ .turn = turn, .ctx = l }, &l->loop);

	for (unsigned i = 0; i < LINK_PEERS; i++) {
		free_place(l, i);
	}
	l->listener.ready = accept_peer;
	if (ret == E_OK && l->listening.fd >= 0) {
		ret = loop_add(l->loop, &l->listener, l->listening.fd, LOOP_READ);
	}
	return ret == E_OK ? loop_start(l->loop) : ret;
}

void standby_link_stop(struct standby *l)
{
	loop_stop(l->loop);
	for (unsigned i = 0; i < LINK_PEERS; i++) {
		if (l->peer[i].stage != PEER_FREE) {
			close_peer(&l->peer[i]);
		}
	}
}
