/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/device_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/xml.h"
#include "conf/named.h"

struct word {
	const char *name;
	uint32_t value;
};

static const struct word node_types[] = { { "FI", 1 }, { "HFI", 1 }, { "CA", 1 },
	                                  { "SW", 2 }, { "RT", 3 },  { NULL, 0 } };
static const char node_types_text[] = "FI, SW or RT";

static const struct word selects[] = { { "All", DEVICE_ALL },
	                               { "Self", DEVICE_SELF },
	                               { "SWE0", DEVICE_SWE0 },
	                               { "AllMgmtAllowed", DEVICE_MGMT_ALLOWED },
	                               { "AllSMs", DEVICE_MGMT_ALLOWED },
	                               { "HFIDirectConnect", DEVICE_DIRECT_CONNECT },
	                               { "TFIs", DEVICE_TFI },
	                               { NULL, 0 } };
static const char selects_text[] =
	"All, Self, SWE0, AllMgmtAllowed, HFIDirectConnect or TFIs";

static const struct word *word_find(const struct word *words, const char *name)
{
	while (words->name != NULL && strcasecmp(words->name, name) != 0) {
		words++;
	}
	return words->name != NULL ? words : NULL;
}

/* --- groups that always exist ---------------------------------------------------- */

#define RULES(...)                                                                       \
	(const struct device_rule[])                                                     \
	{                                                                                \
		__VA_ARGS__                                                              \
	}
#define SELECT(what) RULES({ .kind = DEVICE_SELECT, .value = what }), 1
#define TYPE(type) RULES({ .kind = DEVICE_NODE_TYPE, .value = type }), 1

/* By name, so that an index here is that of the include. */
enum { BUILTIN_ALL_FIS = 2, BUILTIN_SWE0 = 4 };

static const struct device_group builtin[] = {
	{ "All", 0, SELECT(DEVICE_ALL) },
	{ "AllEndNodes", 0,
	  RULES({ .kind = DEVICE_INCLUDE_GROUP,
	          .name = "AllFIs",
	          .value = BUILTIN_ALL_FIS },
	        { .kind = DEVICE_INCLUDE_GROUP,
	          .name = "AllSWE0s",
	          .value = BUILTIN_SWE0 }),
	  2 },
	{ "AllFIs", 0, TYPE(1) },
	{ "AllMgmtAllowed", 0, SELECT(DEVICE_MGMT_ALLOWED) },
	{ "AllSWE0s", 0, SELECT(DEVICE_SWE0) },
	{ "AllSWs", 0, TYPE(2) },
	{ "AllTFIs", 0, SELECT(DEVICE_TFI) },
	{ "HFIDirectConnect", 0, SELECT(DEVICE_DIRECT_CONNECT) },
	{ "Self", 0, SELECT(DEVICE_SELF) },
};

enum { N_BUILTIN = sizeof(builtin) / sizeof(builtin[0]) };

const struct device_groups *device_groups_builtin(void)
{
	static const struct device_groups all = { NULL, builtin, N_BUILTIN };
	return &all;
}

static int by_name(const void *a, const void *b)
{
	const struct device_group *x = a, *y = b;
	return strcmp(x->name, y->name);
}

uint32_t device_group_find(const struct device_groups *g, const char *name)
{
	const struct device_group key = { .name = name };
	const struct device_group *found =
		bsearch(&key, g->groups, g->n, sizeof(key), by_name);
	return found != NULL ? (uint32_t)(found - g->groups) : DEVICE_GROUP_NONE;
}

/* --- one group ------------------------------------------------------------------- */

struct group_reader {
	struct arena *arena;
	struct diags *d;
	const char *path;
	const struct named *names; /* [n] of the groups, by name */
	struct device_group *groups;
	uint32_t n;
	int ret;
};

static void refuse_element(struct group_reader *r, const struct xml_element *e,
                           const char *expected)
{
	diag_add(r->d, DIAG_ERROR, r->path, e->line, "%s '%.64s': %s", e->name, e->text,
	         expected);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

static bool read_pattern(struct group_reader *r, const struct xml_element *e,
                         struct device_rule *rule)
{
	struct device_pattern *p = arena_alloc(r->arena, sizeof(*p));
	const char *why = "";
	int ret = p != NULL ? device_pattern_parse(e->text, r->arena, p, &why) : -ENOMEM;

	if (ret == E_SYNTAX) {
		refuse_element(r, e, why);
	} else if (ret != E_OK) {
		r->ret = ret;
	}
	rule->pattern = p;
	return ret == E_OK;
}

static bool read_word(struct group_reader *r, const struct xml_element *e,
                      const struct word *words, const char *expected,
                      struct device_rule *rule)
{
	const struct word *w = word_find(words, e->text);
	if (w == NULL) {
		char text[128];
		snprintf(text, sizeof(text), "expected %s", expected);
		refuse_element(r, e, text);
		return false;
	}
	rule->value = w->value;
	return true;
}

static bool read_include(struct group_reader *r, const struct xml_element *e,
                         struct device_rule *rule)
{
	rule->name = e->text;
	rule->value = named_find(r->names, r->n, e->text);
	if (rule->value == NAMED_NONE) {
		named_unknown(r->names, r->n, e->name, "device group", "DeviceGroups",
		              e->text, r->path, e->line, r->d);
		r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
	}
	return rule->value != NAMED_NONE;
}

static bool read_rule(struct group_reader *r, const struct xml_element *e,
                      struct device_rule *ret_rule)
{
	static const struct word kinds[] = {
		{ "NodeGUID", DEVICE_NODE_GUID },
		{ "SystemImageGUID", DEVICE_SYSTEM_IMAGE_GUID },
		{ "PortGUID", DEVICE_PORT_GUID },
		{ "NodeDesc", DEVICE_NODE_DESC },
		{ "NodeType", DEVICE_NODE_TYPE },
		{ "IncludeGroup", DEVICE_INCLUDE_GROUP },
		{ "Select", DEVICE_SELECT },
		{ NULL, 0 },
	};
	const struct word *kind = word_find(kinds, e->name);

	if (kind == NULL || strcmp(kind->name, e->name) != 0) {
		diag_add(r->d, DIAG_WARNING, r->path, e->line,
		         "unknown element %.64s in a DeviceGroup: no effect", e->name);
		return false;
	}
	*ret_rule = (struct device_rule){ .kind = (enum device_rule_kind)kind->value,
		                          .line = e->line };
	switch (ret_rule->kind) {
	case DEVICE_NODE_DESC: return read_pattern(r, e, ret_rule);
	case DEVICE_NODE_TYPE:
		return read_word(r, e, node_types, node_types_text, ret_rule);
	case DEVICE_INCLUDE_GROUP: return read_include(r, e, ret_rule);
	case DEVICE_SELECT: return read_word(r, e, selects, selects_text, ret_rule);
	default: break;
	}
	if (text_guid(e->text, &ret_rule->guid) != E_OK || ret_rule->guid == 0) {
		refuse_element(r, e, "expected a GUID, 0x and up to 16 hex digits");
		return false;
	}
	return true;
}

static const struct device_rule *read_rules(struct group_reader *r,
                                            const struct xml_element *e, uint32_t *ret_n)
{
	struct device_rule *rules = arena_array(r->arena, xml_count(e), sizeof(*rules));

	for (const struct xml_element *c = e->child; rules != NULL && c != NULL;
	     c = c->next) {
		if (strcmp(c->name, "Name") != 0 && read_rule(r, c, &rules[*ret_n])) {
			(*ret_n)++;
		}
	}
	return rules;
}

/* A group that always exists, with its includes led to where they stand now. */
static const struct device_rule *move_rules(struct group_reader *r, const char *name,
                                            uint32_t *ret_n)
{
	const struct device_groups *always = device_groups_builtin();
	const struct device_group *of = &always->groups[device_group_find(always, name)];
	struct device_rule *rules = arena_array(r->arena, of->n_rules, sizeof(*rules));

	for (uint32_t i = 0; rules != NULL && i < of->n_rules; i++) {
		rules[i] = of->rules[i];
		if (rules[i].kind == DEVICE_INCLUDE_GROUP) {
			rules[i].value = named_find(r->names, r->n, rules[i].name);
		}
	}
	*ret_n = of->n_rules;
	return rules;
}

/* --- all groups ------------------------------------------------------------------ */

static void read_groups(struct group_reader *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct named *from = &r->names[i];
		struct device_group *to = &r->groups[i];

		to->name = from->name;
		to->line = from->element != NULL ? from->element->line : 0;
		to->rules = from->element != NULL
		                    ? read_rules(r, from->element, &to->n_rules)
		                    : move_rules(r, from->name, &to->n_rules);
		if (to->rules == NULL) {
			r->ret = -ENOMEM;
			return;
		}
	}
}

static int check_includes(const struct group_reader *r)
{
	struct include *edges;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		n += r->groups[i].n_rules;
	}
	edges = arena_array(r->arena, n, sizeof(*edges));
	if (edges == NULL) {
		return -ENOMEM;
	}
	n = 0;
	for (uint32_t i = 0; i < r->n; i++) {
		for (uint32_t k = 0; k < r->groups[i].n_rules; k++) {
			const struct device_rule *rule = &r->groups[i].rules[k];
			if (rule->kind == DEVICE_INCLUDE_GROUP) {
				edges[n++] =
					(struct include){ i, rule->value, rule->line };
			}
		}
	}
	return named_check_cycles(r->names, r->n, edges, n, "IncludeGroup", r->path,
	                          r->arena, r->d);
}

int device_groups_parse(const char *path, struct xml_element *const *sections, unsigned n,
                        struct arena *a, struct diags *d,
                        const struct device_groups **ret_groups)
{
	struct group_reader r = { .arena = a, .d = d, .path = arena_strdup(a, path) };
	struct device_groups *all = arena_alloc(a, sizeof(*all));
	struct named always[N_BUILTIN], *names = NULL;

	if (all == NULL || r.path == NULL) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < N_BUILTIN; i++) {
		always[i] = (struct named){ builtin[i].name, NULL };
	}
	int ret = named_collect(r.path, sections, n, "DeviceGroup", always, N_BUILTIN, a,
	                        d, &names, &r.n);
	if (ret == -ENOMEM) {
		return ret;
	}
	r.names = names;
	r.groups = arena_array(a, r.n, sizeof(*r.groups));
	if (r.groups == NULL) {
		return -ENOMEM;
	}
	r.ret = ret;
	read_groups(&r);
	if (r.ret != -ENOMEM) {
		ret = check_includes(&r);
		r.ret = r.ret == E_OK ? ret : r.ret;
	}
	if (r.ret == E_OK) {
		*all = (struct device_groups){ r.path, r.groups, r.n };
		*ret_groups = all;
	}
	return r.ret;
}

static struct xml_element *find_fm(const struct xml_element *root, const char *instance)
{
	struct xml_element *fm = xml_child(root, "Fm");

	while (instance != NULL && fm != NULL) {
		const struct xml_element *shared = xml_child(fm, "Shared");
		const struct xml_element *name =
			shared != NULL ? xml_child(shared, "Name") : NULL;
		if (name != NULL && strcmp(name->text, instance) == 0) {
			break;
		}
		fm = xml_again(fm);
	}
	return fm;
}

/* DeviceGroups of a whole opafm.xml, or a file of groups alone. */
static unsigned find_sections(struct xml_element *root, const char *instance,
                              struct xml_element *ret_element[2])
{
	const struct xml_element *places[2] = { NULL };
	unsigned n = 0;

	if (strcmp(root->name, "DeviceGroups") == 0) {
		ret_element[n++] = root;
		return n;
	}
	if (strcmp(root->name, "Config") == 0) {
		places[0] = xml_child(root, "Common");
		places[1] = find_fm(root, instance);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct xml_element *section =
			places[i] != NULL ? xml_child(places[i], "DeviceGroups") : NULL;
		if (section != NULL) {
			ret_element[n++] = section;
		}
	}
	return n;
}

int device_groups_read(const char *path, struct arena *a, struct diags *d,
                       const void **ret_value)
{
	struct xml_element *root = NULL, *sections[2];
	struct device_groups *groups;
	char *file = arena_strdup(a, path);
	char *instance = file != NULL ? strrchr(file, '#') : NULL;

	if (file == NULL) {
		return -ENOMEM;
	}
	if (instance != NULL && access(path, F_OK) == 0) {
		instance = NULL; /* the file's own name has one */
	}
	if (instance != NULL) {
		*instance++ = '\0';
	}
	int ret = xml_read(file, a, d, &root);
	if (ret != E_OK) {
		return ret;
	}
	unsigned n = find_sections(root, instance, sections);
	if (n == 0) {
		diag_add(
			d, DIAG_ERROR, path, root->line,
			"no element DeviceGroups; expected it outermost, or in Config/Common");
		return E_SYNTAX;
	}
	const struct device_groups *got = NULL;
	ret = device_groups_parse(file, sections, n, a, d, &got);
	groups = ret == E_OK ? arena_alloc(a, sizeof(*groups)) : NULL;
	if (ret == E_OK && groups == NULL) {
		ret = -ENOMEM;
	}
	if (ret == E_OK) {
		*groups = *got;
		groups->path = arena_strdup(a, path); /* as written, for dumps */
		*ret_value = groups;
	}
	return ret;
}
