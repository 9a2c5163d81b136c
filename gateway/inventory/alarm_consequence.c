/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/alarm_consequence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/inventory/alarms.h"
#include "gateway/inventory/inventory.h"
#include "gateway/inventory/topology.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"
#include "routing/proof/cuts.h"

/* Of an inventory: single faults that would cut it, and its cables by level. */
struct redundancy {
	struct cuts cuts;
	struct cuts_edge *edge;
	uint32_t *port;   /* [edges] a port of each edge */
	uint64_t *cables; /* [n_tiers + 1][n_tiers + 1] cables of each level */
};

/* Cables of an alarm on one level, of the alarm itself or of one that it stands for. */
struct share {
	uint32_t alarm, level;
	double lost;
	uint32_t at[2]; /* switches at the ends; GRAPH_NONE: gone */
};

struct work {
	struct alarms *a;
	struct inventory *v;
	const struct redundancy *red;
	struct share *share; /* [n] by alarm and level */
	size_t n;
	double *known; /* [levels] cables that are there or that an alarm is about */
	uint32_t *at;  /* switches that an alarm parted */
};

/* --- of the fabric ------------------------------------------------------------------------- */

static unsigned level_of(const struct inventory *v, unsigned tier, unsigned peer)
{
	const unsigned n = v->shape->n_tiers;
	if (!v->shape->tree) {
		return 0;
	}
	unsigned low = tier < peer ? tier : peer, high = tier < peer ? peer : tier;

	return (low < n ? low : n) * (n + 1) + (high < n ? high : n);
}

static unsigned n_levels(const struct inventory *v)
{
	return (v->shape->n_tiers + 1U) * (v->shape->n_tiers + 1U);
}

static uint32_t switch_at(const struct graph *g, uint32_t port)
{
	return g->nodes[g->ports[port].node].sw;
}

static bool is_active(const struct inventory *v, uint32_t port)
{
	return inventory_link_state(v, port) == PORT_ACTIVE;
}

static int find_redundancy(struct inventory *v)
{
	const struct graph *g = v->g;
	struct redundancy *red = arena_alloc(v->arena, sizeof(*red));
	uint32_t *hosts = arena_array(v->arena, g->n_switches, sizeof(*hosts)), m = 0;

	if (red == NULL || hosts == NULL) {
		return -ENOMEM;
	}
	red->edge = arena_array(v->arena, g->n_links, sizeof(*red->edge));
	red->port = arena_array(v->arena, g->n_links, sizeof(*red->port));
	red->cables = arena_array(v->arena, n_levels(v), sizeof(*red->cables));
	if (red->edge == NULL || red->port == NULL || red->cables == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_links; i++) {
		uint32_t p = v->link[i], a = switch_at(g, p), b = switch_at(g, g->ports[p].peer);

		if (a == GRAPH_NONE || b == GRAPH_NONE || a == b) {
			continue;
		}
		red->cables[level_of(v, v->shape->tier[a], v->shape->tier[b])]++;
		if (is_active(v, p)) {
			red->port[m] = p;
			red->edge[m++] = (struct cuts_edge){ a, b };
		}
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		hosts[s] = g->host_first[s + 1] - g->host_first[s];
	}
	int ret = cuts_find(g->n_switches, red->edge, m, hosts, v->arena, &red->cuts);
	if (ret == E_OK) {
		v->redundancy = red;
	}
	return ret;
}

/* --- cables of alarms ------------------------------------------------------------------------ */

static uint32_t switch_of_guid(const struct graph *g, uint64_t guid)
{
	uint32_t node = graph_node_by_guid(g, guid);

	return node != GRAPH_NONE ? g->nodes[node].sw : GRAPH_NONE;
}

/* The cable of an alarm whose port and peer are those of the cable. */
static int add_own_cable(struct alarms *a, const struct inventory *v, const struct alarm *at)
{
	const struct graph *g = v->g;
	uint32_t node = graph_node_by_guid(g, at->node_guid);
	uint32_t port = node != GRAPH_NONE ? graph_port(g, node, at->port) : GRAPH_NONE;
	double lost = 1;

	if (at->kind == ALARM_DEGRADED && port != GRAPH_NONE) {
		const struct inventory_port *p = &v->port[port];
		double best = rate_speed(link_rate(p->best_width, p->best_speed));

		lost = best > 0 ? 1 - rate_speed(p->rate) / best : 0;
	}
	return switch_of_guid(g, at->node_guid) == GRAPH_NONE ||
	                       switch_of_guid(g, at->peer_guid) == GRAPH_NONE
	               ? E_OK
	               : alarms_add_cable(a, at, at->node_guid, at->peer_guid, lost);
}

/* Does a host that is cabled there have another port that is Active? */
static bool has_other_way(const struct inventory *v, uint32_t port)
{
	const struct node *n = &v->g->nodes[v->g->ports[port].node];

	for (unsigned i = 1; i <= n->n_ports; i++) {
		uint32_t p = n->first_port + i;

		if (p != port && v->g->ports[p].peer != GRAPH_NONE && is_active(v, p)) {
			return true;
		}
	}
	return false;
}

/* A host on a cable that is not Active is down, unless it has another one. */
static uint32_t hosts_down_at(const struct inventory *v, const struct alarm *at)
{
	const struct graph *g = v->g;
	uint32_t node = graph_node_by_guid(g, at->node_guid);
	uint32_t port = node != GRAPH_NONE ? graph_port(g, node, at->port) : GRAPH_NONE, n = 0;

	if (port == GRAPH_NONE || g->ports[port].peer == GRAPH_NONE) {
		return 0;
	}
	const uint32_t ends[2] = { port, g->ports[port].peer };
	for (unsigned i = 0; i < 2; i++) {
		n += graph_is_host(g, ends[i]) && !has_other_way(v, ends[i]);
	}
	return n;
}

static int find_own(struct alarms *a, const struct inventory *v)
{
	int ret = E_OK;

	for (size_t i = 0; ret == E_OK && i < a->n; i++) {
		struct alarm *at = &a->list[i];

		if (at->kind == ALARM_HOST_GONE) {
			at->consequence.hosts_down = 1;
		} else if (at->kind == ALARM_NOT_ACTIVE) {
			at->consequence.hosts_down = hosts_down_at(v, at);
		}
		if (at->kind == ALARM_LINK_DOWN || at->kind == ALARM_NOT_ACTIVE ||
		    at->kind == ALARM_DEGRADED) {
			ret = add_own_cable(a, v, at);
		}
	}
	return ret;
}

/* --- levels ------------------------------------------------------------------------------------ */

/* Tiers of the switches that are gone, by alarm: above those to which their cables lead. One with hosts and
 * without a leaf below it is a leaf. */
static uint16_t *find_tiers(const struct work *w)
{
	const struct alarms *a = w->a;
	uint16_t *tier = arena_array(a->arena, a->n, sizeof(*tier));

	for (size_t i = 0; tier != NULL && i < a->n; i++) {
		tier[i] = TOPOLOGY_NO_TIER;
	}
	for (size_t i = 0; tier != NULL && i < a->n_cables; i++) {
		const struct alarm_cable *c = &a->cables[i];

		for (unsigned k = 0; k < 2; k++) {
			uint32_t sw = switch_of_guid(w->v->g, c->guid[k]);
			unsigned above = sw != GRAPH_NONE ? w->v->shape->tier[sw] + 1U : UINT16_MAX;

			if (above < tier[c->alarm]) {
				tier[c->alarm] = (uint16_t)above;
			}
		}
	}
	for (size_t i = 0; tier != NULL && i < a->n; i++) {
		const struct alarm *at = &a->list[i];

		if (at->kind == ALARM_HOST_GONE && at->above != ALARM_NONE && tier[at->above] != 1) {
			tier[at->above] = 0;
		}
	}
	return tier;
}

/* Level of a cable; false: it counts on none. */
static bool find_level(const struct work *w, const struct alarm_cable *c, const uint32_t at[2],
                       uint16_t tier, unsigned *ret_level)
{
	const struct topology *shape = w->v->shape;
	bool gone = at[0] == GRAPH_NONE || at[1] == GRAPH_NONE;
	unsigned t[2];

	if (!shape->tree) {
		*ret_level = level_of(w->v, 0, 0); /* there is one */
		return c->lost > 0;
	}
	for (unsigned i = 0; i < 2; i++) {
		t[i] = at[i] != GRAPH_NONE ? shape->tier[at[i]] : tier;
	}
	*ret_level = level_of(w->v, t[0], t[1]);
	return c->lost > 0 && t[0] != TOPOLOGY_NO_TIER && t[1] != TOPOLOGY_NO_TIER &&
	       (!gone || (tier != 0 && (at[0] != GRAPH_NONE || at[1] != GRAPH_NONE)));
}

enum { ABOVE_MOST = 4, NO_LEVEL = UINT32_MAX /* a chain of causes is at most so long */ };

/* Each cable for its alarm and for those that stand for it. */
static int list_shares(struct work *w)
{
	struct alarms *a = w->a;
	uint16_t *tier = find_tiers(w);

	w->share = arena_array(a->arena, ABOVE_MOST * a->n_cables, sizeof(*w->share));
	w->known = arena_array(a->arena, n_levels(w->v), sizeof(*w->known));
	w->at = arena_array(a->arena, 2 * ABOVE_MOST * a->n_cables, sizeof(*w->at));
	if (tier == NULL || w->share == NULL || w->known == NULL || w->at == NULL) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < n_levels(w->v); i++) {
		w->known[i] = (double)w->red->cables[i];
	}
	for (size_t i = 0; i < a->n_cables; i++) {
		const struct alarm_cable *c = &a->cables[i];
		struct share s = { .level = NO_LEVEL, .lost = c->lost };
		unsigned level, steps = 0;

		for (unsigned k = 0; k < 2; k++) {
			s.at[k] = switch_of_guid(w->v->g, c->guid[k]);
		}
		if (find_level(w, c, s.at, tier[c->alarm], &level)) {
			s.level = level;
			w->known[level] += a->list[c->alarm].kind == ALARM_NOT_ACTIVE ||
			                                   a->list[c->alarm].kind == ALARM_DEGRADED
			                           ? 0
			                           : 1;
		}
		for (uint32_t k = c->alarm; k != ALARM_NONE && steps < ABOVE_MOST;
		     k = a->list[k].above, steps++) {
			s.alarm = k;
			w->share[w->n++] = s;
		}
	}
	return E_OK;
}

static int compare_shares(const void *x, const void *y)
{
	const struct share *a = x, *b = y;

	if (a->alarm != b->alarm) {
		return a->alarm < b->alarm ? -1 : 1;
	}
	return (a->level > b->level) - (a->level < b->level);
}

/* --- what is said ------------------------------------------------------------------------------- */

static const char *cut_text(const struct work *w, const struct cut *cut)
{
	const struct graph *g = w->v->g;
	struct arena *a = w->a->arena;

	if (cut->sw != GRAPH_NONE) {
		return arena_printf(a, "switch '%s'", node_name(&g->nodes[g->switches[cut->sw]]));
	}
	const struct port *p = &g->ports[w->red->port[cut->edge]], *peer = &g->ports[p->peer];
	return arena_printf(a, "the cable '%s' port %u - '%s' port %u", node_name(&g->nodes[p->node]),
	                    p->num, node_name(&g->nodes[peer->node]), peer->num);
}

static int tell(const struct work *w, struct alarm *at, const struct cut *cut)
{
	struct consequence *c = &at->consequence;
	struct arena *a = w->a->arena;
	const char *text = "";

	if (c->hosts_down > 0) {
		text = arena_printf(a, "%u host%s down", c->hosts_down, c->hosts_down == 1 ? "" : "s");
	}
	if (text != NULL && c->bisection_lost > 0) {
		text = arena_printf(a, "%s%s%.3g %% of the bisection lost", text, *text ? ", " : "",
		                    c->bisection_lost * 100);
	}
	if (text != NULL && c->next_fault_cuts > 0) {
		text = arena_printf(a, "%s%sif %s goes too, %" PRIu64 " pairs of host ports are cut off",
		                    text, *text ? "; " : "", cut_text(w, cut), c->next_fault_cuts);
	}
	c->text = text;
	return text != NULL ? E_OK : -ENOMEM;
}

/* The consequences of an alarm by its shares. \param at  Place of the first one; moved behind the last. */
static struct cut measure(const struct work *w, uint32_t alarm, size_t *at)
{
	struct consequence *c = &w->a->list[alarm].consequence;
	double sum = 0;
	uint32_t n = 0;

	for (; *at < w->n && w->share[*at].alarm == alarm; ++*at) {
		const struct share *s = &w->share[*at];
		bool first = *at == 0 || s[-1].alarm != alarm || s[-1].level != s->level;

		sum = first ? s->lost : sum + s->lost;
		if (s->level != NO_LEVEL && sum / w->known[s->level] > c->bisection_lost) {
			c->bisection_lost = sum / w->known[s->level];
		}
		for (unsigned k = 0; s->lost >= 1 && k < 2; k++) {
			if (s->at[k] != GRAPH_NONE) {
				w->at[n++] = s->at[k];
			}
		}
	}
	struct cut cut = { 0, GRAPH_NONE, GRAPH_NONE };
	if (n > 0) {
		cut = cuts_rejoin(&w->v->redundancy->cuts, w->at, n);
	}
	c->next_fault_cuts = cut.pairs;
	return cut;
}

static void set_severity(struct alarm *at)
{
	const struct consequence *c = &at->consequence;
	enum alarm_severity s = c->pairs_cut > 0    ? SEVERITY_CRITICAL
	                        : c->hosts_down > 0 ? SEVERITY_ERROR
	                        : c->bisection_lost > 0 || c->next_fault_cuts > 0
	                                ? SEVERITY_WARNING
	                                : SEVERITY_INFO;

	if (at->maintenance) {
		at->severity = SEVERITY_INFO; /* what it does was accepted when it began */
	} else if (at->kind != ALARM_DISABLED && s > at->severity) {
		at->severity = s;
	}
}

/* Hosts of those that an alarm stands for: children are added to what is above them, the deepest first. */
static void sum_hosts(struct alarms *a)
{
	for (size_t i = 0; i < a->n; i++) {
		uint32_t hosts = a->list[i].consequence.hosts_down, steps = 0;

		if (a->list[i].kind != ALARM_HOST_GONE) {
			continue; /* the hosts of a silent one are its own */
		}
		for (uint32_t k = a->list[i].above; k != ALARM_NONE && steps < ABOVE_MOST;
		     k = a->list[k].above, steps++) {
			a->list[k].consequence.hosts_down += hosts;
		}
	}
}

int alarm_consequences(struct alarms *a, struct inventory *v)
{
	struct work w = { .a = a, .v = v };
	size_t at = 0;
	int ret = v->redundancy == NULL ? find_redundancy(v) : E_OK;

	w.red = v->redundancy;
	if (ret == E_OK) {
		ret = find_own(a, v);
	}
	if (ret == E_OK) {
		ret = list_shares(&w);
	}
	if (ret == E_OK && w.n > 0) {
		qsort(w.share, w.n, sizeof(*w.share), compare_shares);
	}
	if (ret == E_OK) {
		sum_hosts(a);
	}
	for (uint32_t i = 0; ret == E_OK && i < a->n; i++) {
		const struct cut cut = measure(&w, i, &at);

		ret = tell(&w, &a->list[i], &cut);
		set_severity(&a->list[i]);
	}
	return ret;
}
