/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/event_json.h"

#include "gateway/view/json_text.h"

/* --- filter ---------------------------------------------------------------------------- */

static const char *kind_name(unsigned kind)
{
	return event_types[kind].name;
}

int event_filter_read(struct list_filter *f, const char *kinds, const char *node,
                      struct problem *p, struct arena *a)
{
	static const struct list_kinds known = { "events", kind_name, EVENT_KINDS };

	_Static_assert((int)EVENT_KINDS <= (int)LIST_FILTER_KINDS, "kinds of events");
	return list_filter_read(f, &known, kinds, node, p, a);
}

bool event_filter_match(const struct list_filter *f, const struct fabric_event *e)
{
	if (f->some_kinds && ((unsigned)e->kind >= EVENT_KINDS || !f->kind[e->kind])) {
		return false;
	}
	return list_filter_node(f, e->node_guid, e->node) ||
	       list_filter_node(f, e->peer_guid, e->peer);
}

/* --- JSON ------------------------------------------------------------------------------ */

json_t *event_json(const struct fabric_event *e)
{
	bool known = (unsigned)e->kind < EVENT_KINDS;
	char text[EVENT_TEXT_BYTES];

	event_text(e, text, sizeof(text));
	/* clang-format off */
	return json_pack("{s:I, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I}",
		"id", (json_int_t)e->seq,
		"time", time_json(e->time_s),
		"kind", known ? event_types[e->kind].name : "unknown",
		"severity", event_severity_names[known ? event_types[e->kind].severity : EVENT_INFO],
		"text", text_json(text),
		"node", named_port_json(e->node_guid, e->node, e->port),
		"peer", named_port_json(e->peer_guid, e->peer, e->peer_port),
		"cause", word_json(e->cause),
		"epoch", (json_int_t)e->epoch,
		"duration_ms", (json_int_t)e->duration_ms,
		"paths_moved", (json_int_t)e->paths_moved,
		"lft_blocks", (json_int_t)e->lft_blocks,
		"clock_ms", (json_int_t)e->clock_ms);
	/* clang-format on */
}
