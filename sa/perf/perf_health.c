/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The health of a port lives in its struct counted_port. It outlasts a port that leaves the
 * fabric, because a cable that comes and goes shall not be taken for a new one each time, and a
 * restart, because its row in the stats is read again. What is kept of ports that are not there
 * is bounded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"
#include "db/stats/stats.h"
#include "sa/perf/perf_int.h"

enum { SICK_SERIES_MAX = 1000 /* in the metrics */ };

/* --- rows ------------------------------------------------------------------------------- */

static void show(struct perf *p, struct counted_port *port)
{
	bool matters = link_health_matters(&port->health);

	if (p->stats == NULL || (!matters && !port->shown)) {
		return;
	}
	/* without memory the row is written after the next reading */
	if (stats_link_health(p->stats, port->guid, port->num,
	                      matters ? &port->health : NULL) == E_OK) {
		port->shown = matters;
	}
}

static void name_series(uint64_t guid, uint8_t num, char name[STATS_NAME_MAX])
{
	snprintf(name, STATS_NAME_MAX, "link_sick{guid=\"0x%016" PRIx64 "\",port=\"%u\"}",
	         guid, num);
}

/* The series of a port. One that is sick and has none gets a new one, or that of a port that is well.
 * \return NULL: it has none. */
static struct sick_series *find_series(struct perf *p, const struct counted_port *port,
                                       bool sick)
{
	struct sick_series *well = NULL;
	char name[STATS_NAME_MAX];

	for (size_t i = 0; i < p->n_series; i++) {
		struct sick_series *x = &p->series[i];

		if (x->guid == port->guid && x->num == port->num) {
			return x;
		}
		well = x->sick ? well : x;
	}
	if (!sick) {
		return NULL;
	}
	if (p->n_series < SICK_SERIES_MAX &&
	    VECTOR_RESERVE(p->series, p->cap_series, p->n_series + 1) == E_OK) {
		well = &p->series[p->n_series++];
	} else if (well != NULL) {
		name_series(well->guid, well->num, name);
		stats_remove(p->stats, name);
	} else {
		return NULL;
	}
	*well = (struct sick_series){ port->guid, port->num, sick };
	return well;
}

static void show_sick(struct perf *p, const struct counted_port *port)
{
	bool sick = port->health.state == LINK_SICK;
	struct sick_series *x = p->stats != NULL ? find_series(p, port, sick) : NULL;
	char name[STATS_NAME_MAX];

	if (x != NULL) {
		x->sick = sick;
		name_series(port->guid, port->num, name);
		stats_set(p->stats, name, sick);
	}
}

void perf_health_take(struct perf *p, struct counted_port *port, const struct port_counters *c,
                      uint32_t cleared)
{
	if (!p->judges) {
		return;
	}
	struct link_reading r = link_reading_of(c, cleared);
	bool was_sick = port->health.state == LINK_SICK;

	/* a link that corrects errors is judged by what is left of them */
	if (c->value[COUNTER_FEC_CORRECTED] > 0) {
		port->health.flags |= LINK_HAS_FEC;
	}
	(void)link_health_take(&port->health, &p->rules, &r);
	if (was_sick != (port->health.state == LINK_SICK)) {
		show_sick(p, port);
	}
	show(p, port);
}

/* --- ports that come and go --------------------------------------------------------------- */

/* The fabric's present words on the link replace the earlier ones. \return false: it leads elsewhere. */
static bool adopt(struct counted_port *port, const struct link_health *old)
{
	struct link_health now = port->health;

	port->health = *old;
	port->health.gbps = now.gbps;
	port->health.flags = (uint8_t)(now.flags | (old->flags & (LINK_HAS_FEC | LINK_OUT)));
	port->health.peer_guid = now.peer_guid;
	port->health.peer_port = now.peer_port;
	return old->peer_guid == now.peer_guid && old->peer_port == now.peer_port;
}

void perf_health_go_on(struct counted_port *port, const struct counted_port *old, int64_t now_s)
{
	if (!adopt(port, &old->health)) {
		link_health_changed(&port->health, now_s);
	}
}

static size_t place_of(const struct kept_health *k, uint64_t guid, uint8_t num)
{
	return LOWER_BOUND(k->n, i,
	                   k->rows[i].node_guid < guid ||
	                           (k->rows[i].node_guid == guid && k->rows[i].port < num));
}

/* Forgets the one that was read longest ago. */
static void forget_oldest(struct perf *p)
{
	struct kept_health *k = &p->kept;
	size_t oldest = 0;

	for (size_t i = 1; i < k->n; i++) {
		oldest = k->rows[i].health.time_s < k->rows[oldest].health.time_s ? i : oldest;
	}
	if (p->stats != NULL) {
		(void)stats_link_health(p->stats, k->rows[oldest].node_guid,
		                        k->rows[oldest].port, NULL);
	}
	k->n--;
	memmove(k->rows + oldest, k->rows + oldest + 1, (k->n - oldest) * sizeof(*k->rows));
}

static void keep(struct perf *p, uint64_t guid, uint8_t num, const struct link_health *h)
{
	struct kept_health *k = &p->kept;

	if (k->n == KEPT_HEALTH_MAX) {
		forget_oldest(p);
	}
	if (VECTOR_RESERVE(k->rows, k->cap, k->n + 1) != E_OK) {
		return; /* it starts anew when it returns */
	}
	size_t at = place_of(k, guid, num);

	memmove(k->rows + at + 1, k->rows + at, (k->n - at) * sizeof(*k->rows));
	k->rows[at] = (struct link_health_row){ guid, num, *h };
	k->n++;
}

void perf_health_leave(struct perf *p, const struct counted_port *old)
{
	if (!p->judges || !link_health_matters(&old->health)) {
		return;
	}
	struct link_health h = old->health;

	h.flags |= LINK_LEFT; /* if it returns, its cable was changed */
	keep(p, old->guid, old->num, &h);
}

void perf_health_return(struct perf *p, struct counted_port *port, int64_t now_s)
{
	struct kept_health *k = &p->kept;
	size_t at = place_of(k, port->guid, port->num);

	if (at == k->n || k->rows[at].node_guid != port->guid || k->rows[at].port != port->num) {
		return;
	}
	struct link_health old = k->rows[at].health;
	bool left = (old.flags & LINK_LEFT) != 0;

	k->n--;
	memmove(k->rows + at, k->rows + at + 1, (k->n - at) * sizeof(*k->rows));
	bool same = adopt(port, &old);

	if (left || !same) {
		link_health_changed(&port->health, now_s);
	} else if (now_s > old.time_s) {
		link_health_gap(&port->health, now_s - old.time_s);
	}
	port->shown = true;
	if (port->health.state == LINK_SICK) {
		show_sick(p, port);
	}
	show(p, port);
}

void perf_health_load(struct perf *p)
{
	struct arena *a = p->stats != NULL ? arena_new() : NULL;
	struct link_health_list list = { .n = 0 };

	if (a != NULL && stats_link_health_load(p->stats, a, &list) == E_OK) {
		for (size_t i = 0; i < list.n && i < KEPT_HEALTH_MAX; i++) {
			keep(p, list.rows[i].node_guid, list.rows[i].port, &list.rows[i].health);
		}
	}
	arena_free(a);
}

void perf_health_forget(struct stats *stats)
{
	struct arena *a = stats != NULL ? arena_new() : NULL;
	struct link_health_list list = { .n = 0 };

	if (a != NULL && stats_link_health_load(stats, a, &list) == E_OK) {
		for (size_t i = 0; i < list.n; i++) {
			(void)stats_link_health(stats, list.rows[i].node_guid, list.rows[i].port,
			                        NULL);
		}
	}
	arena_free(a);
}

/* --- for who decides -------------------------------------------------------------------- */

static struct counted_port *find(const struct perf *p, uint64_t guid, uint8_t num)
{
	size_t at = LOWER_BOUND(p->n_ports, i,
	                        p->ports[i].guid < guid ||
	                                (p->ports[i].guid == guid && p->ports[i].num < num));

	return at < p->n_ports && p->ports[at].guid == guid && p->ports[at].num == num
	               ? &p->ports[at]
	               : NULL;
}

struct link_health *perf_health(struct perf *p, uint64_t node_guid, uint8_t port)
{
	struct counted_port *found = find(p, node_guid, port);

	return found != NULL ? &found->health : NULL;
}

void perf_health_write(struct perf *p, uint64_t node_guid, uint8_t port)
{
	struct counted_port *found = find(p, node_guid, port);

	if (found != NULL) {
		show(p, found);
	}
}

size_t perf_health_unwell(const struct perf *p, struct link_health_row *rows, size_t most)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_ports && n < most; i++) {
		const struct counted_port *port = &p->ports[i];

		if (port->health.state != LINK_WELL || port->health.decision != LINK_DECISION_NONE ||
		    (port->health.flags & LINK_OUT) != 0) {
			rows[n].node_guid = port->guid;
			rows[n].port = port->num;
			rows[n++].health = port->health;
		}
	}
	return n;
}
