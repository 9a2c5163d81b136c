/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/cable_list.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/vector.h"
#include "routing/text/topofile_int.h"

enum { FIELDS_MAX = 64, WORD_MAX = 24, SLOT = 1, PORTS_PER_CAGE = 2, PORT_MAX = 254 };

/* --- rows and fields ---------------------------------------------------------------------- */

struct row {
	const char *field[FIELDS_MAX];
	unsigned n;
	unsigned line; /* where it begins */
};

struct reader {
	const char *p, *end;
	char separator;
	unsigned line; /* of p */
	struct arena *arena;
};

static bool at_line_end(const struct reader *r)
{
	return r->p == r->end || *r->p == '\n' || *r->p == '\r';
}

static void skip_line_end(struct reader *r)
{
	if (r->p < r->end && *r->p == '\r') {
		r->p++;
	}
	if (r->p < r->end && *r->p == '\n') {
		r->p++;
	}
	r->line++;
}

/* The most frequent separator of the first row, outside quotes. */
static char find_separator(const char *p, const char *end)
{
	static const char known[] = ",;\t";
	unsigned n[3] = { 0 }, best = 0;
	bool quoted = false;

	for (; p < end && (quoted || (*p != '\n' && *p != '\r')); p++) {
		const char *at = *p != '\0' && !quoted ? strchr(known, *p) : NULL;

		quoted ^= *p == '"';
		if (at != NULL) {
			n[at - known]++;
		}
	}
	for (unsigned i = 1; i < 3; i++) {
		best = n[i] > n[best] ? i : best;
	}
	return known[best];
}

/* A field in quotes, where two stand for one; what follows up to the separator is dropped. */
static const char *read_quoted(struct reader *r)
{
	const char *from = ++r->p;
	char *text, *to;

	while (r->p < r->end && (*r->p != '"' || (r->p + 1 < r->end && r->p[1] == '"'))) {
		r->p += *r->p == '"' ? 2 : 1;
	}
	text = to = arena_alloc(r->arena, (size_t)(r->p - from) + 1);
	for (const char *q = from; text != NULL && q < r->p; q++) {
		r->line += *q == '\n';
		*to++ = *q;
		q += *q == '"';
	}
	while (!at_line_end(r) && *r->p != r->separator) {
		r->p++;
	}
	return text;
}

static const char *read_plain(struct reader *r)
{
	const char *from = r->p;
	char *text;
	size_t len;

	while (!at_line_end(r) && *r->p != r->separator) {
		r->p++;
	}
	len = (size_t)(r->p - from);
	text = arena_alloc(r->arena, len + 1);
	if (text == NULL) {
		return NULL;
	}
	memcpy(text, from, len);
	return text_trim(text);
}

/* \retval E_NOTFOUND  That was the last one. \retval -ENOMEM */
static int read_row(struct reader *r, struct row *ret_row)
{
	while (r->p < r->end && (at_line_end(r) || *r->p == '#')) {
		while (!at_line_end(r)) {
			r->p++;
		}
		skip_line_end(r);
	}
	if (r->p == r->end) {
		return E_NOTFOUND;
	}
	ret_row->n = 0;
	ret_row->line = r->line;
	for (bool more = true; more;) {
		const char *field;

		while (!at_line_end(r) && *r->p == ' ' && r->separator != ' ') {
			r->p++;
		}
		field = r->p < r->end && *r->p == '"' ? read_quoted(r) : read_plain(r);
		if (field == NULL) {
			return -ENOMEM;
		}
		if (ret_row->n < FIELDS_MAX) {
			ret_row->field[ret_row->n++] = field;
		}
		more = !at_line_end(r);
		r->p += more; /* the separator */
	}
	skip_line_end(r);
	return E_OK;
}

static void start(struct reader *r, const char *text, size_t len, struct arena *a)
{
	static const char mark[] = "\xef\xbb\xbf";

	*r = (struct reader){ .p = text, .end = text + len, .line = 1, .arena = a };
	if (len >= 3 && memcmp(text, mark, 3) == 0) {
		r->p += 3;
	}
	/* that of the first row, so what is skipped before it does not count */
	const char *p = r->p;
	while (p < r->end && (*p == '\n' || *p == '\r' || *p == '#')) {
		while (p < r->end && *p != '\n') {
			p++;
		}
		p += p < r->end;
	}
	r->separator = find_separator(p, r->end);
}

/* --- names of columns --------------------------------------------------------------------- */

enum meaning { NODE = 1, PORT = 2, ONE = 4, OTHER = 8, NOTHING = 16 };

static const struct {
	const char *word;
	unsigned means;
} words[] = {
	{ "a", ONE },           { "src", ONE },        { "source", ONE },
	{ "from", ONE },        { "local", ONE },      { "near", ONE },
	{ "left", ONE },        { "1", ONE },          { "b", OTHER },
	{ "z", OTHER },         { "dst", OTHER },      { "dest", OTHER },
	{ "destination", OTHER }, { "to", OTHER },     { "target", OTHER },
	{ "peer", OTHER },      { "remote", OTHER },   { "far", OTHER },
	{ "right", OTHER },     { "neighbor", OTHER }, { "neighbour", OTHER },
	{ "2", OTHER },         { "device", NODE },    { "switch", NODE },
	{ "node", NODE },       { "name", NODE },      { "host", NODE },
	{ "hostname", NODE },   { "system", NODE },    { "server", NODE },
	{ "hca", NODE },        { "ca", NODE },        { "description", NODE },
	{ "desc", NODE },       { "guid", NODE },      { "port", PORT },
	{ "interface", PORT },  { "iface", PORT },     { "if", PORT },
	{ "side", NOTHING },    { "end", NOTHING },    { "no", NOTHING },
	{ "number", NOTHING },
};

/* \return 0: the word is none of these. */
static unsigned meaning_of(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strlen(words[i].word) == len &&
		    strncasecmp(words[i].word, word, len) == 0) {
			return words[i].means;
		}
	}
	return 0;
}

/* Of "srcport", too: one word behind the other. */
static unsigned meaning_of_words(const char *word, size_t len)
{
	unsigned means = meaning_of(word, len);

	for (size_t i = 2; means == 0 && i + 2 <= len; i++) {
		unsigned first = meaning_of(word, i), last = meaning_of(word + i, len - i);

		means = first != 0 && last != 0 ? first | last : 0;
	}
	return means;
}

/* A word ends before another kind of character, or in "SrcPort" before the P. */
static size_t word_length(const char *p)
{
	size_t n = 1;

	while (isalnum((unsigned char)p[n]) &&
	       !isdigit((unsigned char)p[n - 1]) == !isdigit((unsigned char)p[n]) &&
	       !(islower((unsigned char)p[n - 1]) && isupper((unsigned char)p[n]))) {
		n++;
	}
	return n;
}

/* \return 0 where a word says something else, as in "port speed". */
static unsigned column_meaning(const char *name)
{
	unsigned means = 0;

	while (*name != '\0') {
		if (!isalnum((unsigned char)*name)) {
			name++;
			continue;
		}
		size_t len = word_length(name);
		unsigned word = meaning_of_words(name, len);

		if (word == 0) {
			return 0;
		}
		means |= word;
		name += len;
	}
	return means;
}

struct columns {
	int node[2], port[2]; /* -1: there is none */
};

static void take_column(int *columns, unsigned means, int i)
{
	unsigned end = (means & OTHER) != 0 ||
	               ((means & ONE) == 0 && columns[0] >= 0);

	if (columns[end] < 0) {
		columns[end] = i;
	}
}

static bool has_digit(const char *text)
{
	return strpbrk(text, "0123456789") != NULL;
}

/* \return Does the row name the columns? */
static bool read_names(const struct row *row, struct columns *ret_columns)
{
	struct columns c = { { -1, -1 }, { -1, -1 } };
	bool digits = false;

	for (unsigned i = 0; i < row->n; i++) {
		unsigned means = column_meaning(row->field[i]);

		digits = digits || has_digit(row->field[i]);
		if ((means & PORT) != 0) {
			take_column(c.port, means, (int)i);
		} else if ((means & (NODE | ONE | OTHER)) != 0) {
			take_column(c.node, means, (int)i);
		}
	}
	/* "switch 1", "1" may be a cable */
	if (c.node[1] < 0 || c.node[0] < 0 || (c.port[0] < 0 && digits)) {
		return false;
	}
	*ret_columns = c;
	return true;
}

/* --- ends --------------------------------------------------------------------------------- */

/* Cuts "leaf01:5" where the first rest that is a port begins. */
static int cut_end(const char *text, struct arena *a, struct cable_list_end *ret_end)
{
	for (const char *p = text; *p != '\0'; p++) {
		if (p > text && strchr(":/ \t", *p) != NULL &&
		    cable_list_port(p + 1) != 0) {
			char *node = arena_printf(a, "%.*s", (int)(p - text), text);

			if (node == NULL) {
				return -ENOMEM;
			}
			*ret_end = (struct cable_list_end){ text_trim(node), p + 1 };
			return E_OK;
		}
	}
	*ret_end = (struct cable_list_end){ text, "" };
	return E_OK;
}

static const char *field_at(const struct row *row, int column)
{
	return column >= 0 && (unsigned)column < row->n ? row->field[column] : "";
}

static int read_end(const struct row *row, const struct columns *c, unsigned end,
                    struct arena *a, struct cable_list_end *ret_end)
{
	const char *node = field_at(row, c->node[end]);

	if (c->port[end] < 0) {
		return cut_end(node, a, ret_end);
	}
	*ret_end = (struct cable_list_end){ node, field_at(row, c->port[end]) };
	return E_OK;
}

/* Columns of a list without names. */
static struct columns usual_columns(const struct row *first)
{
	return first->n >= 4 ? (struct columns){ { 0, 2 }, { 1, 3 } }
	                     : (struct columns){ { 0, 1 }, { -1, -1 } };
}

bool cable_list_is(const char *text, size_t len)
{
	struct arena *a = arena_new();
	struct cable_list_end end[2];
	struct columns c;
	struct reader r;
	struct row row;
	bool is = false;

	if (a == NULL) {
		return false;
	}
	start(&r, text, len, a);
	if (read_row(&r, &row) == E_OK && row.n >= 2) {
		is = read_names(&row, &c);
		c = usual_columns(&row);
		is = is || (read_end(&row, &c, 0, a, &end[0]) == E_OK &&
		            read_end(&row, &c, 1, a, &end[1]) == E_OK &&
		            cable_list_port(end[0].port) != 0 &&
		            cable_list_port(end[1].port) != 0);
	}
	arena_free(a);
	return is;
}

static int add_row(struct cable_list *l, size_t *cap, const struct row *row,
                   const struct columns *c, struct arena *a, struct topo_problems *problems)
{
	struct cable_list_row r = { .line = row->line };

	for (unsigned end = 0; end < 2; end++) {
		int ret = read_end(row, c, end, a, &r.end[end]);

		if (ret != E_OK) {
			return ret;
		}
	}
	if (*r.end[0].node == '\0' || *r.end[1].node == '\0') {
		topo_warning(problems, row->line,
		             "the row is skipped, because an end has no name");
		return E_OK;
	}
	if (ARENA_RESERVE(a, l->row, l->n, *cap, l->n + 1) != E_OK) {
		return -ENOMEM;
	}
	l->row[l->n++] = r;
	return E_OK;
}

int cable_list_parse(const char *text, size_t len, const char *name, struct arena *a,
                     struct diags *d, struct cable_list *ret_list)
{
	struct cable_list l = { .row = NULL };
	struct topo_problems problems;
	struct columns c;
	struct reader r;
	struct row row;
	size_t cap = 0;

	topo_problems_init(&problems, d, name, false);
	start(&r, text, len, a);
	int ret = read_row(&r, &row);
	if (ret == E_OK && !read_names(&row, &c)) {
		c = usual_columns(&row);
		ret = add_row(&l, &cap, &row, &c, a, &problems);
	}
	while (ret == E_OK && (ret = read_row(&r, &row)) == E_OK) {
		ret = add_row(&l, &cap, &row, &c, a, &problems);
	}
	topo_problems_end(&problems);
	if (ret != E_NOTFOUND) {
		return ret;
	}
	if (l.n == 0) {
		diag_add(d, DIAG_ERROR, name, 0,
		         "no cable in this list; expected rows of node, port, node, port, or names of columns such as source, source port, destination, destination port");
		return E_SYNTAX;
	}
	*ret_list = l;
	return E_OK;
}

/* --- ports -------------------------------------------------------------------------------- */

/* \return Where the number ends; NULL: there is none. */
static const char *read_number(const char *p, unsigned *ret_number)
{
	unsigned n = 0, digits = 0;

	for (; isdigit((unsigned char)*p) && digits < 4; p++, digits++) {
		n = n * 10 + (unsigned)(*p - '0');
	}
	*ret_number = n;
	return digits != 0 && !isdigit((unsigned char)*p) ? p : NULL;
}

static const char *skip_port_word(const char *p)
{
	static const char *const lead[] = { "port", "swp", "eth", "ib", "p" };

	for (unsigned i = 0; i < sizeof(lead) / sizeof(*lead); i++) {
		size_t len = strlen(lead[i]);

		if (strncasecmp(p, lead[i], len) == 0) {
			p += len;
			break;
		}
	}
	while (*p == ' ' || *p == '#') {
		p++;
	}
	return p;
}

/* A port of a cage, counted from 1. */
static unsigned cage_port(unsigned cage, unsigned port)
{
	return cage == 0 || port == 0 || port > PORTS_PER_CAGE
	               ? 0
	               : (cage - 1) * PORTS_PER_CAGE + port;
}

unsigned cable_list_port(const char *text)
{
	unsigned part[3] = { 0 }, n = 0, split, port;
	const char *p = skip_port_word(text + strspn(text, " \t"));

	p = read_number(p, &part[n++]);
	while (p != NULL && *p == '/' && n < 3) {
		p = read_number(p + 1, &part[n++]);
	}
	if (p == NULL) {
		return 0;
	}
	port = n == 1 ? part[0] : n == 2 ? part[1] : cage_port(part[1], part[2]);
	if (n > 1 && part[0] != SLOT) {
		return 0;
	}
	if (n == 1 && *p == 's' && (p = read_number(p + 1, &split)) != NULL) {
		port = cage_port(part[0], split + 1);
	}
	return p != NULL && p[strspn(p, " \t")] == '\0' && port <= PORT_MAX ? port : 0;
}
