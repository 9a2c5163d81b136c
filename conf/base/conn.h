/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/loop.h"

struct sockaddr;

/*!
 * The connections of a service on a loop of their own: places, buffers, limits and deadlines.
 * A kind of connection is a row, struct conn_type, with its limits and what it does with a message.
 *
 *   accepted -> admit() -> a place -> opened() -> (handshake()) -> message() ... -> closed()
 *
 * A client that does not keep to the limits loses its connection, and costs others nothing:
 *
 * - A message comes whole within stall_ms. Output is taken within that and what its length
 *   needs at the least rate; a client that takes nothing of it for stall_ms is closed, too.
 * - A message whose answer comes later makes the connection busy (conn_wait()). Then no
 *   deadline runs, because the time is ours. conn_post() brings the answer.
 * - There are `most` places. Where they are taken, a new connection is refused, or displaces
 *   the one that can be missed best: the one idle longest, else the slowest reader. An address
 *   that has of_address places displaces its own connections only, and others displace those first.
 * - Nothing is accepted while there is no descriptor for it, and while all places are at work.
 *
 * All functions and calls are of the loop's thread, or are made while it does not run. Those for
 * any thread are conn_post() and conn_hand_over().
 */
struct conn_set;

struct conn_bytes {
	uint8_t *data;
	size_t n, cap;
};

/*! \retval -ENOMEM  It is as before. */
int conn_bytes_add(struct conn_bytes *b, const void *data, size_t len);
void conn_bytes_done(struct conn_bytes *b); /*!< it is empty then */

/*! One connection; the first member of what a service keeps of it. To be read, but for `more` and `proved`. */
struct conn {
	struct loop_watch watch; /*!< first; .fd is the socket */
	struct conn_set *set;
	struct conn *next, *prev; /*!< all of the set */
	struct in6_addr address;  /*!< of the client as IPv6; all zero: not known */
	uint32_t number;          /*!< names it among all of its set; never 0 */
	bool closed;    /*!< closed in this turn, freed after it; its descriptor is -1 */
	bool busy;      /*!< conn_wait() */
	bool served;    /*!< in message(), after which it waits for what is due next */
	bool shakes;    /*!< its handshake is not over; output waits for that */
	bool more;      /*!< set by the service: more() when the socket takes output */
	bool proved;    /*!< set by the service: CONN_UNPROVED does not displace it */
	uint64_t read_ms, wrote_ms; /*!< when bytes moved last; at first when it was opened */
	uint64_t in_ms, out_ms;  /*!< when the message, the output at work began; 0: none */
	struct conn_bytes in;    /*!< not taken yet */
	struct conn_bytes out;   /*!< conn_send() */
	size_t out_at;           /*!< of it that is written */
	uint64_t written;        /*!< since out_ms */
	uint64_t held;           /*!< bytes of its answers that count among posted_most */
	struct conn_bytes answer; /* under the lock of the set, as the next two */
	bool answered, ends;
};

enum conn_evict {
	CONN_UNPROVED = 1, /*!< those that have not proved themselves, oldest first */
	CONN_IDLE = 2,     /*!< those without a request at work, idle longest first */
	CONN_SLOW =
		4 /*!< those that take output, the slowest first; not in the first second */
};

/*! How the bytes of a kind of connection move, such as TLS. For those that read ahead. What comes
 *  beyond in_bytes while a message waits for its answer may stay in the transport. */
struct conn_transport {
	/*! Goes on with what comes before the first byte. \retval -EAGAIN  It waits for the
	 *  socket. \retval others  It is closed. */
	int (*handshake)(struct conn *c);
	bool (*wants_write)(const struct conn *c); /*!< what the handshake waits for */
	/*! As recv() and send(), but with the error in place of -1. Called until -EAGAIN, because
	 *  the transport may hold input that the socket does not show. */
	ssize_t (*read)(struct conn *c, void *to, size_t len);
	ssize_t (*write)(struct conn *c, const void *from, size_t len);
};

/*! A kind of connection. 0 and NULL are fine for each limit and call: there is none. */
struct conn_type {
	size_t bytes;        /*!< of the structure that begins with struct conn */
	const struct conn_transport *transport; /*!< NULL: bytes as they are */
	unsigned most;       /*!< at a time */
	unsigned of_address; /*!< of one address; with evicts, where all are taken */
	unsigned evicts;     /*!< enum conn_evict: who makes room. 0: nobody, a new one is refused */
	const char *refusal; /*!< sent to one that is refused */
	bool ahead;          /*!< reads on while a message or output is at work, and takes
	                          messages while output waits */
	size_t in_bytes;     /*!< most input that is kept; no message may be as long */
	size_t out_bytes;    /*!< most output that waits; more closes it */
	uint64_t posted_bytes; /*!< most of all answers of conn_post() that wait */
	uint32_t idle_ms;      /*!< without traffic, and nothing at work */
	uint32_t stall_ms;     /*!< as above */
	uint32_t least_rate;   /*!< bytes a second that a client takes at least */

	/*! In place of idle_ms, stall_ms and least_rate: when it is closed unless something
	 *  happens. Asked after each event and call. */
	uint64_t (*limit)(const struct conn *c);
	/*! A connection was accepted. \retval false  It is closed. */
	bool (*admit)(struct conn *c);
	/*! It has its place. \retval others  It is closed. */
	int (*opened)(struct conn *c);
	/*! Input, from the next message on. \param ret_bytes  Bytes of the message that was taken.
	 *  \retval -EAGAIN  The rest has not come. \retval others  It is closed. */
	int (*message)(struct conn *c, uint8_t *data, size_t len, size_t *ret_bytes);
	/*! With a transport: all input that was there is taken, also before it ends.
	 *  \retval others  It is closed. */
	int (*drained)(struct conn *c);
	/*! In place of message(): there is input, which it reads by itself. */
	void (*readable)(struct conn *c);
	/*! The socket takes output, none waits, and conn.more is set. */
	void (*more)(struct conn *c);
	/*! It ends; its socket is still open. \param ret  -ETIMEDOUT: by a deadline. Others: why. */
	void (*closed)(struct conn *c, int ret);
	/*! Before each wait, as that of a loop. */
	uint64_t (*turn)(void *ctx);
};

/*!
 * \brief Prepares a loop for connections of a kind.
 * \param t         Copied.
 * \param listener  Listening socket that does not block; taken in any case. -1: none.
 * \retval -ENOMEM \retval -errno
 */
int conn_set_new(const struct conn_type *t, void *ctx, int listener, struct conn_set **ret_set);

/*! \brief To be started by loop_start() or loop_run(). */
struct loop *conn_loop(const struct conn_set *s);

/*! \brief Ends the loop: no more calls. Answers may still be posted. NULL is fine. */
void conn_set_stop(struct conn_set *s);

/*! \brief Ends the loop, closes all connections and the listening socket. NULL is fine. */
void conn_set_free(struct conn_set *s);

void *conn_ctx(const struct conn *c);               /*!< ctx of its set */
struct conn *conn_first(const struct conn_set *s);  /*!< go on by conn.next; NULL: none */

/*!
 * \brief Serves a connection that was not accepted by the set. It counts, but is never refused.
 * \param c     Zeroed, of the kind's size, by calloc(). Taken with \a fd on success.
 * \param from  Address of the peer; NULL: not known.
 * \retval -errno
 */
int conn_add(struct conn_set *s, struct conn *c, int fd, const struct sockaddr *from);

/*!
 * \brief The same from any thread, for a client's connection: limits apply, without admit().
 * \retval E_FULL  There are enough; those of its address are looked at later.
 */
int conn_hand_over(struct conn_set *s, struct conn *c, int fd, const struct sockaddr *from);

/*! \brief For message(): the answer comes by conn_post(). No message is taken before. */
void conn_wait(struct conn *c);

/*!
 * \brief Brings the answer of the connection that waits. If it is gone this does nothing.
 * \param data  By malloc(), taken in any case. NULL: there is none, and it is closed.
 * \retval -ENOBUFS  Too many bytes wait: it is closed.
 */
int conn_post(struct conn_set *s, uint32_t number, void *data, size_t len);

/*! \brief Sends, and keeps what the socket does not take. What cannot be kept closes it. */
void conn_send(struct conn *c, const void *data, size_t len);

/*! \brief The same. \a b is taken without a copy if nothing waits; it is empty then. */
void conn_send_bytes(struct conn *c, struct conn_bytes *b);

/*! \brief Sends what waits as far as the socket takes it, and waits for what is due then. */
void conn_flush(struct conn *c);

/*! \brief Closes it. Its memory stays until the end of the turn. \param ret  For closed(). */
void conn_close(struct conn *c, int ret);

/*! \brief An address as IPv6; all zero for other families and NULL. */
void conn_address(const struct sockaddr *from, struct in6_addr *ret_address);
