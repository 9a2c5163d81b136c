/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/option.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "conf/option_value.h"

/*
 * The file of options, as text:
 *
 *   line    := blank? [ key blank value ] [ comment ] newline
 *   comment := '#' to the end of the line; at its start or after a blank
 *   value   := quoted | the rest of the line without blanks at its ends
 *   quoted  := '"' text '"' or "'" text "'"; a backslash keeps a quote or backslash
 *
 * Each line is checked for itself, so one run reports all wrong lines. A file of options is
 * small, so a larger file than this is another kind of file and is refused.
 */

static const struct text_file_kind options_kind = { .what = "a file of options",
	                                            .max_bytes = 1 << 20 };
enum { LINE_MAX_BYTES = 16384 };

struct option_reader {
	const struct option_sets *sets;
	struct arena *arena;
	const char *name;
	unsigned line;
	unsigned *seen; /* line of each key, by option_index() */
	struct diags *d;
	int ret;
};

static void bad_line(struct option_reader *r, const char *what, const char *text)
{
	diag_add(r->d, DIAG_ERROR, r->name, r->line, "%s: '%.64s'", what, text);
	r->ret = E_SYNTAX;
}

static bool is_escaped(const char *p, char quote)
{
	return p[0] == '\\' && (p[1] == quote || p[1] == '\\');
}

/* Takes the quotes off in place. NULL when the closing one is missing or text follows it.
 */
static char *unquote(struct option_reader *r, char *value)
{
	char quote = value[0];
	char *end = value + 1, *out = value;

	while (*end != '\0' && *end != quote) {
		end += is_escaped(end, quote) ? 2 : 1;
	}
	if (*end != quote) {
		bad_line(r, "no closing quote", value);
		return NULL;
	}
	char *rest = text_skip_blanks(end + 1);
	if (*rest != '\0' && *rest != '#') {
		bad_line(r, "text after the closing quote", rest);
		return NULL;
	}
	for (char *in = value + 1; in < end;) {
		in += is_escaped(in, quote);
		*out++ = *in++;
	}
	*out = '\0';
	return value;
}

/* A peer writes a text without content as nothing at all; for a number that is an error.
 */
static bool may_be_empty(struct option_reader *r, const struct option_row *row)
{
	if (row->type != OPT_STRING && !option_is_file(row) && row->type != OPT_IGNORED) {
		bad_line(r, "no value for the key", row->name);
		return false;
	}
	diag_add(r->d, DIAG_WARNING, r->name, r->line, "no value for %s: taken as (null)",
	         row->name);
	return true;
}

static void read_pair(struct option_reader *r, const char *key, char *value)
{
	bool quoted = *value == '"' || *value == '\'';
	value = quoted ? unquote(r, value) : text_cut_comment(value);
	if (value == NULL) {
		return;
	}
	const struct option_row *row = option_find(r->sets, key);
	if (row != NULL) {
		if (!quoted && *value == '\0' && !may_be_empty(r, row)) {
			return;
		}
		unsigned *seen = &r->seen[option_index(r->sets, row)];
		if (*seen != 0 && row->type != OPT_PER_SL) {
			diag_add(r->d, DIAG_WARNING, r->name, r->line,
			         "%s was already set in line %u; the last one counts",
			         row->name, *seen);
		}
		*seen = r->line;
	}
	int ret = option_set(r->sets, r->arena, key, value, r->name, r->line, r->d);
	if (ret != E_OK) {
		r->ret = ret == -ENOMEM ? ret : E_SYNTAX;
	}
}

/* \a text is one line, without its newline but with a NUL in its place. */
static void read_line(struct option_reader *r, char *text, size_t len)
{
	if (len > LINE_MAX_BYTES) {
		diag_add(r->d, DIAG_ERROR, r->name, r->line,
		         "a line of %zu bytes; the longest allowed has %d", len,
		         LINE_MAX_BYTES);
		r->ret = E_SYNTAX;
		return;
	}
	if (text_has_control(text, len)) {
		bad_line(r, "a byte that is not text", text);
		return;
	}
	char *key = text_skip_blanks(text);
	if (*key == '\0' || *key == '#') {
		return;
	}
	char *end = key + strcspn(key, " \t\r");
	char *value = text_skip_blanks(end);
	*end = '\0';
	read_pair(r, key, value);
}

int option_read_text(const struct option_sets *s, struct arena *a, const char *name,
                     const char *text, size_t len, struct diags *d)
{
	struct option_reader r = {
		.sets = s, .arena = a, .name = name, .d = d, .ret = E_OK
	};
	char *copy = arena_alloc(a, len + 1), *line;
	size_t at = 0, n;

	r.seen = arena_array(a, option_count(s), sizeof(*r.seen));
	if (copy == NULL || r.seen == NULL) {
		return -ENOMEM;
	}
	if (text_file_fits(name, &options_kind, len, d) != E_OK) {
		return E_SYNTAX;
	}
	memcpy(copy, text, len);
	while ((line = text_cut_line(copy, len, &at, &n)) != NULL) {
		r.line++;
		read_line(&r, line, n);
	}
	if (len > 0 && text[len - 1] != '\n') {
		diag_add(d, DIAG_WARNING, name, r.line,
		         "the last line has no newline; is the file complete?");
	}
	return r.ret;
}

/* A value as the file holds it: in quotes if it would be read differently without them. */
static const char *file_value(const char *value, struct arena *a)
{
	size_t len = strlen(value);
	bool plain = len > 0 && value[0] != '"' && value[0] != '\'' &&
	             strchr(value, '#') == NULL && !text_is_blank(value[0]) &&
	             !text_is_blank(value[len - 1]);
	if (plain) {
		return value;
	}
	char *quoted = arena_alloc(a, 2 * len + 3);
	if (quoted == NULL) {
		return NULL;
	}
	char *out = quoted;
	*out++ = '"';
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\') {
			*out++ = '\\';
		}
		*out++ = *value;
	}
	*out = '"';
	return quoted;
}

/* One key with its value and what it means. \retval -ENOMEM \retval -errno */
static int dump_row(const struct option_row *row, const void *base, struct arena *a,
                    bool secrets, FILE *f)
{
	const char *text = option_text(row, base, a);
	const char *value = text != NULL ? file_value(text, a) : NULL;
	int n;

	if (value == NULL) {
		return -ENOMEM;
	}
	if ((row->flags & OPT_SECRET) != 0 && !secrets && !option_is_default(row, text)) {
		n = fprintf(
			f,
			"# %s\n# %s is set; --create-config FILE writes it, too, for nobody else to read\n\n",
			row->help, row->name);
	} else {
		n = fprintf(f, "# %s\n%s %s\n\n", row->help, row->name, value);
	}
	return n < 0 ? -errno : E_OK;
}

int option_dump(const struct option_sets *s, struct arena *a, bool secrets, FILE *f)
{
	for (unsigned i = 0; i < s->n; i++) {
		for (const struct option_row *row = s->set[i].rows; row->name != NULL;
		     row++) {
			if (row->type == OPT_IGNORED ||
			    (row->flags & OPT_CLI_ONLY) != 0 ||
			    option_find(s, row->name) != row) {
				continue;
			}
			int ret = dump_row(row, s->set[i].base, a, secrets, f);
			if (ret != E_OK) {
				return ret;
			}
		}
	}
	return fflush(f) != 0 ? -errno : E_OK;
}
