/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The lines "name: value" of a qos-policy.conf: what may stand in which block, and what
 * becomes of it.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/policy/qos.h"
#include "conf/policy/qos_policy_read.h"

enum { CODE_MAX = 63, MTU_MAX = 5, P_KEY_BASE = 0x7fff };

static uint32_t read_number(struct qos_reader *r, const char *text, uint32_t min,
                            uint32_t max)
{
	uint64_t v = 0;

	if (text_u64(text, max, &v) != E_OK || v < min) {
		qos_refuse(r, "'%.64s': expected a number from %u to %u", text, min, max);
		v = min;
	}
	return (uint32_t)v;
}

static char *copy_of(struct qos_reader *r, const char *text)
{
	char *copy = arena_strdup(r->arena, text);

	if (copy == NULL) {
		r->ret = -ENOMEM;
	}
	return copy;
}

static void group_name(struct qos_reader *r, char *text)
{
	if (qos_find_group(r, text, r->n_groups - 1) != QOS_LEVEL_NONE) {
		qos_refuse(r, "port group '%.64s' stands here twice", text);
	}
	qos_group(r)->name = copy_of(r, text);
}

static void group_port_guid(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a port GUID", text, UINT64_MAX, UINT64_MAX,
	                &qos_group(r)->port_guids);
}

static void group_p_key(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a P_Key", text, 0xffff, P_KEY_BASE, &qos_group(r)->p_keys);
}

/* "description/P1" */
static void add_port_name(struct qos_reader *r, char *text, struct qos_port_name *to)
{
	char *slash = strrchr(text, '/');
	uint64_t port = 0;

	if (slash == NULL || (slash[1] != 'P' && slash[1] != 'p') ||
	    text_u64(slash + 2, 254, &port) != E_OK || port == 0 || slash == text) {
		qos_refuse(r,
		           "'%.128s': expected a node description and a port: node "
		           "HCA-1/P1",
		           text);
		return;
	}
	*slash = '\0';
	*to = (struct qos_port_name){ copy_of(r, text), (uint32_t)port };
	qos_group(r)->n_names++;
}

static void group_port_name(struct qos_reader *r, char *text)
{
	struct qos_port_group *g = qos_group(r);
	uint32_t room = g->n_names + 1;

	for (const char *p = text; *p != '\0'; p++) {
		room += *p == ',';
	}
	struct qos_port_name *names = arena_array(r->arena, room, sizeof(*names));
	if (names == NULL) {
		r->ret = -ENOMEM;
		return;
	}
	if (g->n_names != 0) {
		memcpy(names, g->names, g->n_names * sizeof(*names));
	}
	g->names = names;
	for (char *item; (item = strsep(&text, ",")) != NULL;) {
		add_port_name(r, text_trim(item), &names[g->n_names]);
	}
}

/* Without a file of partitions there is one that has a name. */
static void group_partition(struct qos_reader *r, char *text)
{
	for (char *item; (item = strsep(&text, ",")) != NULL;) {
		item = text_trim(item);
		if (strcasecmp(item, "Default") == 0) {
			group_p_key(r, (char[]){ "0x7fff" });
			continue;
		}
		diag_add(r->d, DIAG_WARNING, r->path, r->line,
		         "partition '%.64s' has no ports: partitions have no names here "
		         "but Default, 'pkey:' takes numbers",
		         item);
	}
}

static void group_node_type(struct qos_reader *r, char *text)
{
	static const struct {
		const char *name;
		unsigned bits;
	} types[] = { { "CA", QOS_NODE_CA },
		      { "SWITCH", QOS_NODE_SWITCH },
		      { "ROUTER", QOS_NODE_ROUTER },
		      { "SELF", QOS_NODE_SELF },
		      { "ALL", QOS_NODE_CA | QOS_NODE_SWITCH | QOS_NODE_ROUTER } };

	for (char *item; (item = strsep(&text, ",")) != NULL;) {
		unsigned i = 0, n = sizeof(types) / sizeof(types[0]);
		item = text_trim(item);
		while (i < n && strcasecmp(types[i].name, item) != 0) {
			i++;
		}
		if (i == n) {
			qos_refuse(r, "'%.64s': expected CA, SWITCH, ROUTER, SELF or ALL",
			           item);
		} else {
			qos_group(r)->node_types |= types[i].bits;
		}
	}
}

static void level_name(struct qos_reader *r, char *text)
{
	if (qos_find_level(r, text, r->n_levels - 1) != QOS_LEVEL_NONE) {
		qos_refuse(r, "qos-level '%.64s' stands here twice", text);
	}
	qos_level(r)->name = copy_of(r, text);
}

static void level_sl(struct qos_reader *r, char *text)
{
	qos_level(r)->sl = (int32_t)read_number(r, text, 0, QOS_SLS - 1);
}

static void level_mtu(struct qos_reader *r, char *text)
{
	qos_level(r)->mtu_limit = read_number(r, text, 1, MTU_MAX);
}

static void level_rate(struct qos_reader *r, char *text)
{
	qos_level(r)->rate_limit = read_number(r, text, 2, CODE_MAX);
}

static void level_life(struct qos_reader *r, char *text)
{
	qos_level(r)->packet_life = (int32_t)read_number(r, text, 0, CODE_MAX);
}

static void level_path_bits(struct qos_reader *r, char *text)
{
	struct qos_ranges bits = { NULL, 0 };

	if (qos_read_ranges(r, "path bits", text, 0x7f, UINT64_MAX, &bits)) {
		diag_add(r->d, DIAG_WARNING, r->path, r->line,
		         "path-bits has no effect: paths of all LIDs are given");
	}
}

static void level_p_key(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a P_Key", text, 0xffff, P_KEY_BASE, &qos_level(r)->p_keys);
}

static void rule_service_id(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a service ID", text, UINT64_MAX, UINT64_MAX,
	                &qos_rule(r)->service_ids);
}

static void rule_qos_class(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a QoS class", text, 0xfff, UINT64_MAX,
	                &qos_rule(r)->qos_classes);
}

static void rule_p_key(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a P_Key", text, 0xffff, P_KEY_BASE, &qos_rule(r)->p_keys);
}

static void rule_level(struct qos_reader *r, char *text)
{
	r->names[r->n_rules - 1].level = copy_of(r, text);
	r->names[r->n_rules - 1].level_line = r->line;
}

/* A list, and what a line before has said. */
static void add_names(struct qos_reader *r, const char *text, char **list, unsigned *line)
{
	*list = *list == NULL ? copy_of(r, text)
	                      : arena_printf(r->arena, "%s,%s", *list, text);
	*line = r->line;
	if (*list == NULL) {
		r->ret = -ENOMEM;
	}
}

static void rule_source(struct qos_reader *r, char *text)
{
	struct qos_names *n = &r->names[r->n_rules - 1];

	add_names(r, text, &n->sources, &n->sources_line);
}

static void rule_destination(struct qos_reader *r, char *text)
{
	struct qos_names *n = &r->names[r->n_rules - 1];

	add_names(r, text, &n->destinations, &n->destinations_line);
}

static void setup_high_limit(struct qos_reader *r, char *text)
{
	(void)read_number(r, text, 0, 255);
}

static void setup_sl2vl(struct qos_reader *r, char *text)
{
	uint8_t vl[QOS_SLS];

	if (qos_sl2vl_parse(text, vl) != E_OK) {
		qos_refuse(r, "'%.128s': expected 16 VLs from 0 to 15", text);
	}
}

static void setup_weights(struct qos_reader *r, char *text)
{
	struct qos_weights w;

	if (qos_weights_parse(text, &w) != E_OK) {
		qos_refuse(r, "'%.128s': expected pairs VL:WEIGHT, 0-14 and 0-255", text);
	}
}

static void any_text(struct qos_reader *r, char *text)
{
	(void)r;
	(void)text;
}

/* clang-format off */
static const struct {
	enum qos_block in;
	const char *name;
	bool once;
	void (*read)(struct qos_reader *r, char *text);
} fields[] = {
	{ QOS_GROUP, "name", true, group_name },
	{ QOS_GROUP, "use", true, any_text },
	{ QOS_GROUP, "port-guid", false, group_port_guid },
	{ QOS_GROUP, "port-name", false, group_port_name },
	{ QOS_GROUP, "pkey", false, group_p_key },
	{ QOS_GROUP, "partition", false, group_partition },
	{ QOS_GROUP, "node-type", false, group_node_type },
	{ QOS_VLARB_SCOPE, "group", false, any_text },
	{ QOS_VLARB_SCOPE, "across", false, any_text },
	{ QOS_VLARB_SCOPE, "vlarb-high", false, setup_weights },
	{ QOS_VLARB_SCOPE, "vlarb-low", false, setup_weights },
	{ QOS_VLARB_SCOPE, "vl-high-limit", true, setup_high_limit },
	{ QOS_SL2VL_SCOPE, "group", false, any_text },
	{ QOS_SL2VL_SCOPE, "from", false, any_text },
	{ QOS_SL2VL_SCOPE, "to", false, any_text },
	{ QOS_SL2VL_SCOPE, "across", false, any_text },
	{ QOS_SL2VL_SCOPE, "across-from", false, any_text },
	{ QOS_SL2VL_SCOPE, "across-to", false, any_text },
	{ QOS_SL2VL_SCOPE, "sl2vl-table", true, setup_sl2vl },
	{ QOS_LEVEL, "name", true, level_name },
	{ QOS_LEVEL, "use", true, any_text },
	{ QOS_LEVEL, "sl", true, level_sl },
	{ QOS_LEVEL, "mtu-limit", true, level_mtu },
	{ QOS_LEVEL, "rate-limit", true, level_rate },
	{ QOS_LEVEL, "packet-life", true, level_life },
	{ QOS_LEVEL, "path-bits", false, level_path_bits },
	{ QOS_LEVEL, "pkey", false, level_p_key },
	{ QOS_RULE, "use", true, any_text },
	{ QOS_RULE, "qos-class", false, rule_qos_class },
	{ QOS_RULE, "source", false, rule_source },
	{ QOS_RULE, "destination", false, rule_destination },
	{ QOS_RULE, "service-id", false, rule_service_id },
	{ QOS_RULE, "pkey", false, rule_p_key },
	{ QOS_RULE, "qos-level-name", true, rule_level },
};
/* clang-format on */

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

void qos_read_field(struct qos_reader *r, char *line)
{
	char *colon = strchr(line, ':');

	if (colon == NULL) {
		qos_refuse(r,
		           "'%.128s' in %s: expected a keyword, or a name, ':' and a "
		           "value",
		           line, qos_block_keyword(r));
		return;
	}
	*colon = '\0';
	const char *name = text_trim(line);
	char *value = text_trim(colon + 1);
	for (unsigned i = 0, bit = 0; i < N_FIELDS; i++) {
		if (fields[i].in != (enum qos_block)r->at) {
			continue;
		}
		if (strcasecmp(fields[i].name, name) != 0) {
			bit++;
			continue;
		}
		if (fields[i].once && r->seen >> bit & 1) {
			qos_refuse(r, "'%s' stands twice in this %s", name,
			           qos_block_keyword(r));
		}
		r->seen |= 1U << bit;
		if (*value == '\0') {
			qos_refuse(r, "'%s' has no value", name);
		} else {
			fields[i].read(r, value);
		}
		return;
	}
	qos_refuse(r, "'%.64s': %s has nothing of that name", name, qos_block_keyword(r));
}
