/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/record_json.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/view/body.h"
#include "gateway/view/json_text.h"
#include "sa/record/attributes.h"

enum {
	GID_BITS = 128,
	BYTE_BITS = 8,
	HTTP_METHODS = SA_GET | SA_GETTABLE | SA_GETTRACETABLE
};

/* Words of the specification that are not cut where their capitals change. */
static const struct {
	const char *spelt, *as;
} words[] = { { "SLtoVL", "SlToVl" }, { "QoS", "Qos" } };

static const char *word_at(const char *p, size_t *ret_len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		*ret_len = strlen(words[i].spelt);
		if (strncmp(p, words[i].spelt, *ret_len) == 0) {
			return words[i].as;
		}
	}
	return NULL;
}

/* The name with such words respelt. */
static void respell(const char *name, char ret_key[RECORD_KEY_MAX])
{
	size_t n = 0, len;

	while (*name && n + 8 < RECORD_KEY_MAX) {
		const char *as = word_at(name, &len);
		if (as != NULL) {
			memcpy(ret_key + n, as, strlen(as));
			n += strlen(as);
			name += len;
		} else {
			ret_key[n++] = *name++;
		}
	}
	ret_key[n] = '\0';
}

/* Does a word begin at p? Before a capital that follows a small letter or a digit, and
 * before the last capital of a run that goes on small, unless that is a plural's s. */
static bool begins_word(const char *start, const char *p)
{
	if (p == start || !isupper((unsigned char)*p) || p[-1] == '_') {
		return false;
	}
	if (!isupper((unsigned char)p[-1])) {
		return true;
	}
	bool plural = p[1] == 's' && !islower((unsigned char)p[2]);
	return islower((unsigned char)p[1]) && !plural;
}

void record_key(const char *name, char ret_key[RECORD_KEY_MAX])
{
	char spelt[RECORD_KEY_MAX];
	size_t n = 0;

	respell(name, spelt);
	for (const char *p = spelt; *p && n + 2 < RECORD_KEY_MAX; p++) {
		if (begins_word(spelt, p)) {
			ret_key[n++] = '_';
		}
		ret_key[n++] = *p == '.' ? '_' : (char)tolower((unsigned char)*p);
	}
	ret_key[n] = '\0';
}

/* --- writing ---------------------------------------------------------------------------
 * Without jansson, as the rows of long lists: a stream has millions of records, and
 * values built only to be printed took ten times as long. Characters that need an escape still get
 * it. */

enum {
	GUID_BITS_MIN = 54,              /* above, a JSON number loses digits */
	VALUE_BYTES = GID_TEXT_BYTES + 2 /* any that is no list or text */
};

/* Numbers of so many bits each; pairs: each two of them in brackets of their own. */
static char *put_list(char *p, const struct sa_field *f, const uint8_t *record,
                      unsigned bits, bool pairs)
{
	*p++ = '[';
	for (unsigned at = 0; at < f->width; at += bits) {
		bool second = pairs && at / bits % 2 == 1;

		if (at > 0) {
			*p++ = ',';
		}
		if (pairs && !second) {
			*p++ = '[';
		}
		p = json_put_number(p, field_get(record, f->bit + at, bits));
		if (second) {
			*p++ = ']';
		}
	}
	*p++ = ']';
	return p;
}

static char *put_value(char *p, const struct sa_field *f, const uint8_t *record)
{
	switch (f->how & SA_FORM) {
	case SA_LIST4: return put_list(p, f, record, 4, false);
	case SA_LIST8: return put_list(p, f, record, 8, false);
	case SA_LIST16: return put_list(p, f, record, 16, false);
	case SA_PAIRS: return put_list(p, f, record, 8, true);
	default: break;
	}
	if (f->width == GID_BITS) {
		*p++ = '"';
		p += gid_text(field_get(record, f->bit, 64),
		              field_get(record, f->bit + 64, 64), p);
		*p++ = '"';
		return p;
	}
	uint64_t v = field_get(record, f->bit, f->width);
	return f->width >= GUID_BITS_MIN ? json_put_guid(p, v) : json_put_number(p, v);
}

void record_form(const struct sa_attr *attr, struct record_form *ret_form)
{
	char key[RECORD_KEY_MAX];

	ret_form->n = 0;
	for (unsigned i = 0; i < attr->n_fields && ret_form->n < RECORD_FIELDS_MAX; i++) {
		struct record_member *m = &ret_form->member[ret_form->n];
		if ((attr->fields[i].how & SA_HOW) == SA_RESERVED) {
			continue;
		}
		record_key(attr->fields[i].name, key);
		m->field = &attr->fields[i];
		m->len =
			(uint8_t)snprintf(m->key, sizeof(m->key),
		                          "%c\"%s\":", ret_form->n == 0 ? '{' : ',', key);
		ret_form->n++;
	}
}

void record_write(struct body *b, const struct record_form *form, const uint8_t *record)
{
	for (unsigned i = 0; i < form->n; i++) {
		const struct record_member *m = &form->member[i];
		const struct sa_field *f = m->field;
		/* an element of a list: 3 digits per byte, a comma, its share of brackets
		 */
		char *p = body_room(b, m->len + VALUE_BYTES + f->width * 2U);

		if (p == NULL) {
			return;
		}
		memcpy(p, m->key, m->len);
		b->len += m->len;
		if ((f->how & SA_FORM) == SA_TEXT) {
			char text[256] = "";
			size_t bytes = f->width / BYTE_BITS;

			memcpy(text, record + f->bit / BYTE_BITS,
			       bytes < sizeof(text) ? bytes : sizeof(text) - 1);
			body_value(b, text_json(text));
		} else {
			b->len = (size_t)(put_value(p + m->len, f, record) - b->data);
		}
	}
	body_write(b, "}", 1);
}

/* --- schema ----------------------------------------------------------------------------
 */

static json_t *methods_json(unsigned methods)
{
	static const struct {
		unsigned bit;
		const char *name;
	} names[] = {
		{ SA_GET, "Get" },           { SA_GETTABLE, "GetTable" },
		{ SA_SET, "Set" },           { SA_DELETE, "Delete" },
		{ SA_GETMULTI, "GetMulti" }, { SA_GETTRACETABLE, "GetTraceTable" }
	};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (methods & names[i].bit) {
			json_array_append_new(list, json_string(names[i].name));
		}
	}
	return list;
}

json_t *record_schema(const struct sa_attr *attr)
{
	json_t *fields = json_array();
	char key[RECORD_KEY_MAX];

	for (unsigned i = 0; i < attr->n_fields; i++) {
		const struct sa_field *f = &attr->fields[i];
		if ((f->how & SA_HOW) != SA_RESERVED) {
			record_key(f->name, key);
			json_array_append_new(fields,
			                      json_pack("{s:s, s:s, s:i, s:i}", "key",
			                                key, "name", f->name, "component",
			                                (int)i, "bits", f->width));
		}
	}
	return json_pack("{s:s, s:i, s:i, s:o, s:o}", "name", attr->name, "class_version",
	                 attr->version, "attribute_id", attr->id, "methods",
	                 methods_json(attr->methods), "components", fields);
}

int record_component(const struct sa_attr *attr, const char *name)
{
	char key[RECORD_KEY_MAX];

	for (unsigned i = 0; i < attr->n_fields; i++) {
		const struct sa_field *f = &attr->fields[i];
		unsigned form = f->how & SA_FORM;
		bool selects = (f->how & SA_HOW) != SA_RESERVED &&
		               (form == 0 || form == SA_TEXT);
		record_key(f->name, key);
		if (selects &&
		    (strcmp(name, key) == 0 || strcasecmp(name, f->name) == 0)) {
			return (int)i;
		}
	}
	return -1;
}

static int ask_gid(const struct sa_field *f, const char *text, uint8_t *record,
                   const char **ret_expected)
{
	uint64_t prefix, guid;

	int ret = text_gid(text, &prefix, &guid);
	if (ret != E_OK) {
		*ret_expected = "a GID in the form of an IPv6 address";
		return ret;
	}
	field_set(record, f->bit, 64, prefix);
	field_set(record, f->bit + 64, 64, guid);
	return E_OK;
}

int record_ask(const struct sa_attr *attr, int component, const char *text,
               uint8_t *record, const char **ret_expected)
{
	const struct sa_field *f = &attr->fields[component];
	uint64_t v, max = f->width >= 64 ? UINT64_MAX : (UINT64_C(1) << f->width) - 1;

	if ((f->how & SA_FORM) == SA_TEXT) {
		size_t len = strlen(text), most = f->width / BYTE_BITS;

		if (len > most) {
			*ret_expected = "a shorter text";
			return E_RANGE;
		}
		memset(record + f->bit / BYTE_BITS, 0, most);
		memcpy(record + f->bit / BYTE_BITS, text, len);
		return E_OK;
	}
	if (f->width == GID_BITS) {
		return ask_gid(f, text, record, ret_expected);
	}
	int ret = f->width == 64 && text_guid(text, &v) == E_OK ? E_OK
	                                                        : text_u64(text, max, &v);
	if (ret != E_OK) {
		*ret_expected = f->width == 64 ? "a GUID or number, 0x and hex digits"
		                               : "a number, decimal or 0x, that fits";
		return ret;
	}
	field_set(record, f->bit, f->width, v);
	return E_OK;
}

const struct sa_attr *record_find(const char *name)
{
	static const char suffix[] = "Record";
	const size_t len = strlen(name), end = sizeof(suffix) - 1;

	for (unsigned i = 0; i < n_sa_attrs; i++) {
		const char *own = sa_attrs[i]->name;
		size_t stem = strlen(own);
		if (stem > end && strcmp(own + stem - end, suffix) == 0) {
			stem -= end;
		}
		/* "NodeRecord" and "node" alike */
		if ((sa_attrs[i]->methods & HTTP_METHODS) &&
		    (strcasecmp(name, own) == 0 ||
		     (len == stem && strncasecmp(name, own, stem) == 0))) {
			return sa_attrs[i];
		}
	}
	return NULL;
}
