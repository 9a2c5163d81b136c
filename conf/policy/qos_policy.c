/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/qos_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "conf/policy/qos.h"
#include "conf/policy/qos_policy_read.h"

static const struct text_file_kind policy_kind = {
	.what = "a policy for quality of service",
	.max_bytes = 1 << 20,
	.usual = "/etc/opensm/qos-policy.conf",
	.without = "no rules for quality of service",
};
static const char default_level[] = "DEFAULT";

static void read_line(struct qos_reader *r, char *line)
{
	line[strcspn(line, "#")] = '\0';
	line = text_trim(line);
	if (*line == '\0' || qos_read_keyword(r, line)) {
		return;
	}
	if (r->at == QOS_ULPS) {
		qos_read_ulp(r, line);
	} else {
		qos_read_field(r, line);
	}
}

/* --- the whole -------------------------------------------------------------------- */

static void bind_groups(struct qos_reader *r, const struct qos_name_list *names,
                        const uint32_t **ret_groups, uint32_t *ret_n)
{
	char *list = names->text;
	uint32_t *index = arena_array(r->arena, strlen(list) + 1, sizeof(*index));
	uint32_t n = 0;

	if (index == NULL) {
		r->ret = -ENOMEM;
		return;
	}
	r->line = names->line;
	for (char *item; (item = strsep(&list, ",")) != NULL; n++) {
		item = text_trim(item);
		index[n] = qos_find_group(r, item, r->n_groups);
		if (index[n] == QOS_LEVEL_NONE) {
			qos_refuse(r, "there is no port-group '%.64s'", item);
			return;
		}
	}
	*ret_groups = index;
	*ret_n = n;
}

/* Names become indices. */
static void bind_rules(struct qos_reader *r)
{
	for (uint32_t i = 0; i < r->n_rules; i++) {
		struct qos_match_rule *m = &r->rules[i];
		struct qos_names *n = &r->names[i];

		if (n->level != NULL) {
			m->level = qos_find_level(r, n->level, r->n_levels);
			r->line = n->level_line;
			if (m->level == QOS_LEVEL_NONE) {
				qos_refuse(r, "there is no qos-level '%.64s'", n->level);
			}
		}
		if (n->sources.text != NULL) {
			bind_groups(r, &n->sources, &m->sources, &m->n_sources);
		}
		if (n->destinations.text != NULL) {
			bind_groups(r, &n->destinations, &m->destinations,
			            &m->n_destinations);
		}
	}
	memcpy(&r->rules[r->n_rules], r->ulps, r->n_ulps * sizeof(*r->ulps));
	r->n_rules += r->n_ulps;
}

static uint32_t choose_default(struct qos_reader *r)
{
	uint32_t found = qos_find_level(r, default_level, r->n_levels);

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

static int make_room(struct qos_reader *r, const char *text, size_t len)
{
	/* a line makes one of each at most; of levels, 16 more by their SLs */
	r->room = (uint32_t)text_count(text, len, '\n') + 2;
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
	if (r->at != QOS_TOP) {
		qos_refuse(r, "the file ends inside of %s", qos_block_keyword(r));
	}
}

int qos_policy_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct qos_policy **ret_policy)
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
			"qos-setup has no effect: the keys qos_*_sl2vl and qos_*_vlarb_* say the tables of ports");
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
		*ret_policy = p;
	}
	return r.ret;
}

static int no_policy(const char *path, struct arena *a,
                     const struct qos_policy **ret_policy)
{
	struct qos_policy *none = arena_alloc(a, sizeof(*none));
	const char *copy = arena_strdup(a, path);

	if (none == NULL || copy == NULL) {
		return -ENOMEM;
	}
	*none = (struct qos_policy){ .path = copy, .default_level = QOS_LEVEL_NONE };
	*ret_policy = none;
	return E_OK;
}

int qos_policy_read(const char *path, struct arena *a, struct diags *d,
                    const void **ret_value)
{
	const struct qos_policy *policy = NULL;
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &policy_kind, d, &text, &len);

	if (ret == E_OK) {
		ret = text != NULL ? qos_policy_parse(path, text, len, a, d, &policy)
		                   : no_policy(path, a, &policy);
	}
	free(text);
	if (ret == E_OK) {
		*ret_value = policy;
	}
	return ret;
}
