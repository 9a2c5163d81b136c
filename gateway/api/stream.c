/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A slice is made when the one before has been sent, so a slow client costs the memory of
 * one slice and no time. It keeps no page of the snapshot from reuse, because the writer
 * does not wait for a foreign reader (db/lmdb/view.h). The reader only finds out that its epoch
 * is gone.
 */
#include "gateway/api/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"

enum {
	PIN_TRIES = 3,     /* epochs that pass under one slice */
	SILENT_SLICES = 32 /* without a record, until a line says that work goes on */
};

struct stream {
	struct stream_spec spec;
	struct source *source;
	struct http_stats *stats;
	struct snap_reader *snap; /* pinned; of source */
	struct stream_place at;
	uint64_t records;
	struct body out;
	size_t taken; /* of out */
	bool ended;   /* the last line is made */
	bool broken;  /* without one */
};

/* Pins the newest epoch. \retval E_STALE  The rows behind the lines have changed. */
static int pin(struct stream *s, uint64_t *ret_epoch)
{
	const char *why;

	int ret = source_pin(s->source, boottime_ms(), &why, &s->snap);
	if (ret != E_OK) {
		s->snap = NULL;
		return ret;
	}
	const struct snap_meta *m = snap_meta(s->snap);
	*ret_epoch = m->epoch;
	return m->epoch == s->spec.epoch &&
	                       snap_version(m, s->spec.tables) == s->spec.version
	               ? E_OK
	               : E_STALE;
}

/* One slice of one epoch. If the epoch changed meanwhile, nothing of the slice stays. */
static int add_slice(struct stream *s)
{
	struct stream_place at = s->at;
	size_t n = 0;

	int ret = s->spec.more(s->spec.state, s->snap, &at, &s->out, &n);
	int torn = s->spec.media_type == NULL ? snap_check(s->snap) : E_OK;
	ret = torn != E_OK ? torn : ret == E_OK ? body_done(&s->out) : ret;
	if (ret != E_OK) {
		s->out.len = 0;
		s->out.failed = false;
		return ret;
	}
	s->at = at;
	s->records += n;
	atomic_fetch_add(&s->stats->stream_records, n);
	return E_OK;
}

static void write_end(struct stream *s, int ret, uint64_t now)
{
	s->ended = true;
	if (s->spec.media_type != NULL) {
		s->broken = ret != E_OK;
		return;
	}
	body_printf(&s->out, "{\"stream\":\"end\",\"complete\":%s",
	            ret == E_OK ? "true" : "false");
	if (ret != E_OK) {
		body_printf(&s->out, ",\"reason\":\"%s\"",
		            ret == E_STALE ? "superseded" : err_name(ret));
	}
	body_printf(&s->out, ",\"epoch\":%" PRIu64, s->spec.epoch);
	if (ret == E_STALE) {
		body_printf(&s->out, ",\"now\":%" PRIu64, now);
	}
	body_printf(&s->out, ",\"records\":%" PRIu64, s->records);
	if (ret != E_OK) {
		body_printf(&s->out, ",\"from\":\"0x%" PRIx64 "\"", s->at.key);
	}
	body_printf(&s->out, "}\n");
}

/* One slice or the last line. */
static int make_slice(struct stream *s)
{
	uint64_t now = s->spec.epoch;

	s->out.len = s->taken = 0;
	int ret = s->at.end ? E_OK : add_slice(s);
	for (unsigned i = 0; i < PIN_TRIES && ret == E_STALE; i++) {
		ret = pin(s, &now);
		if (ret != E_OK) {
			break;
		}
		ret = add_slice(s);
	}
	if (ret != E_OK || (s->at.end && s->out.len == 0)) {
		write_end(s, ret, now);
	}
	return ret;
}

/* Makes slices until there is something to send: a walk may pass many that do not match. */
static void fill_buffer(struct stream *s)
{
	for (unsigned i = 0; i < SILENT_SLICES; i++) {
		(void)make_slice(s);
		if (s->out.len > 0 || s->ended) {
			return;
		}
	}
	if (s->spec.media_type != NULL) {
		body_printf(&s->out, "# working\n");
		return;
	}
	body_printf(&s->out, "{\"stream\":\"working\",\"from\":\"0x%" PRIx64 "\"}\n",
	            s->at.key);
}

static void write_begin(struct stream *s, struct body *b)
{
	if (s->spec.media_type != NULL) {
		return;
	}
	body_printf(b, "{\"stream\":\"begin\",\"epoch\":%" PRIu64 "%s,\"name\":\"%s\"",
	            s->spec.epoch, s->spec.stale ? ",\"stale\":true" : "", s->spec.name);
	if (s->spec.warning != NULL) {
		body_printf(b, ",\"warning\":\"%s\"", s->spec.warning);
	}
	body_printf(b, "}\n");
}

/* The first slice, behind the first line. Nothing has been sent: any error is an answer.
 */
static int make_first(struct stream *s)
{
	struct body head = { .len = 0 };
	uint64_t now;

	int ret = pin(s, &now);
	if (ret == E_OK) {
		ret = add_slice(s);
	}
	if (ret != E_OK) {
		return ret;
	}
	write_begin(s, &head);
	body_write(&head, s->out.data != NULL ? s->out.data : "", s->out.len);
	body_clear(&s->out);
	s->out = head;
	return body_done(&head);
}

int stream_begin(struct source *source, struct http_stats *stats,
                 const struct stream_spec *spec, struct stream **ret_stream)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return -ENOMEM;
	}
	s->spec = *spec;
	s->at = spec->from;
	s->stats = stats;
	s->source = source_join(source);
	int ret = atomic_fetch_add(&stats->streams, 1) >= STREAMS_MAX ? E_FULL
	          : s->source == NULL                                 ? -ENOMEM
	                                                              : make_first(s);
	if (ret != E_OK) {
		s->spec.done = NULL; /* the caller keeps the state */
		stream_free(s);
		return ret;
	}
	*ret_stream = s;
	return E_OK;
}

size_t stream_read(struct stream *s, char *to, size_t max)
{
	if (s->taken == s->out.len && !s->ended) {
		fill_buffer(s);
	}
	size_t n = s->out.len - s->taken;
	if (n > max) {
		n = max;
	}
	if (n > 0) {
		memcpy(to, s->out.data + s->taken, n);
		s->taken += n;
	}
	return n;
}

bool stream_broken(const struct stream *s)
{
	return s->broken;
}

void stream_free(struct stream *s)
{
	if (s == NULL) {
		return;
	}
	atomic_fetch_sub(&s->stats->streams, 1);
	source_free(s->source);
	body_clear(&s->out);
	if (s->spec.done != NULL) {
		s->spec.done(s->spec.state);
	}
	free(s);
}
