/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <string.h>

#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_int.h"

/*
 * Adaptive routing of a switch, as Cornelis describes it in the CN5000 manual, chapter Adaptive Routing.
 *
 * The SM gives the switch alternates: the port group table has groups of ports, and the port group
 * forwarding table the group of each LID. The switch writes another port of the group into its own LFT when
 *
 *   - the port of a LID is lost: it is not ACTIVE any more; or
 *   - it is congested: more of its buffers are in use than Threshold says. With LostRouteOnly it
 *     does not look at that.
 *
 * Which port, says Algorithm: 0 a random one of the group; 1 the least busy one (the lowest number if
 * several are); 2 a random one of those that are not busy, and if all are busy, the least busy one.
 * Random: xorshift64, seeded with the NodeGUID, so that a run can be repeated.
 *
 * It does this at most every 2^ARFrequency times 64 ms. While Pause is set it does nothing,
 * because the SM is about to change the tables.
 *
 * A lost route moves only to a port that is ACTIVE. A congested one moves only to a port that is below the
 * threshold (2), or less busy than its own (1); by Random (0) it may get worse. A load that moves counts at once as
 * an equal part of its old port's, so that not all LIDs of a congested port go to the same place.
 */

enum { TICK_US = 64000, PERCENT = 100 };

/* Per cent of the buffers in use, by Threshold; 0 is the firmware's choice, for which the manual gives no number. */
static const uint8_t thresholds[8] = { 80, 100, 90, 80, 70, 65, 60, 55 };

static uint64_t draw(struct opa_device *d)
{
	/* xorshift64 (Marsaglia, Xorshift RNGs, 2003) */
	d->random ^= d->random << 13;
	d->random ^= d->random >> 7;
	d->random ^= d->random << 17;
	return d->random >> 11;
}

bool opa_adapt_enabled(const struct opa_device *d)
{
	return d->is_switch && field_get(d->switch_info, OSI_AR_ENABLE) &&
	       !field_get(d->switch_info, OSI_AR_PAUSE);
}

uint64_t opa_adapt_due_us(const struct opa_device *d)
{
	return d->adapted_us == 0
	               ? 0
	               : d->adapted_us + ((uint64_t)TICK_US
	                                  << field_get(d->switch_info, OSI_AR_FREQUENCY));
}

static bool is_active(const struct opa_device *d, unsigned port)
{
	return port >= 1 && port <= d->n_ports &&
	       field_get(d->ports[port].info, OPI_STATE) == OPA_ACTIVE;
}

static bool in_group(const struct opa_device *d, unsigned group, unsigned port)
{
	return port >= 1 && d->groups[group][(port - 1) / 64] >> ((port - 1) % 64) &
	                            1; /* bit 0 is port 1 */
}

/* Chooses the port that a LID gets instead of \a now. \return \a now: none is better. */
static uint8_t choose(struct opa_device *d, unsigned group, uint8_t now, bool lost,
                      unsigned limit, const unsigned *busy)
{
	const unsigned algorithm = (unsigned)field_get(d->switch_info, OSI_AR_ALGORITHM);
	uint8_t all[256], calm[256], best = now;
	unsigned n = 0, n_calm = 0;

	for (unsigned port = 1; port <= d->n_ports; port++) {
		if (port == now || !in_group(d, group, port) || !is_active(d, port)) {
			continue;
		}
		all[n++] = (uint8_t)port;
		if (busy[port] < limit) {
			calm[n_calm++] = (uint8_t)port;
		}
		if (best == now || busy[port] < busy[best]) {
			best = (uint8_t)port;
		}
	}
	if (n == 0) {
		return now;
	}
	switch (algorithm) {
	case 0: return all[draw(d) % n];
	case 2:
		if (n_calm > 0) {
			return calm[draw(d) % n_calm];
		}
		break;
	default: break;
	}
	return lost || busy[best] < busy[now] ? best : now;
}

/* Number of LIDs by egress port. */
static void count_lids(const struct opa_device *d, uint32_t end, unsigned *ret_counts)
{
	memset(ret_counts, 0, 256 * sizeof(*ret_counts));
	for (uint32_t lid = 0; lid < end; lid++) {
		ret_counts[d->lft[lid]]++;
	}
}

unsigned opa_adapt(struct opa_device *d, uint64_t now_us, const struct opa_load *load,
                   void (*moved)(void *ctx, const struct opa_move *m), void *ctx)
{
	const bool lost_only = field_get(d->switch_info, OSI_AR_LOST_ONLY);
	const unsigned limit = thresholds[field_get(d->switch_info, OSI_AR_THRESHOLD)];
	const unsigned top = (unsigned)field_get(d->switch_info, OSI_PORT_GROUP_TOP);
	unsigned busy[256] = { 0 }, lids[256], n = 0;
	uint32_t end = d->lft_len < d->pgft_len ? d->lft_len : d->pgft_len;
	const uint32_t linear_top =
		(uint32_t)field_get(d->switch_info, OSI_LINEAR_FDB_TOP);

	if (!opa_adapt_enabled(d) || now_us < opa_adapt_due_us(d)) {
		return 0;
	}
	end = end < linear_top + 1 ? end : linear_top + 1;
	for (unsigned port = 1; load != NULL && port <= d->n_ports; port++) {
		busy[port] = load->percent[port];
	}
	count_lids(d, end, lids);
	for (uint32_t lid = 1; lid < end; lid++) {
		const uint8_t now = d->lft[lid], group = d->pgft[lid];
		const bool lost = now != 0 && now != OPA_NO_PORT && !is_active(d, now);
		const bool congested =
			!lost_only && !lost && now <= d->n_ports && busy[now] >= limit;

		/* PortGroupTop counts the groups in use; 0xFF is no group */
		if (now == 0 || now == OPA_NO_PORT || group >= OPA_PORT_GROUPS ||
		    group >= top || (!lost && !congested)) {
			continue;
		}
		const uint8_t out = choose(d, group, now, lost, limit, busy);
		if (out == now) {
			continue;
		}
		const unsigned share = lids[now] > 0 ? busy[now] / lids[now] : 0;
		busy[now] -= share;
		busy[out] += share < PERCENT ? share : PERCENT;
		lids[now]--;
		lids[out]++;
		d->lft[lid] = out;
		n++;
		if (moved != NULL) {
			moved(ctx,
			      &(struct opa_move){ .lid = lid, .from = now, .to = out });
		}
	}
	if (n > 0) {
		d->adapted_us = now_us;
		d->moves += n;
	}
	return n;
}
