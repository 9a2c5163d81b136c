/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/events: what happened, as a list or as a feed that goes on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/api/api_call.h"
#include "gateway/api/feed.h"
#include "gateway/view/event_json.h"
#include "gateway/view/source.h"

enum { BATCH = 512 };

static int read_number(struct api_call *c, const char *name, uint64_t *ret_number,
                       bool *ret_has)
{
	const char *text = api_param(c, name);

	*ret_has = text != NULL;
	if (text != NULL && text_u64(text, UINT64_MAX - 1, ret_number) != E_OK) {
		return problem_param(&c->problem, c->arena, E_SYNTAX, name,
		                     "%s='%.40s': expected the number of an event", name,
		                     text);
	}
	return E_OK;
}

/* Which events are wanted: those after a number, or the last so many. */
struct wanted {
	struct list_filter filter;
	uint64_t since, last;
	bool has_since, has_last;
	uint32_t limit;
};

static int read_wanted(struct api_call *c, struct wanted *w)
{
	int ret = event_filter_read(&w->filter, api_param(c, "kind"), api_param(c, "node"),
	                            &c->problem, c->arena);

	if (ret == E_OK) {
		ret = read_number(c, "since", &w->since, &w->has_since);
	}
	if (ret == E_OK) {
		ret = read_number(c, "last", &w->last, &w->has_last);
	}
	if (ret == E_OK && w->has_since && w->has_last) {
		ret = problem_param(&c->problem, c->arena, E_SYNTAX, "last",
		                    "since= and last= contradict each other; give one");
	}
	return ret == E_OK ? api_limit(c, &w->limit) : ret;
}

/* Where the last so many that match begin. */
static int find_last(struct api_call *c, struct wanted *w)
{
	struct source *source = c->thread->source;
	struct stats_events ev;
	struct arena *a = NULL;
	uint64_t n = 0, end;
	int ret = source_events(source, c->now_ms, UINT64_MAX, 0, c->arena, &ev);

	if (ret != E_OK) {
		return ret;
	}
	w->since = ev.next - 1;
	for (end = ev.next; ret == E_OK && n < w->last && end > ev.first;) {
		uint64_t from = end - ev.first > BATCH ? end - BATCH : ev.first;

		arena_free(a);
		a = arena_new();
		ret = a == NULL ? -ENOMEM
		                : source_events(source, c->now_ms, from, end - from, a, &ev);
		for (size_t i = ret == E_OK ? ev.n : 0; i > 0 && n < w->last; i--) {
			if (event_filter_match(&w->filter, &ev.events[i - 1])) {
				n++;
				w->since = ev.events[i - 1].seq - 1;
			}
		}
		end = from;
	}
	arena_free(a);
	return ret;
}

/* Adds up to the limit. \param ret_next  Number at which the next page begins; 0: none. */
static int add_events(struct api_call *c, const struct wanted *w, uint64_t *ret_next)
{
	struct stats_events ev = { .n = 0 };
	uint64_t at = w->since + 1;
	uint32_t n = 0;
	int ret = E_OK;

	do {
		struct arena *a = arena_new();

		ret = a == NULL ? -ENOMEM
		                : source_events(c->thread->source, c->now_ms, at, BATCH, a, &ev);
		for (size_t i = 0; ret == E_OK && i < ev.n && *ret_next == 0; i++) {
			at = ev.events[i].seq + 1;
			if (!event_filter_match(&w->filter, &ev.events[i])) {
				continue;
			}
			if (n++ == w->limit) {
				*ret_next = at - 1;
			} else {
				body_list_add(&c->body, event_json(&ev.events[i]));
			}
		}
		arena_free(a);
	} while (ret == E_OK && ev.n > 0 && *ret_next == 0);
	return ret;
}

static int list_events(struct api_call *c, struct wanted *w)
{
	struct stats_events ev;
	const char *resync;
	uint64_t next = 0;
	json_t *head;
	int ret = w->has_last ? find_last(c, w) : E_OK;

	if (ret == E_OK) {
		ret = source_events(c->thread->source, c->now_ms, UINT64_MAX, 0, c->arena, &ev);
	}
	if (ret == E_NOTREADY) {
		return problem_set(&c->problem, c->arena, ret,
		                   "no saguarod has reported here yet");
	}
	if (ret != E_OK) {
		return ret;
	}
	resync = w->has_since ? feed_resync(w->since + 1, &ev) : NULL;
	if (resync != NULL) {
		w->since = ev.first - 1;
	}
	head = json_pack("{s:I, s:I}", "first", (json_int_t)ev.first, "next",
	                 (json_int_t)ev.next);
	if (resync != NULL) {
		json_object_set_new(head, "resync", json_string(resync));
	}
	if (source_stale(c->thread->source, c->now_ms)) {
		json_object_set_new(head, "stale", json_true());
	}
	body_list_begin(&c->body, head, "events");
	ret = add_events(c, w, &next);
	body_list_end(&c->body, next != 0 ? json_pack("{s:I}", "next_since",
	                                              (json_int_t)(next - 1))
	                                  : NULL);
	return ret;
}

/* A feed goes on after the number that the client saw last, else with what comes. */
static int begin_feed(struct api_call *c, struct wanted *w)
{
	const char *id = c->request->last_event_id;
	bool has_since = w->has_since || (w->has_last && find_last(c, w) == E_OK);
	uint64_t since = w->since;

	if (id != NULL && *id != '\0') {
		has_since = true;
		if (text_u64(id, UINT64_MAX - 1, &since) != E_OK) {
			since = UINT64_MAX - 1; /* not ours: the feed says so and begins anew */
		}
	}
	c->feed = calloc(1, sizeof(*c->feed));
	if (c->feed == NULL) {
		return -ENOMEM;
	}
	c->feed->filter = w->filter;
	c->content_type = "text/event-stream";
	feed_begin(c->feed, c->thread->source, c->now_ms, has_since ? &since : NULL);
	return E_OK;
}

static bool wants_feed(const struct api_request *rq)
{
	return rq->accept != NULL && strcasestr(rq->accept, "text/event-stream") != NULL;
}

int api_events(struct api_call *c)
{
	struct wanted w = { .since = 0 };
	int ret = read_wanted(c, &w);

	if (ret != E_OK) {
		return ret;
	}
	return wants_feed(c->request) ? begin_feed(c, &w) : list_events(c, &w);
}
