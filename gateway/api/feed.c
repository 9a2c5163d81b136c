/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/api/feed.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/source.h"

const char *feed_resync(uint64_t at, const struct stats_events *ev)
{
	return at < ev->first ? "trimmed" : at > ev->next ? "unknown" : NULL;
}

void feed_begin(struct feed *f, struct source *s, uint64_t now_ms, const uint64_t *since)
{
	struct stats_events ev = { .next = 1 }; /* the daemon has reported nothing yet */
	struct arena *a = arena_new();

	if (a != NULL) {
		(void)source_events(s, now_ms, UINT64_MAX, 0, a, &ev);
	}
	f->at = since != NULL ? *since + 1 : ev.next;
	f->last_id = f->at - 1;
	arena_free(a);
}

void feed_head(struct feed *f, struct body *out)
{
	body_printf(out, "retry: %d\n", FEED_RETRY_MS);
	body_printf(out, "id: %" PRIu64 "\n\n", f->last_id);
}

void feed_page_clear(struct feed_page *p)
{
	arena_free(p->arena);
	body_clear(&p->text);
	memset(p, 0, sizeof(*p));
}

/* Makes the text of each row. */
static int write_page(struct feed_page *p)
{
	p->end = arena_array(p->arena, p->events.n, sizeof(*p->end));
	for (size_t i = 0; p->end != NULL && i < p->events.n; i++) {
		body_printf(&p->text, "id: %" PRIu64 "\ndata: ", p->events.events[i].seq);
		body_json(&p->text, event_json(&p->events.events[i]));
		body_printf(&p->text, "\n");
		p->end[i] = p->text.len;
	}
	return p->end == NULL ? -ENOMEM : body_done(&p->text);
}

/* Reads the rows from a number on, unless they are here. */
static int read_page(struct feed_page *p, struct source *s, uint64_t now_ms, uint64_t from)
{
	int ret;

	if (p->arena != NULL && p->from == from && p->events.n > 0) {
		return E_OK;
	}
	feed_page_clear(p);
	p->arena = arena_new();
	p->from = from;
	ret = p->arena == NULL ? -ENOMEM
	                       : source_events(s, now_ms, from, FEED_PAGE_EVENTS, p->arena,
	                                       &p->events);
	if (ret == E_OK) {
		ret = write_page(p);
	}
	if (ret != E_OK) {
		feed_page_clear(p);
	}
	return ret;
}

bool feed_pull(struct feed *f, struct feed_page *page, struct source *s, uint64_t now_ms,
               struct body *out)
{
	const char *why;
	size_t i, n;

	if (read_page(page, s, now_ms, f->at) != E_OK) {
		return false; /* not there, or just being written: the next time */
	}
	n = page->events.n;
	why = feed_resync(f->at, &page->events);
	if (why != NULL) {
		f->at = page->events.first;
		f->last_id = f->at - 1;
		body_printf(out,
		            "event: resync\nid: %" PRIu64
		            "\ndata: {\"reason\":\"%s\",\"first\":%" PRIu64
		            ",\"next\":%" PRIu64 "}\n\n",
		            f->last_id, why, page->events.first, page->events.next);
		return true;
	}
	for (i = 0; i < n; i++) {
		size_t begin = i > 0 ? page->end[i - 1] : 0;

		if (event_filter_match(&f->filter, &page->events.events[i])) {
			body_write(out, page->text.data + begin, page->end[i] - begin);
			f->last_id = page->events.events[i].seq;
		}
		f->at = page->events.events[i].seq + 1;
	}
	return n == FEED_PAGE_EVENTS;
}

void feed_heartbeat(struct feed *f, struct body *out)
{
	body_printf(out, ":\n");
	if (f->last_id != f->at - 1) {
		f->last_id = f->at - 1;
		body_printf(out, "id: %" PRIu64 "\n", f->last_id);
	}
	body_printf(out, "\n");
}
