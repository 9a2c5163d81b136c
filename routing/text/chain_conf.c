/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/chain_conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "conf/policy/policy.h"

enum { ID_MAX = 65535, PATH_BIT_MAX = 127 };
static const struct text_file_kind config_kind = { .what = "a file of options",
	                                           .max_bytes = 1 << 20 };

static int missing(const struct policy *p, const struct policy_block *b, const char *name,
                   struct diags *d)
{
	diag_add(d, DIAG_ERROR, p->path, b->line, "%s is missing", name);
	return E_SYNTAX;
}

/* --- topologies --------------------------------------------------------------------- */

static const char *const topology_names[] = { "id", "sw-grp", "hca-grp", NULL };

int chain_topologies_read(const char *path, struct arena *a, struct diags *d,
                          const void **ret_value)
{
	struct chain_topologies *all = arena_alloc(a, sizeof(*all));
	struct policy p;
	int ret = policy_read(path, "topology", topology_names, a, d, &p), first = E_OK;

	if (ret != E_OK || !all) {
		return ret != E_OK ? ret : -ENOMEM;
	}
	struct chain_topology *t = arena_array(a, p.n, sizeof(*t));

	if (!t) {
		return -ENOMEM;
	}
	*all = (struct chain_topologies){ p.path, t, p.n };
	for (unsigned i = 0; i < p.n; i++) {
		const struct policy_block *b = &p.blocks[i];

		ret = policy_number(&p, b, "id", true, 0, 1, ID_MAX, d, &t[i].id);
		t[i].line = b->line;
		t[i].sw_grp = policy_value(b, "sw-grp");
		t[i].hca_grp = policy_value(b, "hca-grp");
		if (!t[i].sw_grp) {
			ret = missing(&p, b, "sw-grp", d);
		}
		if (!t[i].hca_grp) {
			ret = missing(&p, b, "hca-grp", d);
		}
		for (unsigned k = 0; ret == E_OK && k < i; k++) {
			if (t[k].id == t[i].id) {
				diag_add(d, DIAG_ERROR, path, t[i].line,
				         "topology %u is there already", t[i].id);
				ret = E_SYNTAX;
			}
		}
		first = first != E_OK ? first : ret;
	}
	if (first == E_OK) {
		*ret_value = all;
	}
	return first;
}

/* --- steps -------------------------------------------------------------------------- */

static const char *const step_names[] = { "id",       "engine",      "use",      "config",
	                                  "topology", "fallback-to", "path-bit", NULL };

/* What \a config names, for the step to read. A failure is the step's. */
static int read_config(const struct policy *p, const struct policy_block *b, struct arena *a,
                       struct diags *d, struct chain_step *s)
{
	struct diags own;
	char *text = NULL, *copy;
	size_t len = 0;

	s->config = policy_value(b, "config");
	if (!s->config) {
		return E_OK;
	}
	diags_init(&own, a);
	if (text_file_read(s->config, &config_kind, &own, &text, &len) != E_OK) {
		diag_add(d, DIAG_ERROR, p->path, policy_line(b, "config"),
		         "config: %s: %s", s->config, diags_first_error(&own));
		return E_SYNTAX;
	}
	copy = arena_alloc(a, len + 1);
	if (copy) {
		memcpy(copy, text, len);
		s->text = copy;
		s->text_len = len;
	}
	free(text);
	return copy ? E_OK : -ENOMEM;
}

static int parse_step(const struct policy *p, const struct policy_block *b, struct arena *a,
                      struct diags *d, struct chain_step *s)
{
	const struct {
		const char *name;
		bool needed;
		uint32_t min, max, *to;
	} numbers[] = {
		{ "id", true, 1, ID_MAX, &s->id },
		{ "topology", false, 0, ID_MAX, &s->topology },
		{ "fallback-to", false, 1, ID_MAX, &s->fallback_to },
		{ "path-bit", false, 0, PATH_BIT_MAX, &s->path_bit },
	};
	int ret = read_config(p, b, a, d, s);

	s->line = b->line;
	s->engine = policy_value(b, "engine");
	if (!s->engine) {
		ret = missing(p, b, "engine", d);
	}
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int got = policy_number(p, b, numbers[i].name, numbers[i].needed, 0,
		                        numbers[i].min, numbers[i].max, d, numbers[i].to);

		ret = ret != E_OK ? ret : got;
	}
	return ret;
}

static int by_id(const void *pa, const void *pb)
{
	const struct chain_step *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

/* Checks the first step, and that each id occurs once. */
static int check_steps(const struct chain_steps *all, struct diags *d)
{
	const struct chain_step *s = all->step;

	if (all->n == 0) {
		diag_add(d, DIAG_ERROR, all->path, 0, "no unicast-step");
		return E_SYNTAX;
	}
	if (s[0].topology != 0 || s[0].path_bit != 0 || s[0].fallback_to != 0) {
		diag_add(
			d, DIAG_ERROR, all->path, s[0].line,
			"step %u is the first: it routes the whole fabric, so topology and path-bit are 0 and it is no fallback",
			s[0].id);
		return E_SYNTAX;
	}
	for (uint32_t i = 1; i < all->n; i++) {
		if (s[i].id == s[i - 1].id) {
			diag_add(d, DIAG_ERROR, all->path, s[i].line,
			         "step %u is there already", s[i].id);
			return E_SYNTAX;
		}
	}
	return E_OK;
}

int chain_steps_read(const char *path, struct arena *a, struct diags *d,
                     const void **ret_value)
{
	struct chain_steps *all = arena_alloc(a, sizeof(*all));
	struct policy p;
	int ret = policy_read(path, "unicast-step", step_names, a, d, &p);

	if (ret != E_OK || !all) {
		return ret != E_OK ? ret : -ENOMEM;
	}
	struct chain_step *s = arena_array(a, p.n, sizeof(*s));

	if (!s) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < p.n; i++) {
		int got = parse_step(&p, &p.blocks[i], a, d, &s[i]);

		ret = ret != E_OK ? ret : got;
	}
	qsort(s, p.n, sizeof(*s), by_id);
	*all = (struct chain_steps){ p.path, s, p.n };
	if (ret == E_OK) {
		ret = check_steps(all, d);
	}
	if (ret == E_OK) {
		*ret_value = all;
	}
	return ret;
}
