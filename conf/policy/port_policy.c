/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/port_policy.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/policy/policy.h"

enum { N_BUILTIN = 3, PORTS = 255 };

static const struct port_policy_group builtin_groups[N_BUILTIN] = {
	{ .name = "ALL", .kind = PORT_POLICY_ALL },
	{ .name = "ALL_SWITCHES", .kind = PORT_POLICY_ALL_SWITCHES },
	{ .name = "ALL_CAS", .kind = PORT_POLICY_ALL_CAS },
};

static const struct port_policy builtin = { .groups = builtin_groups, .n = N_BUILTIN };

const struct port_policy *port_policy_builtin(void)
{
	return &builtin;
}

uint32_t port_policy_find(const struct port_policy *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++) {
		if (!strcmp(p->groups[i].name, name)) {
			return i;
		}
	}
	return PORT_POLICY_NONE;
}

/* One paragraph at work. */
struct parser {
	const struct policy *file;
	const struct policy_block *block;
	struct arena *a;
	struct diags *d;
	struct port_policy_group *group;
};

static int refuse_rule(const struct parser *p, const char *name, const char *text,
                       const char *expected)
{
	diag_add(p->d, DIAG_ERROR, p->file->path, policy_line(p->block, name),
	         "%s: expected %s, not '%s'", name, expected, text);
	return E_SYNTAX;
}

/* --- rules -------------------------------------------------------------------------- */

/* "2-5/7": one or more ports. */
static int parse_ports(char *text, uint64_t ports[4])
{
	char *save = NULL;

	for (char *part = strtok_r(text, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		char *dash = strchr(part, '-');
		uint64_t from, to;

		if (dash) {
			*dash = '\0';
		}
		if (text_u64(text_trim(part), PORTS, &from) != E_OK || from == 0 ||
		    text_u64(dash ? text_trim(dash + 1) : part, PORTS, &to) != E_OK || to < from) {
			return E_SYNTAX;
		}
		for (; from <= to; from++) {
			ports[from / 64] |= UINT64_C(1) << from % 64;
		}
	}
	return ports[0] | ports[1] | ports[2] | ports[3] ? E_OK : E_SYNTAX;
}

static int parse_guids(struct parser *p, const char *text)
{
	struct port_policy_guid *guids = arena_array(
		p->a, text_count(text, strlen(text), ',') + 1, sizeof(*guids));
	char *copy = arena_strdup(p->a, text), *save = NULL;

	if (!guids || !copy) {
		return -ENOMEM;
	}
	for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		struct port_policy_guid *g = &guids[p->group->n];
		char *at = strchr(item, '@');

		if (at) {
			*at = '\0';
		}
		if (text_number(text_trim(item), &g->guid) != E_OK ||
		    (at && parse_ports(at + 1, g->ports) != E_OK)) {
			return refuse_rule(
				p, "port-guid", text,
				"GUIDs, each with ports such as @2-5/7 or without");
		}
		p->group->n++;
	}
	p->group->kind = PORT_POLICY_GUIDS;
	p->group->guids = guids;
	return E_OK;
}

static int parse_range(struct parser *p, const char *text)
{
	char *copy = arena_strdup(p->a, text), *dash = copy ? strchr(copy, '-') : NULL;

	if (!copy) {
		return -ENOMEM;
	}
	if (dash) {
		*dash = '\0';
	}
	if (!dash || text_number(text_trim(copy), &p->group->from) != E_OK ||
	    text_number(text_trim(dash + 1), &p->group->to) != E_OK ||
	    p->group->from > p->group->to) {
		return refuse_rule(p, "port-guid-range", text,
		                   "two GUIDs, the smaller first, with a - between");
	}
	p->group->kind = PORT_POLICY_RANGE;
	return E_OK;
}

/* "hostname=n01; port=1" */
static int parse_name(char *text, struct port_policy_name *ret_policy_name)
{
	char *save = NULL;

	for (char *part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
		char *equals = strchr(part, '=');
		uint64_t number = 0;

		if (!equals) {
			return E_SYNTAX;
		}
		*equals = '\0';
		char *name = text_trim(part), *value = text_trim(equals + 1);

		if (!strcmp(name, "hostname") && *value) {
			ret_policy_name->host = value;
		} else if (text_u64(value, PORTS, &number) != E_OK || number == 0) {
			return E_SYNTAX;
		} else if (!strcmp(name, "port")) {
			ret_policy_name->port = (uint32_t)number;
		} else if (!strcmp(name, "hca_idx")) {
			ret_policy_name->hca_idx = (uint32_t)number;
		} else {
			return E_SYNTAX;
		}
	}
	return ret_policy_name->host ? E_OK : E_SYNTAX;
}

static int parse_names(struct parser *p, const char *text)
{
	struct port_policy_name *names = arena_array(
		p->a, text_count(text, strlen(text), ',') + 1, sizeof(*names));
	char *copy = arena_strdup(p->a, text), *save = NULL;

	if (!names || !copy) {
		return -ENOMEM;
	}
	for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		if (parse_name(item, &names[p->group->n]) != E_OK) {
			return refuse_rule(
				p, "port-name", text,
				"hostname=NAME, with ; port=P and ; hca_idx=N or without");
		}
		p->group->n++;
	}
	p->group->kind = PORT_POLICY_NAMES;
	p->group->names = names;
	return E_OK;
}

static int parse_regexp(struct parser *p, const char *text)
{
	char *copy = arena_strdup(p->a, text), *colon = copy ? strrchr(copy, ':') : NULL;
	uint64_t port = 0;
	regex_t re;

	if (!copy) {
		return -ENOMEM;
	}
	if (colon) {
		*colon = '\0';
		if (text_u64(text_trim(colon + 1), PORTS, &port) != E_OK || port == 0) {
			return refuse_rule(p, "port-regexp", text,
			                   "a port number behind the colon");
		}
	}
	copy = text_trim(copy);
	if (regcomp(&re, copy, REG_EXTENDED | REG_NOSUB) != 0) {
		return refuse_rule(p, "port-regexp", text, "a POSIX regular expression");
	}
	regfree(&re);
	p->group->kind = PORT_POLICY_REGEXP;
	p->group->regexp = copy;
	p->group->port = (uint32_t)port;
	return E_OK;
}

/* The names are looked up when all groups are known. */
static int parse_union(struct parser *p, const char *text)
{
	p->group->kind = PORT_POLICY_UNION;
	return text_count(text, strlen(text), ',') == 1
	               ? E_OK
	               : refuse_rule(p, "union-rule", text,
	                             "two groups with a comma between");
}

static int parse_subtract(struct parser *p, const char *text)
{
	p->group->kind = PORT_POLICY_SUBTRACT;
	return text_count(text, strlen(text), ',') == 1
	               ? E_OK
	               : refuse_rule(p, "subtract-rule", text,
	                             "two groups with a comma between");
}

static const struct rule {
	const char *name;
	int (*parse)(struct parser *p, const char *text);
} rules[] = {
	{ "port-guid", parse_guids },     { "port-guid-range", parse_range },
	{ "port-name", parse_names },     { "port-regexp", parse_regexp },
	{ "union-rule", parse_union },    { "subtract-rule", parse_subtract },
};

enum { N_RULES = sizeof(rules) / sizeof(rules[0]) };

static const char *const known[] = { "name",        "use",        "port-guid",
	                             "port-guid-range", "port-name", "port-regexp",
	                             "union-rule",  "subtract-rule", NULL };

/* --- groups ------------------------------------------------------------------------- */

static int parse_rule(struct parser *p)
{
	const struct rule *found = NULL;

	for (unsigned i = 0; i < N_RULES; i++) {
		if (!policy_value(p->block, rules[i].name)) {
			continue;
		}
		if (found) {
			diag_add(p->d, DIAG_ERROR, p->file->path,
			         policy_line(p->block, rules[i].name),
			         "port-group '%s' has two rules, %s and %s: one, please",
			         p->group->name, found->name, rules[i].name);
			return E_SYNTAX;
		}
		found = &rules[i];
	}
	if (!found) {
		diag_add(p->d, DIAG_ERROR, p->file->path, p->block->line,
		         "port-group '%s' has no rule, such as port-guid", p->group->name);
		return E_SYNTAX;
	}
	return found->parse(p, policy_value(p->block, found->name));
}

static int parse_group(struct parser *p, const struct port_policy *so_far)
{
	const char *name = policy_value(p->block, "name");

	if (!name) {
		diag_add(p->d, DIAG_ERROR, p->file->path, p->block->line,
		         "a port-group without a name");
		return E_SYNTAX;
	}
	if (port_policy_find(so_far, name) != PORT_POLICY_NONE) {
		diag_add(p->d, DIAG_ERROR, p->file->path, policy_line(p->block, "name"),
		         "port-group '%s' is there already", name);
		return E_SYNTAX;
	}
	*p->group = (struct port_policy_group){ .name = name, .line = p->block->line };
	return parse_rule(p);
}

/* The two names of a union or subtraction. */
static int bind_two(const struct parser *p, const struct port_policy *all)
{
	struct port_policy_group *g = p->group;
	const char *rule = g->kind == PORT_POLICY_UNION ? "union-rule" : "subtract-rule";
	char *copy, *comma;

	if (g->kind != PORT_POLICY_UNION && g->kind != PORT_POLICY_SUBTRACT) {
		return E_OK;
	}
	copy = arena_strdup(p->a, policy_value(p->block, rule));
	if (!copy) {
		return -ENOMEM;
	}
	comma = strchr(copy, ',');
	*comma = '\0';
	const char *name[2] = { text_trim(copy), text_trim(comma + 1) };
	uint32_t *to[2] = { &g->a, &g->b };

	for (unsigned i = 0; i < 2; i++) {
		*to[i] = port_policy_find(all, name[i]);
		if (*to[i] == PORT_POLICY_NONE) {
			return refuse_rule(p, rule, name[i], "the name of a port-group");
		}
	}
	return E_OK;
}

/* state: 0 not seen, 1 being visited, 2 done */
static bool has_cycle(const struct port_policy_group *groups, uint32_t i, uint8_t *state)
{
	const struct port_policy_group *g = &groups[i];
	bool found;

	if (state[i]) {
		return state[i] == 1;
	}
	state[i] = 1;
	found = (g->kind == PORT_POLICY_UNION || g->kind == PORT_POLICY_SUBTRACT) &&
	        (has_cycle(groups, g->a, state) || has_cycle(groups, g->b, state));
	state[i] = 2;
	return found;
}

static int check_cycles(const struct policy *file, const struct port_policy *all,
                        struct arena *a, struct diags *d)
{
	uint8_t *state = arena_alloc(a, all->n);

	if (!state) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < all->n; i++) {
		if (has_cycle(all->groups, i, state)) {
			diag_add(d, DIAG_ERROR, file->path, all->groups[i].line,
			         "port-group '%s' is made of itself through its rule",
			         all->groups[i].name);
			return E_SYNTAX;
		}
	}
	return E_OK;
}

int port_policy_read(const char *path, struct arena *a, struct diags *d,
                     const void **ret_value)
{
	struct policy file;
	struct port_policy *all = arena_alloc(a, sizeof(*all));
	int ret = policy_read(path, "port-group", known, a, d, &file);

	if (ret != E_OK || !all) {
		return ret != E_OK ? ret : -ENOMEM;
	}
	struct port_policy_group *groups =
		arena_array(a, N_BUILTIN + file.n, sizeof(*groups));

	if (!groups) {
		return -ENOMEM;
	}
	memcpy(groups, builtin_groups, sizeof(builtin_groups));
	*all = (struct port_policy){ file.path, groups, N_BUILTIN };
	for (unsigned i = 0; i < file.n; i++) {
		struct parser p = { &file, &file.blocks[i], a, d, &groups[all->n] };

		int group_ret = parse_group(&p, all);
		ret = ret != E_OK ? ret : group_ret;
		all->n++;
	}
	for (unsigned i = 0; ret == E_OK && i < file.n; i++) {
		struct parser p = { &file, &file.blocks[i], a, d, &groups[N_BUILTIN + i] };

		ret = bind_two(&p, all);
	}
	if (ret == E_OK) {
		ret = check_cycles(&file, all, a, d);
	}
	if (ret == E_OK) {
		*ret_value = all;
	}
	return ret;
}
