/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/diff_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/search.h"
#include "db/snapshot/history.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/reader.h"
#include "gateway/view/body.h"
#include "gateway/view/json_text.h"
#include "gateway/view/list_filter.h"
#include "routing/graph/graph.h"

enum { NAME_BYTES = 65, FIELDS_MAX = 12, FIELD_BYTES = 80, TEXT_BYTES = 800 };

#define KIND_NAME(id, name) #name,
const char *const diff_kind_names[] = { DIFF_KINDS(KIND_NAME) };
#undef KIND_NAME

/* --- filter ---------------------------------------------------------------------------- */

static const char *kind_name(unsigned kind)
{
	return diff_kind_names[kind];
}

int diff_filter_read(struct list_filter *f, const char *kinds, const char *node,
                     struct problem *p, struct arena *a)
{
	static const struct list_kinds known = { "changes", kind_name, DIFF_KIND_COUNT };

	_Static_assert((int)DIFF_KIND_COUNT <= (int)LIST_FILTER_KINDS,
	               "kinds of changes");
	return list_filter_read(f, &known, kinds, node, p, a);
}

static bool wants_kind(const struct list_filter *f, enum diff_kind kind)
{
	return f->some_kinds ? f->kind[kind] : kind != DIFF_ROUTE_CHANGED;
}

/* --- elements -------------------------------------------------------------------------- */

/* A list in the making. */
struct list {
	struct snap_reader *r;
	const struct snap_changes *changes;
	const struct list_filter *filter;
	struct body *body;
	uint64_t first, end, n;
	size_t nodes, n_nodes; /* where the rows of nodes are among the changes */
};

/* A node, or one of its ports. */
struct end {
	uint64_t guid; /* 0: none */
	uint8_t port;  /* 0: the node */
	char name[NAME_BYTES];
};

/* A number or a word that changed; "" where there is none. */
struct field {
	const char *name;
	char was[FIELD_BYTES], is[FIELD_BYTES];
};

struct element {
	enum diff_kind kind;
	struct end node, peer;
	struct field field[FIELDS_MAX];
	unsigned n_fields;
	int64_t lid, p_key, entries; /* below 0: none */
	bool at_most;
	char text[TEXT_BYTES];
};

static struct element element_of(enum diff_kind kind)
{
	return (struct element){ .kind = kind, .lid = -1, .p_key = -1, .entries = -1 };
}

static void field_text(struct element *e, const char *name, const char *was,
                       const char *is)
{
	if (strcmp(was, is) == 0 || e->n_fields == FIELDS_MAX) {
		return;
	}
	struct field *f = &e->field[e->n_fields++];

	f->name = name;
	snprintf(f->was, sizeof(f->was), "%s", was);
	snprintf(f->is, sizeof(f->is), "%s", is);
}

static void field_number(struct element *e, const char *name, uint64_t was, uint64_t is)
{
	char a[24], b[24];

	snprintf(a, sizeof(a), "%" PRIu64, was);
	snprintf(b, sizeof(b), "%" PRIu64, is);
	field_text(e, name, a, b);
}

static void field_guid(struct element *e, const char *name, uint64_t was, uint64_t is)
{
	char a[24], b[24];

	snprintf(a, sizeof(a), "0x%016" PRIx64, was);
	snprintf(b, sizeof(b), "0x%016" PRIx64, is);
	field_text(e, name, a, b);
}

__attribute__((format(printf, 2, 3))) static void say(struct element *e, const char *fmt,
                                                      ...)
{
	size_t at = strlen(e->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text + at, sizeof(e->text) - at, fmt, ap);
	va_end(ap);
}

static void say_fields(struct element *e)
{
	for (unsigned i = 0; i < e->n_fields; i++) {
		const struct field *f = &e->field[i];

		say(e, "%s%s %s -> %s", i > 0 ? ", " : "", f->name,
		    f->was[0] != '\0' ? f->was : "none",
		    f->is[0] != '\0' ? f->is : "none");
	}
}

static void say_port(struct element *e, const struct end *end)
{
	say(e, "'%s' port %u", end->name, end->port);
}

static void add_number(json_t *o, const char *name, int64_t number)
{
	if (number >= 0) {
		json_object_set_new(o, name, json_integer(number));
	}
}

static json_t *element_json(const struct element *e)
{
	json_t *fields = json_array();

	for (unsigned i = 0; i < e->n_fields; i++) {
		const struct field *f = &e->field[i];

		json_array_append_new(fields, json_pack("{s:s, s:o, s:o}", "name",
		                                        f->name, "was", word_json(f->was),
		                                        "is", word_json(f->is)));
	}
	json_t *o = json_pack(
		"{s:s, s:o, s:o, s:o, s:o}", "kind", diff_kind_names[e->kind], "text",
		text_json(e->text), "node",
		named_port_json(e->node.guid, e->node.name, e->node.port), "peer",
		named_port_json(e->peer.guid, e->peer.name, e->peer.port), "fields",
		fields);

	if (o != NULL) {
		add_number(o, "lid", e->lid);
		add_number(o, "p_key", e->p_key);
		add_number(o, "entries", e->entries);
	}
	if (o != NULL && e->entries >= 0) {
		json_object_set_new(o, "at_most", json_boolean(e->at_most));
	}
	return o;
}

/* Counts an element that is wanted. \return Is it on this page? */
static bool count(struct list *l, enum diff_kind kind, const struct end *node,
                  const struct end *peer)
{
	const struct list_filter *f = l->filter;

	if (!wants_kind(f, kind) || (!list_filter_node(f, node->guid, node->name) &&
	                             !list_filter_node(f, peer->guid, peer->name))) {
		return false;
	}
	l->n++;
	return l->n > l->first && l->n <= l->end;
}

static void add(struct list *l, const struct element *e)
{
	if (count(l, e->kind, &e->node, &e->peer)) {
		body_list_add(l->body, element_json(e));
	}
}

/* --- nodes and their names ------------------------------------------------------------- */

struct node_row {
	struct row_node is;
	char description[NAME_BYTES], name[NAME_BYTES]; /* for people */
};

static int read_node(const uint8_t *data, size_t len, struct node_row *ret_row)
{
	*ret_row = (struct node_row){ .is = { .type = 0 } };
	if (len == 0) {
		return E_OK;
	}
	if (len < sizeof(ret_row->is)) {
		return E_MALFORMED;
	}
	memcpy(&ret_row->is, data, sizeof(ret_row->is));
	size_t of_name = ret_row->is.name_len,
	       of_description = ret_row->is.description_len;
	if (of_name >= NAME_BYTES || of_description >= NAME_BYTES ||
	    len != sizeof(ret_row->is) + of_name + of_description) {
		return E_MALFORMED;
	}
	data += sizeof(ret_row->is);
	memcpy(ret_row->description, data, of_description);
	memcpy(ret_row->name, of_name > 0 ? data + of_description : data,
	       of_name > 0 ? of_name : of_description);
	return E_OK;
}

/* As it is called in the newer epoch, else in the older one, else now; else its GUID. */
static int name_end(const struct list *l, uint64_t guid, uint8_t port,
                    struct end *ret_end)
{
	const struct snap_change *nodes = l->changes->list + l->nodes;
	size_t at = LOWER_BOUND(l->n_nodes, i, key_read_u64(nodes[i].key) < guid);
	struct node_row row = { .name = "" };
	struct snap_node node;
	int ret = E_OK;

	if (at < l->n_nodes && key_read_u64(nodes[at].key) == guid) {
		const struct snap_change *c = &nodes[at];

		ret = c->is_len > 0 ? read_node(c->is, c->is_len, &row)
		                    : read_node(c->was, c->was_len, &row);
	} else {
		ret = snap_node(l->r, guid, &node);
		if (ret == E_OK) {
			snprintf(row.name, sizeof(row.name), "%s", node.name);
		}
	}
	*ret_end = (struct end){ .guid = guid, .port = port };
	snprintf(ret_end->name, sizeof(ret_end->name), "%s", row.name);
	if (ret_end->name[0] == '\0') {
		snprintf(ret_end->name, sizeof(ret_end->name), "0x%016" PRIx64, guid);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int list_node(struct list *l, const struct snap_change *c)
{
	enum diff_kind kind = c->was_len == 0  ? DIFF_NODE_NEW
	                      : c->is_len == 0 ? DIFF_NODE_GONE
	                                       : DIFF_NODE_CHANGED;
	struct element e = element_of(kind);
	struct node_row was, is;
	int ret = read_node(c->was, c->was_len, &was);

	if (ret == E_OK) {
		ret = read_node(c->is, c->is_len, &is);
	}
	if (ret == E_OK) {
		ret = name_end(l, key_read_u64(c->key), 0, &e.node);
	}
	if (ret != E_OK) {
		return ret;
	}
	const struct node_row *there = c->is_len > 0 ? &is : &was;
	say(&e, "%s '%s'", node_type_name(there->is.type), e.node.name);
	if (kind != DIFF_NODE_CHANGED) {
		say(&e, " is %s", kind == DIFF_NODE_NEW ? "new" : "gone");
		if (there->is.lid != 0) {
			e.lid = there->is.lid;
		}
		add(l, &e);
		return E_OK;
	}
	field_text(&e, "name", was.name, is.name);
	field_text(&e, "description", was.description, is.description);
	field_text(&e, "type", node_type_name(was.is.type), node_type_name(is.is.type));
	field_number(&e, "num_ports", was.is.n_ports, is.is.n_ports);
	field_guid(&e, "system_image_guid", was.is.system_image_guid,
	           is.is.system_image_guid);
	field_number(&e, "vendor_id", was.is.vendor_id, is.is.vendor_id);
	field_number(&e, "device_id", was.is.device_id, is.is.device_id);
	field_number(&e, "revision", was.is.revision, is.is.revision);
	if (e.n_fields > 0) { /* its LID is that of a port */
		say(&e, ": ");
		say_fields(&e);
		add(l, &e);
	}
	return E_OK;
}

/* --- cables and ports ------------------------------------------------------------------ */

/* Is the cable among the rows? */
static bool has_link(const uint8_t *rows, size_t len, const struct row_link *link)
{
	for (size_t at = 0; at + sizeof(*link) <= len; at += sizeof(*link)) {
		struct row_link other;

		memcpy(&other, rows + at, sizeof(other));
		if (other.port_a == link->port_a && other.guid_b == link->guid_b &&
		    other.port_b == link->port_b) {
			return true;
		}
	}
	return false;
}

/* Cables that are in rows, but not in others. */
static int list_cables(struct list *l, enum diff_kind kind, uint64_t guid_a,
                       const uint8_t *rows, size_t len, const uint8_t *others,
                       size_t n_others)
{
	struct row_link link;
	int ret = len % sizeof(link) == 0 ? E_OK : E_MALFORMED;

	for (size_t at = 0; at < len && ret == E_OK; at += sizeof(link)) {
		struct element e = element_of(kind);

		memcpy(&link, rows + at, sizeof(link));
		if (has_link(others, n_others, &link)) {
			continue;
		}
		ret = name_end(l, guid_a, link.port_a, &e.node);
		if (ret == E_OK) {
			ret = name_end(l, link.guid_b, link.port_b, &e.peer);
		}
		if (ret == E_OK) {
			say(&e, "cable %s: ", kind == DIFF_LINK_NEW ? "new" : "lost");
			say_port(&e, &e.node);
			say(&e, " - ");
			say_port(&e, &e.peer);
			add(l, &e);
		}
	}
	return ret;
}

static int list_new_cables(struct list *l, const struct snap_change *c)
{
	return list_cables(l, DIFF_LINK_NEW, key_read_u64(c->key), c->is, c->is_len,
	                   c->was, c->was_len);
}

static int list_lost_cables(struct list *l, const struct snap_change *c)
{
	return list_cables(l, DIFF_LINK_LOST, key_read_u64(c->key), c->was, c->was_len,
	                   c->is, c->is_len);
}

static int list_port(struct list *l, uint64_t guid, uint8_t num,
                     const struct row_port *was, const struct row_port *is)
{
	struct element e = element_of(DIFF_PORT_CHANGED);

	field_text(&e, "state", port_state_name(was->state), port_state_name(is->state));
	field_text(&e, "width", link_width_name(was->width), link_width_name(is->width));
	field_text(&e, "speed", link_speed_name(was->speed), link_speed_name(is->speed));
	field_number(&e, "mtu", was->mtu, is->mtu);
	field_number(&e, "vls", was->vls, is->vls);
	field_number(&e, "lid", was->lid, is->lid);
	field_number(&e, "lmc", was->lmc, is->lmc);
	field_guid(&e, "port_guid", was->guid, is->guid);
	if (e.n_fields == 0) {
		return E_OK; /* its cable, which is listed as such */
	}
	int ret = name_end(l, guid, num, &e.node);
	if (ret == E_OK) {
		say_port(&e, &e.node);
		say(&e, ": ");
		say_fields(&e);
		add(l, &e);
	}
	return ret;
}

/* Ports of a node that is there in both epochs. */
static int list_ports(struct list *l, const struct snap_change *c)
{
	struct row_port was, is;
	int ret = E_OK;

	if (c->was_len == 0 || c->is_len == 0) {
		return E_OK;
	}
	if (c->was_len % sizeof(was) != 0 || c->is_len % sizeof(is) != 0) {
		return E_MALFORMED;
	}
	for (size_t at = 0; at < c->was_len && at < c->is_len && ret == E_OK;
	     at += sizeof(was)) {
		memcpy(&was, c->was + at, sizeof(was));
		memcpy(&is, c->is + at, sizeof(is));
		if (was.exists && is.exists) {
			ret = list_port(l, key_read_u64(c->key),
			                (uint8_t)(at / sizeof(was)), &was, &is);
		}
	}
	return ret;
}

/* --- routing, partitions, forwarding tables -------------------------------------------- */

static int list_routing(struct list *l, const struct snap_change *c)
{
	struct element e = element_of(DIFF_ROUTING_CHANGED);
	struct row_routing was, is;

	if (c->was_len != sizeof(was) || c->is_len != sizeof(is)) {
		return E_MALFORMED;
	}
	memcpy(&was, c->was, sizeof(was));
	memcpy(&is, c->is, sizeof(is));
	field_text(&e, "engine", was.engine, is.engine);
	field_number(&e, "pairs", was.pairs, is.pairs);
	field_number(&e, "unreachable_pairs", was.unreachable_pairs,
	             is.unreachable_pairs);
	field_number(&e, "forwarding_loops", was.forwarding_loops, is.forwarding_loops);
	field_number(&e, "credit_loops", was.credit_loops, is.credit_loops);
	field_number(&e, "vls_used", was.vls_used, is.vls_used);
	field_number(&e, "lmc", was.lmc, is.lmc);
	field_guid(&e, "sm_port_guid", was.sm_port_guid, is.sm_port_guid);
	field_number(&e, "sm_lid", was.sm_lid, is.sm_lid);
	say_fields(&e);
	add(l, &e);
	return E_OK;
}

static int read_partition(const uint8_t *data, size_t len,
                          struct row_partition *ret_partition, char name[FIELD_BYTES])
{
	*ret_partition = (struct row_partition){ .sl = 0 };
	name[0] = '\0';
	if (len == 0) {
		return E_OK;
	}
	if (len < sizeof(*ret_partition)) {
		return E_MALFORMED;
	}
	memcpy(ret_partition, data, sizeof(*ret_partition));
	if (ret_partition->name_len > len - sizeof(*ret_partition)) {
		return E_MALFORMED;
	}
	snprintf(name, FIELD_BYTES, "%.*s", (int)ret_partition->name_len,
	         (const char *)data + len - ret_partition->name_len);
	return E_OK;
}

static int list_partition(struct list *l, const struct snap_change *c)
{
	enum diff_kind kind = c->was_len == 0  ? DIFF_PARTITION_NEW
	                      : c->is_len == 0 ? DIFF_PARTITION_GONE
	                                       : DIFF_PARTITION_CHANGED;
	struct element e = element_of(kind);
	char was_name[FIELD_BYTES], name[FIELD_BYTES];
	struct row_partition was, is;
	int ret = c->key_len == 2 ? read_partition(c->was, c->was_len, &was, was_name)
	                          : E_MALFORMED;

	if (ret == E_OK) {
		ret = read_partition(c->is, c->is_len, &is, name);
	}
	if (ret != E_OK) {
		return ret;
	}
	e.p_key = key_read_u16(c->key);
	say(&e, "partition 0x%04x '%s'", (unsigned)e.p_key,
	    kind == DIFF_PARTITION_GONE ? was_name : name);
	if (kind != DIFF_PARTITION_CHANGED) {
		say(&e, " is %s", kind == DIFF_PARTITION_NEW ? "new" : "gone");
		add(l, &e);
		return E_OK;
	}
	field_text(&e, "name", was_name, name);
	field_number(&e, "full_members", was.n_full, is.n_full);
	field_number(&e, "limited_members", was.n_limited, is.n_limited);
	field_number(&e, "group_count", was.n_groups, is.n_groups);
	field_number(&e, "sl", was.sl, is.sl);
	field_number(&e, "indx0", was.indx0, is.indx0);
	say(&e, ": ");
	say_fields(&e);
	say(&e, "%s", e.n_fields == 0 ? "other members or groups" : "");
	add(l, &e);
	return E_OK;
}

static void say_egress(struct element *e, uint8_t port)
{
	if (port == LFT_NO_ROUTE) {
		say(e, "none");
	} else {
		say(e, "%u", port);
	}
}

static void port_word(char to[8], uint8_t port)
{
	to[0] = '\0';
	if (port != LFT_NO_ROUTE) {
		snprintf(to, 8, "%u", port);
	}
}

static void list_entries(struct list *l, const struct end *node,
                         const struct snap_change *c)
{
	uint64_t base = (uint64_t)key_read_u32(c->key + 8) * LFT_PER_CHUNK;

	for (uint32_t i = 0; c->entries != NULL && i < c->count; i++) {
		static const struct end no_peer;
		struct element e;
		char was[8], is[8];

		if (!count(l, DIFF_ROUTE_CHANGED, node, &no_peer)) {
			continue; /* there may be a million */
		}
		e = element_of(DIFF_ROUTE_CHANGED);
		port_word(was, c->entries[i].was);
		port_word(is, c->entries[i].is);
		e.node = *node;
		e.lid = (int64_t)(base + c->entries[i].at);
		field_text(&e, "egress_port", was, is);
		say(&e, "'%s': LID %" PRId64 " leaves by port ", node->name, e.lid);
		say_egress(&e, c->entries[i].was);
		say(&e, " -> ");
		say_egress(&e, c->entries[i].is);
		body_list_add(l->body, element_json(&e));
	}
}

/* The chunks of a switch follow each other. \param n  Of them. */
static int list_table(struct list *l, const struct snap_change *c, size_t n)
{
	struct element e = element_of(DIFF_LFT_CHANGED);
	int ret = name_end(l, key_read_u64(c->key), 0, &e.node);

	if (ret != E_OK) {
		return ret;
	}
	e.entries = 0;
	for (size_t i = 0; i < n; i++) {
		e.entries += c[i].count;
		e.at_most |= c[i].at_most;
	}
	say(&e, "'%s': %s%" PRId64 " LIDs leave by another port", e.node.name,
	    e.at_most ? "at most " : "", e.entries);
	add(l, &e);
	for (size_t i = 0; wants_kind(l->filter, DIFF_ROUTE_CHANGED) && i < n; i++) {
		list_entries(l, &e.node, &c[i]);
	}
	return E_OK;
}

static int list_tables(struct list *l, const struct snap_change *c, size_t n)
{
	int ret = E_OK;

	for (size_t i = 0, end; i < n && ret == E_OK; i = end) {
		for (end = i + 1; end < n && memcmp(c[i].key, c[end].key, 8) == 0;
		     end++) {
		}
		ret = list_table(l, c + i, end - i);
	}
	return ret;
}

/* --- the list -------------------------------------------------------------------------- */

/* By the kind of change, in the order of the list. Some changes are walked twice: first what
 * is new, then what is gone. */
static const struct {
	enum change_kind kind;
	int (*list)(struct list *l, const struct snap_change *c);
} lists[] = {
	{ CHANGE_ROUTING, list_routing }, { CHANGE_NODE, list_node },
	{ CHANGE_LINK, list_new_cables }, { CHANGE_LINK, list_lost_cables },
	{ CHANGE_PORT, list_ports },      { CHANGE_PARTITION, list_partition },
};

/* Place of the first change of a kind. */
static size_t first_of(const struct snap_changes *c, enum change_kind kind)
{
	return LOWER_BOUND(c->n, i, c->list[i].kind < kind);
}

static bool keys_fit(const struct snap_changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		size_t want = c->list[i].kind == CHANGE_ROUTING     ? 0
		              : c->list[i].kind == CHANGE_PARTITION ? 2
		              : c->list[i].kind == CHANGE_LFT       ? CHUNK_KEY
		                                                    : 8;
		if (c->list[i].key_len != want) {
			return false;
		}
	}
	return true;
}

int diff_write(struct body *b, struct snap_reader *r, const struct snap_changes *c,
               const struct list_filter *f, uint64_t first, uint64_t n,
               uint64_t *ret_total)
{
	struct list l = { .r = r, .changes = c, .filter = f, .body = b, .first = first };
	int ret = keys_fit(c) ? E_OK : E_MALFORMED;

	l.end = first + n;
	l.nodes = first_of(c, CHANGE_NODE);
	l.n_nodes = first_of(c, CHANGE_NODE + 1) - l.nodes;
	for (unsigned k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
		size_t end = first_of(c, lists[k].kind + 1);

		for (size_t i = first_of(c, lists[k].kind); i < end && ret == E_OK; i++) {
			ret = lists[k].list(&l, &c->list[i]);
		}
	}
	if (ret == E_OK) {
		size_t at = first_of(c, CHANGE_LFT);
		ret = list_tables(&l, c->list + at, c->n - at);
	}
	*ret_total = l.n;
	return ret;
}
