/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/event_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/view/json_text.h"
#include "gateway/view/problem.h"

/* --- filter ---------------------------------------------------------------------------- */

static int unknown_kind(struct problem *p, struct arena *a, const char *name, size_t len)
{
	json_t *known = json_array();

	for (unsigned k = 0; k < EVENT_KINDS; k++) {
		json_array_append_new(known, json_string(event_types[k].name));
	}
	problem_member(p, "candidates", known);
	return problem_param(p, a, E_UNKNOWN, "kind",
	                     "kind='%.*s': there are no events of this kind; expected one of:",
	                     len < 100 ? (int)len : 100, name);
}

int event_filter_read(struct event_filter *f, const char *kinds, const char *node,
                      struct problem *p, struct arena *a)
{
	memset(f, 0, sizeof(*f));
	f->some_kinds = kinds != NULL;
	while (kinds != NULL) {
		size_t len = strcspn(kinds, ",");
		enum event_kind k = event_kind_by_name(kinds, len);

		if (k == EVENT_KINDS) {
			return unknown_kind(p, a, kinds, len);
		}
		f->kind[k] = true;
		kinds = kinds[len] == ',' ? kinds + len + 1 : NULL;
	}
	if (node != NULL && strlen(node) >= sizeof(f->node)) {
		return problem_param(p, a, E_RANGE, "node",
		                     "node= is longer than %d bytes, and so is no name",
		                     EVENT_GLOB_BYTES - 1);
	}
	snprintf(f->node, sizeof(f->node), "%s", node != NULL ? node : "");
	return E_OK;
}

static bool is_named(const char *glob, const char *name, uint64_t guid)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return guid != 0 && ((name != NULL && *name != '\0' && text_glob(glob, name)) ||
	                     text_glob(glob, text));
}

bool event_filter_match(const struct event_filter *f, const struct fabric_event *e)
{
	if (f->some_kinds && ((unsigned)e->kind >= EVENT_KINDS || !f->kind[e->kind])) {
		return false;
	}
	return f->node[0] == '\0' || is_named(f->node, e->node, e->node_guid) ||
	       is_named(f->node, e->peer, e->peer_guid);
}

/* --- JSON ------------------------------------------------------------------------------ */

static json_t *end_json(uint64_t guid, const char *name, uint8_t port)
{
	json_t *o;

	if (guid == 0) {
		return json_null();
	}
	o = json_pack("{s:o, s:o}", "guid", guid_json(guid), "name", text_json(name));
	if (o != NULL && port != 0) {
		json_object_set_new(o, "port", json_integer(port));
	}
	return o;
}

static json_t *text_or_null(const char *text)
{
	return text_json(text != NULL && *text != '\0' ? text : NULL);
}

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
		"node", end_json(e->node_guid, e->node, e->port),
		"peer", end_json(e->peer_guid, e->peer, e->peer_port),
		"cause", text_or_null(e->cause),
		"epoch", (json_int_t)e->epoch,
		"duration_ms", (json_int_t)e->duration_ms,
		"paths_moved", (json_int_t)e->paths_moved,
		"lft_blocks", (json_int_t)e->lft_blocks,
		"clock_ms", (json_int_t)e->clock_ms);
	/* clang-format on */
}
