/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/vports.h"

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/sim/sim.h"
#include "sa/store/alias.h"
#include "sa/store/store.h"
#include "tests/sim/simulate.h"

enum { LFT_ENTRIES = 64, PLACE = 3 /* of the alias GUID */ };

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

static void on_disk(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

/* A client wants an alias GUID for a virtual port, or none, of all subnet managers that run. */
static bool want_alias(struct run *r, unsigned k, uint32_t what)
{
	uint64_t guid = what % 4 == 0 ? 0 : guid_of(k) + (1ull << 32) + (what % 4 << 8);

	for (unsigned i = 0; i < r->n_managers; i++) {
		struct sa_store *st = r->m[i].clients.store;
		struct state_batch *batch;
		struct alias_block b;
		int ret = E_OK;

		if (r->m[i].sweep == NULL) {
			continue;
		}
		(void)alias_block(st, guid_of(k), 0, &b);
		field_set(b.guid, 64 * PLACE, 64, guid);
		b.owned |= 1 << PLACE;
		if (alias_block_put(st, guid_of(k), 0, &b) != E_OK) {
			return run_fail(r, "out of memory");
		}
		batch = store_take_changes(st);
		if (batch != NULL) {
			state_batch_commit(r->m[i].state, batch, on_disk, &ret);
			state_flush(r->m[i].state);
		}
		if (ret != E_OK && store_reload(st) != E_OK) {
			return run_fail(r, "the records of clients cannot be read again");
		}
	}
	return true;
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
	if (r->config.virt_unverified_layouts && what >> 30 == 0) {
		return want_alias(r, k, what);
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

/* The adapter holds the alias GUID that the judge's clients want, and readers find the virtual port
 * by it. */
static bool check_alias(struct run *r, unsigned k, struct snap_reader *reader)
{
	uint8_t guids[SMP_DATA_BYTES];
	struct alias_block b;
	struct snap_end end;
	uint64_t want, held;

	if (!r->config.virt_unverified_layouts || !r->vports.known[k].own ||
	    !alias_block(r->judge->clients.store, guid_of(k), 0, &b)) {
		return true;
	}
	want = alias_at(&b, PLACE);
	if (sim_peek(r->sim, r->vports.known[k].host, VPORT_ATTR_GUID_INFO,
	             (uint32_t)r->vports.known[k].index << 16, guids) != E_OK) {
		return run_fail(r, "the GUIDs of virtual port %u cannot be read", k);
	}
	held = field_get(guids, 64 * PLACE, 64);
	if (held != want) {
		return run_fail(r, "virtual port %u has alias GUID 0x%llx, not 0x%llx", k,
		                (unsigned long long)held, (unsigned long long)want);
	}
	return want == 0 ||
	       (snap_port_guid(reader, want, &end) == E_OK &&
	        end.port_guid == guid_of(k)) ||
	       run_fail(r, "the SA does not know virtual port %u by 0x%llx", k,
	                (unsigned long long)want);
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
	good = good ? check_alias(r, k, reader)
	            : run_fail(r, "the SA does not know virtual port %u by LID %u", k,
	                       lid);
	snap_reader_close(reader);
	return good;
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
