/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gateway/view/body.h"
#include "sa/record/record.h"

struct http_stats;
struct snap_reader;
struct source;

/*!
 * An answer that is made while it is sent. It needs the memory of one slice, whatever its
 * length. It is NDJSON, one JSON object per line:
 *
 *   {"stream":"begin","epoch":7,"name":"PathRecord"}
 *   {...}                                  a record; no record has a member "stream"
 *   {"stream":"working","from":"0x..."}    now and then, while nothing matches
 *   {"stream":"end","complete":true,"epoch":7,"records":2}
 *
 * All of it is from one epoch. A stream has a reader of its own, which keeps the epoch of
 * its begin. If this epoch was superseded for too long and the newest one differs in a
 * table that the stream reads, the last line is
 *
 *   {"stream":"end","complete":false,"reason":"superseded","epoch":7,"now":8,"records":2,"from":"0x..."}
 *
 * and the client continues with from=; records of that key that were sent before are sent
 * again. If there is no last line, the connection broke (doc/decisions/0006).
 *
 * With a media type of its own a stream is only the text of its kind. Its lines read nothing of
 * the snapshot, so an epoch that is superseded does not end it. If it fails, the connection is
 * broken off (stream_broken()), so that nobody takes the part for the whole.
 *
 * No HTTP in here: libmicrohttpd and the command line pull the same bytes.
 */
struct stream;

enum {
	STREAM_RECORDS = 512, /*!< records of one slice */
	STREAM_STEPS = 4096,  /*!< end ports or pairs looked at for one slice */
	STREAMS_MAX = 64      /*!< at a time in one process */
};

/*! The place that a stream has reached: that of struct sa_out or struct path_place, and how
 * many matches under it were sent. */
struct stream_place {
	uint64_t key, sub;
	size_t skip;
	bool end; /*!< nothing is left */
	uint8_t row[SA_ROW_KEY_BYTES]; /*!< client records: key of the row */
	uint8_t row_len;            /*!< 0: the row that begins with key */
};

/*!
 * Lines of one kind.
 *
 * \param state  Of the kind; a slice that is discarded does not change it.
 * \param at     Where to begin; set to where the next slice begins.
 * \param ret_n  Records written to \a out.
 */
typedef int stream_more_f(void *state, struct snap_reader *r, struct stream_place *at,
                          struct body *out, size_t *ret_n);

struct stream_spec {
	stream_more_f *more;
	void (*done)(void *state);
	void *state;      /*!< taken on success */
	const char *name; /*!< of the records; static */
	const char
		*media_type; /*!< of a text without lines of the stream's own, in which a
	                           line that begins with "# " says nothing; static; NULL: NDJSON */
	const char
		*warning; /*!< for the first line, without quotes; static; NULL: none */
	struct stream_place from;
	unsigned tables;         /*!< enum api_table: what the lines are made of */
	uint64_t epoch, version; /*!< that they have to begin with */
	bool stale;
};

/*!
 * \brief Begins: makes the first slice, so that a bad request is refused with a status.
 *
 * \param source  Joined.
 * \param stats   Counts open streams and records; borrowed for the stream's life.
 * \retval E_STALE  Another epoch is out by now. \retval E_FULL  STREAMS_MAX are open.
 * \retval others   Of \a more.
 */
int stream_begin(struct source *source, struct http_stats *stats,
                 const struct stream_spec *spec, struct stream **ret_stream);

/*! \brief Copies at most \a max further bytes. \return How many; 0: that was all. */
size_t stream_read(struct stream *s, char *to, size_t max);

/*! \brief Did a stream of another media type end before it was complete? */
bool stream_broken(const struct stream *s);

/*! \brief At any point; NULL is fine. */
void stream_free(struct stream *s);
