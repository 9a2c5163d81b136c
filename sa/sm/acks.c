/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/acks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/search.h"
#include "conf/base/text.h"
#include "conf/base/vector.h"
#include "db/state/state.h"
#include "db/stats/stats.h"
#include "routing/graph/graph.h"
#include "sa/sm/sm.h"

static const char *const source = "sweep";

/* --- the rows --------------------------------------------------------------------------------- */

static int decode_row(const uint8_t *key, size_t key_len, const void *value, size_t len,
                      void *ret_row)
{
	return acks_decode(key, key_len, value, len, ret_row);
}

/* Reads the rows if another daemon changed them, or they were not written. */
static int refresh(struct sm *sm)
{
	struct acks *a = &sm->acks;
	void *list;

	a->rows.table = RECORDS_ACKS;
	if (record_list_is_current(sm, &a->rows)) {
		return E_OK;
	}
	int ret = record_list_read(sm, &a->rows, sizeof(*a->list), decode_row, &list, &a->n);
	if (ret == E_OK) {
		free(a->list);
		a->list = list;
		a->cap = a->n;
	}
	return ret;
}

/* The place of an id, also of one that is not there. */
static size_t place_of(const struct acks *a, const char *id)
{
	return LOWER_BOUND(a->n, i, strcmp(a->list[i].id, id) < 0);
}

static bool has_at(const struct acks *a, size_t at, const char *id)
{
	return at < a->n && strcmp(a->list[at].id, id) == 0;
}

static int put(struct acks *a, struct record_changes *c, const struct alarm_ack *row, bool removes)
{
	uint8_t bytes[ACK_ROW_MAX];
	size_t len = removes ? 0 : acks_encode(row, bytes);

	return record_list_put(&a->rows, c, row->id, strlen(row->id), removes ? NULL : bytes, len);
}

static void take_out(struct acks *a, size_t at)
{
	a->n--;
	memmove(&a->list[at], &a->list[at + 1], (a->n - at) * sizeof(a->list[0]));
}

/* --- when they end ---------------------------------------------------------------------------- */

/* Signs that an alarm is over. */
enum track {
	TRACK_NOTHING,
	TRACK_EVENTS,
	TRACK_NODE,
	TRACK_SYSTEM,
	TRACK_CABLE,
	TRACK_STATE
};

static const struct {
	const char *alarm;
	enum track track;
} tracks[] = {
#define ALARM_EVENT(event, alarm, name, begins, of_port) { #name, TRACK_EVENTS },
#include "db/stats/alarm_events.def"
#undef ALARM_EVENT
	{ "host_gone", TRACK_NODE },  { "switch_gone", TRACK_NODE },
	{ "silent", TRACK_NODE },     { "chassis_gone", TRACK_SYSTEM },
	{ "link_down", TRACK_CABLE }, { "not_active", TRACK_STATE },
};

/* The subject of an id: NAME, NAME-GUID or NAME-GUID-PORT. */
struct subject {
	enum track track;
	uint64_t guid; /* 0: none */
	uint8_t port;
};

static struct subject subject_of(const char *id)
{
	struct subject s = { TRACK_NOTHING, 0, 0 };
	size_t len = strcspn(id, "-");

	for (size_t i = 0; i < sizeof(tracks) / sizeof(tracks[0]); i++) {
		if (strncmp(tracks[i].alarm, id, len) == 0 && tracks[i].alarm[len] == '\0') {
			s.track = tracks[i].track; /* the last row counts */
		}
	}
	(void)sscanf(id + len, "-%" SCNx64 "-%" SCNu8, &s.guid, &s.port);
	return s;
}

static bool is_known(const struct sm *sm, uint64_t guid)
{
	const struct known *k = &sm->known;
	size_t at = LOWER_BOUND(k->n, i, k->list[i].node_guid < guid);

	return at < k->n && k->list[at].node_guid == guid;
}

/* Is a switch of a system there, or none of them known any more? */
static bool is_system_over(const struct sm *sm, const struct graph *g, uint64_t system)
{
	for (uint32_t i = 0; i < g->n_switches; i++) {
		if (g->nodes[g->switches[i]].system_image_guid == system) {
			return true;
		}
	}
	for (size_t i = 0; i < sm->known.n; i++) {
		if (sm->known.list[i].system_guid == system) {
			return false;
		}
	}
	return true;
}

/* Does the fabric show that an alarm is over? */
static bool fabric_shows_end(const struct sm *sm, const struct graph *g, const struct subject *s)
{
	uint32_t node = graph_node_by_guid(g, s->guid);
	uint32_t port = node != GRAPH_NONE ? graph_port(g, node, s->port) : GRAPH_NONE;

	switch (s->track) {
	case TRACK_NOTHING:
	case TRACK_EVENTS: return false;
	case TRACK_NODE: return node != GRAPH_NONE || !is_known(sm, s->guid);
	case TRACK_SYSTEM: return is_system_over(sm, g, s->guid);
	case TRACK_CABLE: return port == GRAPH_NONE || g->ports[port].peer != GRAPH_NONE;
	case TRACK_STATE:
		return port == GRAPH_NONE || g->ports[port].peer == GRAPH_NONE ||
		       g->ports[port].state == PORT_ACTIVE;
	}
	return false;
}

/* Its alarm is over, or is not: when that changes, or was so for long, the row changes. \return true: it is gone. */
static int set_over(struct sm *sm, struct record_changes *c, size_t at, bool over, int64_t now,
                    bool *ret_gone)
{
	struct acks *a = &sm->acks;
	struct alarm_ack *row = &a->list[at];
	bool out = (row->until_s != 0 && row->until_s <= now) ||
	           (row->ended_s != 0 && now - row->ended_s >= ACKS_QUIET_S);

	*ret_gone = out;
	if (out) {
		int ret = put(a, c, row, true);

		take_out(a, at);
		return ret;
	}
	if (over == (row->ended_s != 0)) {
		return E_OK;
	}
	row->ended_s = over ? now : 0;
	return put(a, c, row, false);
}

static void end_changes(struct sm *sm, struct record_changes *c, int ret)
{
	record_list_commit(sm, &sm->acks.rows, c);
	if (ret != E_OK) {
		sm->acks.rows.failed = true;
		log_message(MSG_SM_ACKS_NOT_KEPT, source,
		            "cannot keep acknowledgements of alarms: %s", err_text(ret));
	}
}

void acks_note_sweep(struct sm *sm, const struct graph *g, int64_t now_s)
{
	struct acks *a = &sm->acks;
	struct record_changes c = { 0 };

	if (sm->d.state == NULL) {
		return;
	}
	int ret = refresh(sm);
	for (size_t i = 0; i < a->n && ret == E_OK;) {
		const struct subject s = subject_of(a->list[i].id);
		bool over = s.track <= TRACK_EVENTS ? a->list[i].ended_s != 0
		                                    : fabric_shows_end(sm, g, &s);
		bool gone;

		ret = set_over(sm, &c, i, over, now_s, &gone);
		i += !gone;
	}
	end_changes(sm, &c, ret);
}

/* The id of the alarm that an event begins or ends. */
static void id_of_event(const char *alarm, bool of_port, const struct fabric_event *e,
                        char ret_id[ACK_ID_BYTES + 1])
{
	uint8_t port = of_port ? e->port : 0;

	if (e->node_guid == 0) {
		snprintf(ret_id, ACK_ID_BYTES + 1, "%s", alarm);
	} else if (port == 0) {
		snprintf(ret_id, ACK_ID_BYTES + 1, "%s-0x%016" PRIx64, alarm, e->node_guid);
	} else {
		snprintf(ret_id, ACK_ID_BYTES + 1, "%s-0x%016" PRIx64 "-%u", alarm, e->node_guid,
		         port);
	}
}

static const struct {
	enum event_kind event;
	const char *alarm;
	bool begins, of_port;
} alarm_events[] = {
#define ALARM_EVENT(event, alarm, name, begins, of_port) { EVENT_##event, #name, begins, of_port },
#include "db/stats/alarm_events.def"
#undef ALARM_EVENT
};

void acks_note_event(struct sm *sm, const struct fabric_event *e, int64_t now_s)
{
	struct acks *a = &sm->acks;
	struct record_changes c = { 0 };
	int ret = E_OK;

	for (size_t k = 0; a->n > 0 && k < sizeof(alarm_events) / sizeof(alarm_events[0]); k++) {
		char id[ACK_ID_BYTES + 1];
		bool gone;

		if (alarm_events[k].event != e->kind) {
			continue;
		}
		id_of_event(alarm_events[k].alarm, alarm_events[k].of_port, e, id);
		size_t at = place_of(a, id);
		if (has_at(a, at, id) && subject_of(id).track == TRACK_EVENTS) {
			int failed = set_over(sm, &c, at, !alarm_events[k].begins, now_s,
			                      &gone);

			ret = failed != E_OK ? failed : ret;
		}
	}
	if (c.batch != NULL || ret != E_OK) {
		end_changes(sm, &c, ret);
	}
}

/* --- what operators ask ------------------------------------------------------------------------ */

static int begin_request(struct sm *sm, char *why, size_t why_bytes)
{
	if (!sm->status.up || sm->d.state == NULL) {
		snprintf(why, why_bytes,
		         "only a master whose subnet is up keeps acknowledgements");
		return E_NOTREADY;
	}
	int ret = refresh(sm);
	if (ret != E_OK) {
		snprintf(why, why_bytes, "%s", err_text(ret));
	}
	return ret;
}

static int end_request(struct sm *sm, struct record_changes *c, int ret, char *why,
                       size_t why_bytes)
{
	if (ret != E_OK) {
		snprintf(why, why_bytes, "%s", err_text(ret));
	}
	end_changes(sm, c, ret);
	return ret;
}

int acks_put(struct sm *sm, const char *id, const char *until, const char *note, const char *by,
             int64_t now_s, char *why, size_t why_bytes)
{
	struct acks *a = &sm->acks;
	struct record_changes c = { 0 };
	int64_t until_s = 0;
	int ret = begin_request(sm, why, why_bytes);

	if (ret != E_OK) {
		return ret;
	}
	if (!acks_id_fits(id)) {
		snprintf(why, why_bytes,
		         "no alarm has the id '%.100s'; 'saguaro alarms --field id,text' lists them",
		         id);
		return E_SYNTAX;
	}
	if (until != NULL && text_until(until, now_s, &until_s) != E_OK) {
		snprintf(why, why_bytes,
		         "'%.60s' is no time: expected one such as 2027-01-31T12:00:00Z, or from now on 30m, 2h, 7d",
		         until);
		return E_SYNTAX;
	}
	if (until_s != 0 && until_s <= now_s) {
		snprintf(why, why_bytes, "the time until which it is acknowledged is over");
		return E_RANGE;
	}
	size_t at = place_of(a, id);
	bool there = has_at(a, at, id);
	if (!there && a->n >= ACKS_MAX) {
		snprintf(why, why_bytes,
		         "%d alarms are acknowledged, which is the most; take some back with 'saguaro alarm unack'",
		         ACKS_MAX);
		return E_FULL;
	}
	if (VECTOR_RESERVE(a->list, a->cap, a->n + 1) != E_OK) {
		snprintf(why, why_bytes, "%s", err_text(-ENOMEM));
		return -ENOMEM;
	}
	if (!there) {
		memmove(&a->list[at + 1], &a->list[at], (a->n - at) * sizeof(a->list[0]));
		a->n++;
	}
	struct alarm_ack *row = &a->list[at];
	*row = (struct alarm_ack){ .at_s = now_s, .until_s = until_s };
	if (until_s == 0 && subject_of(id).track == TRACK_NOTHING) {
		row->until_s = now_s + ACKS_UNTRACKED_S;
	}
	snprintf(row->id, sizeof(row->id), "%s", id);
	snprintf(row->by, sizeof(row->by), "%s", by);
	snprintf(row->note, sizeof(row->note), "%s", note != NULL ? note : "");
	log_info(source, "alarm %s is acknowledged by %s%s%s", id, by,
	         row->note[0] != '\0' ? ": " : "", row->note);
	return end_request(sm, &c, put(a, &c, row, false), why, why_bytes);
}

int acks_drop(struct sm *sm, const char *id, const char *by, char *why, size_t why_bytes)
{
	struct acks *a = &sm->acks;
	struct record_changes c = { 0 };
	int ret = begin_request(sm, why, why_bytes);

	if (ret != E_OK) {
		return ret;
	}
	size_t at = place_of(a, id);
	if (!has_at(a, at, id)) {
		snprintf(why, why_bytes, "alarm '%.100s' is not acknowledged", id);
		return E_NOTFOUND;
	}
	log_info(source, "alarm %s is acknowledged no more: by %s", id, by);
	ret = put(a, &c, &a->list[at], true);
	take_out(a, at);
	return end_request(sm, &c, ret, why, why_bytes);
}

void acks_done(struct acks *a)
{
	free(a->list);
	*a = (struct acks){ .n = 0 };
}
