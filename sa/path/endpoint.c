/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Which end port a text names. Each form of text is one function in `forms`; it adds the
 * end ports that fit. The first form that finds any decides: one is the answer, more are
 * ambiguous. When none does, one walk over the nodes looks for the name in another case
 * and keeps the descriptions that are near.
 */
#include "sa/path/path_query.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "routing/graph/graph.h"

enum {
	TEXT_MAX = 127,
	KEEP = 8,             /* candidates */
	SAME_NAME_MAX = 16,   /* nodes of one description that are looked at */
	DISTANCES_MAX = 4096, /* comparisons for near names */
	NOT_NEAR = 100
};

#define LINK_LOCAL_PREFIX UINT64_C(0xfe80000000000000)

struct seek {
	struct snap_reader *r;
	const char *text;
	char head[TEXT_MAX +
	          1]; /* text before the last colon, when a port number follows */
	bool has_port;
	uint8_t port;
	unsigned n, total; /* end ports found; kept: n */
	struct endpoint found[KEEP];
};

static int add(struct seek *k, const struct snap_end *end, uint32_t lid)
{
	if (k->n < KEEP) {
		k->found[k->n++] = (struct endpoint){ .end = *end, .lid = lid };
	}
	k->total++;
	return E_OK;
}

static int add_lid(struct seek *k, uint32_t base_lid)
{
	struct snap_end end;

	int ret = snap_lid(k->r, base_lid, &end);
	return ret == E_OK ? add(k, &end, 0) : ret;
}

/* The end ports of a node, or (has_port) the one with this number. */
static int add_node(struct seek *k, const struct snap_node *node, bool has_port,
                    uint8_t want)
{
	unsigned first = has_port ? want : node->type == NODE_SWITCH ? 0 : 1;
	unsigned last = has_port ? want : node->type == NODE_SWITCH ? 0 : node->n_ports;

	for (unsigned num = first; num <= last; num++) {
		struct snap_port port;
		int ret = snap_port(k->r, node->guid, (uint8_t)num, &port);
		if (ret == E_OK && port.lid != 0) {
			ret = add_lid(k, port.lid);
		}
		if (ret != E_OK && ret != E_NOTFOUND) {
			return ret;
		}
	}
	return E_OK;
}

/* An end port by one of its GUIDs; one that is not its PortGUID is kept as its alias. */
static int add_by_guid(struct seek *k, const struct snap_end *end, uint64_t guid)
{
	unsigned at = k->n;

	if (add(k, end, 0) == E_OK && k->n > at && guid != end->port_guid &&
	    guid != end->node_guid) {
		k->found[at].alias = guid;
	}
	return E_OK;
}

static int add_guid(struct seek *k, const char *text, bool has_port, uint8_t port)
{
	struct snap_end end;
	struct snap_node node;
	uint64_t guid;

	if (text_guid(text, &guid) != E_OK) {
		return E_NOTFOUND;
	}
	int ret = snap_node(k->r, guid, &node);
	if (ret == E_OK && (has_port || node.type != NODE_SWITCH)) {
		unsigned before = k->total;
		ret = add_node(k, &node, has_port, port);
		if (ret != E_OK || k->total > before) {
			return ret;
		}
	} else if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	ret = snap_port_guid(k->r, guid, &end);
	if (ret != E_OK) {
		return ret;
	}
	return end.base_lid != 0 && (!has_port || end.port == port)
	               ? add_by_guid(k, &end, guid)
	               : E_NOTFOUND;
}

static int add_name(struct seek *k, const char *name, bool has_port, uint8_t port)
{
	uint64_t guids[SAME_NAME_MAX];
	unsigned n;

	if (name[0] == '\0') {
		return E_NOTFOUND;
	}
	int ret = snap_name(k->r, name, guids, SAME_NAME_MAX, &n);
	for (unsigned i = 0; ret == E_OK && i < n && i < SAME_NAME_MAX; i++) {
		struct snap_node node;
		ret = snap_node(k->r, guids[i], &node);
		if (ret == E_OK) {
			ret = add_node(k, &node, has_port, port);
		}
	}
	if (ret == E_OK && n > SAME_NAME_MAX) {
		k->total += n - SAME_NAME_MAX;
	}
	return ret;
}

static int by_lid(struct seek *k)
{
	struct snap_end end;
	uint64_t lid;

	if (text_u64(k->text, UINT32_MAX, &lid) != E_OK || lid == 0) {
		return E_NOTFOUND;
	}
	int ret = snap_lid(k->r, (uint32_t)lid, &end);
	return ret == E_OK ? add(k, &end, (uint32_t)lid) : ret;
}

static int by_guid(struct seek *k)
{
	return add_guid(k, k->text, false, 0);
}

static int by_gid(struct seek *k)
{
	struct snap_end end;
	uint64_t prefix, guid;

	if (text_gid(k->text, &prefix, &guid) != E_OK ||
	    (prefix != LINK_LOCAL_PREFIX && prefix != snap_meta(k->r)->subnet_prefix)) {
		return E_NOTFOUND;
	}
	int ret = snap_port_guid(k->r, guid, &end);
	if (ret != E_OK) {
		return ret;
	}
	return end.base_lid != 0 ? add_by_guid(k, &end, guid) : E_NOTFOUND;
}

static int by_name(struct seek *k)
{
	return add_name(k, k->text, false, 0);
}

static int by_guid_port(struct seek *k)
{
	return k->has_port ? add_guid(k, k->head, true, k->port) : E_NOTFOUND;
}

static int by_name_port(struct seek *k)
{
	return k->has_port ? add_name(k, k->head, true, k->port) : E_NOTFOUND;
}

static int (*const forms[])(struct seek *) = { by_lid,  by_guid,      by_gid,
	                                       by_name, by_guid_port, by_name_port };

/* "what:7": the part before the colon and the port. */
static void split_port(struct seek *k)
{
	const char *colon = strrchr(k->text, ':');
	uint64_t port;

	if (colon == NULL || colon == k->text ||
	    text_u64(colon + 1, 254, &port) != E_OK) {
		return;
	}
	memcpy(k->head, k->text, (size_t)(colon - k->text));
	k->head[colon - k->text] = '\0';
	k->port = (uint8_t)port;
	k->has_port = true;
}

/* Nearest descriptions so far, nearest first. */
struct near {
	unsigned n, compared;
	unsigned distance[KEEP];
	struct snap_node node[KEEP];
};

static unsigned distance(struct near *near, const char *text, const char *description)
{
	size_t len = strlen(text);
	unsigned limit = 1 + (unsigned)len / 4;

	if (strncasecmp(text, description, len) == 0) {
		return 0;
	}
	if (near->compared++ >= DISTANCES_MAX) {
		return NOT_NEAR;
	}
	unsigned d = text_distance(text, description, limit);
	return d <= limit ? d : NOT_NEAR;
}

static void keep_near(struct near *near, const char *text, const struct snap_node *node)
{
	unsigned d = node->name[0] ? distance(near, text, node->name) : NOT_NEAR;
	unsigned at = near->n;

	while (at > 0 && near->distance[at - 1] > d) {
		at--;
	}
	if (d == NOT_NEAR || at == KEEP) {
		return;
	}
	if (near->n < KEEP) {
		near->n++;
	}
	for (unsigned i = near->n - 1; i > at; i--) {
		near->distance[i] = near->distance[i - 1];
		near->node[i] = near->node[i - 1];
	}
	near->distance[at] = d;
	near->node[at] = *node;
}

/* Is this its name from the operator or its description, in upper or lower case? */
static bool is_called(const struct snap_node *node, const char *text)
{
	return strcasecmp(node->name, text) == 0 ||
	       strcasecmp(node->description, text) == 0;
}

/* Walks over all nodes: finds the name in another case, and descriptions that are near. */
static int scan(struct seek *k, struct near *near)
{
	struct snap_node node;
	uint64_t guid = 0;

	for (;;) {
		int ret = snap_node_from(k->r, guid, &node);
		if (ret != E_OK) {
			return ret == E_NOTFOUND ? E_OK : ret;
		}
		if (is_called(&node, k->text)) {
			ret = add_node(k, &node, false, 0);
		} else if (k->has_port && is_called(&node, k->head)) {
			ret = add_node(k, &node, true, k->port);
		}
		if (ret != E_OK) {
			return ret;
		}
		keep_near(near, k->has_port ? k->head : k->text, &node);
		if (node.guid == UINT64_MAX) {
			return E_OK;
		}
		guid = node.guid + 1;
	}
}

static void fill_near(const struct near *near, struct endpoint_candidates *c)
{
	if (c == NULL) {
		return;
	}
	c->n = c->total = near->n;
	for (unsigned i = 0; i < near->n; i++) {
		const struct snap_node *node = &near->node[i];
		snprintf(c->text[i], sizeof(c->text[i]), "%s", node->name);
		snprintf(c->what[i], sizeof(c->what[i]), "%s 0x%016" PRIx64,
		         node_type_name(node->type), node->guid);
	}
}

static bool is_one_node(const struct seek *k)
{
	for (unsigned i = 1; i < k->n; i++) {
		if (k->found[i].end.node_guid != k->found[0].end.node_guid) {
			return false;
		}
	}
	return k->n == k->total;
}

static void fill_ambiguous(struct seek *k, struct endpoint_candidates *c)
{
	if (c == NULL) {
		return;
	}
	c->n = k->n;
	c->total = k->total;
	for (unsigned i = 0; i < k->n; i++) {
		const struct snap_end *end = &k->found[i].end;
		struct snap_node node = { .type = end->type };
		(void)snap_node(k->r, end->node_guid, &node);
		if (is_one_node(k)) {
			snprintf(c->text[i], sizeof(c->text[i]), "%s:%u", k->text,
			         end->port);
		} else {
			snprintf(c->text[i], sizeof(c->text[i]), "0x%016" PRIx64,
			         end->port_guid);
		}
		snprintf(c->what[i], sizeof(c->what[i]), "%s %s port %u, LID %u",
		         node_type_name(end->type), node.name, end->port, end->base_lid);
	}
}

static bool is_readable(const char *text)
{
	size_t len = strnlen(text, TEXT_MAX + 1);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
			return false;
		}
	}
	return len > 0 && len <= TEXT_MAX;
}

/* Tries the forms until one names something. */
static int seek_forms(struct seek *k)
{
	if (!is_readable(k->text)) {
		return E_SYNTAX;
	}
	split_port(k);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && k->total == 0; i++) {
		int ret = forms[i](k);
		if (ret != E_OK && ret != E_NOTFOUND) {
			return ret;
		}
	}
	return E_OK;
}

int endpoint_find(struct snap_reader *r, const char *text, struct endpoint *ret_endpoint)
{
	struct seek k = { .r = r, .text = text };
	int ret = seek_forms(&k);

	if (ret == E_OK && k.total == 1) {
		*ret_endpoint = k.found[0];
	}
	return ret != E_OK || k.total == 1 ? ret
	       : k.total == 0              ? E_NOTFOUND
	                                   : E_AMBIGUOUS;
}

int endpoint_resolve(struct snap_reader *r, const char *text,
                     struct endpoint *ret_endpoint, struct endpoint_candidates *c)
{
	struct seek k = { .r = r, .text = text };
	struct near near = { .n = 0 };

	if (c != NULL) {
		memset(c, 0, sizeof(*c));
	}
	int ret = seek_forms(&k);
	if (ret != E_OK) {
		return ret;
	}
	if (k.total == 0) {
		ret = scan(&k, &near);
		if (ret != E_OK) {
			return ret;
		}
	}
	if (k.total == 1) {
		*ret_endpoint = k.found[0];
		return E_OK;
	}
	if (k.total == 0) {
		fill_near(&near, c);
		return E_NOTFOUND;
	}
	fill_ambiguous(&k, c);
	return E_AMBIGUOUS;
}
