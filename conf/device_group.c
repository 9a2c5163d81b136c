/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/device_group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/arena.h"
#include "conf/diag.h"
#include "conf/err.h"
#include "conf/text.h"
#include "conf/xml.h"

struct word {
	const char *name;
	uint32_t value;
};

static const struct word node_types[] = {
	{ "FI", 1 }, { "HFI", 1 }, { "CA", 1 }, { "SW", 2 }, { "RT", 3 }, { NULL, 0 }
};
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

/* --- groups that always exist ----------------------------------------------------------- */

#define RULES(...) (const struct device_rule[]){ __VA_ARGS__ }
#define SELECT(what) RULES({ .kind = DEVICE_SELECT, .value = what }), 1
#define TYPE(type) RULES({ .kind = DEVICE_NODE_TYPE, .value = type }), 1

/* By name, so that an index here is that of the include. */
enum { BUILTIN_ALL_FIS = 2, BUILTIN_SWE0 = 4 };

static const struct device_group builtin[] = {
	{ "All", 0, SELECT(DEVICE_ALL) },
	{ "AllEndNodes", 0,
	  RULES({ .kind = DEVICE_INCLUDE_GROUP, .name = "AllFIs", .value = BUILTIN_ALL_FIS },
	        { .kind = DEVICE_INCLUDE_GROUP, .name = "AllSWE0s", .value = BUILTIN_SWE0 }),
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

/* --- one group ---------------------------------------------------------------------------- */

struct reader {
	struct arena *arena;
	struct diags *d;
	const char *path;
	struct device_group *groups;
	uint32_t n;
	int ret;
};

static void refuse(struct reader *r, const struct xml_element *e, const char *expected)
{
	diag_add(r->d, DIAG_ERROR, r->path, e->line, "%s '%.64s': %s", e->name, e->text,
	         expected);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

static bool read_guid(struct reader *r, const struct xml_element *e,
                      struct device_rule *rule)
{
	if (text_guid(e->text, &rule->guid) == E_OK && rule->guid != 0) {
		return true;
	}
	refuse(r, e, "expected a GUID, 0x and up to 16 hex digits");
	return false;
}

static bool read_pattern(struct reader *r, const struct xml_element *e,
                         struct device_rule *rule)
{
	struct device_pattern *p = arena_alloc(r->arena, sizeof(*p));
	const char *why = "";
	int ret = p != NULL ? device_pattern_parse(e->text, r->arena, p, &why) : -ENOMEM;

	if (ret == E_SYNTAX) {
		refuse(r, e, why);
	} else if (ret != E_OK) {
		r->ret = ret;
	}
	rule->pattern = p;
	return ret == E_OK;
}

static bool read_word(struct reader *r, const struct xml_element *e,
                      const struct word *words, const char *expected,
                      struct device_rule *rule)
{
	const struct word *w = word_find(words, e->text);
	if (w == NULL) {
		char text[128];
		snprintf(text, sizeof(text), "expected %s", expected);
		refuse(r, e, text);
		return false;
	}
	rule->value = w->value;
	return true;
}

/* Looked up when all groups are there. */
static bool read_include(struct reader *r, const struct xml_element *e,
                         struct device_rule *rule)
{
	if (*e->text == '\0') {
		refuse(r, e, "expected the name of a group");
		return false;
	}
	rule->name = e->text;
	rule->value = DEVICE_GROUP_NONE;
	return true;
}

static bool read_rule(struct reader *r, const struct xml_element *e,
                      struct device_rule *ret)
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
	*ret = (struct device_rule){ .kind = (enum device_rule_kind)kind->value,
		                     .line = e->line };
	switch (ret->kind) {
	case DEVICE_NODE_DESC: return read_pattern(r, e, ret);
	case DEVICE_NODE_TYPE:
		return read_word(r, e, node_types, node_types_text, ret);
	case DEVICE_INCLUDE_GROUP: return read_include(r, e, ret);
	case DEVICE_SELECT: return read_word(r, e, selects, selects_text, ret);
	default: return read_guid(r, e, ret);
	}
}

static const char *read_name(struct reader *r, const struct xml_element *group)
{
	struct xml_element *name = xml_child(group, "Name");

	if (name == NULL || *name->text == '\0') {
		diag_add(r->d, DIAG_ERROR, r->path, group->line,
		         "DeviceGroup without a Name");
		r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
		return NULL;
	}
	if (strlen(name->text) > DEVICE_GROUP_NAME_MAX) {
		refuse(r, name, "a name has at most 64 characters");
		return NULL;
	}
	if (xml_again(name) != NULL) {
		refuse(r, xml_again(name), "a second Name in one DeviceGroup");
		return NULL;
	}
	return name->text;
}

static uint32_t count_children(const struct xml_element *e)
{
	uint32_t n = 0;
	for (const struct xml_element *c = e->child; c != NULL; c = c->next) {
		n++;
	}
	return n;
}

static void use_all(struct xml_element *e)
{
	e->used = true;
	for (struct xml_element *c = e->child; c != NULL; c = c->next) {
		use_all(c); /* not deeper than XML_DEPTH_MAX */
	}
}

static void read_group(struct reader *r, struct xml_element *e)
{
	struct device_group *to = &r->groups[r->n];
	struct device_rule *rules =
		arena_array(r->arena, count_children(e), sizeof(*rules));

	to->name = read_name(r, e);
	to->line = e->line;
	if (rules == NULL) {
		r->ret = -ENOMEM;
	}
	if (to->name == NULL || rules == NULL) {
		return;
	}
	for (const struct xml_element *c = e->child; c != NULL; c = c->next) {
		if (strcmp(c->name, "Name") != 0 && read_rule(r, c, &rules[to->n_rules])) {
			to->n_rules++;
		}
	}
	to->rules = rules;
	r->n++;
}

/* --- all groups --------------------------------------------------------------------------- */

/* Puts the groups of [from, n) among the others by name; they count before those. */
static void merge(struct reader *r, uint32_t from)
{
	uint32_t kept = 0;

	qsort(r->groups + from, r->n - from, sizeof(*r->groups), by_name);
	for (uint32_t i = from + 1; i < r->n; i++) {
		if (strcmp(r->groups[i - 1].name, r->groups[i].name) == 0) {
			unsigned a = r->groups[i - 1].line, b = r->groups[i].line;
			diag_add(r->d, DIAG_ERROR, r->path, a > b ? a : b,
			         "DeviceGroup '%s' is already defined in line %u",
			         r->groups[i].name, a > b ? b : a);
			r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
		}
	}
	const struct device_groups fresh = { NULL, r->groups + from, r->n - from };
	for (uint32_t i = 0; i < from; i++) {
		if (device_group_find(&fresh, r->groups[i].name) == DEVICE_GROUP_NONE) {
			r->groups[kept++] = r->groups[i];
		}
	}
	memmove(r->groups + kept, r->groups + from, (r->n - from) * sizeof(*r->groups));
	r->n -= from - kept;
	qsort(r->groups, r->n, sizeof(*r->groups), by_name);
}

static void read_section(struct reader *r, struct xml_element *section)
{
	uint32_t from = r->n;

	use_all(section);
	for (struct xml_element *e = section->child; e != NULL; e = e->next) {
		if (strcmp(e->name, "DeviceGroup") != 0) {
			diag_add(r->d, DIAG_WARNING, r->path, e->line,
			         "unknown element %.64s in DeviceGroups: no effect",
			         e->name);
		} else if (r->n - from == DEVICE_GROUPS_MAX) {
			refuse(r, e, "more than 4096 groups");
			return;
		} else {
			read_group(r, e);
		}
	}
	merge(r, from);
}

/* The name nearest to a misspelled one, NULL: none is near. */
static const char *nearest(const struct device_groups *g, const char *name)
{
	unsigned best = strlen(name) < 6 ? 1 : 3;
	const char *found = NULL;

	for (uint32_t i = 0; i < g->n; i++) {
		unsigned distance = text_distance(name, g->groups[i].name, best);
		if (distance <= best && (found == NULL || distance < best)) {
			best = distance;
			found = g->groups[i].name;
		}
	}
	return found;
}

static void report_unknown(struct diags *d, const char *file, unsigned line,
                           const char *what, const char *name,
                           const struct device_groups *g)
{
	const char *near = nearest(g, name);
	diag_add(d, DIAG_ERROR, file, line, "%s: unknown device group '%.64s'%s%s%s",
	         what, name, near != NULL ? "; did you mean '" : "",
	         near != NULL ? near : "; define it in DeviceGroups",
	         near != NULL ? "'?" : "");
}

static void bind_includes(struct reader *r, const struct device_groups *all)
{
	for (uint32_t i = 0; i < r->n; i++) {
		/* ours, not one of the static groups */
		struct device_rule *rules = arena_array(
			r->arena, r->groups[i].n_rules, sizeof(*rules));
		if (rules == NULL) {
			r->ret = -ENOMEM;
			return;
		}
		for (uint32_t k = 0; k < r->groups[i].n_rules; k++) {
			rules[k] = r->groups[i].rules[k];
			if (rules[k].kind != DEVICE_INCLUDE_GROUP) {
				continue;
			}
			rules[k].value = device_group_find(all, rules[k].name);
			if (rules[k].value == DEVICE_GROUP_NONE) {
				report_unknown(r->d, r->path, rules[k].line,
				               "IncludeGroup", rules[k].name, all);
				r->ret = E_SYNTAX;
			}
		}
		r->groups[i].rules = rules;
	}
}

/* --- cycles ------------------------------------------------------------------------------- */

enum { UNSEEN, ENTERED, DONE };

struct walk {
	uint32_t group, rule; /* rule: the next one to look at */
};

/* Names on the stack from \a group on, for a message. */
static const char *cycle_text(const struct reader *r, const struct walk *stack,
                              uint32_t depth, uint32_t group)
{
	uint32_t from = 0;
	const char *text = "";

	while (stack[from].group != group) {
		from++;
	}
	for (uint32_t i = from; i < depth && i < from + 8; i++) {
		text = arena_printf(r->arena, "%s'%s' includes ", text,
		                    r->groups[stack[i].group].name);
		if (text == NULL) {
			return "";
		}
	}
	return arena_printf(r->arena, "%s%s'%s'", text,
	                    depth - from > 8 ? "... " : "", r->groups[group].name);
}

static void refuse_cycle(struct reader *r, const struct walk *stack, uint32_t depth,
                         const struct device_rule *rule)
{
	const char *text = cycle_text(r, stack, depth, rule->value);
	diag_add(r->d, DIAG_ERROR, r->path, rule->line,
	         "IncludeGroup '%.64s': a cycle, %s; take one of these out", rule->name,
	         text != NULL ? text : "");
	r->ret = E_SYNTAX;
}

/* Depth first from one group. A cycle is told once, at the element that closes it. */
static void walk_from(struct reader *r, uint32_t start, uint8_t *state,
                      struct walk *stack)
{
	uint32_t depth = 1;

	stack[0] = (struct walk){ start, 0 };
	state[start] = ENTERED;
	while (depth > 0) {
		struct walk *at = &stack[depth - 1];
		const struct device_group *g = &r->groups[at->group];
		if (at->rule == g->n_rules) {
			state[at->group] = DONE;
			depth--;
			continue;
		}
		const struct device_rule *rule = &g->rules[at->rule++];
		if (rule->kind != DEVICE_INCLUDE_GROUP) {
			continue;
		}
		if (state[rule->value] == ENTERED) {
			refuse_cycle(r, stack, depth, rule);
		} else if (state[rule->value] == UNSEEN) {
			state[rule->value] = ENTERED;
			stack[depth++] = (struct walk){ rule->value, 0 };
		}
	}
}

static void check_cycles(struct reader *r)
{
	uint8_t *state = arena_array(r->arena, r->n, sizeof(*state));
	struct walk *stack = arena_array(r->arena, r->n, sizeof(*stack));

	if (state == NULL || stack == NULL) {
		r->ret = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		if (state[i] == UNSEEN) {
			walk_from(r, i, state, stack);
		}
	}
}

static uint32_t count_groups(struct xml_element *const *sections, unsigned n)
{
	uint32_t all = N_BUILTIN;
	for (unsigned i = 0; i < n; i++) {
		uint32_t in = count_children(sections[i]);
		all += in < DEVICE_GROUPS_MAX ? in : DEVICE_GROUPS_MAX;
	}
	return all;
}

int device_groups_parse(const char *path, struct xml_element *const *sections, unsigned n,
                        struct arena *a, struct diags *d,
                        const struct device_groups **ret)
{
	struct reader r = { .arena = a, .d = d, .n = N_BUILTIN };
	struct device_groups *all = arena_alloc(a, sizeof(*all));

	r.path = arena_strdup(a, path);
	r.groups = arena_array(a, count_groups(sections, n), sizeof(*r.groups));
	if (all == NULL || r.path == NULL || r.groups == NULL) {
		return -ENOMEM;
	}
	memcpy(r.groups, builtin, sizeof(builtin));
	for (unsigned i = 0; i < n; i++) {
		read_section(&r, sections[i]);
	}
	*all = (struct device_groups){ r.path, r.groups, r.n };
	if (r.ret != -ENOMEM) {
		int so_far = r.ret;
		r.ret = E_OK;
		bind_includes(&r, all);
		if (r.ret == E_OK) {
			check_cycles(&r);
		}
		r.ret = r.ret == E_OK ? so_far : r.ret;
	}
	if (r.ret == E_OK) {
		*ret = all;
	}
	return r.ret;
}

/* DeviceGroups of a whole opafm.xml, or a file of groups alone. */
static unsigned find_sections(struct xml_element *root, struct xml_element *ret[2])
{
	static const char *const places[] = { "Common", "Fm" };
	unsigned n = 0;

	if (strcmp(root->name, "DeviceGroups") == 0) {
		ret[n++] = root;
		return n;
	}
	for (unsigned i = 0; strcmp(root->name, "Config") == 0 && i < 2; i++) {
		struct xml_element *place = xml_child(root, places[i]);
		struct xml_element *section =
			place != NULL ? xml_child(place, "DeviceGroups") : NULL;
		if (section != NULL) {
			ret[n++] = section;
		}
	}
	return n;
}

int device_groups_read(const char *path, struct arena *a, struct diags *d,
                       const void **ret)
{
	struct xml_element *root = NULL, *sections[2];
	const struct device_groups *groups = NULL;

	int err = xml_read(path, a, d, &root);
	if (err != E_OK) {
		return err;
	}
	unsigned n = find_sections(root, sections);
	if (n == 0) {
		diag_add(d, DIAG_ERROR, path, root->line,
		         "no element DeviceGroups; expected it outermost, or in Config/Common");
		return E_SYNTAX;
	}
	err = device_groups_parse(path, sections, n, a, d, &groups);
	if (err == E_OK) {
		*ret = groups;
	}
	return err;
}

/* --- values of options -------------------------------------------------------------------- */

static bool is_listed(const char *const *names, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			return true;
		}
	}
	return false;
}

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
	text += strspn(text, " \t");
	size_t len = strlen(text);
	while (len > 0 && strchr(" \t", text[len - 1]) != NULL) {
		len--;
	}
	text[len] = '\0';
	return text;
}

int device_list_parse(const char *text, uint32_t most, struct arena *a,
                      struct device_list **ret)
{
	struct device_list *list = arena_alloc(a, sizeof(*list));
	char *copy = arena_strdup(a, text), *rest = copy, *word;
	uint32_t room = 1, n = 0;

	for (const char *p = text; *p != '\0'; p++) {
		room += *p == ',';
	}
	const char **names = arena_array(a, room, sizeof(*names));
	if (list == NULL || copy == NULL || names == NULL) {
		return -ENOMEM;
	}
	if (room > most) {
		return E_SYNTAX;
	}
	while ((word = strsep(&rest, ",")) != NULL) {
		names[n] = trim(word);
		if (*names[n] == '\0' || is_listed(names, n, names[n])) {
			return E_SYNTAX;
		}
		n++;
	}
	*list = (struct device_list){ .text = arena_strdup(a, text),
		                      .names = names,
		                      .n = n };
	*ret = list;
	return list->text != NULL ? E_OK : -ENOMEM;
}

int device_list_bind(struct device_list *list, const char *key,
                     const struct device_groups *groups, struct arena *a, struct diags *d)
{
	uint32_t *index = arena_array(a, list->n, sizeof(*index));
	int ret = index != NULL ? E_OK : -ENOMEM;

	for (uint32_t i = 0; index != NULL && i < list->n; i++) {
		index[i] = device_group_find(groups, list->names[i]);
		if (index[i] == DEVICE_GROUP_NONE) {
			report_unknown(d, list->file, list->line, key, list->names[i],
			               groups);
			ret = E_UNKNOWN;
		}
	}
	if (ret == E_OK) {
		list->groups = groups;
		list->index = index;
	}
	return ret;
}
