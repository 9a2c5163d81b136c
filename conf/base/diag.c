/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/diag.h"

#include <stdarg.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/text.h"

enum {
	TEXT_MAX = 512, /* longer text is cut: it is offending input, not prose */
	MINOR_MAX =
		DIAG_MAX / 2 /* notes and warnings; the rest is kept free for errors */
};

static const char *const level_names[] = { "note", "warning", "error" };

void diags_init(struct diags *d, struct arena *a)
{
	memset(d, 0, sizeof(*d));
	d->arena = a;
}

static const char *copy_file(struct diags *d, const char *file)
{
	if (file == NULL) {
		return NULL;
	}
	const char *last = d->n > 0 ? d->items[d->n - 1].file : NULL;
	if (last != NULL && strcmp(last, file) == 0) {
		return last;
	}
	char *copy = arena_strdup(d->arena, file);
	if (copy != NULL) {
		text_printable(copy);
	}
	return copy;
}

void diag_add(struct diags *d, enum diag_level level, const char *file, unsigned line,
              const char *fmt, ...)
{
	if (d == NULL) {
		return;
	}
	d->n_errors += level == DIAG_ERROR;
	d->n_warnings += level == DIAG_WARNING;
	if (d->n >= (level == DIAG_ERROR ? DIAG_MAX : MINOR_MAX)) {
		return;
	}

	char text[TEXT_MAX];
	va_list ap;
	va_start(ap, fmt);
	int len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof(text)) {
		memcpy(text + sizeof(text) - 4, "...", 4);
	}
	text_printable(text);

	/* Without memory for the text the problem still counts and has its place. */
	const char *copy = len >= 0 ? arena_strdup(d->arena, text) : NULL;
	d->items[d->n] = (struct diag){
		.level = level,
		.file = copy_file(d, file),
		.line = line,
		.text = copy != NULL ? copy
		                     : "out of memory while describing this problem",
	};
	d->n++;
}

const char *diag_place(const struct diag *item, char *buf, size_t size)
{
	buf[0] = '\0';
	if (item->file != NULL && item->line > 0) {
		snprintf(buf, size, "%s:%u: ", item->file, item->line);
	} else if (item->file != NULL) {
		snprintf(buf, size, "%s: ", item->file);
	}
	return buf;
}

void diags_print(const struct diags *d, FILE *f, enum diag_level least)
{
	unsigned errors = d->n_errors, warnings = d->n_warnings;

	for (unsigned i = 0; i < d->n; i++) {
		const struct diag *item = &d->items[i];
		errors -= item->level == DIAG_ERROR;
		warnings -= item->level == DIAG_WARNING;
		if (item->level >= least) {
			char place[DIAG_PLACE_MAX];

			const char *code = d->codes[item->level];

			fprintf(f, "%s%s: %s%s%s%s\n",
			        diag_place(item, place, sizeof(place)),
			        level_names[item->level], item->text,
			        code != NULL ? " [" : "", code != NULL ? code : "",
			        code != NULL ? "]" : "");
		}
	}
	if (errors > 0) {
		fprintf(f, "error: %u more errors are not shown\n", errors);
	}
	if (warnings > 0 && least <= DIAG_WARNING) {
		fprintf(f, "warning: %u more warnings are not shown\n", warnings);
	}
}

const char *diags_first_error(const struct diags *d)
{
	for (unsigned i = 0; i < d->n; i++) {
		if (d->items[i].level == DIAG_ERROR) {
			return d->items[i].text;
		}
	}
	return "";
}
