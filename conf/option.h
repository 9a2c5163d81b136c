/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct device_groups;
struct diags;
struct guid_file;

/*!
 * Option table: one row per option. The row drives the file parser, the command line,
 * range checks, --help, --dump-config and the manual page.
 *
 * A program composes sets: its own rows (conf/options.c) plus those of each routing
 * engine. A key of several sets is stored in each of them, so engines may
 * share a key such as root_guid_file. Rows of type OPT_IGNORED are keys of a peer's file
 * that have no effect here: accepted with a warning, unless another set uses the key.
 *
 * A key of type OPT_GUID_FILE names a list of GUIDs (conf/policy/guidfile.h). The list is read when
 * the value is stored, with its errors by file and line, so that engines open no files; sets
 * that share the key share the list. OPT_FILE is the same for a file of any form, which the
 * row's read() turns into an object.
 *
 * A key of type OPT_DEVICE_GROUP names device groups (conf/device_group.h). Groups may be
 * defined after the key, so the names are looked up at the end: option_bind_groups().
 *
 * A row with xml has its value in opafm.xml, too: the path of the element below Common or
 * Fm, for instance "Sm/FatTreeTopology/TierCount". Lists repeat the element.
 */
enum option_type {
	OPT_BOOL,    /*!< bool; TRUE FALSE yes no on off 1 0, any case */
	OPT_UINT,    /*!< uint32_t; decimal or 0x */
	OPT_INT,     /*!< int32_t */
	OPT_GUID,    /*!< uint64_t; 0x hex, or bare hex of 16 digits */
	OPT_GUIDS,   /*!< struct option_guids; the same several times, commas or blanks between */
	OPT_STRING,  /*!< const char *, NULL for "(null)" and "" */
	OPT_ENUM,    /*!< uint32_t index into names, any case */
	OPT_GUID_FILE, /*!< const struct guid_file *, NULL for "(null)" and ""; the value is a path */
	OPT_FILE,    /*!< what the row's read() made of the file, NULL for "(null)" and ""; likewise */
	OPT_QOS,     /*!< uint32_t, enum qos_mode; a bool, or "auto" */
	OPT_VL_WEIGHTS, /*!< const char *, NULL for "(null)" and ""; see qos_weights_parse() */
	OPT_SL2VL,   /*!< the same; see qos_sl2vl_parse() */
	OPT_LIFE_TIMES, /*!< the same; see life_times_parse() */
	OPT_DEVICE_GROUP, /*!< const struct device_list *, NULL for "(null)" and ""; name of one group */
	OPT_DEVICE_GROUPS, /*!< the same; names with commas between, in an order that matters */
	OPT_LMC_ESP0, /*!< uint32_t 0-7; FALSE = 0, TRUE = UINT32_MAX (as lmc), or a number */
	OPT_PORT_MASK, /*!< struct congestion_mask; see congestion_mask_parse() */
	OPT_PER_SL, /*!< struct congestion_sls, zeros for "(null)"; see congestion_sls_parse(). The key may be
	                 repeated, for one SL each */
	OPT_CCT, /*!< struct congestion_table, empty for "(null)"; see congestion_table_parse(); max: entries */
	OPT_IGNORED  /*!< known, no effect */
};

enum option_flag {
	OPT_RESTART =
		1, /*!< a change needs a restart; SIGHUP says so and keeps the old value */
	OPT_CLI_ONLY = 2, /*!< not a key of the file */
	OPT_NO_ARG =
		4, /*!< flag without argument: sets a bool to TRUE, counts an OPT_UINT up */
	OPT_BASIC = 64,  /*!< in --help; the others with a heading are in --help-all */
	OPT_TASK = 128,  /*!< asks a server for a task instead of its service */
	OPT_CLAMP = 8,   /*!< a number above max is a warning and becomes max */
	OPT_SECRET = 32, /*!< a key: messages do not show its value */
	OPT_INPUT = 256, /*!< OPT_STRING: the name of a file that somebody else writes */
	OPT_REFUSE =
		16 /*!< for protection. OPT_IGNORED: an error unless def or one of names; a file: it
	                       must exist */
};

/*! Headings of --help and of the manual page. */
enum option_group {
	OPTION_GROUP_NONE, /*!< no heading: the options of a small program; always shown */
	OPTION_GROUP_PROGRAM,
	OPTION_GROUP_SM,
	OPTION_GROUP_LIDS,
	OPTION_GROUP_ROUTING,
	OPTION_GROUP_ENGINE,
	OPTION_GROUP_SWEEP,
	OPTION_GROUP_LINKS,
	OPTION_GROUP_PARTITION,
	OPTION_GROUP_SA,
	OPTION_GROUP_QOS,
	OPTION_GROUP_PERF,
	OPTION_GROUP_HEALTH,
	OPTION_GROUP_VIRTUAL,
	OPTION_GROUP_COUNT
};

/*! Titles, [OPTION_GROUP_COUNT]; that of OPTION_GROUP_NONE is NULL. */
extern const char *const option_group_titles[];

/*!
 * Reads a file into an object in \a a. The object is a struct whose first member is
 * "const char *path". Every bad line is reported in \a d, which may be NULL.
 * \retval E_SYNTAX  At least one bad line. \retval -errno
 */
typedef int option_read_f(const char *path, struct arena *a, struct diags *d,
                          const void **ret_value);

/*!
 * Converts an element's text to a value of the row, where opafm.xml writes it another way.
 * A text that it cannot convert stays as it is, and option_set() refuses it.
 * \return Arena string or \a text itself; NULL: out of memory.
 */
typedef const char *option_xml_f(const char *text, struct arena *a);

struct option_row {
	const char *name;          /*!< key in the file; NULL ends a table */
	enum option_type type;
	size_t offset;             /*!< of the member in the set's base */
	const char *def;           /*!< default as text, NULL: "(null)"; OPT_IGNORED: no warning when equal */
	uint64_t min, max;         /*!< inclusive; numbers only; max 0: no check */
	const char *const *names;  /*!< OPT_ENUM, NULL-terminated; OPT_REFUSE: values that ask for nothing, or NULL */
	char letter;               /*!< short flag or 0 */
	const char *flags_long;    /*!< long flags, comma separated, or NULL; the key is one always; '_' and '-' are the same */
	unsigned flags;            /*!< enum option_flag */
	const char *arg;           /*!< name of the argument in --help, or NULL */
	const char *help;          /*!< one sentence */
	const char *more;          /*!< more sentences for the manual page, or NULL */
	enum option_group group;   /*!< its heading; OPTION_GROUP_NONE: that of the set */
	option_read_f *read;       /*!< OPT_FILE */
	const char *xml;           /*!< path of its element in opafm.xml, or NULL: it has none */
	option_xml_f *from_xml; /*!< converts that element's text, NULL: no conversion */
	const char *
		xml_expected; /*!< values that from_xml accepts, for messages; NULL: those of the row */
};

struct option_set {
	const struct option_row *rows;
	void *base; /*!< struct the offsets point into; strings in it belong to the arena */
	enum option_group group; /*!< heading of the rows that have none */
};

enum { OPTION_GUIDS_MAX = 16 };

/*! A value of OPT_GUIDS, in its order. */
struct option_guids {
	uint64_t guid[OPTION_GUIDS_MAX]; /*!< 0 behind the last one */
	uint32_t n;                      /*!< at least one */
};

/*! The fate of a setting in a file. */
enum option_fate {
	OPTION_TAKEN,
	OPTION_NO_EFFECT, /*!< known, but has no effect here */
	OPTION_HARMLESS,  /*!< the same, and nothing is lost: it asks for what holds without it */
	OPTION_UNKNOWN
};

struct option_seen {
	const char *key;     /*!< of its row; NULL: none */
	const char *element; /*!< path in opafm.xml, NULL: a line of key and value */
	const char *value;   /*!< as written */
	unsigned line;
	enum option_fate fate;
};

/*! Settings of the file read, in its order; strings are in the arena. */
struct option_trace {
	struct arena *arena;
	struct option_seen *seen; /*!< [n] */
	unsigned n;
	size_t room;
};

enum { OPTION_SETS_MAX = 40 };

struct option_sets {
	struct option_set set[OPTION_SETS_MAX];
	unsigned n;
	struct option_trace
		*trace; /*!< option_set() adds each setting of a file; NULL: not kept */
	/*! As OpenSM reads its file: an unknown key is only added to the trace. If a key names a
	 *  file that does not exist, that is a warning, and the value is "(null)". */
	bool lenient;
	bool ignore_unsupported; /*!< protection that is not here is a warning, not an error */
	bool must_exist; /*!< a named file that is not there is an error, except at its usual place */
	bool flags_first; /*!< the first positional argument ends the flags of a command line */
};

/*! \brief Adds one; strings are copied. A NULL \a t is allowed. \retval -ENOMEM */
int option_trace_add(struct option_trace *t, const char *key, const char *element,
                     const char *value, unsigned line, enum option_fate fate);

/*! \brief The last place at which a key was set. \return NULL: not in the file. */
const struct option_seen *option_trace_find(const struct option_trace *t, const char *key);

/*! \brief Adds a set. \retval E_FULL more than OPTION_SETS_MAX. */
int option_sets_add(struct option_sets *s, const struct option_row *rows, void *base);

/*! \brief The same; rows without a heading get \a group. */
int option_sets_add_group(struct option_sets *s, const struct option_row *rows,
                          void *base, enum option_group group);

/*! \brief Stores every row's default. \retval E_SYNTAX a default does not parse (a bug). */
int option_set_defaults(const struct option_sets *s, struct arena *a);

/*!
 * \brief Stores one value by key in each set that has the key.
 *
 * Problems go to \a d with file:line, the offending text and what was expected. An unknown
 * key is an error that names the nearest known key, unless \a s is lenient.
 *
 * \retval E_OK       Stored, or accepted with a warning.
 * \retval E_UNKNOWN  No such key.
 * \retval E_SYNTAX E_RANGE
 */
int option_set(const struct option_sets *s, struct arena *a, const char *key,
               const char *value, const char *file, unsigned line, struct diags *d);

/*! \brief option_set() of an element of opafm.xml, which messages name instead of the key. */
int option_set_element(const struct option_sets *s, struct arena *a, const char *key,
                       const char *value, const char *element, const char *file,
                       unsigned line, struct diags *d);

/*!
 * \brief After all values are stored: gives device lists their groups.
 * \retval E_UNKNOWN  Unknown groups, each in \a d with the place of the value. \retval -ENOMEM
 */
int option_bind_groups(const struct option_sets *s, const struct device_groups *groups,
                       struct arena *a, struct diags *d);

/*! \brief Is this text the value that a row has when nobody sets it? */
bool option_is_default(const struct option_row *row, const char *value);

/*! \brief Value of a row as text that option_set() accepts again. Arena string. */
const char *option_text(const struct option_row *row, const void *base, struct arena *a);

/*!
 * \brief All keys with their present values in opensm.conf syntax, help as comments.
 *
 * Reading the result gives the same values. Keys without effect are left out.
 *
 * \param secrets  Values that protect the fabric, too. false: a comment says that there is one,
 *                 unless it is the default.
 * \retval -errno  Writing failed.
 */
int option_dump(const struct option_sets *s, struct arena *a, bool secrets, FILE *f);

/*!
 * \brief Keeps running values that only a restart can change.
 *
 * For each row with OPT_RESTART whose value differs, \a next gets the value of \a now back
 * and \a d a warning. Both must hold the same rows in the same order.
 */
int option_keep(const struct option_sets *now, const struct option_sets *next,
                struct arena *a, struct diags *d);

/*! \brief The key of a file that is nearest to a misspelled one. \return NULL: none is near. */
const char *option_nearest(const struct option_sets *s, const char *key);

/*!
 * \brief The row of a key: one that has an effect if there is one, else the ignored one.
 * \return NULL when no set has the key.
 */
const struct option_row *option_find(const struct option_sets *s, const char *key);

/*!
 * \brief Reads \a len bytes in the syntax of opensm.conf (messages show \a name): "key value" lines, '#' comments, blank lines; a value may be quoted;
 * "(null)" means none.
 *
 * Every error of the file is reported, not only the first. Lines of any length.
 *
 * \retval E_OK      No errors (warnings are possible).
 * \retval E_SYNTAX  At least one error; values may be half stored: use a fresh base.
 */
int option_read_text(const struct option_sets *s, struct arena *a, const char *name,
                     const char *text, size_t len, struct diags *d);

/*! One flag of a command line. */
struct option_flag_value {
	const char *key;   /*!< of its row */
	char *value; /*!< borrowed from argv; NULL: a flag without argument */
};

/*! A parsed command line; its values are not stored yet. */
struct option_argv {
	struct option_flag_value *flags; /*!< in their order */
	unsigned n;
	int first; /*!< index of the first positional argument in argv */
};

/*!
 * \brief The first half of option_read_argv(): parses a command line and stores nothing,
 *        because the file that it names is read before its flags are applied.
 *
 * \retval E_SYNTAX  A usage error; a sentence was printed on standard error.
 */
int option_parse_argv(const struct option_sets *s, struct arena *a, int argc, char **argv,
                      const char *doc, const char *args, struct option_argv *ret_argv);

/*! \brief The second half: stores the flags in order. \retval E_SYNTAX at least one error */
int option_apply_argv(const struct option_sets *s, struct arena *a,
                      const struct option_argv *cmdline, struct diags *d);

/*!
 * \brief Stores defaults, then parses a command line with argp: every row with a letter or flags_long.
 *
 * \param doc   Text for --help after the usage line.
 * \param args  Usage of the positional arguments ("FILE"), NULL: none allowed.
 * \param ret_first  Index of the first positional argument in \a argv (permuted).
 *
 * --help, --usage and --version print and exit 0, and so does OPTION_MAN_FLAG (conf/option_man.h). Usage errors print one sentence and a
 * pointer to --help on standard error and return E_SYNTAX. Its values are stored
 * by option_set(), so they are checked like those of a file.
 */
int option_read_argv(const struct option_sets *s, struct arena *a, int argc, char **argv,
                     const char *doc, const char *args, int *ret_first, struct diags *d);
