/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/*!
 * The control socket: how an operator changes a running daemon.
 *
 * It is a Unix stream socket. A request is one line with a JSON object whose member "verb"
 * names what to do; its other members are the arguments. The reply is one line with a JSON
 * object:
 *
 *   {"verb": "sweep", "heavy": true}
 *   {"ok": true, ...}
 *   {"ok": false, "error": "'heavy' must be true or false"}
 *
 * Beside the sentence a verb may give a failure further members, such as a "code" that
 * programs can rely on.
 *
 * A connection may send any number of requests; replies come in the order of requests.
 *
 * Root, the user of the daemon and members of a group may connect. The file mode says
 * so, and the peer credentials of each connection are checked as well, because a file mode
 * can be changed by accident.
 *
 * A thread of its own reads and writes, so a slow or silent client delays nobody. Verbs run
 * on the fabric thread, in control_dispatch().
 */
struct control;

enum {
	CONTROL_WAIT = 1,
	CONTROL_WAITING =
		64, /*!< requests at a time that wait; further ones are refused */
	CONTROL_RECHECK_MS = 10,      /*!< how often waiting requests are tried again */
	CONTROL_CONNECTIONS = 32,     /*!< at a time; further ones are refused */
	CONTROL_LINE_BYTES = 1 << 20, /*!< longest request */
	CONTROL_UNREAD_BYTES =
		16 << 20, /*!< replies that a client has not read; above, it is closed */
	CONTROL_IDLE_S = 600, /*!< a connection without a request for so long is closed */
	CONTROL_LEAST_RATE = 64 << 10 /*!< bytes a second; who takes replies more slowly is closed */
};

/*!
 * \brief Carries out a request, on the fabric thread.
 *
 * \param request  The whole object; borrowed.
 * \param reply    Empty object; members of the reply go here.
 * \param why      [why_bytes] On failure a sentence: what is wrong and what is expected.
 * \retval E_OK
 * \retval CONTROL_WAIT  There is nothing to reply yet: it is called again, with the same
 *                       request and an empty reply, by later control_dispatch().
 * \retval others        The reply has \a why and what is in \a reply.
 */
typedef int control_verb_f(void *ctx, const json_t *request, json_t *reply, char *why,
                           size_t why_bytes);

struct control_verb {
	const char *name; /*!< NULL ends the table */
	control_verb_f *run;
};

struct control_options {
	const char *path;  /*!< of the socket */
	const char *group; /*!< members may connect; NULL or unknown: nobody further */
	const struct control_verb *verbs; /*!< borrowed until control_free() */
	void *ctx;                        /*!< for the verbs */
	/*! Before and after the requests that are carried out together, so that they can share what
	 *  costs much; NULL: neither. A failure of settle() is the reply of each request whose verb
	 *  called control_unsettled(), with what it puts into \a reply. */
	void (*begin)(void *ctx);
	int (*settle)(void *ctx, json_t *reply, char *why, size_t why_bytes);
	void (*wake)(
		void *ctx); /*!< makes the fabric thread call control_dispatch(); any thread */
};

/*!
 * \brief Listens and starts the thread. A socket file that no process listens on any more is
 * replaced; one that is in use is not.
 *
 * \param ret_why  On failure a sentence in \a a.
 * \retval E_OK \retval -EADDRINUSE  Another process listens there. \retval -errno
 */
int control_new(const struct control_options *o, struct arena *a, const char **ret_why,
                struct control **ret_control);

/*! \brief Carries out the requests that wait. On the fabric thread. Cost: that of the verbs. */
void control_dispatch(struct control *c);

/*! \brief For a verb: what its reply says is true only if settle() succeeds. */
void control_unsettled(struct control *c);

/*! \brief For a verb: milliseconds since its request was taken for the first time. */
uint64_t control_waited_ms(const struct control *c);

/*!
 * \brief For a verb: who sent its request, for an event: the user of the process at the other end
 * of the socket, "root, control socket". A door for users of its own names the one in the member
 * "by" of the request; it is trusted to do so, and named, too: "alice, HTTP by way of saguaro".
 */
void control_user(const struct control *c, const json_t *request, char *ret_text,
                  size_t size);

enum { CONTROL_USER_BYTES = 160 }; /*!< room for it */

/*! \brief Ends the thread, closes all connections, removes the socket file. NULL is fine. */
void control_free(struct control *c);
