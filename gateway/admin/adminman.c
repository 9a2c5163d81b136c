/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * adminman: writes what saguaro-admin(8) has from the table of resources: role, parameters, body.
 * /openapi.json comes from the same table. Run at build time.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "conf/base/text.h"
#include "gateway/admin/door_call.h"
#include "gateway/admin/fields.h"

static void print_text(const char *s)
{
	text_print_roff(s, stdout);
}

static void print_sentence(const char *s)
{
	text_print_roff_sentence(s, stdout);
}

static const char *type_text(enum field_type type)
{
	switch (type) {
	case FIELD_BOOL: return "true or false";
	case FIELD_TEXT: return "text";
	case FIELD_P_KEY: return "P_Key as text or number";
	case FIELD_MEMBERSHIP: return "full, limited or both";
	case FIELD_MEMBERS:
		return "list of GUIDs, or of objects with guid and membership";
	case FIELD_GUIDS: return "list of GUIDs";
	case FIELD_MEMBERSHIPS: return "list of memberships";
	}
	return "";
}

static void print_body(const struct field *fields)
{
	puts(".RS\n.PD 0");
	for (const struct field *f = fields; f->name != NULL; f++) {
		fputs(".TP\n\\fI", stdout);
		print_text(f->name);
		printf("\\fR (%s%s)\n", type_text(f->type),
		       f->flags & FIELD_REQUIRED ? ", required" : "");
		print_sentence(f->help);
	}
	puts(".PD\n.RE");
}

static void print_params(const char *const *names)
{
	const char *between = "Parameters: \\fB";

	for (; *names != NULL; names++) {
		fputs(between, stdout);
		print_text(*names);
		between = "\\fR, \\fB";
	}
	puts("\\fR.");
}

int main(void)
{
	static const char ufm[] = "/ufmRest/";

	for (const struct door_row *r = door_rows; r->method != NULL; r++) {
		printf(".TP\n\\fB%s ", r->method);
		print_text(r->path);
		printf("\\fR (%s)\n",
		       r->role != ROLE_NONE ? role_name(r->role) : "anybody");
		print_sentence(r->summary);
		if (r->params != NULL && strncmp(r->path, ufm, strlen(ufm)) != 0) {
			print_params(r->params);
		}
		if (r->body != NULL && r->body->name != NULL) {
			print_body(r->body);
		}
	}
	return ferror(stdout) ? 1 : 0;
}
