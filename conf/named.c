/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/named.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/xml.h"

uint32_t xml_count(const struct xml_element *e)
{
	uint32_t n = 0;
	for (const struct xml_element *c = e->child; c != NULL; c = c->next) {
		n++;
	}
	return n;
}

/* --- collecting ------------------------------------------------------------------ */

struct section_reader {
	const char *path, *kind;
	struct diags *d;
	struct named *all;
	uint32_t n;
	int ret;
};

static void refuse_section(struct section_reader *r, unsigned line, const char *what,
                           const char *name)
{
	diag_add(r->d, DIAG_ERROR, r->path, line, "%s: %s%s%.64s%s", r->kind, what,
	         name != NULL ? " '" : "", name != NULL ? name : "",
	         name != NULL ? "'" : "");
	r->ret = E_SYNTAX;
}

static void use_all(struct xml_element *e)
{
	e->used = true;
	for (struct xml_element *c = e->child; c != NULL; c = c->next) {
		use_all(c); /* not deeper than XML_DEPTH_MAX */
	}
}

static const char *name_of(struct section_reader *r, const struct xml_element *e)
{
	const struct xml_element *name = xml_child(e, "Name");

	if (name == NULL || *name->text == '\0') {
		refuse_section(r, e->line, "without a Name", NULL);
		return NULL;
	}
	if (strlen(name->text) > NAMED_NAME_MAX) {
		refuse_section(r, name->line,
		               "a Name has at most 64 characters:", name->text);
		return NULL;
	}
	if (xml_again(name) != NULL) {
		refuse_section(r, xml_again(name)->line,
		               "a second Name:", xml_again(name)->text);
		return NULL;
	}
	return name->text;
}

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	return strcmp(x->name, y->name);
}

uint32_t named_find(const struct named *all, uint32_t n, const char *name)
{
	const struct named key = { .name = name };
	const struct named *found =
		n > 0 ? bsearch(&key, all, n, sizeof(key), by_name) : NULL;
	return found != NULL ? (uint32_t)(found - all) : NAMED_NONE;
}

/* Merges the definitions of [from, n) into the others and replaces those of equal names. */
static void merge(struct section_reader *r, uint32_t from)
{
	struct named *fresh = r->all + from;
	uint32_t n_fresh = r->n - from, kept = 0;

	qsort(fresh, n_fresh, sizeof(*fresh), by_name);
	for (uint32_t i = 1; i < n_fresh; i++) {
		if (strcmp(fresh[i - 1].name, fresh[i].name) == 0) {
			unsigned a = fresh[i - 1].element->line,
				 b = fresh[i].element->line;
			diag_add(r->d, DIAG_ERROR, r->path, a > b ? a : b,
			         "%s '%s' is already defined in line %u", r->kind,
			         fresh[i].name, a > b ? b : a);
			r->ret = E_SYNTAX;
		}
	}
	for (uint32_t i = 0; i < from; i++) {
		if (named_find(fresh, n_fresh, r->all[i].name) == NAMED_NONE) {
			r->all[kept++] = r->all[i];
		}
	}
	memmove(r->all + kept, fresh, n_fresh * sizeof(*fresh));
	r->n = kept + n_fresh;
	qsort(r->all, r->n, sizeof(*r->all), by_name);
}

static void read_section(struct section_reader *r, struct xml_element *section)
{
	uint32_t from = r->n;

	use_all(section);
	for (struct xml_element *e = section->child; e != NULL; e = e->next) {
		if (strcmp(e->name, r->kind) != 0) {
			diag_add(r->d, DIAG_WARNING, r->path, e->line,
			         "unknown element %.64s in %s: no effect", e->name,
			         section->name);
			continue;
		}
		if (r->n - from == NAMED_MAX) {
			refuse_section(r, e->line, "more than 4096 in one section", NULL);
			break;
		}
		const char *name = name_of(r, e);
		if (name != NULL) {
			r->all[r->n++] = (struct named){ name, e };
		}
	}
	merge(r, from);
}

int named_collect(const char *path, struct xml_element *const *sections, unsigned n,
                  const char *kind, const struct named *first, uint32_t n_first,
                  struct arena *a, struct diags *d, struct named **ret_named,
                  uint32_t *ret_n)
{
	struct section_reader r = { .path = path, .kind = kind, .d = d, .n = n_first };
	uint32_t room = n_first;

	for (unsigned i = 0; i < n; i++) {
		room += xml_count(sections[i]);
	}
	r.all = arena_array(a, room, sizeof(*r.all));
	if (r.all == NULL) {
		return -ENOMEM;
	}
	if (n_first > 0) {
		memcpy(r.all, first, n_first * sizeof(*first));
	}
	for (unsigned i = 0; i < n; i++) {
		read_section(&r, sections[i]);
	}
	*ret_named = r.all;
	*ret_n = r.n;
	return r.ret;
}

/* The name nearest to a misspelled one, NULL: none is near. */
static const char *nearest(const struct named *all, uint32_t n, const char *name)
{
	size_t len = strlen(name);
	unsigned best = len < 4 ? 1 : len < 9 ? 2 : 3;
	const char *found = NULL;

	for (uint32_t i = 0; len > 0 && i < n; i++) {
		unsigned distance = text_distance(name, all[i].name, best);
		if (distance <= best && (found == NULL || distance < best)) {
			best = distance;
			found = all[i].name;
		}
	}
	return found;
}

void named_unknown(const struct named *all, uint32_t n, const char *what,
                   const char *kind, const char *section, const char *name,
                   const char *file, unsigned line, struct diags *d)
{
	/* nobody reads a suggestion that is not kept */
	bool kept = d != NULL && d->n < DIAG_MAX;
	const char *near = kept ? nearest(all, n, name) : NULL;

	if (near != NULL) {
		diag_add(d, DIAG_ERROR, file, line,
		         "%s: unknown %s '%.64s'; did you mean '%s'?", what, kind, name,
		         near);
	} else {
		diag_add(d, DIAG_ERROR, file, line,
		         "%s: unknown %s '%.64s'; define it in %s", what, kind, name,
		         section);
	}
}

/* --- cycles ---------------------------------------------------------------------- */

enum { UNSEEN, ENTERED, DONE, SHOWN_MAX = 8 };

struct step {
	uint32_t at, edge; /* edge: the next one to look at */
};

struct walk {
	const struct named *all;
	const struct include *edges;
	const uint32_t *first; /* [n + 1] into edges */
	uint8_t *state;
	struct step *stack;
	uint32_t depth;
	const char *what, *path;
	struct arena *arena;
	struct diags *d;
	int ret;
};

/* "'a' includes 'b' includes 'a'": the part of the stack from \a start on. */
static const char *cycle_text(const struct walk *w, uint32_t start)
{
	const char *text = "";
	uint32_t from = 0;

	while (w->stack[from].at != start) {
		from++;
	}
	for (uint32_t i = from; text != NULL && i < w->depth && i < from + SHOWN_MAX;
	     i++) {
		text = arena_printf(w->arena, "%s'%s' includes ", text,
		                    w->all[w->stack[i].at].name);
	}
	if (text != NULL) {
		text = arena_printf(w->arena, "%s%s'%s'", text,
		                    w->depth - from > SHOWN_MAX ? "... " : "",
		                    w->all[start].name);
	}
	return text != NULL ? text : "";
}

/* Depth first from one definition, without recursion. */
static void walk_from(struct walk *w, uint32_t start)
{
	w->stack[0] = (struct step){ start, w->first[start] };
	w->depth = 1;
	w->state[start] = ENTERED;
	while (w->depth > 0) {
		struct step *top = &w->stack[w->depth - 1];
		if (top->edge == w->first[top->at + 1]) {
			w->state[top->at] = DONE;
			w->depth--;
			continue;
		}
		const struct include *e = &w->edges[top->edge++];
		if (w->state[e->to] == ENTERED) {
			diag_add(w->d, DIAG_ERROR, w->path, e->line,
			         "%s '%.64s': a cycle, %s; take one of these out",
			         w->what, w->all[e->to].name, cycle_text(w, e->to));
			w->ret = E_SYNTAX;
		} else if (w->state[e->to] == UNSEEN) {
			w->state[e->to] = ENTERED;
			w->stack[w->depth++] = (struct step){ e->to, w->first[e->to] };
		}
	}
}

int named_check_cycles(const struct named *all, uint32_t n, const struct include *edges,
                       uint32_t n_edges, const char *what, const char *path,
                       struct arena *a, struct diags *d)
{
	uint32_t *first = arena_array(a, (size_t)n + 1, sizeof(*first));
	struct walk w = { .all = all,
		          .edges = edges,
		          .first = first,
		          .what = what,
		          .path = path,
		          .arena = a,
		          .d = d };

	w.state = arena_array(a, n, sizeof(*w.state));
	w.stack = arena_array(a, n, sizeof(*w.stack));
	if (first == NULL || w.state == NULL || w.stack == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_edges; i++) {
		first[edges[i].from + 1]++;
	}
	for (uint32_t i = 0; i < n; i++) {
		first[i + 1] += first[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		if (w.state[i] == UNSEEN) {
			walk_from(&w, i);
		}
	}
	return w.ret;
}
