/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /metrics/fabric: what there is per switch, per port and per cable, for Prometheus. The port
 * counters and the names have the metrics and labels of treydock/infiniband_exporter where the
 * meaning is the same: the NodeGUID of a switch, the PortGUID of an HCA, and the port number.
 *
 * A family is one block of the text, so the rows of the counters are passed once for each
 * counter. That needs the memory of one slice, while a fabric of 11,664 hosts has more than a
 * million series. Rows are read while they are written by saguarod: two counters of a port
 * may be of two readings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "gateway/api/api_call.h"
#include "gateway/api/exposition.h"
#include "gateway/api/metrics.h"
#include "gateway/inventory/cable.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/source.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

enum {
	BATCH = 256,      /* rows of a slice */
	OLD_S = 600,      /* a reading is shown for so long, or */
	OLD_READINGS = 3, /* for so many times the time between two, if that is longer; */
	OLDEST_S = 86400  /* the first reading of a port for so long */
};

/* --- the families ---------------------------------------------------------------------- */

/* A family that is no counter. */
struct figure {
	const char *word;   /* in collect= */
	const char *prefix; /* with "switch_" or "hca_" and the name behind it */
	const char *name, *help;
	bool usual; /* without collect= */
	bool nodes; /* once for each node */
	/* writes the labels behind the guid, and the number; false: this port has none */
	bool (*write)(struct body *b, const struct inventory *v, uint32_t port);
};

/* Where a family is in the order of the text: counters first. */
enum { FIGURES = 7, FAMILIES = PORT_COUNTERS + FIGURES, KINDS = 2 };

_Static_assert(FAMILIES <= 64, "a bit for each family");

/* The two kinds of nodes that have families. */
static const struct kind {
	uint8_t type;
	const char *word; /* "switch": in names, and the label of the node's name */
} kinds[KINDS] = { { NODE_SWITCH, "switch" }, { NODE_CA, "hca" } };

static void write_lid(struct body *b, const char *name, uint32_t lid, const char *after)
{
	char text[16] = "";

	if (lid != 0) {
		snprintf(text, sizeof(text), "%" PRIu32, lid);
	}
	exposition_label(b, name, text, after);
}

static const struct node *node_of(const struct inventory *v, uint32_t port)
{
	return &v->g->nodes[v->g->ports[port].node];
}

/* As the exporter and perfquery call it: an HCA by its port. */
static uint64_t guid_of(const struct inventory *v, uint32_t port)
{
	const struct node *n = node_of(v, port);

	return n->type == NODE_SWITCH ? n->guid : v->g->ports[port].guid;
}

static uint32_t lid_of(const struct inventory *v, uint32_t port)
{
	const struct port *p = &v->g->ports[port];

	return node_of(v, port)->type != NODE_SWITCH && p->lid != 0
	               ? p->lid
	               : v->node[p->node].lid;
}

static const char *kind_word(const struct inventory *v, uint32_t port)
{
	return kinds[node_of(v, port)->type != NODE_SWITCH].word;
}

static void write_port_label(struct body *b, const struct inventory *v, uint32_t port)
{
	body_printf(b, ",port=\"%u\"", v->g->ports[port].num);
}

static bool write_info(struct body *b, const struct inventory *v, uint32_t port)
{
	body_write(b, ",", 1);
	exposition_label(b, kind_word(v, port), node_name(node_of(v, port)), ",");
	write_lid(b, "lid", lid_of(v, port), "} 1\n");
	return true;
}

static bool write_uplink(struct body *b, const struct inventory *v, uint32_t port)
{
	static const char *const types[] = { "", "CA", "SW", "RT" };
	uint32_t peer = v->g->ports[port].peer;

	if (peer == GRAPH_NONE) {
		return false;
	}
	write_port_label(b, v, port);
	body_write(b, ",", 1);
	exposition_label(b, kind_word(v, port), node_name(node_of(v, port)), ",");
	exposition_label(b, "uplink", node_name(node_of(v, peer)), ",");
	body_printf(
		b,
		"uplink_guid=\"0x%016" PRIx64 "\",uplink_type=\"%s\",uplink_port=\"%u\",",
		guid_of(v, peer), types[node_of(v, peer)->type], v->g->ports[peer].num);
	write_lid(b, "uplink_lid", lid_of(v, peer), "} 1\n");
	return true;
}

static bool write_rate(struct body *b, const struct inventory *v, uint32_t port)
{
	if (v->port[port].rate == 0) {
		return false;
	}
	write_port_label(b, v, port);
	body_printf(b, "}");
	exposition_number(b, rate_speed(v->port[port].rate) * 1e8 / 8);
	return true;
}

static bool write_degraded(struct body *b, const struct inventory *v, uint32_t port)
{
	if (!v->port[port].has_best) {
		return false;
	}
	write_port_label(b, v, port);
	body_printf(b, "} %d\n", v->port[port].degraded);
	return true;
}

static bool write_routes(struct body *b, const struct inventory *v, uint32_t port)
{
	if (v->port[port].routes == INVENTORY_NO_ROUTES) {
		return false;
	}
	write_port_label(b, v, port);
	body_printf(b, "} %" PRIu32 "\n", v->port[port].routes);
	return true;
}

static bool write_cable(struct body *b, const struct inventory *v, uint32_t port)
{
	const struct cable *c = v->port[port].cable;

	if (c == NULL) {
		return false;
	}
	write_port_label(b, v, port);
	body_write(b, ",", 1);
	exposition_label(b, "vendor", c->vendor, ",");
	exposition_label(b, "part", c->part, ",");
	exposition_label(b, "serial", c->serial, ",");
	exposition_label(b, "technology", c->technology, ",");
	body_printf(b, "length_m=\"%g\"} 1\n", c->length_m);
	return true;
}

static bool write_temperature(struct body *b, const struct inventory *v, uint32_t port)
{
	const struct cable *c = v->port[port].cable;

	if (c == NULL || !c->measures || c->temperature_c == 0) {
		return false;
	}
	write_port_label(b, v, port);
	body_printf(b, "}");
	exposition_number(b, c->temperature_c);
	return true;
}

/* clang-format off */
static const struct figure figures[FIGURES] = {
	{ "info", "infiniband", "info", "Name and LID; always 1.", true, true, write_info },
	{ "uplink", "infiniband", "uplink_info", "What the cable of a port leads to; always 1.", true, false, write_uplink },
	{ "rate", "infiniband", "port_rate_bytes_per_second", "Data that the cable carries at most in one direction, without its encoding.", true, false, write_rate },
	{ "degraded", "saguaro", "port_degraded", "1: the cable is slower than both its ends support.", true, false, write_degraded },
	{ "cable", "saguaro", "port_cable_info", "What the module of a port's cable says of itself; always 1.", true, false, write_cable },
	{ "temperature", "saguaro", "port_cable_temperature_celsius", "Temperature of the module of a port's cable.", true, false, write_temperature },
	{ "routes", "saguaro", "port_routes", "Routes on the link from this port to another switch.", false, false, write_routes },
};
/* clang-format on */

/* --- a stream -------------------------------------------------------------------------- */

struct fabric_stream {
	struct inventory *v;
	struct source *source; /* for the counters */
	uint64_t wanted;       /* bit for each family */
	unsigned kinds;        /* 1: switches only */
};

static void fabric_stream_done(void *state)
{
	struct fabric_stream *s = state;

	inventory_unref(s->v);
	source_free(s->source);
	free(s);
}

/* A place: key is the family, for switches first; sub and skip are the row, and whether the
 * head of the family is written. */
enum { PORT_BITS = 8, HEAD = 1 << PORT_BITS };

static void next_family(struct stream_place *at)
{
	*at = (struct stream_place){ .key = at->key + 1 };
}

/* Begins a sample; behind the head of its family if it is the first one. */
static void begin_sample(struct body *b, struct stream_place *at, const char *prefix,
                         const struct kind *kind, const char *name, const char *type,
                         const char *help, uint64_t guid)
{
	char full[80];

	snprintf(full, sizeof(full), "%s_%s_", prefix, kind->word);
	if ((at->skip & HEAD) == 0) {
		exposition_family(b, full, name, type, help);
		at->skip |= HEAD;
	}
	body_printf(b, "%s%s{guid=\"0x%016" PRIx64 "\"", full, name, guid);
}

/* All ports from at->sub on, as far as a slice goes. */
static void write_figure(const struct fabric_stream *s, const struct figure *f,
                         const struct kind *kind, struct stream_place *at, struct body *b,
                         size_t *ret_n)
{
	const struct graph *g = s->v->g;
	uint32_t port = (uint32_t)at->sub;

	for (unsigned steps = 0;
	     port < g->n_ports && steps < STREAM_STEPS && *ret_n < STREAM_RECORDS;
	     steps++, port++) {
		const struct node *n = node_of(s->v, port);
		/* an HCA has an info for each port, a switch one */
		bool first = g->ports[port].num == (n->type == NODE_SWITCH ? 0 : 1);
		struct stream_place before = *at;
		size_t len = b->len;

		if (n->type != kind->type || (f->nodes && !first) ||
		    (!f->nodes && g->ports[port].num == 0)) {
			continue;
		}
		begin_sample(b, at, f->prefix, kind, f->name, "gauge", f->help,
		             guid_of(s->v, port));
		if (f->write(b, s->v, port)) {
			++*ret_n;
		} else {
			b->len = len; /* nor is there a head without a sample */
			*at = before;
		}
	}
	if (port >= g->n_ports) {
		next_family(at);
	} else {
		at->sub = port;
	}
}

/* Is a reading too old to be shown as the present one? */
static bool too_old(const struct port_counters *c, int64_t now_s)
{
	int64_t age = now_s - c->time_s;
	int64_t limit = (int64_t)c->interval_ms * OLD_READINGS / 1000;

	return age > (c->interval_ms == 0 ? OLDEST_S : limit > OLD_S ? limit : OLD_S);
}

/* Rows from the place on, as far as a slice goes. */
static int write_counter(const struct fabric_stream *s, unsigned counter,
                         const struct kind *kind, struct stream_place *at, struct body *b,
                         size_t *ret_n)
{
	const struct counter_type *type = &counter_types[counter];
	const struct graph *g = s->v->g;
	struct stats_counter_list list = { .n = 0 };
	struct arena *a = arena_new();
	uint32_t node = GRAPH_NONE;
	const int64_t now_s = source_wall_clock();
	uint8_t num = (uint8_t)at->skip;

	int ret = a != NULL ? source_counters(s->source, boottime_ms(), at->sub, num,
	                                      BATCH, false, a, &list)
	                    : -ENOMEM;
	for (size_t i = 0; i < list.n; i++) {
		const struct port_counters *c = &list.ports[i];

		if (node == GRAPH_NONE || g->nodes[node].guid != c->node_guid) {
			node = graph_node_by_guid(g, c->node_guid);
		}
		uint32_t port =
			node != GRAPH_NONE ? graph_port(g, node, c->port) : GRAPH_NONE;
		at->sub = c->node_guid + (c->port == UINT8_MAX);
		at->skip = (at->skip & HEAD) | (uint8_t)(c->port + 1);
		if (port == GRAPH_NONE || g->nodes[node].type != kind->type ||
		    (c->known >> counter & 1) == 0 || too_old(c, now_s)) {
			continue;
		}
		begin_sample(b, at, "infiniband", kind, type->series,
		             type->kind == COUNTER_IS_LEVEL ? "gauge" : "counter",
		             type->help, guid_of(s->v, port));
		body_printf(b, ",port=\"%u\"} %" PRIu64 "\n", c->port, c->value[counter]);
		++*ret_n;
	}
	if (ret == E_OK && !list.more) {
		next_family(at);
	}
	arena_free(a);
	return ret;
}

static int more_fabric(void *state, struct snap_reader *r, struct stream_place *at,
                       struct body *out, size_t *ret_n)
{
	const struct fabric_stream *s = state;
	int ret = E_OK;

	(void)r;
	while (at->key < (uint64_t)FAMILIES * s->kinds &&
	       (s->wanted >> at->key % FAMILIES & 1) == 0) {
		next_family(at);
	}
	if (at->key >= (uint64_t)FAMILIES * s->kinds) {
		at->end = true;
		return E_OK;
	}
	unsigned family = at->key % FAMILIES;
	const struct kind *kind = &kinds[at->key / FAMILIES];

	if (family < PORT_COUNTERS) {
		ret = write_counter(s, family, kind, at, out, ret_n);
	} else {
		write_figure(s, &figures[family - PORT_COUNTERS], kind, at, out, ret_n);
	}
	return ret;
}

/* --- the request ----------------------------------------------------------------------- */

static unsigned family_by_word(const char *word, size_t len)
{
	enum port_counter counter = counters_by_name(word, len);

	if (counter != PORT_COUNTERS) {
		return counter;
	}
	for (unsigned i = 0; i < FIGURES; i++) {
		if (strlen(figures[i].word) == len &&
		    memcmp(figures[i].word, word, len) == 0) {
			return PORT_COUNTERS + i;
		}
	}
	return FAMILIES;
}

/* Words with commas between; without any all counters and the usual figures. */
static int read_collect(struct api_call *c, uint64_t *ret_collect)
{
	const char *word = api_param(c, "collect");

	*ret_collect = 0;
	if (word == NULL) {
		*ret_collect = (UINT64_C(1) << PORT_COUNTERS) - 1;
		for (unsigned i = 0; i < FIGURES; i++) {
			*ret_collect |= (uint64_t)figures[i].usual << (PORT_COUNTERS + i);
		}
		return E_OK;
	}
	for (;; word++) {
		size_t len = strcspn(word, ",");
		unsigned family = family_by_word(word, len);

		if (family == FAMILIES) {
			return problem_param(
				&c->problem, c->arena, E_UNKNOWN, "collect",
				"collect: there is no '%.*s'; expected info, uplink, rate, degraded, cable, temperature, routes or a counter as in /v1/counters, with commas between",
				(int)(len < 100 ? len : 100), word);
		}
		*ret_collect |= UINT64_C(1) << family;
		word += len;
		if (*word == '\0') {
			return E_OK;
		}
	}
}

int api_metrics_fabric(struct api_call *c)
{
	struct stats_copy stats;
	uint64_t wanted;
	int8_t hosts;
	int ret = api_flag(c, "hosts", &hosts);

	if (ret == E_OK) {
		ret = read_collect(c, &wanted);
	}
	if (ret != E_OK) {
		return ret;
	}
	c->content_type = EXPOSITION_TYPE;
	ret = source_stats(c->thread->source, c->now_ms, c->arena, &stats);
	if (ret == -ENOMEM) {
		return ret;
	}
	if (ret != E_OK || !metrics_fresh(&stats, c->now_ms)) {
		/* what a daemon read that is gone is not of now */
		body_printf(&c->body, "# saguarod is gone: there are no series\n");
		return E_OK;
	}
	ret = inventory_get(&c->thread->inventory, c->snap);
	if (ret != E_OK) {
		return ret;
	}
	struct fabric_stream *s = calloc(1, sizeof(*s));
	if (s == NULL) {
		return -ENOMEM;
	}
	*s = (struct fabric_stream){ .v = inventory_ref(c->thread->inventory),
		                     .source = source_join(c->thread->source),
		                     .wanted = wanted,
		                     .kinds = hosts == 1 ? KINDS : 1 };
	struct stream_spec spec = { .more = more_fabric,
		                    .done = fabric_stream_done,
		                    .state = s,
		                    .media_type = EXPOSITION_TYPE };
	ret = s->source != NULL ? api_stream(c, &spec) : -ENOMEM;
	if (ret != E_OK) {
		fabric_stream_done(s);
	}
	return ret;
}
