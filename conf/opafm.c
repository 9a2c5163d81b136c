/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/opafm.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "conf/base/xml.h"
#include "conf/device_group.h"
#include "conf/named.h"
#include "conf/opafm_value.h"
#include "conf/option.h"
#include "conf/option_value.h"
#include "conf/virtual_fabric.h"

/*
 * Each row of an option table looks for its element, first in the instance, then in Common.
 * Finally a walk over the tree reports the elements that no row, device group or virtual
 * fabric used: known ones without effect, and unknown ones.
 */
enum { COMMON, FM, PLACES, PATH_MAX_BYTES = 256 };

struct opafm_reader {
	struct arena *arena;
	struct diags *d;
	const char *path;
	const struct option_sets *sets;
	struct xml_element *root, *place[PLACES]; /* NULL: not in the file */
	struct opafm out;
	int ret;
};

static void failed(struct opafm_reader *r, int ret)
{
	if (ret == -ENOMEM || (ret != E_OK && r->ret == E_OK)) {
		r->ret = ret == -ENOMEM ? ret : E_SYNTAX;
	}
}

/* --- which Fm -------------------------------------------------------------------- */

static struct xml_element *name_element(const struct xml_element *fm)
{
	const struct xml_element *shared = xml_child(fm, "Shared");
	return shared != NULL ? xml_child(shared, "Name") : NULL;
}

static const char *name_of(const struct xml_element *fm)
{
	const struct xml_element *name = name_element(fm);
	return name != NULL ? name->text : "";
}

static void refuse_instance(struct opafm_reader *r, const char *instance,
                            const struct xml_element *first)
{
	const char *names = "";
	for (const struct xml_element *fm = first; names != NULL && fm != NULL;
	     fm = xml_again(fm)) {
		names = arena_printf(r->arena, "%s%s%.64s", names, *names ? ", " : "",
		                     name_of(fm));
	}
	diag_add(r->d, DIAG_ERROR, r->path, 0,
	         "instance '%.64s': no Fm has this Name; there are %s", instance,
	         names != NULL ? names : "others");
	failed(r, E_SYNTAX);
}

static void choose_fm(struct opafm_reader *r, const char *instance)
{
	struct xml_element *first = xml_child(r->root, "Fm"), *fm = first;

	while (fm != NULL && strcmp(name_of(fm), instance) != 0) {
		fm = xml_again(fm);
	}
	if (fm == NULL && first != NULL && strcmp(instance, "main") != 0) {
		refuse_instance(r, instance, first);
	}
	r->place[FM] = fm != NULL ? fm : first;
	if (r->place[FM] == NULL) {
		return;
	}
	struct xml_element *name = name_element(r->place[FM]);
	if (name != NULL) {
		name->used = true;
	}
	r->out.instance = name_of(r->place[FM]);
}

static void find_places(struct opafm_reader *r, const char *instance)
{
	if (strcmp(r->root->name, "Config") != 0) {
		diag_add(
			r->d, DIAG_ERROR, r->path, r->root->line,
			"element %.64s: expected Config, as in opafm.xml, or lines of 'key value'",
			r->root->name);
		failed(r, E_SYNTAX);
		return;
	}
	r->place[COMMON] = xml_child(r->root, "Common");
	choose_fm(r, instance);
}

/* --- values of rows -------------------------------------------------------------- */

/* Elements of one path in one section, in the order of the file. */
struct matches {
	struct xml_element **e;
	uint32_t n;
	size_t room;
};

static int add_match(struct opafm_reader *r, struct matches *m, struct xml_element *e)
{
	if (ARENA_RESERVE(r->arena, m->e, m->n, m->room, m->n + 1U) != E_OK) {
		return -ENOMEM;
	}
	m->e[m->n++] = e;
	return E_OK;
}

/* Finds elements at a path below e and marks each on the path as used. */
static void collect(struct opafm_reader *r, struct xml_element *e, const char *path,
                    struct matches *m)
{
	size_t len = strcspn(path, "/");

	for (struct xml_element *c = e->child; c != NULL; c = c->next) {
		if (strncmp(c->name, path, len) != 0 || c->name[len] != '\0') {
			continue;
		}
		if (path[len] == '/') {
			c->used |= c->child != NULL;
			collect(r, c, path + len + 1, m);
		} else {
			c->used = true;
			failed(r, add_match(r, m, c));
		}
	}
}

/* The section whose element counts: instance before Common, Sm before Shared. The elements
 * of all sections are marked used. */
static struct matches find(struct opafm_reader *r, const char *path)
{
	struct matches best = { .n = 0 };

	for (unsigned i = PLACES; i-- > 0;) {
		const char *in_sm = strncmp(path, "Sm/", 3) == 0 ? path + 3 : NULL;
		struct matches own = { .n = 0 }, shared = { .n = 0 };
		if (r->place[i] == NULL) {
			continue;
		}
		collect(r, r->place[i], path, &own);
		const char *in_shared =
			in_sm != NULL ? arena_printf(r->arena, "Shared/%s", in_sm) : NULL;
		if (in_shared != NULL) {
			collect(r, r->place[i], in_shared, &shared);
		} else if (in_sm != NULL) {
			failed(r, -ENOMEM);
		}
		if (best.n == 0) {
			best = own.n > 0 ? own : shared;
		}
	}
	return best;
}

static bool is_list(const struct option_row *row)
{
	return row->type == OPT_DEVICE_GROUPS;
}

/* The values of all elements, separated by commas. */
static const char *joined_text(struct opafm_reader *r, const struct matches *m)
{
	size_t len = 1;
	for (uint32_t i = 0; i < m->n; i++) {
		len += strlen(m->e[i]->text) + 2;
	}
	char *text = arena_alloc(r->arena, len), *end = text;
	for (uint32_t i = 0; text != NULL && i < m->n; i++) {
		end = stpcpy(end, i > 0 ? ", " : "");
		end = stpcpy(end, m->e[i]->text);
	}
	return text;
}

/* The last of several elements, or all of them for a list. */
static const char *value_of(struct opafm_reader *r, const struct option_row *row,
                            const struct matches *m)
{
	if (is_list(row)) {
		return joined_text(r, m);
	}
	for (uint32_t i = 1; i < m->n; i++) {
		diag_add(r->d, DIAG_WARNING, r->path, m->e[i]->line,
		         "%s was already set in line %u; the last one counts", row->xml,
		         m->e[i - 1]->line);
	}
	return m->e[m->n - 1]->text;
}

/* A list of several elements remembers the line of each. */
static void place_names(struct opafm_reader *r, const struct option_row *row,
                        const struct matches *m)
{
	unsigned *lines = arena_array(r->arena, m->n, sizeof(*lines));

	if (lines == NULL) {
		failed(r, -ENOMEM);
		return;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		lines[i] = m->e[i]->line;
	}
	option_place_names(r->sets, row->name, lines, m->n);
}

static void apply_row(struct opafm_reader *r, const struct option_row *row)
{
	struct matches m = find(r, row->xml);
	if (m.n == 0) {
		return;
	}
	const char *value = value_of(r, row, &m);
	unsigned line = m.e[is_list(row) ? 0 : m.n - 1]->line;

	if (value == NULL) {
		failed(r, -ENOMEM);
		return;
	}
	failed(r, option_set_element(r->sets, r->arena, row->name, value, row->xml,
	                             r->path, line, r->d));
	if (is_list(row)) {
		place_names(r, row, &m);
	}
}

/* Does a set before number \a n have an element for the key, too? */
static bool was_applied(const struct option_sets *s, unsigned n, const char *key)
{
	for (unsigned i = 0; i < n; i++) {
		for (const struct option_row *row = s->set[i].rows; row->name != NULL;
		     row++) {
			if (row->xml != NULL && strcmp(row->name, key) == 0) {
				return true;
			}
		}
	}
	return false;
}

static void apply_rows(struct opafm_reader *r)
{
	for (unsigned i = 0; i < r->sets->n; i++) {
		for (const struct option_row *row = r->sets->set[i].rows;
		     row->name != NULL; row++) {
			if (row->xml != NULL && !was_applied(r->sets, i, row->name)) {
				apply_row(r, row);
			}
		}
	}
}

/* --- life times of paths --------------------------------------------------------- */

enum { LIFE_HOPS = 9 };

/* Eleven elements that are one option, path_life_times. */
struct life {
	bool by_hops;
	int32_t fixed, hops[LIFE_HOPS]; /* codes, -1: not set */
};

static const char life_key[] = "path_life_times";

#define LIFE_TIME(key, m, element)                                                       \
	{                                                                                \
		.name = key, .type = OPT_INT, .offset = offsetof(struct life, m),        \
		.min = 1, .max = 31, .xml = element, .from_xml = opafm_life_time,        \
		.xml_expected = "a time from 5us to 2h (units ns, us, ms, s, m, h)"      \
	}
#define LIFE_HOP(n) LIFE_TIME("hops" #n, hops[n - 1], "Sm/DynamicPacketLifetime/Hops0" #n)

static const struct option_row life_rows[] = {
	{ .name = "by_hops",
	  .type = OPT_BOOL,
	  .offset = offsetof(struct life, by_hops),
	  .xml = "Sm/DynamicPacketLifetime/Enable" },
	LIFE_TIME("fixed", fixed, "Sm/PacketLifetime"),
	LIFE_HOP(1),
	LIFE_HOP(2),
	LIFE_HOP(3),
	LIFE_HOP(4),
	LIFE_HOP(5),
	LIFE_HOP(6),
	LIFE_HOP(7),
	LIFE_HOP(8),
	LIFE_HOP(9),
	{ .name = NULL },
};

/* "14,15,15": a hop that is not set has the value of the one before it. NULL: none is set,
 * or out of memory. */
static const char *life_text(const struct life *l, struct arena *a)
{
	int32_t code = l->fixed;
	const char *text = NULL;

	if (!l->by_hops) {
		return code >= 0 ? arena_printf(a, "%d", (int)code) : NULL;
	}
	for (unsigned i = 0; i < LIFE_HOPS; i++) {
		code = l->hops[i] >= 0 ? l->hops[i] : code;
		if (code >= 0) {
			text = arena_printf(a, "%s%s%d", text != NULL ? text : "",
			                    text != NULL ? "," : "", (int)code);
		}
	}
	return text;
}

static void apply_life_times(struct opafm_reader *r)
{
	struct life l = { .by_hops = false, .fixed = -1 };
	struct option_trace *trace = r->sets->trace;
	struct option_sets own = { .trace = trace };
	const struct option_sets *all = r->sets;
	unsigned from = trace != NULL ? trace->n : 0;

	memset(l.hops, -1, sizeof(l.hops));
	failed(r, option_sets_add(&own, life_rows, &l));
	r->sets = &own;
	apply_rows(r);
	r->sets = all;
	for (unsigned i = from; trace != NULL && i < trace->n; i++) {
		trace->seen[i].key = life_key;
	}
	const char *text = life_text(&l, r->arena);
	if (text != NULL && option_find(all, life_key) != NULL) {
		failed(r, option_set(all, r->arena, life_key, text, NULL, 0, r->d));
	}
}

/* --- groups and virtual fabrics -------------------------------------------------- */

/* Sections of a name, that of Common first; at most one of each place counts. */
static unsigned sections(struct opafm_reader *r, const char *name,
                         struct xml_element *ret_element[PLACES])
{
	unsigned n = 0;
	for (unsigned i = 0; i < PLACES; i++) {
		struct xml_element *e =
			r->place[i] != NULL ? xml_child(r->place[i], name) : NULL;
		if (e != NULL) {
			ret_element[n++] = e;
		}
	}
	return n;
}

static void read_groups(struct opafm_reader *r)
{
	struct xml_element *in[PLACES];
	unsigned n = sections(r, "DeviceGroups", in);

	failed(r, device_groups_parse(r->path, in, n, r->arena, r->d, &r->out.groups));
	for (uint32_t i = 0; r->out.groups != NULL && i < r->out.groups->n; i++) {
		const struct device_group *g = &r->out.groups->groups[i];
		if (g->line != 0) {
			failed(r, option_trace_add(r->sets->trace, NULL,
			                           "DeviceGroups/DeviceGroup", g->name,
			                           g->line, OPTION_TAKEN));
		}
	}
}

static void read_fabrics(struct opafm_reader *r)
{
	struct vf_sections in = { .n_fabrics = 0 };

	in.n_fabrics = sections(r, "VirtualFabrics", in.fabrics);
	in.n_qos_groups = sections(r, "QOSGroups", in.qos_groups);
	in.n_applications = sections(r, "Applications", in.applications);
	failed(r, virtual_fabrics_parse(r->path, &in, r->out.groups, r->arena, r->d,
	                                &r->out.fabrics));
	for (uint32_t i = 0; r->out.fabrics != NULL && i < r->out.fabrics->n; i++) {
		const struct virtual_fabric *vf = &r->out.fabrics->all[i];
		failed(r, option_trace_add(
				  r->sets->trace, NULL, "VirtualFabrics/VirtualFabric",
				  vf->name, vf->line,
				  virtual_fabric_is_active(vf) ? OPTION_TAKEN
							       : OPTION_HARMLESS));
	}
}

/* --- unused elements -------------------------------------------------------------- */

/* Protection that is asked for and not here, as report_ignored() of conf/option.c has it. */
static void check_protection(struct opafm_reader *r, const struct xml_element *e,
                             const char *path)
{
	bool asked = strcmp(path, "Sm/McDosThreshold") == 0 && strcmp(e->text, "0") != 0;

	if (!asked) {
		return;
	}
	diag_add(
		r->d, r->sets->ignore_unsupported ? DIAG_WARNING : DIAG_ERROR, r->path,
		e->line,
		"%s '%.64s': there is no such protection here; sa_groups_per_port limits the multicast groups of a port. Only '0' can be set%s",
		path, e->text,
		r->sets->ignore_unsupported
			? ""
			: ", or give --ignore-unsupported to run without it");
	failed(r, r->sets->ignore_unsupported ? E_OK : E_RANGE);
}

static void note_ignored(struct opafm_reader *r, const struct xml_element *e,
                         const char *path)
{
	const char *value = e->text;

	check_protection(r, e, path);
	if (e->child != NULL) {
		value = arena_printf(r->arena, "(%u settings)", xml_count(e));
	}
	r->out.n_ignored++;
	failed(r, value == NULL ? -ENOMEM
	                        : option_trace_add(r->sets->trace, NULL, path, value,
	                                           e->line, OPTION_NO_EFFECT));
}

static void warn_unknown(struct opafm_reader *r, const struct xml_element *e,
                         const char *path)
{
	diag_add(r->d, DIAG_WARNING, r->path, e->line,
	         "unknown element %.128s: no effect", path);
	failed(r, option_trace_add(r->sets->trace, NULL, path, e->text, e->line,
	                           OPTION_UNKNOWN));
}

/* Reports the unused elements below e; at most XML_DEPTH_MAX deep. */
static void walk(struct opafm_reader *r, struct xml_element *e, const char *prefix)
{
	char path[PATH_MAX_BYTES];

	for (struct xml_element *c = e->child; c != NULL; c = c->next) {
		snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "/" : "",
		         c->name);
		enum opafm_known known = opafm_known(path);
		if (c->used && c->child == NULL) {
			continue;
		}
		if (known == OPAFM_IGNORED_SECTION) {
			if (c->child != NULL) {
				note_ignored(r, c, path);
			}
		} else if (known == OPAFM_IGNORED) {
			note_ignored(r, c, path);
		} else if (c->child != NULL && c->used) {
			walk(r, c, path);
		} else if (!c->used && (c->child != NULL || *c->text != '\0')) {
			warn_unknown(r, c, path);
		}
	}
}

static void walk_places(struct opafm_reader *r)
{
	for (struct xml_element *c = r->root->child; c != NULL; c = c->next) {
		if (c == r->place[COMMON] || c == r->place[FM]) {
			/* These two hold settings even if no row looks there. */
			for (struct xml_element *in = c->child; in != NULL;
			     in = in->next) {
				in->used |= strcmp(in->name, "Sm") == 0 ||
				            strcmp(in->name, "Shared") == 0;
			}
			walk(r, c, "");
		} else if (strcmp(c->name, "Fm") != 0) {
			warn_unknown(r, c, c->name);
		}
	}
}

/* Takes opa-fm's values where the file has none. SubnetTimeOut has no element; it is not the life time of
 * paths, which is the second of PacketLifetime as shipped. */
static void set_defaults(struct opafm_reader *r)
{
	static const char *const rows[][2] = { { "routing_engine", "shortestpath" },
		                               { "subnet_timeout", "17" },
		                               { life_key, "18" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (option_find(r->sets, rows[i][0]) != NULL) {
			failed(r, option_set(r->sets, r->arena, rows[i][0], rows[i][1],
			                     NULL, 0, r->d));
		}
	}
}

int opafm_apply(struct xml_element *root, const char *path, const char *instance,
                const struct option_sets *s, struct arena *a, struct diags *d,
                struct opafm *ret_opafm)
{
	struct opafm_reader r = {
		.arena = a, .d = d, .path = arena_strdup(a, path), .sets = s, .root = root
	};

	if (r.path == NULL) {
		return -ENOMEM;
	}
	find_places(&r, instance != NULL ? instance : "main");
	if (r.ret != E_OK) {
		return r.ret;
	}
	set_defaults(&r);
	apply_rows(&r);
	apply_life_times(&r);
	read_groups(&r);
	if (r.out.groups != NULL) {
		read_fabrics(&r);
	}
	walk_places(&r);
	if (r.ret == E_OK) {
		*ret_opafm = r.out;
	}
	return r.ret;
}
