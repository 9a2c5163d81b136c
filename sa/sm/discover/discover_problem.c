/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What a discovery ends with besides nodes: its first error, problems for the operator, doubt
 * in a local sweep; and the place of a port in words.
 */
#include "sa/sm/discover/discover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/policy/node_names.h"
#include "routing/graph/graph.h"

void disc_error(struct disc *d, int ret)
{
	if (d->ret == E_OK) {
		d->ret = ret;
	}
}

const char *disc_place(const struct disc *d, const struct disc_node *n, unsigned port)
{
	char route[SMP_PATH_TEXT], name[65] = "";
	const char *given, *text;

	if (n == NULL) {
		return "the local port";
	}
	given = node_names_find(d->options.names, n->guid);
	if (given == NULL && n->has_description) {
		memcpy(name, n->description, 64);
		text_printable(name);
	}
	text = arena_printf(d->arena,
	                    "\"%s\" (%s 0x%016" PRIx64 ") port %u, directed route %s",
	                    given != NULL ? given : name, node_type_name(n->type),
	                    n->guid, port, smp_path_text(&n->dest.path, route));
	return text != NULL ? text : "?";
}

void disc_problem(struct disc *d, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (d->n_problems < DISC_PROBLEMS_MAX) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		d->problem[d->n_problems] = arena_strdup(d->arena, text);
		if (d->problem[d->n_problems] == NULL) {
			disc_error(d, -ENOMEM);
			return;
		}
	}
	d->n_problems++;
}

void disc_doubt(struct disc *d, const struct disc_node *n, unsigned port,
                const char *what)
{
	if (d->doubt == NULL) {
		d->doubt = arena_printf(d->arena, "%s %s", what, disc_place(d, n, port));
		if (d->doubt == NULL) {
			d->doubt = what;
		}
	}
}
