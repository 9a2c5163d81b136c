/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/perf/perf_alarms.h"

#include <inttypes.h>
#include <stdio.h>

#include "db/lmdb/counters.h"

enum { QUIET_READINGS = 3 }; /* that end a report */

/* The link quality if it is \a poor, and the counters that rose, in their order; those that do not
 * fit are left out. */
static void describe(const struct port_counters *c, bool wait, bool poor, char *buf,
                     size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	if (poor) {
		len = (size_t)snprintf(buf, size, "%s %" PRIu64,
		                       counter_types[COUNTER_LINK_QUALITY].name,
		                       c->value[COUNTER_LINK_QUALITY]);
	}
	for (unsigned i = 0; i < PORT_COUNTERS; i++) {
		bool shown = counter_types[i].kind == COUNTER_IS_ERROR ||
		             (wait && i == COUNTER_XMIT_WAIT);

		if (shown && c->delta[i] > 0 && len < size) {
			len += (size_t)snprintf(buf + len, size - len, "%s%s +%" PRIu64,
			                        len > 0 ? ", " : "", counter_types[i].name,
			                        c->delta[i]);
		}
	}
	if (len < size) {
		snprintf(buf + len, size - len, " in %u s", c->interval_ms / 1000);
	}
}

void perf_alarms_watch(struct perf_alarms *a, const struct port_counters *c, uint8_t *ret_left)
{
	bool wait = c->delta[COUNTER_XMIT_WAIT] > a->wait_limit;
	bool poor = (c->known >> COUNTER_LINK_QUALITY & 1) != 0 &&
	            c->value[COUNTER_LINK_QUALITY] < a->quality_limit;
	bool fresh = *ret_left == 0;
	struct perf_alarm *to;

	if (!wait && !poor && counters_rise(c, COUNTER_IS_ERROR) < a->error_limit) {
		*ret_left -= *ret_left > 0;
		return;
	}
	*ret_left = QUIET_READINGS;
	if (!fresh) {
		return;
	}
	if (a->n == PERF_ALARMS_MAX) {
		a->lost++;
		return;
	}
	to = &a->list[(a->first + a->n++) % PERF_ALARMS_MAX];
	to->node_guid = c->node_guid;
	to->port = c->port;
	describe(c, wait, poor, to->what, sizeof(to->what));
}

bool perf_alarms_next(struct perf_alarms *a, struct perf_alarm *ret_alarm)
{
	if (a->n == 0) {
		return false;
	}
	*ret_alarm = a->list[a->first];
	a->first = (a->first + 1) % PERF_ALARMS_MAX;
	a->n--;
	return true;
}
