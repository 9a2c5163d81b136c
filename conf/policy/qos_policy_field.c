/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The lines "name: value" of a qos-policy.conf: what may stand in which block, and what
 * becomes of it.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "conf/policy/qos.h"
#include "conf/policy/qos_policy_read.h"

enum { CODE_MAX = 63, MTU_MAX = 5 };

/* A line "name: value" that a block may have. */
struct field {
	enum qos_block in;
	const char *name;
	bool once;
	void (*read)(struct qos_reader *r, const struct field *f, char *text);
	size_t offset;     /* of the member in the group, level or rule */
	uint64_t min, max; /* of a number or of the numbers in ranges */
	uint64_t mask;     /* of the numbers in ranges */
	const char *what;  /* is in ranges, for messages */
};

/* The member of the current group, level or rule that a field sets. */
static void *member(struct qos_reader *r, const struct field *f)
{
	void *object = f->in == QOS_GROUP   ? (void *)qos_group(r)
	               : f->in == QOS_LEVEL ? (void *)qos_level(r)
	                                    : (void *)qos_rule(r);

	return (char *)object + f->offset;
}

static void read_number(struct qos_reader *r, const struct field *f, char *text)
{
	uint64_t v = 0;

	if (text_u64(text, f->max, &v) != E_OK || v < f->min) {
		qos_refuse(r, "'%.64s': expected a number from %u to %u", text,
		           (unsigned)f->min, (unsigned)f->max);
	} else if (f->in == QOS_LEVEL) {
		uint32_t number = (uint32_t)v;

		memcpy(member(r, f), &number, sizeof(number));
	}
}

static void read_ranges(struct qos_reader *r, const struct field *f, char *text)
{
	qos_read_ranges(r, f->what, text, f->max, f->mask, member(r, f));
}

static char *copy_of(struct qos_reader *r, const char *text)
{
	char *copy = arena_strdup(r->arena, text);

	if (copy == NULL) {
		r->ret = -ENOMEM;
	}
	return copy;
}

static void group_name(struct qos_reader *r, const struct field *f, char *text)
{
	(void)f;
	if (qos_find_group(r, text, r->n_groups - 1) != QOS_LEVEL_NONE) {
		qos_refuse(r, "port group '%.64s' stands here twice", text);
	}
	qos_group(r)->name = copy_of(r, text);
}

/* "description/P1" */
static void add_port_name(struct qos_reader *r, char *text, struct qos_port_name *to)
{
	char *slash = strrchr(text, '/');
	uint64_t port = 0;

	if (slash == NULL || (slash[1] != 'P' && slash[1] != 'p') ||
	    text_u64(slash + 2, 254, &port) != E_OK || port == 0 || slash == text) {
		qos_refuse(
			r,
			"'%.128s': expected a node description and a port: node HCA-1/P1",
			text);
		return;
	}
	*slash = '\0';
	*to = (struct qos_port_name){ copy_of(r, text), (uint32_t)port };
	qos_group(r)->n_names++;
}

static void group_port_name(struct qos_reader *r, const struct field *f, char *text)
{
	(void)f;
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
static void group_partition(struct qos_reader *r, const struct field *f, char *text)
{
	for (char *item; (item = strsep(&text, ",")) != NULL;) {
		item = text_trim(item);
		if (strcasecmp(item, "Default") == 0) {
			qos_read_ranges(r, f->name, "0x7fff", 0xffff, P_KEY_BASE,
			                &qos_group(r)->p_keys);
			continue;
		}
		diag_add(
			r->d, DIAG_WARNING, r->path, r->line,
			"partition '%.64s' has no ports: partitions have no names here but Default, 'pkey:' takes numbers",
			item);
	}
}

static void group_node_type(struct qos_reader *r, const struct field *f, char *text)
{
	(void)f;
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

static void level_name(struct qos_reader *r, const struct field *f, char *text)
{
	(void)f;
	if (qos_find_level(r, text, r->n_levels - 1) != QOS_LEVEL_NONE) {
		qos_refuse(r, "qos-level '%.64s' stands here twice", text);
	}
	qos_level(r)->name = copy_of(r, text);
}

static void level_path_bits(struct qos_reader *r, const struct field *f, char *text)
{
	(void)f;
	struct qos_ranges bits = { NULL, 0 };

	if (qos_read_ranges(r, "path bits", text, 0x7f, UINT64_MAX, &bits)) {
		diag_add(r->d, DIAG_WARNING, r->path, r->line,
		         "path-bits has no effect: paths of all LIDs are given");
	}
}

static void rule_level(struct qos_reader *r, const struct field *f, char *text)
{
	(void)f;
	r->names[r->n_rules - 1].level = copy_of(r, text);
	r->names[r->n_rules - 1].level_line = r->line;
}

/* Several lines of one rule make one list. */
static void rule_names(struct qos_reader *r, const struct field *f, char *text)
{
	struct qos_name_list *list =
		(void *)((char *)&r->names[r->n_rules - 1] + f->offset);

	list->text = list->text == NULL
	                     ? copy_of(r, text)
	                     : arena_printf(r->arena, "%s,%s", list->text, text);
	list->line = r->line;
	if (list->text == NULL) {
		r->ret = -ENOMEM;
	}
}

static void setup_sl2vl(struct qos_reader *r, const struct field *f, char *text)
{
	(void)f;
	uint8_t vl[QOS_SLS];

	if (qos_sl2vl_parse(text, vl) != E_OK) {
		qos_refuse(r, "'%.128s': expected 16 VLs from 0 to 15", text);
	}
}

static void setup_weights(struct qos_reader *r, const struct field *f, char *text)
{
	(void)f;
	struct qos_weights w;

	if (qos_weights_parse(text, &w) != E_OK) {
		qos_refuse(r, "'%.128s': expected pairs VL:WEIGHT, 0-14 and 0-255", text);
	}
}

/* Descriptions, and lines without effect. */
static void ignore_text(struct qos_reader *r, const struct field *f, char *text)
{
	(void)r;
	(void)f;
	(void)text;
}

#define NUMBER(m, least, most)                                                           \
	.read = read_number, .offset = offsetof(struct qos_level, m), .min = least, .max = most
#define RANGES(type, m, of, most, bits)                                                  \
	.read = read_ranges, .offset = offsetof(struct type, m), .what = of, .max = most,        \
		     .mask = bits
#define P_KEYS(type) RANGES(type, p_keys, "a P_Key", 0xffff, P_KEY_BASE)

/* clang-format off */
static const struct field fields[] = {
	{ QOS_GROUP, "name", true, .read = group_name },
	{ QOS_GROUP, "use", true, .read = ignore_text },
	{ QOS_GROUP, "port-guid", false, RANGES(qos_port_group, port_guids, "a port GUID", UINT64_MAX, UINT64_MAX) },
	{ QOS_GROUP, "port-name", false, .read = group_port_name },
	{ QOS_GROUP, "pkey", false, P_KEYS(qos_port_group) },
	{ QOS_GROUP, "partition", false, .read = group_partition },
	{ QOS_GROUP, "node-type", false, .read = group_node_type },
	{ QOS_VLARB_SCOPE, "group", false, .read = ignore_text },
	{ QOS_VLARB_SCOPE, "across", false, .read = ignore_text },
	{ QOS_VLARB_SCOPE, "vlarb-high", false, .read = setup_weights },
	{ QOS_VLARB_SCOPE, "vlarb-low", false, .read = setup_weights },
	{ QOS_VLARB_SCOPE, "vl-high-limit", true, .read = read_number, .max = 255 },
	{ QOS_SL2VL_SCOPE, "group", false, .read = ignore_text },
	{ QOS_SL2VL_SCOPE, "from", false, .read = ignore_text },
	{ QOS_SL2VL_SCOPE, "to", false, .read = ignore_text },
	{ QOS_SL2VL_SCOPE, "across", false, .read = ignore_text },
	{ QOS_SL2VL_SCOPE, "across-from", false, .read = ignore_text },
	{ QOS_SL2VL_SCOPE, "across-to", false, .read = ignore_text },
	{ QOS_SL2VL_SCOPE, "sl2vl-table", true, .read = setup_sl2vl },
	{ QOS_LEVEL, "name", true, .read = level_name },
	{ QOS_LEVEL, "use", true, .read = ignore_text },
	{ QOS_LEVEL, "sl", true, NUMBER(sl, 0, QOS_SLS - 1) },
	{ QOS_LEVEL, "mtu-limit", true, NUMBER(mtu_limit, 1, MTU_MAX) },
	{ QOS_LEVEL, "rate-limit", true, NUMBER(rate_limit, 2, CODE_MAX) },
	{ QOS_LEVEL, "packet-life", true, NUMBER(packet_life, 0, CODE_MAX) },
	{ QOS_LEVEL, "path-bits", false, .read = level_path_bits },
	{ QOS_LEVEL, "pkey", false, P_KEYS(qos_level) },
	{ QOS_RULE, "use", true, .read = ignore_text },
	{ QOS_RULE, "qos-class", false, RANGES(qos_match_rule, qos_classes, "a QoS class", 0xfff, UINT64_MAX) },
	{ QOS_RULE, "source", false, .read = rule_names, .offset = offsetof(struct qos_names, sources) },
	{ QOS_RULE, "destination", false, .read = rule_names, .offset = offsetof(struct qos_names, destinations) },
	{ QOS_RULE, "service-id", false, RANGES(qos_match_rule, service_ids, "a service ID", UINT64_MAX, UINT64_MAX) },
	{ QOS_RULE, "pkey", false, P_KEYS(qos_match_rule) },
	{ QOS_RULE, "qos-level-name", true, .read = rule_level },
};
/* clang-format on */

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

void qos_read_field(struct qos_reader *r, char *line)
{
	char *colon = strchr(line, ':');

	if (colon == NULL) {
		qos_refuse(
			r,
			"'%.128s' in %s: expected a keyword, or a name, ':' and a value",
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
			fields[i].read(r, &fields[i], value);
		}
		return;
	}
	qos_refuse(r, "'%.64s': %s has nothing of that name", name, qos_block_keyword(r));
}
