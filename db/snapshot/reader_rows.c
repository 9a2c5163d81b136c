/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Reading a snapshot: rows by key, walks in key order, and end ports by GUID. The hot
 * look-ups by LID are in reader.c.
 *
 * The end port of a GUID: clients ask for the same GUIDs again and again, and a search of
 * the table costs as much as all else that an answer takes. So what a search found is
 * kept for the epoch: in a hash table with one place per hash value and twice as many
 * places as there are end ports. A GUID that falls on a used place replaces the GUID there.
 *
 * All end ports in the order of their GUIDs, alias GUIDs among them: a list that is made
 * when it is first asked for. `guids` is in that order.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/lmdb/acks.h"
#include "db/lmdb/drained.h"
#include "db/lmdb/known.h"
#include "conf/base/vector.h"
#include "db/lmdb/layout.h"
#include "db/snapshot/reader_int.h"

static int decode_node(const struct db_val *k, const struct db_val *v,
                       struct snap_node *ret_node)
{
	struct row_node row;
	if (k->len != 8 || v->len < sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v->data, sizeof(row));
	if (row.description_len > 64 || row.name_len > 64 ||
	    v->len != sizeof(row) + row.description_len + row.name_len) {
		return E_MALFORMED;
	}
	memset(ret_node, 0, sizeof(*ret_node));
	ret_node->guid = key_read_u64(k->data);
	ret_node->system_image_guid = row.system_image_guid;
	memcpy(ret_node->description, v->data + sizeof(row), row.description_len);
	memcpy(ret_node->name, ret_node->description, sizeof(ret_node->name));
	if (row.name_len > 0) {
		memset(ret_node->name, 0, sizeof(ret_node->name));
		memcpy(ret_node->name, v->data + sizeof(row) + row.description_len,
		       row.name_len);
	}
	ret_node->type = row.type;
	ret_node->n_ports = row.n_ports;
	ret_node->esp0 = row.esp0 != 0;
	ret_node->aggregation = row.aggregation != 0;
	ret_node->lid = row.lid;
	ret_node->vendor_id = row.vendor_id;
	ret_node->revision = row.revision;
	ret_node->device_id = row.device_id;
	ret_node->partition_cap = row.partition_cap;
	return E_OK;
}

/* Row of a GUID in a table with GUIDs as keys. */
static int get_by_guid(struct snap_reader *r, unsigned table, uint64_t guid,
                       struct db_val *ret_key, uint8_t key[8], struct db_val *ret_val)
{
	key_u64(key, guid);
	*ret_key = (struct db_val){ key, 8 };
	return view_get(&r->view, table, key, 8, ret_val);
}

static int seek_guid(struct snap_reader *r, unsigned table, uint64_t guid,
                     struct db_val *k, struct db_val *v)
{
	uint8_t key[8];
	key_u64(key, guid);
	int ret = view_seek(&r->view, table, key, sizeof(key), k, v);
	return ret == E_OK && k->len != sizeof(key) ? E_MALFORMED : ret;
}

int snap_node(struct snap_reader *r, uint64_t guid, struct snap_node *ret_node)
{
	uint8_t key[8];
	struct db_val k, v;
	int ret = get_by_guid(r, SNAP_NODES, guid, &k, key, &v);
	return ret == E_OK ? decode_node(&k, &v, ret_node) : ret;
}

int snap_node_from(struct snap_reader *r, uint64_t guid, struct snap_node *ret_node)
{
	struct db_val k, v;
	int ret = seek_guid(r, SNAP_NODES, guid, &k, &v);
	return ret == E_OK ? decode_node(&k, &v, ret_node) : ret;
}

/* \retval E_NOTFOUND  The node has no such port. */
static int decode_port(const struct db_val *k, const struct db_val *v, unsigned num,
                       struct snap_port *ret_port)
{
	struct row_port row;
	if (k->len != 8 || v->len == 0 || v->len % sizeof(row) != 0) {
		return E_MALFORMED;
	}
	if ((num + 1) * sizeof(row) > v->len) {
		return E_NOTFOUND;
	}
	memcpy(&row, v->data + num * sizeof(row), sizeof(row));
	if (!row.exists) {
		return E_NOTFOUND;
	}
	*ret_port = (struct snap_port){
		.node_guid = key_read_u64(k->data),
		.guid = row.guid,
		.peer_guid = row.peer_guid,
		.num = (uint8_t)num,
		.peer_port = row.peer_port,
		.state = row.state,
		.width = row.width,
		.speed = row.speed,
		.rate = row.rate,
		.mtu = row.mtu,
		.vls = row.vls,
		.lid = row.lid,
		.lmc = row.lmc,
	};
	return E_OK;
}

int snap_port(struct snap_reader *r, uint64_t node_guid, uint8_t num,
              struct snap_port *ret_port)
{
	uint8_t key[8];
	struct db_val k, v;
	int ret = get_by_guid(r, SNAP_PORTS, node_guid, &k, key, &v);
	return ret == E_OK ? decode_port(&k, &v, num, ret_port) : ret;
}

int snap_port_from(struct snap_reader *r, uint64_t node_guid, uint8_t num,
                   struct snap_port *ret_port)
{
	struct db_val k, v;
	int ret = seek_guid(r, SNAP_PORTS, node_guid, &k, &v);
	unsigned from = num;
	while (ret == E_OK) {
		if (v.len == 0 || v.len % sizeof(struct row_port) != 0) {
			return E_MALFORMED;
		}
		if (key_read_u64(k.data) != node_guid) {
			from = 0;
		}
		for (; from < v.len / sizeof(struct row_port); from++) {
			ret = decode_port(&k, &v, from, ret_port);
			if (ret != E_NOTFOUND) {
				return ret;
			}
		}
		ret = view_next(&r->view, SNAP_PORTS, &k, &v);
		if (ret == E_OK && k.len != 8) {
			ret = E_MALFORMED;
		}
		from = 0;
	}
	return ret;
}

int snap_link_from(struct snap_reader *r, uint64_t guid_a, uint8_t port_a,
                   struct snap_link *ret_link)
{
	struct db_val k, v;
	int ret = seek_guid(r, SNAP_LINKS, guid_a, &k, &v);
	while (ret == E_OK) {
		struct row_link row;
		uint64_t guid = key_read_u64(k.data);
		if (v.len == 0 || v.len % sizeof(row) != 0) {
			return E_MALFORMED;
		}
		for (size_t at = 0; at < v.len; at += sizeof(row)) {
			memcpy(&row, v.data + at, sizeof(row));
			if (guid == guid_a && row.port_a < port_a) {
				continue;
			}
			*ret_link =
				(struct snap_link){ guid,       row.guid_b, row.port_a,
				                    row.port_b, row.width,  row.speed,
				                    row.rate,   row.mtu };
			return E_OK;
		}
		ret = view_next(&r->view, SNAP_LINKS, &k, &v);
		if (ret == E_OK && k.len != 8) {
			ret = E_MALFORMED;
		}
	}
	return ret;
}

int snap_name(struct snap_reader *r, const char *description, uint64_t *ret_guids,
              unsigned max, unsigned *ret_n)
{
	struct db_val v;
	size_t len = strlen(description);
	if (len == 0 || len > 64) {
		return E_NOTFOUND; /* not indexed */
	}
	int ret = view_get(&r->view, SNAP_NAMES, description, len, &v);
	if (ret != E_OK) {
		return ret;
	}
	if (v.len == 0 || v.len % sizeof(uint64_t) != 0) {
		return E_MALFORMED;
	}
	size_t n = v.len / sizeof(uint64_t);
	if (max) {
		memcpy(ret_guids, v.data, (n < max ? n : max) * sizeof(uint64_t));
	}
	*ret_n = (unsigned)n;
	return E_OK;
}

int snap_vport(struct snap_reader *r, uint64_t host_guid, uint32_t i,
               struct snap_vport *ret_vport)
{
	uint8_t key[8];
	struct db_val k, v;
	struct row_vport row;
	int ret = get_by_guid(r, SNAP_VPORTS, host_guid, &k, key, &v);
	if (ret != E_OK) {
		return ret;
	}
	if (v.len % sizeof(row) != 0) {
		return E_MALFORMED;
	}
	if (i >= v.len / sizeof(row)) {
		return E_NOTFOUND;
	}
	memcpy(&row, v.data + i * sizeof(row), sizeof(row));
	*ret_vport = (struct snap_vport){ .guid = row.guid,
		                          .node_guid = row.node_guid,
		                          .host_guid = host_guid,
		                          .lid = row.lid,
		                          .index = row.index,
		                          .p_key_set = row.p_key_set,
		                          .port = row.port,
		                          .state = row.state,
		                          .own_lid = row.own_lid != 0 };
	memcpy(ret_vport->description, row.description, sizeof(row.description));
	return E_OK;
}

int snap_vport_by_guid(struct snap_reader *r, uint64_t guid, struct snap_vport *ret_vport)
{
	struct snap_end end;
	int ret = snap_port_guid(r, guid, &end);

	if (ret == E_OK && !end.is_vport) {
		return E_NOTFOUND;
	}
	for (uint32_t i = 0; ret == E_OK; i++) {
		ret = snap_vport(r, end.node_guid, i, ret_vport);
		if (ret == E_OK && ret_vport->guid == guid) {
			return E_OK;
		}
	}
	return ret;
}

int snap_load(struct snap_reader *r, uint64_t sw_guid, uint8_t port, uint32_t *ret_all,
              uint32_t *ret_base)
{
	uint8_t key[8];
	struct db_val k, v;
	struct row_load row;
	int ret = get_by_guid(r, SNAP_LOAD, sw_guid, &k, key, &v);
	if (ret != E_OK) {
		return ret;
	}
	if (v.len % sizeof(row) != 0) {
		return E_MALFORMED;
	}
	if ((port + 1U) * sizeof(row) > v.len) {
		return E_NOTFOUND;
	}
	memcpy(&row, v.data + port * sizeof(row), sizeof(row));
	if (row.all == UINT32_MAX) {
		return E_NOTFOUND;
	}
	*ret_all = row.all;
	*ret_base = row.base;
	return E_OK;
}

int snap_port_groups(struct snap_reader *r, uint64_t sw_guid, struct port_set *ret_set,
                     unsigned *ret_n)
{
	uint8_t key[8];
	struct db_val k, v;
	int ret = get_by_guid(r, SNAP_PORT_GROUPS, sw_guid, &k, key, &v);
	if (ret != E_OK) {
		return ret;
	}
	if (v.len % sizeof(*ret_set) != 0 || v.len > PORT_GROUPS_MAX * sizeof(*ret_set)) {
		return E_MALFORMED;
	}
	memcpy(ret_set, v.data, v.len);
	*ret_n = (unsigned)(v.len / sizeof(*ret_set));
	return E_OK;
}

enum { ATTR_KEY = 10, ATTR_HEAD = 6 };

static void attr_key(uint8_t key[ATTR_KEY], uint16_t attr, uint64_t guid)
{
	key_u16(key, attr);
	key_u64(key + 2, guid);
}

/* First row of a node's value with a block >= the given one. \retval E_NOTFOUND */
static int find_block(const struct db_val *k, const struct db_val *v, uint32_t block,
                      struct snap_attr_row *ret_attr_row)
{
	size_t at = 0;
	while (at < v->len) {
		uint32_t b;
		uint16_t len;
		if (v->len - at < ATTR_HEAD) {
			return E_MALFORMED;
		}
		memcpy(&b, v->data + at, sizeof(b));
		memcpy(&len, v->data + at + 4, sizeof(len));
		at += ATTR_HEAD;
		if (v->len - at < len) {
			return E_MALFORMED;
		}
		if (b >= block) {
			*ret_attr_row = (struct snap_attr_row){ key_read_u64(k->data + 2),
				                                b, v->data + at, len };
			return E_OK;
		}
		at += len;
	}
	return E_NOTFOUND;
}

int snap_attr(struct snap_reader *r, uint16_t attr, uint64_t guid, uint32_t block,
              const uint8_t **ret_bytes, uint16_t *ret_len)
{
	uint8_t key[ATTR_KEY];
	struct db_val v;
	struct snap_attr_row row;
	attr_key(key, attr, guid);
	int ret = view_get(&r->view, SNAP_ATTRS, key, sizeof(key), &v);
	if (ret == E_OK) {
		ret = find_block(&(struct db_val){ key, sizeof(key) }, &v, block, &row);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (row.block != block) {
		return E_NOTFOUND;
	}
	*ret_bytes = row.data;
	*ret_len = row.len;
	return E_OK;
}

int snap_attr_from(struct snap_reader *r, uint16_t attr, uint64_t guid, uint32_t block,
                   struct snap_attr_row *ret_attr_row)
{
	uint8_t key[ATTR_KEY];
	struct db_val k, v;
	attr_key(key, attr, guid);
	int ret = view_seek(&r->view, SNAP_ATTRS, key, sizeof(key), &k, &v);
	while (ret == E_OK) {
		if (k.len != ATTR_KEY) {
			return E_MALFORMED;
		}
		if (key_read_u16(k.data) != attr) {
			return E_NOTFOUND;
		}
		bool same = key_read_u64(k.data + 2) == guid;
		ret = find_block(&k, &v, same ? block : 0, ret_attr_row);
		if (ret != E_NOTFOUND) {
			return ret;
		}
		ret = view_next(&r->view, SNAP_ATTRS, &k, &v);
	}
	return ret;
}

int snap_prefix_route(struct snap_reader *r, uint64_t prefix,
                      struct snap_prefix_route *ret_prefix_route)
{
	static const uint8_t first[2];
	struct db_val k, v;
	struct row_prefix_route row;
	int ret = view_seek(&r->view, SNAP_PREFIX_ROUTES, first, sizeof(first), &k, &v);
	for (; ret == E_OK; ret = view_next(&r->view, SNAP_PREFIX_ROUTES, &k, &v)) {
		if (v.len != sizeof(row)) {
			return E_MALFORMED;
		}
		memcpy(&row, v.data, sizeof(row));
		if (row.any || row.prefix == prefix) {
			*ret_prefix_route = (struct snap_prefix_route){
				row.prefix, row.router_port_guid, row.any != 0
			};
			return E_OK;
		}
	}
	return ret;
}

/* --- client records ------------------------------------------------------------------- */

static int decode_client_row(int ret, enum record_table table, const struct db_val *k,
                             const struct db_val *v, struct client_row *ret_row)
{
	if (ret == E_OK && (k->len > UINT16_MAX || v->len > UINT16_MAX)) {
		ret = E_MALFORMED;
	}
	if (ret == E_OK) {
		*ret_row = (struct client_row){ .key = k->data,
			                        .value = v->data,
			                        .table = table,
			                        .key_len = (uint16_t)k->len,
			                        .len = (uint16_t)v->len };
	}
	return ret;
}

int snap_client_row_from(struct snap_reader *r, enum record_table table, const void *key,
                         size_t key_len, struct client_row *ret_row)
{
	struct db_val k, v;
	int ret = view_seek(&r->view, SNAP_CLIENT_TABLE(table), key, key_len, &k, &v);
	return decode_client_row(ret, table, &k, &v, ret_row);
}

int snap_client_row_next(struct snap_reader *r, enum record_table table,
                         struct client_row *ret_row)
{
	struct db_val k, v;
	int ret = view_next(&r->view, SNAP_CLIENT_TABLE(table), &k, &v);
	return decode_client_row(ret, table, &k, &v, ret_row);
}

/* --- nodes that were ever up ---------------------------------------------------------- */

static int decode_known(int ret, const struct client_row *row, struct known_node *ret_node)
{
	return ret != E_OK ? ret
	                   : known_decode(row->key, row->key_len, row->value, row->len, ret_node);
}

int snap_known_from(struct snap_reader *r, uint64_t node_guid, uint8_t port,
                    struct known_node *ret_node)
{
	uint8_t key[KNOWN_KEY_BYTES];
	struct client_row row;

	known_key(node_guid, port, key);
	return decode_known(
		snap_client_row_from(r, RECORDS_KNOWN, key, sizeof(key), &row), &row,
		ret_node);
}

int snap_known_next(struct snap_reader *r, struct known_node *ret_node)
{
	struct client_row row;

	return decode_known(snap_client_row_next(r, RECORDS_KNOWN, &row), &row, ret_node);
}

static int decode_ack(int ret, const struct client_row *row, struct alarm_ack *ret_ack)
{
	return ret != E_OK ? ret
	                   : acks_decode(row->key, row->key_len, row->value, row->len, ret_ack);
}

int snap_ack_first(struct snap_reader *r, struct alarm_ack *ret_ack)
{
	struct client_row row;

	return decode_ack(snap_client_row_from(r, RECORDS_ACKS, "", 0, &row), &row, ret_ack);
}

int snap_ack_next(struct snap_reader *r, struct alarm_ack *ret_ack)
{
	struct client_row row;

	return decode_ack(snap_client_row_next(r, RECORDS_ACKS, &row), &row, ret_ack);
}

static int decode_drained(int ret, const struct client_row *row, struct drained_row *ret_row)
{
	return ret != E_OK ? ret
	                   : drained_decode(row->key, row->key_len, row->value, row->len,
	                                    ret_row);
}

int snap_drained_first(struct snap_reader *r, struct drained_row *ret_row)
{
	uint8_t key[DRAINED_KEY_BYTES];
	struct client_row row;

	drained_key(0, 0, 0, key);
	return decode_drained(
		snap_client_row_from(r, RECORDS_DRAINED, key, sizeof(key), &row), &row, ret_row);
}

int snap_drained_next(struct snap_reader *r, struct drained_row *ret_row)
{
	struct client_row row;

	return decode_drained(snap_client_row_next(r, RECORDS_DRAINED, &row), &row, ret_row);
}

/* The meanings that a text may have. */
struct wanted {
	const char *text;
	const char *colon; /* before a port number; NULL: there is none */
	uint64_t port, guid, lid;
	bool has_guid, has_lid;
};

static bool is_wanted(const struct wanted *w, const struct known_node *n)
{
	return strcmp(n->name, w->text) == 0 ||
	       (w->colon != NULL && n->port == w->port &&
	        strlen(n->name) == (size_t)(w->colon - w->text) &&
	        strncmp(n->name, w->text, strlen(n->name)) == 0) ||
	       (w->has_guid && (n->node_guid == w->guid || n->port_guid == w->guid)) ||
	       (w->has_lid && n->lid != 0 && n->lid == w->lid);
}

/* Is the node of a row in the fabric of this epoch? A failure to tell counts as yes. */
static bool is_present(struct snap_reader *r, uint64_t node_guid)
{
	struct snap_node node;

	return snap_node(r, node_guid, &node) != E_NOTFOUND;
}

int snap_known_gone(struct snap_reader *r, const char *text, struct known_node *ret_node)
{
	struct wanted w = { .text = text, .colon = strrchr(text, ':') };
	struct known_node n, found = { .gone_s = 0 };

	if (w.colon != NULL && text_u64(w.colon + 1, UINT8_MAX, &w.port) != E_OK) {
		w.colon = NULL;
	}
	w.has_guid = text_guid(text, &w.guid) == E_OK;
	w.has_lid = text_u64(text, UINT32_MAX, &w.lid) == E_OK;
	int ret = snap_known_from(r, 0, 0, &n);
	for (; ret == E_OK; ret = snap_known_next(r, &n)) {
		/* One that has just left is in the rows as it was, until the sweep is over. */
		if (!known_is_cable(&n) && is_wanted(&w, &n) &&
		    (n.gone_s == 0 ? !is_present(r, n.node_guid)
		                   : n.gone_s > found.gone_s && (found.gone_s != 0 ||
		                                                 found.node_guid == 0))) {
			found = n;
		}
	}
	if (ret == E_NOTFOUND && found.node_guid != 0) {
		*ret_node = found;
		return E_OK;
	}
	return ret;
}

/* --- the end port of a GUID ----------------------------------------------------------- */

struct place {
	uint64_t guid;
	uint32_t lid; /* 0: unused */
	bool is_vport;
	uint16_t p_key_set; /* of a virtual port */
};

struct guid_cache {
	unsigned shift; /* 64 - bits of a place's number */
	struct place place[];
};

/* Place of the GUID; NULL: out of memory, so nothing is kept. */
static struct place *place_of(struct snap_reader *r, uint64_t guid)
{
	struct guid_cache *c = r->epoch.cache[CACHE_GUIDS].data;

	if (c == NULL) {
		unsigned bits = 4;
		while (bits < 24 &&
		       UINT32_C(1) << bits < 2 * (uint64_t)r->meta.n_end_ports) {
			bits++;
		}
		c = calloc(1, sizeof(*c) + (sizeof(struct place) << bits));
		if (c == NULL) {
			return NULL;
		}
		c->shift = 64 - bits;
		r->epoch.cache[CACHE_GUIDS].data = c;
		r->epoch.cache[CACHE_GUIDS].free = free;
	}
	/* 2^64 by the golden ratio: GUIDs that follow each other spread well */
	return &c->place[guid * UINT64_C(0x9e3779b97f4a7c15) >> c->shift];
}

void snap_prefetch_guid(struct snap_reader *r, uint64_t guid)
{
	const struct place *p = place_of(r, guid);

	if (p != NULL) {
		__builtin_prefetch(p);
	}
}

uint32_t snap_guid_known(struct snap_reader *r, uint64_t guid)
{
	const struct place *p = place_of(r, guid);

	return p != NULL && p->guid == guid ? p->lid : 0;
}

static int search(struct snap_reader *r, uint64_t guid, struct place *ret_place)
{
	uint8_t key[8];
	struct db_val v;
	struct row_guid row;

	key_u64(key, guid);
	int ret = view_get(&r->view, SNAP_GUIDS, key, sizeof(key), &v);
	if (ret != E_OK) {
		return ret;
	}
	if (v.len != sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v.data, sizeof(row));
	*ret_place = (struct place){ guid, row.base_lid, row.is_vport, row.p_key_set };
	return row.base_lid ? E_OK : E_NOTFOUND;
}

/* The end of a virtual port that uses the LID of another port is that of the port, but for its
 * P_Keys. */
static int end_of(struct snap_reader *r, const struct place *p, struct snap_end *ret_end)
{
	int ret = snap_lid(r, p->lid, ret_end);

	if (ret == E_OK && p->is_vport) {
		ret_end->is_vport = 1;
		ret_end->p_key_set = p->p_key_set;
	}
	return ret;
}

int snap_port_guid(struct snap_reader *r, uint64_t guid, struct snap_end *ret_end)
{
	struct place *p = place_of(r, guid);

	if (p == NULL || p->lid == 0 || p->guid != guid) {
		struct place found;
		int ret = search(r, guid, &found);
		if (ret != E_OK) {
			return ret;
		}
		if (p != NULL) {
			*p = found;
		}
		return end_of(r, &found, ret_end);
	}
	return end_of(r, p, ret_end);
}

/* --- all end ports -------------------------------------------------------------------- */

struct ends_cache {
	struct snap_ends list;
	struct snap_end_name *name;
	size_t cap;
};

static void free_ends(void *data)
{
	struct ends_cache *c = data;
	if (c) {
		free(c->name);
	}
	free(c);
}

static int add_end(struct ends_cache *c, uint64_t guid, const struct snap_end *end)
{
	if (VECTOR_RESERVE(c->name, c->cap, c->list.n + 1) != E_OK) {
		return -ENOMEM;
	}
	c->name[c->list.n++] = (struct snap_end_name){
		.guid = guid, .lid = end->base_lid, .is_alias = guid != end->port_guid
	};
	return E_OK;
}

/* A switch's NodeGUID is another name of its port 0, which is there by its PortGUID. */
static int add_end_row(struct snap_reader *r, struct ends_cache *c, const struct db_val *k,
                   const struct db_val *v)
{
	struct row_guid row;
	struct snap_end end;
	if (k->len != 8 || v->len != sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, v->data, sizeof(row));
	uint64_t guid = key_read_u64(k->data);
	int ret = row.base_lid ? snap_lid(r, row.base_lid, &end) : E_NOTFOUND;
	if (ret != E_OK || (guid == row.node_guid && guid != end.port_guid)) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	c->list.of_lmc[end.lmc & 7]++;
	return add_end(c, guid, &end);
}

static int list_ends(struct snap_reader *r, struct ends_cache **ret_cache)
{
	struct view *view = &r->view;
	struct ends_cache *c = calloc(1, sizeof(*c));
	struct db_val k, v;
	int ret = c ? view_seek(view, SNAP_GUIDS, NULL, 0, &k, &v) : -ENOMEM;
	while (ret == E_OK) {
		ret = add_end_row(r, c, &k, &v);
		if (ret == E_OK) {
			ret = view_next(view, SNAP_GUIDS, &k, &v);
		}
	}
	if (ret != E_NOTFOUND) {
		free_ends(c);
		return ret;
	}
	c->list.name = c->name;
	*ret_cache = c;
	return E_OK;
}

int snap_ends(struct snap_reader *r, const struct snap_ends **ret_ends)
{
	struct ends_cache *c = r->epoch.cache[CACHE_ENDS].data;
	if (!c) {
		int ret = list_ends(r, &c);
		if (ret != E_OK) {
			return ret;
		}
		r->epoch.cache[CACHE_ENDS].data = c;
		r->epoch.cache[CACHE_ENDS].free = free_ends;
	}
	*ret_ends = &c->list;
	return E_OK;
}
