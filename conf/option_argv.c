/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <config.h>

#include "conf/option.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
#include "conf/option_man.h"
#include "conf/option_value.h"

/*
 * Rows become options of argp: one flag for each key, however many sets have the key. The
 * row with an effect provides the help text; letters and long names of an ignored row of
 * the same key stay valid. Every long name may be written with '_' or with '-'. --help
 * shows the first name of a row; the others are hidden aliases. Rows stand below the heading of
 * their group. Of those with a heading, --help shows the basic ones and --help-all all.
 */

enum {
	KEY_FLAG = 0x100, /* argp key of the flag at an index, when it has no letter */
	KEY_HELP = 0x10000,
	KEY_HELP_ALL,
	KEY_USAGE,
	KEY_VERSION,
	GROUP_FIRST = 1, /* that of enum option_group value 0 */
	GROUP_IGNORED = GROUP_FIRST + OPTION_GROUP_COUNT,
	GROUP_HELP = -1,
};

struct flag {
	const struct option_row *row;
	char letter;
	bool basic; /* in --help */
};

struct argv_job {
	const struct option_sets *sets;
	struct arena *arena;
	const char *args;
	struct flag *flags;
	unsigned n_flags;
	struct argp_option *options;
	unsigned n_options;
	struct hash_table names;        /* index of each option by its name */
	const struct option_row **rows; /* of all sets */
	struct hash_table by_key;       /* index of each row by its key, in their order */
	unsigned n_rare; /* flags that only --help-all shows */
	struct option_argv out;
};

/* The most names that the rows can have: each name has a second spelling. */
static unsigned count_names(const struct option_sets *s)
{
	unsigned n = 0;
	for (unsigned i = 0; i < s->n; i++) {
		for (const struct option_row *row = s->set[i].rows; row->name != NULL;
		     row++) {
			n += (row->letter != 0) + 2; /* the key in both spellings */
			for (const char *p = row->flags_long; p != NULL; n += 2) {
				p = strchr(p, ',');
				p = p != NULL ? p + 1 : NULL;
			}
		}
	}
	return n;
}

static uint64_t key_of(const char *name)
{
	return digest_bytes(0, name, strlen(name));
}

static int add_option(struct argv_job *job, struct argp_option o)
{
	int ret = E_OK;
	if (o.name != NULL) {
		ret = hash_add(&job->names, key_of(o.name), job->n_options);
	}
	job->options[job->n_options++] = o;
	return ret;
}

static int add_alias(struct argv_job *job, const char *name)
{
	if (HASH_FIND(&job->names, key_of(name), i,
	              strcmp(job->options[i].name, name) == 0) != HASH_NONE) {
		return E_OK; /* an option has this name itself */
	}
	return add_option(job,
	                  (struct argp_option){ .name = name,
	                                        .flags = OPTION_ALIAS | OPTION_HIDDEN });
}

/* The name with '-' for '_', or the other way round. */
static int add_spelling(struct argv_job *job, const char *name)
{
	char *other = arena_strdup(job->arena, name);
	if (other == NULL) {
		return -ENOMEM;
	}
	char to = strchr(name, '_') != NULL ? '-' : '_';
	for (char *p = other; *p != '\0'; p++) {
		if (*p == '_' || *p == '-') {
			*p = to;
		}
	}
	return add_alias(job, other);
}

/* Every key with an effect is a long flag, too, whatever other names it has. */
static bool key_is_flag(const struct option_row *row)
{
	return row->type != OPT_IGNORED;
}

/* The names of one row as aliases of the option added last; taken ones are left out. */
static int add_names(struct argv_job *job, const struct option_row *row)
{
	if (key_is_flag(row)) {
		int ret = add_alias(job, row->name);
		if (ret == E_OK) {
			ret = add_spelling(job, row->name);
		}
		if (ret != E_OK) {
			return ret;
		}
	}
	if (row->flags_long == NULL) {
		return E_OK;
	}
	char *list = arena_strdup(job->arena, row->flags_long), *save = NULL;
	if (list == NULL) {
		return -ENOMEM;
	}
	for (char *p = list; (p = strtok_r(p, ", ", &save)) != NULL; p = NULL) {
		int ret = add_alias(job, p);
		if (ret == E_OK) {
			ret = add_spelling(job, p);
		}
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

static const char *first_name(const struct argv_job *job, const struct option_row *row)
{
	if (row->flags_long == NULL) {
		return key_is_flag(row) && row->letter == 0 ? row->name : NULL;
	}
	return arena_printf(job->arena, "%.*s", (int)strcspn(row->flags_long, ", "),
	                    row->flags_long);
}

static int index_rows(struct argv_job *job)
{
	const struct option_sets *s = job->sets;
	unsigned n = 0;

	job->rows = arena_array(job->arena, option_count(s), sizeof(*job->rows));
	/* with room for all, so that rows of one key stay in their order */
	int ret =
		job->rows != NULL ? hash_reserve(&job->by_key, option_count(s)) : -ENOMEM;
	for (unsigned i = 0; i < s->n; i++) {
		for (const struct option_row *row = s->set[i].rows;
		     row->name != NULL && ret == E_OK; row++) {
			job->rows[n] = row;
			ret = hash_add(&job->by_key, key_of(row->name), n++);
		}
	}
	return ret;
}

static bool adds_names(const struct option_row *row)
{
	return row->letter != 0 || row->flags_long != NULL;
}

/* The row of the same key that adds a letter or names to those of \a row. */
static const struct option_row *other_row(const struct argv_job *job,
                                          const struct option_row *row)
{
	uint32_t at = HASH_FIND(&job->by_key, key_of(row->name), i,
	                        job->rows[i] != row && adds_names(job->rows[i]) &&
	                                strcmp(job->rows[i]->name, row->name) == 0);
	return at != HASH_NONE ? job->rows[at] : NULL;
}

/* Is it the row that option_find() gives for its key? */
static bool stands_for_key(const struct argv_job *job, const struct option_row *row)
{
	uint64_t key = key_of(row->name);
	uint32_t at = HASH_FIND(&job->by_key, key, i,
	                        job->rows[i]->type != OPT_IGNORED &&
	                                strcmp(job->rows[i]->name, row->name) == 0);
	if (at == HASH_NONE) {
		at = HASH_FIND(&job->by_key, key, i,
		               strcmp(job->rows[i]->name, row->name) == 0);
	}
	return at != HASH_NONE && job->rows[at] == row;
}

static int add_flag(struct argv_job *job, const struct option_row *row,
                    enum option_group group)
{
	const struct option_row *other = other_row(job, row);
	char letter = row->letter != 0 ? row->letter : other != NULL ? other->letter : 0;
	const char *name = first_name(job, row);
	if (other != NULL && row->flags_long == NULL && first_name(job, other) != NULL) {
		name = first_name(job, other);
	}
	if (letter == 0 && name == NULL) {
		return E_OK;
	}
	bool basic = row->type != OPT_IGNORED &&
	             (group == OPTION_GROUP_NONE || (row->flags & OPT_BASIC) != 0);
	job->n_rare += !basic;
	job->flags[job->n_flags] = (struct flag){ row, letter, basic };
	struct argp_option o = {
		.name = name,
		.key = letter != 0 ? letter : KEY_FLAG + (int)job->n_flags,
		.arg = (row->flags & OPT_NO_ARG) != 0 ? NULL
		       : row->arg != NULL             ? row->arg
		                                      : "VALUE",
		.doc = row->help,
		.group = row->type == OPT_IGNORED ? GROUP_IGNORED
		                                  : GROUP_FIRST + (int)group,
	};
	int ret = add_option(job, o);
	job->n_flags++;
	if (ret == E_OK && name != NULL) {
		ret = add_spelling(job, name);
	}
	if (ret == E_OK) {
		ret = add_names(job, row);
	}
	return ret == E_OK && other != NULL ? add_names(job, other) : ret;
}

static void add_help(struct argv_job *job)
{
	static const struct argp_option help[] = {
		{ "help", KEY_HELP, NULL, 0, "Show this help", GROUP_HELP },
		{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, GROUP_HELP },
		{ NULL, '?', NULL, OPTION_HIDDEN, NULL, GROUP_HELP },
		{ "usage", KEY_USAGE, NULL, 0, "Show a short usage message", GROUP_HELP },
		{ "version", KEY_VERSION, NULL, 0, "Show the version", GROUP_HELP },
	};
	static const struct argp_option all = {
		"help-all", KEY_HELP_ALL, NULL, 0, "Show all flags", GROUP_HELP
	};

	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++) {
		job->options[job->n_options++] = help[i];
	}
	if (job->n_rare > 0) {
		job->options[job->n_options++] = all;
	}
}

/* Headings of the groups that have a flag. */
static void add_titles(struct argv_job *job)
{
	const unsigned n = job->n_options;

	for (int group = GROUP_FIRST + 1; group <= GROUP_IGNORED; group++) {
		const char *title = group == GROUP_IGNORED
		                            ? "Accepted, but without effect here"
		                            : option_group_titles[group - GROUP_FIRST];
		for (unsigned i = 0; i < n; i++) {
			if (job->options[i].group == group) {
				job->options[job->n_options++] = (struct argp_option){
					.doc = arena_printf(job->arena, "%s:", title),
					.group = group
				};
				break;
			}
		}
	}
}

static bool is_basic(const struct argv_job *job, const struct argp_option *o)
{
	for (unsigned i = 0; i < job->n_flags; i++) {
		const struct flag *f = &job->flags[i];
		int key = f->letter != 0 ? f->letter : KEY_FLAG + (int)i;
		if (o->key == key) {
			return f->basic;
		}
	}
	return true;
}

/* Takes away what only --help-all shows, with its aliases, and the headings. */
static void drop_rare(struct argv_job *job)
{
	const unsigned n = job->n_options;
	bool keep = true;

	job->n_options = 0;
	for (unsigned i = 0; i < n; i++) {
		struct argp_option o = job->options[i];
		bool title = o.key == 0 && o.name == NULL;
		if (title) {
			keep = false;
		} else if ((o.flags & OPTION_ALIAS) == 0) {
			keep = is_basic(job, &o);
		}
		if (keep) {
			job->options[job->n_options++] = o;
		}
	}
	add_titles(job);
	job->options[job->n_options] = (struct argp_option){ .name = NULL };
}

static int build_argp_options(struct argv_job *job)
{
	enum { HELP_ROWS = 8 + OPTION_GROUP_COUNT };
	const struct option_sets *s = job->sets;

	job->flags = arena_array(job->arena, option_count(s), sizeof(*job->flags));
	job->options =
		arena_array(job->arena, 2 * count_names(s) + option_count(s) + HELP_ROWS,
	                    sizeof(*job->options));
	if (job->flags == NULL || job->options == NULL || index_rows(job) != E_OK) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < s->n; i++) {
		for (const struct option_row *row = s->set[i].rows; row->name != NULL;
		     row++) {
			enum option_group group = row->group != OPTION_GROUP_NONE
			                                  ? row->group
			                                  : s->set[i].group;
			int ret = stands_for_key(job, row) ? add_flag(job, row, group)
			                                   : E_OK;
			if (ret != E_OK) {
				return ret;
			}
		}
	}
	add_help(job);
	add_titles(job);
	return E_OK;
}

static const struct option_row *row_of(const struct argv_job *job, int key)
{
	if (key >= KEY_FLAG && key < KEY_FLAG + (int)job->n_flags) {
		return job->flags[key - KEY_FLAG].row;
	}
	for (unsigned i = 0; i < job->n_flags; i++) {
		if (key != 0 && job->flags[i].letter == key) {
			return job->flags[i].row;
		}
	}
	return NULL;
}

/* Prints and exits. */
static error_t parse_help(struct argv_job *job, int key, struct argp_state *state)
{
	enum { HELP = ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC };

	switch (key) {
	case KEY_HELP:
	case 'h':
	case '?':
		drop_rare(job);
		argp_state_help(state, stdout, HELP);
		if (job->n_rare > 0) {
			printf("\n%u more flags: --help-all\n", job->n_rare);
		}
		break;
	case KEY_HELP_ALL: argp_state_help(state, stdout, HELP); break;
	case KEY_USAGE: argp_state_help(state, stdout, ARGP_HELP_USAGE); break;
	case KEY_VERSION:
		printf("%s (%s) %s\n", state->name, PACKAGE_NAME, PACKAGE_VERSION);
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static error_t parse_one(int key, char *arg, struct argp_state *state)
{
	struct argv_job *job = state->input;

	if (key == ARGP_KEY_ARGS && job->args != NULL) {
		job->out.first = state->next;
		return 0;
	}
	if (key == ARGP_KEY_ARG) {
		if (job->args != NULL) {
			return ARGP_ERR_UNKNOWN; /* ARGP_KEY_ARGS follows with all */
		}
		argp_error(state, "unexpected argument '%s'", arg);
		return EINVAL;
	}
	const struct option_row *row = row_of(job, key);
	if (row == NULL) {
		return parse_help(job, key, state);
	}
	job->out.flags[job->out.n++] = (struct option_flag_value){ row->name, arg };
	return 0;
}

int option_parse_argv(const struct option_sets *s, struct arena *a, int argc, char **argv,
                      const char *doc, const char *args, struct option_argv *ret_argv)
{
	struct argv_job job = {
		.sets = s,
		.arena = a,
		.args = args,
		.names = { .arena = a },
		.by_key = { .arena = a },
	};
	size_t most = 1; /* a command line has fewer flags than characters */

	for (int i = 1; i < argc; i++) {
		most += strlen(argv[i]);
	}
	if (argc == 2 && strcmp(argv[1], OPTION_MAN_FLAG) == 0) {
		option_man_page(s, argv[0], args);
		exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	job.out.first = argc;
	job.out.flags = arena_array(a, most, sizeof(*job.out.flags));
	int ret = job.out.flags != NULL ? build_argp_options(&job) : -ENOMEM;
	if (ret != E_OK) {
		return ret;
	}
	struct argp argp = {
		.options = job.options, .parser = parse_one, .args_doc = args, .doc = doc
	};
	/* OpenSM takes long names behind one dash, too, and its manuals print them so. */
	const unsigned how = ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_LONG_ONLY |
	                     (s->flags_first ? ARGP_IN_ORDER : 0);
	if (argp_parse(&argp, argc, argv, how, NULL, &job) != 0) {
		return E_SYNTAX;
	}
	*ret_argv = job.out;
	return E_OK;
}

/* The value of a flag without argument: TRUE, or for a number how often the flag occurred
 * so far. */
static const char *implied_value(const struct option_row *row,
                                 const struct option_argv *cmdline, unsigned at,
                                 struct arena *a)
{
	unsigned count = 1;
	if (row->type != OPT_UINT) {
		return "TRUE";
	}
	for (unsigned i = 0; i < at; i++) {
		count += strcmp(cmdline->flags[i].key, cmdline->flags[at].key) == 0;
	}
	return arena_printf(a, "%u", count);
}

int option_apply_argv(const struct option_sets *s, struct arena *a,
                      const struct option_argv *cmdline, struct diags *d)
{
	int last_ret = E_OK;
	for (unsigned i = 0; i < cmdline->n; i++) {
		const struct option_flag_value *g = &cmdline->flags[i];
		const char *value = g->value;
		if (value == NULL) {
			value = implied_value(option_find(s, g->key), cmdline, i, a);
		}
		int ret = value != NULL ? option_set(s, a, g->key, value, NULL, 0, d)
		                        : -ENOMEM;
		if (ret != E_OK) {
			last_ret = ret == -ENOMEM ? ret : E_SYNTAX;
		}
	}
	return last_ret;
}

int option_read_argv(const struct option_sets *s, struct arena *a, int argc, char **argv,
                     const char *doc, const char *args, int *ret_first, struct diags *d)
{
	struct option_argv cmdline;
	int ret = option_set_defaults(s, a);
	if (ret == E_OK) {
		ret = option_parse_argv(s, a, argc, argv, doc, args, &cmdline);
	}
	if (ret == E_OK) {
		ret = option_apply_argv(s, a, &cmdline, d);
	}
	if (ret == E_OK && ret_first != NULL) {
		*ret_first = cmdline.first;
	}
	return ret;
}
