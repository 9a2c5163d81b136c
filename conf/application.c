/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/application.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/xml.h"
#include "conf/named.h"

struct application_reader {
	struct arena *arena;
	struct diags *d;
	const char *path;
	const struct named *names; /* [n] */
	uint32_t n;
	struct include
		*includes; /* [n_includes] of all, by the application that includes */
	uint32_t n_includes;
	int ret;
};

static void refuse_element(struct application_reader *r, const struct xml_element *e,
                           const char *expected)
{
	diag_add(r->d, DIAG_ERROR, r->path, e->line, "%s '%.80s': expected %s", e->name,
	         e->text, expected);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

/* "0xabc" or, for a GID, "0xabc:0x12". */
static bool read_wide(const char *text, bool gid, struct wide *ret_wide)
{
	char copy[48];
	char *colon;

	*ret_wide = (struct wide){ 0, 0 };
	if (strlen(text) >= sizeof(copy)) {
		return false;
	}
	strcpy(copy, text);
	colon = strchr(copy, ':');
	if ((colon != NULL) != gid) {
		return false;
	}
	if (colon != NULL) {
		*colon = '\0';
		if (text_u64(copy, UINT64_MAX, &ret_wide->high) != E_OK) {
			return false;
		}
	}
	return text_u64(colon != NULL ? colon + 1 : copy, UINT64_MAX, &ret_wide->low) ==
	       E_OK;
}

static bool is_below(struct wide a, struct wide b)
{
	return a.high < b.high || (a.high == b.high && a.low < b.low);
}

/* One number, or two separated by \a between; 0: only one. */
static bool read_ids(struct application_reader *r, const struct xml_element *e, bool gid,
                     char between, struct id_rule *ret_rule)
{
	const char *form = between == '-'   ? (gid ? "high:low-high:low" : "from-to")
	                   : between == '*' ? (gid ? "high:low*high:low" : "value*mask")
	                   : gid            ? "high:low, two numbers of 64 bits"
	                                    : "a number of 64 bits";
	char *text = arena_strdup(r->arena, e->text);
	char *second = text != NULL && between != 0 ? strchr(text, between) : NULL;

	if (text == NULL) {
		r->ret = -ENOMEM;
		return false;
	}
	if ((second != NULL) != (between != 0)) {
		refuse_element(r, e, form);
		return false;
	}
	if (second != NULL) {
		*second++ = '\0';
	}
	ret_rule->masked = between == '*';
	if (!read_wide(text, gid, &ret_rule->a) ||
	    !read_wide(second != NULL ? second : text, gid, &ret_rule->b)) {
		refuse_element(r, e, form);
		return false;
	}
	if (between == '-' && is_below(ret_rule->b, ret_rule->a)) {
		refuse_element(r, e, "a range that does not end before it begins");
		return false;
	}
	return true;
}

static void read_select(struct application_reader *r, const struct xml_element *e,
                        struct application *to)
{
	if (strcasecmp(e->text, "UnmatchedServiceID") == 0) {
		to->unmatched_service = true;
	} else if (strcasecmp(e->text, "UnmatchedMGID") == 0) {
		to->unmatched_mgid = true;
	} else if (strcasecmp(e->text, "SA") == 0) {
		to->sa = true;
	} else if (strcasecmp(e->text, "PM") == 0) {
		to->pm = true;
	} else {
		refuse_element(r, e, "UnmatchedServiceID, UnmatchedMGID, SA or PM");
	}
}

/* The lists of one application; each has room for all its elements. */
struct lists {
	struct id_rule *services, *mgids;
	uint32_t *includes;
};

static void read_include(struct application_reader *r, const struct xml_element *e,
                         struct application *to, struct lists *l)
{
	uint32_t at = named_find(r->names, r->n, e->text);

	if (at != NAMED_NONE) {
		uint32_t from = named_find(r->names, r->n, to->name);
		r->includes[r->n_includes++] = (struct include){ from, at, e->line };
		l->includes[to->n_includes++] = at;
		return;
	}
	named_unknown(r->names, r->n, e->name, "application", "Applications", e->text,
	              r->path, e->line, r->d);
	r->ret = r->ret == E_OK ? E_SYNTAX : r->ret;
}

static void read_element(struct application_reader *r, const struct xml_element *e,
                         struct application *to, struct lists *l)
{
	static const struct {
		const char *name;
		bool gid;
		char between;
	} ids[] = { { "ServiceID", false, 0 },         { "ServiceIDRange", false, '-' },
		    { "ServiceIDMasked", false, '*' }, { "MGID", true, 0 },
		    { "MGIDRange", true, '-' },        { "MGIDMasked", true, '*' } };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (strcmp(e->name, ids[i].name) != 0) {
			continue;
		}
		struct id_rule *rule = ids[i].gid ? &l->mgids[to->n_mgids]
		                                  : &l->services[to->n_services];
		if (read_ids(r, e, ids[i].gid, ids[i].between, rule)) {
			to->n_mgids += ids[i].gid;
			to->n_services += !ids[i].gid;
		}
		return;
	}
	if (strcmp(e->name, "Select") == 0) {
		read_select(r, e, to);
	} else if (strcmp(e->name, "IncludeApplication") == 0) {
		read_include(r, e, to, l);
	} else if (strcmp(e->name, "Name") != 0) {
		diag_add(r->d, DIAG_WARNING, r->path, e->line,
		         "unknown element %.64s in an Application: no effect", e->name);
	}
}

static void read_application(struct application_reader *r, const struct named *from,
                             struct application *to)
{
	uint32_t room = xml_count(from->element);
	struct lists l = { arena_array(r->arena, room, sizeof(*l.services)),
		           arena_array(r->arena, room, sizeof(*l.mgids)),
		           arena_array(r->arena, room, sizeof(*l.includes)) };

	*to = (struct application){ .name = from->name, .line = from->element->line };
	if (l.services == NULL || l.mgids == NULL || l.includes == NULL) {
		r->ret = -ENOMEM;
		return;
	}
	to->services = l.services;
	to->mgids = l.mgids;
	to->includes = l.includes;
	for (const struct xml_element *e = from->element->child; e != NULL; e = e->next) {
		read_element(r, e, to, &l);
	}
}

int applications_parse(const char *path, struct xml_element *const *sections, unsigned n,
                       struct arena *a, struct diags *d,
                       struct applications *ret_applications)
{
	struct application_reader r = { .arena = a, .d = d, .path = path };
	struct named *names = NULL;
	int ret = named_collect(path, sections, n, "Application", NULL, 0, a, d, &names,
	                        &r.n);
	struct application *all =
		ret != -ENOMEM ? arena_array(a, r.n, sizeof(*all)) : NULL;

	if (all == NULL) {
		return -ENOMEM;
	}
	r.names = names;
	r.ret = ret;
	size_t n_includes = 0;
	for (uint32_t i = 0; i < r.n; i++) {
		n_includes += xml_count(names[i].element);
	}
	r.includes = arena_array(a, n_includes, sizeof(*r.includes));
	if (r.includes == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r.n && r.ret != -ENOMEM; i++) {
		read_application(&r, &names[i], &all[i]);
	}
	if (r.ret != -ENOMEM) {
		ret = named_check_cycles(names, r.n, r.includes, r.n_includes,
		                         "IncludeApplication", path, a, d);
		r.ret = r.ret == E_OK || ret == -ENOMEM ? ret : r.ret;
	}
	*ret_applications = (struct applications){ all, r.n };
	return r.ret;
}
