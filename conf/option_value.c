/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/option_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/device_group.h"
#include "conf/policy/congestion.h"
#include "conf/policy/guidfile.h"
#include "conf/policy/qos.h"

/*
 * Each type of value is one row: how to store a value, how to write it, and which values
 * there are. Members are reached through typed pointers without memcpy: the row's author
 * gives an offset of a member of that type.
 */
struct value_ops {
	int (*store)(const struct option_row *row, void *member, const char *value,
	             struct arena *a);
	const char *(*text)(const struct option_row *row, const void *member,
	                    struct arena *a);
	const char *(*expected)(const struct option_row *row, struct arena *a);
	const char *expects; /* what expected() would return, where it is constant */
};

bool option_is_null(const char *value)
{
	return value[0] == '\0' || strcasecmp(value, "(null)") == 0;
}

int option_parse_bool(const char *value, bool *ret_value)
{
	static const char *const words[][2] = {
		{ "FALSE", "TRUE" }, { "no", "yes" }, { "off", "on" }, { "0", "1" }
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (unsigned b = 0; b < 2; b++) {
			if (strcasecmp(value, words[i][b]) == 0) {
				*ret_value = b != 0;
				return E_OK;
			}
		}
	}
	return E_SYNTAX;
}

static int store_bool(const struct option_row *row, void *member, const char *value,
                      struct arena *a)
{
	(void)row, (void)a;
	return option_parse_bool(value, member);
}

static const char *text_bool(const struct option_row *row, const void *member,
                             struct arena *a)
{
	(void)row, (void)a;
	return *(const bool *)member ? "TRUE" : "FALSE";
}

static int store_uint(const struct option_row *row, void *member, const char *value,
                      struct arena *a)
{
	uint64_t v, max = row->max != 0 ? row->max : UINT32_MAX;
	(void)a;

	int ret = text_u64(value, max, &v);
	if (ret == E_OK && v < row->min) {
		ret = E_RANGE;
	}
	if (ret == E_OK) {
		*(uint32_t *)member = (uint32_t)v;
	}
	return ret;
}

static const char *text_uint(const struct option_row *row, const void *member,
                             struct arena *a)
{
	(void)row;
	return arena_printf(a, "%" PRIu32, *(const uint32_t *)member);
}

static const char *expected_uint(const struct option_row *row, struct arena *a)
{
	return arena_printf(a, "a number from %" PRIu64 " to %" PRIu64, row->min,
	                    row->max != 0 ? row->max : UINT32_MAX);
}

static int64_t int_min(const struct option_row *row)
{
	return row->max != 0 ? (int64_t)row->min : INT32_MIN;
}

static int64_t int_max(const struct option_row *row)
{
	return row->max != 0 ? (int64_t)row->max : INT32_MAX;
}

static int store_int(const struct option_row *row, void *member, const char *value,
                     struct arena *a)
{
	bool negative = value[0] == '-';
	uint64_t v;
	(void)a;

	int ret = text_u64(value + negative, (uint64_t)INT32_MAX + 1, &v);
	if (ret != E_OK) {
		return ret;
	}
	int64_t signed_v = negative ? -(int64_t)v : (int64_t)v;
	if (signed_v < int_min(row) || signed_v > int_max(row)) {
		return E_RANGE;
	}
	*(int32_t *)member = (int32_t)signed_v;
	return E_OK;
}

static const char *text_int(const struct option_row *row, const void *member,
                            struct arena *a)
{
	(void)row;
	return arena_printf(a, "%" PRId32, *(const int32_t *)member);
}

static const char *expected_int(const struct option_row *row, struct arena *a)
{
	return arena_printf(a, "a number from %" PRId64 " to %" PRId64, int_min(row),
	                    int_max(row));
}

/* Keys and GUIDs are hex, but a short plain number ("sa_key 1") means itself. */
static int store_guid(const struct option_row *row, void *member, const char *value,
                      struct arena *a)
{
	uint64_t v;
	(void)row, (void)a;

	int ret = text_guid(value, &v);
	if (ret != E_OK) {
		ret = text_u64(value, UINT64_MAX, &v);
	}
	if (ret == E_OK) {
		*(uint64_t *)member = v;
	}
	return ret;
}

static const char *text_guid64(const struct option_row *row, const void *member,
                               struct arena *a)
{
	(void)row;
	return arena_printf(a, "0x%016" PRIx64, *(const uint64_t *)member);
}

static int store_guids(const struct option_row *row, void *member, const char *value,
                       struct arena *a)
{
	struct option_guids list = { .n = 0 };
	char *copy = arena_strdup(a, strcmp(value, "(null)") == 0 ? "0" : value);
	char *save = NULL;

	if (copy == NULL) {
		return -ENOMEM;
	}
	for (char *p = copy; (p = strtok_r(p, ", \t", &save)) != NULL; p = NULL) {
		if (list.n == OPTION_GUIDS_MAX) {
			return E_RANGE;
		}
		int ret = store_guid(row, &list.guid[list.n++], p, a);
		if (ret != E_OK) {
			return ret;
		}
	}
	if (list.n == 0) {
		return E_SYNTAX;
	}
	*(struct option_guids *)member = list;
	return E_OK;
}

static const char *text_guids(const struct option_row *row, const void *member,
                              struct arena *a)
{
	const struct option_guids *list = member;
	const char *text = text_guid64(row, &list->guid[0], a);

	for (uint32_t i = 1; i < list->n && text != NULL; i++) {
		text = arena_printf(a, "%s,0x%016" PRIx64, text, list->guid[i]);
	}
	return text;
}

/* Control characters are refused because no line of a file could hold them. */
static int store_string(const struct option_row *row, void *member, const char *value,
                        struct arena *a)
{
	const char *copy = NULL;
	(void)row;

	for (const char *p = value; *p != '\0'; p++) {
		if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f) {
			return E_SYNTAX;
		}
	}
	if (!option_is_null(value)) {
		copy = arena_strdup(a, value);
		if (copy == NULL) {
			return -ENOMEM;
		}
	}
	*(const char **)member = copy;
	return E_OK;
}

static const char *text_string(const struct option_row *row, const void *member,
                               struct arena *a)
{
	const char *s = *(const char *const *)member;
	(void)row, (void)a;
	return s != NULL ? s : "(null)";
}

static int read_guid_file(const char *path, struct arena *a, struct diags *d,
                          const void **ret_value)
{
	const struct guid_file *list = NULL;

	int ret = guid_file_read(path, a, d, &list);
	if (ret == E_OK) {
		*ret_value = list;
	}
	return ret;
}

static option_read_f *reader_of(const struct option_row *row)
{
	return row->type == OPT_GUID_FILE ? read_guid_file : row->read;
}

static int store_file(const struct option_row *row, void *member, const char *value,
                      struct arena *a)
{
	const void *file = NULL;

	int ret = option_is_null(value) ? E_OK : reader_of(row)(value, a, NULL, &file);
	if (ret == E_OK) {
		*(const void **)member = file;
	}
	return ret;
}

/* A value that is read from a file starts with its path. */
static const char *text_file(const struct option_row *row, const void *member,
                             struct arena *a)
{
	const void *file = *(const void *const *)member;
	(void)row, (void)a;
	return file != NULL ? *(const char *const *)file : "(null)";
}

static int store_enum(const struct option_row *row, void *member, const char *value,
                      struct arena *a)
{
	(void)a;
	for (uint32_t i = 0; row->names[i] != NULL; i++) {
		if (strcasecmp(value, row->names[i]) == 0) {
			*(uint32_t *)member = i;
			return E_OK;
		}
	}
	return E_SYNTAX;
}

static const char *text_enum(const struct option_row *row, const void *member,
                             struct arena *a)
{
	(void)a;
	return row->names[*(const uint32_t *)member];
}

static const char *expected_enum(const struct option_row *row, struct arena *a)
{
	const char *list = row->names[0];
	for (unsigned i = 1; list != NULL && row->names[i] != NULL; i++) {
		bool last = row->names[i + 1] == NULL;
		list = arena_printf(a, "%s%s%s", list, last ? " or " : ", ",
		                    row->names[i]);
	}
	return list;
}

static int store_lmc_esp0(const struct option_row *row, void *member, const char *value,
                          struct arena *a)
{
	uint64_t v;
	bool as_lmc;
	(void)row, (void)a;

	/* Numbers first: "1" is LMC 1 here, not TRUE. */
	int ret = text_u64(value, 7, &v);
	if (ret == E_OK) {
		*(uint32_t *)member = (uint32_t)v;
	} else if (option_parse_bool(value, &as_lmc) == E_OK) {
		*(uint32_t *)member = as_lmc ? UINT32_MAX : 0;
		ret = E_OK;
	}
	return ret;
}

static const char *text_lmc_esp0(const struct option_row *row, const void *member,
                                 struct arena *a)
{
	uint32_t v = *(const uint32_t *)member;
	if (v == 0 || v == UINT32_MAX) {
		return v == 0 ? "FALSE" : "TRUE";
	}
	return text_uint(row, member, a);
}

static int store_qos(const struct option_row *row, void *member, const char *value,
                     struct arena *a)
{
	bool on = false;
	bool undecided = strcasecmp(value, "auto") == 0;
	int ret = undecided ? E_OK : option_parse_bool(value, &on);
	(void)row, (void)a;

	if (ret == E_OK) {
		*(uint32_t *)member = undecided ? QOS_AUTO : on ? QOS_ON : QOS_OFF;
	}
	return ret;
}

static const char *text_qos(const struct option_row *row, const void *member,
                            struct arena *a)
{
	static const char *const words[] = { "FALSE", "TRUE", "auto" };
	(void)row, (void)a;
	return words[*(const uint32_t *)member];
}

static int store_vl_weights(const struct option_row *row, void *member, const char *value,
                            struct arena *a)
{
	struct qos_weights w;
	int ret = option_is_null(value) ? E_OK : qos_weights_parse(value, &w);
	return ret == E_OK ? store_string(row, member, value, a) : ret;
}

static int store_sl2vl(const struct option_row *row, void *member, const char *value,
                       struct arena *a)
{
	uint8_t map[QOS_SLS];
	int ret = option_is_null(value) ? E_OK : qos_sl2vl_parse(value, map);
	return ret == E_OK ? store_string(row, member, value, a) : ret;
}

static int store_life_times(const struct option_row *row, void *member, const char *value,
                            struct arena *a)
{
	uint8_t codes[LIFE_TIMES_MAX];
	int ret = option_is_null(value) ? E_OK : life_times_parse(value, codes);
	return ret == E_OK ? store_string(row, member, value, a) : ret;
}

static int store_device_list(const struct option_row *row, void *member,
                             const char *value, struct arena *a)
{
	struct device_list *list = NULL;
	uint32_t most = row->type == OPT_DEVICE_GROUP ? 1 : DEVICE_GROUPS_MAX;
	int ret = option_is_null(value) ? E_OK : device_list_parse(value, most, a, &list);
	if (ret == E_OK) {
		*(struct device_list **)member = list;
	}
	return ret;
}

static const char *text_device_list(const struct option_row *row, const void *member,
                                    struct arena *a)
{
	const struct device_list *list = *(const struct device_list *const *)member;
	(void)row, (void)a;
	return list != NULL ? list->text : "(null)";
}

static const char *expected_device_list(const struct option_row *row, struct arena *a)
{
	(void)a;
	return row->type == OPT_DEVICE_GROUP
	               ? "the name of one device group"
	               : "names of device groups with commas between, each once";
}

static int store_port_mask(const struct option_row *row, void *member, const char *value,
                           struct arena *a)
{
	(void)row, (void)a;
	return congestion_mask_parse(value, member);
}

static const char *text_port_mask(const struct option_row *row, const void *member,
                                  struct arena *a)
{
	const struct congestion_mask *m = member;
	char text[2 * CONGESTION_MASK_BYTES + 1];
	(void)row;

	for (unsigned i = 0; i < CONGESTION_MASK_BYTES; i++) {
		snprintf(text + (size_t)2 * i, 3, "%02x", m->byte[i]);
	}
	return arena_printf(a, "0x%s", text);
}

static int store_per_sl(const struct option_row *row, void *member, const char *value,
                        struct arena *a)
{
	(void)a;
	if (option_is_null(value)) {
		memset(member, 0, sizeof(struct congestion_sls));
		return E_OK;
	}
	return congestion_sls_parse(value, (uint32_t)row->max, member);
}

static const char *text_per_sl(const struct option_row *row, const void *member,
                               struct arena *a)
{
	const struct congestion_sls *s = member;
	const char *text = NULL;
	(void)row;

	for (unsigned i = 0; i < CONGESTION_SLS; i++) {
		if (s->of[i] != 0) {
			text = arena_printf(a, "%s%s%u %u", text != NULL ? text : "",
			                    text != NULL ? ", " : "", i, s->of[i]);
			if (text == NULL) {
				return NULL;
			}
		}
	}
	return text != NULL ? text : "(null)";
}

static const char *expected_per_sl(const struct option_row *row, struct arena *a)
{
	return arena_printf(a, "an SL from 0 to %d and a number from 0 to %" PRIu64 ", or several such pairs with commas between",
	                    CONGESTION_SLS - 1, row->max);
}

static int store_cct(const struct option_row *row, void *member, const char *value,
                     struct arena *a)
{
	(void)a;
	if (option_is_null(value)) {
		memset(member, 0, sizeof(struct congestion_table));
		return E_OK;
	}
	return congestion_table_parse(value, (uint32_t)row->max, member);
}

static const char *text_cct(const struct option_row *row, const void *member,
                            struct arena *a)
{
	enum { ENTRY_TEXT = 8 /* "3:16383," */, SHIFT = 14 };
	const struct congestion_table *t = member;
	char text[CONGESTION_TABLE_MOST * ENTRY_TEXT + 1] = "(null)";
	size_t len = 0;
	(void)row;

	for (uint32_t i = 0; i < t->n; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u:%u",
		                        i != 0 ? "," : "", t->entry[i] >> SHIFT,
		                        t->entry[i] & ((1U << SHIFT) - 1));
	}
	return arena_strdup(a, text);
}

static const char *expected_cct(const struct option_row *row, struct arena *a)
{
	return arena_printf(a, "up to %" PRIu64 " of SHIFT:MULTIPLIER with commas between, shifts from 0 to 3, multipliers from 0 to 16383",
	                    row->max);
}

static int store_nothing(const struct option_row *row, void *member, const char *value,
                         struct arena *a)
{
	(void)row, (void)member, (void)value, (void)a;
	return E_OK;
}

static const char *text_nothing(const struct option_row *row, const void *member,
                                struct arena *a)
{
	(void)member, (void)a;
	return row->def != NULL ? row->def : "(null)";
}

static const struct value_ops ops[] = {
	[OPT_BOOL] = { store_bool, text_bool, NULL, "TRUE or FALSE" },
	[OPT_UINT] = { store_uint, text_uint, expected_uint, NULL },
	[OPT_INT] = { store_int, text_int, expected_int, NULL },
	[OPT_GUID] = { store_guid, text_guid64, NULL, "0x and up to 16 hex digits" },
	[OPT_GUIDS] = { store_guids, text_guids, NULL,
	                "up to 16 times 0x and up to 16 hex digits, with commas between" },
	[OPT_STRING] = { store_string, text_string, NULL,
	                 "text without control characters" },
	[OPT_GUID_FILE] = { store_file, text_file, NULL,
	                    "a file with one GUID per line" },
	[OPT_FILE] = { store_file, text_file, NULL, "a file that can be read" },
	[OPT_ENUM] = { store_enum, text_enum, expected_enum, NULL },
	[OPT_QOS] = { store_qos, text_qos, NULL, "TRUE, FALSE or auto" },
	[OPT_VL_WEIGHTS] = { store_vl_weights, text_string, NULL,
	                     "up to 64 pairs VL:WEIGHT with commas between, VLs from 0 to 14, weights from 0 to 255" },
	[OPT_SL2VL] = { store_sl2vl, text_string, NULL,
	                "16 VLs from 0 to 15 with commas between, one per SL" },
	[OPT_LIFE_TIMES] = { store_life_times, text_string, NULL,
	                     "up to 10 codes from 1 to 31 with commas between, for 1, 2, 3 ... switches" },
	[OPT_DEVICE_GROUP] = { store_device_list, text_device_list, expected_device_list,
	                       NULL },
	[OPT_DEVICE_GROUPS] = { store_device_list, text_device_list, expected_device_list,
	                        NULL },
	[OPT_LMC_ESP0] = { store_lmc_esp0, text_lmc_esp0, NULL,
	                   "FALSE, TRUE or a number from 0 to 7" },
	[OPT_PORT_MASK] = { store_port_mask, text_port_mask, NULL,
	                    "0x and up to 64 hex digits, a bit for each port" },
	[OPT_PER_SL] = { store_per_sl, text_per_sl, expected_per_sl, NULL },
	[OPT_CCT] = { store_cct, text_cct, expected_cct, NULL },
	[OPT_IGNORED] = { store_nothing, text_nothing, NULL, "anything" },
};

int option_store(const struct option_row *row, void *base, struct arena *a,
                 const char *value)
{
	return ops[row->type].store(row, (char *)base + row->offset, value, a);
}

bool option_is_file(const struct option_row *row)
{
	return row->type == OPT_GUID_FILE || row->type == OPT_FILE;
}

bool option_may_lack_file(const struct option_row *row, const char *path, struct arena *a)
{
	const void *file;
	return reader_of(row)(path, a, NULL, &file) == E_OK;
}

bool option_is_usual_place(const struct option_row *row, const char *path, struct arena *a)
{
	struct diags *d = arena_alloc(a, sizeof(*d));
	const void *file;

	if (d == NULL) {
		return false;
	}
	diags_init(d, a);
	return reader_of(row)(path, a, d, &file) == E_OK && d->n_warnings == 0;
}

int option_store_file(const struct option_row *row, void *base, struct arena *a,
                      const char *value, struct diags *d, struct option_read *done)
{
	option_read_f *by = reader_of(row);
	int ret = E_OK;
	if (done->by != by) {
		const void *file = NULL;
		ret = option_is_null(value) ? E_OK : by(value, a, d, &file);
		if (ret == E_OK) {
			*done = (struct option_read){ by, file };
		}
	}
	if (ret == E_OK) {
		*(const void **)((char *)base + row->offset) = done->file;
	}
	return ret;
}

struct device_list *option_list(const struct option_row *row, void *base)
{
	if (row->type != OPT_DEVICE_GROUP && row->type != OPT_DEVICE_GROUPS) {
		return NULL;
	}
	return *(struct device_list **)((char *)base + row->offset);
}

void option_place(const struct option_row *row, void *base, const char *what,
                  const char *file, unsigned line)
{
	struct device_list *list = option_list(row, base);
	if (list != NULL) {
		list->what = what;
		list->file = file; /* names live as long as the values: config_read() */
		list->line = line;
	}
}

const char *option_text(const struct option_row *row, const void *base, struct arena *a)
{
	return ops[row->type].text(row, (const char *)base + row->offset, a);
}

const char *option_expected(const struct option_row *row, struct arena *a)
{
	const struct value_ops *o = &ops[row->type];

	return o->expected != NULL ? o->expected(row, a) : o->expects;
}
