/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A kind of connection (conf/base/conn.h) with one request at the server at a time:
 *
 *   reading --frame--> busy --answer--> writing --written--> reading
 *
 * Nobody can hold all places: whoever is idle, sends its frame slowly, or takes its answer slowly
 * is closed or displaced, and an address with three places of four displaces only its own.
 *
 * Whatever else a client sends stays in its socket until its answer is written, so this process
 * holds at most one answer per connection, and there is a limit for all answers together.
 * The SA answer thread brings answers (take_answer()). When a request is dropped its
 * connection is closed, so that the client does not wait in vain.
 */
#include "sa/server/oob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/conn.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "conf/base/log.h"
#include "sa/mad/transport.h"
#include "sa/mad/wire.h"
#include "sa/server/oob_frame.h"
#include "sa/server/server.h"

enum {
	IDLE_MS = 30000,
	LEAST_RATE = 64 << 10, /* bytes a second */
	SEND_BYTES =
		64 << 10, /* that the kernel holds of an answer, so that the rate shows */
	BAD_LINES = 5,    /* log lines about clients that speak something else */
	BAD_LINES_MS = 60000
};

#define MAX_ANSWER_BYTES (UINT64_C(256) << 20)

/* Numbers of requesters over TCP are no LIDs: those have 24 bits. */
#define REQUESTER_BIT UINT32_C(0x80000000)

static const char *const source = "oob";

struct oob {
	struct sa_origin origin; /* first */
	struct sa_server *server;
	struct listening listening;
	struct conn_set *conns;
	struct log_limit bad_lines;
};

/* On the SA answer thread, or our own when the queue is full. */
static int take_answer(struct sa_origin *origin, const struct mad_addr *to,
                       const uint8_t *data, size_t len)
{
	struct oob *o = (struct oob *)origin;
	uint8_t *out = data != NULL ? malloc(OOB_HEAD_BYTES + len) : NULL;
	bool failed = data != NULL && out == NULL;

	if (out != NULL) {
		oob_frame_head(len, out);
		memcpy(out + OOB_HEAD_BYTES, data, len);
	}
	int ret = conn_post(o->conns, to->qpn, out, OOB_HEAD_BYTES + len);
	return failed ? -ENOMEM : ret;
}

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

/* Passes a request to the server, if all of it has come. All connections of an address are one
 * requester. */
static int pass_request(struct conn *c, uint8_t *data, size_t len, size_t *ret_bytes)
{
	struct oob *o = conn_ctx(c);
	struct oob_frame f;
	int ret = oob_frame_read(data, len, &f);

	if (ret == E_OK) {
		struct mad_msg m = {
			.mgmt_class = UMAD_CLASS_SUBN_ADM,
			.addr = { .lid = (uint32_t)digest_bytes(0, &c->address,
			                                        sizeof(c->address)) |
			                 REQUESTER_BIT,
			          .qpn = c->number,
			          .origin = &o->origin },
			.len = f.mad_len,
			.data = data + OOB_HEAD_BYTES,
		};

		*ret_bytes = f.bytes;
		conn_wait(c);
		sa_server_receive(o->server, &m, 1, true);
	} else if (ret != -EAGAIN) {
		log_bad_client(o);
	}
	return ret;
}

static const struct conn_type requests = {
	.bytes = sizeof(struct conn),
	.most = OOB_CONNECTIONS,
	.of_address = OOB_OF_ADDRESS,
	.evicts = CONN_IDLE | CONN_SLOW,
	.in_bytes = OOB_FRAME_MAX,
	.posted_bytes = MAX_ANSWER_BYTES,
	.idle_ms = IDLE_MS,
	.stall_ms = IDLE_MS,
	.least_rate = LEAST_RATE,
	.message = pass_request,
};

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
	struct conn_type type = requests;

	if (o == NULL) {
		return -ENOMEM;
	}
	o->origin.send = take_answer;
	o->server = s;
	type.idle_ms = type.stall_ms = options->idle_ms ? options->idle_ms : IDLE_MS;
	type.least_rate = options->least_rate ? options->least_rate : LEAST_RATE;
	type.posted_bytes =
		options->max_answer_bytes ? options->max_answer_bytes : MAX_ANSWER_BYTES;
	int ret = listen_on(options->listen, "oob_listen", a, ret_why, &o->listening);
	if (ret == E_OK) {
		/* connections have it from the socket that accepts them */
		(void)setsockopt(o->listening.fd, SOL_SOCKET, SO_SNDBUF,
		                 &(int){ SEND_BYTES }, sizeof(int));
		ret = conn_set_new(&type, o, o->listening.fd, &o->conns);
	}
	if (ret == E_OK) {
		ret = loop_start(conn_loop(o->conns));
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
	conn_set_stop(o != NULL ? o->conns : NULL);
}

void oob_free(struct oob *o)
{
	if (o == NULL) {
		return;
	}
	conn_set_free(o->conns);
	free(o);
}

unsigned oob_port(const struct oob *o)
{
	return o->listening.port;
}
