/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/alarm_causes.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/known.h"
#include "db/snapshot/reader.h"
#include "gateway/inventory/alarms.h"

enum { RECENT = 1000 /* events that are looked at, because each is compared with each */ };

static struct alarm *find(const struct alarms *a, enum alarm_kind kind, uint64_t guid)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->list[i].kind == kind && a->list[i].node_guid == guid) {
			return &a->list[i];
		}
	}
	return NULL;
}

static struct alarm *find_disabled(const struct alarms *a, uint64_t guid, uint8_t port)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct alarm *at = &a->list[i];

		if (at->kind == ALARM_DISABLED && at->node_guid == guid && at->port == port) {
			return &a->list[i];
		}
	}
	return NULL;
}

/* The last port of a host, if all of its ports went for the same reason; else its cause is KNOWN_GONE. */
static int last_port(struct snap_reader *r, uint64_t host, struct known_node *ret_node)
{
	struct known_node n;
	int ret = snap_known_from(r, host, 0, &n);

	*ret_node = (struct known_node){ .cause = KNOWN_THERE };
	for (; ret == E_OK && n.node_guid == host; ret = snap_known_next(r, &n)) {
		bool same = ret_node->cause == KNOWN_THERE || ret_node->cause == n.cause;

		*ret_node = n;
		ret_node->cause = same ? n.cause : KNOWN_GONE;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int join_hosts(struct alarms *a, struct snap_reader *r)
{
	struct alarm *sw = NULL; /* of the host before, as a rule */

	for (size_t i = 0; i < a->n; i++) {
		struct alarm *host = &a->list[i];
		struct known_node n;

		if (host->kind != ALARM_HOST_GONE) {
			continue;
		}
		int ret = last_port(r, host->node_guid, &n);
		if (ret != E_OK) {
			return ret;
		}
		if (n.cause == KNOWN_SWITCHED_OFF) {
			struct alarm *off = find_disabled(a, n.switch_guid, n.switch_port);

			host->joined = off != NULL;
			continue;
		}
		if (sw == NULL || sw->node_guid != n.switch_guid) {
			sw = find(a, ALARM_SWITCH_GONE, n.switch_guid);
		}
		if (n.cause == KNOWN_SWITCH_GONE && sw != NULL) {
			host->joined = true;
			sw->with++;
		}
	}
	for (size_t i = 0; i < a->n; i++) {
		sw = &a->list[i];
		if (sw->with != 0) {
			sw->text = arena_printf(a->arena, "%s, and %u host%s with it", sw->text,
			                        sw->with, sw->with == 1 ? "" : "s");
			if (sw->text == NULL) {
				return -ENOMEM;
			}
		}
	}
	return E_OK;
}

/* A cable that is down because a port of it was switched off is no cable that is lost. */
static void join_switched_off(struct alarms *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct alarm *down = &a->list[i], *off;

		if (down->kind != ALARM_LINK_DOWN) {
			continue;
		}
		off = find_disabled(a, down->node_guid, down->port);
		off = off != NULL ? off : find_disabled(a, down->peer_guid, down->peer_port);
		down->joined = off != NULL;
	}
}

static bool is_of_cable(const struct fabric_event *e, const struct fabric_event *cable)
{
	return (e->kind == EVENT_CABLE_LOST || e->kind == EVENT_CABLE_BACK) &&
	       e->node_guid == cable->node_guid && e->port == cable->port &&
	       e->peer_guid == cable->peer_guid && e->peer_port == cable->peer_port;
}

/* The cable of a node that went most often; NULL: none did. */
static const struct fabric_event *worst_cable(uint64_t guid, const struct fabric_event *e,
                                              size_t n, uint32_t *ret_times)
{
	const struct fabric_event *worst = NULL;

	*ret_times = 0;
	for (size_t i = n > RECENT ? n - RECENT : 0; i < n; i++) {
		uint32_t times = 0;

		if (e[i].kind != EVENT_CABLE_LOST ||
		    (e[i].node_guid != guid && e[i].peer_guid != guid)) {
			continue;
		}
		for (size_t k = i; k < n; k++) {
			times += is_of_cable(&e[k], &e[i]) && e[k].kind == EVENT_CABLE_LOST;
		}
		if (times > *ret_times) {
			*ret_times = times;
			worst = &e[i];
		}
	}
	return worst;
}

static int join_flapping(struct alarms *a, const struct fabric_event *e, size_t n)
{
	for (size_t i = 0; i < a->n; i++) {
		struct alarm *to = &a->list[i], *other;
		uint32_t times;

		if (to->kind != ALARM_FLAPPING || to->joined || to->peer_guid != 0) {
			continue;
		}
		const struct fabric_event *cable = worst_cable(to->node_guid, e, n, &times);
		if (cable == NULL || times < 2) {
			continue; /* its own words say more */
		}
		other = find(a, ALARM_FLAPPING,
		             to->node_guid == cable->node_guid ? cable->peer_guid :
		                                                 cable->node_guid);
		if (other != NULL && !other->joined) {
			other->joined = true;
			to->with++;
		}
		to->node_guid = cable->node_guid;
		to->node = cable->node;
		to->port = cable->port;
		to->peer_guid = cable->peer_guid;
		to->peer = cable->peer;
		to->peer_port = cable->peer_port;
		to->text = arena_printf(
			a->arena,
			"cable '%s' port %u - '%s' port %u comes and goes: lost %u times",
			cable->node, cable->port, cable->peer, cable->peer_port, times);
		if (to->text == NULL) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

int alarm_causes_join(struct alarms *a, struct snap_reader *r, const struct fabric_event *e, size_t n)
{
	int ret = join_hosts(a, r);

	join_switched_off(a);
	return ret == E_OK ? join_flapping(a, e, n) : ret;
}
