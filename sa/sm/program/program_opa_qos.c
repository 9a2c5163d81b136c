/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Maps of SLs, SCs and VLs, VL arbitration and buffer control of Omni-Path's ports (opa_lanes.h).
 *
 * This comes before PortInfo, because a port takes SCtoVLt and SCtoVLnt only while its link is in INIT, and the Set of
 * PortInfo may make it ARMED. A table of which no copy is kept is read first, unless its port is below ARMED. Tables
 * of ports that follow each other share a request. Those of an adapter are asked for at once, so that they share a MAD.
 *
 * A link beyond INIT that has another map than it should have keeps it, which a warning says. If the routing uses
 * several lanes its proof stands on the maps, so such a link is restarted, and the next sweep sets them.
 *
 * Switches pass SCs on as they are after power-on. Where an SL-to-VL rule needs something else, or somebody has
 * set something else before, that is set: one request for all pairs of ports, or one for each pair of classes. After
 * a start the maps of a switch that has forwarding tables are read first, a request for each port in.
 *
 * While routing uses several lanes, a node that does not take its maps makes the sweep fail, as in
 * program_qos.c.
 *
 * Longer than most: tables of ports and maps between ports share the job of a node, and what a port should have.
 *
 * Source: the hfi1 driver for what an agent accepts; what opa-fm writes.
 */
#include <errno.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover/discover.h"
#include "sa/sm/discover/shadow.h"
#include "sa/sm/program/opa_lanes.h"
#include "sa/sm/program/program.h"
#include "sa/sm/program/program_opa.h"

enum { IN_FLIGHT = 2, RUN_BYTES = OPA_DATA_MAX }; /* of a switch */

/* In the order in which they are set. A port has VLs in its tables before packets are mapped to them. */
static const struct place {
	enum table_kind_id kind;
	uint8_t col;
} places[] = {
	{ TABLE_OPA_VL_ARB, 0 },  { TABLE_OPA_VL_ARB, 1 },  { TABLE_OPA_BUFFERS, 0 },
	{ TABLE_OPA_SC2VL_R, 0 }, { TABLE_OPA_SC2VL_T, 0 }, { TABLE_OPA_SC2VL_NT, 0 },
	{ TABLE_OPA_SC2SL, 0 },   { TABLE_OPA_SL2SC, 0 },
};

enum { PLACES = sizeof(places) / sizeof(places[0]) };

/* The ports of a switch, or one port of an adapter. */
struct opa_job {
	struct program *p;
	struct disc_node *node;
	uint32_t first_port; /* of the node in the graph */
	uint16_t first, end; /* ports */
	uint16_t row;        /* port at work */
	uint8_t place, in_flight;
	bool is_switch, stop;
};

/* A request for tables of one place, of one port or several. */
struct opa_request {
	struct table_request q;
	struct opa_job *j;
	uint8_t place;
	uint16_t row;
};

/* --- ports -------------------------------------------------------------------------------- */

static const struct port *graph_port_of(const struct opa_job *j, unsigned num)
{
	return &j->p->disc->g->ports[j->first_port + num];
}

static bool is_cabled(const struct opa_job *j, unsigned num)
{
	const struct graph *g = j->p->disc->g;
	uint32_t peer = graph_port_of(j, num)->peer;

	return num != 0 && peer != GRAPH_NONE && j->node->ports[num].opa_info != NULL &&
	       disc_port_of(j->p->disc, peer)->opa_info != NULL &&
	       g->ports[peer].num != 0;
}

static bool faces_switch(const struct opa_job *j, unsigned num)
{
	const struct graph *g = j->p->disc->g;
	uint32_t peer = graph_port_of(j, num)->peer;

	return j->is_switch && num != 0 && peer != GRAPH_NONE &&
	       g->nodes[g->ports[peer].node].type == NODE_SWITCH;
}

/* When it was discovered. */
static bool is_live(const struct opa_job *j, unsigned num)
{
	return num != 0 && graph_port_of(j, num)->state >= PORT_ARMED;
}

static void lanes_fail(struct opa_job *j, unsigned num, const char *what)
{
	struct program *p = j->p;

	if (lanes_vls(p->lanes) > 1 && p->lane_trouble == NULL) {
		p->lane_trouble = arena_printf(
			p->arena, "the routing uses %u lanes, but %s %s",
			lanes_vls(p->lanes), disc_place(p->disc, j->node, num), what);
		p->ret = p->lane_trouble == NULL ? -ENOMEM : p->ret;
	}
}

/* --- what a port should have ----------------------------------------------------------------- */

static void want_arb(struct opa_job *j, unsigned num, unsigned col, uint8_t *ret_bytes)
{
	const struct opa_profile *f = program_opa_profile(j->p, j->first_port + num);

	if (f->missing != 0) {
		lanes_fail(j, num, "has no room in its VL arbitration tables for all");
	}
	memcpy(ret_bytes, f->arb[col], OPA_BYTES_VL_ARB);
}

static void want_buffers(const struct opa_job *j, unsigned num, uint8_t *ret_bytes)
{
	const struct disc *d = j->p->disc;
	uint32_t peer = graph_port_of(j, num)->peer;
	const struct disc_port *far = disc_port_of(d, peer);
	const struct disc_node *far_node = d->of[d->g->ports[peer].node];
	bool shared = field_get(far->opa_info, OPA_PI_SHARED_SPACE);

	if (far_node->type == NODE_SWITCH && far_node->ports[0].opa_info != NULL) {
		shared |=
			field_get(far_node->ports[0].opa_info, OPA_PI_SHARED_SPACE) != 0;
	}
	opa_lanes_buffers(program_opa_profile(j->p, j->first_port + num),
	                  j->node->ports[num].opa_info, far->opa_info, shared, ret_bytes);
}

static bool has_vl_r(const struct opa_job *j)
{
	const uint8_t *info = j->node->ports[0].opa_info;

	return j->is_switch && info != NULL && field_get(info, OPA_PI_HAS_VL_R);
}

/* The table of a port. \return false: it has none, or it does not matter. */
static bool want(struct opa_job *j, const struct place *w, unsigned num,
                 uint8_t *ret_bytes)
{
	const struct program *p = j->p;
	bool cabled = is_cabled(j, num), port0 = j->is_switch && num == 0;
	uint32_t port = j->first_port + num;

	if (j->node->ports[num].opa_info == NULL || !j->node->ports[num].has_info ||
	    !(cabled || port0)) {
		return false;
	}
	switch ((unsigned)w->kind) {
	case TABLE_OPA_SL2SC:
		memcpy(ret_bytes, p->opa->sl_to_sc, OPA_BYTES_MAP);
		return port0 || !j->is_switch;
	case TABLE_OPA_SC2SL:
		memcpy(ret_bytes, p->opa->sc_to_sl, OPA_BYTES_MAP);
		return port0 || !j->is_switch;
	case TABLE_OPA_SC2VL_R:
		memcpy(ret_bytes, program_opa_profile(p, port)->sc_to_vl_r,
		       OPA_BYTES_MAP);
		return has_vl_r(j);
	case TABLE_OPA_SC2VL_T:
		memcpy(ret_bytes, program_opa_profile(p, port)->sc_to_vl, OPA_BYTES_MAP);
		return true;
	case TABLE_OPA_SC2VL_NT:
		if (cabled) {
			memcpy(ret_bytes,
			       program_opa_profile(p, graph_port_of(j, num)->peer)
			               ->sc_to_vl,
			       OPA_BYTES_MAP);
		}
		return cabled;
	case TABLE_OPA_VL_ARB:
		if (cabled) {
			want_arb(j, num, w->col, ret_bytes);
		}
		return cabled;
	case TABLE_OPA_BUFFERS:
		if (cabled) {
			want_buffers(j, num, ret_bytes);
		}
		return cabled;
	default: return false;
	}
}

/* --- requests -------------------------------------------------------------------------------- */

enum action { NOTHING, READ, WRITE };

static bool is_fixed_while_live(enum table_kind_id kind)
{
	return kind == TABLE_OPA_SC2VL_T || kind == TABLE_OPA_SC2VL_NT;
}

static bool is_of_port(enum table_kind_id kind)
{
	return table_kinds[kind].unit == TABLE_UNIT_PORT;
}

static struct table *table_of(const struct opa_job *j, enum table_kind_id kind,
                              unsigned num)
{
	struct table_store *s = j->p->tables.store;

	return is_of_port(kind) ? table_get(s, kind, j->node->guid, num, 1, 1)
	                        : table_get_egress(s, kind, j->node);
}

/* A link that has another map than it should have, and may not change it. */
static void keep_map(struct opa_job *j, unsigned num)
{
	struct program *p = j->p;

	if (lanes_vls(p->lanes) > 1) {
		p->opa_restart[j->first_port + num] = 1;
	} else if (p->first_trouble == NULL) {
		p->first_trouble = arena_printf(
			p->arena,
			"%s maps SCs to other VLs than it should, which can change only when its link comes up",
			disc_place(p->disc, j->node, num));
	}
}

/* What is to be done with the table of a port. ret_bytes: what it should have. */
static enum action action_of(struct opa_job *j, const struct place *w, unsigned num,
                             uint8_t ret_bytes[TABLE_BYTES_MOST])
{
	struct table *t = table_of(j, w->kind, num);
	uint32_t block;

	if (t == NULL) {
		j->p->ret = -ENOMEM;
		return NOTHING;
	}
	block = is_of_port(w->kind) ? 0 : table_at(t, num, w->col);
	if (!want(j, w, num, ret_bytes) || table_length(j->node, t, block) == 0 ||
	    table_holds(t, block, ret_bytes)) {
		return NOTHING;
	}
	if (!is_live(j, num)) {
		return num == 0 && j->is_switch && !table_knows(t, block) &&
		                       disc_lft_top(j->node) != 0
		               ? READ
		               : WRITE;
	}
	if (!table_is_sure(t, block)) {
		return is_fixed_while_live(w->kind) || !table_knows(t, block) ? READ
		                                                              : WRITE;
	}
	if (is_fixed_while_live(w->kind)) {
		keep_map(j, num);
		return NOTHING;
	}
	return WRITE;
}

static void send_next(struct opa_job *j);
static unsigned send_run(struct opa_job *j, unsigned place, unsigned row, unsigned end,
                         bool was_read);

/* Did a port take what it was given? */
static void check(struct opa_job *j, const struct opa_request *o, unsigned num)
{
	const struct place *w = &places[o->place];
	uint8_t image[TABLE_BYTES_MOST];
	uint32_t block = is_of_port(w->kind) ? 0 : table_at(o->q.t, num, w->col);

	if (want(j, w, num, image) && !table_holds(o->q.t, block, image) &&
	    w->kind != TABLE_OPA_VL_ARB && w->kind != TABLE_OPA_BUFFERS) {
		lanes_fail(j, num, "keeps other maps than it is given");
	}
}

static void on_tables(void *ctx, struct table_request *q, const struct smp_reply *r)
{
	struct opa_request *o = ctx;
	struct opa_job *j = o->j;
	unsigned end = o->row + (q->n != 0 ? q->n : 1);
	bool set = r->method == UMAD_METHOD_SET;

	j->in_flight--;
	j->stop |= r->ret == E_TIMEOUT;
	if (r->ret != E_OK) {
		lanes_fail(j, o->row,
		           set ? "does not take its maps" : "does not show its maps");
	} else if (set) {
		for (unsigned num = o->row; num < end; num++) {
			check(j, o, num);
		}
	} else {
		for (unsigned num = o->row; num < end && !j->stop && j->p->ret == E_OK;) {
			num = send_run(j, o->place, num, end, true);
		}
	}
	send_next(j);
}

/* Sends one request for the ports from \a row on, up to \a end, that need the same. \return The first port
 * behind those that are done. was_read: they are not read again. */
static unsigned send_run(struct opa_job *j, unsigned place, unsigned row, unsigned end,
                         bool was_read)
{
	const struct place *w = &places[place];
	uint8_t images[RUN_BYTES + TABLE_BYTES_MOST];
	size_t bytes = table_kinds[w->kind].bytes;
	enum action first = action_of(j, w, row, images), next = first;
	unsigned n = 0, most = table_run_most(w->kind);
	struct opa_request *o;
	struct table *t;

	if (first == NOTHING || (was_read && first == READ)) {
		return row + 1;
	}
	while (next == first && ++n < most && row + n < end) {
		next = action_of(j, w, row + n, images + n * bytes);
	}
	o = arena_alloc(j->p->arena, sizeof(*o));
	t = table_of(j, w->kind, row);
	if (o == NULL || t == NULL) {
		j->p->ret = -ENOMEM;
		return end;
	}
	*o = (struct opa_request){
		.q = { .io = &j->p->tables,
		       .node = j->node,
		       .t = t,
		       .block = is_of_port(w->kind) ? 0 : table_at(t, row, w->col),
		       .n = n,
		       .done = on_tables,
		       .ctx = o },
		.j = j,
		.place = (uint8_t)place,
		.row = (uint16_t)row
	};
	j->p->ret = table_submit(&o->q, first == WRITE ? images : NULL);
	j->in_flight += j->p->ret == E_OK;
	return row + n;
}

static void send_next(struct opa_job *j)
{
	unsigned most = j->is_switch ? (unsigned)IN_FLIGHT : (unsigned)PLACES;

	while (j->in_flight < most && !j->stop && j->p->ret == E_OK &&
	       j->place < PLACES) {
		if (j->row == j->end) {
			j->row = j->first;
			j->place++;
			continue;
		}
		j->row = (uint16_t)send_run(j, j->place, j->row, j->end, false);
	}
}

/* --- SCs between ports ------------------------------------------------------------------------ */

/* A request that sets the map of many pairs of ports at once. */
struct pairs {
	struct opa_job *j;
	struct shadow_switch *copy;
	bool plain; /* no SC changes anywhere */
};

static unsigned class_of(const struct opa_job *j, unsigned num)
{
	const struct graph *g = j->p->disc->g;

	return vl_class(j->p->lanes->rule, g->nodes[graph_port_of(j, num)->node].sw, num);
}

/* Does packets' way in or out lead over this port? */
static bool passes(const struct opa_job *j, unsigned num)
{
	return num == 0 || is_cabled(j, num);
}

static const uint8_t *pair_map(const struct opa_job *j, unsigned in, unsigned out)
{
	return j->p->opa->sc_to_sc[class_of(j, in)][class_of(j, out)];
}

/* Keeps the maps of all pairs as known. */
static void keep_pairs(const struct opa_job *j, struct table *t)
{
	for (unsigned out = 0; out < j->end; out++) {
		for (unsigned in = 0; passes(j, out) && in < j->end; in++) {
			if (passes(j, in)) {
				table_put(t, table_at(t, out, in), pair_map(j, in, out),
				          OPA_BYTES_MAP);
			}
		}
	}
}

static void on_pairs(void *ctx, const struct smp_reply *r)
{
	struct pairs *c = ctx;
	struct opa_job *j = c->j;
	struct table *t = table_find_egress(j->p->tables.store, TABLE_OPA_SC2SC, j->node);

	if (r->ret != E_OK) {
		(void)program_answered(j->p, j->node, 0, r->ret, r->status,
		                       "Set(SCtoSCMappingTable)");
		lanes_fail(j, 0, "does not take its maps of SCs");
		c->copy->plain_scs = false;
		if (t != NULL) {
			table_forget(t);
		}
		return;
	}
	c->copy->plain_scs = c->plain;
	if (c->plain) {
		table_clear(t); /* a rule from before does not hold any more */
	} else if (t != NULL) {
		keep_pairs(j, t);
	}
}

/* Knowledge of the maps of all pairs. */
struct pairs_known {
	bool hold; /* all are as they should be */
	bool any;
};

static struct pairs_known know_pairs(const struct opa_job *j, const struct table *t)
{
	struct pairs_known k = { .hold = true };

	for (unsigned out = 0; out < j->end; out++) {
		for (unsigned in = 0; passes(j, out) && in < j->end; in++) {
			uint32_t block = table_at(t, out, in);

			if (passes(j, in)) {
				k.hold &= table_holds(t, block, pair_map(j, in, out));
				k.any |= table_knows(t, block);
			}
		}
	}
	return k;
}

static void mark(uint8_t *mask, unsigned port)
{
	enum { MASK_BYTES = 32 };

	mask[MASK_BYTES - 1 - port / 8] |= (uint8_t)(1U << port % 8);
}

/* The block of two classes: ports in, ports out, map. */
static void fill_pair(const struct opa_job *j, unsigned in, unsigned out,
                      uint8_t *ret_bytes)
{
	for (unsigned num = 0; num < j->end; num++) {
		if (passes(j, num) && class_of(j, num) == in) {
			mark(ret_bytes, num);
		}
		if (passes(j, num) && class_of(j, num) == out) {
			mark(ret_bytes + OPA_BYTES_MAP, num);
		}
	}
	memcpy(ret_bytes + (size_t)2 * OPA_BYTES_MAP, j->p->opa->sc_to_sc[in][out],
	       OPA_BYTES_MAP);
}

static int submit_pairs(struct opa_job *j, struct smp_request *o, bool plain)
{
	struct pairs *c = arena_alloc(j->p->arena, sizeof(*c));

	if (c == NULL) {
		return -ENOMEM;
	}
	*c = (struct pairs){ .j = j,
		             .copy = shadow_switch_get(j->p->shadow, j->node->guid),
		             .plain = plain };
	if (c->copy == NULL) {
		return -ENOMEM;
	}
	o->dest = &j->node->dest;
	o->method = UMAD_METHOD_SET;
	o->retries = j->p->tables.retries;
	o->done = on_pairs;
	o->ctx = c;
	j->p->tables.n_sets[TABLE_OPA_SC2SC]++;
	return smp_submit(j->p->smp, o);
}

static int send_plain(struct opa_job *j)
{
	uint8_t map[OPA_BYTES_MAP];

	for (unsigned sc = 0; sc < OPA_BYTES_MAP; sc++) {
		map[sc] = (uint8_t)sc;
	}
	return submit_pairs(j,
	                    &(struct smp_request){ .attr = OPA_ATTR_SC_TO_SC,
	                                           .mod = OPA_MOD_ONE |
	                                                  OPA_MOD_SC_ALL_IN |
	                                                  OPA_MOD_SC_ALL_OUT,
	                                           .data = map,
	                                           .native_len = sizeof(map) },
	                    true);
}

/* A switch that takes maps of many pairs at once. */
static int send_classes(struct opa_job *j)
{
	enum { PAIRS = VL_CLASSES * VL_CLASSES };
	uint8_t data[PAIRS * OPA_BYTES_SC_SET] = { 0 };

	for (unsigned i = 0; i < PAIRS; i++) {
		fill_pair(j, i / VL_CLASSES, i % VL_CLASSES,
		          data + (size_t)i * OPA_BYTES_SC_SET);
	}
	return submit_pairs(j,
	                    &(struct smp_request){ .attr = OPA_ATTR_SC_TO_SC_SET,
	                                           .mod = PAIRS << OPA_MOD_COUNT_SHIFT,
	                                           .data = data,
	                                           .native_len = sizeof(data) },
	                    false);
}

static void on_pair(void *ctx, struct table_request *q, const struct smp_reply *r)
{
	struct opa_job *j = ctx;

	(void)q;
	if (r->ret != E_OK) {
		lanes_fail(j, 0, "does not take its maps of SCs");
	}
}

/* Any other one gets those of each port in by itself. */
static int send_pairs(struct opa_job *j, struct table *t)
{
	uint8_t images[RUN_BYTES];
	unsigned most = table_run_most(TABLE_OPA_SC2SC);
	int ret = E_OK;

	for (unsigned in = 0; in < j->end; in++) {
		for (unsigned out = 0; passes(j, in) && out < j->end && ret == E_OK;) {
			struct table_request q = { .io = &j->p->tables,
				                   .node = j->node,
				                   .t = t,
				                   .block = table_at(t, out, in),
				                   .done = on_pair,
				                   .ctx = j };

			while (q.n < most && out + q.n < j->end && passes(j, out + q.n)) {
				memcpy(images + (size_t)q.n * OPA_BYTES_MAP,
				       pair_map(j, in, out + q.n), OPA_BYTES_MAP);
				q.n++;
			}
			if (q.n != 0) {
				ret = table_ask(&q, images);
			}
			out += q.n != 0 ? q.n : 1;
		}
	}
	return ret;
}

static int set_pairs(struct opa_job *j, struct table *t)
{
	return t == NULL ? send_plain(j)
	       : field_get(j->node->opa_switch_info, OPA_SI_EXTENDED_SC_SC)
	               ? send_classes(j)
	               : send_pairs(j, t);
}

/* The maps of a switch being read, of which nothing is known. They are set if one is another. */
struct pairs_read {
	struct opa_job *j;
	struct table *t;  /* NULL: all are to pass SCs on as they are */
	uint16_t in, out; /* the next ones */
	uint8_t in_flight;
	bool differs, silent;
};

static bool is_wanted(const struct pairs_read *c, unsigned in, unsigned out,
                      const uint8_t *map)
{
	for (unsigned sc = 0; c->t == NULL && sc < OPA_BYTES_MAP; sc++) {
		if (map[sc] != sc) {
			return false;
		}
	}
	return c->t == NULL || memcmp(map, pair_map(c->j, in, out), OPA_BYTES_MAP) == 0;
}

static void read_pairs(struct pairs_read *c);

static void on_pairs_read(void *ctx, const struct smp_reply *r)
{
	enum { PORT = 0xff, IN_SHIFT = 8 };
	struct pairs_read *c = ctx;
	struct opa_job *j = c->j;
	unsigned in = r->mod >> IN_SHIFT & PORT, out = r->mod & PORT,
		 n = r->mod >> OPA_MOD_COUNT_SHIFT;

	c->in_flight--;
	c->silent |= r->ret == E_TIMEOUT;
	c->differs |= r->ret != E_OK || r->native == NULL ||
	              r->native_len < (size_t)n * OPA_BYTES_MAP;
	if (r->ret != E_OK) {
		(void)program_answered(j->p, j->node, 0, r->ret, r->status,
		                       "Get(SCtoSCMappingTable)");
	}
	for (unsigned i = 0; i < n && !c->differs; i++) {
		c->differs |=
			!is_wanted(c, in, out + i, r->native + (size_t)i * OPA_BYTES_MAP);
	}
	read_pairs(c);
}

/* Ports out that follow each other, for the next port in. \return 0: all were asked for. */
static unsigned next_pairs(struct pairs_read *c)
{
	const struct opa_job *j = c->j;
	unsigned n = 0, most = table_run_most(TABLE_OPA_SC2SC);

	while (c->in < j->end && (!passes(j, c->in) || !passes(j, c->out))) {
		bool is_last = !passes(j, c->in) || c->out + 1U == j->end;

		c->in += is_last;
		c->out = is_last ? 0 : (uint16_t)(c->out + 1);
	}
	while (c->in < j->end && n < most && c->out + n < j->end &&
	       passes(j, c->out + n)) {
		n++;
	}
	return n;
}

static void end_pairs_read(struct pairs_read *c)
{
	struct opa_job *j = c->j;

	if (c->silent) {
		lanes_fail(j, 0, "does not show its maps of SCs");
	} else if (c->differs) {
		int ret = set_pairs(j, c->t);

		j->p->ret = ret != E_OK ? ret : j->p->ret;
	} else if (c->t == NULL) {
		shadow_switch_get(j->p->shadow, j->node->guid)->plain_scs =
			true; /* it is there */
	} else {
		keep_pairs(j, c->t);
	}
}

static void read_pairs(struct pairs_read *c)
{
	struct opa_job *j = c->j;
	unsigned n = 0;

	while (c->in_flight < IN_FLIGHT && !c->differs && j->p->ret == E_OK &&
	       (n = next_pairs(c)) != 0) {
		j->p->ret = smp_submit(
			j->p->smp, &(struct smp_request){
					   .dest = &j->node->dest,
					   .method = UMAD_METHOD_GET,
					   .attr = OPA_ATTR_SC_TO_SC,
					   .mod = table_kind_mod(TABLE_OPA_SC2SC, j->node,
		                                                 0, c->out, c->in) +
		                                  ((n - 1) << OPA_MOD_COUNT_SHIFT),
					   .native_len = (size_t)n * OPA_BYTES_MAP,
					   .retries = j->p->tables.retries,
					   .done = on_pairs_read,
					   .ctx = c });
		c->in_flight += j->p->ret == E_OK;
		c->out = (uint16_t)(c->out + n);
		if (c->out == j->end) {
			c->out = 0;
			c->in++;
		}
	}
	if (c->in_flight == 0 && j->p->ret == E_OK) {
		end_pairs_read(c);
	}
}

static int start_pairs_read(struct opa_job *j, struct table *t)
{
	struct pairs_read *c = arena_alloc(j->p->arena, sizeof(*c));

	if (c == NULL) {
		return -ENOMEM;
	}
	*c = (struct pairs_read){ .j = j, .t = t };
	read_pairs(c);
	return j->p->ret;
}

static int start_pairs(struct opa_job *j)
{
	struct shadow_switch *copy = shadow_switch_get(j->p->shadow, j->node->guid);
	bool forwards = disc_lft_top(j->node) != 0;
	struct pairs_known known;
	struct table *t;

	if (copy == NULL) {
		return -ENOMEM;
	}
	if (!j->p->opa->ruled) {
		/* a switch without tables is as it was after power-on */
		copy->plain_scs |= !forwards;
		return copy->plain_scs ? E_OK : start_pairs_read(j, NULL);
	}
	copy->plain_scs = false;
	t = table_get_egress(j->p->tables.store, TABLE_OPA_SC2SC, j->node);
	if (t == NULL) {
		return -ENOMEM;
	}
	known = know_pairs(j, t);
	if (known.hold) {
		return E_OK;
	}
	return forwards && !known.any ? start_pairs_read(j, t) : set_pairs(j, t);
}

/* --- nodes -------------------------------------------------------------------------------------- */

/* Links between switches must have the VLs of the routing. */
static void check_vls(struct opa_job *j)
{
	struct program *p = j->p;

	for (unsigned num = 1; num < j->end && j->is_switch; num++) {
		if (!is_cabled(j, num) || !faces_switch(j, num)) {
			continue;
		}
		uint8_t vls = program_opa_profile(p, j->first_port + num)->link.vls;

		if (vls < lanes_vls(p->lanes)) {
			if (p->lanes_there == 0 || vls < p->lanes_there) {
				p->lanes_there = vls;
			}
			lanes_fail(j, num, "has fewer operational VLs");
		}
	}
}

static int start_ports(struct program *p, uint32_t node, unsigned first, unsigned end)
{
	struct disc_node *n = p->disc->of[node];
	const struct disc_port *agent = &n->ports[n->type == NODE_SWITCH ? 0 : first];
	struct opa_job *j;

	if (agent->dest == NULL || !agent->has_info || agent->opa_info == NULL) {
		return E_OK;
	}
	j = arena_alloc(p->arena, sizeof(*j));
	if (j == NULL) {
		return -ENOMEM;
	}
	*j = (struct opa_job){ .p = p,
		               .node = n,
		               .first_port = p->disc->g->nodes[node].first_port,
		               .is_switch = n->type == NODE_SWITCH,
		               .first = (uint16_t)first,
		               .row = (uint16_t)first,
		               .end = (uint16_t)end };
	check_vls(j);
	if (j->is_switch && n->opa_switch_info != NULL) {
		int ret = start_pairs(j);

		if (ret != E_OK) {
			return ret;
		}
	}
	send_next(j);
	return p->ret;
}

int program_opa_qos(struct program *p, uint32_t sls)
{
	const struct graph *g = p->disc->g;
	struct opa_lanes *l;
	int ret;

	if (!smp_is_omni_path(p->smp)) {
		return E_OK;
	}
	l = arena_alloc(p->arena, sizeof(*l));
	p->opa_restart = arena_array(p->arena, g->n_ports, sizeof(*p->opa_restart));
	if (l == NULL || p->opa_restart == NULL) {
		return -ENOMEM;
	}
	if (!opa_lanes_init(l, p->lanes, p->qos ? p->config->virtual_fabrics : NULL,
	                    sls)) {
		p->lane_trouble =
			"the routing and the QoS levels in use need more than the 31 SCs that Omni-Path has";
		return E_OK;
	}
	ret = program_opa_begin(p, l);
	for (uint32_t i = 0; i < p->n_nodes && ret == E_OK; i++) {
		ret = program_each_agent(p, p->nodes[i], start_ports);
	}
	return ret;
}
