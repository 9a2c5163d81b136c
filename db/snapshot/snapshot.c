/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Publishing a sweep.
 *
 * First each table is compared with the stored one through read transactions on the
 * newest epoch: several tables at a time, and tables of long rows chunk by chunk on all
 * processors. Where only ports of some nodes changed, only their rows are looked up. Then the write
 * transaction begins. It writes the changed rows, a record of
 * them (history.h) and the head in `meta`. The file is the only copy of what was published last.
 *
 * Invariants: every commit rewrites the head with its own transaction id; before the next
 * commit begins, the newest epoch is pinned (pins.h); a failure before or in the commit
 * leaves the old epoch, its pins and the counters as they were.
 */
#include "db/snapshot/snapshot.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/diff.h"
#include "db/lmdb/layout.h"
#include "db/lmdb/pins.h"
#include "db/snapshot/history.h"
#include "db/snapshot/reader_int.h"
#include "db/snapshot/rows.h"
#include "db/snapshot/snapshot_int.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

enum { GRACE_DEFAULT_MS = 10000, NEED_FACTOR = 4, NEED_DEFAULT = 64 << 20 };

_Static_assert((int)META_STAGES == (int)SNAP_STAGES_MAX, "stages");

/* Tables whose change needs a new epoch, because an epoch stands for one routing. */
#define NO_EPOCH(id, name)
#define EPOCH(id, name, epoch) [SNAP_##id] = (epoch) == SNAP_NEW_EPOCH,
static const bool needs_new_epoch[SNAP_TABLE_COUNT] = {
	SNAP_TABLES(NO_EPOCH, EPOCH, EPOCH, NO_EPOCH)
};

static int read_head(struct snap_writer *w)
{
	struct db_txn t;
	struct db_val v;
	int ret = db_begin(&t, w->db, false);
	if (ret != E_OK) {
		return ret;
	}
	ret = db_get(&t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v);
	if (ret == E_OK && v.len >= sizeof(w->last)) {
		memcpy(&w->last, v.data, sizeof(w->last));
		ret = history_open(&w->history, &t);
	} else if (ret != E_OK || v.len != sizeof(struct row_head)) {
		ret = E_MALFORMED;
	}
	db_abort(&t);
	return ret;
}

bool snap_has_group(void)
{
	return getgrnam(DB_GROUP) != NULL;
}

int snap_writer_open(const char *dir, const struct snap_options *o, struct arena *a,
                     const char **ret_why, struct snap_writer **ret_writer)
{
	char path[4096];
	uint64_t need = (o->need_bytes ? o->need_bytes : NEED_DEFAULT) * NEED_FACTOR +
	                o->history_bytes;
	struct snap_writer *w = calloc(1, sizeof(*w));
	if (!w) {
		return -ENOMEM;
	}
	int ret = (size_t)snprintf(path, sizeof(path), "%s/snapshot", dir) < sizeof(path)
	                  ? E_OK
	                  : -ENAMETOOLONG;
	if (ret == E_OK) {
		ret = db_open_writer(&kind_snapshot, path, o->map_bytes, need, a, ret_why,
		                     &w->db);
	}
	if (ret == E_OK) {
		ret = read_head(w);
	}
	if (ret == E_MALFORMED && w->db) {
		db_unref(w->db);
		w->db = NULL;
		w->history = (struct history){ .epochs = 0 };
		ret = db_open_writer_anew(&kind_snapshot, path, o->map_bytes, need, a,
		                          ret_why, &w->db);
		ret = ret == E_OK ? read_head(w) : ret;
	}
	history_limit(&w->history, o->history_bytes);
	if (ret == E_OK) {
		ret = pins_init(&w->pins, w->db,
		                o->grace_ms ? o->grace_ms : GRACE_DEFAULT_MS);
	}
	if (ret != E_OK) {
		snap_writer_close(w);
		return ret;
	}
	*ret_writer = w;
	return E_OK;
}

void snap_writer_close(struct snap_writer *w)
{
	if (w) {
		pins_done(&w->pins);
		db_unref(w->db);
		free(w);
	}
}

uint64_t snap_epoch(const struct snap_writer *w)
{
	return w->last.epoch;
}

void snap_release_old(struct snap_writer *w, uint64_t now_ms)
{
	pins_release(&w->pins, now_ms);
}

int snap_reader_local(struct snap_writer *w, struct snap_reader **ret_reader)
{
	return snap_reader_new(w->db, false, ret_reader);
}

/* The first failure of all comparisons. */
static int first_failure(const struct diff *d)
{
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		if (d[i].ret != E_OK) {
			return d[i].ret;
		}
	}
	return E_OK;
}

/* Compares what the ports of some nodes have brought. */
static int compare_ports(struct snap_writer *w, const struct rows *r, struct diff *d)
{
	diff_begin_sparse(&d[SNAP_NODES], w->db, SNAP_NODES); /* for the history */
	rows_diff(r, w->db, SNAP_PORTS, &d[SNAP_PORTS]);
	rows_diff(r, w->db, SNAP_ATTRS, &d[SNAP_ATTRS]);
	return first_failure(d);
}

/* Compares the tables first from which others follow. */
static bool is_first(unsigned table)
{
	return table == SNAP_NODES || table == SNAP_PORTS || table == SNAP_ATTRS;
}

/* Compares all tables with the stored ones. \return The first failure. */
static int compare_all(struct snap_writer *w, struct rows *r, struct diff *d)
{
#pragma omp parallel for schedule(dynamic, 1)
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		if (!r->c->changed || is_first(i)) {
			rows_diff(r, w->db, i, &d[i]);
		}
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		if (r->c->changed && !is_first(i) && !rows_are_same(r, i, d)) {
			rows_diff(r, w->db, i, &d[i]);
		}
	}
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		rows_diff_chunks(r, i, &d[i]);
	}
	return first_failure(d);
}

static bool routing_differs(const struct diff *d)
{
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		if (needs_new_epoch[i] && d[i].n != 0) {
			return true;
		}
	}
	return false;
}

static void fill_counts(const struct snap_content *c, struct row_meta *m)
{
	const struct graph *g = c->g;
	m->n_nodes = g->n_nodes;
	m->n_switches = g->n_switches;
	m->n_end_ports = g->n_end_ports;
	m->n_hosts = g->n_hosts;
	m->n_links = g->n_links;
	m->n_lids = c->lids->count;
	m->top_lid = c->lids->top;
	m->n_sources = c->route->paths.rows ? c->route->paths.n_sources : 0;
	m->lmc = 0;
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t p = g->end_ports[i];
		if (g->nodes[g->ports[p].node].type != NODE_SWITCH &&
		    c->lids->of[p].lmc > m->lmc) {
			m->lmc = c->lids->of[p].lmc;
		}
	}
}

static void fill_routing(const struct route_result *r, struct row_meta *m)
{
	m->pairs = r->proof.pairs;
	m->unreachable_pairs = r->proof.unreachable_pairs;
	m->forwarding_loops = r->proof.forwarding_loops;
	m->credit_loops = r->proof.credit_loops;
	m->management_unreachable = r->proof.management_unreachable;
	m->management_credit_loops = r->proof.management_credit_loops;
	m->vls_used = (uint8_t)r->proof.vls_used;
	m->management_vls = (uint8_t)r->proof.management_vls;
	m->load_max = r->load.max;
	m->load_p99 = r->load.p99;
	m->load_mean = r->load.mean;
	m->seconds_route = r->seconds_route;
	m->seconds_prove = r->seconds_prove;
}

static void fill_transition(const struct snap_transition *t, struct row_meta *m)
{
	m->transition_epoch = t->epoch;
	m->transition_safe = t->safe;
	m->seconds_plan = t->seconds_plan;
	m->seconds_send = t->seconds_send;
	m->lids_changed = t->changed;
	m->transition_stages = t->stages;
	m->lids_withdrawn = t->withdrawn;
	m->lids_may_loop = t->may_loop;
	m->transition_credit_loops = t->credit_loops;
	m->blocks_sent = t->blocks;
}

static void fill_meta(const struct snap_writer *w, const struct snap_content *c,
                      const struct diff *d, uint64_t txn, struct row_meta *m)
{
	memset(m, 0, sizeof(*m));
	m->head = (struct row_head){ .txn = txn, .grace_ms = w->pins.grace_ms };
	m->epoch = c->epoch;
	m->computed_at = c->computed_at;
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		m->version[i] = d[i].n ? txn : w->last.version[i];
	}
	m->version[SNAP_META] = txn;
	m->subnet_prefix = c->subnet_prefix;
	m->sm_port_guid = c->sm_port_guid;
	m->sm_lid = c->sm_lid;
	m->sm_priority = c->sm_priority;
	m->sm_state = c->sm_state;
	m->multicast_fdb_cap = c->multicast_fdb_cap;
	m->qos = c->qos;
	m->vport_hop_limit = c->vport_hop_limit;
	m->vport_records = c->vport_records;
	m->packet_life_time = c->packet_life_time;
	m->path_selection = c->path_selection;
	memcpy(m->life_time_by_hops, c->life_time_by_hops, sizeof(m->life_time_by_hops));
	m->n_stages = c->n_stages < META_STAGES ? c->n_stages : META_STAGES;
	for (unsigned i = 0; i < m->n_stages; i++) {
		m->stage_seconds[i] = c->stage[i].seconds;
	}
	fill_counts(c, m);
	fill_routing(c->route, m);
	fill_transition(&c->transition, m);
}

static void put_meta(struct db_txn *t, const struct snap_content *c,
                     const struct row_meta *m)
{
	const struct route_result *r = c->route;
	const char *text[META_TEXTS + META_STAGES] = { r->engine_asked,
		                              r->used ? r->used->name : "",
		                              r->fallback_reason.text, r->out.notes.text,
		                              r->warning.text,
		                              c->transition.reason };
	uint8_t buf[sizeof(*m) + (META_TEXTS + META_STAGES) * sizeof(struct why)];
	size_t at = sizeof(*m);
	for (unsigned i = 0; i < m->n_stages; i++) {
		text[META_TEXTS + i] = c->stage[i].name;
	}
	memcpy(buf, m, sizeof(*m));
	/* each text with its NUL; a text that is too long is truncated */
	for (unsigned i = 0; i < META_TEXTS + m->n_stages; i++) {
		size_t len = text[i] ? strnlen(text[i], sizeof(struct why) - 1) : 0;
		memcpy(buf + at, len ? text[i] : "", len);
		buf[at + len] = '\0';
		at += len + 1;
	}
	db_put(t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), buf, at);
}

static int write_all(struct snap_writer *w, const struct snap_content *c,
                     const struct diff *d, const struct recording *rec,
                     struct row_meta *ret_meta)
{
	struct history history;
	struct db_txn t;
	int ret = pins_prepare(&w->pins);
	if (ret == E_OK) {
		ret = db_begin(&t, w->db, true);
	}
	if (ret != E_OK) {
		return ret;
	}
	fill_meta(w, c, d, mdb_txn_id(t.txn), ret_meta);
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		diff_apply(&d[i], &t);
	}
	if (history_write(rec, &w->history, &t, &history)) {
		ret_meta->version[SNAP_CHANGES] = ret_meta->head.txn;
	}
	put_meta(&t, c, ret_meta);
	ret = db_commit(&t);
	if (ret == E_OK) {
		w->history = history;
	}
	return ret;
}

/* The sweep is worth more than its history: where both do not fit, the history goes. */
static int write_or_forget(struct snap_writer *w, const struct snap_content *c,
                           const struct diff *d, struct recording *rec,
                           struct row_meta *ret_meta)
{
	int ret = write_all(w, c, d, rec, ret_meta);

	if (ret == E_FULL && w->history.max_bytes > 0 && !rec->clear) {
		history_forget(rec);
		ret = write_all(w, c, d, rec, ret_meta);
	}
	return ret;
}

/* Before the stored rows are let go. */
static int collect_changes(const struct snap_writer *w, const struct snap_content *c,
                           struct diff *d, struct recording *rec)
{
	const struct engine *used = c->route->used;
	struct row_meta meta;

	fill_meta(w, c, d, 0, &meta);
	return history_collect(rec, w, d, &meta, used != NULL ? used->name : "");
}

int snap_publish(struct snap_writer *w, const struct snap_content *content,
                 uint64_t now_ms, struct snap_published *ret_published)
{
	struct snap_content own = *content, *c = &own;
	struct diff d[SNAP_TABLE_COUNT];
	struct rows r;
	struct row_meta meta;
	struct recording rec = { .a = NULL };
	if ((c->epoch == 0 && !c->choose_epoch) ||
	    (c->only_ports && c->epoch != w->last.epoch)) {
		return -EINVAL;
	}
	memset(d, 0, sizeof(d));
	pins_release(&w->pins, now_ms);
	int ret = rows_init(&r, c, w->db);
	if (ret == E_OK) {
		ret = c->only_ports ? compare_ports(w, &r, d) : compare_all(w, &r, d);
	}
	if (ret == E_OK && c->choose_epoch) {
		ret = c->choose_epoch(c->choose_ctx,
		                      routing_differs(d) || rows_need_epoch(d), c);
	}
	/* readers and their caches rely on one routing per epoch */
	if (ret == E_OK && c->epoch == w->last.epoch && routing_differs(d)) {
		ret = -EINVAL;
	}
	if (ret == E_OK) {
		ret = collect_changes(w, c, d, &rec);
	}
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		if (d[i].t.db) {
			db_abort(
				&d[i].t); /* the write may then reuse the pages that these have read */
		}
	}
	if (ret == E_OK) {
		ret = write_or_forget(w, c, d, &rec, &meta);
	}
	if (ret == E_OK) {
		pins_supersede(&w->pins, now_ms);
		w->last = meta;
		struct snap_published p = { .txn = meta.head.txn,
			                    .routing_changed = routing_differs(d) };
		for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
			p.rows += d[i].n;
			p.bytes += d[i].bytes;
		}
		*ret_published = p;
	}
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		diff_done(&d[i]);
	}
	history_done(&rec);
	rows_done(&r);
	return ret;
}
