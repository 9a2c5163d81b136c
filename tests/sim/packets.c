/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/packets.h"

#include <infiniband/umad_sm.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/tables.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "tests/sim/simulate.h"

enum {
	CREDITS = 2,
	LFT_ENTRIES = 64,
	BLOCKS = 4,
	LIDS = LFT_ENTRIES * BLOCKS,
	HOPS_MAX = 64 /* a packet that circles is lost */
};

struct packet {
	uint32_t lid; /* of its destination */
	uint32_t out; /* egress port of the switch where it is, GRAPH_NONE: none */
	uint32_t hops;
};

/* The packets that came in through a port of a switch, the oldest first. */
struct buffer {
	struct packet at[CREDITS];
	uint32_t n;
};

struct packets {
	struct arena *arena;
	struct buffer *buffer; /* [n_ports] */
	bool *active;          /* [n_ports] both ends of its cable are ACTIVE */
	bool *moves;           /* [n_ports] the oldest packet of its buffer will move on */
	uint8_t (*lft)[LIDS];  /* [n_nodes] as they stand in the switches */
	uint32_t *senders;     /* [n_senders] active ports of hosts that have a LID */
	uint32_t *lid;         /* [n_senders] their LIDs */
	uint32_t n_senders;
	uint64_t seen; /* sim_changes() when the four above were read */
	uint64_t random;
	uint64_t delivered;
};

struct packets *packets_new(const struct run *r)
{
	struct arena *a = arena_new();
	struct packets *p = a != NULL ? arena_alloc(a, sizeof(*p)) : NULL;
	uint32_t n_ports = r->g->n_ports;

	if (p == NULL) {
		arena_free(a);
		return NULL;
	}
	p->arena = a;
	p->random = UINT64_C(88172645463325252);
	p->buffer = arena_array(a, n_ports, sizeof(*p->buffer));
	p->active = arena_array(a, n_ports, sizeof(*p->active));
	p->moves = arena_array(a, n_ports, sizeof(*p->moves));
	p->lft = arena_array(a, r->g->n_nodes, sizeof(*p->lft));
	p->senders = arena_array(a, n_ports, sizeof(*p->senders));
	p->lid = arena_array(a, n_ports, sizeof(*p->lid));
	if (p->buffer == NULL || p->active == NULL || p->moves == NULL || p->lft == NULL ||
	    p->senders == NULL || p->lid == NULL) {
		arena_free(a);
		return NULL;
	}
	return p;
}

void packets_free(struct packets *p)
{
	if (p != NULL) {
		arena_free(p->arena);
	}
}

uint64_t packets_delivered(const struct packets *p)
{
	return p->delivered;
}

/* --- the devices ------------------------------------------------------------------------- */

static uint64_t peek(const struct run *r, uint32_t port, unsigned bit, unsigned width)
{
	const struct port *x = &r->g->ports[port];
	uint8_t info[SMP_DATA_BYTES];

	return sim_peek(r->sim, r->g->nodes[x->node].guid, UMAD_SM_ATTR_PORT_INFO, x->num,
	                info) == E_OK
	               ? field_get(info, bit, width)
	               : 0;
}

static bool is_active(const struct run *r, uint32_t port)
{
	uint32_t peer = r->g->ports[port].peer;

	return peer != GRAPH_NONE && !r->cut[port] && !r->cut[peer] &&
	       !r->down[r->g->ports[port].node] && !r->down[r->g->ports[peer].node] &&
	       peek(r, port, PI_PORT_STATE) == PORT_ACTIVE &&
	       peek(r, peer, PI_PORT_STATE) == PORT_ACTIVE;
}

/* Reads links, LIDs and tables again. A link that is not active any more loses its packets. */
static void read_devices(const struct run *r, struct packets *p)
{
	const struct graph *g = r->g;

	p->n_senders = 0;
	for (uint32_t i = 0; i < g->n_ports; i++) {
		p->active[i] = is_active(r, i);
		if (!p->active[i]) {
			p->buffer[i].n = 0;
		}
		if (p->active[i] && g->nodes[g->ports[i].node].type != NODE_SWITCH) {
			p->lid[p->n_senders] = sim_peek_lid(r->sim, i);
			p->senders[p->n_senders] = i;
			p->n_senders += p->lid[p->n_senders] != 0 &&
			                p->lid[p->n_senders] < LIDS;
		}
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t node = g->switches[s];

		for (uint32_t b = 0; b < BLOCKS; b++) {
			if (sim_peek(r->sim, g->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT, b,
			             p->lft[node] + b * LFT_ENTRIES) != E_OK) {
				memset(p->lft[node] + b * LFT_ENTRIES, LFT_NO_ROUTE,
				       LFT_ENTRIES);
			}
		}
	}
}

/* --- packets ----------------------------------------------------------------------------- */

static uint32_t draw(struct packets *p, uint32_t n)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (uint32_t)((p->random >> 32) * n >> 32);
}

/* The port from which a packet at this node goes on. */
static uint32_t egress(const struct run *r, const struct packets *p, uint32_t node,
                       uint32_t lid)
{
	uint8_t num = p->lft[node][lid];
	uint32_t port = num != 0 && num <= r->g->nodes[node].n_ports
	                        ? r->g->nodes[node].first_port + num
	                        : GRAPH_NONE;

	return port != GRAPH_NONE && p->active[port] ? port : GRAPH_NONE;
}

/* The buffer that a packet waits for, GRAPH_NONE: none, because it arrives or is lost. */
static uint32_t next_buffer(const struct run *r, const struct packets *p,
                            const struct packet *x)
{
	uint32_t peer;

	if (x->out == GRAPH_NONE || !p->active[x->out] || x->hops > HOPS_MAX) {
		return GRAPH_NONE;
	}
	peer = r->g->ports[x->out].peer;
	return r->g->nodes[r->g->ports[peer].node].type == NODE_SWITCH ? peer : GRAPH_NONE;
}

static void enter(const struct run *r, struct packets *p, uint32_t port, struct packet x)
{
	struct buffer *b = &p->buffer[port];

	x.out = egress(r, p, r->g->ports[port].node, x.lid);
	x.hops++;
	b->at[b->n++] = x;
}

static void step_buffer(const struct run *r, struct packets *p, uint32_t port)
{
	struct buffer *b = &p->buffer[port];
	struct packet x = b->at[0];
	uint32_t next = b->n != 0 ? next_buffer(r, p, &x) : GRAPH_NONE;

	if (b->n == 0 || (next != GRAPH_NONE && p->buffer[next].n == CREDITS)) {
		return;
	}
	memmove(b->at, b->at + 1, --b->n * sizeof(*b->at));
	if (next != GRAPH_NONE) {
		enter(r, p, next, x);
	} else if (x.out != GRAPH_NONE && x.hops <= HOPS_MAX) {
		p->delivered += p->active[x.out];
	}
}

/* Every host sends to any other whenever its switch has room. */
static void send_packets(const struct run *r, struct packets *p)
{
	for (uint32_t i = 0; i < p->n_senders; i++) {
		uint32_t peer = r->g->ports[p->senders[i]].peer;
		uint32_t to = draw(p, p->n_senders);

		if (to != i && r->g->nodes[r->g->ports[peer].node].type == NODE_SWITCH &&
		    p->buffer[peer].n < CREDITS) {
			enter(r, p, peer, (struct packet){ .lid = p->lid[to] });
		}
	}
}

/* --- deadlock ---------------------------------------------------------------------------- */

/* A packet will move on if it waits for nothing, for a buffer with room, or for one whose oldest
 * packet will move on. The others wait for ever. \return A buffer of those, GRAPH_NONE: none. */
static uint32_t find_stuck(const struct run *r, struct packets *p)
{
	uint32_t n_ports = r->g->n_ports;
	bool more = true;

	memset(p->moves, 0, n_ports * sizeof(*p->moves));
	while (more) {
		more = false;
		for (uint32_t i = 0; i < n_ports; i++) {
			const struct buffer *b = &p->buffer[i];
			uint32_t next = b->n != 0 ? next_buffer(r, p, &b->at[0]) : GRAPH_NONE;

			if (!p->moves[i] && (next == GRAPH_NONE || p->buffer[next].n < CREDITS ||
			                     p->moves[next])) {
				p->moves[i] = true;
				more = true;
			}
		}
	}
	for (uint32_t i = 0; i < n_ports; i++) {
		if (!p->moves[i]) {
			return i;
		}
	}
	return GRAPH_NONE;
}

/* Names the circle of buffers in which the packets wait for each other. */
static void tell_deadlock(struct run *r, const struct packets *p, uint32_t stuck)
{
	const struct graph *g = r->g;
	char text[360] = "";
	uint32_t at = stuck;

	for (uint32_t i = 0; i < g->n_ports; i++) { /* now it is on the circle */
		at = next_buffer(r, p, &p->buffer[at].at[0]);
	}
	stuck = at;
	do {
		const struct packet *x = &p->buffer[at].at[0];
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%s'%s' port %u holds %u for LID %u",
		         n ? ", " : "", g->nodes[g->ports[at].node].description,
		         g->ports[at].num, p->buffer[at].n, x->lid);
		at = next_buffer(r, p, x);
	} while (at != stuck);
	run_fail(r, "a deadlock of packets: %s", text);
}

bool packets_move(struct run *r, struct packets *p, unsigned steps)
{
	uint32_t stuck;

	if (p->seen != sim_changes(r->sim)) {
		p->seen = sim_changes(r->sim);
		read_devices(r, p);
	}
	for (unsigned k = 0; k < steps; k++) {
		uint32_t first = draw(p, r->g->n_ports);

		for (uint32_t i = 0; i < r->g->n_ports; i++) {
			step_buffer(r, p, (first + i) % r->g->n_ports);
		}
		send_packets(r, p);
	}
	stuck = find_stuck(r, p);
	if (stuck != GRAPH_NONE) {
		tell_deadlock(r, p, stuck);
	}
	return stuck == GRAPH_NONE;
}

void packets_clear(struct run *r)
{
	if (r->packets != NULL) {
		memset(r->packets->buffer, 0,
		       r->g->n_ports * sizeof(*r->packets->buffer));
	}
}
