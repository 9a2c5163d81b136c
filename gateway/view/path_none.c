/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/path_none.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "db/lmdb/known.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"

/* What all explanations share. */
struct context {
	struct snap_reader *r;
	const struct path_query *q;
	struct arena *a;
	struct problem *p;
};

static void set_reason(struct context *cx, const char *reason)
{
	problem_member(cx->p, "reason", json_string(reason));
}

/* --- no route ------------------------------------------------------------------------- */

static const char *name_of(struct snap_reader *r, uint64_t guid, struct arena *a)
{
	struct snap_node node;

	if (snap_node(r, guid, &node) != E_OK) {
		return "?";
	}
	return arena_strdup(a, node.name);
}

/* The node whose component counts: the switch of an end port, or the node itself. */
static uint64_t fabric_node(const struct snap_end *end)
{
	return end->sw_guid != 0 ? end->sw_guid : end->node_guid;
}

/* Says why there is no path: another component, a loop, or a hole at a switch. */
static int explain_no_path(struct context *cx, struct components *components)
{
	const struct path_query *q = cx->q;
	uint32_t slid = q->slid != 0 ? q->slid : q->src.base_lid;
	uint32_t dlid = q->dlid != 0 ? q->dlid : q->dst.base_lid;
	struct path_hop hops[PATH_HOPS_MAX];
	unsigned n = 0;

	int ret = components_build(components, cx->r);
	if (ret != E_OK) {
		return ret;
	}
	if (!components_connected(components, fabric_node(&q->src),
	                          fabric_node(&q->dst))) {
		set_reason(cx, "different-part");
		return problem_set(
			cx->p, cx->a, E_NOPATH,
			"source and destination are in different parts of the fabric: no cables connect '%s' and '%s'",
			name_of(cx->r, q->src.node_guid, cx->a),
			name_of(cx->r, q->dst.node_guid, cx->a));
	}
	ret = path_hops(cx->r, slid, dlid, hops, &n);
	if (ret == E_LOOP) {
		set_reason(cx, "loop");
		return problem_set(
			cx->p, cx->a, E_LOOP,
			"the tables send packets to LID %u from LID %u in a loop",
			(unsigned)dlid, (unsigned)slid);
	}
	if (ret != E_NOPATH || n == 0) {
		set_reason(cx, "no-route");
		return problem_set(cx->p, cx->a, E_NOPATH,
		                   "no route is stored from LID %u to LID %u",
		                   (unsigned)slid, (unsigned)dlid);
	}
	uint64_t hole = hops[n - 1].node_guid;
	set_reason(cx, "hole");
	problem_member(cx->p, "switch", guid_json(hole));
	return problem_set(
		cx->p, cx->a, E_NOPATH, "switch '%s' (0x%016llx) has no route to LID %u",
		name_of(cx->r, hole, cx->a), (unsigned long long)hole, (unsigned)dlid);
}

/* --- partitions ----------------------------------------------------------------------- */

/* Membership of an end port in a partition: 0 none, 1 limited, 2 full. */
static int membership(struct snap_reader *r, const struct snap_end *end, uint16_t base,
                      unsigned *ret_membership)
{
	const uint8_t *keys;
	size_t n;
	unsigned best = 0;

	int ret = snap_p_keys(r, end->p_key_set, (const void **)&keys, &n);
	for (size_t i = 0; ret == E_OK && i < n; i++) {
		uint16_t key;

		memcpy(&key, keys + i * sizeof(key), sizeof(key));
		if ((key & P_KEY_BASE) == base) {
			unsigned is = (key & P_KEY_FULL) != 0 ? 2 : 1;
			best = is > best ? is : best;
		}
	}
	*ret_membership = best;
	return ret;
}

/* The first partition of which both ends are limited members. \a ret_p_key 0: none. */
static int both_limited(struct context *cx, uint16_t *ret_p_key)
{
	const uint8_t *keys;
	size_t n;
	int ret = snap_p_keys(cx->r, cx->q->src.p_key_set, (const void **)&keys, &n);

	*ret_p_key = 0;
	for (size_t i = 0; ret == E_OK && *ret_p_key == 0 && i < n; i++) {
		uint16_t key;
		unsigned other = 0;

		memcpy(&key, keys + i * sizeof(key), sizeof(key));
		if (key != 0 && (key & P_KEY_FULL) == 0) {
			ret = membership(cx->r, &cx->q->dst, key, &other);
			*ret_p_key = other == 1 ? key : 0;
		}
	}
	return ret;
}

static int policy_has_none(struct context *cx)
{
	set_reason(cx, "policy");
	return problem_set(
		cx->p, cx->a, E_PARTITION,
		"source and destination share a partition, but not one that the policy (qos-policy.conf or virtual fabrics) gives this request");
}

static int explain_asked_p_key(struct context *cx)
{
	const struct path_query *q = cx->q;
	uint16_t base = q->p_key & P_KEY_BASE;
	unsigned src, dst;

	int ret = membership(cx->r, &q->src, base, &src);
	if (ret == E_OK) {
		ret = membership(cx->r, &q->dst, base, &dst);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (src + dst > 2 && src != 0 && dst != 0) {
		return policy_has_none(cx);
	}
	set_reason(cx, base == 0              ? "no-partition"
	               : src == 0 && dst == 0 ? "not-members"
	               : src == 0             ? "source-not-member"
	               : dst == 0             ? "destination-not-member"
	                                      : "limited-members");
	if (base == 0) {
		return problem_param(cx->p, cx->a, E_PARTITION, "p_key",
		                     "P_Key 0x%04x is no partition", q->p_key);
	}
	if (src != 0 && dst != 0) {
		return problem_param(
			cx->p, cx->a, E_PARTITION, "p_key",
			"source and destination are both only limited members of partition 0x%04x: one of them has to be a full member",
			base);
	}
	return problem_param(cx->p, cx->a, E_PARTITION, "p_key",
	                     "%s not in partition 0x%04x",
	                     src == 0 && dst == 0 ? "source and destination are"
	                     : src == 0           ? "the source is"
	                                          : "the destination is",
	                     base);
}

static int explain_no_partition(struct context *cx)
{
	uint16_t p_key;
	int ret = snap_common_p_key(cx->r, &cx->q->src, &cx->q->dst, 0, &p_key);

	if (ret == E_OK) {
		return policy_has_none(cx);
	}
	ret = ret == E_PARTITION ? both_limited(cx, &p_key) : ret;
	if (ret != E_OK) {
		return ret;
	}
	if (p_key == 0) {
		set_reason(cx, "no-common-partition");
		return problem_set(cx->p, cx->a, E_PARTITION,
		                   "source and destination share no partition");
	}
	set_reason(cx, "limited-members");
	return problem_set(
		cx->p, cx->a, E_PARTITION,
		"source and destination are both only limited members of partition 0x%04x, and share no other: one of them has to be a full member",
		p_key);
}

int path_none_explain(struct snap_reader *r, const struct path_query *q, int ret,
                      struct components *components, struct arena *a, struct problem *p)
{
	struct context cx = { .r = r, .q = q, .a = a, .p = p };

	switch (ret) {
	case E_NOPATH: return explain_no_path(&cx, components);
	case E_PARTITION:
		return q->has_p_key && !q->raw_traffic ? explain_asked_p_key(&cx)
		                                       : explain_no_partition(&cx);
	case E_POLICY:
		set_reason(&cx, "policy");
		return problem_set(
			p, a, ret,
			"the policy (qos-policy.conf or virtual fabrics) has no path for this request between source and destination");
	case E_RANGE:
		return problem_set(
			p, a, ret,
			"a selector or value that the PathRecord does not have");
	}
	return ret;
}

/* --- selectors ------------------------------------------------------------------------ */

enum {
	COMPONENT_MTU,
	COMPONENT_RATE,
	COMPONENT_LIFE,
	COMPONENT_SL,
	COMPONENT_REVERSIBLE,
	COMPONENTS
};

static const char *const component_names[COMPONENTS] = { "mtu", "rate",
	                                                 "packet_life_time", "sl",
	                                                 "reversible" };

static bool is_asked(const struct path_query *q, unsigned component)
{
	switch (component) {
	case COMPONENT_MTU: return q->mtu.given;
	case COMPONENT_RATE: return q->rate.given;
	case COMPONENT_LIFE: return q->packet_life_time.given;
	case COMPONENT_SL: return q->has_sl;
	}
	return q->reversible;
}

/* The query with this component alone. */
static struct path_query only(const struct path_query *q, unsigned component)
{
	struct path_query one = *q;

	one.mtu.given = q->mtu.given && component == COMPONENT_MTU;
	one.rate.given = q->rate.given && component == COMPONENT_RATE;
	one.packet_life_time.given =
		q->packet_life_time.given && component == COMPONENT_LIFE;
	one.has_sl = q->has_sl && component == COMPONENT_SL;
	one.reversible = q->reversible && component == COMPONENT_REVERSIBLE;
	return one;
}

/* Asks for a value, and the first path without selectors has another: in words. */
static json_t *excluded_json(const struct path_query *q, unsigned component,
                             const struct path_record *has)
{
	static const char *const selectors[] = { "greater than", "less than", "exactly",
		                                 "the largest of" };
	const struct path_limit *limit[] = { &q->mtu, &q->rate, &q->packet_life_time };
	const unsigned value[] = { has->mtu, has->rate, has->packet_life_time };
	char text[160];

	if (component == COMPONENT_SL) {
		snprintf(text, sizeof(text), "SL %u is asked for, the path has SL %u",
		         q->sl, has->sl);
	} else if (component == COMPONENT_REVERSIBLE) {
		snprintf(text, sizeof(text), "no path has a route back");
	} else {
		const struct path_limit *l = limit[component];
		snprintf(text, sizeof(text),
		         "%s %s code %u is asked for, the path has code %u",
		         component_names[component], selectors[l->selector & 3], l->value,
		         value[component]);
	}
	return json_pack("{s:s, s:s}", "component", component_names[component], "why",
	                 text);
}

int path_none_selectors(struct snap_reader *r, const struct path_query *q,
                        json_t **ret_json)
{
	struct path_query one = only(q, COMPONENTS);
	struct path_record first, rec;
	json_t *list = json_array();
	size_t n = 0;

	int ret = path_query_run(r, &one, &first, 1, &n);
	for (unsigned i = 0; ret == E_OK && i < COMPONENTS; i++) {
		if (!is_asked(q, i)) {
			continue;
		}
		one = only(q, i);
		ret = path_query_run(r, &one, &rec, 1, &n);
		if (ret == E_OK && n == 0) {
			json_array_append_new(list, excluded_json(q, i, &first));
		}
	}
	if (ret == E_OK && json_array_size(list) == 0) {
		json_array_append_new(
			list,
			json_pack("{s:s, s:s}", "component", "all", "why",
		                  "each selector fits a path, but no path fits all"));
	}
	if (ret == E_OK && list != NULL) {
		*ret_json = list;
		return E_OK;
	}
	json_decref(list);
	return ret == E_OK ? -ENOMEM : ret;
}

/* --- ports without a LID -------------------------------------------------------------- */

/* The node that a text names by name or GUID, and the port behind its last colon. \a
 * ret_port 0: none is named. */
static int find_node(struct snap_reader *r, const char *text, struct arena *a,
                     struct snap_node *ret_node, unsigned *ret_port)
{
	const char *colon = strrchr(text, ':');
	uint64_t guid, port = 0;
	unsigned n = 0;

	*ret_port = 0;
	int ret = text_guid(text, &guid) == E_OK ? snap_node(r, guid, ret_node)
	          : text[0] != '\0'              ? snap_name(r, text, &guid, 1, &n)
	                                         : E_NOTFOUND;
	if (ret == E_OK && n > 0) {
		ret = snap_node(r, guid, ret_node);
	}
	if (ret != E_NOTFOUND || colon == NULL || colon == text ||
	    text_u64(colon + 1, UINT8_MAX, &port) != E_OK) {
		return ret;
	}
	const char *head = arena_printf(a, "%.*s", (int)(colon - text), text);
	ret = head == NULL ? -ENOMEM : find_node(r, head, a, ret_node, ret_port);
	*ret_port = (unsigned)port;
	return ret;
}

/* The port of that number, else the first one that is no end port with a LID. */
static int find_port(struct snap_reader *r, uint64_t guid, unsigned num,
                     struct snap_port *ret_port)
{
	int ret = E_NOTFOUND;

	for (unsigned i = num == 0 ? 1 : num; i <= UINT8_MAX; i++) {
		ret = snap_port(r, guid, (uint8_t)i, ret_port);
		if (num != 0 || ret != E_OK || ret_port->lid == 0) {
			break;
		}
	}
	return ret;
}

const char *path_none_port(struct snap_reader *r, const char *text, struct arena *a)
{
	struct snap_end end = { .node_guid = 0 };
	struct snap_node node;
	struct snap_port port;
	unsigned num = 0;
	uint64_t guid;

	int ret = text_guid(text, &guid) == E_OK ? snap_port_guid(r, guid, &end)
	                                         : E_NOTFOUND;
	if (ret == E_OK) {
		num = end.port;
		ret = snap_node(r, end.node_guid, &node);
	} else {
		ret = find_node(r, text, a, &node, &num);
	}
	if (ret == E_OK && node.type == NODE_SWITCH && num != 0) {
		return arena_printf(
			a,
			"'%s' is a port of switch '%s'; paths begin and end at a switch's port 0, which is '%s'",
			text, node.name, node.name);
	}
	if (ret == E_OK) {
		ret = find_port(r, node.guid, num, &port);
	}
	if (ret != E_OK) {
		return NULL;
	}
	return arena_printf(
		a,
		"port %u of '%s' has no LID, because it is %s%s: check its cable and the far end",
		port.num, node.name, port_state_name(port.state),
		port.peer_guid == 0 ? " and no cable leads to a node" : "");
}

const char *path_none_gone(const struct known_node *n, struct arena *a)
{
	char since[TIME_TEXT_BYTES];

	time_text(n->gone_s, since);
	if (n->gone_s == 0) {
		return n->switch_guid == 0
		               ? arena_printf(a, "'%s' has just left the fabric", n->name)
		               : arena_printf(
					 a,
					 "'%s' has just left the fabric, it was on %s port %u",
					 n->name, n->switch_name, n->switch_port);
	}
	if (n->switch_guid == 0) {
		return arena_printf(a, "'%s' is gone since %s", n->name, since);
	}
	return arena_printf(a, "'%s' is gone since %s, it was on %s port %u: %s", n->name, since,
	                    n->switch_name, n->switch_port, known_cause_text(n->cause));
}
