/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/alarm_causes.h"

#include <errno.h>
#include <inttypes.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
#include "conf/base/union_find.h"
#include "db/lmdb/known.h"
#include "db/snapshot/reader.h"
#include "gateway/inventory/alarms.h"
#include "gateway/inventory/inventory.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

enum {
	RECENT = 1000, /* events in which a cable has to go twice */
	CROWD = 3      /* overloaded links of a switch that become one alarm */
};

/* Hosts and cables that went with a switch. */
struct toll {
	uint64_t system;
	int64_t gone_s; /* 0: not known */
	uint32_t hosts, cables;
};

struct join {
	struct alarms *a;
	struct hash_table index; /* digest of an alarm's subject -> its place */
	struct toll *toll;       /* [a->n] at the start */
	size_t n;                /* that many */
};

/* --- look-ups ------------------------------------------------------------------------------ */

/* The port counts only where an alarm about another port of the node has nothing to do with it. */
static uint8_t port_of(enum alarm_kind kind, uint8_t port)
{
	return kind == ALARM_DISABLED || kind == ALARM_ISOLATED || kind == ALARM_UNHEALTHY ? port
	                                                                                  : 0;
}

static uint64_t digest_of(enum alarm_kind kind, uint64_t guid, uint8_t port)
{
	return digest_add(digest_add(digest_add(0, kind), guid), port_of(kind, port));
}

/* Place of an alarm; ALARM_NONE: there is none. */
static uint32_t find(const struct join *j, enum alarm_kind kind, uint64_t guid, uint8_t port)
{
	const struct alarm *list = j->a->list;
	uint32_t at = HASH_FIND(&j->index, digest_of(kind, guid, port), i,
	                        list[i].kind == kind && list[i].node_guid == guid &&
	                                port_of(kind, list[i].port) == port_of(kind, port));

	return at != HASH_NONE ? at : ALARM_NONE;
}

static int fill_index(struct join *j)
{
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < j->a->n; i++) {
		const struct alarm *at = &j->a->list[i];

		if (at->node_guid != 0 &&
		    find(j, at->kind, at->node_guid, at->port) == ALARM_NONE) {
			ret = hash_add(&j->index, digest_of(at->kind, at->node_guid, at->port), i);
		}
	}
	return ret;
}

/* The alarm about a switch that is gone or does not answer. */
static uint32_t find_switch(const struct join *j, uint64_t guid)
{
	uint32_t at = find(j, ALARM_SWITCH_GONE, guid, 0);

	return at != ALARM_NONE ? at : find(j, ALARM_SILENT, guid, 0);
}

/* The alarm about a port that was switched off, by an operator or because it is not healthy. */
static uint32_t find_off(const struct join *j, uint64_t guid, uint8_t port)
{
	uint32_t at = find(j, ALARM_DISABLED, guid, port);

	return at != ALARM_NONE ? at : find(j, ALARM_ISOLATED, guid, port);
}

/* One alarm stands for another one from now on. */
static void join(struct join *j, uint32_t child, uint32_t cause)
{
	struct alarm *at = &j->a->list[child];

	if (cause == ALARM_NONE || cause == child || at->above != ALARM_NONE) {
		return;
	}
	at->above = cause;
	at->cause = j->a->list[cause].id;
	j->a->list[cause].with += 1 + at->with;
}

/* --- what went with a switch ------------------------------------------------------------------ */

/* A cable belongs to the alarm of one of its ends, and counts for both. */
static int take_cable(struct join *j, const struct known_node *n)
{
	uint32_t at[2] = { find_switch(j, n->node_guid), find_switch(j, n->switch_guid) };
	uint32_t owner = at[0] != ALARM_NONE ? at[0] : at[1];

	for (unsigned i = 0; i < 2; i++) {
		if (at[i] != ALARM_NONE) {
			j->toll[at[i]].cables++;
		}
	}
	return owner == ALARM_NONE ? E_OK
	                           : alarms_add_cable(j->a, &j->a->list[owner], n->node_guid,
	                                              n->switch_guid, 1);
}

/* A host of which all ports are passed. \param n  The last one; its cause is that of all, or KNOWN_GONE. */
static void take_host(struct join *j, const struct known_node *n)
{
	uint32_t host = find(j, ALARM_HOST_GONE, n->node_guid, 0),
		 silent = find(j, ALARM_SILENT, n->node_guid, 0), cause = ALARM_NONE;

	if (silent != ALARM_NONE) {
		j->a->list[silent].consequence.hosts_down = 1;
	}
	if (host == ALARM_NONE) {
		return;
	}
	if (n->cause == KNOWN_SWITCHED_OFF) {
		cause = find_off(j, n->switch_guid, n->switch_port);
	} else if (n->cause == KNOWN_SWITCH_GONE) {
		cause = find_switch(j, n->switch_guid);
	}
	if (cause != ALARM_NONE) {
		j->toll[cause].hosts++;
		join(j, host, cause);
	}
}

/* One pass over all that is known: the ports of a node follow each other. */
static int join_known(struct join *j, struct snap_reader *r)
{
	struct known_node n, host = { .node_guid = 0 };
	int ret = snap_known_from(r, 0, 0, &n), failed = E_OK;

	for (; ret == E_OK && failed == E_OK; ret = snap_known_next(r, &n)) {
		if (n.gone_s == 0) {
			continue;
		}
		if (known_is_cable(&n)) {
			failed = take_cable(j, &n);
			continue;
		}
		if (n.type == NODE_SWITCH) {
			uint32_t sw = find_switch(j, n.node_guid);

			if (sw != ALARM_NONE) {
				j->toll[sw].system = n.system_guid;
				j->toll[sw].gone_s = n.gone_s;
			}
			continue;
		}
		if (n.cause == KNOWN_SWITCH_GONE) {
			uint32_t sw = find_switch(j, n.switch_guid);

			if (sw != ALARM_NONE) {
				j->toll[sw].cables++;
			}
		}
		if (host.node_guid != n.node_guid) {
			take_host(j, &host);
		} else if (host.cause != n.cause) {
			n.cause = KNOWN_GONE;
		}
		host = n;
	}
	take_host(j, &host);
	return failed != E_OK ? failed : ret == E_NOTFOUND ? E_OK : ret;
}

static const char *toll_text(const struct join *j, const char *what, const struct toll *t)
{
	return t->hosts == 0 && t->cables == 0
	               ? what
	               : arena_printf(j->a->arena, "%s: %u host%s, %u cable%s", what, t->hosts,
	                              t->hosts == 1 ? "" : "s", t->cables,
	                              t->cables == 1 ? "" : "s");
}

static int tell_tolls(struct join *j)
{
	for (size_t i = 0; i < j->n; i++) {
		struct alarm *at = &j->a->list[i];

		if (at->kind == ALARM_SWITCH_GONE || at->kind == ALARM_SILENT) {
			at->text = toll_text(j, at->text, &j->toll[i]);
		}
		if (at->text == NULL) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

/* --- systems of several switches -------------------------------------------------------------- */

/* Is a switch of this system left? */
static int find_systems(const struct inventory *v, struct hash_table *left)
{
	const struct graph *g = v->g;
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < g->n_switches; i++) {
		ret = hash_put(left, g->nodes[g->switches[i]].system_image_guid, 1);
	}
	return ret;
}

/* Adds the alarm of a system, whose first two switches are known. */
static int add_system(struct join *j, uint32_t first, uint32_t *ret_at)
{
	uint64_t system = j->toll[first].system;
	struct alarm *to = alarms_add_port(j->a, ALARM_CHASSIS_GONE, system, 0, "");

	if (to == NULL) {
		return -ENOMEM;
	}
	to->node = j->a->list[first].node;
	to->since = j->a->list[first].since;
	to->event = j->a->list[first].event;
	*ret_at = (uint32_t)(j->a->n - 1);
	return E_OK;
}

struct system {
	uint32_t first, at, switches; /* at: place of its alarm; ALARM_NONE: one switch so far */
	struct toll toll;
};

static int join_switch(struct join *j, uint32_t i, struct system *s)
{
	int ret = E_OK;

	if (s->switches++ == 0) {
		s->first = i;
		s->at = ALARM_NONE;
	} else if (s->at == ALARM_NONE) {
		ret = add_system(j, s->first, &s->at);
		if (ret == E_OK) {
			join(j, s->first, s->at);
		}
	}
	s->toll.hosts += j->toll[i].hosts;
	s->toll.cables += j->toll[i].cables;
	if (ret == E_OK && s->at != ALARM_NONE) {
		join(j, i, s->at);
	}
	return ret;
}

static int tell_system(struct join *j, const struct system *s)
{
	struct alarm *to = &j->a->list[s->at];

	to->text = toll_text(
		j,
		arena_printf(j->a->arena, "the system 0x%016" PRIx64 " of '%s' is gone with its %u switches",
	                     to->node_guid, to->node != NULL ? to->node : "", s->switches),
		&s->toll);
	return to->text != NULL ? E_OK : -ENOMEM;
}

/* A cable inside a system counts once, not for both its switches. */
static void count_inner_once(const struct join *j, const struct hash_table *of, struct system *s)
{
	for (size_t i = 0; i < j->a->n_cables; i++) {
		const struct alarm_cable *c = &j->a->cables[i];
		uint32_t a = find_switch(j, c->guid[0]), b = find_switch(j, c->guid[1]), k;

		if (a == ALARM_NONE || b == ALARM_NONE || j->toll[a].system == 0 ||
		    j->toll[a].system != j->toll[b].system) {
			continue;
		}
		k = hash_get(of, j->toll[a].system);
		if (k != HASH_NONE) {
			s[k].toll.cables--;
		}
	}
}

static int join_systems(struct join *j, const struct inventory *v)
{
	struct hash_table left = { .arena = j->a->arena }, of = left;
	struct system *s = arena_array(j->a->arena, j->n, sizeof(*s));
	uint32_t n = 0;
	int ret = s != NULL ? find_systems(v, &left) : -ENOMEM;

	for (uint32_t i = 0; ret == E_OK && i < j->n; i++) {
		uint64_t system = j->toll[i].system;

		if (system == 0 || j->a->list[i].kind != ALARM_SWITCH_GONE ||
		    hash_get(&left, system) != HASH_NONE) {
			continue;
		}
		uint32_t k = hash_get(&of, system);
		if (k == HASH_NONE) {
			k = n++;
			ret = hash_put(&of, system, k);
		}
		ret = ret == E_OK ? join_switch(j, i, &s[k]) : ret;
	}
	if (ret == E_OK) {
		count_inner_once(j, &of, s);
	}
	for (uint32_t k = 0; ret == E_OK && k < n; k++) {
		if (s[k].at != ALARM_NONE) {
			ret = tell_system(j, &s[k]);
		}
	}
	return ret;
}

/* --- switches behind one that is gone --------------------------------------------------------- */

/*
 * Switches that are gone, by their alarms. Three kinds are an edge of what is gone, because each of them went by
 * itself: one with a cable to a switch that is there, one that went while a neighbour was there still, and one whose
 * cables are not known. The others are behind: nobody could see them if they were there.
 */
struct behind {
	uint32_t *set;  /* union-find over those behind */
	uint32_t *edge; /* of a set: the edge that went last; ALARM_NONE: none */
	uint32_t *top;  /* the alarm of the whole system, or of the switch */
	bool *cabled, *is_edge; /* is_edge: or has one, if it is of a system */
};

static int find_edges(const struct join *j, struct behind *b)
{
	const struct alarm *list = j->a->list;
	const size_t n = j->a->n;

	*b = (struct behind){ .set = arena_array(j->a->arena, n, sizeof(*b->set)),
		              .edge = arena_array(j->a->arena, n, sizeof(*b->edge)),
		              .top = arena_array(j->a->arena, n, sizeof(*b->top)),
		              .cabled = arena_array(j->a->arena, n, sizeof(*b->cabled)),
		              .is_edge = arena_array(j->a->arena, n, sizeof(*b->is_edge)) };
	if (b->set == NULL || b->edge == NULL || b->top == NULL || b->cabled == NULL ||
	    b->is_edge == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < j->a->n_cables; i++) {
		const uint64_t *guid = j->a->cables[i].guid;

		for (unsigned k = 0; k < 2; k++) {
			uint32_t own = find_switch(j, guid[k]), far = find_switch(j, guid[1 - k]);

			if (own != ALARM_NONE) {
				b->cabled[own] = true;
				b->is_edge[own] |= far == ALARM_NONE ||
				                   j->toll[own].gone_s < j->toll[far].gone_s;
			}
		}
	}
	for (uint32_t i = 0; i < j->n; i++) {
		b->top[i] = list[i].above != ALARM_NONE ? list[i].above : i;
		if (list[i].kind == ALARM_SWITCH_GONE || list[i].kind == ALARM_SILENT) {
			b->is_edge[i] |= !b->cabled[i] || list[i].kind == ALARM_SILENT;
			b->is_edge[b->top[i]] |= b->is_edge[i];
		}
	}
	return E_OK;
}

/* Unites those behind; then, in a second pass, finds the edge of each set. */
static void find_sets(const struct join *j, struct behind *b, bool finds_edges)
{
	for (size_t i = 0; i < j->a->n_cables; i++) {
		uint32_t x = find_switch(j, j->a->cables[i].guid[0]),
			 y = find_switch(j, j->a->cables[i].guid[1]);

		if (x == ALARM_NONE || y == ALARM_NONE) {
			continue;
		}
		if (!finds_edges && !b->is_edge[x] && !b->is_edge[y]) {
			(void)union_join(b->set, x, y);
		}
		if (finds_edges && b->is_edge[x] != b->is_edge[y]) {
			uint32_t edge = b->is_edge[x] ? x : y, inner = b->is_edge[x] ? y : x,
				 *to = &b->edge[union_find(b->set, inner)];

			if (*to == ALARM_NONE || j->toll[edge].gone_s > j->toll[*to].gone_s) {
				*to = edge;
			}
		}
	}
}

static int tell_behind(struct join *j, struct alarm *to, const struct toll *t, uint32_t switches)
{
	const char *hosts = t->hosts == 0
	                            ? ""
	                            : arena_printf(j->a->arena, " with %u host%s", t->hosts,
	                                           t->hosts == 1 ? "" : "s");

	to->text = hosts == NULL ? NULL
	                         : arena_printf(j->a->arena, "%s; %u switch%s%s behind it %s cut off",
	                                        to->text, switches, switches == 1 ? "" : "es", hosts,
	                                        switches == 1 ? "is" : "are");
	return to->text != NULL ? E_OK : -ENOMEM;
}

/* A switch that is only cut off belongs to the one that cut it off. So does a system of which no switch
 * is an edge, as a whole. */
static int join_behind(struct join *j)
{
	struct behind b;
	struct toll *cut = arena_array(j->a->arena, j->a->n, sizeof(*cut));
	uint32_t *switches = arena_array(j->a->arena, j->a->n, sizeof(*switches));
	int ret = cut != NULL && switches != NULL ? find_edges(j, &b) : -ENOMEM;

	if (ret != E_OK) {
		return ret;
	}
	union_init(b.set, (uint32_t)j->a->n);
	for (uint32_t i = 0; i < j->a->n; i++) {
		b.edge[i] = ALARM_NONE;
	}
	find_sets(j, &b, false);
	find_sets(j, &b, true);
	for (uint32_t i = 0; i < j->n; i++) {
		uint32_t edge = j->a->list[i].kind == ALARM_SWITCH_GONE && !b.is_edge[b.top[i]]
		                        ? b.edge[union_find(b.set, i)]
		                        : ALARM_NONE;

		if (edge != ALARM_NONE) {
			join(j, b.top[i], b.top[edge]);
			uint32_t cause = j->a->list[b.top[i]].above; /* that of the first switch */
			cut[cause].hosts += j->toll[i].hosts;
			switches[cause]++;
		}
	}
	for (uint32_t i = 0; ret == E_OK && i < j->a->n; i++) {
		ret = switches[i] > 0 ? tell_behind(j, &j->a->list[i], &cut[i], switches[i]) : E_OK;
	}
	return ret;
}

/* --- ports, cables and nodes -------------------------------------------------------------------- */

/* A cable that is down because a port of it was switched off is no cable that is lost. A node that does not
 * answer explains what a sweep says of it. */
static void join_by_place(struct join *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		const struct alarm *at = &j->a->list[i];

		if (at->kind == ALARM_LINK_DOWN) {
			uint32_t off = find_off(j, at->node_guid, at->port);

			off = off != ALARM_NONE ? off : find_off(j, at->peer_guid, at->peer_port);
			join(j, i, off);
		} else if (at->kind == ALARM_PROBLEM && at->node_guid != 0) {
			join(j, i, find(j, ALARM_SILENT, at->node_guid, 0));
		}
	}
}

/* The losses of a cable. */
struct losses {
	const struct fabric_event *e; /* one of them */
	uint32_t times;
	uint32_t alarm; /* that names it; ALARM_NONE: none does */
};

struct flaps {
	struct losses *list; /* cables, in the order in which they went first */
	uint32_t n;
	struct hash_table cable, node; /* digest -> cable, NodeGUID -> its worst cable */
};

static bool is_same_cable(const struct fabric_event *x, const struct fabric_event *y)
{
	return x->node_guid == y->node_guid && x->port == y->port &&
	       x->peer_guid == y->peer_guid && x->peer_port == y->peer_port;
}

/* Events name a cable by its ends in one order. */
static uint64_t digest_of_cable(uint64_t guid, uint8_t port, uint64_t peer, uint8_t peer_port)
{
	return digest_add(digest_add(guid, port), digest_add(peer, peer_port));
}

static int keep_worst(struct flaps *f, uint64_t guid, uint32_t cable)
{
	uint32_t was = hash_get(&f->node, guid);

	return was == HASH_NONE || f->list[cable].times > f->list[was].times
	               ? hash_put(&f->node, guid, cable)
	               : E_OK;
}

static int count_losses(struct flaps *f, const struct fabric_event *e, size_t n)
{
	int ret = E_OK;

	for (size_t i = n > RECENT ? n - RECENT : 0; ret == E_OK && i < n; i++) {
		if (e[i].kind != EVENT_CABLE_LOST) {
			continue;
		}
		uint64_t digest = digest_of_cable(e[i].node_guid, e[i].port, e[i].peer_guid,
		                                  e[i].peer_port);
		uint32_t at = HASH_FIND(&f->cable, digest, k,
		                        is_same_cable(f->list[k].e, &e[i]));
		if (at == HASH_NONE) {
			at = f->n++;
			f->list[at] = (struct losses){ .e = &e[i], .alarm = ALARM_NONE };
			ret = hash_add(&f->cable, digest, at);
		}
		f->list[at].times++;
		if (ret == E_OK) {
			ret = keep_worst(f, e[i].node_guid, at);
		}
		if (ret == E_OK) {
			ret = keep_worst(f, e[i].peer_guid, at);
		}
	}
	return ret;
}

static void join_if(struct join *j, uint32_t child, uint32_t cause)
{
	if (child != ALARM_NONE) {
		join(j, child, cause);
	}
}

static int name_cable(struct join *j, struct alarm *to, struct losses *l)
{
	const struct fabric_event *cable = l->e;
	uint64_t peer = to->node_guid == cable->node_guid ? cable->peer_guid : cable->node_guid;

	l->alarm = (uint32_t)(to - j->a->list);
	join_if(j, find(j, ALARM_FLAPPING, peer, 0), l->alarm);
	join_if(j, find(j, ALARM_UNHEALTHY, cable->node_guid, cable->port), l->alarm);
	join_if(j, find(j, ALARM_UNHEALTHY, cable->peer_guid, cable->peer_port), l->alarm);
	to->node_guid = cable->node_guid;
	to->node = cable->node;
	to->port = cable->port;
	to->peer_guid = cable->peer_guid;
	to->peer = cable->peer;
	to->peer_port = cable->peer_port;
	to->text = arena_printf(
		j->a->arena, "cable '%s' port %u - '%s' port %u comes and goes: lost %u times",
		cable->node, cable->port, cable->peer, cable->peer_port, l->times);
	return to->text != NULL ? E_OK : -ENOMEM;
}

static int join_flapping(struct join *j, const struct fabric_event *e, size_t n)
{
	struct arena *arena = j->a->arena;
	struct flaps f = { .cable.arena = arena, .node.arena = arena };

	f.list = arena_array(arena, n < RECENT ? n : RECENT, sizeof(*f.list));
	int ret = f.list != NULL ? count_losses(&f, e, n) : -ENOMEM;
	for (size_t i = 0; ret == E_OK && i < j->n; i++) {
		struct alarm *to = &j->a->list[i];
		uint32_t cable = to->kind == ALARM_FLAPPING && to->above == ALARM_NONE &&
		                                 to->peer_guid == 0
		                         ? hash_get(&f.node, to->node_guid)
		                         : HASH_NONE;

		/* else its own words say more */
		if (cable != HASH_NONE && f.list[cable].times > 1) {
			ret = name_cable(j, to, &f.list[cable]);
		}
	}
	for (uint32_t i = 0; ret == E_OK && i < j->n; i++) { /* that it is out just now */
		const struct alarm *at = &j->a->list[i];
		uint64_t digest = digest_of_cable(at->node_guid, at->port, at->peer_guid,
		                                  at->peer_port);
		uint32_t k = at->kind != ALARM_LINK_DOWN
		                     ? HASH_NONE
		                     : HASH_FIND(&f.cable, digest, c,
		                                 f.list[c].e->node_guid == at->node_guid &&
		                                         f.list[c].e->port == at->port);

		if (k != HASH_NONE) {
			join(j, i, f.list[k].alarm);
		}
	}
	return ret;
}

/* A cable that is not healthy is so at both ends. */
static void join_unhealthy(struct join *j, const struct inventory *v)
{
	for (uint32_t i = 0; i < j->n; i++) {
		struct alarm *at = &j->a->list[i];
		uint32_t node = at->kind == ALARM_UNHEALTHY ? graph_node_by_guid(v->g, at->node_guid)
		                                            : GRAPH_NONE,
			 port = node != GRAPH_NONE ? graph_port(v->g, node, at->port) : GRAPH_NONE,
			 peer = port != GRAPH_NONE ? v->g->ports[port].peer : GRAPH_NONE;

		if (peer == GRAPH_NONE) {
			continue;
		}
		const struct node *far = &v->g->nodes[v->g->ports[peer].node];
		uint32_t other = find(j, ALARM_UNHEALTHY, far->guid, v->g->ports[peer].num);

		at->peer_guid = far->guid;
		at->peer = node_name(far);
		at->peer_port = v->g->ports[peer].num;
		if (other < i) {
			join(j, i, other);
		}
	}
}

/* Links with too many routes that share a switch. */
struct crowd {
	uint32_t first, n; /* the first alarm, and how many */
};

/* Counts an alarm for the switch at one of its ends. */
static int count_crowd(struct hash_table *of, struct crowd *crowd, uint32_t *n, uint64_t guid,
                       uint32_t alarm)
{
	uint32_t k = hash_get(of, guid);
	int ret = E_OK;

	if (k == HASH_NONE) {
		k = (*n)++;
		crowd[k] = (struct crowd){ .first = alarm };
		ret = hash_put(of, guid, k);
	}
	crowd[k].n++;
	return ret;
}

/* Routes that are crowded at a switch are so on most of its links: one alarm stands for those of the switch that
 * has the most of them. */
static int join_overloaded(struct join *j)
{
	struct hash_table of = { .arena = j->a->arena };
	struct crowd *crowd = arena_array(j->a->arena, 2 * j->n, sizeof(*crowd));
	const struct alarm *list = j->a->list;
	uint32_t n = 0;
	int ret = crowd != NULL ? E_OK : -ENOMEM;

	for (uint32_t i = 0; ret == E_OK && i < j->n; i++) {
		if (list[i].kind == ALARM_OVERLOADED) {
			ret = count_crowd(&of, crowd, &n, list[i].node_guid, i);
		}
		if (ret == E_OK && list[i].kind == ALARM_OVERLOADED) {
			ret = count_crowd(&of, crowd, &n, list[i].peer_guid, i);
		}
	}
	for (uint32_t i = 0; ret == E_OK && i < j->n; i++) {
		if (list[i].kind != ALARM_OVERLOADED) {
			continue;
		}
		const struct crowd *x = &crowd[hash_get(&of, list[i].node_guid)],
				   *y = &crowd[hash_get(&of, list[i].peer_guid)];
		const struct crowd *most = y->n > x->n ? y : x;

		if (most->n >= CROWD && list[most->first].above == ALARM_NONE) {
			join(j, i, most->first);
		}
	}
	return ret;
}

int alarm_causes_join(struct alarms *a, struct snap_reader *r, const struct inventory *v,
                      const struct fabric_event *e, size_t n)
{
	struct join j = { .a = a, .index.arena = a->arena, .n = a->n };
	int ret = E_OK;

	j.toll = arena_array(a->arena, a->n, sizeof(*j.toll));
	ret = j.toll != NULL ? fill_index(&j) : -ENOMEM;
	if (ret == E_OK && r != NULL) {
		ret = join_known(&j, r);
	}
	if (ret == E_OK) {
		join_by_place(&j);
		ret = tell_tolls(&j);
	}
	if (ret == E_OK && v != NULL) {
		ret = join_systems(&j, v);
	}
	if (ret == E_OK) {
		ret = join_behind(&j);
	}
	if (ret == E_OK) {
		ret = join_flapping(&j, e, n);
	}
	if (ret == E_OK) {
		ret = join_overloaded(&j);
	}
	if (ret == E_OK && v != NULL) {
		join_unhealthy(&j, v);
	}
	return ret;
}
