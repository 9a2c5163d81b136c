/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/vports.h"

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sim/sim.h"
#include "tests/sim/simulate.h"

enum { LFT_ENTRIES = 64 };

static uint64_t guid_of(unsigned k)
{
	return UINT64_C(0x0a00000000000000) + k + 1;
}

static uint32_t pick_host(const struct run *r, uint32_t what)
{
	const struct graph *g = r->g;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[(what + i) % g->n_end_ports];

		if (graph_is_host(g, port)) {
			return port;
		}
	}
	return GRAPH_NONE;
}

bool vports_disturb(struct run *r, uint32_t what, bool may_lie)
{
	struct sim_vports *v = &r->vports;
	unsigned k = (what >> 4) % VPORTS_KNOWN;
	uint32_t port = pick_host(r, what >> 12);
	uint64_t host = r->g->nodes[r->g->ports[port].node].guid;
	uint8_t num = r->g->ports[port].num;

	if (may_lie && what % 8 == 0) {
		(void)sim_vport_lie(r->sim, host, num,
		                    (enum sim_vport_lie)((what >> 8) % 4));
		for (unsigned i = 0; i < VPORTS_KNOWN; i++) {
			v->known[i].misled |= v->known[i].host == host;
		}
		return true;
	}
	if (v->known[k].host != 0) {
		(void)sim_vport_remove(r->sim, v->known[k].host,
		                       r->g->ports[v->known[k].port].num,
		                       v->known[k].index);
		v->known[k].host = 0;
		if (what & 1) {
			return true;
		}
	}
	v->known[k].own = k % 3 != 0;
	if (sim_vport_add(r->sim, host, num, guid_of(k), v->known[k].own,
	                  &v->known[k].index) == E_OK) {
		v->known[k].host = host;
		v->known[k].port = port;
		v->known[k].misled |= may_lie; /* perhaps its host lies already */
	}
	return true;
}

void vports_forget_lids(struct run *r)
{
	for (unsigned i = 0; i < VPORTS_KNOWN; i++) {
		r->vports.known[i].lid = 0;
	}
}

void vports_settle(struct run *r)
{
	for (uint32_t i = 0; i < r->g->n_end_ports; i++) {
		const struct port *p = &r->g->ports[r->g->end_ports[i]];

		(void)sim_vport_lie(r->sim, r->g->nodes[p->node].guid, p->num,
		                    SIM_VPORT_TRUTH);
	}
}

/* VPortInfo of a known virtual port. \return false: it is nowhere, or its host lies. */
static bool info_of(const struct run *r, unsigned k, uint8_t info[SMP_DATA_BYTES])
{
	return r->vports.known[k].host != 0 &&
	       sim_peek(r->sim, r->vports.known[k].host, VPORT_ATTR_INFO,
	                r->vports.known[k].index, info) == E_OK &&
	       field_get(info, VPI_GUID) == guid_of(k);
}

static bool is_reached(const struct run *r, unsigned k, const bool *reached)
{
	uint32_t port = r->vports.known[k].port, peer = r->g->ports[port].peer;

	return r->vports.known[k].host != 0 && reached[r->g->ports[port].node] &&
	       peer != GRAPH_NONE && !r->cut[port];
}

bool vports_are_up(struct run *r, const bool *reached)
{
	uint8_t info[SMP_DATA_BYTES];

	for (unsigned k = 0; k < VPORTS_KNOWN; k++) {
		if (is_reached(r, k, reached) &&
		    (!info_of(r, k, info) || field_get(info, VPI_STATE) != PORT_ACTIVE)) {
			return false;
		}
	}
	return true;
}

static uint32_t port_lid(const struct run *r, uint32_t port)
{
	const struct port *p = &r->g->ports[port];
	uint8_t info[SMP_DATA_BYTES] = { 0 };

	(void)sim_peek(r->sim, r->g->nodes[p->node].guid, UMAD_SM_ATTR_PORT_INFO, p->num,
	               info);
	return (uint32_t)field_get(info, PI_LID);
}

static uint8_t entry(const struct run *r, uint64_t sw, uint32_t lid)
{
	uint8_t block[SMP_DATA_BYTES];

	return sim_peek(r->sim, sw, UMAD_SM_ATTR_LINEAR_FT, lid / LFT_ENTRIES, block) ==
	                       E_OK
	               ? block[lid % LFT_ENTRIES]
	               : 0xff;
}

/* The LID of a virtual port is nobody else's. */
static bool check_unique(struct run *r, unsigned k, uint32_t lid)
{
	for (unsigned i = 0; i < k; i++) {
		if (r->vports.known[i].lid == lid) {
			return run_fail(r, "virtual ports %u and %u both have LID %u", i,
			                k, lid);
		}
	}
	for (uint32_t i = 0; i < r->g->n_end_ports; i++) {
		if (r->lid[r->g->end_ports[i]] == lid) {
			return run_fail(
				r, "virtual port %u and port 0x%llx both have LID %u", k,
				(unsigned long long)r->g->ports[r->g->end_ports[i]].guid,
				lid);
		}
	}
	return true;
}

/* What readers of the snapshot see, and where switches send packets. */
static bool check_settled(struct run *r, unsigned k, uint32_t lid, const bool *reached)
{
	uint32_t base = port_lid(r, r->vports.known[k].port);
	struct snap_reader *reader;
	struct snap_end end;
	bool good;

	for (uint32_t i = 0; lid != base && i < r->g->n_switches; i++) {
		uint64_t sw = r->g->nodes[r->g->switches[i]].guid;

		if (reached[r->g->switches[i]] &&
		    entry(r, sw, lid) != entry(r, sw, base)) {
			return run_fail(
				r, "LID %u of virtual port %u is not routed as LID %u",
				lid, k, base);
		}
	}
	if (snap_reader_local(r->judge->snap, &reader) != E_OK) {
		return run_fail(r, "out of memory");
	}
	good = snap_pin(reader) == E_OK &&
	       snap_port_guid(reader, guid_of(k), &end) == E_OK && end.base_lid == lid &&
	       end.is_vport && end.node_guid == r->vports.known[k].host;
	snap_reader_close(reader);
	return good ||
	       run_fail(r, "the SA does not know virtual port %u by LID %u", k, lid);
}

bool vports_check(struct run *r, const bool *reached, bool settled)
{
	uint8_t info[SMP_DATA_BYTES];

	for (unsigned k = 0; k < VPORTS_KNOWN; k++) {
		uint32_t lid;

		if (!is_reached(r, k, reached) || !info_of(r, k, info)) {
			continue;
		}
		if (field_get(info, VPI_STATE) != PORT_ACTIVE) {
			if (settled) {
				return run_fail(r, "virtual port %u is not ACTIVE", k);
			}
			continue;
		}
		lid = (uint32_t)field_get(info, VPI_LID);
		r->vports.known[k].misled &= !settled;
		if (r->vports.known[k].own && r->vports.known[k].misled) {
			continue;
		}
		if (r->vports.known[k].own) {
			if (r->vports.known[k].lid != 0 &&
			    r->vports.known[k].lid != lid) {
				return run_fail(
					r, "virtual port %u had LID %u and has LID %u", k,
					r->vports.known[k].lid, lid);
			}
			if (!check_unique(r, k, lid)) {
				return false;
			}
			r->vports.known[k].lid = lid;
		} else if (field_get(info, VPI_LID_BY_INDEX) != 0) {
			continue; /* a corrupted Set made it share the LID of another one */
		} else {
			lid = port_lid(r, r->vports.known[k].port);
		}
		if (settled && !check_settled(r, k, lid, reached)) {
			return false;
		}
	}
	return true;
}
