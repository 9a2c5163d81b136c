/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The partitions are gone through by P_Key. Each one notes the membership of the ports that it
 * touches, which gives pairs of port and P_Key; sorted by port (counting, so the order of the
 * P_Keys stays) they are the plan.
 *
 * Source: IBA vol. 1, 10.9 (partitioning), 14.2.5.7 (P_KeyTable).
 */
#include "sa/partition/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/vector.h"
#include "conf/policy/partitions.h"
#include "routing/graph/graph.h"

struct pair {
	uint32_t port;
	uint16_t key;
};

struct planning {
	const struct graph *g;
	bool allow_both;
	uint8_t *membership; /* [n_ports] in the partition at work, 0: none */
	uint32_t *touched;   /* [n_touched] ports with one */
	uint32_t n_touched;
	struct pair *pairs; /* grows */
	size_t n_pairs, cap_pairs;
	uint16_t *index0;
	int ret;
};

/* --- who is a member ------------------------------------------------------------------ */

static void touch(struct planning *s, uint32_t port, uint8_t membership)
{
	if (s->membership[port] == 0) {
		s->touched[s->n_touched++] = port;
	}
	s->membership[port] = membership;
}

static bool fits(const struct graph *g, uint32_t port, const struct partition_member *m)
{
	uint8_t type = g->nodes[g->ports[port].node].type;

	switch ((enum partition_who)m->who) {
	case PARTITION_ALL: return true;
	case PARTITION_ALL_CAS: return type == NODE_CA;
	case PARTITION_ALL_SWITCHES: return type == NODE_SWITCH;
	case PARTITION_ALL_ROUTERS: return type == NODE_ROUTER;
	case PARTITION_SELF: return port == g->sm_port;
	case PARTITION_GUIDS:
		return g->ports[port].guid >= m->first && g->ports[port].guid <= m->last;
	case PARTITION_ALL_VCAS: break; /* their tables are not written */
	case PARTITION_HOST: break;     /* nobody, or nobody in particular: named.h */
	}
	return false;
}

static void add_member(struct planning *s, const struct partition_member *m)
{
	const struct graph *g = s->g;

	if (m->who == PARTITION_SELF ||
	    (m->who == PARTITION_GUIDS && m->first == m->last)) {
		uint32_t port = m->who == PARTITION_SELF
		                        ? g->sm_port
		                        : graph_port_by_guid(g, m->first);
		if (port != GRAPH_NONE) {
			touch(s, port, m->membership);
		}
		return;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		if (fits(g, g->end_ports[i], m)) {
			touch(s, g->end_ports[i], m->membership);
		}
	}
}

static void add_pair(struct planning *s, uint32_t port, uint16_t key)
{
	if (VECTOR_RESERVE(s->pairs, s->cap_pairs, s->n_pairs + 1) != E_OK) {
		s->ret = -ENOMEM;
		return;
	}
	s->pairs[s->n_pairs++] = (struct pair){ port, key };
}

static void add_partition(struct planning *s, const struct partition *t,
                          uint32_t ret_ports[2])
{
	const struct graph *g = s->g;

	s->n_touched = 0;
	for (uint32_t i = 0; i < t->n_members; i++) {
		add_member(s, &t->members[i]);
	}
	if (t->p_key == PARTITION_DEFAULT && g->sm_port != GRAPH_NONE) {
		touch(s, g->sm_port, s->membership[g->sm_port] | PARTITION_FULL);
	}
	for (uint32_t i = 0; i < s->n_touched && s->ret == E_OK; i++) {
		uint32_t port = s->touched[i];
		uint8_t membership = s->membership[port];

		if (membership == PARTITION_BOTH && !s->allow_both) {
			membership = PARTITION_FULL;
		}
		if (membership & PARTITION_LIMITED) {
			add_pair(s, port, t->p_key);
			ret_ports[0]++;
		}
		if (membership & PARTITION_FULL) {
			add_pair(s, port, t->p_key | P_KEY_FULL);
			ret_ports[1]++;
		}
		s->index0[port] = t->indx0 ? t->p_key : s->index0[port];
		s->membership[port] = 0;
	}
}

/* --- the plan ----------------------------------------------------------------------- */

static int sort_pairs(const struct planning *s, struct arena *a,
                      struct partition_plan *plan)
{
	uint32_t *next = arena_array(a, plan->n_ports + 1, sizeof(*next));

	plan->keys = arena_array(a, s->n_pairs + 1, sizeof(*plan->keys));
	if (next == NULL || plan->keys == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->n_pairs; i++) {
		plan->first[s->pairs[i].port + 1]++;
	}
	for (uint32_t i = 0; i < plan->n_ports; i++) {
		plan->first[i + 1] += plan->first[i];
		next[i] = plan->first[i];
	}
	for (size_t i = 0; i < s->n_pairs; i++) {
		plan->keys[next[s->pairs[i].port]++] = s->pairs[i].key;
	}
	return E_OK;
}

int partition_plan(const struct partitions *p, const struct graph *g, bool allow_both,
                   struct arena *a, struct partition_plan *ret_plan)
{
	struct partition_plan plan = { .n_ports = g->n_ports };
	struct planning s = { .g = g, .allow_both = allow_both };

	plan.first = arena_array(a, g->n_ports + 1, sizeof(*plan.first));
	plan.index0 = s.index0 = arena_array(a, g->n_ports + 1, sizeof(*s.index0));
	plan.ports = arena_array(a, p->n, sizeof(*plan.ports));
	s.membership = arena_array(a, g->n_ports + 1, sizeof(*s.membership));
	s.touched = arena_array(a, g->n_end_ports + 1, sizeof(*s.touched));
	if (plan.first == NULL || s.index0 == NULL || plan.ports == NULL || s.membership == NULL ||
	    s.touched == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < p->n && s.ret == E_OK; i++) {
		add_partition(&s, &p->all[i], plan.ports[i]);
	}
	if (s.ret == E_OK) {
		s.ret = sort_pairs(&s, a, &plan);
	}
	free(s.pairs);
	if (s.ret == E_OK) {
		*ret_plan = plan;
	}
	return s.ret;
}

uint32_t partition_plan_enforced(const uint16_t *keys, uint32_t n, uint16_t *ret_keys)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		bool same =
			kept != 0 && ((ret_keys[kept - 1] ^ keys[i]) & P_KEY_BASE) == 0;

		kept -= same; /* the full one comes last */
		ret_keys[kept++] = keys[i];
	}
	return kept;
}

/* --- places in a table ---------------------------------------------------------------- */

enum { NO_PLACE = UINT16_MAX + 1 };

static bool is_wanted(const uint16_t *want, uint32_t n, uint16_t key)
{
	for (uint32_t i = 0; i < n; i++) {
		if (want[i] == key) {
			return true;
		}
	}
	return false;
}

/* Where this P_Key is, or else one of its partition that is not wanted itself. */
static unsigned place_now(const uint16_t *want, uint32_t n, uint16_t key,
                          const uint16_t *now, unsigned cap, const uint16_t *taken)
{
	unsigned found = NO_PLACE;

	for (unsigned i = 0; i < cap; i++) {
		if (now[i] == key && taken[i] == 0) {
			return i;
		}
		if (found == NO_PLACE && taken[i] == 0 &&
		    ((now[i] ^ key) & P_KEY_BASE) == 0 && !is_wanted(want, n, now[i])) {
			found = i;
		}
	}
	return found;
}

static unsigned free_place(const uint16_t *now, unsigned cap, const uint16_t *taken)
{
	unsigned freed = NO_PLACE;

	for (unsigned i = 0; i < cap; i++) {
		if (taken[i] == 0 && (now == NULL || (now[i] & P_KEY_BASE) == 0)) {
			return i;
		}
		freed = taken[i] == 0 && freed == NO_PLACE ? i : freed;
	}
	return freed;
}

/* The P_Key for index 0: the last of its partition, which is the full one. */
static uint16_t key_of_index0(const uint16_t *want, uint32_t n, uint16_t index0)
{
	uint16_t key = 0;

	for (uint32_t i = 0; index0 != 0 && i < n; i++) {
		key = (want[i] & P_KEY_BASE) == index0 ? want[i] : key;
	}
	return key;
}

bool partition_plan_place(const uint16_t *want, uint32_t n, uint16_t index0,
                          const uint16_t *now, unsigned cap, uint16_t *ret_places)
{
	uint16_t first = key_of_index0(want, n, index0);
	bool fits_all = n <= cap;

	memset(ret_places, 0, cap * sizeof(*ret_places));
	if (cap == 0) {
		return n == 0;
	}
	if (!fits_all) { /* where it does not fit, nothing is kept but what is placed first */
		now = NULL;
	}
	ret_places[0] = first;
	for (unsigned pass = 0; pass < 3; pass++) {
		for (uint32_t i = 0; i < n; i++) {
			bool is_default = (want[i] & P_KEY_BASE) == PARTITION_DEFAULT;
			unsigned at = NO_PLACE;

			if (want[i] == first || is_wanted(ret_places, cap, want[i])) {
				continue;
			}
			if (pass == 0 && now != NULL) {
				at = place_now(want, n, want[i], now, cap, ret_places);
			} else if ((pass == 1 && is_default && now == NULL) ||
			           pass == 2) {
				at = free_place(now, cap, ret_places);
			}
			if (at != NO_PLACE) {
				ret_places[at] = want[i];
			}
		}
	}
	return fits_all;
}
