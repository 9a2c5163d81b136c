/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * One pass over the bytes. A definition ends with ';' or the end of the file, so after an error
 * the reader goes on behind the next ';' and finds what is wrong there, too. A new line ends
 * the flags of a group; elsewhere it is white space.
 *
 * A mistake in who is a member is an error, because a host in the wrong partition is what the
 * file is to prevent. A flag or a group that makes no sense is left out with a warning: files
 * with such lines work with OpenSM.
 *
 * Longer than most: one grammar, whose parts share the place in the text and the recovery from errors.
 */
#include "conf/policy/partitions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/name_list.h"
#include "conf/base/p_key.h"
#include "conf/base/search.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "conf/base/vector.h"

enum {
	WORD_MAX = 128,
	SCOPES = 16,
	MULTICAST = 0xff, /* first byte of an MGID */
	IPV4 = 0x401b,    /* signatures of IPoIB */
	IPV6 = 0x601b,
	RATE_10G = 3,
	MTU_2048 = 4,
	Q_KEY_IPOIB = 0x0b1b
};

static const struct text_file_kind partitions_kind = {
	.what = "a list of partitions",
	.max_bytes = 64 << 20,
	.usual = PARTITIONS_USUAL,
	.text_only = true,
};

/* Flags that a partition with ipoib and a group share. */
struct group_flags {
	uint32_t q_key, flow_label, rate, mtu, sl, tclass;
	uint16_t scopes; /* as bits; 0: none is given */
	bool has_q_key;
};

static const struct group_flags default_flags = { .rate = RATE_10G, .mtu = MTU_2048 };

/* A partition that is being read; its arrays grow. */
struct draft {
	struct partition is;
	struct partition_member *members;
	struct partition_group *groups;
	size_t cap_members, cap_groups;
	bool automatic; /* its P_Key is to be chosen */
};

struct partition_reader {
	const char *path, *p, *end;
	unsigned line;
	struct arena *a;
	struct diags *d;
	struct draft *drafts; /* [n] */
	size_t cap;
	uint32_t n;
	uint32_t by_key[P_KEY_BASE + 1]; /* index in drafts + 1 */
	int ret;
};

/* --- characters and words ------------------------------------------------------------- */

static void skip_comment(struct partition_reader *r)
{
	while (r->p < r->end && *r->p != '\n') {
		r->p++;
	}
}

/* Skips white space and comments; new lines only if they mean nothing here. */
static void skip_space(struct partition_reader *r, bool lines)
{
	while (r->p < r->end) {
		if (*r->p == '#') {
			skip_comment(r);
		} else if (*r->p == '\n' ? !lines : !isspace((unsigned char)*r->p)) {
			return;
		} else {
			r->line += *r->p == '\n';
			r->p++;
		}
	}
}

/* Is this the next character after white space? Then it is taken. */
static bool take(struct partition_reader *r, char c)
{
	skip_space(r, true);
	if (r->p < r->end && *r->p == c) {
		r->p++;
		return true;
	}
	return false;
}

/* Takes what stands before one of the delimiters, without the white space around it. A word that
 * is too long keeps its length in \a ret_word, so that it is no number or keyword. */
static void take_word(struct partition_reader *r, const char *delimiters,
                      char ret_word[WORD_MAX])
{
	const char *from, *to;
	size_t len;

	skip_space(r, true);
	from = to = r->p;
	while (r->p < r->end && *r->p != '\n' && *r->p != '#' &&
	       strchr(delimiters, *r->p) == NULL) {
		r->p++;
		if (!isspace((unsigned char)r->p[-1])) {
			to = r->p;
		}
	}
	len = (size_t)(to - from) < WORD_MAX ? (size_t)(to - from) : WORD_MAX - 1;
	memcpy(ret_word, from, len);
	ret_word[len] = '\0';
	text_printable(ret_word);
}

/* Goes behind the end of the definition. */
static void skip_definition(struct partition_reader *r)
{
	while (r->p < r->end && *r->p != ';') {
		skip_space(r, true);
		r->p += r->p < r->end && *r->p != ';';
	}
	r->p += r->p < r->end;
}

/* Is a word the beginning of a keyword? */
static bool begins(const char *word, const char *keyword)
{
	return *word != '\0' && strncasecmp(word, keyword, strlen(word)) == 0;
}

/* --- membership --------------------------------------------------------------------- */

const char *partition_membership_name(unsigned membership)
{
	return membership == PARTITION_BOTH   ? "both"
	       : membership == PARTITION_FULL ? "full"
	                                      : "limited";
}

static uint8_t membership_of(struct partition_reader *r, const char *word)
{
	static const uint8_t all[] = { PARTITION_FULL, PARTITION_LIMITED,
		                       PARTITION_BOTH };

	for (unsigned i = 0; i < sizeof(all); i++) {
		if (begins(word, partition_membership_name(all[i]))) {
			return all[i];
		}
	}
	diag_add(
		r->d, DIAG_WARNING, r->path, r->line,
		"'%s' is no membership, so it is limited: expected full, limited or both",
		word);
	return PARTITION_LIMITED;
}

/* --- flags ------------------------------------------------------------------------ */

/* A flag with a number. \return false: it is none of these. */
static bool take_flag(struct partition_reader *r, const char *name, const char *value,
                      struct group_flags *f)
{
	uint32_t scope = 0;
	const struct {
		const char *name;
		uint32_t min, max, *to;
	} known[] = { { "rate", 2, 63, &f->rate },
		      { "mtu", 1, 5, &f->mtu },
		      { "sl", 0, 15, &f->sl },
		      { "scope", 0, SCOPES - 1, &scope },
		      { "Q_Key", 0, UINT32_MAX, &f->q_key },
		      { "TClass", 0, 255, &f->tclass },
		      { "FlowLabel", 0, 0xfffff, &f->flow_label } };

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint64_t number;

		if (strcasecmp(name, known[i].name) != 0) {
			continue;
		}
		if (text_number(value, &number) != E_OK || number < known[i].min ||
		    number > known[i].max) {
			diag_add(r->d, DIAG_ERROR, r->path, r->line,
			         "%s '%s': expected a number from %u to %u",
			         known[i].name, value, known[i].min, known[i].max);
			return true;
		}
		*known[i].to = (uint32_t)number;
		f->has_q_key |= known[i].to == &f->q_key;
		f->scopes |= known[i].to == &scope ? (uint16_t)(1U << scope) : 0;
		return true;
	}
	return false;
}

/* --- groups ------------------------------------------------------------------------ */

static uint64_t with_scope(uint64_t prefix, unsigned scope)
{
	return (prefix & ~(UINT64_C(0xf) << 48)) | (uint64_t)scope << 48;
}

static unsigned signature(uint64_t prefix)
{
	return prefix >> 32 & 0xffff;
}

static bool is_ip(uint64_t prefix)
{
	return signature(prefix) == IPV4 || signature(prefix) == IPV6;
}

static void add_group(struct partition_reader *r, struct draft *t,
                      const struct partition_group *g)
{
	for (uint32_t i = 0; i < t->is.n_groups; i++) {
		if (t->groups[i].prefix == g->prefix && t->groups[i].guid == g->guid) {
			return; /* the first one counts */
		}
	}
	if (ARENA_RESERVE(r->a, t->groups, t->is.n_groups, t->cap_groups,
	                  t->is.n_groups + 1U) != E_OK) {
		r->ret = -ENOMEM;
		return;
	}
	t->groups[t->is.n_groups++] = *g;
}

/* One group for each scope that the flags name. */
static void add_groups(struct partition_reader *r, struct draft *t,
                       struct partition_group g, const struct group_flags *f)
{
	uint64_t prefix = g.prefix;
	unsigned own = prefix >> 48 & 0xf;
	unsigned scopes = f->scopes != 0 ? f->scopes : 1U << own;

	g.rate = (uint8_t)f->rate;
	g.mtu = (uint8_t)f->mtu;
	g.sl = (uint8_t)f->sl;
	g.tclass = (uint8_t)f->tclass;
	g.flow_label = f->flow_label;
	g.q_key = f->has_q_key ? f->q_key : is_ip(prefix) ? Q_KEY_IPOIB : 0;
	for (unsigned scope = 0; scope < SCOPES; scope++) {
		if (scopes >> scope & 1) {
			g.prefix = with_scope(prefix, scope);
			add_group(r, t, &g);
		}
	}
}

/* Its P_Key follows when it is known. */
static void add_broadcast(struct partition_reader *r, struct draft *t,
                          const struct group_flags *f, unsigned line)
{
	struct partition_group g = partition_broadcast_group(0);

	g.line = line;
	add_groups(r, t, g, f);
}

/* mgid=GID and the flags behind it, up to the end of the line. */
static void take_group(struct partition_reader *r, struct draft *t)
{
	struct group_flags f = default_flags;
	struct partition_group g = { .line = r->line };
	char word[WORD_MAX], value[WORD_MAX];
	bool good;

	take_word(r, " \t,;", word);
	good = text_gid(word, &g.prefix, &g.guid) == E_OK && g.prefix >> 56 == MULTICAST;
	if (!good) {
		diag_add(r->d, DIAG_ERROR, r->path, r->line,
		         "mgid '%s': expected a multicast GID, such as ff12:401b::16",
		         word);
	}
	for (;;) {
		const char *before;
		unsigned line;

		skip_space(r, false);
		before = r->p;
		line = r->line;
		if (r->p == r->end || *r->p != ',') {
			break;
		}
		r->p++;
		skip_space(r, false);
		if (r->p == r->end || *r->p == '\n') {
			break;
		}
		take_word(r, "=,:; \t", word);
		skip_space(r, false);
		if (r->p == r->end || *r->p != '=' || strcasecmp(word, "mgid") == 0) {
			r->p = before; /* a member, or another group */
			break;
		}
		r->p++;
		take_word(r, ",; \t", value);
		if (!take_flag(r, word, value, &f)) {
			r->p = before;
			r->line = line;
			break;
		}
	}
	if (good) {
		add_groups(r, t, g, &f);
	}
}

/* --- members ----------------------------------------------------------------------- */

static const struct {
	const char *word;
	uint8_t who;
} keywords[] = { { "ALL", PARTITION_ALL },
	         { "ALL_CAS", PARTITION_ALL_CAS },
	         { "ALL_SWITCHES", PARTITION_ALL_SWITCHES },
	         { "ALL_ROUTERS", PARTITION_ALL_ROUTERS },
	         { "ALL_VCAS", PARTITION_ALL_VCAS },
	         { "SELF", PARTITION_SELF } };

static bool guid_of(const char *text, uint64_t *ret_guid)
{
	return text_number(text, ret_guid) == E_OK && *ret_guid != 0;
}

/* \return false: neither a keyword nor GUIDs. */
static bool member_of(char *word, struct partition_member *ret_member)
{
	char *dash = strchr(word, '-');
	bool good;

	for (unsigned i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (strcmp(word, keywords[i].word) == 0) {
			ret_member->who = keywords[i].who;
			return true;
		}
	}
	ret_member->who = PARTITION_GUIDS;
	if (dash == NULL) {
		good = guid_of(word, &ret_member->first);
		ret_member->last = ret_member->first;
		return good;
	}
	*dash = '\0';
	good = guid_of(text_trim(word), &ret_member->first) &&
	       guid_of(text_trim(dash + 1), &ret_member->last) &&
	       ret_member->first <= ret_member->last;
	*dash = '-';
	return good;
}

static void add_member(struct partition_reader *r, struct draft *t,
                       const struct partition_member *m)
{
	if (ARENA_RESERVE(r->a, t->members, t->is.n_members, t->cap_members,
	                  t->is.n_members + 1U) != E_OK) {
		r->ret = -ENOMEM;
		return;
	}
	t->members[t->is.n_members++] = *m;
}

/* Takes a text in quotes. \return false: it has no end on this line, or is too long. */
static bool take_quoted(struct partition_reader *r, char ret_text[WORD_MAX])
{
	size_t n = 0;

	for (r->p++; r->p < r->end && *r->p != '"' && *r->p != '\n' && n < WORD_MAX - 1;) {
		ret_text[n++] = *r->p++;
	}
	ret_text[n] = '\0';
	text_printable(ret_text);
	if (r->p == r->end || *r->p != '"') {
		return false;
	}
	r->p++;
	return true;
}

/* Members by the names of hosts. \return false: with an error. */
static bool take_hosts(struct partition_reader *r, struct draft *t, uint8_t membership)
{
	struct partition_member m = { .who = PARTITION_HOST, .membership = membership,
		                      .line = r->line };
	struct name_list names = { .n = 0 };
	char word[WORD_MAX], value[WORD_MAX] = "";
	int ret = take_quoted(r, word) ? name_list_add(&names, word, r->a) : E_SYNTAX;

	if (ret == -ENOMEM) {
		r->ret = ret;
		return false;
	}
	if (ret != E_OK) {
		diag_add(r->d, DIAG_ERROR, r->path, m.line,
		         "\"%s: expected the name of a host, such as \"node01\" or \"node[01-16]\"",
		         word);
		return false;
	}
	if (take(r, '=')) {
		take_word(r, ",:;", value);
		m.membership = membership_of(r, value);
	}
	for (uint32_t i = 0; i < names.n; i++) {
		m.name = names.names[i];
		add_member(r, t, &m);
	}
	skip_space(r, true);
	if (r->p < r->end && *r->p != ',' && *r->p != ';') {
		diag_add(r->d, DIAG_ERROR, r->path, r->line,
		         "expected a comma or ';' behind the member \"%s\"", word);
		return false;
	}
	return true;
}

/* A member, or the membership of those that follow. \return false: the definition ends here,
 * with an error. */
static bool take_member(struct partition_reader *r, struct draft *t, uint8_t *defmember)
{
	struct partition_member m = { .membership = *defmember };
	char word[WORD_MAX], value[WORD_MAX] = "";

	skip_space(r, true);
	if (r->p < r->end && *r->p == '"') {
		return take_hosts(r, t, *defmember);
	}
	take_word(r, "=,:;", word);
	m.line = r->line;
	if (take(r, '=')) {
		if (strcasecmp(word, "mgid") == 0) {
			take_group(r, t);
			return true;
		}
		take_word(r, ",:;", value);
	}
	if (strcasecmp(word, "defmember") == 0) {
		*defmember = membership_of(r, value);
		(void)take(r, ':');
		return true;
	}
	if (strcmp(word, "NONE") != 0) {
		if (!member_of(word, &m)) {
			diag_add(
				r->d, DIAG_ERROR, r->path, m.line,
				"'%s': expected a PortGUID such as 0x2c9030045f121, a range of them, ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, ALL_VCAS or SELF, or the name of a host in quotes, each with a comma behind it",
				word);
			return false;
		}
		if (*value != '\0' && strpbrk(value, " \t=") == NULL) {
			m.membership = membership_of(r, value);
		}
		add_member(r, t, &m);
	}
	skip_space(r, true);
	if (strpbrk(value, " \t=") != NULL ||
	    (r->p < r->end && *r->p != ',' && *r->p != ';')) {
		diag_add(r->d, DIAG_ERROR, r->path, r->line,
		         "expected a comma or ';' behind the member '%s'", word);
		return false;
	}
	return true;
}

/* --- definitions --------------------------------------------------------------------- */

struct definition {
	char name[WORD_MAX];
	uint16_t p_key; /* 0: not given */
	bool indx0, ipoib;
	uint8_t defmember;
	struct group_flags flags;
	unsigned line;
};

static bool take_p_key(struct partition_reader *r, const char *text, uint16_t *ret_p_key)
{
	uint64_t number;

	if (text_number(text, &number) != E_OK || number > UINT16_MAX) {
		diag_add(
			r->d, DIAG_ERROR, r->path, r->line,
			"P_Key '%s': expected a number from 1 to 0x7fff, with or without bit 15",
			text);
		return false;
	}
	*ret_p_key = number & P_KEY_BASE;
	return true;
}

static bool take_first(struct partition_reader *r, struct definition *f)
{
	char word[WORD_MAX], value[WORD_MAX];

	take_word(r, "=,:;", word);
	f->line = r->line;
	if (isdigit((unsigned char)word[0])) {
		return take_p_key(r, word, &f->p_key);
	}
	memcpy(f->name, word, sizeof(word));
	if (!take(r, '=')) {
		return true;
	}
	take_word(r, ",:;", value);
	return take_p_key(r, value, &f->p_key);
}

static bool take_definition_flag(struct partition_reader *r, struct definition *f)
{
	char word[WORD_MAX], value[WORD_MAX] = "";

	take_word(r, "=,:;", word);
	if (take(r, '=')) {
		take_word(r, ",:;", value);
	}
	if (strcasecmp(word, "indx0") == 0) {
		f->indx0 = true;
	} else if (strcasecmp(word, "ipoib") == 0) {
		f->ipoib = true;
	} else if (strcasecmp(word, "defmember") == 0) {
		f->defmember = membership_of(r, value);
	} else if (*word != '\0' && !take_flag(r, word, value, &f->flags)) {
		diag_add(
			r->d, DIAG_WARNING, r->path, r->line,
			"flag '%s' has no effect: expected indx0, ipoib, defmember, rate, mtu, sl, scope, Q_Key, TClass or FlowLabel",
			word);
	}
	return true;
}

/* The partition that a definition begins or continues. */
static struct draft *draft_of(struct partition_reader *r, const struct definition *f)
{
	uint32_t i = f->p_key != 0 ? r->by_key[f->p_key] : 0;
	struct draft *t;

	for (uint32_t k = 0; i == 0 && f->p_key == 0 && *f->name && k < r->n; k++) {
		i = strcmp(r->drafts[k].is.name, f->name) == 0 ? k + 1 : 0;
	}
	if (i != 0) {
		t = &r->drafts[i - 1];
		t->is.line = t->is.line != 0 ? t->is.line : f->line;
	} else {
		if (ARENA_RESERVE(r->a, r->drafts, r->n, r->cap, r->n + 1U) != E_OK) {
			r->ret = -ENOMEM;
			return NULL;
		}
		t = &r->drafts[r->n++];
		*t = (struct draft){ .is = { .name = arena_strdup(r->a, f->name),
			                     .p_key = f->p_key,
			                     .line = f->line },
			             .automatic = f->p_key == 0 };
		if (t->is.name == NULL) {
			r->ret = -ENOMEM;
			return NULL;
		}
		r->by_key[f->p_key] = f->p_key != 0 ? r->n : 0;
	}
	t->is.indx0 |= f->indx0;
	t->is.sl = f->flags.sl != 0 ? (uint8_t)f->flags.sl : t->is.sl;
	return t;
}

static void take_members(struct partition_reader *r, struct draft *t,
                         struct definition *f)
{
	while (r->ret == E_OK) {
		while (take(r, ',')) {
		}
		if (r->p == r->end || take(r, ';')) {
			return;
		}
		if (!take_member(r, t, &f->defmember)) {
			skip_definition(r);
			return;
		}
	}
}

static void take_definition(struct partition_reader *r)
{
	struct definition f = { .defmember = PARTITION_LIMITED, .flags = default_flags };
	struct draft *t;
	bool good = take_first(r, &f);

	while (good && take(r, ',')) {
		good = take_definition_flag(r, &f);
	}
	if (good && !take(r, ':')) {
		char word[WORD_MAX];

		take_word(r, ";", word);
		diag_add(
			r->d, DIAG_ERROR, r->path, r->line,
			"expected ':' between the definition '%s' of line %u and its members, not '%.20s'",
			f.name, f.line, word);
		good = false;
	}
	if (!good) {
		skip_definition(r);
		return;
	}
	t = draft_of(r, &f);
	if (t == NULL) {
		return;
	}
	if (f.ipoib) {
		add_broadcast(r, t, &f.flags, f.line);
	}
	take_members(r, t, &f);
}

/* --- when all definitions are read ---------------------------------------------------- */

static void choose_p_keys(struct partition_reader *r)
{
	uint32_t next = 1;

	for (uint32_t i = 0; i < r->n; i++) {
		if (!r->drafts[i].automatic) {
			continue;
		}
		while (next <= P_KEY_BASE && r->by_key[next] != 0) {
			next++;
		}
		if (next > P_KEY_BASE) {
			diag_add(r->d, DIAG_ERROR, r->path, r->drafts[i].is.line,
			         "no P_Key is left for the partition '%s'",
			         r->drafts[i].is.name);
			return;
		}
		r->by_key[next] = i + 1;
		r->drafts[i].is.p_key = (uint16_t)next;
	}
}

static const struct partition_group *broadcast_of(const struct draft *t)
{
	for (uint32_t i = 0; i < t->is.n_groups; i++) {
		if (t->groups[i].broadcast) {
			return &t->groups[i];
		}
	}
	return NULL;
}

/* Why a group of IP cannot be, or NULL. */
static const char *ip_trouble(const struct draft *t, const struct partition_group *g)
{
	const struct partition_group *broadcast = broadcast_of(t);
	unsigned key = g->prefix >> 16 & 0xffff;

	if (key != 0 && (key & P_KEY_BASE) != t->is.p_key) {
		return "it has the P_Key of another partition";
	}
	if (broadcast == NULL) {
		return "its partition has no broadcast group, which the flag ipoib gives";
	}
	if (broadcast->rate != g->rate || broadcast->mtu != g->mtu) {
		return "rate and mtu are to be those of the broadcast group";
	}
	return NULL;
}

/* Gives groups of IP the P_Key of their partition, and leaves out those that nobody could
 * join. */
static void settle_groups(struct partition_reader *r, struct draft *t)
{
	uint64_t key = (uint64_t)(t->is.p_key | P_KEY_FULL) << 16;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->is.n_groups; i++) {
		struct partition_group *g = &t->groups[i];
		const char *trouble = is_ip(g->prefix) ? ip_trouble(t, g) : NULL;

		if (trouble != NULL) {
			diag_add(r->d, DIAG_WARNING, r->path, g->line,
			         "the multicast group %016llx:%016llx is left out: %s",
			         (unsigned long long)g->prefix,
			         (unsigned long long)g->guid, trouble);
			continue;
		}
		g->prefix |= is_ip(g->prefix) ? key : 0;
		t->groups[n++] = *g;
	}
	t->is.n_groups = n;
}

static int by_p_key(const void *a, const void *b)
{
	const struct partition *x = a, *y = b;

	return (int)x->p_key - (int)y->p_key;
}

static int settle(struct partition_reader *r, const struct partitions **ret_partitions)
{
	struct partitions *list = arena_alloc(r->a, sizeof(*list));
	struct partition *all = arena_array(r->a, r->n, sizeof(*all));

	if (list == NULL || all == NULL) {
		return -ENOMEM;
	}
	choose_p_keys(r);
	for (uint32_t i = 0; i < r->n; i++) {
		struct draft *t = &r->drafts[i];

		settle_groups(r, t);
		all[i] = t->is;
		all[i].members = t->members;
		all[i].groups = t->groups;
	}
	qsort(all, r->n, sizeof(*all), by_p_key);
	*list = (struct partitions){ r->path, all, r->n, .is_file = r->p != NULL };
	*ret_partitions = list;
	return E_OK;
}

/* The default partition begins with everybody, and with the subnet manager's port. */
static void begin_default(struct partition_reader *r, uint8_t everybody)
{
	struct definition f = { .name = "Default", .p_key = PARTITION_DEFAULT };
	struct draft *t = draft_of(r, &f);

	if (t != NULL) {
		add_member(r, t,
		           &(struct partition_member){ .who = PARTITION_ALL,
		                                       .membership = everybody });
		add_member(r, t,
		           &(struct partition_member){ .who = PARTITION_SELF,
		                                       .membership = PARTITION_FULL });
	}
}

static struct partition_reader *reader_new(const char *path, struct arena *a)
{
	struct partition_reader *r = arena_alloc(a, sizeof(*r));
	const char *copy = arena_strdup(a, path);

	if (r == NULL || copy == NULL) {
		return NULL;
	}
	*r = (struct partition_reader){ .path = copy, .a = a, .line = 1 };
	return r;
}

int partitions_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct partitions **ret_partitions)
{
	struct partition_reader *r = reader_new(path, a);
	struct diags *own = arena_alloc(a, sizeof(*own));
	unsigned errors;

	if (r == NULL || own == NULL) {
		return -ENOMEM;
	}
	diags_init(own, a);
	r->d = d != NULL ? d : own;
	r->p = text;
	r->end = text + len;
	errors = r->d->n_errors;
	begin_default(r, PARTITION_LIMITED);
	while (r->ret == E_OK && (skip_space(r, true), r->p < r->end)) {
		if (!take(r, ';')) {
			take_definition(r);
		}
	}
	if (r->ret == E_OK) {
		const struct partitions *list;

		r->ret = settle(r, &list);
		if (r->ret == E_OK && r->d->n_errors == errors) {
			*ret_partitions = list;
		}
	}
	return r->ret != E_OK ? r->ret : r->d->n_errors != errors ? E_SYNTAX : E_OK;
}

int partitions_default(const char *path, struct arena *a,
                       const struct partitions **ret_partitions)
{
	struct partition_reader *r = reader_new(path, a);

	if (r == NULL) {
		return -ENOMEM;
	}
	begin_default(r, PARTITION_FULL);
	if (r->ret == E_OK) {
		add_broadcast(r, &r->drafts[0], &default_flags, 0);
	}
	return r->ret == E_OK ? settle(r, ret_partitions) : r->ret;
}

int partitions_read(const char *path, struct arena *a, struct diags *d,
                    const void **ret_value)
{
	const struct partitions *list = NULL;
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &partitions_kind, d, &text, &len);

	if (ret == E_OK) {
		ret = text != NULL ? partitions_parse(path, text, len, a, d, &list)
		                   : partitions_default(path, a, &list);
	}
	free(text);
	if (ret == E_OK) {
		*ret_value = list;
	}
	return ret;
}

const struct partition *partitions_find(const struct partitions *p, uint16_t p_key)
{
	size_t i = LOWER_BOUND(p->n, k, p->all[k].p_key < (p_key & P_KEY_BASE));

	return i < p->n && p->all[i].p_key == (p_key & P_KEY_BASE) ? &p->all[i] : NULL;
}
