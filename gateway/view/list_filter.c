/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/list_filter.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/view/problem.h"

/* \return known->n: there is none of this name. */
static unsigned find_kind(const struct list_kinds *known, const char *name, size_t len)
{
	unsigned k = 0;

	while (k < known->n && (strlen(known->name(k)) != len ||
	                        strncmp(known->name(k), name, len) != 0)) {
		k++;
	}
	return k;
}

static int refuse_kind(const struct list_kinds *known, const char *name, size_t len,
                       struct problem *p, struct arena *a)
{
	json_t *names = json_array();

	for (unsigned k = 0; k < known->n; k++) {
		json_array_append_new(names, json_string(known->name(k)));
	}
	problem_member(p, "candidates", names);
	return problem_param(
		p, a, E_UNKNOWN, "kind",
		"kind='%.*s': there are no %s of this kind; expected one of:",
		len < 100 ? (int)len : 100, name, known->elements);
}

int list_filter_read(struct list_filter *f, const struct list_kinds *known,
                     const char *kinds, const char *node, struct problem *p,
                     struct arena *a)
{
	memset(f, 0, sizeof(*f));
	f->some_kinds = kinds != NULL;
	while (kinds != NULL) {
		size_t len = strcspn(kinds, ",");
		unsigned k = find_kind(known, kinds, len);

		if (k == known->n) {
			return refuse_kind(known, kinds, len, p, a);
		}
		f->kind[k] = true;
		kinds = kinds[len] == ',' ? kinds + len + 1 : NULL;
	}
	if (node != NULL && strlen(node) >= sizeof(f->node)) {
		return problem_param(p, a, E_RANGE, "node",
		                     "node= is longer than %d bytes, and so is no name",
		                     LIST_FILTER_GLOB_BYTES - 1);
	}
	snprintf(f->node, sizeof(f->node), "%s", node != NULL ? node : "");
	return E_OK;
}

bool list_filter_node(const struct list_filter *f, uint64_t guid, const char *name)
{
	char text[24];

	if (f->node[0] == '\0') {
		return true;
	}
	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return guid != 0 &&
	       ((name != NULL && *name != '\0' && text_glob(f->node, name)) ||
	        text_glob(f->node, text));
}
