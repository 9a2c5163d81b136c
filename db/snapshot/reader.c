/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Reading a snapshot. Two look-ups are hot: the end port of a LID, and the path row of a
 * (source switch, LID). Both keep the address of every chunk that they have read in an
 * array, so that a repeated look-up costs an index and a copy of a few bytes. The
 * addresses point into the map and are valid for one epoch only; a pin that moves to
 * another epoch clears them. A local reader that has nothing to do unpins its epoch and
 * sets the addresses aside. It uses them again if no other epoch was published
 * meanwhile, because LMDB never reuses the pages of the newest one.
 *
 * Values are only 2-byte aligned and may be damaged. So the length of every row is
 * compared with its layout, and the row is copied out.
 */
#include "db/snapshot/reader.h"

#include <errno.h>
#include <infiniband/umad_sm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/layout.h"
#include "db/snapshot/reader_int.h"

/* Data of a chunk that is not stored. */
static const uint8_t nothing[1];

int snap_reader_new(struct db *db, bool foreign, struct snap_reader **ret_reader)
{
	struct snap_reader *r = calloc(1, sizeof(*r));
	if (!r) {
		return -ENOMEM;
	}
	r->db = db_ref(db);
	view_init(&r->view, db, foreign);
	*ret_reader = r;
	return E_OK;
}

int snap_reader_open(const char *dir, struct arena *a, const char **ret_why,
                     struct snap_reader **ret_reader)
{
	char path[4096];
	struct db *db;
	if ((size_t)snprintf(path, sizeof(path), "%s/snapshot", dir) >= sizeof(path)) {
		return -ENAMETOOLONG;
	}
	int ret = db_open_reader(&kind_snapshot, path, a, ret_why, &db);
	if (ret != E_OK) {
		return ret;
	}
	ret = snap_reader_new(db, true, ret_reader);
	db_unref(db);
	return ret;
}

int snap_reader_clone(const struct snap_reader *r, struct snap_reader **ret_reader)
{
	int ret = snap_reader_new(r->db, r->view.foreign, ret_reader);
	if (ret == E_OK) {
		snap_reader_clock(*ret_reader, r->view.clock_ms, r->view.clock_arg);
	}
	return ret;
}

void snap_reader_clock(struct snap_reader *r, uint64_t (*clock_ms)(void *arg), void *arg)
{
	r->view.clock_ms = clock_ms;
	r->view.clock_arg = arg;
}

static void drop_epoch(struct epoch_data *s)
{
	for (uint32_t i = 0; i < s->n_paths; i++) {
		free(s->paths[i].chunk);
	}
	free(s->paths);
	free(s->lids);
	for (unsigned i = 0; i < CACHE_COUNT; i++) {
		if (s->cache[i].data) {
			s->cache[i].free(s->cache[i].data);
		}
	}
	*s = (struct epoch_data){ .lids = NULL };
}

static void drop_epochs(struct snap_reader *r)
{
	drop_epoch(&r->epoch);
	drop_epoch(&r->parked);
}

void snap_reader_close(struct snap_reader *r)
{
	if (r) {
		drop_epochs(r);
		free(r->texts);
		view_done(&r->view);
		db_unref(r->db);
		free(r);
	}
}

/* Splits the texts behind the head. \retval E_MALFORMED  Too few of them. */
static int split_texts(char *p, const char *end, const char **ret_text, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char *nul = memchr(p, '\0', (size_t)(end - p));
		if (!nul) {
			return E_MALFORMED;
		}
		ret_text[i] = p;
		p = nul + 1;
	}
	return E_OK;
}

static void decode_numbers(const struct row_meta *m, struct snap_meta *ret_meta)
{
	*ret_meta = (struct snap_meta){
		.epoch = m->epoch,
		.txn = m->head.txn,
		.computed_at = m->computed_at,
		.n_nodes = m->n_nodes,
		.n_switches = m->n_switches,
		.n_end_ports = m->n_end_ports,
		.n_hosts = m->n_hosts,
		.n_links = m->n_links,
		.n_lids = m->n_lids,
		.top_lid = m->top_lid,
		.n_sources = m->n_sources,
		.subnet_prefix = m->subnet_prefix,
		.sm_port_guid = m->sm_port_guid,
		.sm_lid = m->sm_lid,
		.sm_priority = m->sm_priority,
		.sm_state = m->sm_state,
		.multicast_fdb_cap = m->multicast_fdb_cap,
		.qos = m->qos != 0,
		.vport_hop_limit = m->vport_hop_limit,
		.vport_records = m->vport_records != 0,
		.lmc = m->lmc,
		.packet_life_time = m->packet_life_time,
		.path_selection = m->path_selection,
		.vls_used = m->vls_used,
		.management_vls = m->management_vls,
		.pairs = m->pairs,
		.unreachable_pairs = m->unreachable_pairs,
		.forwarding_loops = m->forwarding_loops,
		.credit_loops = m->credit_loops,
		.management_unreachable = m->management_unreachable,
		.management_credit_loops = m->management_credit_loops,
		.load_max = m->load_max,
		.load_p99 = m->load_p99,
		.load_mean = m->load_mean,
		.seconds_route = m->seconds_route,
		.seconds_prove = m->seconds_prove,
		.n_stages = m->n_stages,
		.transition = { .epoch = m->transition_epoch,
		                .changed = m->lids_changed,
		                .stages = m->transition_stages,
		                .withdrawn = m->lids_withdrawn,
		                .may_loop = m->lids_may_loop,
		                .credit_loops = m->transition_credit_loops,
		                .blocks = m->blocks_sent,
		                .safe = m->transition_safe != 0,
		                .seconds_plan = m->seconds_plan,
		                .seconds_send = m->seconds_send },
	};
	memcpy(ret_meta->version, m->version, sizeof(ret_meta->version));
	memcpy(ret_meta->life_time_by_hops, m->life_time_by_hops,
	       sizeof(ret_meta->life_time_by_hops));
}

static int decode_meta(struct snap_reader *r, const struct db_val *v)
{
	struct row_meta m;
	const char *text[META_TEXTS + META_STAGES];
	if (v->len == sizeof(struct row_head)) {
		return E_NOTREADY;
	}
	if (v->len < sizeof(m)) {
		return E_MALFORMED;
	}
	memcpy(&m, v->data, sizeof(m));
	/* the highest LID sizes arrays: 24 bits is all there is */
	if (m.n_stages > META_STAGES || m.top_lid > 0xffffff ||
	    m.n_sources > m.n_switches) {
		return E_MALFORMED;
	}
	size_t len = v->len - sizeof(m);
	char *texts = malloc(len + 1);
	if (!texts) {
		return -ENOMEM;
	}
	memcpy(texts, v->data + sizeof(m), len);
	int ret = split_texts(texts, texts + len, text, META_TEXTS + m.n_stages);
	if (ret != E_OK) {
		free(texts);
		return ret;
	}
	free(r->texts);
	r->texts = texts;
	decode_numbers(&m, &r->meta);
	r->meta.engine_asked = text[0];
	r->meta.engine_used = text[1];
	r->meta.fallback_reason = text[2];
	r->meta.notes = text[3];
	r->meta.warning = text[4];
	r->meta.transition.reason = text[5];
	for (unsigned i = 0; i < m.n_stages; i++) {
		r->meta.stage[i].name = text[META_TEXTS + i];
		r->meta.stage[i].seconds = m.stage_seconds[i];
	}
	return E_OK;
}

/* Reads the head of the epoch just taken. */
static int load_head(struct snap_reader *r)
{
	struct db_val v;
	drop_epochs(r);
	int ret = view_get(&r->view, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v);
	if (ret == E_OK) {
		ret = decode_meta(r, &v);
	}
	int current = view_check(&r->view);
	if (current != E_OK) {
		return current;
	}
	if (ret != E_OK) {
		return ret;
	}
	uint32_t top = r->meta.top_lid, n_sources = r->meta.n_sources;
	struct epoch_data *e = &r->epoch;
	e->lids = calloc(top / LIDS_PER_ROW + 1, sizeof(*e->lids));
	e->paths = calloc((size_t)n_sources + 1, sizeof(*e->paths));
	if (!e->lids || !e->paths) {
		return -ENOMEM;
	}
	e->n_lid_rows = top / LIDS_PER_ROW + 1;
	e->n_path_chunks = top / PATHS_PER_CHUNK + 1;
	e->n_paths = n_sources;
	return E_OK;
}

int snap_pin(struct snap_reader *r)
{
	bool moved;
	int ret = view_pin(&r->view, &moved);
	if (ret == E_OK && !moved && !r->epoch.lids) {
		/* the epoch that was unpinned is still the newest */
		drop_epoch(&r->epoch);
		r->epoch = r->parked;
		r->parked = (struct epoch_data){ .lids = NULL };
	}
	if (ret == E_OK && (moved || !r->epoch.lids)) {
		ret = load_head(r);
	}
	if (ret != E_OK) {
		drop_epochs(r);
		view_unpin(&r->view);
	}
	return ret;
}

int snap_check(struct snap_reader *r)
{
	return view_check(&r->view);
}

void snap_unpin(struct snap_reader *r)
{
	if (r->view.foreign) { /* a new writer may use the same transaction ids */
		drop_epochs(r);
	} else if (r->epoch.lids) {
		drop_epoch(&r->parked);
		r->parked = r->epoch;
		r->epoch = (struct epoch_data){ .lids = NULL };
	}
	view_unpin(&r->view);
}

const struct snap_meta *snap_meta(const struct snap_reader *r)
{
	return &r->meta;
}

uint64_t snap_version(const struct snap_meta *m, uint32_t tables)
{
	uint64_t newest = 0;

	/* versions are transaction ids, so a change of any table raises the maximum */
	for (unsigned i = 0; i < SNAP_TABLE_COUNT; i++) {
		if ((tables & UINT32_C(1) << i) != 0 && m->version[i] > newest) {
			newest = m->version[i];
		}
	}
	return newest;
}

/* Looks a chunk up; a chunk that is not stored is remembered as empty. */
static int read_chunk(struct snap_reader *r, unsigned table, const void *key,
                      size_t key_len, size_t unit, struct chunk *c)
{
	struct db_val v;
	int ret = view_get(&r->view, table, key, key_len, &v);
	if (ret == E_NOTFOUND) {
		c->data = nothing;
		c->len = 0;
		return E_OK;
	}
	if (ret != E_OK) {
		return ret;
	}
	if (v.len == 0 || v.len > CHUNK_BYTES || v.len % unit != 0) {
		return E_MALFORMED;
	}
	c->data = v.data;
	c->len = (uint32_t)v.len;
	return E_OK;
}

int snap_lid(struct snap_reader *r, uint32_t lid, struct snap_end *ret_end)
{
	uint32_t row = lid / LIDS_PER_ROW;
	if (row >= r->epoch.n_lid_rows) {
		return r->epoch.lids ? E_NOTFOUND : E_NOTREADY;
	}
	struct chunk *c = &r->epoch.lids[row];
	if (!c->data) {
		uint8_t key[4];
		key_u32(key, row);
		int ret = read_chunk(r, SNAP_LIDS, key, sizeof(key), sizeof(*ret_end), c);
		if (ret != E_OK) {
			return ret;
		}
	}
	size_t at = (size_t)(lid % LIDS_PER_ROW) * sizeof(*ret_end);
	uint32_t base;
	if (at >= c->len) {
		return E_NOTFOUND;
	}
	memcpy(&base, c->data + at + offsetof(struct snap_end, base_lid), sizeof(base));
	if (base == 0) {
		return E_NOTFOUND;
	}
	memcpy(ret_end, c->data + at, sizeof(*ret_end));
	return E_OK;
}

void snap_prefetch_lid(struct snap_reader *r, uint32_t lid)
{
	uint32_t row = lid / LIDS_PER_ROW;
	size_t at = (size_t)(lid % LIDS_PER_ROW) * sizeof(struct snap_end);
	if (row < r->epoch.n_lid_rows && at < r->epoch.lids[row].len) {
		const uint8_t *p = r->epoch.lids[row].data + at;
		__builtin_prefetch(p);
		__builtin_prefetch(p + sizeof(struct snap_end) - 1);
	}
}

/* The chunk of a path row, where its address is kept. */
static int path_chunk(struct snap_reader *r, const struct snap_end *src, uint32_t chunk,
                      struct chunk **ret_chunk)
{
	struct path_chunks *p = &r->epoch.paths[src->sw_row];
	if (!p->chunk) {
		p->chunk = calloc(r->epoch.n_path_chunks, sizeof(*p->chunk));
		if (!p->chunk) {
			return -ENOMEM;
		}
		p->guid = src->sw_guid;
	}
	if (p->guid != src->sw_guid) {
		return E_NOTFOUND; /* an end port of another epoch */
	}
	if (!p->chunk[chunk].data) {
		uint8_t key[CHUNK_KEY];
		key_chunk(key, src->sw_guid, chunk);
		int ret =
			read_chunk(r, SNAP_PATHS, key, sizeof(key), 4, &p->chunk[chunk]);
		if (ret != E_OK) {
			return ret;
		}
	}
	*ret_chunk = &p->chunk[chunk];
	return E_OK;
}

int snap_path(struct snap_reader *r, const struct snap_end *src, uint32_t dlid,
              struct snap_path *ret_path)
{
	uint32_t chunk = dlid / PATHS_PER_CHUNK;
	struct chunk *c = NULL;
	if (src->sw_row >= r->epoch.n_paths || chunk >= r->epoch.n_path_chunks) {
		return r->epoch.lids ? E_NOTFOUND : E_NOTREADY;
	}
	int ret = path_chunk(r, src, chunk, &c);
	if (ret != E_OK) {
		return ret;
	}
	size_t at = (size_t)(dlid % PATHS_PER_CHUNK) * 4;
	if (at >= c->len) {
		memset(ret_path, 0,
		       sizeof(*ret_path)); /* the row is there, this LID has no route */
		return E_OK;
	}
	const uint8_t *p = c->data + at;
	*ret_path = (struct snap_path){
		.mtu = p[0], .rate = p[1], .hops = p[2], .lane = p[3]
	};
	return E_OK;
}

void snap_prefetch_path(struct snap_reader *r, const struct snap_end *src, uint32_t dlid)
{
	uint32_t chunk = dlid / PATHS_PER_CHUNK;
	if (src->sw_row >= r->epoch.n_paths || chunk >= r->epoch.n_path_chunks) {
		return;
	}
	const struct path_chunks *p = &r->epoch.paths[src->sw_row];
	size_t at = (size_t)(dlid % PATHS_PER_CHUNK) * 4;
	if (p->chunk && at < p->chunk[chunk].len) {
		__builtin_prefetch(p->chunk[chunk].data + at);
	}
}

/* A chunk of a table with one byte per LID. */
static int lid_chunk(struct snap_reader *r, unsigned table, uint64_t sw_guid,
                     uint32_t lid, struct chunk *ret_chunk)
{
	uint8_t key[CHUNK_KEY];
	key_chunk(key, sw_guid, lid / LFT_PER_CHUNK);
	return read_chunk(r, table, key, sizeof(key), 1, ret_chunk);
}

static int lid_byte(struct snap_reader *r, unsigned table, uint64_t sw_guid, uint32_t lid,
                    uint8_t *ret_byte)
{
	struct chunk c = { NULL, 0 };
	int ret = lid_chunk(r, table, sw_guid, lid, &c);
	if (ret == E_OK) {
		*ret_byte =
			lid % LFT_PER_CHUNK < c.len ? c.data[lid % LFT_PER_CHUNK] : 0xff;
	}
	return ret;
}

int snap_lft(struct snap_reader *r, uint64_t sw_guid, uint32_t lid, uint8_t *ret_port)
{
	return lid_byte(r, SNAP_LFT, sw_guid, lid, ret_port);
}

bool snap_is_omni_path(struct snap_reader *r, uint64_t node_guid)
{
	enum { BASE_VERSION = 0x80 };
	const uint8_t *info;
	uint16_t len;

	return snap_attr(r, UMAD_SM_ATTR_NODE_INFO, node_guid, 0, &info, &len) == E_OK &&
	       len != 0 && info[0] == BASE_VERSION;
}

int snap_port_group_of(struct snap_reader *r, uint64_t sw_guid, uint32_t lid,
                       uint8_t *ret_group)
{
	return lid_byte(r, SNAP_ALTERNATES, sw_guid, lid, ret_group);
}

int snap_lft_block(struct snap_reader *r, uint64_t sw_guid, uint32_t lid,
                   uint8_t *ret_block, unsigned n)
{
	struct chunk c = { NULL, 0 };
	int ret = E_OK;
	for (unsigned i = 0; i < n && ret == E_OK; i++) {
		uint32_t at = (lid + i) % LFT_PER_CHUNK;
		if (i == 0 || at == 0) {
			ret = lid_chunk(r, SNAP_LFT, sw_guid, lid + i, &c);
		}
		ret_block[i] = at < c.len ? c.data[at] : 0xff;
	}
	return ret;
}

int snap_sl(struct snap_reader *r, unsigned level, uint8_t lane, uint8_t *ret_sl)
{
	if (level >= SL_LEVELS) {
		return E_NOTFOUND;
	}
	struct chunk *c = &r->epoch.sls[level];
	if (!c->data) {
		uint8_t key[2];
		key_u16(key, (uint16_t)level);
		int ret = read_chunk(r, SNAP_VLS, key, sizeof(key), LANES_MAX, c);
		if (ret != E_OK) {
			return ret;
		}
	}
	if (lane >= c->len || c->data[lane] == 0xff) {
		return E_NOTFOUND;
	}
	*ret_sl = c->data[lane];
	return E_OK;
}

int snap_vl_rule(struct snap_reader *r, struct snap_vl_rule *ret_vl_rule)
{
	uint8_t key[2];
	struct db_val v;
	struct row_vl_rule row;
	key_u16(key, VLS_RULE);
	int ret = view_get(&r->view, SNAP_VLS, key, sizeof(key), &v);
	if (ret != E_OK) {
		return ret;
	}
	if (v.len != sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v.data, sizeof(row));
	*ret_vl_rule = (struct snap_vl_rule){ .vls = row.vls,
		                              .levels = row.levels,
		                              .level_shift = row.level_shift };
	memcpy(ret_vl_rule->vl, row.vl, sizeof(row.vl));
	return E_OK;
}

int snap_vl_class(struct snap_reader *r, uint64_t sw_guid, uint8_t port,
                  uint8_t *ret_class)
{
	uint8_t key[10];
	struct db_val v;
	key_u16(key, VLS_PORTS);
	key_u64(key + 2, sw_guid);
	int ret = view_get(&r->view, SNAP_VLS, key, sizeof(key), &v);
	if (ret != E_OK) {
		return ret;
	}
	if (port >= v.len) {
		return E_NOTFOUND;
	}
	*ret_class = v.data[port];
	return E_OK;
}

const char *snap_options(struct snap_reader *r)
{
	struct db_val v;
	if (view_get(&r->view, SNAP_OPTIONS, DB_KEY_TEXT, sizeof(DB_KEY_TEXT), &v) !=
	            E_OK ||
	    v.len == 0 || snap_check(r) != E_OK || v.data[v.len - 1] != '\0') {
		return NULL;
	}
	return (const char *)v.data;
}
