/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/http/sending.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "gateway/api/api.h"
#include "gateway/api/stream.h"
#include "gateway/httpd/connections.h"

enum {
	STREAM_BLOCK = 16 * 1024, /* that fits the connection's memory */
	PIECE = 32 * 1024         /* that is encoded at once */
};

/* A stream that is being sent. */
struct sending {
	struct stream *stream;
	struct connection *place;
	struct encoder *encoder; /* NULL: the bytes are sent as they are */
	struct body out;         /* encoded */
	size_t taken;            /* of out */
	bool ended;              /* out has the end */
};

static void sending_free(void *arg)
{
	struct sending *s = arg;

	stream_free(s->stream);
	encoding_free(s->encoder);
	body_clear(&s->out);
	free(s);
}

/* Encodes the next piece. \return false: the rest cannot be made. */
static bool encode_piece(struct sending *s)
{
	char piece[PIECE];
	size_t n = stream_read(s->stream, piece, sizeof(piece));

	s->out.len = s->taken = 0;
	s->ended = n == 0;
	return (n > 0 || !stream_broken(s->stream)) &&
	       encoding_write(s->encoder, piece, n, s->ended, &s->out) == E_OK;
}

static ssize_t pull_encoded(struct sending *s, char *to, size_t max)
{
	while (s->taken == s->out.len) {
		if (s->ended) {
			return MHD_CONTENT_READER_END_OF_STREAM;
		}
		if (!encode_piece(s)) {
			return MHD_CONTENT_READER_END_WITH_ERROR;
		}
	}
	size_t n = s->out.len - s->taken < max ? s->out.len - s->taken : max;
	memcpy(to, s->out.data + s->taken, n);
	s->taken += n;
	return (ssize_t)n;
}

static ssize_t pull(void *arg, uint64_t at, char *to, size_t max)
{
	struct sending *s = arg;
	size_t n;

	(void)at;
	connections_enter(s->place, CONNECTION_STREAM, monotonic_ms());
	if (s->encoder != NULL) {
		return pull_encoded(s, to, max);
	}
	n = stream_read(s->stream, to, max);
	if (n == 0) { /* libmicrohttpd 0.9.72 has these as size_t */
		return stream_broken(s->stream) ? MHD_CONTENT_READER_END_WITH_ERROR
		                                : MHD_CONTENT_READER_END_OF_STREAM;
	}
	return (ssize_t)n;
}

/* With an unknown length the library sends chunks, to a client of HTTP/1.0 until it
 * closes. */
static struct MHD_Response *send_stream(struct stream *stream, enum encoding e,
                                        struct connection *place)
{
	struct sending *s = calloc(1, sizeof(*s));
	struct MHD_Response *r = NULL;

	if (s == NULL) {
		return NULL;
	}
	s->place = place;
	if (e == ENCODING_NONE || (s->encoder = encoding_new(e)) != NULL) {
		r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
		                                      pull, s, sending_free);
	}
	if (r == NULL) {
		sending_free(s);
		return NULL;
	}
	s->stream = stream;
	return r;
}

/* Without memory for it, the body stays as it is. */
static void encode_body(struct body *b, enum encoding *e)
{
	struct body packed = { .len = 0 };

	if (*e != ENCODING_NONE && b->len >= ENCODING_LEAST &&
	    encoding_pack(*e, b->data, b->len, &packed) == E_OK) {
		body_clear(b);
		*b = packed;
	} else {
		body_clear(&packed);
		*e = ENCODING_NONE;
	}
}

struct MHD_Response *sending_new(struct api_reply *reply, enum encoding *e,
                                 struct connection *place)
{
	if (reply->stream != NULL) {
		return send_stream(reply->stream, *e, place);
	}
	if (reply->base.body.data == NULL) {
		*e = ENCODING_NONE;
		return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	}
	encode_body(&reply->base.body, e);
	return MHD_create_response_from_buffer(
		reply->base.body.len, reply->base.body.data, MHD_RESPMEM_MUST_FREE);
}
