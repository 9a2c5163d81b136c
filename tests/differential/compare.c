/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Differences between two streams of answers to the same queries, a line each:
 *
 *   NUMBER ATTRIBUTE METHOD trusted|untrusted|... [COMPONENT=VALUE ...] status=O/S
 *   records=O/S only=O/S facts=FACT,... O-ignores=COMPONENT,... S-ignores=...
 *   left=... [COMPONENT=O/S,O/S... ...]
 *
 * O and S are the first and the second side. First what was asked for, then what they
 * answered and how many records only one has, then what is to be known about the request
 * (facts.c). "ignores": there were records without the value that was asked for in these
 * components; they are taken out, and with them the status that says so. "left": the
 * numbers still differ then. Last the components that differ in the records that are
 * left, with all pairs of values: [] is none, [?] that the rest can't be told this way.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sa.h>

#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/store/mcast.h"
#include "tests/differential/differential.h"

enum {
	NO_RECORDS = UMAD_SA_STATUS_NO_RECORDS << SA_STATUS_SHIFT,
	TOO_MANY = UMAD_SA_STATUS_TOO_MANY_RECORDS << SA_STATUS_SHIFT
};

struct line {
	char *text;
	size_t cap;
	char *words; /* what is left of it: " RECORD RECORD ..." */
	const struct sa_attr *attr;
	char name[64];
	char request[2 * DIFF_DATA_BYTES + 1];
	unsigned method, status;
	int trusted;
	uint64_t number, mask;
	uint32_t attr_mod;
	size_t n;
};

static bool read_line(FILE *f, struct line *l)
{
	int used = 0;
	ssize_t len = getline(&l->text, &l->cap, f);

	if (len <= 0) {
		return false;
	}
	l->text[len - 1] = '\0';
	if (sscanf(l->text,
	           "%" SCNu64 " %63s %x %d %" SCNx64 " %" SCNx32 " %400s %x %zu%n",
	           &l->number, l->name, &l->method, &l->trusted, &l->mask, &l->attr_mod,
	           l->request, &l->status, &l->n, &used) != 9 ||
	    diff_attr_by_name(l->name) < 0) {
		diff_die("not a line of answers", l->text);
	}
	l->words = l->text + used;
	l->attr = diff_attrs[diff_attr_by_name(l->name)].attr;
	return true;
}

static void write_value(FILE *out, const struct sa_field *f, const uint8_t *record)
{
	for (unsigned at = 0; at < f->width && at < 128; at += 64) {
		unsigned width = f->width - at < 64 ? f->width - at : 64;
		fprintf(out, f->width > 64 ? "%016" PRIx64 : "%" PRIx64,
		        field_get(record, f->bit + at, width));
	}
	if (f->width > 128) {
		fputs("...", out);
	}
}

static void write_query(FILE *out, const struct line *l)
{
	uint8_t data[DIFF_DATA_BYTES];
	const char *between = "";
	const char *method = l->method == UMAD_SA_METHOD_GET_TABLE   ? "GetTable"
	                     : l->method == UMAD_SA_METHOD_GET_MULTI ? "GetMulti"
	                                                             : "Get";

	diff_unhex(l->request, data, sizeof(data));
	fprintf(out, "%" PRIu64 " %s %s %s%s [", l->number, l->name, method,
	        l->trusted ? "trusted" : "untrusted", l->attr_mod ? " matchall" : "");
	for (unsigned c = 0; c < 64; c++) {
		if (l->mask >> c & 1 && c < l->attr->n_fields) {
			fprintf(out, "%s%s=", between, l->attr->fields[c].name);
			write_value(out, &l->attr->fields[c], data);
			between = " ";
		}
	}
	fputs("]", out);
}

/* --- records of both sides
 * ---------------------------------------------------------------- A side is cleaned step
 * by step of what is known to be its way, and what is left is compared again: a reason
 * then covers that way alone, and not what else might be wrong. */

struct side {
	uint8_t *data; /* n records of size bytes */
	size_t n, size;
};

static uint8_t *record_at(const struct side *s, size_t i)
{
	return s->data + i * s->size;
}

static struct side side_of(const struct line *l)
{
	struct side s = { .size = sa_reply_attr(l->attr)->size };
	char *words = l->words;
	const char *word;

	s.data = calloc(l->n + 1, s.size);
	if (s.data == NULL) {
		diff_die("out of memory", NULL);
	}
	while (s.n < l->n && (word = strsep(&words, " ")) != NULL) {
		if (*word != '\0' && diff_unhex(word, record_at(&s, s.n), s.size) >= 0) {
			s.n++;
		}
	}
	return s;
}

static bool same_bits(const struct sa_field *f, const uint8_t *a, const uint8_t *b)
{
	for (unsigned at = 0; at < f->width; at += 64) {
		unsigned width = f->width - at < 64 ? f->width - at : 64;
		if (field_get(a, f->bit + at, width) !=
		    field_get(b, f->bit + at, width)) {
			return false;
		}
	}
	return true;
}

/* Is a component to be equal to what is asked for? Of a group also one that has a
 * selector, without it. */
static bool is_equal_asked(const struct line *l, unsigned c)
{
	bool group = l->attr == &rec_mcmember;
	bool limit = c == MC_MTU || c == MC_RATE || c == MC_LIFE;

	return (l->mask >> c & 1) != 0 && diff_is_compared(l->attr, c) &&
	       ((l->attr->fields[c].how & SA_HOW) == SA_EQ ||
	        (group && limit && (l->mask >> (c - 1) & 1) == 0) ||
	        (group && c == MC_PROXY_JOIN && l->trusted));
}

/* Does a limit of a group fit what is asked for with its selector? */
static bool fits_limit(const struct line *l, const uint8_t *asked, const uint8_t *record,
                       unsigned component)
{
	uint64_t both = UINT64_C(3) << (component - 1); /* its selector is before it */
	bool rate = component == MC_RATE;
	uint64_t own = mcast_get(record, component), limit = mcast_get(asked, component);

	if ((l->mask & both) != both) {
		return true;
	}
	own = rate ? rate_speed((uint8_t)own) : own;
	limit = rate ? rate_speed((uint8_t)limit) : limit;
	switch (mcast_get(asked, component - 1)) {
	case MC_GREATER: return own > limit;
	case MC_LESS: return own < limit;
	case MC_EXACTLY: return own == limit;
	default: return true;
	}
}

/* Does the life time of a group fit what is asked for with its selector? */
static bool fits_life(const struct line *l, const uint8_t *asked, const uint8_t *record)
{
	return l->attr != &rec_mcmember || fits_limit(l, asked, record, MC_LIFE);
}

/* Components of a record that are asked for, to be compared, and not as asked for. */
static uint64_t mismatches(const struct line *l, const uint8_t *asked,
                           const uint8_t *record)
{
	uint64_t mask = fits_life(l, asked, record) ? 0 : UINT64_C(1) << MC_LIFE;

	for (unsigned c = 0; c < l->attr->n_fields; c++) {
		if (is_equal_asked(l, c) &&
		    !same_bits(&l->attr->fields[c], asked, record)) {
			mask |= UINT64_C(1) << c;
		}
	}
	return mask;
}

/* Takes out the records that do not match. \return By which components. */
static uint64_t keep_matches(const struct line *l, struct side *s)
{
	uint8_t asked[DIFF_DATA_BYTES];
	uint64_t kept = 0;
	size_t n = 0;

	if (l->attr->reply != NULL) {
		return 0;
	}
	diff_unhex(l->request, asked, sizeof(asked));
	for (size_t i = 0; i < s->n; i++) {
		uint64_t why = mismatches(l, asked, record_at(s, i));
		if (why == 0) {
			memmove(record_at(s, n++), record_at(s, i), s->size);
		}
		kept |= why;
	}
	s->n = n;
	return kept;
}

static size_t record_size; /* for qsort() */
static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, record_size);
}

static void sort(struct side *s)
{
	record_size = s->size;
	qsort(s->data, s->n, s->size, by_bytes);
}

static bool same_records(const struct side *a, const struct side *b)
{
	return a->n == b->n && memcmp(a->data, b->data, a->n * a->size) == 0;
}

/* --- P_Key tables as OpenSM has them
 * ------------------------------------------------------- */

bool diff_is_switch(const struct diff_values *v, uint64_t lid)
{
	enum { NR_LID, NR_NODE_TYPE = 4, SWITCH = 2 };
	const struct diff_value_list *l = &v->lists[diff_attr_by_name(rec_node.name)];
	const struct sa_field *f = rec_node.fields;

	for (size_t i = 0; i < l->n; i++) {
		const uint8_t *record = l->data + i * rec_node.size;
		if (field_get(record, f[NR_LID].bit, f[NR_LID].width) == lid) {
			return field_get(record, f[NR_NODE_TYPE].bit,
			                 f[NR_NODE_TYPE].width) == SWITCH;
		}
	}
	return false;
}

static bool has_block(const struct side *s, const uint8_t *record)
{
	enum { BLOCK_ID_BYTES = 5 }; /* LID, BlockNum, PortNum */

	for (size_t i = 0; i < s->n; i++) {
		if (memcmp(record_at(s, i), record, BLOCK_ID_BYTES) == 0) {
			return true;
		}
	}
	return false;
}

/* Numbers of blocks in the byte order of the host where none was asked for: turned round.
 * Tables of external switch ports that the other side has not: left out. */
static void clean_p_keys(FILE *out, const struct diff_values *v, struct side *s,
                         const struct side *other)
{
	enum { PK_LID, PK_BLOCK, PK_PORT };
	const struct sa_field *f = rec_p_key_table.fields;
	bool swapped = false;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint8_t *record = record_at(s, i);
		uint64_t block = field_get(record, f[PK_BLOCK].bit, f[PK_BLOCK].width);
		bool external = diff_is_switch(v, field_get(record, f[PK_LID].bit, 16)) &&
		                field_get(record, f[PK_PORT].bit, f[PK_PORT].width) != 0;
		if (block != 0 && (block & 0xff) == 0) {
			field_set(record, f[PK_BLOCK].bit, f[PK_BLOCK].width, block >> 8);
			swapped = true;
		}
		if (!external || has_block(other, record)) {
			memmove(record_at(s, n++), record, s->size);
		}
	}
	fprintf(out, "%s%s", swapped ? " O-swaps=BlockNum" : "",
	        n < s->n ? " O-has=external" : "");
	s->n = n;
	sort(s);
}

/* Groups without a member, whose PortGID is 0: left out. */
static void clean_groups(FILE *out, struct side *s)
{
	static const uint8_t none[16];
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const uint8_t *port_gid =
			record_at(s, i) + rec_mcmember.fields[MC_PORT_GID].bit / 8;
		if (memcmp(port_gid, none, sizeof(none)) != 0) {
			memmove(record_at(s, n++), record_at(s, i), s->size);
		}
	}
	fputs(n < s->n ? " S-has=groups-without-members" : "", out);
	s->n = n;
}

/* Of paths what is as it was asked for, whether they are reversible and whose P_Key they
 * have, a full or a limited member's: left out where their number differs anyway. */
static void clean_paths(struct side *s)
{
	static const char *const names[] = { "RawTraffic",    "FlowLabel",
		                             "TClass",        "QoSClass",
		                             "ServiceID8MSB", "ServiceID56LSB",
		                             "Reversible" };
	enum { FULL_MEMBER = 0x8000 };

	for (size_t i = 0; i < s->n; i++) {
		uint8_t *record = record_at(s, i);
		for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			diff_put(&rec_path, names[k], record, 0);
		}
		uint64_t p_key = diff_get(&rec_path, "P_Key", record);
		diff_put(&rec_path, "P_Key", record, p_key ? p_key | FULL_MEMBER : 0);
	}
	sort(s);
}

/* LIDs of records are base LIDs. */
static bool lids_match(const struct line *l, const uint8_t *asked, const uint8_t *record)
{
	for (unsigned c = 0; c < l->attr->n_fields; c++) {
		const struct sa_field *f = &l->attr->fields[c];
		size_t len = strlen(f->name);
		if ((l->mask >> c & 1) != 0 && len >= 3 &&
		    strcmp(f->name + len - 3, "LID") == 0 &&
		    !same_bits(f, asked, record)) {
			return false;
		}
	}
	return true;
}

/* Of a group: does it fit? Its member is not shown to those who are not trusted. */
static bool is_shown_group(const struct line *l, const uint8_t *asked, uint8_t *record)
{
	static const unsigned member[] = { MC_PORT_GID, MC_JOIN_STATE, MC_PROXY_JOIN };
	static const uint8_t zero[DIFF_DATA_BYTES];
	const struct sa_field *f = l->attr->fields;

	if (l->attr != &rec_mcmember) {
		return true;
	}
	bool shown = fits_limit(l, asked, record, MC_MTU) &&
	             fits_limit(l, asked, record, MC_RATE);
	for (unsigned i = 0; i < 3; i++) {
		shown &= (l->mask >> member[i] & 1) == 0 ||
		         same_bits(&f[member[i]], asked, record) ||
		         (member[i] == MC_JOIN_STATE &&
		          mcast_get(asked, MC_JOIN_STATE) == 0);
	}
	for (unsigned i = 0; i < 3 && !l->trusted; i++) {
		diff_copy_bits(&f[member[i]], zero, record);
	}
	return shown;
}

/* Is this group one of the list? */
static bool is_listed(const struct diff_value_list *list, const uint8_t *group)
{
	enum { GID_BYTES = 16 };

	for (size_t i = 0; i < list->n; i++) {
		if (memcmp(list->data + i * rec_mcmember.size, group, GID_BYTES) == 0) {
			return true;
		}
	}
	return false;
}

/* Are these the records that were read before, as far as they match? */
static bool is_as_read(const struct line *l, const struct diff_values *v,
                       const struct side *s)
{
	const struct diff_value_list *list = &v->lists[diff_attr_by_name(l->name)];
	uint8_t asked[DIFF_DATA_BYTES];
	struct side all = { .size = l->attr->size };

	if (l->attr->reply != NULL || l->attr == &rec_path) {
		return false;
	}
	diff_unhex(l->request, asked, sizeof(asked));
	diff_own_base_lids(v, l->attr, asked);
	struct side seen = *s;
	all.data = malloc(list->n * all.size + 1);
	if (all.data == NULL) {
		diff_die("out of memory", NULL);
	}
	for (size_t i = 0; i < list->n; i++) {
		uint8_t *record = record_at(&all, all.n);
		memcpy(record, list->data + i * all.size, all.size);
		all.n += mismatches(l, asked, record) == 0 &&
		         lids_match(l, asked, record) && is_shown_group(l, asked, record);
	}
	sort(&all);
	/* The one group without a member is in no list of members; its MGID is the last.
	 */
	if (l->attr == &rec_mcmember && !l->trusted) {
		while (seen.n > 0 && !is_listed(list, record_at(&seen, seen.n - 1))) {
			seen.n--;
		}
	}
	bool as_read = same_records(&all, &seen);
	free(all.data);
	return as_read;
}

/* --- values in which records differ
 * --------------------------------------------------------- */

enum { PAIRS_MAX = 8, SHOWN_MAX = 8 };

/* Records with the components cleared, and behind them as they were; sorted. */
static struct side with_rest(const struct sa_attr *attr, const struct side *s,
                             uint64_t mask)
{
	struct side side = { .n = s->n, .size = 2 * s->size };
	static const uint8_t zero[DIFF_DATA_BYTES];

	side.data = calloc(s->n + 1, side.size);
	if (side.data == NULL) {
		diff_die("out of memory", NULL);
	}
	for (size_t i = 0; i < s->n; i++) {
		uint8_t *to = record_at(&side, i);
		memcpy(to, record_at(s, i), s->size);
		memcpy(to + s->size, record_at(s, i), s->size);
		for (unsigned c = 0; c < attr->n_fields; c++) {
			if (mask >> c & 1) {
				diff_copy_bits(&attr->fields[c], zero, to);
			}
		}
	}
	sort(&side);
	return side;
}

/* Components of the first pair that differ in what is not in the mask. */
static uint64_t next_difference(const struct sa_attr *attr, const struct side *a,
                                const struct side *b)
{
	uint64_t next = 0;

	for (size_t i = 0; i < a->n && next == 0; i++) {
		for (unsigned c = 0; c < attr->n_fields; c++) {
			if (!same_bits(&attr->fields[c], record_at(a, i),
			               record_at(b, i))) {
				next |= UINT64_C(1) << c;
			}
		}
	}
	return next;
}

static void write_pair(FILE *out, const struct sa_field *f, const uint8_t *a,
                       const uint8_t *b, const char *before)
{
	fputs(before, out);
	write_value(out, f, a);
	putc('/', out);
	write_value(out, f, b);
}

/* COMPONENT=A/B,A/B...: every pair of values that there is, "..." for more than a few. */
static void write_pairs(FILE *out, const struct sa_field *f, const struct side *a,
                        const struct side *b)
{
	size_t first[PAIRS_MAX];
	unsigned n = 0;

	fprintf(out, "%s=", f->name);
	for (size_t i = 0; i < a->n; i++) {
		const uint8_t *x = record_at(a, i) + a->size / 2,
			      *y = record_at(b, i) + b->size / 2;
		bool known = same_bits(f, x, y);
		for (unsigned k = 0; k < n && !known; k++) {
			known = same_bits(f, record_at(a, first[k]) + a->size / 2, x) &&
			        same_bits(f, record_at(b, first[k]) + b->size / 2, y);
		}
		if (known) {
			continue;
		}
		if (n == PAIRS_MAX) {
			fputs(",...", out);
			return;
		}
		write_pair(out, f, x, y, n > 0 ? "," : "");
		first[n++] = i;
	}
}

/* The one component in which all differ, if it is one; tables are small enough to try. */
static uint64_t only_difference(const struct sa_attr *attr, const struct side *a,
                                const struct side *b)
{
	enum { TRY_MAX = 64 };

	for (unsigned c = 0; a->n <= TRY_MAX && c < attr->n_fields; c++) {
		struct side x = with_rest(attr, a, UINT64_C(1) << c),
			    y = with_rest(attr, b, UINT64_C(1) << c);
		bool is = next_difference(attr, &x, &y) == 0;
		free(x.data);
		free(y.data);
		if (is) {
			return UINT64_C(1) << c;
		}
	}
	return 0;
}

/* Which components the sides show differently, all records of both; "?" when that is not
 * all there is to it. */
static void write_shown(FILE *out, const struct sa_attr *attr, const struct side *a,
                        const struct side *b)
{
	uint64_t mask = only_difference(attr, a, b), more = 0;
	struct side x, y;

	for (;;) {
		mask |= more;
		x = with_rest(attr, a, mask);
		y = with_rest(attr, b, mask);
		more = next_difference(attr, &x, &y);
		if (more == 0 || __builtin_popcountll(mask | more) > SHOWN_MAX) {
			break;
		}
		free(x.data);
		free(y.data);
	}
	if (more != 0) {
		putc('?', out);
	}
	const char *between = "";
	for (unsigned c = 0; more == 0 && c < attr->n_fields; c++) {
		if (mask >> c & 1) {
			fputs(between, out);
			write_pairs(out, &attr->fields[c], &x, &y);
			between = " ";
		}
	}
	free(x.data);
	free(y.data);
}

/* --- one difference
 * ---------------------------------------------------------------------- */

static void write_names(FILE *out, const char *word, const struct sa_attr *attr,
                        uint64_t components)
{
	const char *between = "";

	fprintf(out, " %s=", word);
	for (unsigned c = 0; c < attr->n_fields; c++) {
		if (components >> c & 1) {
			fprintf(out, "%s%s", between, attr->fields[c].name);
			between = ",";
		}
	}
}

static size_t count_only(const struct side *a, const struct side *b)
{
	size_t n = 0, k = 0;

	for (size_t i = 0; i < a->n; i++) {
		while (k < b->n &&
		       memcmp(record_at(b, k), record_at(a, i), a->size) < 0) {
			k++;
		}
		if (k < b->n && memcmp(record_at(b, k), record_at(a, i), a->size) == 0) {
			k++;
		} else {
			n++;
		}
	}
	return n;
}

/* The status that so many records have, as far as it follows from their number. */
static unsigned status_of(const struct line *l, size_t n)
{
	if (l->method != UMAD_METHOD_GET || (l->status & 0xff) != 0 ||
	    (l->status != 0 && l->status != NO_RECORDS && l->status != TOO_MANY)) {
		return l->status;
	}
	return n == 0 ? NO_RECORDS : n == 1 ? 0 : TOO_MANY;
}

static void write_difference(FILE *out, const struct diff_values *values, struct line *a,
                             struct line *b)
{
	struct side x = side_of(a), y = side_of(b);

	write_query(out, a);
	fprintf(out, " status=%04x/%04x records=%zu/%zu only=%zu/%zu", a->status,
	        b->status, x.n, y.n, count_only(&x, &y), count_only(&y, &x));
	diff_write_facts(out, values,
	                 &(struct diff_asked){ .attr = a->attr,
	                                       .mask = a->mask,
	                                       .request = a->request,
	                                       .records = y.data,
	                                       .n = y.n,
	                                       .get = a->method == UMAD_METHOD_GET });
	if (a->attr == &rec_p_key_table) {
		clean_p_keys(out, values, &x, &y);
	}
	if (a->attr == &rec_mcmember && a->trusted) {
		clean_groups(out, &y);
	}
	uint64_t ignored_a = keep_matches(a, &x), ignored_b = keep_matches(b, &y);
	if (ignored_a != 0) {
		write_names(out, "O-ignores", a->attr, ignored_a);
	}
	if (ignored_b != 0) {
		write_names(out, "S-ignores", a->attr, ignored_b);
	}
	if (status_of(a, x.n) != status_of(b, y.n) || x.n != y.n) {
		if (sa_reply_attr(a->attr) == &rec_path) {
			clean_paths(&x);
			clean_paths(&y);
		}
		fprintf(out, " left=%04x/%04x,%zu/%zu,only=%zu/%zu%s [?]\n",
		        status_of(a, x.n), status_of(b, y.n), x.n, y.n,
		        count_only(&x, &y), count_only(&y, &x),
		        is_as_read(b, values, &y) ? ",as-read" : "");
	} else {
		fputs(" [", out);
		if (!same_records(&x, &y)) {
			write_shown(out, sa_reply_attr(a->attr), &x, &y);
		}
		fputs("]\n", out);
	}
	free(x.data);
	free(y.data);
}

static bool same_query(const struct line *a, const struct line *b)
{
	return a->number == b->number && a->attr == b->attr && a->method == b->method &&
	       a->trusted == b->trusted && a->mask == b->mask &&
	       a->attr_mod == b->attr_mod && strcmp(a->request, b->request) == 0;
}

uint64_t diff_compare(const struct diff_values *values, FILE *a_file, FILE *b_file,
                      FILE *out)
{
	struct line a = { 0 }, b = { 0 };
	uint64_t n = 0, asked = 0;

	for (;; asked++) {
		bool more_a = read_line(a_file, &a), more_b = read_line(b_file, &b);
		if (more_a != more_b) {
			diff_die("one side ends early", NULL);
		}
		if (!more_a) {
			break;
		}
		if (!same_query(&a, &b)) {
			diff_die("these are not answers to the same queries", NULL);
		}
		if (a.status != b.status || a.n != b.n || strcmp(a.words, b.words) != 0) {
			write_difference(out, values, &a, &b);
			n++;
		}
	}
	free(a.text);
	free(b.text);
	fprintf(out, "# %" PRIu64 " queries, %" PRIu64 " differences\n", asked, n);
	return n;
}
