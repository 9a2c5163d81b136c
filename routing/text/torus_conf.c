/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/text/torus_conf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"

enum {
	SEEDS_MAX = 256,
	RADIX_MAX = 4096,
	CELLS_MAX = 1 << 16,
	CHANGES_DEFAULT = 32,
	RADIX_AMBIGUOUS = 4 /* both neighbours of a switch have another one in common */
};

static const struct text_file_kind torus_kind = {
	.what = "a description of a torus",
	.max_bytes = 1 << 20,
	.usual = TORUS_CONF_DEFAULT,
};

static const char blanks[] = " \t\r";
static const char dim_name[] = "xyz";

struct torus_reader {
	struct torus_conf *c;
	struct diags *d;
	const char *path;
	char *rest; /* of the line, after its keyword */
	unsigned line;
	bool sized; /* torus or mesh was seen */
	int ret;
};

static void complain(struct torus_reader *r, const char *what, const char *text)
{
	diag_add(r->d, DIAG_ERROR, r->path, r->line, "%s: '%.64s'", what, text);
	r->ret = E_SYNTAX;
}

/* Next word of the line, "" at its end. */
static char *next_word(struct torus_reader *r)
{
	char *word = r->rest + strspn(r->rest, blanks);
	char *end = word + strcspn(word, blanks);

	r->rest = end + (*end != '\0');
	*end = '\0';
	return word;
}

static bool take_number(struct torus_reader *r, uint64_t min, uint64_t max,
                        const char *what, uint32_t *ret_number)
{
	const char *word = next_word(r);
	uint64_t v;

	if (text_u64(word, max, &v) != E_OK || v < min) {
		complain(r, what, word);
		return false;
	}
	*ret_number = (uint32_t)v;
	return true;
}

static struct torus_seed *seed_now(struct torus_reader *r)
{
	if (r->c->n_seeds == 0) {
		r->c->n_seeds = 1;
	}
	return &r->c->seed[r->c->n_seeds - 1];
}

/* ---- keywords: arg is what the row says ---- */

/* One radix: a number and perhaps a letter. */
static void read_radix(struct torus_reader *r, unsigned d, bool closed)
{
	struct torus_conf *c = r->c;
	char *word = next_word(r);
	size_t len = strlen(word);
	char last = len > 1 ? word[len - 1] : '\0';
	uint64_t v;

	if (last && strchr("tTmM", last)) {
		closed = last == 't' || last == 'T';
		word[len - 1] = '\0';
	}
	if (text_u64(word, RADIX_MAX, &v) != E_OK || v == 0) {
		complain(
			r,
			"expected a radix from 1 to 4096, with t or m behind it if need be",
			word);
		return;
	}
	c->radix[d] = (uint32_t)v;
	c->closed[d] = closed && v > 2;
}

static void read_size(struct torus_reader *r, unsigned closed)
{
	uint64_t cells = 1;

	if (r->sized) {
		complain(r, "the size is set twice; remove one of the lines",
		         closed ? "torus" : "mesh");
		return;
	}
	r->sized = true;
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		read_radix(r, d, closed);
		cells *= r->c->radix[d];
	}
	if (r->ret == E_OK && (cells > CELLS_MAX || cells < 2)) {
		complain(r, "expected 2 to 65536 switches, product of all radices",
		         cells < 2 ? "1" : "more");
	}
}

static bool take_guid(struct torus_reader *r, uint64_t *ret_guid)
{
	const char *word = next_word(r);

	if (text_number(word, ret_guid) == E_OK && *ret_guid) {
		return true;
	}
	complain(r, "expected the GUIDs of two switches (0x and up to 16 hex digits)",
	         word);
	return false;
}

static void read_link(struct torus_reader *r, unsigned dir)
{
	struct torus_seed *s = seed_now(r);
	uint64_t from, to;

	if (!take_guid(r, &from) || !take_guid(r, &to)) {
		return;
	}
	if (s->line && s->from != from) {
		diag_add(r->d, DIAG_ERROR, r->path, r->line,
		         "links of a seed lead from one switch, which is 0x%016" PRIx64
		         " since line %u; a 'next_seed' line begins another seed",
		         s->from, s->line);
		r->ret = E_SYNTAX;
	} else if (s->has[dir]) {
		complain(
			r,
			"this seed has a link in that direction already; a 'next_seed' line begins another seed",
			dir % 2 ? "-" : "+");
	} else if (r->c->radix[dir / 2] == 1) {
		complain(r, "the radix of this dimension is 1: it has no links",
		         (char[]){ dim_name[dir / 2], '\0' });
	} else if (from == to) {
		complain(r, "a switch is not its own neighbour", "FROM and TO");
	} else {
		s->line = s->line ? s->line : r->line;
		s->from = from;
		s->to[dir] = to;
		s->has[dir] = true;
	}
}

static void read_dateline(struct torus_reader *r, unsigned d)
{
	const char *word = next_word(r);
	int32_t radix = (int32_t)r->c->radix[d];
	char *end;
	long v = strtol(word, &end, 10);

	if (end == word || *end || v <= -radix || v >= radix) {
		diag_add(
			r->d, DIAG_ERROR, r->path, r->line,
			"expected a number between -%d and %d, which is the radix: '%.64s'",
			radix, radix, word);
		r->ret = E_SYNTAX;
		return;
	}
	seed_now(r)->dateline[d] = (int32_t)v;
}

static void read_next_seed(struct torus_reader *r, unsigned arg)
{
	(void)arg;
	if (r->c->n_seeds == 0) {
		diag_add(r->d, DIAG_WARNING, r->path, r->line,
		         "next_seed before any link: the first seed is empty");
	}
	seed_now(r);
	if (r->c->n_seeds == SEEDS_MAX) {
		complain(r, "too many seeds, expected at most 256", "next_seed");
		return;
	}
	r->c->n_seeds++;
}

static void read_max_ports(struct torus_reader *r, unsigned arg)
{
	(void)arg;
	take_number(r, 1, UINT8_MAX, "expected a number of ports from 1 to 255",
	            &r->c->max_ports);
}

static void read_max_changes(struct torus_reader *r, unsigned arg)
{
	(void)arg;
	take_number(r, 0, UINT32_MAX, "expected a number", &r->c->max_changes);
}

static void read_port_order(struct torus_reader *r, unsigned arg)
{
	struct torus_conf *c = r->c;
	uint32_t port;

	(void)arg;
	c->n_order = 0;
	while (r->rest[strspn(r->rest, blanks)]) {
		if (!take_number(r, 1, TORUS_ORDER_MAX,
		                 "expected port numbers from 1 to 254", &port)) {
			return;
		}
		if (!memchr(c->order, (int)port, c->n_order)) {
			c->order[c->n_order++] = (uint8_t)port;
		}
	}
}

static const struct keyword {
	const char *name;
	void (*read)(struct torus_reader *r, unsigned arg);
	unsigned arg;
} keywords[] = {
	{ "torus", read_size, true },
	{ "mesh", read_size, false },
	{ "xp_link", read_link, 0 },
	{ "xm_link", read_link, 1 },
	{ "yp_link", read_link, 2 },
	{ "ym_link", read_link, 3 },
	{ "zp_link", read_link, 4 },
	{ "zm_link", read_link, 5 },
	{ "x_dateline", read_dateline, 0 },
	{ "y_dateline", read_dateline, 1 },
	{ "z_dateline", read_dateline, 2 },
	{ "next_seed", read_next_seed, 0 },
	{ "portgroup_max_ports", read_max_ports, 0 },
	{ "port_order", read_port_order, 0 },
	{ "max_changes", read_max_changes, 0 },
};

enum { N_KEYWORDS = sizeof(keywords) / sizeof(*keywords) };

static void read_line(struct torus_reader *r, char *text)
{
	const char *word;

	r->rest = text;
	word = next_word(r);
	if (*word == '\0' || *word == '#') {
		return;
	}
	for (unsigned i = 0; i < N_KEYWORDS; i++) {
		if (strcmp(word, keywords[i].name) != 0) {
			continue;
		}
		if (!r->sized && keywords[i].read != read_size) {
			complain(r,
			         "expected 'torus X Y Z' or 'mesh X Y Z' before all else",
			         word);
			r->sized = true; /* said once */
			return;
		}
		keywords[i].read(r, keywords[i].arg);
		return;
	}
	complain(
		r,
		"unknown keyword, expected torus, mesh, a link such as xp_link, a dateline such as x_dateline, next_seed, portgroup_max_ports, port_order or max_changes",
		word);
}

/* ---- the whole ---- */

/* Does a seed show every dimension? */
static void check_seed(struct torus_reader *r, const struct torus_seed *s)
{
	const struct torus_conf *c = r->c;

	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		unsigned n = s->has[2 * d] + s->has[2 * d + 1];
		unsigned need = c->radix[d] == 1 ? 0 : 1;

		if (c->closed[d] && c->radix[d] == RADIX_AMBIGUOUS) {
			need = 2;
		}
		if (n < need) {
			diag_add(
				r->d, DIAG_ERROR, r->path, s->line,
				"the seed that begins here needs %s%cp_link%s%cm_link%s",
				need == 2 ? "both " : "", dim_name[d],
				need == 2 ? " and " : " or ", dim_name[d],
				need == 2
					? ": in a ring of four one neighbour does not tell the other"
					: "");
			r->ret = E_SYNTAX;
		}
	}
}

static void check_whole(struct torus_reader *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->c->n_seeds; i++) {
		if (r->c->seed[i].line) {
			check_seed(r, &r->c->seed[i]);
			n++;
		}
	}
	r->line = 0;
	if (!r->sized) {
		complain(r, "expected a line 'torus X Y Z' or 'mesh X Y Z'",
		         "end of file");
	} else if (!n) {
		complain(r, "expected seed links such as 'xp_link FROM TO'",
		         "end of file");
	}
}

int torus_conf_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct torus_conf **ret_conf)
{
	struct torus_conf *c = arena_alloc(a, sizeof(*c));
	char *copy = arena_alloc(a, len + 1);
	struct torus_reader r = { .c = c, .d = d, .path = path };

	if (!c || !copy) {
		return -ENOMEM;
	}
	*c = (struct torus_conf){ .path = arena_strdup(a, path),
		                  .radix = { 1, 1, 1 },
		                  .seed = arena_array(a, SEEDS_MAX, sizeof(*c->seed)),
		                  .max_changes = CHANGES_DEFAULT };
	if (!c->path || !c->seed) {
		return -ENOMEM;
	}
	memcpy(copy, text, len);
	for (size_t at = 0; at < len;) {
		char *line = copy + at;
		size_t n = text_line(copy, len, &at);

		r.line++;
		line[n] = '\0';
		if (memchr(line, '\0', n)) {
			complain(&r, "a byte that is not text", line);
		} else {
			read_line(&r, line);
		}
	}
	if (r.ret == E_OK) {
		check_whole(&r);
	}
	if (r.ret == E_OK) {
		*ret_conf = c;
	}
	return r.ret;
}

/* OpenSM writes the name of its default file into every opensm.conf. */
static int no_torus(const char *path, struct arena *a, const struct torus_conf **ret_conf)
{
	struct torus_conf *c = arena_alloc(a, sizeof(*c));

	if (!c) {
		return -ENOMEM;
	}
	*c = (struct torus_conf){ .path = arena_strdup(a, path), .absent = true };
	*ret_conf = c;
	return c->path ? E_OK : -ENOMEM;
}

int torus_conf_read(const char *path, struct arena *a, struct diags *d,
                    const void **ret_value)
{
	const struct torus_conf *c = NULL;
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &torus_kind, d, &text, &len);

	if (ret == E_OK) {
		ret = text != NULL ? torus_conf_parse(path, text, len, a, d, &c)
		                   : no_torus(path, a, &c);
	}
	free(text);
	if (ret == E_OK) {
		*ret_value = c;
	}
	return ret;
}
