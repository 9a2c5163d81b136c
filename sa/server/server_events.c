/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Events that subscribers get reports of: traps, ports that appear and disappear,
 * multicast groups that were created or deleted. Any thread adds events, the answer
 * thread makes reports of them.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/vector.h"
#include "db/snapshot/reader.h"
#include "sa/mad/notice.h"
#include "sa/server/server_int.h"
#include "sa/store/alias.h"
#include "sa/store/mcast.h"

enum { GROUP_EVENTS = 1 << 18 }; /* of multicast groups that wait */

static const char *const source = "sa";

void server_announce(struct sa_server *s, struct store_event *list, size_t n)
{
	struct server_events *events;

	pthread_mutex_lock(&s->lock);
	events = s->arriving;
	if (events->n_groups + n > GROUP_EVENTS ||
	    VECTOR_RESERVE(events->groups, events->cap_groups, events->n_groups + n) != E_OK) {
		s->reports_dropped += n;
		n = 0;
	}
	if (n > 0) {
		memcpy(events->groups + events->n_groups, list, n * sizeof(*list));
		events->n_groups += n;
		server_wake(s);
	}
	pthread_mutex_unlock(&s->lock);
	free(list);
}

void server_announce_groups(struct sa_server *s)
{
	struct store_event *list;
	size_t n = store_take_events(s->store, &list);

	if (n > 0) {
		server_announce(s, list, n);
	}
}

static void report_trap(struct sa_server *s, struct snap_reader *r, const uint8_t *trap,
                        bool wide)
{
	uint8_t notice[NOTICE_BYTES] = { 0 };
	struct snap_end issuer;

	memcpy(notice, trap, SMP_DATA_BYTES);
	uint32_t lid = wide ? notice_issuer(notice)
	                    : (uint32_t)field_get(notice, NTC_ISSUER_LID);

	if (snap_lid(r, lid, &issuer) == E_OK) {
		field_set(notice + NOTICE_ISSUER_GID_AT, 0, 64,
		          snap_meta(r)->subnet_prefix);
		field_set(notice + NOTICE_ISSUER_GID_AT, 64, 64, issuer.port_guid);
	}
	reports_event(s->reports, r, s->store, notice, wide);
}

void server_report_events(struct sa_server *s, struct snap_reader *r)
{
	struct server_events *events = s->events;

	for (unsigned i = 0; i < events->n_traps && r != NULL; i++) {
		report_trap(s, r, events->trap[i], events->wide[i]);
	}
	for (size_t i = 0; i < events->n_groups && r != NULL; i++) {
		reports_group(s->reports, r, s->store, &events->groups[i]);
	}
	if (events->swept && r != NULL) {
		int ret = alias_after_sweep(s->store, r);
		if (ret != E_OK) {
			log_message(MSG_SA_AFTER_SWEEP, source, "alias GUIDs: %s",
			            err_text(ret));
		}
		ret = mcast_after_sweep(s->store, r);
		if (ret != E_OK) {
			log_message(MSG_SA_AFTER_SWEEP, source, "multicast groups: %s",
			            err_text(ret));
		}
		ret = reports_ports(s->reports, r, s->store);
		if (ret != E_OK) {
			log_message(MSG_SA_AFTER_SWEEP, source,
			            "ports that appear and disappear: %s", err_text(ret));
		}
	}
	events->n_traps = 0;
	events->n_groups = 0;
	events->swept = false;
}

void sa_server_trap(struct sa_server *s, const uint8_t notice[64], bool wide)
{
	pthread_mutex_lock(&s->lock);
	if (s->arriving->n_traps < EVENTS) {
		s->arriving->wide[s->arriving->n_traps] = wide;
		memcpy(s->arriving->trap[s->arriving->n_traps++], notice, SMP_DATA_BYTES);
	} else {
		s->reports_dropped++;
	}
	server_wake(s);
	pthread_mutex_unlock(&s->lock);
}

void sa_server_swept(struct sa_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->arriving->swept = true;
	server_wake(s);
	pthread_mutex_unlock(&s->lock);
}
