/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Clients of the SA in a simulation. Requests are answered on the spot, without the thread of
 * the SA, so that a run depends on its seed alone; records are on disk before they are
 * acknowledged, as with the SA.
 */
#include "tests/sim/clients.h"

#include <inttypes.h>
#include <string.h>

#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"
#include "sa/mad/fields.h"
#include "sa/mad/transport.h"
#include "sa/mad/wire.h"
#include "sa/server/answer.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"
#include "tests/sim/disk.h"
#include "tests/sim/simulate.h"

/* IBA vol. 1, 15.2: bytes of a request, component bits. */
enum {
	AT_COMPONENTS = 48 * 8,
	AT_DATA = 56 * 8,
	SERVICE_ID = 0x1,
	SERVICE_GID = 0x2,
	PATH_DLID = 0x10,
	PATH_SLID = 0x20,
	PATH_NUMB = 0x1000,
	MEMBER_JOIN = 0x1 | 0x2 | 0x10000, /* MGID, PortGID, JoinState */
	MEMBER_CREATE = 0x4 | 0x40 | 0x80 | 0x1000 |
	                0x2000, /* Q_Key, TClass, P_Key, SL, FlowLabel */
	TRAP_NUMBER = 208       /* bit of InformInfo */
};

#define MGID_TOP UINT64_C(0xff18a01b00000000)

static const char *const kind_name[] = { "service", "membership", "subscription" };

bool clients_open(struct run *r, struct manager *m)
{
	struct clients *c = &m->clients;

	return (store_new(m->state, m->deps.wall_clock(), &c->store) == E_OK &&
	        snap_reader_local(m->snap, &c->reader) == E_OK) ||
	       run_fail(r, "the records of clients cannot be read");
}

void clients_close(struct manager *m)
{
	store_free(m->clients.store);
	snap_reader_close(m->clients.reader);
	m->clients.store = NULL;
	m->clients.reader = NULL;
}

static void begin(uint8_t *mad, uint8_t method, uint16_t attr, uint64_t components)
{
	memset(mad, 0, MAD_BYTES);
	field_set(mad, MAD_BASE_VERSION, UMAD_BASE_VERSION);
	field_set(mad, MAD_MGMT_CLASS, UMAD_CLASS_SUBN_ADM);
	field_set(mad, MAD_CLASS_VERSION, UMAD_SA_CLASS_VERSION);
	field_set(mad, MAD_METHOD, method);
	field_set(mad, MAD_ATTR_ID, attr);
	field_set(mad, AT_COMPONENTS, 64, components);
}

/* Asks as the port with a LID. \return MAD status, -1: no answer. */
static int ask(struct manager *m, uint32_t lid, const uint8_t *mad,
               struct sa_reply *reply)
{
	const struct sa_limits limits = { .sa_key = m->config.sa_key };
	const struct mad_addr from = { .lid = lid, .qpn = 1 };
	int ret = snap_pin(m->clients.reader);

	if (ret == E_OK) {
		ret = sa_serve(m->clients.reader, m->clients.store, &limits, mad,
		               MAD_BYTES, &from, reply);
	}
	return ret == E_OK ? reply->status : -1;
}

static void on_disk(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

/* Is it right that a write fails? */
static bool may_fail(const struct manager *m)
{
	return disk_fault() != DISK_GOOD || disk_crashed(m->state_dir);
}

/* --- records -------------------------------------------------------------------------- */

static void put_gid(const struct manager *m, uint8_t *mad, unsigned at, uint64_t guid)
{
	field_set(mad, at, 64, m->config.subnet_prefix);
	field_set(mad, at + 64, 64, guid);
}

static void put_mgid(uint8_t *mad, const struct client_record *c)
{
	field_set(mad, AT_DATA, 64, MGID_TOP);
	field_set(mad, AT_DATA + 64, 64, c->id);
}

/* The request that registers or withdraws a record. */
static void encode(const struct manager *m, const struct client_record *c, bool withdraw,
                   uint8_t *mad)
{
	uint8_t method = withdraw ? UMAD_SA_METHOD_DELETE : UMAD_METHOD_SET;

	switch (c->kind) {
	case CLIENT_SERVICE:
		begin(mad, method, UMAD_SA_ATTR_SERVICE_REC, SERVICE_ID | SERVICE_GID);
		field_set(mad, AT_DATA, 64, c->id);
		put_gid(m, mad, AT_DATA + 64, c->guid);
		return;
	case CLIENT_MEMBER:
		begin(mad, method, UMAD_SA_ATTR_MCMEMBER_REC,
		      withdraw ? MEMBER_JOIN : MEMBER_JOIN | MEMBER_CREATE);
		put_mgid(mad, c);
		put_gid(m, mad, AT_DATA + 128, c->guid);
		field_set(mad, AT_DATA + 256, 32, 0x1234); /* Q_Key */
		field_set(mad, AT_DATA + 320, 16, 0xffff); /* P_Key */
		field_set(mad, AT_DATA + 388, 4, MC_FULL_MEMBER);
		return;
	case CLIENT_SUBSCRIPTION:
		begin(mad, UMAD_METHOD_SET, UMAD_ATTR_INFORM_INFO, 0);
		field_set(mad, AT_DATA + 128, 16, 0xffff); /* any LID */
		field_set(mad, AT_DATA + 176, 8, 1);       /* generic */
		field_set(mad, AT_DATA + 184, 8, !withdraw);
		field_set(mad, AT_DATA + 192, 16, 0xffff); /* any type */
		field_set(mad, AT_DATA + TRAP_NUMBER, 16, c->id);
		field_set(mad, AT_DATA + 224, 24, 1);        /* QPN */
		field_set(mad, AT_DATA + 264, 24, 0xffffff); /* any producer */
		return;
	case CLIENT_KINDS: return;
	}
}

/* Sends a request about a record and makes what follows durable, as the SA does before it answers.
 * *ret_changed: was it acknowledged? */
static bool change(struct run *r, struct manager *m, const struct client_record *rec,
                   bool withdraw, bool *ret_changed)
{
	struct clients *c = &m->clients;
	struct snap_end end;
	struct sa_reply reply = { 0 };
	struct state_batch *batch;
	uint8_t mad[MAD_BYTES];
	int settled = -1;
	bool good = true;

	*ret_changed = false;
	if (snap_pin(c->reader) != E_OK ||
	    snap_port_guid(c->reader, rec->guid, &end) != E_OK || end.is_vport) {
		/* nobody to ask, or the SA does not know the host yet; a virtual port that claims
		 * its GUID meanwhile sends from another host */
		snap_unpin(c->reader);
		return true;
	}
	encode(m, rec, withdraw, mad);
	if (ask(m, end.base_lid, mad, &reply) == 0) {
		batch = store_take_changes(c->store);
		if (batch != NULL) {
			state_batch_commit(m->state, batch, on_disk, &settled);
			state_flush(m->state);
		}
		if (settled != E_OK && may_fail(m)) {
			/* as the SA does: it is not acknowledged, and what was not kept goes */
			good = store_reload(c->store) == E_OK ||
			       run_fail(r, "the records of clients cannot be read again");
		} else if (settled != E_OK) {
			good = run_fail(r, "%s 0x%" PRIx64 " is not on disk",
			                kind_name[rec->kind], rec->id);
		} else {
			*ret_changed = true;
		}
	}
	snap_unpin(c->reader);
	sa_reply_done(&reply);
	return good;
}

bool clients_register(struct run *r, struct manager *m, uint32_t what)
{
	const struct graph *g = r->g;
	struct clients *c = &m->clients;
	struct client_record *rec;
	bool acknowledged, good;

	if ((what >> 12 & 3) == 0 && c->n != 0) {
		rec = &c->record[(what >> 14) % c->n];
		rec->known = false; /* until the answer */
		good = change(r, m, rec, true, &acknowledged);
		rec->known = rec->there ? acknowledged : rec->known;
		rec->there &= !acknowledged;
		return good;
	}
	if (c->n == CLIENT_RECORDS_MAX) {
		return true;
	}
	rec = &c->record[c->n];
	*rec = (struct client_record){
		.kind = (what >> 16) % CLIENT_KINDS,
		.guid = g->ports[g->end_ports[what % g->n_end_ports]].guid,
		.id = 0x1000 + c->n_asked++,
		.known = true,
		.there = true
	};
	good = change(r, m, rec, false, &acknowledged);
	c->n += acknowledged;
	return good;
}

/* Is the record in the store? */
static bool is_there(struct manager *m, uint32_t sm_lid, const struct client_record *c)
{
	struct sa_store *st = m->clients.store;
	struct sa_reply reply = { 0 };
	struct mcast_member_row member;
	uint8_t mad[MAD_BYTES];
	bool there = false;

	switch (c->kind) {
	case CLIENT_SERVICE:
		begin(mad, UMAD_METHOD_GET, UMAD_SA_ATTR_SERVICE_REC, SERVICE_ID);
		field_set(mad, AT_DATA, 64, c->id);
		there = ask(m, sm_lid, mad, &reply) == 0;
		sa_reply_done(&reply);
		break;
	case CLIENT_MEMBER:
		encode(m, c, false, mad);
		there = mcast_member_find(st, mad + AT_DATA / 8,
		                          mad + AT_DATA / 8 + MGID_BYTES, &member);
		break;
	case CLIENT_SUBSCRIPTION:
		for (const struct store_row *row =
		             store_seek(st, RECORDS_SUBSCRIPTIONS, "", 0);
		     row != NULL && !there;
		     row = store_next(st, RECORDS_SUBSCRIPTIONS, row)) {
			there = field_get(row->bytes, 0, 64) == c->guid &&
			        field_get(row->bytes, 64 + TRAP_NUMBER, 16) == c->id;
		}
		break;
	case CLIENT_KINDS: break;
	}
	return there;
}

/* A port of a node that lies may be known to the SA by another GUID when it registers. */
static bool has_lied(const struct run *r, uint64_t port_guid)
{
	for (uint32_t i = 0; i < r->g->n_end_ports; i++) {
		const struct port *p = &r->g->ports[r->g->end_ports[i]];

		if (p->guid == port_guid) {
			return r->has_lied[p->node];
		}
	}
	return false;
}

bool clients_check_records(struct run *r, struct manager *m)
{
	struct clients *c = &m->clients;
	struct snap_end end;
	bool good = snap_pin(c->reader) == E_OK &&
	            snap_port_guid(c->reader, r->g->ports[m->port].guid, &end) ==
	                    E_OK;

	if (!good) {
		run_fail(r, "the SA does not know the subnet manager's port");
	}
	for (unsigned i = 0; good && i < c->n; i++) {
		const struct client_record *rec = &c->record[i];

		good = !rec->known || has_lied(r, rec->guid) || is_there(m, end.base_lid, rec) == rec->there ||
		       run_fail(r,
		                "%s 0x%" PRIx64 " of port GUID 0x%" PRIx64
		                ": its %s was acknowledged and is lost",
		                kind_name[rec->kind], rec->id, rec->guid,
		                rec->there ? "registration" : "end");
	}
	snap_unpin(c->reader);
	return good;
}

/* May adaptive routing have moved a route from the published port to this one? */
static bool may_move(struct snap_reader *r, uint64_t guid, uint32_t lid, uint8_t from,
                     uint8_t to)
{
	struct port_set set[PORT_GROUPS_MAX];
	uint8_t group;
	unsigned n = 0;

	return snap_port_group_of(r, guid, lid, &group) == E_OK &&
	       snap_port_groups(r, guid, set, &n) == E_OK && group < n &&
	       port_set_has(&set[group], from) && port_set_has(&set[group], to);
}

/* The published table of a switch against the table in it. */
static bool check_rows(struct run *r, struct manager *m, const struct graph *g,
                       const struct lft *lft)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];

		for (uint32_t lid = 1; lid < lft->n_lids; lid++) {
			uint8_t port = 0xff, real = lft_row((struct lft *)lft, s)[lid];

			if (snap_lft(m->clients.reader, n->guid, lid, &port) != E_OK ||
			    (port != real && !may_move(m->clients.reader, n->guid, lid,
			                               port, real))) {
				return run_fail(
					r,
					"switch '%s' sends LID %u to port %u, but port %u is published",
					n->description, lid, real, port);
			}
		}
	}
	return true;
}

bool clients_check_paths(struct run *r, struct manager *m, const struct graph *g,
                         const struct lids *lids, const struct lft *lft)
{
	struct sa_reply reply = { 0 };
	uint8_t mad[MAD_BYTES];
	bool good = snap_pin(m->clients.reader) == E_OK ||
	            run_fail(r, "nothing is published");

	good = good && check_rows(r, m, g, lft);
	for (uint32_t from = 1; good && from <= lids->top; from++) {
		uint32_t src = lids->owner[from];

		for (uint32_t to = 1; good && src != GRAPH_NONE && to <= lids->top;
		     to++) {
			uint32_t dst = lids->owner[to];
			bool high = from > LID_LIMIT_DEFAULT || to > LID_LIMIT_DEFAULT;
			int status;

			if (dst == GRAPH_NONE || !graph_is_host(g, src) ||
			    !graph_is_host(g, dst)) {
				continue;
			}
			begin(mad, UMAD_METHOD_GET, UMAD_SA_ATTR_PATH_REC,
			      PATH_DLID | PATH_SLID);
			field_set(mad, AT_DATA + 320, high ? 32 : 16, to);
			field_set(mad, AT_DATA + (high ? 352 : 336), high ? 32 : 16,
			          from);
			if (high) { /* Omni-Path's layout has room for them */
				field_set(mad, MAD_BASE_VERSION, SA_OPA_VERSION);
				field_set(mad, MAD_CLASS_VERSION, SA_OPA_VERSION);
			}
			status = ask(m, from, mad, &reply);
			good = status == 0 ||
			       run_fail(
				       r,
				       "LID %u asks for a path to LID %u and gets status 0x%x",
				       from, to, (unsigned)status);
		}
	}
	snap_unpin(m->clients.reader);
	sa_reply_done(&reply);
	return good;
}
