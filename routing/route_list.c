/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/route_list.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "conf/config.h"
#include "conf/option_value.h"
#include "routing/engine.h"
#include "routing/engine_options.h"

static const char separators[] = ", \t";
const char route_deadlock_free[] = "deadlockfree";

static bool word_is(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(word, name, len) == 0;
}

/* \param ret_adaptive  Is it the name of the engine with adaptive routing? */
static const struct engine *find_word(const char *word, size_t len, bool *ret_adaptive)
{
	for (const struct engine *const *e = engines; *e; e++) {
		*ret_adaptive =
			(*e)->adaptive_name && word_is(word, len, (*e)->adaptive_name);
		if (*ret_adaptive || word_is(word, len, (*e)->name) ||
		    ((*e)->alias && word_is(word, len, (*e)->alias))) {
			return *e;
		}
	}
	return NULL;
}

static int refuse_word(const char *word, size_t len, struct why *why)
{
	char known[256] = "";

	for (const struct engine *const *e = engines; *e; e++) {
		if (strlen(known) + strlen((*e)->name) + 3 < sizeof(known)) {
			strcat(strcat(known, (*e)->name), ", ");
		}
	}
	why_add(why, "unknown routing engine '%.*s'; known are %s%s and no_fallback",
	        (int)len, word, known, route_deadlock_free);
	return E_UNKNOWN;
}

/* How many engines stand there by name. */
static unsigned named(const struct route_list *l)
{
	return l->n - l->n_chosen;
}

bool route_list_is_chosen(const struct route_list *l, unsigned i)
{
	return i >= named(l) && i < l->n;
}

/* Its place; l->n: it is not there. */
static unsigned place_of(const struct route_list *l, const struct engine *e)
{
	unsigned i = 0;

	while (i < l->n && l->engine[i] != e) {
		i++;
	}
	return i;
}

bool route_list_is_adaptive(const struct route_list *l, const struct engine *e)
{
	unsigned i = place_of(l, e);

	return i < l->n && (l->adaptive >> i & 1);
}

/* A second mention changes nothing. */
static void list_add(struct route_list *l, const struct engine *e)
{
	if (place_of(l, e) == l->n && l->n < ROUTE_LIST_MAX) {
		l->engine[l->n++] = e;
	}
}

/* Next engine of "deadlockfree" after a place in its order; NULL: there is none. */
static const struct engine *next_deadlock_free(unsigned after)
{
	const struct engine *next = NULL;

	for (const struct engine *const *e = engines; *e; e++) {
		if ((*e)->deadlock_free_order > after &&
		    (!next || (*e)->deadlock_free_order < next->deadlock_free_order)) {
			next = *e;
		}
	}
	return next;
}

/* \param flag  Only those that have it; 0: all. */
static void list_add_deadlock_free(struct route_list *l, unsigned flag)
{
	const struct engine *e = next_deadlock_free(0);

	for (; e; e = next_deadlock_free(e->deadlock_free_order)) {
		if ((e->flags & flag) == flag) {
			list_add(l, e);
		}
	}
}

static const struct engine *usual_of(const struct route_list *l)
{
	return l->usual ? l->usual : engine_find("minhop");
}

/* \param usual  For an empty list, and after it; NULL: minhop. */
static int parse_list(const char *text, const struct engine *usual,
                      struct route_list *ret_list, struct why *why)
{
	struct route_list l = { .usual = usual };
	bool choose = false, adaptive = false;

	for (const char *p = text ? text : ""; *(p += strspn(p, separators));) {
		size_t len = strcspn(p, separators);
		const struct engine *e = find_word(p, len, &adaptive);

		if (word_is(p, len, "no_fallback")) {
			l.no_fallback = true;
		} else if (word_is(p, len, route_deadlock_free)) {
			choose = true;
		} else if (!e) {
			return refuse_word(p, len, why);
		} else if (choose && place_of(&l, e) == l.n) {
			why_add(why, "routing engine '%s' behind '%s' would never be reached",
			        e->name, route_deadlock_free);
			return E_UNKNOWN;
		} else {
			list_add(&l, e);
			l.adaptive |= (uint32_t)adaptive << place_of(&l, e);
		}
		p += len;
	}
	if (l.n == 0 && !choose) {
		list_add(&l, usual_of(&l));
	}
	if (choose) {
		unsigned named = l.n;

		list_add_deadlock_free(&l, 0);
		l.n_chosen = l.n - named;
	}
	*ret_list = l;
	return E_OK;
}

int route_list_parse(const char *text, struct route_list *ret_list, struct why *why)
{
	return parse_list(text, NULL, ret_list, why);
}

struct route_list route_list_whole(const struct route_list *list, bool deadlock_free,
                                   bool ordered)
{
	struct route_list l = *list;
	const struct engine *usual =
		l.n == 0 || (!l.no_fallback && !l.n_chosen) ? usual_of(&l) : NULL;

	if (usual && (!ordered || (usual->flags & ENGINE_KEEPS_ORDER))) {
		list_add(&l, usual);
	}
	if (!l.no_fallback && !l.n_chosen) {
		list_add(&l, engine_find("minhop"));
	}
	if (!l.no_fallback && deadlock_free && ordered) {
		list_add_deadlock_free(&l, ENGINE_KEEPS_ORDER);
	}
	if (usual) {
		list_add(&l, usual);
	}
	if (!l.no_fallback && deadlock_free) {
		list_add_deadlock_free(&l, 0);
	}
	return l;
}

const char *route_list_first(const struct route_list *l)
{
	return named(l) ? l->engine[0]->name
	       : l->n   ? route_deadlock_free
	                : usual_of(l)->name;
}

/* --- an order of device groups --------------------------------------------------------- */

static const struct device_list *order_of(const struct engine *e,
                                          const struct engine_options *o)
{
	const struct option_row *row =
		e->order_option ? engine_row(e, e->order_option) : NULL;

	for (unsigned i = 0; row && engines[i]; i++) {
		if (engines[i] == e) {
			return option_list(row, o->base[i]);
		}
	}
	return NULL;
}

/* The order of the first engine before \a e that has one, and whose it is. */
static const struct device_list *order_before(const struct route_list *l,
                                              const struct engine *e,
                                              const struct engine_options *o,
                                              const struct engine **ret_of)
{
	for (unsigned i = 0; o && i < named(l) && l->engine[i] != e; i++) {
		const struct device_list *order = order_of(l->engine[i], o);

		if (order) {
			*ret_of = l->engine[i];
			return order;
		}
	}
	return NULL;
}

const struct device_list *route_list_order(const struct route_list *l,
                                           const struct engine *e,
                                           const struct engine_options *o)
{
	const struct engine *of;

	return !e || (e->flags & ENGINE_KEEPS_ORDER) ? order_before(l, e, o, &of) : NULL;
}

struct why route_list_reason(const struct route_list *l, const struct engine *used,
                             const struct engine_options *o, const struct why *refused)
{
	const struct engine *of = NULL;
	const struct option_row *row;
	struct why reason = { "" };

	if ((used->flags & ENGINE_KEEPS_ORDER) || !order_before(l, used, o, &of)) {
		return *refused;
	}
	row = engine_row(of, of->order_option);
	why_add(&reason,
	        "%s%s%s of %s no longer counts: %s places no host by its device group",
	        of->order_option, row->xml ? ", in opafm.xml " : "",
	        row->xml ? row->xml : "", of->name, used->name);
	why_add(&reason, "%s", refused->text);
	return reason;
}

/* --- what is to be said about a list -------------------------------------------------- */

/* Where options have no effect. */
struct idle_job {
	const struct engine *const *engine; /* [n], those that may run */
	unsigned n;
	const char *of; /* "routing engine", for messages */
	const struct option_trace
		*seen; /* settings of a file, for their places; NULL: none */
	const char *file;
	struct arena *a;
	struct diags *d;
};

static bool any_reads(const struct idle_job *j, const char *key)
{
	for (unsigned i = 0; i < j->n; i++) {
		if (engine_row(j->engine[i], key) ||
		    (j->engine[i]->flags & ENGINE_RUNS_OTHERS)) {
			return true;
		}
	}
	return false;
}

/* Is there a row before number \a i whose key is stored in the same place? */
static bool is_alias(const struct option_row *rows, unsigned i)
{
	for (unsigned k = 0; k < i; k++) {
		if (rows[k].offset == rows[i].offset) {
			return true;
		}
	}
	return false;
}

/* Of the keys that are stored in the same place, the one that a file has. */
static const struct option_row *key_in_file(const struct idle_job *j,
                                            const struct option_row *row)
{
	for (const struct option_row *r = row; r->name; r++) {
		if (r->offset == row->offset && option_trace_find(j->seen, r->name)) {
			return r;
		}
	}
	return row;
}

/* Is it an option of the whole program, or one of an engine before number \a i? */
static bool is_row_before(unsigned i, const char *key)
{
	for (const struct option_row *r = config_rows; r->name; r++) {
		if (r->type != OPT_IGNORED && !strcmp(r->name, key)) {
			return true;
		}
	}
	for (unsigned k = 0; k < i; k++) {
		if (engine_row(engines[k], key)) {
			return true;
		}
	}
	return false;
}

/* Is it what OpenSM writes into its file by itself? */
static bool is_usual(const struct option_row *row, const char *value)
{
	const char *usual = row->def;

	for (const struct option_row *r = config_rows; r->name; r++) {
		if (r->type == OPT_IGNORED && r->def && !strcmp(r->name, row->name)) {
			usual = r->def;
		}
	}
	return !strcmp(value, row->def ? row->def : "(null)") ||
	       (usual && text_file_is_usual(value, usual));
}

static int warn_idle(const struct idle_job *j, const struct option_row *row,
                     const char *value)
{
	const struct option_seen *seen = option_trace_find(j->seen, row->name);
	const char *readers = "", *names = j->n ? j->engine[0]->name : "";

	for (const struct engine *const *e = engines; *e && readers; e++) {
		if (engine_row(*e, row->name)) {
			readers = arena_printf(j->a, "%s%s%s", readers,
			                       *readers ? ", " : "", (*e)->name);
		}
	}
	for (unsigned i = 1; i < j->n && names; i++) {
		names = arena_printf(j->a, "%s, %s", names, j->engine[i]->name);
	}
	if (!readers || !names) {
		return -ENOMEM;
	}
	if (seen && seen->element) {
		return E_OK; /* an opafm.xml always has sections for several engines */
	}
	diag_add(j->d, DIAG_WARNING, seen ? j->file : NULL, seen ? seen->line : 0,
	         "%s '%.64s': no effect with %s %s; it is for %s", row->name, value, j->of,
	         names, readers);
	return E_OK;
}

/* Warns of options that are set to something, but which no engine of the list reads. */
static int warn_all_idle(const struct idle_job *j, const struct engine_options *o)
{
	for (unsigned i = 0; engines[i]; i++) {
		const struct option_row *rows = engines[i]->options;

		for (unsigned k = 0; rows && rows[k].name; k++) {
			const char *value = option_text(&rows[k], o->base[i], j->a);
			int ret = E_OK;

			if (!value) {
				return -ENOMEM;
			}
			if (!is_usual(&rows[k], value) && !is_alias(rows, k) &&
			    !is_row_before(i, rows[k].name) &&
			    !any_reads(j, rows[k].name)) {
				ret = warn_idle(j, key_in_file(j, &rows[k]), value);
			}
			if (ret != E_OK) {
				return ret;
			}
		}
	}
	return E_OK;
}

/* Engines by their names with adaptive routing, and what that gives. */
static void note_adaptive(const struct config *c, struct route_list *l, struct diags *d)
{
	for (unsigned i = 0; i < l->n; i++) {
		const char *name = l->engine[i]->adaptive_name;

		if (!(l->adaptive >> i & 1)) {
			continue;
		}
		if (c->ar_mode == 0) {
			diag_add(
				d, DIAG_NOTE, c->config_file, 0,
				"routing engine %s is %s, without alternates of adaptive routing because ar_mode is 0",
				name, l->engine[i]->name);
		} else {
			diag_add(
				d, DIAG_WARNING, c->config_file, 0,
				"routing engine %s is %s with alternates of adaptive routing: they are computed and shown, but switches of InfiniBand are not programmed with them",
				name, l->engine[i]->name);
		}
	}
	if (c->ar_mode == 0) {
		l->adaptive = 0;
	}
}

int route_list_read(const struct config *c, const struct engine_options *o,
                    struct arena *a, struct diags *d, struct route_list *ret_list)
{
	struct route_list l;
	struct why why = { "" };
	int ret = parse_list(c->routing_engine,
	                     c->opafm ? engine_find("shortestpath") : NULL, &l, &why);

	if (ret != E_OK) {
		config_refuse(c, "routing_engine", c->routing_engine, why.text, d);
		return ret;
	}
	note_adaptive(c, &l, d);
	for (unsigned i = 0; c->qos == QOS_OFF && i < named(&l); i++) {
		if (l.engine[i]->flags & ENGINE_NEEDS_LANES) {
			diag_add(
				d, DIAG_WARNING, c->config_file, 0,
				"qos FALSE: routing engine '%s' has virtual lane 0 alone; on a fabric that needs more, the next engine is taken; leave qos out, or set it to TRUE",
				l.engine[i]->name);
		}
	}

	const struct idle_job idle = { l.engine, l.n, "routing engine", c->trace,
		                       c->config_file, a, d };

	ret = warn_all_idle(&idle, o);
	if (ret == E_OK) {
		*ret_list = l;
	}
	return ret;
}
