/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/option.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "conf/base/vector.h"
#include "conf/device_group.h"
#include "conf/option_value.h"

const char *const option_group_titles[] = {
	[OPTION_GROUP_NONE] = NULL,
	[OPTION_GROUP_PROGRAM] = "Program, files and folders",
	[OPTION_GROUP_SM] = "Identity, keys, several subnet managers",
	[OPTION_GROUP_LIDS] = "LIDs",
	[OPTION_GROUP_ROUTING] = "Routing and path queries",
	[OPTION_GROUP_ENGINE] = "Routing engines",
	[OPTION_GROUP_SWEEP] = "Sweeps and packets",
	[OPTION_GROUP_LINKS] = "Links and ports",
	[OPTION_GROUP_PARTITION] = "Partitions",
	[OPTION_GROUP_SA] = "Subnet administration",
	[OPTION_GROUP_QOS] = "Quality of service",
	[OPTION_GROUP_PERF] = "Port counters",
	[OPTION_GROUP_HEALTH] = "Unhealthy ports",
	[OPTION_GROUP_VIRTUAL] = "Virtual ports",
};

int option_sets_add(struct option_sets *s, const struct option_row *rows, void *base)
{
	return option_sets_add_group(s, rows, base, OPTION_GROUP_NONE);
}

int option_sets_add_group(struct option_sets *s, const struct option_row *rows,
                          void *base, enum option_group group)
{
	if (s->n == OPTION_SETS_MAX) {
		return E_FULL;
	}
	s->set[s->n++] = (struct option_set){ rows, base, group };
	return E_OK;
}

static unsigned count_rows(const struct option_row *rows)
{
	unsigned n = 0;
	while (rows[n].name != NULL) {
		n++;
	}
	return n;
}

unsigned option_count(const struct option_sets *s)
{
	unsigned n = 0;
	for (unsigned i = 0; i < s->n; i++) {
		n += count_rows(s->set[i].rows);
	}
	return n;
}

unsigned option_index(const struct option_sets *s, const struct option_row *row)
{
	unsigned before = 0;
	for (unsigned i = 0; i < s->n; i++) {
		const struct option_row *rows = s->set[i].rows;
		unsigned n = count_rows(rows);
		if (row >= rows && row < rows + n) {
			return before + (unsigned)(row - rows);
		}
		before += n;
	}
	return before;
}

static const struct option_row *find_in(const struct option_row *rows, const char *key)
{
	for (; rows->name != NULL; rows++) {
		if (strcmp(rows->name, key) == 0) {
			return rows;
		}
	}
	return NULL;
}

const struct option_row *option_find(const struct option_sets *s, const char *key)
{
	const struct option_row *found = NULL;
	for (unsigned i = 0; i < s->n; i++) {
		const struct option_row *row = find_in(s->set[i].rows, key);
		if (row != NULL && row->type != OPT_IGNORED) {
			return row;
		}
		found = found != NULL ? found : row;
	}
	return found;
}

int option_set_defaults(const struct option_sets *s, struct arena *a)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct option_set *set = &s->set[i];
		for (const struct option_row *row = set->rows; row->name != NULL; row++) {
			const char *def = row->def != NULL ? row->def : "(null)";
			int ret = option_store(row, set->base, a, def);
			if (ret != E_OK) {
				return ret == -ENOMEM ? ret : E_SYNTAX;
			}
		}
	}
	return E_OK;
}

const char *option_nearest(const struct option_sets *s, const char *key)
{
	size_t len = strlen(key);
	unsigned best = len < 6 ? 1 : len < 12 ? 2 : 3;
	const char *found = NULL;

	for (unsigned i = 0; i < s->n; i++) {
		for (const struct option_row *row = s->set[i].rows; row->name != NULL;
		     row++) {
			if ((row->flags & OPT_CLI_ONLY) != 0) {
				continue;
			}
			unsigned distance = text_distance(key, row->name, best);
			if (distance <= best && (found == NULL || distance < best)) {
				best = distance;
				found = row->name;
			}
		}
	}
	return found;
}

static int report_unknown(const struct option_sets *s, const char *key, const char *file,
                          unsigned line, struct diags *d)
{
	const char *hint = option_nearest(s, key);
	if (hint != NULL) {
		diag_add(d, DIAG_ERROR, file, line,
		         "unknown key '%.64s'; did you mean '%s'?", key, hint);
	} else {
		diag_add(d, DIAG_ERROR, file, line, "unknown key '%.64s'", key);
	}
	return E_UNKNOWN;
}

/* Do two texts mean the same value? Numbers and booleans are compared by value, other
 * words in any case. */
static bool same_value(const char *a, const char *b)
{
	uint64_t x, y;
	bool p, q;
	if (text_u64(a, UINT64_MAX, &x) == E_OK && text_u64(b, UINT64_MAX, &y) == E_OK) {
		return x == y;
	}
	if (option_parse_bool(a, &p) == E_OK && option_parse_bool(b, &q) == E_OK) {
		return p == q;
	}
	return strcasecmp(a, b) == 0;
}

/* Where a value comes from, and where its errors are reported. */
struct origin {
	const char *file; /* NULL: the command line */
	unsigned line;
	const char *element; /* of opafm.xml, or NULL */
	struct diags *d;
};

/* The setting as the operator wrote it, for messages: a key or an element in a file, a long
 * flag on a command line. */
static const char *label(const struct option_row *row, const struct origin *o,
                         struct arena *a)
{
	const char *flag = NULL;
	if (o->element != NULL) {
		return o->element;
	}
	if (o->file == NULL && row->flags_long != NULL) {
		flag = arena_printf(a, "--%.*s", (int)strcspn(row->flags_long, ", "),
		                    row->flags_long);
	}
	return flag != NULL ? flag : row->name;
}

bool option_is_default(const struct option_row *row, const char *value)
{
	return option_is_null(value) ? row->def == NULL
	                             : row->def != NULL && same_value(value, row->def);
}

/* Does the value of an ignored row leave everything as it is without the row? */
static bool is_harmless(const struct option_row *row, const char *value)
{
	const char *def = row->def != NULL ? row->def : "(null)";
	if (option_is_default(row, value)) {
		return true;
	}
	for (unsigned i = 0; row->names != NULL && row->names[i] != NULL; i++) {
		if (same_value(value, row->names[i])) {
			return true;
		}
	}
	return text_file_is_usual(value, def) && text_file_is_missing(value);
}

static int report_ignored(const struct option_sets *s, const struct option_row *row,
                          const char *value, const struct origin *o, struct arena *a)
{
	bool refuse = (row->flags & OPT_REFUSE) != 0;

	if (is_harmless(row, value)) {
		return E_OK;
	}
	if (refuse && !s->ignore_unsupported) {
		diag_add(
			o->d, DIAG_ERROR, o->file, o->line,
			"%s '%.64s': there is no such protection here; only '%s' can be set, or give --ignore-unsupported to run without it",
			label(row, o, a), value, row->def != NULL ? row->def : "(null)");
		return E_RANGE;
	}
	if (refuse) {
		diag_add(o->d, DIAG_WARNING, o->file, o->line,
		         "%s '%.64s': there is no such protection here",
		         label(row, o, a), value);
		return E_OK;
	}
	diag_add(o->d, DIAG_WARNING, o->file, o->line, "%s '%.64s': no effect here",
	         label(row, o, a), value);
	return E_OK;
}

static int store_checked(const struct option_row *row, void *base, struct arena *a,
                         const char *value, const struct origin *o)
{
	bool secret = (row->flags & OPT_SECRET) != 0;
	const char *what = label(row, o, a), *written = secret ? "..." : value;
	if (o->element != NULL && row->from_xml != NULL) {
		value = row->from_xml(value, a);
	}
	int ret = value != NULL ? option_store(row, base, a, value) : -ENOMEM;

	if (ret == E_RANGE && (row->flags & OPT_CLAMP) != 0) {
		diag_add(o->d, DIAG_WARNING, o->file, o->line,
		         "%s '%.64s': %" PRIu64 " is the most here and is used", what,
		         written, row->max);
		const char *max = arena_printf(a, "%" PRIu64, row->max);
		ret = max != NULL ? option_store(row, base, a, max) : -ENOMEM;
	}
	if (ret == E_SYNTAX || ret == E_RANGE) {
		bool xml = o->element != NULL && row->xml_expected != NULL;
		const char *expected = xml ? row->xml_expected : option_expected(row, a);
		diag_add(o->d, DIAG_ERROR, o->file, o->line, "%s '%.64s': expected %s",
		         what, written, expected != NULL ? expected : "another value");
	} else if (ret != E_OK) {
		diag_add(o->d, DIAG_ERROR, o->file, o->line, "%s: %s", what,
		         err_text(ret));
	} else {
		option_place(row, base, what, o->file, o->line);
	}
	return ret;
}

/* The reader of the file reports its errors; this adds which option names the file. */
static int store_file(const struct option_row *row, void *base, struct arena *a,
                      const char *value, const struct origin *o, struct option_read *done)
{
	int ret = option_store_file(row, base, a, value, o->d, done);
	if (ret != E_OK) {
		diag_add(o->d, DIAG_ERROR, o->file, o->line, "%s '%.200s': %s",
		         label(row, o, a), value,
		         ret == E_SYNTAX ? "the file has errors" : err_text(ret));
	}
	return ret;
}

int option_trace_add(struct option_trace *t, const char *key, const char *element,
                     const char *value, unsigned line, enum option_fate fate)
{
	if (t == NULL) {
		return E_OK;
	}
	if (ARENA_RESERVE(t->arena, t->seen, t->n, t->room, t->n + 1U) != E_OK) {
		return -ENOMEM;
	}
	struct option_seen seen = { .line = line, .fate = fate };
	seen.key = key != NULL ? arena_strdup(t->arena, key) : NULL;
	seen.element = element != NULL ? arena_strdup(t->arena, element) : NULL;
	seen.value = arena_strdup(t->arena, value);
	if (seen.value == NULL || (key != NULL && seen.key == NULL) ||
	    (element != NULL && seen.element == NULL)) {
		return -ENOMEM;
	}
	t->seen[t->n++] = seen;
	return E_OK;
}

const struct option_seen *option_trace_find(const struct option_trace *t, const char *key)
{
	for (unsigned i = t != NULL ? t->n : 0; i-- > 0;) {
		if (t->seen[i].key != NULL && strcmp(t->seen[i].key, key) == 0) {
			return &t->seen[i];
		}
	}
	return NULL;
}

/* A file that does not exist is a warning in a lenient set, and the value is "(null)"; unless it
 * protects the fabric. */
static const char *present_file(const struct option_sets *s, const struct option_row *row,
                                const char *value, const struct origin *o,
                                struct arena *a)
{
	if (!s->lenient || o->file == NULL || option_is_null(value) ||
	    (row->flags & OPT_REFUSE) != 0 || !text_file_is_missing(value) || option_may_lack_file(row, value, a)) {
		return value;
	}
	diag_add(o->d, DIAG_WARNING, o->file, o->line,
	         "%s '%.200s': there is no such file; taken as (null)", label(row, o, a),
	         value);
	return "(null)";
}

/* With must_exist: does the value name a file that has to be there, and is not? */
static bool is_lost_file(const struct option_sets *s, const struct option_row *row,
                         const char *value, struct arena *a)
{
	bool is_file = option_is_file(row);

	return s->must_exist && !option_is_null(value) &&
	       (is_file || (row->flags & OPT_INPUT) != 0) &&
	       text_file_is_missing(value) &&
	       !(is_file && option_is_usual_place(row, value, a));
}

/* Stores the value in each set that has the key. */
static int store_all(const struct option_sets *s, struct arena *a, const char *key,
                     const char *value, const struct origin *o)
{
	const struct option_row *first = option_find(s, key);
	if (is_lost_file(s, first, value, a)) {
		diag_add(o->d, DIAG_ERROR, o->file, o->line,
		         "%s '%.200s': there is no such file; correct the name, or name none",
		         label(first, o, a), value);
		return -ENOENT;
	}
	if (option_is_file(first)) {
		value = present_file(s, first, value, o, a);
	}
	struct option_read done = { NULL, NULL }; /* read once for all sets */
	for (unsigned i = 0; i < s->n; i++) {
		const struct option_row *row = find_in(s->set[i].rows, key);
		if (row == NULL) {
			continue;
		}
		int ret = option_is_file(row)
		                  ? store_file(row, s->set[i].base, a, value, o, &done)
		                  : store_checked(row, s->set[i].base, a, value, o);
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

static int set_from(const struct option_sets *s, struct arena *a, const char *key,
                    const char *value, const struct origin *o)
{
	const struct option_row *first = option_find(s, key);
	if (first == NULL && s->lenient && o->file != NULL && o->element == NULL) {
		return option_trace_add(s->trace, key, NULL, value, o->line,
		                        OPTION_UNKNOWN);
	}
	if (first == NULL) {
		return report_unknown(s, key, o->file, o->line, o->d);
	}
	if (o->file != NULL && (first->flags & OPT_CLI_ONLY) != 0) {
		diag_add(o->d, DIAG_ERROR, o->file, o->line,
		         "'%s' is a flag of the command line, not a key of the file",
		         key);
		return E_UNKNOWN;
	}
	bool ignored = first->type == OPT_IGNORED;
	int ret = ignored ? report_ignored(s, first, value, o, a)
	                  : store_all(s, a, key, value, o);
	if (ret == E_OK && o->file != NULL) {
		bool shows = (first->flags & OPT_SECRET) == 0 ||
		             option_is_default(first, value);
		ret = option_trace_add(s->trace, first->name, o->element,
		                       shows ? value : "...", o->line,
		                       !ignored                    ? OPTION_TAKEN
		                       : is_harmless(first, value) ? OPTION_HARMLESS
		                                                   : OPTION_NO_EFFECT);
	}
	return ret;
}

int option_set(const struct option_sets *s, struct arena *a, const char *key,
               const char *value, const char *file, unsigned line, struct diags *d)
{
	const struct origin o = { .file = file, .line = line, .d = d };
	return set_from(s, a, key, value, &o);
}

int option_set_element(const struct option_sets *s, struct arena *a, const char *key,
                       const char *value, const char *element, const char *file,
                       unsigned line, struct diags *d)
{
	const struct origin o = { file, line, element, d };
	return set_from(s, a, key, value, &o);
}

/* Does a set before number \a n have the key? */
static bool is_in_set_before(const struct option_sets *s, unsigned n, const char *key)
{
	for (unsigned i = 0; i < n; i++) {
		if (find_in(s->set[i].rows, key) != NULL) {
			return true;
		}
	}
	return false;
}

int option_bind_groups(const struct option_sets *s, const struct device_groups *groups,
                       struct arena *a, struct diags *d)
{
	int last_ret = E_OK;
	for (unsigned i = 0; i < s->n; i++) {
		for (const struct option_row *row = s->set[i].rows; row->name != NULL;
		     row++) {
			struct device_list *list = option_list(row, s->set[i].base);
			if (list == NULL) {
				continue;
			}
			/* Reported once, although several sets share the key. */
			int ret = device_list_bind(
				list, row->name, groups, a,
				is_in_set_before(s, i, row->name) ? NULL : d);
			last_ret = ret != E_OK ? ret : last_ret;
		}
	}
	return last_ret;
}

void option_place_names(const struct option_sets *s, const char *key,
                        const unsigned *lines, uint32_t n)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct option_row *row = find_in(s->set[i].rows, key);
		struct device_list *list =
			row != NULL ? option_list(row, s->set[i].base) : NULL;
		if (list != NULL && list->n == n) {
			list->lines = lines;
		}
	}
}

int option_keep(const struct option_sets *now, const struct option_sets *next,
                struct arena *a, struct diags *d)
{
	for (unsigned i = 0; i < now->n; i++) {
		for (const struct option_row *row = now->set[i].rows; row->name != NULL;
		     row++) {
			if ((row->flags & OPT_RESTART) == 0) {
				continue;
			}
			const char *running = option_text(row, now->set[i].base, a);
			const char *wanted = option_text(row, next->set[i].base, a);
			if (running == NULL || wanted == NULL) {
				return -ENOMEM;
			}
			if (strcmp(running, wanted) == 0) {
				continue;
			}
			bool secret = (row->flags & OPT_SECRET) != 0;
			diag_add(d, DIAG_WARNING, NULL, 0,
			         "%s: '%.64s' needs a restart; '%.64s' stays in use",
			         row->name, secret ? "..." : wanted,
			         secret ? "..." : running);
			int ret = option_store(row, next->set[i].base, a, running);
			if (ret != E_OK) {
				return ret;
			}
		}
	}
	return E_OK;
}
