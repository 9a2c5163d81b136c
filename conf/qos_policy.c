/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/qos_policy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/arena.h"
#include "conf/diag.h"
#include "conf/err.h"
#include "conf/qos.h"
#include "conf/qos_policy_read.h"
#include "conf/text.h"

enum { FILE_MAX_BYTES = 1 << 20, CODE_MAX = 63, MTU_MAX = 5, P_KEY_BASE = 0x7fff };

static const char usual_path[] = "/etc/opensm/qos-policy.conf";
static const char default_level[] = "DEFAULT";

void qos_refuse(struct qos_reader *r, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(r->d, DIAG_ERROR, r->path, r->line, "%s", text);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

bool qos_read_ranges(struct qos_reader *r, const char *what, const char *text,
                     uint64_t max, uint64_t mask, struct qos_ranges *ret)
{
	int err = qos_ranges_add(text, max, mask, r->arena, ret);

	if (err == -ENOMEM) {
		r->ret = err;
	} else if (err != E_OK) {
		qos_refuse(r,
		           "'%.128s': expected %s up to 0x%llx, or several: 1, 0x10-0x1f",
		           text, what, (unsigned long long)max);
	}
	return err == E_OK;
}

uint32_t qos_new_group(struct qos_reader *r, const char *name)
{
	r->groups[r->n_groups] = (struct qos_port_group){ .name = name, .line = r->line };
	return r->n_groups++;
}

uint32_t qos_new_level(struct qos_reader *r, const char *name)
{
	r->levels[r->n_levels] = (struct qos_level){
		.name = name, .line = r->line, .sl = -1, .packet_life = -1
	};
	return r->n_levels++;
}

static struct qos_port_group *group(struct qos_reader *r)
{
	return &r->groups[r->n_groups - 1];
}

static struct qos_level *level(struct qos_reader *r)
{
	return &r->levels[r->n_levels - 1];
}

static struct qos_match_rule *rule(struct qos_reader *r)
{
	return &r->rules[r->n_rules - 1];
}

/* --- fields ----------------------------------------------------------------------- */

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

static uint32_t find_group(const struct qos_reader *r, const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (r->groups[i].name != NULL &&
		    strcasecmp(r->groups[i].name, name) == 0) {
			return i;
		}
	}
	return QOS_LEVEL_NONE;
}

static uint32_t find_level(const struct qos_reader *r, const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (r->levels[i].name != NULL &&
		    strcasecmp(r->levels[i].name, name) == 0) {
			return i;
		}
	}
	return QOS_LEVEL_NONE;
}

static void group_name(struct qos_reader *r, char *text)
{
	if (find_group(r, text, r->n_groups - 1) != QOS_LEVEL_NONE) {
		qos_refuse(r, "port group '%.64s' stands here twice", text);
	}
	group(r)->name = copy_of(r, text);
}

static void group_port_guid(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a port GUID", text, UINT64_MAX, UINT64_MAX,
	                &group(r)->port_guids);
}

static void group_p_key(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a P_Key", text, 0xffff, P_KEY_BASE, &group(r)->p_keys);
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
	group(r)->n_names++;
}

static void group_port_name(struct qos_reader *r, char *text)
{
	struct qos_port_group *g = group(r);
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
			group(r)->node_types |= types[i].bits;
		}
	}
}

static void level_name(struct qos_reader *r, char *text)
{
	if (find_level(r, text, r->n_levels - 1) != QOS_LEVEL_NONE) {
		qos_refuse(r, "qos-level '%.64s' stands here twice", text);
	}
	level(r)->name = copy_of(r, text);
}

static void level_sl(struct qos_reader *r, char *text)
{
	level(r)->sl = (int32_t)read_number(r, text, 0, QOS_SLS - 1);
}

static void level_mtu(struct qos_reader *r, char *text)
{
	level(r)->mtu_limit = read_number(r, text, 1, MTU_MAX);
}

static void level_rate(struct qos_reader *r, char *text)
{
	level(r)->rate_limit = read_number(r, text, 2, CODE_MAX);
}

static void level_life(struct qos_reader *r, char *text)
{
	level(r)->packet_life = (int32_t)read_number(r, text, 0, CODE_MAX);
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
	qos_read_ranges(r, "a P_Key", text, 0xffff, P_KEY_BASE, &level(r)->p_keys);
}

static void rule_service_id(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a service ID", text, UINT64_MAX, UINT64_MAX,
	                &rule(r)->service_ids);
}

static void rule_qos_class(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a QoS class", text, 0xfff, UINT64_MAX, &rule(r)->qos_classes);
}

static void rule_p_key(struct qos_reader *r, char *text)
{
	qos_read_ranges(r, "a P_Key", text, 0xffff, P_KEY_BASE, &rule(r)->p_keys);
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

/* --- blocks ----------------------------------------------------------------------- */

enum block {
	TOP,
	ULPS,
	GROUPS,
	GROUP,
	SETUP,
	VLARB_TABLES,
	VLARB_SCOPE,
	SL2VL_TABLES,
	SL2VL_SCOPE,
	LEVELS,
	LEVEL,
	RULES,
	RULE,
	BLOCKS
};

/* clang-format off */
static const struct {
	const char *keyword; /* its end is the same after "end-" */
	enum block in;
} blocks[BLOCKS] = {
	[TOP] =          { "the file", TOP },
	[ULPS] =         { "qos-ulps", TOP },
	[GROUPS] =       { "port-groups", TOP },
	[GROUP] =        { "port-group", GROUPS },
	[SETUP] =        { "qos-setup", TOP },
	[VLARB_TABLES] = { "vlarb-tables", SETUP },
	[VLARB_SCOPE] =  { "vlarb-scope", VLARB_TABLES },
	[SL2VL_TABLES] = { "sl2vl-tables", SETUP },
	[SL2VL_SCOPE] =  { "sl2vl-scope", SL2VL_TABLES },
	[LEVELS] =       { "qos-levels", TOP },
	[LEVEL] =        { "qos-level", LEVELS },
	[RULES] =        { "qos-match-rules", TOP },
	[RULE] =         { "qos-match-rule", RULES },
};

static const struct {
	enum block in;
	const char *name;
	bool once;
	void (*read)(struct qos_reader *r, char *text);
} fields[] = {
	{ GROUP, "name", true, group_name },
	{ GROUP, "use", true, any_text },
	{ GROUP, "port-guid", false, group_port_guid },
	{ GROUP, "port-name", false, group_port_name },
	{ GROUP, "pkey", false, group_p_key },
	{ GROUP, "partition", false, group_partition },
	{ GROUP, "node-type", false, group_node_type },
	{ VLARB_SCOPE, "group", false, any_text },
	{ VLARB_SCOPE, "across", false, any_text },
	{ VLARB_SCOPE, "vlarb-high", false, setup_weights },
	{ VLARB_SCOPE, "vlarb-low", false, setup_weights },
	{ VLARB_SCOPE, "vl-high-limit", true, setup_high_limit },
	{ SL2VL_SCOPE, "group", false, any_text },
	{ SL2VL_SCOPE, "from", false, any_text },
	{ SL2VL_SCOPE, "to", false, any_text },
	{ SL2VL_SCOPE, "across", false, any_text },
	{ SL2VL_SCOPE, "across-from", false, any_text },
	{ SL2VL_SCOPE, "across-to", false, any_text },
	{ SL2VL_SCOPE, "sl2vl-table", true, setup_sl2vl },
	{ LEVEL, "name", true, level_name },
	{ LEVEL, "use", true, any_text },
	{ LEVEL, "sl", true, level_sl },
	{ LEVEL, "mtu-limit", true, level_mtu },
	{ LEVEL, "rate-limit", true, level_rate },
	{ LEVEL, "packet-life", true, level_life },
	{ LEVEL, "path-bits", false, level_path_bits },
	{ LEVEL, "pkey", false, level_p_key },
	{ RULE, "use", true, any_text },
	{ RULE, "qos-class", false, rule_qos_class },
	{ RULE, "source", false, rule_source },
	{ RULE, "destination", false, rule_destination },
	{ RULE, "service-id", false, rule_service_id },
	{ RULE, "pkey", false, rule_p_key },
	{ RULE, "qos-level-name", true, rule_level },
};
/* clang-format on */

enum { N_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static void begin(struct qos_reader *r, enum block b)
{
	if (blocks[b].in != r->at) {
		qos_refuse(r, "'%s' inside of %s: it belongs into %s", blocks[b].keyword,
		           blocks[r->at].keyword, blocks[blocks[b].in].keyword);
	}
	r->at = b;
	r->seen = 0;
	if (b == GROUP) {
		(void)qos_new_group(r, NULL);
	} else if (b == LEVEL) {
		(void)qos_new_level(r, NULL);
	} else if (b == RULE) {
		r->rules[r->n_rules++] = (struct qos_match_rule){ .line = r->line };
	} else if (b == SETUP) {
		r->setup_line = r->line;
	}
}

static void end(struct qos_reader *r, enum block b)
{
	if (b != r->at) {
		qos_refuse(r, "'end-%s' inside of %s", blocks[b].keyword,
		           blocks[r->at].keyword);
	} else if ((b == GROUP && group(r)->name == NULL) ||
	           (b == LEVEL && level(r)->name == NULL)) {
		qos_refuse(r, "the %s that ends here has no name", blocks[b].keyword);
	} else if (b == RULE && r->names[r->n_rules - 1].level == NULL) {
		qos_refuse(r, "the qos-match-rule that ends here has no qos-level-name");
	}
	r->at = blocks[b].in;
}

/* \return false: the line is no keyword alone */
static bool read_keyword(struct qos_reader *r, const char *line)
{
	bool is_end = strncasecmp(line, "end-", 4) == 0;

	for (enum block b = TOP + 1; b < BLOCKS; b++) {
		if (strcasecmp(line + (is_end ? 4 : 0), blocks[b].keyword) == 0) {
			if (is_end) {
				end(r, b);
			} else {
				begin(r, b);
			}
			return true;
		}
	}
	return false;
}

static void read_field(struct qos_reader *r, char *line)
{
	char *colon = strchr(line, ':');

	if (colon == NULL) {
		qos_refuse(r,
		           "'%.128s' in %s: expected a keyword, or a name, ':' and a "
		           "value",
		           line, blocks[r->at].keyword);
		return;
	}
	*colon = '\0';
	const char *name = text_trim(line);
	char *value = text_trim(colon + 1);
	for (unsigned i = 0, bit = 0; i < N_FIELDS; i++) {
		if (fields[i].in != (enum block)r->at) {
			continue;
		}
		if (strcasecmp(fields[i].name, name) != 0) {
			bit++;
			continue;
		}
		if (fields[i].once && r->seen >> bit & 1) {
			qos_refuse(r, "'%s' stands twice in this %s", name,
			           blocks[r->at].keyword);
		}
		r->seen |= 1U << bit;
		if (*value == '\0') {
			qos_refuse(r, "'%s' has no value", name);
		} else {
			fields[i].read(r, value);
		}
		return;
	}
	qos_refuse(r, "'%.64s': %s has nothing of that name", name,
	           blocks[r->at].keyword);
}

static void read_line(struct qos_reader *r, char *line)
{
	line[strcspn(line, "#")] = '\0';
	line = text_trim(line);
	if (*line == '\0' || read_keyword(r, line)) {
		return;
	}
	if (r->at == ULPS) {
		qos_read_ulp(r, line);
	} else {
		read_field(r, line);
	}
}

/* --- the whole -------------------------------------------------------------------- */

static bool bind_groups(struct qos_reader *r, char *list, unsigned line,
                        const uint32_t **ret, uint32_t *ret_n)
{
	uint32_t *index = arena_array(r->arena, strlen(list) + 1, sizeof(*index));
	uint32_t n = 0;

	if (index == NULL) {
		r->ret = -ENOMEM;
		return false;
	}
	r->line = line;
	for (char *item; (item = strsep(&list, ",")) != NULL; n++) {
		item = text_trim(item);
		index[n] = find_group(r, item, r->n_groups);
		if (index[n] == QOS_LEVEL_NONE) {
			qos_refuse(r, "there is no port-group '%.64s'", item);
			return false;
		}
	}
	*ret = index;
	*ret_n = n;
	return true;
}

/* Names become indices. */
static void bind_rules(struct qos_reader *r)
{
	for (uint32_t i = 0; i < r->n_rules; i++) {
		struct qos_match_rule *m = &r->rules[i];
		struct qos_names *n = &r->names[i];

		if (n->level != NULL) {
			m->level = find_level(r, n->level, r->n_levels);
			r->line = n->level_line;
			if (m->level == QOS_LEVEL_NONE) {
				qos_refuse(r, "there is no qos-level '%.64s'", n->level);
			}
		}
		if (n->sources != NULL) {
			bind_groups(r, n->sources, n->sources_line, &m->sources,
			            &m->n_sources);
		}
		if (n->destinations != NULL) {
			bind_groups(r, n->destinations, n->destinations_line,
			            &m->destinations, &m->n_destinations);
		}
	}
	memcpy(&r->rules[r->n_rules], r->ulps, r->n_ulps * sizeof(*r->ulps));
	r->n_rules += r->n_ulps;
}

static uint32_t choose_default(struct qos_reader *r)
{
	uint32_t found = find_level(r, default_level, r->n_levels);

	r->line = 0;
	if (found != QOS_LEVEL_NONE && r->ulp_default != QOS_LEVEL_NONE) {
		diag_add(r->d, DIAG_WARNING, r->path, 0,
		         "default of qos-ulps has no effect: there is a qos-level %s",
		         default_level);
	}
	if (found == QOS_LEVEL_NONE) {
		found = r->ulp_default;
	}
	if (found == QOS_LEVEL_NONE) {
		qos_refuse(r, "needs a qos-level named %s, or a default in qos-ulps",
		           default_level);
	}
	return found;
}

static uint32_t count_lines(const char *text, size_t len)
{
	uint32_t n = 1;

	for (size_t i = 0; i < len; i++) {
		n += text[i] == '\n';
	}
	return n;
}

static int make_room(struct qos_reader *r, const char *text, size_t len)
{
	/* a line makes one of each at most; of levels, 16 more by their SLs */
	r->room = count_lines(text, len) + 1;
	r->groups = arena_array(r->arena, r->room, sizeof(*r->groups));
	r->levels = arena_array(r->arena, r->room + QOS_SLS, sizeof(*r->levels));
	r->rules = arena_array(r->arena, 2 * (size_t)r->room, sizeof(*r->rules));
	r->names = arena_array(r->arena, r->room, sizeof(*r->names));
	r->ulps = arena_array(r->arena, r->room, sizeof(*r->ulps));
	memset(r->level_of_sl, 0xff, sizeof(r->level_of_sl));
	r->ulp_default = QOS_LEVEL_NONE;
	return r->groups != NULL && r->levels != NULL && r->rules != NULL &&
	                       r->names != NULL && r->ulps != NULL
	               ? E_OK
	               : -ENOMEM;
}

static void read_lines(struct qos_reader *r, char *text, size_t len)
{
	if (memchr(text, '\0', len) != NULL) {
		qos_refuse(r, "is no text: it has a byte 0");
		return;
	}
	for (char *line; (line = strsep(&text, "\n")) != NULL;) {
		r->line++;
		read_line(r, line);
	}
	if (r->at != TOP) {
		qos_refuse(r, "the file ends inside of %s", blocks[r->at].keyword);
	}
}

int qos_policy_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct qos_policy **ret)
{
	struct qos_reader r = { .arena = a, .d = d, .path = arena_strdup(a, path) };
	struct qos_policy *p = arena_alloc(a, sizeof(*p));
	char *copy = arena_alloc(a, len + 1);

	if (p == NULL || copy == NULL || r.path == NULL ||
	    make_room(&r, text, len) != E_OK) {
		return -ENOMEM;
	}
	memcpy(copy, text, len);
	read_lines(&r, copy, len);
	if (r.setup_line != 0) {
		diag_add(
			d, DIAG_WARNING, r.path, r.setup_line,
			"qos-setup has no effect: the keys qos_*_sl2vl and qos_*_vlarb_* "
			"say the tables of ports");
	}
	bind_rules(&r);
	*p = (struct qos_policy){ .path = r.path,
		                  .groups = r.groups,
		                  .levels = r.levels,
		                  .rules = r.rules,
		                  .n_groups = r.n_groups,
		                  .n_levels = r.n_levels,
		                  .n_rules = r.n_rules,
		                  .default_level = choose_default(&r) };
	if (r.ret == E_OK) {
		*ret = p;
	}
	return r.ret;
}

static int no_policy(const char *path, struct arena *a, const struct qos_policy **ret)
{
	struct qos_policy *none = arena_alloc(a, sizeof(*none));
	const char *copy = arena_strdup(a, path);

	if (none == NULL || copy == NULL) {
		return -ENOMEM;
	}
	*none = (struct qos_policy){ .path = copy, .default_level = QOS_LEVEL_NONE };
	*ret = none;
	return E_OK;
}

int qos_policy_read(const char *path, struct arena *a, struct diags *d, const void **ret)
{
	const struct qos_policy *policy = NULL;
	const char *text = NULL;
	size_t len = 0;
	int err = text_read_optional(path, usual_path, "no rules for quality of service",
	                             FILE_MAX_BYTES, a, d, &text, &len);

	if (err == E_OK) {
		err = text != NULL ? qos_policy_parse(path, text, len, a, d, &policy)
		                   : no_policy(path, a, &policy);
	}
	if (err == E_OK) {
		*ret = policy;
	}
	return err;
}
