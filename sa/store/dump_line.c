/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/store/dump_int.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* clang-format off */
static const struct dump_field group_fields[] = {
	[DG_MGID] =        { "mgid",        DUMP_PAIR,    0, 0 },
	[DG_PORT_GID] =    { "port_gid",    DUMP_PAIR,    0, 0 },
	[DG_Q_KEY] =       { "qkey",        DUMP_NUMBER, 32, 8 },
	[DG_MLID] =        { "mlid",        DUMP_NUMBER, 16, 4 },
	[DG_MTU] =         { "mtu",         DUMP_NUMBER,  8, 2 },
	[DG_T_CLASS] =     { "tclass",      DUMP_NUMBER,  8, 2 },
	[DG_P_KEY] =       { "pkey",        DUMP_NUMBER, 16, 4 },
	[DG_RATE] =        { "rate",        DUMP_NUMBER,  8, 2 },
	[DG_LIFE] =        { "pkt_life",    DUMP_NUMBER,  8, 2 },
	[DG_SL_FLOW_HOP] = { "sl_flow_hop", DUMP_NUMBER, 32, 8 },
	[DG_SCOPE_STATE] = { "scope_state", DUMP_NUMBER,  8, 2 },
	[DG_PROXY] =       { "proxy_join",  DUMP_NUMBER,  1, 1 },
};

static const struct dump_field member_fields[] = {
	[DM_PORT_GID] =    { "port_gid",    DUMP_PAIR,    0, 0 },
	[DM_SCOPE_STATE] = { "scope_state", DUMP_NUMBER,  8, 2 },
	[DM_PROXY] =       { "proxy_join",  DUMP_NUMBER,  1, 1 },
};

static const struct dump_field service_fields[] = {
	[DS_ID] =       { "id",            DUMP_NUMBER, 64, 16 },
	[DS_GID] =      { "gid",           DUMP_PAIR,    0, 0 },
	[DS_P_KEY] =    { "pkey",          DUMP_NUMBER, 16, 1 },
	[DS_LEASE] =    { "lease",         DUMP_NUMBER, 32, 1 },
	[DS_KEY] =      { "key",           DUMP_PAIR,    0, 0 },
	[DS_NAME] =     { "name",          DUMP_TEXT,    0, 0 },
	[DS_DATA8] =    { "data8",         DUMP_PAIR,    0, 0 },
	[DS_DATA16] =   { "data16",        DUMP_PAIR,    0, 0 },
	[DS_DATA32] =   { "data32",        DUMP_PAIR,    0, 0 },
	[DS_DATA64] =   { "data64",        DUMP_PAIR,    0, 0 },
	[DS_MODIFIED] = { "modified_time", DUMP_NUMBER, 32, 1 },
	[DS_PERIOD] =   { "lease_period",  DUMP_NUMBER, 32, 1 },
};

static const struct dump_field inform_fields[] = {
	[DI_SUBSCRIBER] =  { "subscriber_gid",    DUMP_PAIR,    0, 0 },
	[DI_ENUM] =        { "subscriber_enum",   DUMP_NUMBER, 16, 1 },
	[DI_GID] =         { "InformInfo: gid",   DUMP_PAIR,    0, 0 },
	[DI_LID_BEGIN] =   { "lid_range_begin",   DUMP_NUMBER, 16, 1 },
	[DI_LID_END] =     { "lid_range_end",     DUMP_NUMBER, 16, 1 },
	[DI_GENERIC] =     { "is_generic",        DUMP_NUMBER,  8, 1 },
	[DI_SUBSCRIBE] =   { "subscribe",         DUMP_NUMBER,  8, 1 },
	[DI_TYPE] =        { "trap_type",         DUMP_NUMBER, 16, 1 },
	[DI_TRAP] =        { "trap_num",          DUMP_NUMBER, 16, 1 },
	[DI_QPN_RESP] =    { "qpn_resp_time_val", DUMP_NUMBER, 32, 1 },
	[DI_PRODUCER] =    { "node_type",         DUMP_NUMBER, 24, 6 },
	[DI_LID] =         { "rep_addr: lid",     DUMP_NUMBER, 16, 4 },
	[DI_PATH_BITS] =   { "path_bits",         DUMP_NUMBER,  8, 2 },
	[DI_STATIC_RATE] = { "static_rate",       DUMP_NUMBER,  8, 2 },
	[DI_QPN] =         { "remote_qp",         DUMP_NUMBER, 32, 8 },
	[DI_Q_KEY] =       { "remote_qkey",       DUMP_NUMBER, 32, 8 },
	[DI_PKEY_INDEX] =  { "pkey_ix",           DUMP_NUMBER, 16, 4 },
	[DI_SL] =          { "sl",                DUMP_NUMBER,  4, 2 },
};

static const struct dump_field guids_fields[DU_FIELDS] = {
	[DU_BASE] =      { "base_guid", DUMP_NUMBER, 64, 16 },
	[DU_LID] =       { "lid",       DUMP_NUMBER, 16, 4 },
	[DU_BLOCK] =     { "block_num", DUMP_NUMBER,  8, 1 },
	[DU_GUID0] =     { "guid0",     DUMP_NUMBER, 64, 16 },
	[DU_GUID0 + 1] = { "guid1",     DUMP_NUMBER, 64, 16 },
	[DU_GUID0 + 2] = { "guid2",     DUMP_NUMBER, 64, 16 },
	[DU_GUID0 + 3] = { "guid3",     DUMP_NUMBER, 64, 16 },
	[DU_GUID0 + 4] = { "guid4",     DUMP_NUMBER, 64, 16 },
	[DU_GUID0 + 5] = { "guid5",     DUMP_NUMBER, 64, 16 },
	[DU_GUID0 + 6] = { "guid6",     DUMP_NUMBER, 64, 16 },
	[DU_GUID0 + 7] = { "guid7",     DUMP_NUMBER, 64, 16 },
};
/* clang-format on */

#define KIND(word, fields)                                                               \
	{                                                                                \
		(word), (fields), sizeof(fields) / sizeof((fields)[0])                   \
	}

const struct dump_kind dump_group = KIND("MC Group", group_fields),
		       dump_member = KIND("mcm_port:", member_fields),
		       dump_service = KIND("Service Record:", service_fields),
		       dump_inform = KIND("InformInfo Record:", inform_fields),
		       dump_guids = KIND("GUIDInfo Record:", guids_fields);

_Static_assert(sizeof(inform_fields) / sizeof(inform_fields[0]) == DUMP_FIELDS_MAX,
               "most");

/* \return The text after the number, NULL: no number, or more than so many bits. */
static const char *read_number(const char *p, unsigned bits, uint64_t *ret_number)
{
	uint64_t v = 0;
	unsigned n = 0;

	if (p[0] != '0' || p[1] != 'x') {
		return NULL;
	}
	for (p += 2; isxdigit((unsigned char)*p) && n < 16; p++, n++) {
		unsigned digit =
			isdigit((unsigned char)*p)
				? (unsigned)(*p - '0')
				: (unsigned)(tolower((unsigned char)*p) - 'a') + 10;
		v = v << 4 | digit;
	}
	if (n == 0 || isxdigit((unsigned char)*p) || (bits < 64 && v >> bits != 0)) {
		return NULL;
	}
	*ret_number = v;
	return p;
}

/* A text ends with the quote before the next key, because it may contain quotes. */
static const char *read_text(const char *p, const char *next_key,
                             struct dump_value *ret_value)
{
	char after[40];

	snprintf(after, sizeof(after), "' %s=", next_key);
	const char *end = *p == '\'' ? strstr(p + 1, after) : NULL;
	if (end == NULL || (size_t)(end - p - 1) >= sizeof(ret_value->text)) {
		return NULL;
	}
	memcpy(ret_value->text, p + 1, (size_t)(end - p - 1));
	ret_value->text[end - p - 1] = '\0';
	return end + 1;
}

static const char *read_value(const struct dump_field *field, const char *p,
                              struct dump_value *ret_value)
{
	switch ((enum dump_form)field->form) {
	case DUMP_NUMBER: return read_number(p, field->bits, &ret_value->n[0]);
	case DUMP_PAIR:
		p = read_number(p, 64, &ret_value->n[0]);
		return p != NULL && *p == ':' ? read_number(p + 1, 64, &ret_value->n[1])
		                              : NULL;
	case DUMP_TEXT: return read_text(p, field[1].key, ret_value);
	}
	return NULL;
}

bool dump_line_read(const struct dump_kind *kind, const char *line,
                    struct dump_value ret_value[DUMP_FIELDS_MAX], const char **ret_bad)
{
	const char *p = line;

	for (unsigned i = 0; i < kind->n_fields; i++) {
		const struct dump_field *field = &kind->fields[i];
		char key[40];
		int len = snprintf(key, sizeof(key), " %s=", field->key);

		*ret_bad = field->key;
		p = strstr(p, key);
		if (p != NULL) {
			p = read_value(field, p + len, &ret_value[i]);
		}
		if (p == NULL || (*p != '\0' && *p != ' ')) {
			return false;
		}
	}
	return true;
}

void dump_line_write(FILE *f, const struct dump_kind *kind,
                     const struct dump_value values[DUMP_FIELDS_MAX])
{
	for (unsigned i = 0; i < kind->n_fields; i++) {
		const struct dump_field *field = &kind->fields[i];
		const struct dump_value *v = &values[i];

		fprintf(f, " %s=", field->key);
		switch ((enum dump_form)field->form) {
		case DUMP_NUMBER:
			fprintf(f, "0x%0*" PRIx64, field->digits, v->n[0]);
			break;
		case DUMP_PAIR:
			fprintf(f, "0x%016" PRIx64 ":0x%016" PRIx64, v->n[0], v->n[1]);
			break;
		case DUMP_TEXT: fprintf(f, "'%s'", v->text); break;
		}
	}
}
