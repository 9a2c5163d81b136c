/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as what two programs on two simulated hosts do with their umad devices: MADs
 * of all kinds (segments and acknowledgements of RMPP among them), agents that come and
 * go, time that passes, losses. No crash; in the end, when all time has passed, no
 * request waits any more, and no program was given a MAD that its agent did not ask for.
 *
 * Input: steps of a byte that says what and for whom, a byte of arguments, and for a MAD
 * the bytes that differ from a request of the SA.
 */
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "sa/sim/sim_kernel_int.h"
#include "tests/fuzz/fuzz.h"

enum { FILES = 2, AGENTS = 4, STEP_US = 10000, END_US = 1u << 30, GET_TABLE = 0x12 };

struct input {
	const uint8_t *data;
	size_t size, at;
};

struct play {
	struct sim *s;
	struct kernel *k;
	struct kernel_file *files[FILES];
	uint32_t ports[FILES];
	uint64_t now_us;
};

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static uint8_t next(struct input *in)
{
	return in->at < in->size ? in->data[in->at++] : 0;
}

/* Host - switch - host, as an SM would have left it: LIDs 1, 2, 3. */
static struct graph *fabric(struct arena *a)
{
	struct graph *g = graph_new(a);
	uint32_t sw, host;
	require(g && graph_add_node(g, NODE_SWITCH, 2, 2, "s", "s", &sw) == E_OK);
	for (unsigned i = 0; i < FILES; i++) {
		require(graph_add_node(g, NODE_CA, 16 + 16 * i, 1, "h", NULL, &host) ==
		        E_OK);
		require(graph_connect(g, graph_port(g, host, 1),
		                      graph_port(g, sw, i + 1)) == E_OK);
	}
	require(graph_freeze(g, NULL) == E_OK);
	for (uint32_t p = 0; p < g->n_ports; p++) {
		g->ports[p].state = PORT_ACTIVE;
		if (graph_is_end_port(g, p)) {
			g->ports[p].lid = 1 + g->ports[p].node;
		}
	}
	return g;
}

static void program(struct play *p, const struct graph *g)
{
	static const uint8_t block[64] = { 0xFF, 0, 1, 2 };
	uint8_t data[64], top[64] = { 0 };
	struct sim_at at = { .node = g->switches[0] };
	memcpy(data, block, sizeof(data));
	field_set(top, SI_LINEAR_FDB_TOP, 3);
	require(sim_attr(p->s, &at, true, UMAD_SM_ATTR_LINEAR_FT, 0, data) == 0);
	require(sim_attr(p->s, &at, true, UMAD_SM_ATTR_SWITCH_INFO, 0, top) == 0);
	for (unsigned i = 0; i < FILES; i++) {
		p->ports[i] = graph_port_by_guid(g, 17 + 16 * i);
		require(p->ports[i] != GRAPH_NONE);
		require(kernel_open(p->k, p->ports[i], NULL, &p->files[i]) == E_OK);
	}
}

static void enrol(struct play *p, unsigned file, uint8_t how)
{
	uint32_t id;
	struct kernel_agent_row row = {
		.qpn = 1,
		.mgmt_class =
			how & 64 ? UMAD_CLASS_VENDOR_RANGE2_START : UMAD_CLASS_SUBN_ADM,
		.mgmt_class_version = 2,
		.rmpp_version = how & 1,
		.user_rmpp = (how & 2) != 0,
		.method_mask = { how & 4 ? ~0ull : 0, 0 },
	};
	if (how & 128) {
		kernel_unregister(p->files[file], how >> 3 & (AGENTS - 1));
	} else {
		kernel_register(p->files[file], &row, &id);
	}
}

static void write_mad(struct play *p, struct input *in, unsigned file, uint8_t how)
{
	uint8_t mad[4096] = { 1, UMAD_CLASS_SUBN_ADM, 2, GET_TABLE };
	uint8_t extra = next(in), n = next(in) & 63;
	size_t len = extra & 128 ? 36 + (size_t)(extra & 127) * 31 : MAD_BYTES;

	mad[15] = extra & 7; /* few transaction ids, so that they meet */
	mad[24] = mad[25] = mad[26] = 1;
	for (unsigned i = 0; i < n; i++) {
		mad[i < 40 ? i : i * 3] ^= next(in);
	}
	struct kernel_send_row row = {
		.agent = how & (AGENTS - 1),
		.timeout_ms = how & 16 ? 50 : 0,
		.retries = how >> 5 & 3,
		.addr = { .lid = how & 128 ? 1 : 2 + (how >> 2 & 1), .qpn = 1 },
		.mad = mad,
		.len = len,
	};
	kernel_write(p->files[file], &row);
}

/* Takes what has come; an answer to it goes back when \a answer says so. */
static void take(struct play *p, unsigned file, uint8_t answer)
{
	const struct mad_buf *m;
	while ((m = kernel_peek(p->files[file])) != NULL) {
		uint8_t mad[1 << 13];
		size_t len = m->len < sizeof(mad) ? m->len : sizeof(mad);
		uint32_t agent = m->agent, lid = m->addr.lid;
		require(m->len >= 24 && agent < KERNEL_AGENTS_MAX);
		memcpy(mad, m->data, len);
		int status = m->status;
		kernel_pop(p->files[file]);
		if (status != 0 || mad_is_response(mad) || !(answer & 1) ||
		    len < MAD_BYTES) {
			continue;
		}
		mad[3] |= UMAD_METHOD_RESP_MASK;
		mad[26] = answer & 2;
		mad[24] = mad[25] = 1;
		mad[26] = answer >> 1 & 1;
		struct kernel_send_row row = {
			.agent = agent,
			.addr = { .lid = lid, .qpn = 1 },
			.mad = mad,
			.len = answer & 2 ? MAD_BYTES + (size_t)(answer >> 2) * 120 : len,
		};
		kernel_write(p->files[file], &row);
	}
}

static void step(struct play *p, struct input *in)
{
	uint8_t what = next(in), how = next(in);
	unsigned file = what & 1;

	switch (what >> 1 & 7) {
	case 0:
	case 1:
	case 2: write_mad(p, in, file, how); break;
	case 3: enrol(p, file, how); break;
	case 4:
	case 5: take(p, file, how); break;
	case 6: p->s->o.drop_ppm = (uint32_t)how * 2000; break;
	default:
		p->now_us += (uint64_t)how * STEP_US;
		kernel_run(p->k, p->now_us);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .data = data, .size = size };
	struct play p = { .now_us = 0 };
	struct arena *a = arena_new();
	const struct graph *g = fabric(a);
	const struct sim_options o = { .virtual_clock = true, .seed = 1 };

	require(sim_new(g, &o, true, &p.s) == E_OK);
	require(kernel_new(p.s, NULL, &p.k) == E_OK);
	program(&p, g);
	while (in.at < in.size) {
		step(&p, &in);
	}
	/* Whatever retries there are, this is the end of them. */
	kernel_run(p.k, p.now_us + END_US);
	for (uint32_t i = 0; i < p.k->n_sends; i++) {
		require(p.k->sends[i]->agent == NULL);
	}
	take(&p, 0, 0);
	take(&p, 1, 0);
	kernel_free(p.k);
	sim_free(p.s);
	arena_free(a);
	return 0;
}
