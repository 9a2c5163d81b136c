/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/perf/link_verdict.h"

enum { SWITCH_CABLES_MIN = 4 /* sick ones, before a switch is suspected */ };

static enum link_state state_of(const struct link_cable *c, unsigned end)
{
	return c->end[end] != NULL ? c->end[end]->state : LINK_WELL;
}

static double badness(const struct link_cable *c, unsigned end)
{
	const struct link_health *h = c->end[end];

	return h == NULL ? 0 : link_excess(h, h->span < LINK_SPANS ? h->span : LINK_HOUR);
}

static void find_worse(struct link_cable *c)
{
	/* of two sick ends that of a switch tells more */
	bool second = state_of(c, 1) > state_of(c, 0) ||
	              (state_of(c, 1) == state_of(c, 0) &&
	               (c->is_switch[1] > c->is_switch[0] ||
	                (c->is_switch[1] == c->is_switch[0] && badness(c, 1) > badness(c, 0))));

	c->worse = second;
	c->state = state_of(c, second);
}

/* Does a switch say that the cable is sick? */
static bool is_believed(const struct link_cable *c)
{
	return (c->is_switch[0] && state_of(c, 0) == LINK_SICK) ||
	       (c->is_switch[1] && state_of(c, 1) == LINK_SICK);
}

static uint32_t sick_at(const struct link_cable *cables, size_t n, uint64_t guid)
{
	uint32_t sick = 0;

	for (size_t i = 0; i < n; i++) {
		sick += (cables[i].guid[0] == guid || cables[i].guid[1] == guid) &&
		        (cables[i].out || is_believed(&cables[i]));
	}
	return sick;
}

/* Half of the cables of a switch are sick. */
static bool is_of_sick_switch(const struct link_cable *cables, size_t n,
                              const struct link_cable *c)
{
	for (unsigned end = 0; end < 2; end++) {
		uint32_t sick = c->is_switch[end] ? sick_at(cables, n, c->guid[end]) : 0;

		if (sick >= SWITCH_CABLES_MIN && 2 * sick >= c->cables[end]) {
			return true;
		}
	}
	return false;
}

/* The decision without asking for a proof; DUE: nothing speaks against it. */
static enum link_decision first_look(const struct link_cable *cables, size_t n,
                                     const struct link_cable *c,
                                     const struct link_policy *policy, uint32_t n_out)
{
	if (c->out_by_operator) {
		return LINK_DECISION_OPERATOR;
	}
	if (!is_believed(c)) {
		return LINK_DECISION_HOST_SAYS;
	}
	if (is_of_sick_switch(cables, n, c)) {
		return LINK_DECISION_SWITCH;
	}
	if (policy->mode != LINK_HEALTH_ISOLATE) {
		return LINK_DECISION_WATCHED;
	}
	if (!c->is_switch[0] || !c->is_switch[1]) {
		return LINK_DECISION_HOST;
	}
	return n_out >= policy->most ? LINK_DECISION_MOST : LINK_DECISION_DUE;
}

static bool is_worse(const struct link_cable *a, const struct link_cable *b)
{
	double x = badness(a, a->worse), y = badness(b, b->worse);

	if (x > y || y > x) {
		return x > y;
	}
	return a->guid[0] != b->guid[0] ? a->guid[0] < b->guid[0] : a->port[0] < b->port[0];
}

/* The worst cable that nothing speaks against so far; n: none. */
static size_t worst_due(const struct link_cable *cables, size_t n)
{
	size_t at = n;

	for (size_t i = 0; i < n; i++) {
		if (cables[i].decision == LINK_DECISION_DUE && !cables[i].out &&
		    (at == n || is_worse(&cables[i], &cables[at]))) {
			at = i;
		}
	}
	return at;
}

void link_verdict(struct link_cable *cables, size_t n, const struct link_policy *policy,
                  link_ask_f *ask, void *ctx, size_t *ret_take)
{
	uint32_t n_out = 0;
	size_t at;

	*ret_take = n;
	for (size_t i = 0; i < n; i++) {
		find_worse(&cables[i]);
		cables[i].returns = cables[i].out && (cables[i].state != LINK_SICK ||
		                                      policy->mode != LINK_HEALTH_ISOLATE);
		n_out += cables[i].out && !cables[i].returns;
	}
	for (size_t i = 0; i < n; i++) {
		struct link_cable *c = &cables[i];

		if (c->out) {
			c->decision = c->returns ? LINK_DECISION_RETURNED
			                         : LINK_DECISION_TAKEN_OUT;
		} else if (c->state == LINK_SICK) {
			c->decision = first_look(cables, n, c, policy, n_out);
		} else {
			c->decision = LINK_DECISION_NONE;
		}
	}
	while ((at = worst_due(cables, n)) < n) {
		cables[at].decision = ask(ctx, &cables[at]);
		if (cables[at].decision == LINK_DECISION_DUE) {
			break;
		}
	}
	*ret_take = at;
	/* the others are asked for when this one is out */
}
